"""What a certificate says that nobody proves: a person stated it, or the warehouse knows it. It must
be what was stated, and no more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sdc_tasks.model.results import Related


def statements(
    unrelated: Mapping[str, str], secret: str, linked: Sequence[Related] = ()
) -> dict[str, object]:
    """`unrelated`: other domain → why nothing of either can be computed from the other, as the domain file
    says. `secret`: the fingerprint of the secret by which the table was drawn; nothing where nothing was
    drawn, or not by the secret of a warehouse. `linked`: the related publications that were attacked
    together with this one: the warehouse publishes it only beside exactly these.
    """
    reasons = {"unrelated": dict(sorted(unrelated.items()))} if unrelated else {}
    known = {"linked": [each._asdict() for each in sorted(linked)]} if linked else {}
    return {**reasons, **known, **({"secret": secret} if secret else {})}
