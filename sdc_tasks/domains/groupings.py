"""Further sums over the codes of a dimension: other trees, special aggregates, and correspondences of two
classifications.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import Field

from sdc_tasks.domains.codelists import CODELIST_BYTES, Code, CodelistSource, printable_codes
from sdc_tasks.domains.registry.maps import MAPS, read_map
from sdc_tasks.errors import InvalidInput
from sdc_tasks.untrusted import settings_text

PART, PARENT, CORRESPONDENCE = ["code", "part"], ["code", "parent"], ["from", "to"]


class HierarchySource(CodelistSource):
    """A dimension whose codes add up: its code list is a tree, and `groupings` and `correspondences` say what
    else is a sum of its codes. A release is attacked with all of these sums, and deliveries must add up to
    them.

    `groupings: [{ICT: [C26, J61, J62], B-N_S95: [B-N, S95]}, high_tech.csv]`: of a file, each line of
    `code,part,label` is a part of the total `code`, and each line of `code,parent,label` a code of a second
    tree with its one parent. A total that the code list lacks is a code from then on, with the label of the
    file; a part must be in the code list, or a total of a grouping. A total needs records as any other cell.

    `correspondences: [nace2_to_nace21.csv]`, with the columns `from,to,label`, or a representation map of
    SDMX (.xml, .json): a code is the sum of the codes
    that it comes from, where these have gone nowhere else, or the sum of those that it was divided into. What
    both classifications have unchanged may stand there. Where a code was split, and one of its parts has more
    than that, no code is a sum, and the lines are refused.
    """

    groupings: tuple[str | dict[str, tuple[str, ...]], ...] = Field(
        default=(),
        description="other sums over the same codes: a map from each total to its parts, or a CSV file "
        "(`code,part` or `code,parent`, and perhaps `label`) relative to the domain file",
    )
    correspondences: tuple[str, ...] = Field(
        default=(),
        description="CSV files `from,to` and perhaps `label` (of `to`), or structure messages of SDMX with "
        "one representation map: which codes of one classification are those of another one, both among the "
        "codes of the dimension",
    )

    @property
    def files(self) -> tuple[str, ...]:
        """The files of groupings and correspondences."""
        return (*(each for each in self.groupings if isinstance(each, str)), *self.correspondences)

    @property
    def silent(self) -> set[str]:
        """Its keys that say nothing."""
        return {name for name in ("groupings", "correspondences") if not getattr(self, name)}

    def places(self, domain: Path) -> list[str]:
        """Where its sums are written: the file of the domain, if it has any, and files beside it."""
        return [
            *([self._inline_at(domain)] if any(not isinstance(each, str) for each in self.groupings) else []),
            *self.files,
        ]

    def _inline_at(self, domain: Path) -> str:
        return f"{domain}: hierarchies.{self.dimension}.groupings"

    def added(self, domain: Path, listed: Path, codes: Sequence[Code]) -> Added:
        """What groupings and correspondences add to the codes of the list. `domain`: the domain file, beside
        which their files are. Raises InvalidInput with file and line, or key.
        """
        stated: list[_Stated] = []
        for each in self.groupings:
            if isinstance(each, str):
                stated += _grouping(domain.parent / each)
            else:
                stated += _inline(self._inline_at(domain), each)
        for file in self.correspondences:
            stated += _correspondence(domain.parent / file)
        return _added(listed, codes, stated)


@dataclass(frozen=True)
class Added:
    """Totals that the code list lacks, and sums (total, parts)."""

    codes: tuple[Code, ...] = ()
    sums: tuple[tuple[str, tuple[str, ...]], ...] = ()


@dataclass(frozen=True)
class _Stated:
    """A sum; the `place` of the total and of each part; and what totals are called."""

    total: str
    parts: tuple[str, ...]
    place: str
    places: tuple[str, ...]
    labels: Mapping[str, str]


@dataclass(frozen=True)
class _Line:
    """The two codes of a line, and the label of the one that may be new."""

    place: str
    first: str
    second: str
    label: str


def _added(listed: Path, codes: Sequence[Code], stated: Sequence[_Stated]) -> Added:
    known = {row.code: row for row in codes}
    _refuse_unknown_parts(listed, known, stated)
    new: dict[str, Code] = {}
    for each in stated:
        if each.total not in known and each.total not in new:
            new[each.total] = _code_of(each, known, stated)
    if new:
        places = dict.fromkeys(each.place for each in stated if each.total in new)
        printable_codes(", ".join(places), [*codes, *new.values()])
    return Added(tuple(new.values()), _beyond_tree(codes, stated))


def _refuse_unknown_parts(listed: Path, known: Mapping[str, Code], stated: Sequence[_Stated]) -> None:
    totals = {each.total for each in stated}
    for each in stated:
        for part, place in zip(each.parts, each.places, strict=True):
            if part not in known and part not in totals:
                raise InvalidInput(
                    f"{place}: {part}, a part of {each.total}, is no code of {listed.name}. Remedy: correct "
                    f"it, or list it there"
                )


def _code_of(new: _Stated, known: Mapping[str, Code], stated: Sequence[_Stated]) -> Code:
    """A total that the list lacks: with the unit of its first listed part, and the first label it has."""
    like = next((known[part] for part in new.parts if part in known), Code("", "", ""))
    label = next((each.labels[new.total] for each in stated if new.total in each.labels), new.total)
    return Code(new.total, "", label, unit=like.unit, unit_multiplier=like.unit_multiplier)


def _beyond_tree(codes: Sequence[Code], stated: Sequence[_Stated]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """The sums that the tree of the list does not say itself, each once."""
    tree: dict[str, set[str]] = {}
    for row in codes:
        tree.setdefault(row.parent, set()).add(row.code)
    found: dict[tuple[str, frozenset[str]], tuple[str, ...]] = {}
    for each in stated:
        if set(each.parts) != tree.get(each.total, set()):
            found.setdefault((each.total, frozenset(each.parts)), each.parts)
    return tuple((total, parts) for (total, _), parts in found.items())


def _inline(place: str, sums: Mapping[str, tuple[str, ...]]) -> Iterator[_Stated]:
    for total, parts in sums.items():
        if not parts:
            raise InvalidInput(f"{place}: {total} has no parts. Remedy: list its parts, or leave it out")
        if not all((total, *parts)):
            raise InvalidInput(
                f"{place}: {total} with an empty code. Remedy: write the code, or leave it out"
            )
        if twice := [part for part in parts if parts.count(part) > 1]:
            raise InvalidInput(f"{place}: {total} counts {twice[0]} twice. Remedy: list each part once")
        yield _Stated(total, parts, place, (place,) * len(parts), {})


def _grouping(path: Path) -> Iterator[_Stated]:
    """The sums of a file code,part or code,parent."""
    header, lines = _lines(path, (PART, PARENT))
    pairs = _with_totals(header, lines)
    _refuse_second_pair(lines)
    if not pairs:
        raise InvalidInput(f"{path}: no code has a part. Remedy: write what adds up to what")
    labels = {line.first: line.label for line in lines if line.label}
    totals: dict[str, list[tuple[_Line, str]]] = {}
    for line, total, part in pairs:
        totals.setdefault(total, []).append((line, part))
    for total, mine in totals.items():
        yield _sum_of(total, [line for line, _ in mine], (part for _, part in mine), labels)


def _with_totals(header: list[str], lines: Sequence[_Line]) -> list[tuple[_Line, str, str]]:
    """The lines with their total and their part; the root of a tree is a part of nothing."""
    if header == PART:
        return [(line, line.first, line.second) for line in lines]
    _refuse_second(lines, "Remedy: one parent for each code of a tree, or code,part for single sums")
    return [(line, line.second, line.first) for line in lines if line.second]


def _correspondence(path: Path) -> Iterator[_Stated]:
    """The codes of one classification that are sums of codes of the other one."""
    if path.suffix.lower() in MAPS:
        lines = [_Line(*each, label="") for each in read_map(path, CODELIST_BYTES)]
    else:
        _, lines = _lines(path, (CORRESPONDENCE,))
    _refuse_second_pair(lines)
    return _Correspondence.of(lines).sums()


@dataclass(frozen=True)
class _Correspondence:
    """The lines of a correspondence by the code that they lead `onward` from, and by the one that they lead
    `back` from.
    """

    lines: Sequence[_Line]
    onward: Mapping[str, list[_Line]]
    back: Mapping[str, list[_Line]]

    @classmethod
    def of(cls, lines: Sequence[_Line]) -> _Correspondence:
        onward: dict[str, list[_Line]] = {}
        back: dict[str, list[_Line]] = {}
        for line in lines:
            onward.setdefault(line.first, []).append(line)
            back.setdefault(line.second, []).append(line)
        return cls(lines, onward, back)

    def sums(self) -> Iterator[_Stated]:
        """The new codes that were put together, then the old ones that were divided."""
        for line in self.lines:
            self._refuse_crossing(line)
            self._refuse_code_of_both(line)
        labels = {line.second: line.label for line in self.lines if line.label}
        for mine in self.back.values():
            if len(self.onward[mine[0].first]) == 1 and mine[0].first != mine[0].second:
                yield _sum_of(mine[0].second, mine, [line.first for line in mine], labels)
        for mine in self.onward.values():
            if len(mine) > 1:
                yield _sum_of(mine[0].first, mine, [line.second for line in mine], labels)

    def _refuse_crossing(self, line: _Line) -> None:
        """Refuses a line between a code that was split and one that holds parts of several."""
        there, here = self.onward[line.first], self.back[line.second]
        if len(there) > 1 and len(here) > 1:
            other = next(each.second for each in there if each is not line)
            more = next(each.first for each in here if each is not line)
            raise InvalidInput(
                f"{line.place}: {line.first} is split between {line.second} and {other}, and {line.second} "
                f"has a part of {more} too, so that none of them is a sum. Remedy: leave the lines of these "
                f"codes out, and let a grouping make a total that holds all of them the sum of the former, "
                f"and another grouping the sum of the latter"
            )

    def _refuse_code_of_both(self, line: _Line) -> None:
        """Refuses a code of both classifications, but where its only line says that it is unchanged."""
        alone = len(self.onward[line.first]) == len(self.back[line.second]) == 1
        unchanged = line.first == line.second and alone
        if not unchanged and (line.first in self.back or line.second in self.onward):
            both = line.second if line.second in self.onward else line.first
            raise InvalidInput(
                f"{line.place}: {both} is a code of both classifications, and not the same in both. Remedy: "
                f"give it another code in one of them"
            )


def _sum_of(total: str, lines: Sequence[_Line], parts: Iterable[str], labels: Mapping[str, str]) -> _Stated:
    places = tuple(line.place for line in lines)
    return _Stated(total, tuple(parts), places[0], places, labels)


def _refuse_second(lines: Sequence[_Line], remedy: str) -> None:
    """Refuses a code that stands in two lines."""
    seen: dict[str, str] = {}
    for line in lines:
        if line.first in seen:
            raise InvalidInput(f"{line.place}: {line.first} stands in {seen[line.first]} already. {remedy}")
        seen[line.first] = line.place.rpartition(", ")[2]


def _refuse_second_pair(lines: Sequence[_Line]) -> None:
    """Refuses two lines that say the same."""
    seen: dict[tuple[str, str], str] = {}
    for line in lines:
        key = line.first, line.second
        if key in seen:
            raise InvalidInput(
                f"{line.place}: {line.first} with {line.second} stands in {seen[key]} already. Remedy: leave "
                f"one of the lines out"
            )
        seen[key] = line.place.rpartition(", ")[2]


def _lines(path: Path, headers: Sequence[list[str]]) -> tuple[list[str], list[_Line]]:
    """Which of the headers a file has, and its lines. Raises InvalidInput with the line."""
    text = settings_text(path, CODELIST_BYTES, "grouping").removeprefix("\ufeff")
    rows = csv.reader(io.StringIO(text, newline=""), strict=True)
    found: list[_Line] = []
    try:
        header = _header(path, next(rows, []), headers)
        for row in rows:
            fields = [field.strip() for field in row]
            if any(fields):
                found.append(_line(f"{path}, line {rows.line_num}", fields, header))
    except csv.Error as error:
        raise InvalidInput(
            f"{path}, line {rows.line_num}: not CSV ({error}). Remedy: correct its quotation marks"
        ) from error
    return header[:2], found


def _header(path: Path, first: list[str], headers: Sequence[list[str]]) -> list[str]:
    """The columns of a file: two that are asked for, and perhaps the label."""
    header = [name.strip().lower() for name in first]
    if header[:2] not in headers or header[2:] not in ([], ["label"]):
        named = " or ".join(f"{','.join(each)}[,label]" for each in headers)
        raise InvalidInput(f"{path}, line 1: the header is {named}. Remedy: name the columns so")
    return header


def _line(place: str, fields: list[str], header: list[str]) -> _Line:
    """A line with both codes; in a tree, the root has no parent."""
    if len(fields) != len(header) or not fields[0] or (not fields[1] and header[:2] != PARENT):
        raise InvalidInput(
            f"{place}: {' and '.join(header[:2])} are expected. Remedy: as many fields as the header"
        )
    return _Line(place, fields[0], fields[1], "".join(fields[2:]))
