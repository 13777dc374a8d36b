"""What a domain file says of deliveries: their columns, the checks of their content, the
inbox, and what was there last time.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from pydantic import Field

from sdc_tasks.errors import InvalidInput
from sdc_tasks.model.findings import Severity
from sdc_tasks.model.strict import Strict
from sdc_tasks.model.table import Floats
from sdc_tasks.model.tolerances import SAME


class Attributes(Strict):
    """The columns that carry attributes; None where the domain has none."""

    conf_status: str = Field(default="CONF_STATUS", description="confidentiality: one of the flags")
    obs_status: str = Field(default="OBS_STATUS", description="observation status")
    unit: str | None = Field(default="UNIT_MEASURE", description="unit of the value")
    unit_multiplier: str | None = Field(default="UNIT_MULT", description="power of ten of the unit")
    units: str | None = Field(
        default="UNITS", description="number of units, such as enterprises, behind the value"
    )
    share_1: str | None = Field(
        default="SHARE_1", description="share of the largest unit, in percent of the value"
    )
    share_2: str | None = Field(
        default="SHARE_2", description="share of the second largest unit, in percent of the value"
    )


class CheckOptions(Strict):
    """Content checks of a delivery: tolerances and severities. A check with severity None is switched off."""

    additivity_absolute: float = Field(
        default=0.5, ge=0, description="a total may be off by this, in the unit of the indicator"
    )
    additivity_relative: float = Field(
        default=SAME, ge=0, description="or by this share of its value, whichever is more"
    )
    additivity: Severity | None = Field(
        default=Severity.ERROR,
        description="a total is the sum of its parts, within the tolerances; null: off",
    )
    non_negative: Severity | None = Field(
        default=Severity.ERROR, description="no value below 0, unless the indicator is signed; null: off"
    )
    complete_keys: Severity | None = Field(
        default=Severity.ERROR,
        description="every cell has a record, or is absent as the indicator allows; null: off",
    )
    shares: Severity | None = Field(
        default=Severity.ERROR,
        description="shares that can be: 100 ≥ SHARE_1 ≥ SHARE_2, together no more than 100; null: off",
    )
    unflagged: Severity | None = Field(
        default=Severity.WARNING,
        description="a public cell that the rule of a flag of the table would protect, by its units "
        "or by its shares; null: off",
    )
    units_fit: Severity | None = Field(
        default=Severity.WARNING,
        description="a total has no fewer units than its parts, and what has a value has units; null: off",
    )
    lone_suppressed: Severity | None = Field(
        default=Severity.WARNING,
        description="a hidden cell that its relation gives away by itself; null: off",
    )
    all_free: Severity | None = Field(
        default=Severity.WARNING, description="a table without any hidden cell; null: off"
    )
    all_suppressed: Severity | None = Field(
        default=Severity.WARNING, description="a table without any public cell; null: off"
    )
    vintage_change: Severity | None = Field(
        default=Severity.WARNING,
        description="values that moved by more than vintage_change_ratio since the last delivery; null: off",
    )
    vintage_change_ratio: float = Field(
        default=10.0, gt=1, description="of vintage_change: times larger or smaller"
    )
    proportion: Severity | None = Field(
        default=Severity.ERROR,
        description="an indicator that is out of proportion to the other countries: the value per "
        "unit, or the value beside the other "
        "indicators, by more than proportion_ratio; the value alone by more than its square; null: off",
    )
    size: Severity | None = Field(
        default=Severity.WARNING,
        description="an indicator without units that is more than proportion_ratio times larger or "
        "smaller than in the other countries; "
        "null: off",
    )
    code_proportion: Severity | None = Field(
        default=Severity.WARNING,
        description="a code of which the value per unit is out of proportion to the rest of the "
        "table, by more than proportion_ratio; "
        "null: off",
    )
    period_proportion: Severity | None = Field(
        default=Severity.ERROR,
        description="an indicator of which the values are out of proportion to the last period, by "
        "more than period_ratio in the median; "
        "null: off",
    )
    period_ratio: float = Field(
        default=10.0,
        gt=1,
        description="of period_proportion: times larger or smaller than in the last period",
    )
    period_change: Severity | None = Field(
        default=Severity.WARNING,
        description="an indicator of which the values moved since the last period, by more than "
        "period_change_ratio in the median; "
        "null: off",
    )
    period_change_ratio: float = Field(
        default=3.0,
        gt=1,
        description="of period_change: times larger or smaller than in the last period; another "
        "currency is more",
    )
    code_change: Severity | None = Field(
        default=Severity.WARNING,
        description="a total of a code that moved by more than vintage_change_ratio against its "
        "table since the last period; null: off",
    )
    columns_lost: Severity | None = Field(
        default=Severity.WARNING,
        description="units or shares that the last period had and this one has not; null: off",
    )
    repeated: Severity | None = Field(
        default=Severity.WARNING,
        description="an indicator with exactly the values of the last period; null: off",
    )
    copied: Severity | None = Field(
        default=Severity.WARNING,
        description="an indicator with exactly the values of another country; null: off",
    )
    proportion_ratio: float = Field(
        default=30.0,
        gt=1,
        description="of the checks of proportion: times larger or smaller; between a large country "
        "and a unit of a thousand",
    )
    suite: str | None = Field(
        default=None,
        description="a JSON file beside this one: expectations of Great Expectations that the office adds, "
        "on the codes of a cell, OBS_VALUE, CONF_STATUS, UNITS, SHARE_1 and SHARE_2",
    )
    proportion_confirmed: tuple[str, ...] = Field(
        default=(),
        description="countries whose unit somebody has looked at: proportion and period_proportion "
        "are warnings for them",
    )

    def allows(self, total: float) -> float:
        """`allowed` of one total."""
        return self.additivity_absolute + self.additivity_relative * abs(total)

    def allowed(self, total: Floats) -> Floats:
        """How far totals of these values may be off, in the unit of the indicator."""
        return np.asarray(self.additivity_absolute + self.additivity_relative * np.abs(total))


class InboxOptions(Strict):
    """Names that may lie in an inbox without being read, such as README.*; anything else
    that is not read stops the release.
    """

    ignore: tuple[str, ...] = Field(default=(), description="patterns of file names that are not read")


class Expected(Strict):
    """Which cells had a record last time: a CSV file with a column for the area, the indicator and each
    hierarchy, relative to the domain file; other columns are not looked at, so that last year's
    records, one country after the other, will do. Keys that vanished and keys that appeared are
    findings of these severities; null: not told.
    """

    keys: str = Field(description="CSV file with the keys of last time, relative to the domain file")
    vanished: Severity | None = Field(
        default=Severity.WARNING, description="severity of a key that has no record any more; null: not told"
    )
    appeared: Severity | None = Field(
        default=Severity.WARNING, description="severity of a key that had no record last time; null: not told"
    )


def read_keys(path: Path, columns: Sequence[str]) -> frozenset[tuple[str, ...]]:
    """The keys of a file of expected keys. Raises InvalidInput naming the file and what it lacks."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as lines:
            reader = csv.DictReader(lines)
            if lacking := sorted(set(columns) - set(reader.fieldnames or ())):
                raise InvalidInput(
                    f"{path}: expected keys need the columns {', '.join(columns)}; {', '.join(lacking)} is "
                    f"missing"
                )
            return frozenset(tuple(row[column] or "" for column in columns) for row in reader)
    except OSError as error:
        raise InvalidInput(f"expected.keys: cannot read {path} ({error.strerror})") from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise InvalidInput(f"{path}: expected keys are a CSV file in utf-8") from error
