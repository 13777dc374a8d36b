"""What the codes of a published table mean, for readers who do not know them."""

from __future__ import annotations

from collections.abc import Mapping

OBS_STATUS: Mapping[str, str] = {
    "A": "Normal value",
    "E": "Estimated value: rounded, within half of ROUNDING_BASE of the total",
    "D": "Definition differs: the sum of the countries whose value is public",
    "Q": "Missing value; suppressed",
}
CONF_STATUS: Mapping[str, str] = {
    "F": "Free for publication",
    "S": "Secondary confidentiality, set by the receiver of the data",
}
COLUMNS: Mapping[str, str] = {
    "STRUCTURE": "Kind of structure: a data flow",
    "STRUCTURE_ID": "The data flow, AGENCY:ID(VERSION)",
    "ACTION": "What the row does: I gives information",
    "FREQ": "Frequency",
    "TIME_PERIOD": "Reference period",
    "OBS_VALUE": "Value; empty where it is withheld",
    "OBS_STATUS": "; ".join(f"{code}: {text}" for code, text in OBS_STATUS.items()),
    "CONF_STATUS": "; ".join(f"{code}: {text}" for code, text in CONF_STATUS.items()),
    "ROUNDING_BASE": (
        "Of a rounded value: the total lies between OBS_VALUE - ROUNDING_BASE / 2 and "
        "OBS_VALUE + ROUNDING_BASE / 2"
    ),
    "DECIMALS": "Number of decimals of OBS_VALUE",
    "VISIBLE_SHARE": "Of a sum of visible countries: it is at least this share of the total",
}
