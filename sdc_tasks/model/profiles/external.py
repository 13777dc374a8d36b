"""The public."""

from __future__ import annotations

from sdc_tasks.model.profiles.profile import Outsider


class External(Outsider):
    """Knows nothing more than everybody. Every release must withstand it."""

    name = "external"
    who = "somebody who knows every public national figure and everything published here, but no unit's own data"
