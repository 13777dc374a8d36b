"""What the DAGs of this folder share. Airflow puts this folder on the path of processes that
parse a DAG or run a task only.
"""
