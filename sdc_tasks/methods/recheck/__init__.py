"""A second program for the same verdict: recomputes every statement of a certificate by arithmetic. No LP, no code of the attacker's.

From the deliveries (`ProtectionProblem`), the table (`Publication`) and the evidence alone:

- evidence has a form (`form`); whatever has not is refused, whatever it says;
- a witness is a table: every relation, bound and published interval holds, but for misses that are together small (`MISS`) beside the
  requirement it proves. It moves a primary at least as far as the requirement asks, and leaves each attacker what he knows, a
  coalition what all of them know but the victim (`witnesses`, `knowledge`);
- a successful attack is shown by weak duality, from the bounds of the world alone (`duality`), and reaches as far as the evidence says;
- a requirement is the promised level, cut at the external bounds, and lower only where the same duality shows that the national tables
  alone do not keep it; of whole numbers, where trying shows that no whole national table does (`promise`, `integers`);
- against integer knowledge only tables of whole numbers count, and these must fit exactly. Of a counted cell that no such table shows
  the certificate says that it is not protected, and nothing about how far the attacker gets;
- what earlier releases told is set up again from their deliveries and tables (`earlier`): beside anything else, it is another problem;
- where small counts must not be told (`ProtectionProblem.least`), every sum and difference of compositions is looked at again (`small`);
- the certificate says what follows from all this, neither more nor less (`certificate`).

What can be changed without being refused is what no statement rests on: a witness may be scaled, left out or replaced as long as what is
left proves every claim; multipliers likewise, as long as they give the same bound; `lot` says where the audit found a witness.
"""

from sdc_tasks.methods.recheck.certificate import AUDIENCE, Asked, differences, expected, read
from sdc_tasks.methods.recheck.earlier import told_before
from sdc_tasks.methods.recheck.verdict import Recheck, recheck

__all__ = ["AUDIENCE", "Asked", "Recheck", "differences", "expected", "read", "recheck", "told_before"]
