"""Tables of one statistic that come out one after the other: a release is attacked together with every
related one that is out (METHOD §10).
"""

from sdc_tasks.methods.linked.merge import Out, joint
from sdc_tasks.methods.linked.repeat import as_it_is_out, shown_elsewhere
from sdc_tasks.methods.linked.reserve import to_come
from sdc_tasks.methods.linked.together import TableUnion, merged, union

__all__ = [
    "Out",
    "TableUnion",
    "as_it_is_out",
    "joint",
    "merged",
    "shown_elsewhere",
    "to_come",
    "union",
]
