"""Protected EU aggregates from confidential national tables. Knows nothing of Airflow; read `pipeline.py` first."""
