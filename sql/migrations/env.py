"""Alembic's entry point. The connection, its transaction and its timeouts come from
`sdc_tasks/warehouse/database/migrations.py`.
"""

from alembic import context

from sdc_tasks.warehouse.confidential.secret import settle_migrated
from sdc_tasks.warehouse.database.schema import metadata

context.configure(
    connection=context.config.attributes["connection"],
    version_table=context.config.attributes["version_table"],
    target_metadata=metadata,  # for the names of constraints
)
with context.begin_transaction():
    context.run_migrations()
    if context.config.attributes.get("newest"):  # the program knows these tables, and no older ones
        settle_migrated(context.config.attributes["connection"])
