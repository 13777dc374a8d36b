"""What a domain file gives up of what it asked for when a version of the period went out.

The next version keeps the levels of that version. It cannot keep what the file itself takes away: whether a
cell is hidden at all, the unit in which both versions are compared, that values are whole numbers, that codes
are sums of others, and that somebody who has the program is withstood. A file that loosens one of these is
refused for the period.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

Settings = Mapping[str, Any]
PUBLIC = "public"


def loosened(before: Settings, now: Settings) -> list[str]:
    """What the settings of `now` (`Domain.settings`) give up of those `before`, in words; what an old
    file does not tell is not judged.
    """
    return [*_flags(before, now), *_indicators(before, now), *_sums(before, now), *_bases(before, now)]


def _flags(before: Settings, now: Settings) -> Iterator[str]:
    """A flag that hid cells makes them public now, or is not known any more."""
    flags = now.get("flags", {})
    for code, spec in sorted(before.get("flags", {}).items()):
        if spec.get("role", PUBLIC) != PUBLIC and flags.get(code, {}).get("role", PUBLIC) == PUBLIC:
            yield (
                f"flag {code} hid cells, and is {'public' if code in flags else 'no flag of the domain'} now"
            )


def _indicators(before: Settings, now: Settings) -> Iterator[str]:
    """Another unit, or a count whose values nobody knows to be whole any more."""
    mine = {each["code"]: each for each in now.get("indicators", ())}
    for each in before.get("indicators", ()):
        code, here = each["code"], mine.get(each["code"])
        if here is None:
            continue
        for name in ("unit", "unit_multiplier"):
            if name in each and each[name] != here.get(name):
                yield f"indicator {code} has another {name}"
        if _whole(each) and not _whole(here):
            yield f"the values of indicator {code} were known to be whole numbers, and are not now"
        if _aware(each.get("rounding")) and not _aware(here.get("rounding")):
            yield (
                f"the rounding of indicator {code} withstood somebody who has the program "
                f"(rule_aware), and does not now"
            )


def _sums(before: Settings, now: Settings) -> Iterator[str]:
    """A sum that somebody knows of codes that are still published, and that nothing says any more."""
    for dimension, sums in sorted(before.get("sums", {}).items()):
        rows = now.get("codelists", {}).get(dimension, ())
        codes = {row[0] for row in rows}
        said = [(total, set(parts)) for total, parts in now.get("sums", {}).get(dimension, ())]
        said += [(code, {row[0] for row in rows if row[1] == code}) for code in codes]
        for total, parts in sums:
            if codes >= {total, *parts} and (total, set(parts)) not in said:
                yield f"{dimension} {total} was the sum of {', '.join(parts)}, and no grouping says so now"


def _bases(before: Settings, now: Settings) -> Iterator[str]:
    if _aware(before.get("bases")) and not _aware(now.get("bases")):
        yield "bases withstood somebody who has the program (rule_aware), and do not now"


def _whole(indicator: Mapping[str, Any]) -> bool:
    return bool(indicator.get("integer")) or indicator.get("kind") == "count"


def _aware(options: Mapping[str, Any] | None) -> bool:
    return bool((options or {}).get("rule_aware"))
