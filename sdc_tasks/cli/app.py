"""`sdc` with all its commands."""

from sdc_tasks.cli.commands import build

app = build()
