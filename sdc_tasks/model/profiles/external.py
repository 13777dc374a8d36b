"""The public."""

from __future__ import annotations

from sdc_tasks.model.attackers import PUBLIC, WHO
from sdc_tasks.model.profiles.profile import Outsider


class External(Outsider):
    """Knows what everybody can read, and nothing more. Every release must withstand this profile."""

    name = PUBLIC
    who = WHO[name]
