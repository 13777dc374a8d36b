"""A second program for the same verdict: checks a certificate's evidence by arithmetic. No LP, no code of the attacker's.

From the deliveries (`ProtectionProblem`), the table (`Publication`) and the evidence alone:

- a witness is a table: every relation, bound and published interval holds, but for a miss that is small (`MISS`) beside the
  requirement it proves. It moves a primary at least as far as the requirement asks, and leaves each attacker what he knows, a
  coalition what all of them know but the victim;
- a successful attack is shown by weak duality: for multipliers y of the rows, `σ z_p ≤ Σ max(y·row bounds) + Σ max(d·bounds)` with
  `d = c − Aᵀy`. Cells that the national relations tie to each other, or fix, count as one (`classes`);
- against integer knowledge only tables of whole numbers count, and these must fit exactly. That there is none has no proof of this kind:
  such a verdict, and a requirement cut for it, rests on the word of a MILP, and is counted as such;
- a requirement is the promised level, cut at the external bounds, and lower only where multipliers that lean on no aggregate show
  that the national tables alone do not keep it;
- what earlier releases told is set up again from their deliveries and tables (`earlier.py`): beside anything else, it is another problem;
- where small counts must not be told (`ProtectionProblem.least`), every sum and difference of compositions is looked at again.
"""

from sdc_tasks.methods.recheck.earlier import told_before
from sdc_tasks.methods.recheck.verdict import Recheck, recheck

__all__ = ["Recheck", "recheck", "told_before"]
