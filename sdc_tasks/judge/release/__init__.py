"""A second program for the same verdict: it recomputes each statement of a certificate by arithmetic,
without LPs or the attacker's code.

To read it, begin with `verdict.recheck`: it asks `adversary` about one adversary after the other, whose
`polyhedron` holds what he cannot exclude.

Its only inputs are the deliveries (`ProtectionProblem`), the table (`Publication`) and the evidence. It
checks that

- the evidence has the right form (`form`); otherwise it is refused, whatever it says;
- each witness is a table: every relation, bound and published interval holds, except for misses whose sum
  is small (`JUDGED_MISS`) relative to the
  requirement that it proves. The witness moves a primary at least as far as required, and
  agrees with what each attacker knows; for a coalition, with what all members except the victim
  know (`witnesses`, `knowledge`);
- weak duality, with the bounds of the polyhedron only, proves each successful attack (`duality`), and it
  reaches as far as the evidence says;
- each requirement is the promised level, cut at the external bounds. It is lower only if the same
  duality shows that the national tables
  alone do not keep it; for whole numbers, only if trying all values shows that no whole national
  table does (`promise`, `integers`);
- against integer knowledge only whole tables count, and they fit exactly. If no such table shows a cell
  of counts, the certificate says
  that the cell is not protected, and nothing about how far the attacker gets;
- what earlier releases tell is rebuilt from their deliveries and tables (`prior`): with other
  releases it would be another problem;
- where related releases are out, which of their cells are those of this release, or sums of them over time,
  is computed again from their keys (`beside`);
- where bases are drawn by a secret, tables of the evidence prove the width that somebody who has the
  program is left (`rule_aware`); which primaries have no claim follows from public figures, and the caller
  says it;
- no sum or difference of compositions tells a small count, if small counts must be protected
  (`ProtectionProblem.least`; `small`);
- the certificate says what follows from all this, neither more nor less (`certificate`), and what
  a person stated, as he stated it
  (`stated`).

A change is accepted only if no statement depends on it: witnesses may be scaled, left out or replaced as
long as the rest proves every claim; multipliers too, as long as they give the same bound. `lot` only says
where the audit found a witness.
"""

from sdc_tasks.judge.release.beside import Part, differs
from sdc_tasks.judge.release.certificate import (
    AUDIENCE,
    Asked,
    differences,
    expected,
    odds_of_one_decision,
    of_bases,
    of_counts,
    read,
)
from sdc_tasks.judge.release.prior import published_before
from sdc_tasks.judge.release.stated import statements
from sdc_tasks.judge.release.verdict import Recheck, recheck

__all__ = [
    "AUDIENCE",
    "Asked",
    "Part",
    "Recheck",
    "differences",
    "differs",
    "expected",
    "odds_of_one_decision",
    "of_bases",
    "of_counts",
    "published_before",
    "read",
    "recheck",
    "statements",
]
