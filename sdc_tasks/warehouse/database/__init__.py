"""The tables, and the connection to them: SQLite or PostgreSQL, the statements under `sql/`, migrations,
checks.
"""
