"""The registry of attacker profiles: who attacks, and what each of them knows (METHOD §2).

A new profile needs its words in `model/attackers.py`, a class in a file of this folder, an entry
in `PROFILES`, and its name in `operations.profile`, by a migration. The class answers all
questions of the attacker (methods/attack): a missing answer is an error at import. The second
program (judge/release/knowledge.py) states the knowledge of each profile again, because it must
not share a mistake; its import fails where a profile is missing there. Nothing has a default
profile, and no list of profiles is empty.
"""

from __future__ import annotations

from collections.abc import Iterable

from sdc_tasks.model.attackers import KEEPERS, WHO
from sdc_tasks.model.profiles.coalition import Coalition
from sdc_tasks.model.profiles.external import External
from sdc_tasks.model.profiles.internal import Internal
from sdc_tasks.model.profiles.profile import Adversary, Keeper, Profile
from sdc_tasks.model.profiles.revision import Revision
from sdc_tasks.model.profiles.vintage import Vintage

__all__ = [
    "EXTERNAL",
    "KEEPERS",
    "PROFILES",
    "RESPONDENTS",
    "VINTAGE",
    "Adversary",
    "Keeper",
    "Profile",
    "named",
    "profile_of",
]

PROFILES: dict[str, Profile] = {
    each.name: each for each in (External(), Internal(), Coalition(), Vintage(), Revision())
}
if (
    tuple(WHO) != tuple(PROFILES)
    or tuple(name for name, profile in PROFILES.items() if isinstance(profile, Keeper)) != KEEPERS
):
    raise TypeError(
        "sdc_tasks/model/attackers.py does not name the attacker profiles that there are, or those that keep "
        "earlier versions"
    )
EXTERNAL, VINTAGE = External.name, Vintage.name
RESPONDENTS = tuple(name for name, profile in PROFILES.items() if profile.respondents)


def profile_of(name: str) -> Profile:
    """The profile of this name. Raises ValueError for an unknown one."""
    return PROFILES[named([name])[0]]


def named(profiles: Iterable[str]) -> tuple[str, ...]:
    """The profiles in their given order. Raises ValueError for an empty list, an unknown name, or a name
    given twice.
    """
    found = tuple(profiles)
    if not found:
        raise ValueError(f"no attacker profile is named. Remedy: name one or more of {', '.join(PROFILES)}")
    if unknown := [name for name in found if name not in PROFILES]:
        raise ValueError(f"attacker profile {', '.join(unknown)}: not one of {', '.join(PROFILES)}")
    if len(set(found)) != len(found):
        raise ValueError(f"attacker profiles {', '.join(found)}: each at most once")
    return found
