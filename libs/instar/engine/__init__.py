"""Spark: sessions, jobs and what they run. The only room that imports pyspark."""
