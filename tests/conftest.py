"""Services that all rooms' tests share."""

pytest_plugins = ["tests.services.s3"]
