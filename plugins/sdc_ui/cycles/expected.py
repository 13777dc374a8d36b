"""What the domain file expects where a finding says that something else was found: names,
codes and units, never a value.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sdc_ui.shared.labels import MULTIPLIERS

NAMED = 6  # codes of a list that are named
Settings = Mapping[str, Any]


def expected(code: str, settings: Settings, period: str) -> str:
    """What a file of this domain and period must hold, for a finding with this code; empty where the message
    says it all, and for a domain without stored settings.
    """
    return EXPECTED[code](settings, period) if settings and code in EXPECTED else ""


def _listed(codes: list[str]) -> str:
    more = f" … ({len(codes)} codes)" if len(codes) > NAMED else ""
    return ", ".join(codes[:NAMED]) + more


def _dimensions(settings: Settings) -> list[str]:
    return [
        settings["areas"]["dimension"],
        settings["indicator_dimension"],
        *(each["dimension"] for each in settings["hierarchies"]),
        "TIME_PERIOD",
    ]


def _columns(settings: Settings, _: str) -> str:
    flag = settings["attributes"].get("conf_status")
    return "columns " + ", ".join([*_dimensions(settings), "OBS_VALUE", *([flag] if flag else [])])


def _codes(settings: Settings, period: str) -> str:
    lists: Mapping[str, list[list[str]]] = settings.get("codelists", {})
    known = {
        dimension: [code for code, _, _ in lists[dimension]]
        for dimension in _dimensions(settings)
        if dimension in lists
    }
    known[settings["indicator_dimension"]] = [each["code"] for each in settings["indicators"]]
    if flag := settings["attributes"].get("conf_status"):
        known[flag] = list(settings.get("flags", {}))
    return "; ".join(f"{column}: {_listed(codes)}" for column, codes in known.items())


def _countries(settings: Settings, _: str) -> str:
    areas = settings["areas"]["dimension"]
    return f"the table of one country: {areas} one of " + _listed(
        [code for code, *_ in settings.get("codelists", {}).get(areas, [])]
    )


def _units(settings: Settings, _: str) -> str:
    told = (
        f"{each['code']} in {MULTIPLIERS.get(int(each.get('unit_multiplier', 0)), '')}{each['unit']} "
        f"(multiplier {each.get('unit_multiplier', 0)}, decimals {each.get('decimals', 0)})"
        for each in settings["indicators"]
        if each.get("unit")
    )
    return "; ".join(told)


EXPECTED: Mapping[str, Callable[[Settings, str], str]] = {
    "150/003": _columns,
    "150/007": _columns,
    "150/904-1": _columns,
    "150/904-2": _codes,
    "SDC/area": _countries,
    "SDC/decimal": _units,
    "SDC/file-name": lambda settings, period: f"a name that begins with the country, such as AT_{period}.csv",
    "SDC/magnitude": _units,
    "SDC/period": lambda _, period: f"TIME_PERIOD {period} in every record",
    "SDC/precision": _units,
    "SDC/structure": lambda settings, _: str(settings["structure_id"]),
    "SDC/unit": _units,
    "SDC/whole": _units,
}
