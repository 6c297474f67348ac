"""Airflow: operators, the embedded stack, and what tasks call. The only room that imports airflow."""
