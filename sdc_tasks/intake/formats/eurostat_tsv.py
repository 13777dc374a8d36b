r"""Eurostat's TSV, from bytes to records: `freq,indic,geo\TIME_PERIOD`, a column for each
period, flags behind the values (`eurostat.py`).

The key may hold any concept. A file without a column DATAFLOW does not say of which structure it is.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import count, islice

import numpy as np

from sdc_tasks.intake.findings import Findings
from sdc_tasks.intake.formats.encoding import as_utf_8, readable
from sdc_tasks.intake.formats.eurostat import cell
from sdc_tasks.intake.formats.header import columns_fit, known_columns
from sdc_tasks.intake.formats.records import Concepts, Records, WireFormat, concept_of

TSV = WireFormat("Eurostat TSV", ".", ())
_AT_A_TIME = 128  # records; Python looks for garbage after 700 new objects


def parse(data: bytes, concepts: Concepts, found: Findings, most: int) -> Records | None:
    """The records of the file, one for each row and period; None where it cannot be read (the findings say
    why).
    """
    text = as_utf_8(data, found).removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace")
    if found.refused:
        return None
    lines = text.split("\n")
    if len(lines) > most + 1:
        found.add("140", f"the file has more than {most} lines: send the table and nothing else")
        return None
    header = _header(lines, concepts, found)
    if header is None:
        return None
    names, periods = header
    concept_of_column = [*names, *_behind(concepts)]
    line, columns = _columns(_records(lines, len(names), periods, found), len(concept_of_column), most)
    if len(line) > most:
        found.add("140", f"the file has more than {most} values: send the table and nothing else")
        return None
    if not line:
        found.add("140", "the file has a header but no record: send the complete table")
        return None
    known = known_columns(concepts)
    read = {
        name: (list(texts), np.array(which))
        for name, (texts, which) in zip(concept_of_column, columns, strict=True)
        if name in known
    }
    return Records(TSV, np.array(line), read)


def _columns(
    records: Iterator[tuple[int, tuple[str, ...]]], width: int, most: int
) -> tuple[array[int], list[tuple[Mapping[str, int], array[int]]]]:
    """The line of each record, and for each column its distinct texts and their numbers; it ends soon after
    `most` records.
    """
    texts = [defaultdict[str, int](count().__next__) for _ in range(width)]  # a new text gets the next number
    which = [array("q") for _ in range(width)]
    line = array("q")
    while len(line) <= most and (part := list(islice(records, _AT_A_TIME))):
        line.extend(at for at, _ in part)
        for mine, numbers, contents in zip(
            texts, which, zip(*(said for _, said in part), strict=True), strict=True
        ):
            numbers.extend(map(mine.__getitem__, contents))
    return line, list(zip(texts, which, strict=True))


def _behind(concepts: Concepts) -> tuple[str, ...]:
    """What stands beside the key."""
    return ("TIME_PERIOD", "OBS_VALUE", concepts.obs_status, concepts.conf_status)


def _header(lines: list[str], concepts: Concepts, found: Findings) -> tuple[list[str], list[str]] | None:
    """The concepts of the key and the periods."""
    head, *periods = (part.strip() for part in lines[0].rstrip("\r").split("\t"))
    key, slash, over = head.partition("\\")
    if not slash or over.upper() not in ("TIME_PERIOD", "TIME") or not periods:
        found.add(
            "140",
            r"the first line is not that of Eurostat's TSV, such as freq,geo\TIME_PERIOD and then the "
            r"periods",
            1,
        )
        return None
    known = known_columns(concepts)
    names = [concept_of(name.strip(), known) for name in key.split(",")]
    columns_fit([*names, *_behind(concepts)], known, concepts.required, found)
    if lines[-1]:
        found.add("140", "the last line may be cut short: end it with a line break", len(lines))
    if found.refused:
        return None
    return names, periods


def first(data: bytes, concept: str) -> str:
    """The first text of a concept, empty where there is none: a guess, without parsing."""
    head, _, rest = readable(data).partition("\n")
    names = [name.strip().upper() for name in head.partition("\\")[0].split(",")]
    fields = rest.partition("\t")[0].split(",")
    return next(
        (text.strip() for name, text in zip(names, fields, strict=False) if name == concept.upper()), ""
    )


def _records(
    lines: list[str], width: int, periods: list[str], found: Findings
) -> Iterator[tuple[int, tuple[str, ...]]]:
    """The line and the texts of each record. Adds a finding for each line of another width."""
    for at, row in enumerate(lines[1:], start=2):
        if not (row := row.rstrip("\r")):
            continue
        key, *cells = row.split("\t")
        codes = key.split(",")
        if " " in key or not key.isprintable():  # as no other blank is; most keys have none
            codes = [code.strip() for code in codes]
        if len(codes) != width or len(cells) != len(periods):
            message = (
                f"{len(codes)} codes and {len(cells)} values where the header has {width} and "
                f"{len(periods)}: check commas and tabs"
            )
            found.add("150/904-1", message, at)
            continue
        for period, said in zip(periods, cells, strict=True):
            yield at, (*codes, period, *cell(said.strip()))
