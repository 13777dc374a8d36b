"""The registry of attacker profiles: the one place that names them (METHOD §2).

A profile needs more than its name here: what its attackers know (methods/attack/knowledge.py), the same told again for the second
program (methods/recheck/knowledge.py), and a row of `operations.profile` by a migration. Wherever one of these is missing, whoever asks
for the profile is refused. Nothing has a default profile, and no list of profiles is empty.
"""

from __future__ import annotations

from collections.abc import Iterable

EXTERNAL, INTERNAL, COALITION, VINTAGE, REVISION = "external", "internal", "coalition", "vintage", "revision"

PROFILES = {  # and who that is, for readers of a report
    EXTERNAL: "somebody who knows every public national figure and everything published here, but no unit's own data",
    INTERNAL: "any one respondent: the only unit of a cell, who knows that cell, or the larger of two, who knows its part",
    COALITION: "the only units of all single-unit cells, who put their cells together; and, against each of them, all the others",
    VINTAGE: "somebody who also holds everything released of the period in earlier versions",
    REVISION: "the same, who also knows how far cells were revised since, as the domain lets one assume",
}


RESPONDENTS = (INTERNAL, COALITION)  # whose knowledge follows from the number of units of each hidden cell


def who(profile: str) -> str:
    """A profile in words. Raises ValueError for an unknown one."""
    return PROFILES[named([profile])[0]]


def named(profiles: Iterable[str]) -> tuple[str, ...]:
    """These profiles, in their order. Raises ValueError where there is none, one is unknown, or one is named twice."""
    found = tuple(profiles)
    if not found:
        raise ValueError(f"no attacker profile is named. Remedy: name one or more of {', '.join(PROFILES)}")
    if unknown := [name for name in found if name not in PROFILES]:
        raise ValueError(f"attacker profile {', '.join(unknown)}: not one of {', '.join(PROFILES)}")
    if len(set(found)) != len(found):
        raise ValueError(f"attacker profiles {', '.join(found)}: each at most once")
    return found
