"""What a certificate shows of the confidential cells, in words. Every text that says how safe a
release is takes its words from here.

A claim is made of the certificate alone and says no more than it: what a certificate does not state counts
against it, and where it contradicts itself, nothing is claimed.

A further way in which primaries may fall short of full protection is one more line of `EXTENTS`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from sdc_tasks.model.attackers import KEEPERS, WHO

if TYPE_CHECKING:
    from sdc_tasks.model.results import AuditReport

Certificate = Mapping[str, Any]
REQUIREMENTS_EACH = 3  # of a primary: below, above, and the width of both


class Tone(StrEnum):
    """How a text with a claim is coloured. The text always says it too."""

    GOOD = "good"
    WARN = "warn"
    BAD = "bad"


@dataclass(frozen=True)
class Extent:
    """How far some primaries are protected, where that is not fully. `said` follows their number, for the
    office; `public` tells the world that there are such cells: no number and no country, because both would
    show an attacker where to look. `cells`: their keys.
    """

    said: str
    tone: Tone
    public: str
    cells: Callable[[Certificate], Collection[str]] = field(repr=False)


def _primaries(told: Certificate) -> Sequence[Mapping[str, Any]]:
    found: Sequence[Mapping[str, Any]] = told.get("primaries", ())
    if any("cell" not in each for each in found):
        raise ValueError("the certificate has an entry that names no primary cell")
    return found


def _open(told: Certificate) -> set[str]:
    """Not stated as protected, or not against each profile that the certificate names."""
    profiles = tuple(told.get("profiles", ()))
    return {
        each["cell"]
        for each in _primaries(told)
        if each.get("protected") is not True
        or any(each.get("profiles", {}).get(name) is not True for name in profiles)
    }


def _not_judged(told: Certificate) -> set[str]:
    """Those for which not everybody was judged who has a part of what a profile knows, or
    who also kept what was out before.
    """
    return {cell for cells in told.get("not_judged", {}).values() for cell in cells}


def _cut(told: Certificate) -> set[str]:
    return {each["cell"] for each in _primaries(told) if each.get("cut_to_national_baseline") is not False}


def _beside(told: Certificate) -> bool:
    """Does an attacker know what is out already? Then that may be what cuts."""
    return any(name in KEEPERS for name in told.get("profiles", ()))


# The first line that holds a cell is said of it; a cell in none of them is protected.
EXTENTS = (
    Extent(
        "not protected", Tone.BAD, "Some confidential cells are not as uncertain as their rule asks.", _open
    ),
    Extent(
        "not judged against every attacker",
        Tone.WARN,
        "Some confidential cells were not tried against everybody who knows a part of what the attackers "
        "named here know, or several of "
        "these things together.",
        _not_judged,
    ),
    Extent(
        "only as far as their national table allows",
        Tone.WARN,
        "Some confidential cells do not reach what their rule asks, because the table of their own country "
        "leaves them less uncertain; "
        "they stay as uncertain as it leaves them.",
        lambda told: () if _beside(told) else _cut(told),
    ),
    Extent(
        "only as far as their national table and what is out already allow",
        Tone.WARN,
        "Some confidential cells do not reach what their rule asks, because the table of their own country, "
        "or what was published before, "
        "leaves them less uncertain; they stay as uncertain as that leaves them.",
        lambda told: _cut(told) if _beside(told) else (),
    ),
)


@dataclass(frozen=True)
class Short:
    """The primaries that are protected to one extent alone, in the order of the certificate."""

    extent: Extent
    cells: tuple[str, ...]

    @property
    def countries(self) -> tuple[tuple[str, int], ...]:
        """The number of cells of each country, by its code."""
        return tuple(sorted(Counter(cell.partition(".")[0] for cell in self.cells).items()))

    @property
    def said(self) -> str:
        """Such as: 2 only as far as their national table allows (CC 1, DD 1)."""
        return (
            f"{len(self.cells)} {self.extent.said} "
            f"({', '.join(f'{code} {number}' for code, number in self.countries)})"
        )


@dataclass(frozen=True)
class Claim:
    """What may be said of a release. `profiles` were attacked; `shorts` are the primaries that are not fully
    protected; `weak` those of which the certificate does not say that their national table protects them;
    `faults` say where it contradicts itself or claims what it does not show.
    """

    certified: bool
    primaries: int
    profiles: tuple[str, ...]
    shorts: tuple[Short, ...]
    weak: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        return self.certified and not self.faults

    def protected_of(self, country: str, primaries: int) -> int:
        """The number of primaries of a country, of so many, that keep all that their rule asks."""
        return (
            0
            if self.faults
            else primaries - sum(dict(each.countries).get(country, 0) for each in self.shorts)
        )

    @property
    def protected(self) -> int:
        """The number of primaries that keep all that their rule asks."""
        return 0 if self.faults else self.primaries - sum(len(each.cells) for each in self.shorts)

    @property
    def tone(self) -> Tone:
        if not self.passed:
            return Tone.BAD
        return Tone.WARN if self.shorts else Tone.GOOD

    @property
    def verdict(self) -> str:
        """In a word or two."""
        return {Tone.GOOD: "passed", Tone.WARN: "passed with exceptions", Tone.BAD: "FAILED"}[self.tone]

    @property
    def exceptions(self) -> str:
        """What is not fully protected; empty where everything is."""
        return "; ".join(self.faults or [each.said for each in self.shorts])

    @property
    def sentence(self) -> str:
        """Such as: 19 of 21 primaries protected; 2 only as far as their national table allows (CC
        1, DD 1).
        """
        told = f"{self.protected} of {self.primaries} primaries protected"
        return f"{told}; {self.exceptions}" if self.exceptions else told

    @property
    def not_attacked(self) -> tuple[str, ...]:
        """The profiles of which the certificate says nothing."""
        return tuple(name for name in WHO if name not in self.profiles)

    @property
    def attackers(self) -> str:
        """Which profiles were attacked, and which were not."""
        rest = f"; not against {', '.join(self.not_attacked)}" if self.not_attacked else ""
        return f"against {', '.join(self.profiles) or 'nobody'}{rest}"

    @property
    def public(self) -> tuple[str, ...]:
        """What the world may read: neither how many cells a country hides nor which. Nothing
        where the certificate did not pass.
        """
        if not self.passed:
            return ()
        known = "; ".join(WHO[name] for name in self.profiles)
        rest = " Against other attackers it was not examined." if self.not_attacked else ""
        asked = (
            "Before publication the whole table was attacked: for each confidential cell, tables were sought "
            "that agree with everything an "
            "attacker knows and in which the cell is as far from its true value as its rule asks."
        )
        every = () if self.shorts else ("Every confidential cell stays as uncertain as its rule asks.",)
        most = (
            ("Every other confidential cell stays as uncertain as its rule asks.",)
            if self.shorts and self.protected
            else ()
        )
        return (
            asked,
            *every,
            *(each.extent.public for each in self.shorts),
            *most,
            f"The attackers: {known}.{rest}",
        )


def claim_of(certificate: Certificate) -> Claim:
    """What this certificate lets anybody say. Raises ValueError for one whose entries name no cell."""
    left, shorts = dict.fromkeys(str(each["cell"]) for each in _primaries(certificate)), list[Short]()
    number = len(left)
    for extent in EXTENTS:
        held = frozenset(extent.cells(certificate))
        if mine := tuple(cell for cell in left if cell in held):
            shorts.append(Short(extent, mine))
            left = {cell: None for cell in left if cell not in held}
    certified = certificate.get("verdict") == "passed"
    faults = tuple(_faults(certificate, shorts, number)) if certified else ()
    return Claim(
        certified,
        number,
        tuple(certificate.get("profiles", ())),
        tuple(shorts),
        tuple(sorted(_cut(certificate))),
        faults,
    )


def _faults(told: Certificate, shorts: list[Short], number: int) -> Iterator[str]:
    """Why a certificate that says that it passed does not show it."""
    if bad := sum(len(each.cells) for each in shorts if each.extent.tone is Tone.BAD):
        yield f"the certificate contradicts its verdict: {bad} primaries are not protected"
    if wrong := _wrong_counts(told, number):
        yield f"the certificate contradicts its own counts: {', '.join(wrong)}"
    if told.get("contradictions") != [] or told.get("small_counts", []) != []:
        yield "the certificate contradicts its verdict: it names cells that speak against it"
    if told.get("program", {"verdict": "passed"}).get("verdict") != "passed":
        yield "the certificate contradicts its verdict: it does not show it for somebody who has the program"
    if not told.get("profiles") or any(name not in WHO for name in told["profiles"]):
        yield "the certificate names no attacker, or one that is not known"


def _wrong_counts(told: Certificate, number: int) -> list[str]:
    """The names of counts that are not those of so many entries."""
    counts = told.get("counts", {})
    stated = {
        "primaries": number,
        "protected": number - len(_open(told)),
        "cut_to_national_baseline": len(_cut(told)),
        "broken_requirements": 0,
    }
    wrong = [name for name, here in stated.items() if counts.get(name) != here]
    twice = len(_primaries(told)) != number  # an entry of the same cell
    return wrong or (["primaries"] if twice else [])


@dataclass(frozen=True)
class Proof:
    """How the requirements of an audit were shown: `requirements` (below, above and width of each primary)
    that are met, by so many witnesses, tables that no attacker can tell from the truth. `lps`: linear
    programs of the audit; `before`: of the steps that made the publication, whose tables the audit
    checks again. None: not recorded by the version that made the release.
    """

    requirements: int
    witnesses: int | None
    lps: int
    before: int | None

    @classmethod
    def of(cls, report: AuditReport, before: int) -> Proof:
        """Of an audit at hand."""
        evidence = report.evidence
        witnesses = int(evidence.witness.shape[0] + evidence.whole.shape[0])
        return cls(REQUIREMENTS_EACH * len(report.primaries) - report.broken, witnesses, report.lps, before)

    @property
    def said(self) -> str:
        many = (
            "witnesses"
            if self.witnesses is None
            else "1 witness"
            if self.witnesses == 1
            else f"{self.witnesses} witnesses"
        )
        show = "shows" if self.witnesses == 1 else "show"
        earlier = "an unrecorded number" if self.before is None else str(self.before)
        return (
            f"{many} {show} {self.requirements} requirements; LPs solved: {earlier} before "
            f"the audit, {self.lps} in it"
        )
