"""Multiples of a base."""

from __future__ import annotations

import numpy as np

from sdc_tasks.model.table import Bools, Floats
from sdc_tasks.model.tolerances import SAME


def multiples(values: Floats, base: float) -> tuple[Floats, Bools]:
    """(values / base rounded down, whether a value is a multiple of the base), each of the shape of
    `values`, up to rounding noise.
    """
    near = np.rint(values / base)
    whole = np.abs(values - near * base) <= SAME * np.maximum(np.abs(values), base)
    return np.where(whole, near, np.floor(values / base)), whole
