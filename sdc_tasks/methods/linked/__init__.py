"""Tables of one statistic that come out one after the other: a release is attacked together with every
related one that is out (METHOD §10).
"""

from sdc_tasks.methods.linked.merge import Out, joint

__all__ = ["Out", "joint"]
