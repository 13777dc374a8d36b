"""The pages of the release pipeline in the Airflow UI: what is late, what failed and why, who
must approve, when it is published.

app.py        routes: one page each
access.py     who may read: Airflow's own users and roles
source.py     the warehouse of the deployment, opened once
board.py, country.py, cycles/, releases/
              gather: from the reader's records to the frozen facts of one page; no HTML
shared/       what several pages show: approvals, steps, the state of a release in one word, names for codes,
              numbers, instants and spans as text
templates/, assets/   HTML (Jinja, escaped), one style sheet, one script; nothing from other servers

The pages read the warehouse only through `sdc_tasks.warehouse.reader` and
`sdc_tasks.warehouse.database.engine`: no page can reach a confidential value. A page shows a value of a
published table only after the public may see it.
"""
