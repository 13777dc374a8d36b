"""What the DAGs of this folder share. Airflow puts this folder on the path of whoever parses a DAG or runs a task, of nobody else."""
