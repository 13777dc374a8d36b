"""The names of the attacker profiles, and who each of them is, for readers. Loads nothing
that computes: pages import it too.

What each of them knows is in `sdc_tasks/model/profiles`, which has a class for each of these names.
"""

from __future__ import annotations

WHO = {
    "external": (
        "somebody who knows every public national figure and everything published here, "
        "but no unit's own data"
    ),
    "internal": (
        "any one respondent: the only unit of a cell, who knows that cell, or the larger "
        "of two, who knows its part"
    ),
    "coalition": (
        "any group of the only units of single-unit cells, who put their cells together; "
        "and, against each of them, the others"
    ),
    "vintage": (
        "somebody who also holds what was released before, all or some of it: earlier versions of the "
        "period, and other tables and periods of the statistic"
    ),
    "revision": "the same, who also knows how far cells were revised since, as the domain lets one assume",
}
PUBLIC = "external"  # who knows what everybody can read
KEEPERS = ("vintage", "revision")  # those who kept what was published before
