"""The weaker attackers who must be judged beside the strongest of a profile (METHOD §2, every attacker).

Let an attacker be the set K of the pieces that he has, of all pieces of his profile: the respondents who
take part in a coalition, the earlier versions that somebody kept, the countries whose tables he read as they
came. The requirement r(K, p) is the level of p, cut to what K leaves with nothing new published. A release
must satisfy r(K, p) for *every* K.

With more pieces the attack is stronger and the requirement smaller. So where r(all, p) is the level itself,
whoever has less is judged with the strongest. Where it is less, let W ⊆ K be pieces that alone cut it as far,
r(W, p) ≤ r(K, p). Then everybody between W and K has the same requirement as K and a weaker attack. Who is
not between them lacks a piece w of W, and has a part of K∖{w}: these sets are judged next, and so on. W comes
from a linear program: the pieces on which its dual solution rests.

Only pieces that matter are left out: while no total is published, national tables are separate. So a
coalition is divided by the respondents of the country of p only, and of tables as they came only that of its
country is left out; elsewhere the attacker has everything.

The second program (judge/release) does not need to know how W was found: it checks r(W, p) ≤ r(K, p) by its
proofs, and that each K∖{w} is judged. Where that would take more than MOST_WEAKER adversaries for one
primary, the primary is named as not judged against every attacker.

    pieces      of which somebody may have some and lack others
    support     the pieces on which an attack rests
    family      what was asked of the members of a profile, and who is to be asked next
    completing  the requirements against all of them
"""

from sdc_tasks.methods.attack.weaker.completing import complete, unjudged
from sdc_tasks.methods.attack.weaker.pieces import who

__all__ = ["complete", "unjudged", "who"]
