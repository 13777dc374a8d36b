"""Airflow in one process."""
