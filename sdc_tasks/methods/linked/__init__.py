"""Tables of one statistic that come out one after the other: a release is attacked together with every
related one that is out (METHOD §10).
"""

from sdc_tasks.methods.linked.merge import Out, joint
from sdc_tasks.methods.linked.repeat import as_it_is_out, shown_elsewhere

__all__ = ["Out", "as_it_is_out", "joint", "shown_elsewhere"]
