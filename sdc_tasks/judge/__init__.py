"""Everything that judges a result, apart from what made it.

- `release`: is every statement of a release's certificate proven by its evidence?
- `pattern`: does a suppression pattern protect every primary?
- `adjusted`: is a table of controlled tabular adjustment additive, within its bounds and protected?

Patterns and adjusted tables are judged before they count. A release counts by the attacker's audit and the
gate of the warehouse; its judge comes afterwards, for whoever runs `sdc verify-certificate`.

A judge shares no code with the methods whose results it judges: an error in their common code would make
a wrong result and approve it. So a judge repeats what it needs, such as presolve or union-find. It reads
the statistical table of `sdc_tasks.model`; `adjusted` says by a protocol what it reads of a problem. Import
contracts in pyproject.toml hold all this. Only `pattern.programs` solves linear programs, with a model of
its own, and nothing depends on whether its solver is right.
"""
