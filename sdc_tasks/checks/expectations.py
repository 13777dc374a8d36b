"""Great Expectations, without the statistics that come with it.

Two of its expectations import `scipy.stats`, which costs every process 36 MiB and 0.8 s. Hardly a suite uses
them, so the module is read when somebody asks it for something.
"""

from __future__ import annotations

import importlib.util
import sys

import scipy


def _later(name: str, parent: object) -> None:
    """Makes the module known under its name, and reads it at the first use."""
    spec = importlib.util.find_spec(name)
    if name in sys.modules or spec is None or spec.loader is None:
        return
    spec.loader = importlib.util.LazyLoader(spec.loader)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    setattr(parent, name.rpartition(".")[2], module)


_later("scipy.stats", scipy)

import great_expectations as gx  # noqa: E402
import great_expectations.expectations as gxe  # noqa: E402
from great_expectations.data_context.types.base import ProgressBarsConfig  # noqa: E402

__all__ = ["ProgressBarsConfig", "gx", "gxe"]
