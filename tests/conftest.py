"""Services that all rooms' tests share."""

from hypothesis import settings

# The first call into Arrow or Spark loads it, which says nothing about the code under test.
settings.register_profile("instar", deadline=None)
settings.load_profile("instar")

pytest_plugins = ["tests.services.airflow", "tests.services.s3", "tests.services.spark", "tests.services.spark_cluster"]
