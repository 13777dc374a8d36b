"""Protected EU aggregates from confidential national tables. Knows nothing of Airflow; read `pipeline.py`
first.

`import sdc_tasks as sdc` gives a notebook the functions of `sdc_tasks.api`, which load when they are first
used. `sdc_tasks.__version__` is that of the installed package.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sdc_tasks.api import (
        Contributors,
        NoiseDesign,
        Rules,
        adjust,
        audit,
        perturb,
        primary,
        release,
        round_counts,
        round_table,
        suppress,
    )

__all__ = [
    "Contributors",
    "NoiseDesign",
    "Rules",
    "adjust",
    "audit",
    "perturb",
    "primary",
    "release",
    "round_counts",
    "round_table",
    "suppress",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        from sdc_tasks.tested import PROJECT

        return version(PROJECT)
    if name in __all__:
        from importlib import import_module

        from sdc_tasks.tested import require_tested

        require_tested()
        if name == "release":
            require_tested("release")
        return getattr(import_module("sdc_tasks.api"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
