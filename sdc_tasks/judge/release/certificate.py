"""A certificate, statement by statement: it must say what follows from the deliveries, the table,
the domain file and the evidence.

The expected certificate is made anew from the re-checked facts and compared as a whole: a missing or
additional statement is refused like a wrong one. So every statement of a certificate can be recomputed.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from sdc_tasks.judge.release.stated import statements
from sdc_tasks.judge.release.verdict import Recheck
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.results import Publication, Related
from sdc_tasks.model.table import Bools

AUDIENCE = (
    "the statistical office: names primary cells and confidential files by digest; not for dissemination"
)


CLAIMED = (
    "two values as far apart as both levels together, for which somebody who has the "
    "program finds this publication possible"
)
NOT_CLAIMED = (
    "a level on each side; odds of a whole cell or of several cells together; profiles besides external; "
    "that the program is the one of "
    "the theorem; primaries without a claim, for which the test of the width fails with nothing published"
)
CANDIDATES = (
    "every hidden count of 1 to base - 1 keeps at least base candidates for somebody who has the program, "
    "knows all flags, and sees one "
    "version"
)
NO_CANDIDATES = (
    "odds of several counts together; a second version; that flags tell nothing of "
    "the counts; that the program is the one of the theorem"
)


LEAST_ODDS = 3.0  # of a step of the ladder, which is drawn with the chance 1/3


def odds_of_one_decision(removed: float) -> float:
    """How much likelier one decision of the key makes one candidate than another, at most: for
    `removed` up to 1/3 the inverse of it.
    """
    return round(max(1 / removed, 1 / (1 - removed), LEAST_ODDS), 4)


def of_bases(removed: float, epoch: int) -> dict[str, object]:
    """What a certificate says of bases.rule_aware, for every table (METHOD §9, Theorem 4)."""
    return {
        "claimed": CLAIMED,
        "not_claimed": NOT_CLAIMED,
        "removed": removed,
        "epoch": epoch,
        "odds_of_one_exact_figure": round(1 / (1 - removed), 4),
        "odds_of_one_decision": odds_of_one_decision(removed),
    }


def of_counts(rounding: Mapping[str, object]) -> dict[str, object]:
    """What a certificate says of small counts with `rule_aware`, for every table (METHOD §9,
    Theorem 5). `rounding`: their options.
    """
    drawn = float(str(rounding["drawn"]))
    return {
        "claimed": CANDIDATES,
        "not_claimed": NO_CANDIDATES,
        "base": rounding["base"],
        "drawn": drawn,
        "epoch": rounding["epoch"],
        "odds_of_one_decision": round(2 / drawn, 4),
    }


@dataclass(frozen=True)
class Asked:
    """What a certificate must be about: the domain with its digest, the period, the profiles, the rounding of
    indicators as whole tables; `digests` of the problem, the publication, the requirements and the evidence;
    `beside`: the publications that the audit also considered; `drawn`: `removed` and `epoch` of
    bases.rule_aware, None without it; `without_claim`: the primaries whose width it does not claim;
    `unrelated`, `secret` and `linked` as in `stated`.
    """

    domain: str
    period: str
    profiles: tuple[str, ...]
    rounding: Mapping[str, object]
    digests: Mapping[str, str]
    beside: tuple[str, ...] = ()
    drawn: tuple[float, int] | None = None
    without_claim: tuple[str, ...] = ()
    unrelated: Mapping[str, str] = field(default_factory=dict)
    secret: str = ""
    linked: tuple[Related, ...] = ()


def read(text: str) -> dict[str, object]:
    """The statements. Raises ValueError if the text is no JSON object, names a key twice, or
    contains NaN or an infinite number.
    """

    def once(pairs: list[tuple[str, object]]) -> dict[str, object]:
        found = dict(pairs)
        if len(found) != len(pairs):
            raise ValueError(
                f"{next(key for key, _ in pairs if [k for k, _ in pairs].count(key) > 1)} is said twice"
            )
        return found

    def no_number(name: str) -> object:
        raise ValueError(f"{name} is no number")

    statements = json.loads(text, object_pairs_hook=once, parse_constant=no_number)
    if not isinstance(statements, dict):
        raise ValueError("an object is expected")
    return statements


def expected(
    problem: ProtectionProblem, publication: Publication, found: Recheck, asked: Asked
) -> dict[str, object]:
    """The certificate that follows from these facts."""
    key = problem.space.key
    held = np.asarray(found.protected.all(axis=0))
    small, contradictions = ([key(cell) for cell in cells] for cells in (found.small, found.contradictions))
    program = _against_program(problem, found, asked)
    passed = held.all() and not contradictions and not small and program.get("verdict") != "failed"
    body: dict[str, object] = {
        "audience": AUDIENCE,
        "domain": asked.domain,
        "period": asked.period,
        "verdict": "passed" if passed else "failed",
        "profiles": list(asked.profiles),
        **({"beside": list(asked.beside)} if asked.beside else {}),
        **statements(asked.unrelated, asked.secret, asked.linked),
        "digests": {**asked.digests, "deliveries": list(problem.deliveries)},
        "counts": _counts(publication, found, held),
        "contradictions": contradictions,
    }
    if found.unjudged:
        body["not_judged"] = _not_judged(problem, found, asked.profiles)
    if program:
        body["program"] = program
    if asked.rounding:
        body |= {"rounding": dict(asked.rounding), "small_counts": small}
    body["primaries"] = _primaries(problem, found, held, asked.profiles)
    return body


def _counts(publication: Publication, found: Recheck, held: Bools) -> dict[str, int]:
    """How many cells of each kind there are. `held` (primaries,): protected against every profile."""
    counts = {
        "aggregate_cells": len(publication.cells),
        "exact": int(publication.exact.sum()),
        "rounded": int(publication.rounded.sum()),
        "sums_of_visible_countries": int(publication.visible.sum()),
        "withheld": int(publication.withheld.sum()),
        "primaries": len(found.primaries),
        "protected": int(held.sum()),
        "broken_requirements": int((found.share < 1).sum()),
        "cut_to_national_baseline": int(found.cut.sum()),
    }
    if found.weaker:
        counts["weaker_attackers"] = len(found.weaker)
    if found.whole.any():
        counts["judged_as_whole_numbers"] = int(found.whole.sum())
    return counts


def _not_judged(problem: ProtectionProblem, found: Recheck, profiles: Sequence[str]) -> dict[str, list[str]]:
    """By profile, the primaries for which not every attacker was judged; only profiles with any."""
    key = problem.space.key
    cells = {name: [key(cell) for profile, cell in found.unjudged if profile == name] for name in profiles}
    return {name: keys for name, keys in cells.items() if keys}


def _primaries(
    problem: ProtectionProblem, found: Recheck, held: Bools, profiles: Sequence[str]
) -> list[dict[str, object]]:
    """What is shown of each primary. `held` (primaries,): protected against every profile."""
    proofs = np.where(found.whole, np.where(held, "whole table", "none"), np.where(held, "witness", "attack"))
    quarters = np.floor(4 * found.share) / 4  # a finer share would tell more about the value
    return [
        {
            "cell": problem.space.key(int(cell)),
            "protected": bool(held[p]),
            **{name: float(quarters[side, p]) for side, name in enumerate(("down", "up", "sliding"))},
            "proof": str(proofs[p]),
            "cut_to_national_baseline": bool(found.cut[p]),
            "profiles": {name: bool(found.protected[number, p]) for number, name in enumerate(profiles)},
        }
        for p, cell in enumerate(found.primaries.tolist())
    ]


def _against_program(problem: ProtectionProblem, found: Recheck, asked: Asked) -> dict[str, object]:
    """What is shown against somebody who has the program; nothing where the domain does not ask for it."""
    body, failed = dict[str, object](), False
    if asked.drawn is not None:
        body["bases"], failed = _bases_against_program(problem, found, asked.drawn, asked.without_claim)
    counts, small_failed = _counts_against_program(problem, found, asked.rounding)
    if counts:
        body["counts"] = counts
    return {"verdict": "failed" if failed or small_failed else "passed", **body} if body else {}


def _bases_against_program(
    problem: ProtectionProblem, found: Recheck, drawn: tuple[float, int], without_claim: Collection[str]
) -> tuple[dict[str, object], bool]:
    """What is claimed of cell-wise bases, and whether a primary is too narrow for it."""
    keys = [problem.space.key(int(cell)) for cell in found.primaries[~found.whole]]
    wide = {each for each, ok in zip(keys, found.wide[~found.whole], strict=True) if ok}
    without = [each for each in keys if each in set(without_claim)]
    narrow = [each for each in keys if each not in wide | set(without)]
    shown = {"wide": len(keys) - len(narrow) - len(without), "narrow": narrow, "without_claim": without}
    return of_bases(*drawn) | shown, bool(narrow)


def _counts_against_program(
    problem: ProtectionProblem, found: Recheck, roundings: Mapping[str, object]
) -> tuple[dict[str, object], bool]:
    """What is claimed of each indicator of small counts; whether one of its primaries is not protected."""
    space, held = problem.space, found.protected.all(axis=0)
    indicator = np.array(space.indicators)[space.indicator_of(found.primaries)]
    counts, failed = dict[str, object](), False
    for code, rounding in roundings.items():
        if isinstance(rounding, Mapping) and rounding.get("rule_aware"):
            own = indicator == code
            shown = int((own & held).sum())
            counts[code] = of_counts(rounding) | {"hidden": int(own.sum()), "shown": shown}
            failed = failed or shown < int(own.sum())
    return counts, failed


def differences(stated: object, expected: object, where: str = "") -> Iterator[str]:
    """The places where the certificate differs from the expected one; never the values there."""
    if isinstance(stated, dict) and isinstance(expected, dict):
        yield from _different_objects(stated, expected, where)
    elif isinstance(stated, list) and isinstance(expected, list):
        yield from _different_lists(stated, expected, where)
    elif repr(stated) != repr(expected):  # not only equal: true is no 1, and −0 no 0
        yield f"{where[:-1]}: not what follows from the deliveries, the table and the witnesses"


def _different_objects(
    stated: Mapping[str, object], expected: Mapping[str, object], where: str
) -> Iterator[str]:
    yield from (f"{where}{key}: missing" for key in expected if key not in stated)
    yield from (f"{where}{key}: not known" for key in stated if key not in expected)
    for key in expected:
        if key in stated:
            yield from differences(stated[key], expected[key], f"{where}{key}.")


def _different_lists(stated: Sequence[object], expected: Sequence[object], where: str) -> Iterator[str]:
    if len(stated) != len(expected):
        yield f"{where[:-1]}: {len(stated)} are named, not {len(expected)}"
    for i, (one, two) in enumerate(zip(stated, expected, strict=False)):
        name = two.get("cell", i) if isinstance(two, dict) else i
        yield from differences(one, two, f"{where}{name}.")
