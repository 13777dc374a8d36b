"""Tables of one statistic that come out one after the other: a release is attacked together with every
related one that is out (METHOD §10).
"""

from sdc_tasks.methods.linked.merge import Differing, Out, differing, joint
from sdc_tasks.methods.linked.repeat import as_it_is_out, shown_elsewhere
from sdc_tasks.methods.linked.reserve import to_come
from sdc_tasks.methods.linked.revised import Told
from sdc_tasks.methods.linked.together import TableUnion, merged, union

__all__ = [
    "Differing",
    "Out",
    "TableUnion",
    "Told",
    "as_it_is_out",
    "differing",
    "joint",
    "merged",
    "shown_elsewhere",
    "to_come",
    "union",
]
