"""Which versions of its packages the program was tested with, and the refusal of others.

pyproject.toml gives each dependency two ends. An installer keeps to them; somebody who upgrades a package
afterwards, or installs without dependencies, does not. A solver or a reader of another version may decide
other bytes, or say something else by the same name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache

from sdc_tasks.errors import InvalidInput

PROJECT = "sdc-release"
ABSENT = " is not installed"
_ASKED = re.compile(r"([A-Za-z0-9._-]+)(?:\[[^\]]*\])?\s*([^;]*)(?:;\s*(.*))?")
_NESTED = re.compile(rf"{PROJECT}\[([^\]]+)\]")
_END = re.compile(r"(==|>=|<)\s*([0-9.]+)")


# importlib.metadata takes as long to load as Typer: `sdc --help` does without.
def requires(name: str) -> list[str]:
    """What an installed package asks for. Raises ModuleNotFoundError where it is not installed."""
    from importlib import metadata

    return metadata.requires(name) or []


def version(name: str) -> str:
    """Of an installed package. Raises ModuleNotFoundError where it is not installed."""
    from importlib import metadata

    return metadata.version(name)


@cache
def require_tested(extra: str = "") -> None:
    """Raises InvalidInput, by name and with the remedy, where a package that every table needs is missing, or
    is installed in a version that was not tested; or one of an `extra`, such as parquet. A program that runs
    from its source without being installed is not judged.
    """
    try:
        asked = requires(PROJECT)
    except ModuleNotFoundError:
        return
    if wrong := untested(_mine(asked, extra)):
        absent = extra and any(told.endswith(ABSENT) for told, _ in wrong)
        needed = [f"{PROJECT}[{extra}]"] if absent else [needed for _, needed in wrong]
        raise InvalidInput(
            f"{'; '.join(told for told, _ in wrong)}. Remedy: pip install {' '.join(map(repr, needed))}"
        )


def untested(asked: Iterable[str]) -> list[tuple[str, str]]:
    """(what is wrong, what to install) for each requirement that the installed packages do not
    meet, such as `pulp>=3.3,<3.4`.

    Raises ValueError for a requirement with anything but ==, >= and <: nobody may think that it was judged.
    """
    wrong = []
    for each in asked:
        if (match := _ASKED.fullmatch(each.strip())) is None:
            raise ValueError(f"no requirement: {each}")
        name, ends = match[1], [end.strip() for end in match[2].split(",") if end.strip()]
        within = ",".join(sorted(ends, key=lambda end: end.startswith("<")))
        try:
            found = version(name)
        except ModuleNotFoundError:
            wrong.append((f"{name}{ABSENT}", f"{name}{within}"))
            continue
        if not all(_holds(found, end) for end in ends):
            wrong.append((f"{name} {found} is installed, and tested is {within}", f"{name}{within}"))
    return wrong


def _mine(asked: Sequence[str], extra: str) -> list[str]:
    """The requirements of every table, or those of the extra alone and of the extras that it names."""
    mine = []
    for each in asked:
        needed, _, marker = each.partition(";")
        if marker.strip().replace("'", '"') == (f'extra == "{extra}"' if extra else ""):
            if nested := _NESTED.fullmatch(needed.strip()):
                mine += [one for name in nested[1].split(",") for one in _mine(asked, name.strip())]
            else:
                mine.append(needed)
    return mine


def _holds(found: str, end: str) -> bool:
    """Whether the release numbers of a version, without what stands behind them, meet one
    end. 4.0rc1 is a 4.0, and no 3.x.
    """
    if (match := _END.fullmatch(end)) is None:
        raise ValueError(f"no end of a range: {end}")
    mine, bound = _release(found), _release(match[2])
    if match[1] == "==":
        return found == match[2]
    width = max(len(mine), len(bound))
    mine, bound = (each + (0,) * (width - len(each)) for each in (mine, bound))
    return mine >= bound if match[1] == ">=" else mine < bound


def _release(text: str) -> tuple[int, ...]:
    return tuple(map(int, re.match(r"(?:[0-9]+\.?)*", text)[0].rstrip(".").split(".")))  # type: ignore[index]
