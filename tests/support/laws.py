"""On how many drawn examples a law is tried: on all of them in `make test-all`, on a part of them in `make
test`.
"""

from __future__ import annotations

from typing import Any

from hypothesis import settings

ALL = "all"  # the profile of `make test-all`: --hypothesis-profile=all
PART, LEAST = 4, 5


def law(examples: int, **more: Any) -> settings:
    """The same examples each time, whatever clock: `examples` of them where all are asked for, else a
    quarter, and no less than five.
    """
    if settings.get_current_profile_name() != ALL:
        examples = min(examples, max(LEAST, examples // PART))
    return settings(derandomize=True, deadline=None, max_examples=examples, **more)
