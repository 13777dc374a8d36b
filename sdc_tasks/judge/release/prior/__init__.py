"""What earlier releases of the period published, rebuilt from their deliveries and tables: cell by cell, with
dictionaries.

The attackers are those of `methods/attack/vintage.py`, which explains them; the code is independent. It
checks which earlier releases an audit considered (with others, the problem has another digest).

- `values`: the values that each cell had, which are the unknowns. Their order: by country and key as they
  appear in the present release, then in the earlier ones; then by value.
- `pieces`: what somebody may have or lack: a version, or the table of one country where no aggregate was
  published.
- `rows`: what the releases say of the values, each row with the pieces that tell it. Their order: known
  values of present cells, bounds narrowed by earlier releases, the relations and published cells of each
  release, the assumptions about revisions.
"""

from sdc_tasks.judge.release.prior.rows import published_before

__all__ = ["published_before"]
