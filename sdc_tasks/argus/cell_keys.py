"""<SUPPRESS> CKM(table) "file": the cell key method of a batch, for counts of records.

The keys stand in the column <RECORDKEY>, decimal numbers in [0, 1). The perturbation table is the file that
the command names, else that of <PFILE>. What is done with them, and what the perturbed counts tell, is of
`sdc.perturb`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from sdc_tasks.api.perturbing import PerturbResult, perturbed_rows
from sdc_tasks.argus.batch import Command, Specified
from sdc_tasks.argus.outputs import Protected
from sdc_tasks.argus.rules import Safety
from sdc_tasks.argus.tables import COUNTED, Held, TableSource, coded
from sdc_tasks.errors import InvalidInput
from sdc_tasks.methods.perturb.counts import weighted

CALL = re.compile(r"CKM\s*\(\s*(\d*)\s*\)\s*(.*)", re.IGNORECASE)
STRICTER = (
    "CKM: every count is perturbed, whatever rules and a-priori files say of it",
    "CKM: a count that noise takes to 0 is written as an empty cell: it would tell that somebody is in it",
)


@dataclass(frozen=True)
class AskedCkm:
    """CKM(table) "file". `name`: of the file, empty where the metadata name it."""

    command: Command
    table: int
    name: str


def asked_noise(command: Command) -> AskedCkm | None:
    """The arguments of CKM, None of another method. Raises InvalidInput for arguments of sums of values."""
    found = CALL.fullmatch(command.rest) if command.word == "SUPPRESS" else None
    if found is None:
        return None
    if "|" in found[2]:
        raise command.refused(
            "CKM of sums of values is not ours. Remedy: `sdc perturb --values` has noise of its own for them"
        )
    return AskedCkm(command, int(found[1] or 1), found[2] and replace(command, rest=found[2]).name)


def ptable_name(asked: AskedCkm, source: TableSource) -> str:
    """The name of the file with the perturbation table. Raises InvalidInput where none is told."""
    named = [
        column.said[word]
        for column in source.metadata.having("RECORDKEY")
        for word in ("PFILE_FREQ", "PFILE")
        if column.said.get(word)
    ]
    if not asked.name and not named:
        raise asked.command.refused(
            f"CKM, and no perturbation table is named. Remedy: name its file behind CKM, or as <PFILE> in "
            f"{source.metadata.path}"
        )
    return asked.name or named[0]


def perturbed(
    asked: AskedCkm, source: TableSource, specified: Specified, safety: Safety, ptable: Path
) -> PerturbResult:
    """The counts of the published cells, perturbed. Raises InvalidInput."""
    keys = source.metadata.having("RECORDKEY")
    refused = asked.command.refused
    if source.tabular:
        raise refused("CKM needs the keys of records, and a table has none. Remedy: give microdata")
    if len(keys) != 1:
        raise refused(f"CKM needs one column <RECORDKEY> in {source.metadata.path}. Remedy: describe it")
    if specified.response.upper() != COUNTED:
        raise refused(
            f"CKM of sums of {specified.response}. Remedy: ask for {COUNTED}; `sdc perturb --values` has "
            "noise for sums"
        )
    if safety.holdings:
        raise refused("CKM beside rules for holdings. Remedy: leave out one of them, as τ-ARGUS asks too")
    weights = source.metadata.having("WEIGHT") if safety.weighted else []
    rows, trees = coded(source, specified)
    return perturbed_rows(
        rows,
        list(trees),
        ptable,
        None,
        {
            "record": None,
            "record_key": keys[0].name,
            "keys_below": None,
            "count": None,
            "weight": weights[0].name if weights else None,
            "unknown": "",
            "max_order": None,
            "crossings": None,
            "formula": None,
            "hierarchy": {
                name: dict(zip(tree.codes, tree.parent, strict=True)) for name, tree in trees.items()
            },
        },
        False,
    )


def with_noise(held: Held, found: PerturbResult) -> Protected:
    """The table with perturbed counts, 0 of cells that nobody is in."""
    place = {key: cell for cell, key in enumerate(held.crossed.keys)}
    at = [place[key] for key in found.cells.keys]
    x, weights = np.zeros(len(place)), found.keyed.weights
    x[at] = found.perturbed.published if weights is None else weighted(found.perturbed, weights)
    keying, dummy = found.keyed.keying, found.perturbed.dummy
    digits = len(str(keying.modulus)) - 1
    cell_keys = ["0." + "0" * digits] * len(place)
    for cell, key in zip(at, keying.totals(dummy, found.keyed.keys).tolist(), strict=True):
        cell_keys[cell] = f"0.{key:0{digits}d}"
    return Protected(held, "perturbed", np.zeros(len(place), dtype=bool), x, tuple(cell_keys))


def told(found: PerturbResult) -> Sequence[str]:
    """What was done, and what the perturbed counts tell; no cell."""
    lines = [
        f"CKM: {len(found.perturbed.noise)} counts perturbed, by {found.ptable.largest} at most; they are no "
        f"sums of their parts"
    ]
    try:
        facts: Mapping[str, int | bool] = found.audit(enumerate_counts=False).facts
    except InvalidInput as error:
        return [*lines, f"CKM: not audited: {error}"]
    return [
        *lines,
        f"CKM: to who knows the perturbation table, {facts['cells']} cells, empty ones too, tell at least "
        f"{facts['told_exactly']} counts: {facts['told_to_be_0']} are 0, {facts['told_to_be_1']} are 1",
    ]
