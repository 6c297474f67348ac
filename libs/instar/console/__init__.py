"""What people see inside Airflow's UI beside Airflow's own pages."""
