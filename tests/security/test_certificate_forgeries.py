"""Hundreds of systematic forgeries of certificate and witnesses. The forger recomputes every
digest that he can; all are refused.

What may pass is what no statement rests on (`HARMLESS`), and other tables that prove the same claims
(`still_proven`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import pytest

from sdc_tasks import intake, pipeline
from sdc_tasks.cli.evidence import evidence_of
from sdc_tasks.cli.verify import About, asked_of, examine
from sdc_tasks.demo import write_demo
from sdc_tasks.domains import Domain, load_domain
from sdc_tasks.errors import InvalidInput
from sdc_tasks.judge import release as second_program
from sdc_tasks.methods.attack import Requirements, baseline, prior_releases
from sdc_tasks.model.problem import NationalTable, ProtectionProblem
from sdc_tasks.model.results import Adjustment, Evidence, Multipliers, Publication
from sdc_tasks.model.secret import Secret
from sdc_tasks.releases.program import last_decimals
from sdc_tasks.warehouse.forms.packing import pack
from support.oracles.attack import everything, relations, slack
from support.tried import TRIED

PERIOD = "2024"
SALT = Secret.of_hex("5a5b" * 16)


@dataclass(frozen=True)
class Case:
    """An honest certificate with its witnesses, and what both are about."""

    domain: Domain
    problem: ProtectionProblem
    publication: Publication
    text: str
    evidence: Evidence
    requirements: Requirements

    @property
    def about(self) -> About:
        return About(self.problem, self.publication, self.evidence)

    def refuses(
        self,
        text: str | None = None,
        evidence: Evidence | None = None,
        content: bytes | None = None,
        **other: object,
    ) -> bool:
        """Is this other certificate, or these other witnesses, refused?"""
        about = {"domain": self.domain, "problem": self.problem, "publication": self.publication} | other
        text = self.text if text is None else text
        try:
            evidence = evidence or self.evidence if content is None else evidence_of(content)[1]
            judged = About(about["problem"], about["publication"], evidence)
            wrong, *_ = examine(about["domain"], PERIOD, judged, text)
        except InvalidInput:
            return True
        return bool(wrong)


def packed(evidence: Evidence, arrays: dict[str, np.ndarray] | None = None, **header: object) -> bytes:
    told = {"type": "Evidence", "digest": evidence.digest(SALT), "salt": SALT.hex}
    return pack(told | header, evidence.arrays if arrays is None else arrays)


def rounded(problem: ProtectionProblem, base: float) -> Publication:
    cells = np.flatnonzero(problem.aggregate)
    return Publication(cells, base * np.round(problem.a[cells] / base), np.full(len(cells), base))


def made(domain: Domain, problem: ProtectionProblem, publication: Publication) -> Case:
    requirements, _ = baseline(problem, pipeline.profiles_of(problem, domain))
    report = pipeline.audit(problem, publication, requirements, domain)
    text = pipeline.certificate(problem, publication, report, domain, PERIOD)
    return Case(domain, problem, publication, text, report.evidence, requirements)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Domain, ProtectionProblem]:
    folder = tmp_path_factory.mktemp("forgeries")
    domain = load_domain(write_demo(folder, 3, 6, 2)).of(PERIOD)
    return folder, domain, pipeline.build_problem(tables_of(folder, domain), domain, SALT)


def tables_of(folder: Path, domain: Domain) -> list[NationalTable]:
    tables = [
        intake.read(path, domain, PERIOD, SALT).table for path in sorted((folder / "inbox").glob("*.csv"))
    ]
    return [table for table in tables if table is not None]


@pytest.fixture(
    scope="module", params=["plain", "safe", "respondents", "counted", "vintage", "contradicted", "program"]
)
def case(request: pytest.FixtureRequest, small: tuple[Path, Domain, ProtectionProblem]) -> Case:
    folder, domain, problem = small
    exact = everything(problem, "exact")
    if request.param == "safe":
        return made(domain, problem, everything(problem, "withheld"))
    if request.param == "respondents":
        return made(domain.with_profiles(("external", "internal", "coalition")), problem, exact)
    if request.param == "counted":
        counted = tuple(each.model_copy(update={"integer": True}) for each in domain.indicators)
        whole = replace(problem, integral=np.ones(problem.space.size, dtype=bool))
        return made(domain.model_copy(update={"indicators": counted}), whole, exact)
    if request.param == "vintage":
        known = replace(
            problem,
            earlier=prior_releases(problem, [(problem, rounded(problem, 5000.0))], domain.audit.revised_by),
        )
        return made(domain, known, exact)
    if request.param == "program":
        aware = domain.model_copy(update={"bases": domain.bases.model_copy(update={"rule_aware": True})})
        drawn = pipeline.build_problem(tables_of(folder, aware), aware, SALT)
        requirements, _ = pipeline.baseline(drawn, aware)
        return made(aware, drawn, pipeline.choose_bases(drawn, requirements, Adjustment(), aware))
    if request.param == "contradicted":
        value = exact.value.copy()
        value[0] += 1000
        return made(domain, problem, replace(exact, value=value))
    return made(domain, problem, exact)


def test_the_honest_one_of_a_first_version_is_accepted(small):
    """Nobody has an earlier one."""
    _, domain, problem = small
    case = made(domain.with_profiles(("external", "vintage")), problem, everything(problem, "exact"))
    wrong, _, _ = examine(case.domain, PERIOD, case.about, case.text)
    assert wrong == []


def test_the_honest_one_is_accepted(case):
    wrong, found, verdict = examine(case.domain, PERIOD, case.about, case.text)
    assert wrong == []
    assert found is not None
    assert verdict == json.loads(case.text)["verdict"]


def test_an_audit_without_the_test_of_the_width_claims_no_width(case):
    """Nothing was tested, so nothing is wide: the certificate and the report count each primary as left too
    little.
    """
    if not case.domain.bases.rule_aware:
        return
    untested = replace(
        pipeline.audit(case.problem, case.publication, case.requirements, case.domain), narrow=None
    )
    told = json.loads(pipeline.certificate(case.problem, case.publication, untested, case.domain, PERIOD))
    shown = told["program"]["bases"]
    assert (told["program"]["verdict"], shown["wide"]) == ("failed", 0)
    assert len(shown["narrow"]) == told["counts"]["primaries"] > 0


def test_a_certificate_from_before_the_entry_existed_claims_nothing(case):
    told = json.loads(case.text)
    if not told.pop("program", None):
        return
    wrong, *_ = examine(case.domain, PERIOD, case.about, json.dumps(told))
    assert wrong == ["program: missing"]


# --- the certificate ----------------------------------------------------------------------------------------


def places(told: object, path: tuple = ()) -> Iterator[tuple]:
    """Every place of a certificate; of the primaries the first, the last, and one of each verdict."""
    yield path
    if isinstance(told, dict):
        for key, value in told.items():
            yield from places(value, (*path, key))
    elif isinstance(told, list):
        kinds: dict[object, int] = {}
        for i, value in enumerate(told):
            kinds.setdefault(
                json.dumps([value["protected"], value["profiles"]]) if isinstance(value, dict) else "", i
            )
        for i in sorted({*kinds.values(), len(told) - 1} if told else ()):
            yield from places(told[i], (*path, i))


def other_values(value: object) -> Iterator[object]:
    """What a forger may write there instead."""
    yield from (None, "", "forged", [], {}, -1, 0.25)
    if isinstance(value, bool):
        yield from (not value, int(value))
    elif isinstance(value, int | float):
        yield from (
            -value,
            0 * value,
            2 * value + 1,
            value + 1,
            str(value),
            not value,
            float("nan"),
            float("inf"),
        )
    elif isinstance(value, str):
        yield from (value + " ", value.upper(), value[::-1])
    elif isinstance(value, list):
        yield from (value[1:], value[:-1], value[::-1], [*value, *value[:1]], [*value, "forged"])
    elif isinstance(value, dict):
        yield from ({**value, "more": 1}, list(value.items()))
        yield from ({k: v for k, v in value.items() if k != key} for key in value)


def changed(told: object, path: tuple, value: object) -> object:
    if not path:
        return value
    copy = deepcopy(told)
    at = copy
    for step in path[:-1]:
        at = at[step]
    at[path[-1]] = value
    return copy


def test_no_statement_of_a_certificate_can_be_changed(case, monkeypatch):
    """The witnesses stay as they are: what they prove is computed once."""
    step = last_decimals(case.problem.space, case.domain)
    found = second_program.recheck(
        case.problem, case.publication, asked_of(case.domain, case.problem), case.evidence, step
    )
    monkeypatch.setattr(second_program, "recheck", lambda *_: found)
    told, passed, tried = json.loads(case.text), [], 0
    for path in places(told):
        value = told
        for step in path:
            value = value[step]
        for forged in other_values(value):
            if json.dumps(forged) == json.dumps(value):
                continue  # what was there
            text = json.dumps(changed(told, path, forged))
            tried += 1
            if not case.refuses(text):
                passed.append((path, forged))
    TRIED["forged certificates"] += tried
    assert tried > 200
    assert passed == []


def test_a_certificate_that_is_no_strict_json_is_refused(case):
    text = case.text
    for forged in (
        text.replace('"verdict":', '"verdict": "passed",\n "verdict":'),
        text.replace('"protected": ', '"protected": true, "protected": ', 1),
        text + "{}",
        text[:-10],
        "",
        "[]",
        "null",
        text.replace('"primaries": [', '"primaries": [[', 1),
        "[" * 100_000,
    ):
        assert case.refuses(forged)
    assert not case.refuses(json.dumps(json.loads(text))), "spaces say nothing"


def test_a_certificate_of_something_else_is_refused(case):
    more = case.domain.with_profiles(
        ("external",) if len(case.domain.audit.profiles) > 1 else ("external", "internal")
    )
    assert case.refuses(domain=more)
    assert case.refuses(domain=case.domain.model_copy(update={"id": "other"}))
    assert case.refuses(publication=rounded(case.problem, 100.0))
    other = case.problem.a.copy()
    lower = np.where(case.problem.primary, 2 * case.problem.lpl, case.problem.lpl)
    assert case.refuses(problem=replace(case.problem, lpl=lower))
    assert case.refuses(problem=replace(case.problem, a=other, deliveries=("forged",)))


# --- the witnesses ------------------------------------------------------------------------------------------


def with_digest(case: Case, evidence: Evidence) -> str:
    """The certificate with the digest of other witnesses."""
    told = json.loads(case.text)
    told["digests"]["evidence"] = evidence.digest(SALT)
    return json.dumps(told)


def other_arrays(array: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    yield "empty", array[:0]
    yield "short", array[:-1]
    yield "long", np.concatenate([array, array[-1:]])
    yield "turned", array[::-1]
    yield "rolled", np.roll(array, 1)
    yield "zero", 0 * array
    yield "negated", -array
    yield "plus one", array + 1
    yield "minus one", array - 1
    yield "thousandfold", 1000 * array
    yield "small", (array / 1000).astype(array.dtype)
    yield "huge", np.full_like(array, np.iinfo(array.dtype).max if array.dtype.kind == "i" else 1e300)
    if array.dtype.kind == "f":
        for name, value in (("nan", np.nan), ("inf", np.inf), ("-inf", -np.inf)):
            first = array.copy()
            first[:1] = value
            yield name, first
        yield "as whole numbers", array.astype(np.int64)
    else:
        yield "as floats", array.astype(float)
        yield "as truths", array.astype(bool)
    yield "deeper", array[None]


# What no statement rests on. Beside it, a table may be changed as long as what is left still proves
# every claim (`still_proven`).
HARMLESS = {
    "lot": "says where the audit found a witness",
    "whole_lot": "the same",
    "broken.profile": "a proof against one profile may be one against the other, and is asked whether it is",
}


def test_no_array_of_the_witnesses_can_be_changed(case):
    arrays, passed, tried = case.evidence.arrays, set(), 0
    for name, array in arrays.items():
        for kind, other in other_arrays(array):
            if other.shape == array.shape and other.dtype == array.dtype and np.array_equal(other, array):
                continue
            tried += 1
            try:
                evidence = Evidence.of({**arrays, name: other})
                text, content = (
                    with_digest(case, evidence),
                    packed(evidence, {**evidence.arrays, name: other}),
                )
            except (ValueError, TypeError, IndexError, KeyError):
                continue  # no such evidence can be written
            proven = (
                still_proven
                if name.startswith(("witness.", "whole."))
                else still_wide
                if name.startswith("program")
                else None
            )
            if not case.refuses(text, content=content) and not (proven and proven(case, evidence)):
                passed.add((name, kind))
    TRIED["forged witnesses"] += tried
    assert tried > 100
    assert {(name, kind) for name, kind in passed if name not in HARMLESS} == set()


def still_proven(case: Case, evidence: Evidence) -> bool:
    """Of every cell that is said to withstand the external attacker: is there a table, and one on each side?
    In dense arithmetic, from the relations of the oracle.
    """
    problem, needs = (
        case.problem,
        case.requirements.rows((case.requirements.profile == 0) & (case.requirements.insider < 0)),
    )
    counted = problem.integral.any()
    tables, profile = (
        (evidence.whole, evidence.whole_profile) if counted else (evidence.witness, evidence.profile)
    )
    M, inside = relations(problem.space), int((~problem.aggregate).sum())
    low, high = slack(problem, case.publication)
    low, high = (
        np.maximum(low + np.minimum(high, 0), 0),
        np.maximum(high + np.minimum(low, 0), 0),
    )  # moved to the truth where it is beside
    told = {each["cell"]: each for each in json.loads(case.text)["primaries"]}
    seen = {name: np.zeros(len(needs.primaries)) for name in ("down", "up")}
    for row in range(tables.shape[0]):
        if profile[row] != 0:
            continue
        z = np.zeros(problem.space.size)
        mine = slice(tables.indptr[row], tables.indptr[row + 1])
        known = tables.indices[mine] < int(problem.suppressed.sum())
        z[np.flatnonzero(problem.suppressed)[tables.indices[mine][known]]] = tables.data[mine][known]
        for aggregate in problem.space.aggregates:
            of_area = z.reshape(len(problem.space.areas), -1)
            members = [of_area[problem.space.areas.index(member)] for member in aggregate.members]
            of_area[problem.space.areas.index(aggregate.code)] = np.sum(members, axis=0)
        for table in (z, -z):
            off = [
                M @ table,
                np.maximum(problem.lb - problem.a - table, table - problem.ub + problem.a)[:inside],
            ]
            off += [np.maximum(-low - table[inside:], table[inside:] - high)]
            if np.abs(off[0]).max() < 1e-3 and max(off[1].max(), off[2].max()) < 1e-3:
                seen["down"] = np.maximum(seen["down"], -table[needs.primaries])
                seen["up"] = np.maximum(seen["up"], table[needs.primaries])
    held = np.array([told[problem.space.key(int(cell))]["profiles"]["external"] for cell in needs.primaries])
    return all(bool((seen[name] >= getattr(needs, name) * (1 - 1e-4))[held].all()) for name in seen)


def still_wide(case: Case, evidence: Evidence) -> bool:
    """Do the tables leave every primary that is not named otherwise both its levels together, for
    somebody who has the program? In dense arithmetic, from the relations of the oracle; for primaries
    that the national tables protect.
    """
    problem, primaries = case.problem, case.requirements.primaries
    M, first, hidden = (
        relations(problem.space),
        problem.space.first_aggregate,
        np.flatnonzero(problem.suppressed),
    )
    low, high = slack(problem, case.publication)
    values = [problem.a[primaries]]
    tables = [np.zeros(problem.space.size)]
    for row, centre in enumerate(evidence.program_centre.tolist()):
        mine = slice(evidence.program.indptr[row], evidence.program.indptr[row + 1])
        z = np.zeros(problem.space.size) if centre < 0 else tables[1 + centre].copy()
        z[hidden[evidence.program.indices[mine]]] += evidence.program.data[mine]
        z[first:] = problem.space.aggregate_relations[:, :first] @ z[:first]
        tables.append(z)
        off = [np.abs(M @ z), problem.lb - problem.a - z, -low - z[first:], z[first:] - high]
        if max(each.max() for each in off) < 1e-3:
            values.append(problem.a[primaries] + z[primaries])
    y = np.array(values)
    level = np.maximum(problem.levels.slope[primaries] * y, problem.levels.least[primaries])
    passes = ((y - level >= y.min(axis=0) - 1e-3) | (y.min(axis=0) <= 1e-3)) & (
        y + level <= y.max(axis=0) + 1e-3
    )
    kept = y[passes.all(axis=1)]
    named = {*json.loads(case.text)["program"]["bases"]["without_claim"]}
    asked = np.array([problem.space.key(int(cell)) not in named for cell in primaries])
    return len(kept) > 0 and bool(
        (np.ptp(kept, axis=0) >= (problem.lpl + problem.upl)[primaries] * (1 - 1e-4))[asked].all()
    )


def test_a_witness_file_is_taken_as_it_is_written_only(case):
    content = packed(case.evidence)
    arrays = case.evidence.arrays
    first = next(iter(arrays))
    told, wrong = case.evidence, case.evidence.digest(SALT)[::-1]
    for forged in (
        b"",
        content[:-20],
        content + b"more",
        content[100:],
        packed(told, digest=wrong),
        packed(told, type="Publication"),
        packed(told, more=1),
        packed(told, salt="00"),
        packed(told, salt=SALT.hex.upper()),
        packed(told, {**arrays, "more": arrays[first]}),
        packed(told, {k: v for k, v in arrays.items() if k != first}),
        twice(content),
    ):
        assert case.refuses(content=forged)


def twice(content: bytes) -> bytes:
    """The same archive with its first array once more, as another."""
    file = BytesIO(content)
    with ZipFile(file, "a") as archive:
        name = archive.namelist()[0]
        first = archive.read(name)
        with pytest.warns(UserWarning, match="Duplicate name"):
            archive.writestr(name, first)
    return file.getvalue()


# --- by somebody who knows how it works ---------------------------------------------------------------------


def added(proofs: Multipliers, **entry: object) -> Multipliers:
    """One more proof behind the others."""
    rows, values = entry.pop("rows", np.zeros(0, dtype=np.int64)), entry.pop("values", np.zeros(0))
    entry = {"profile": 0, "side": -1, "knower": -1, "split": len(rows), "reach": 0.0} | entry
    fields = {
        name: np.append(getattr(proofs, name), np.array([value], dtype=getattr(proofs, name).dtype))
        for name, value in entry.items()
    }
    return Multipliers(
        **fields,
        start=np.append(proofs.start, proofs.start[-1] + len(rows)),
        row=np.append(proofs.row, rows),
        value=np.append(proofs.value, values),
    )


def all_protected(case: Case, evidence: Evidence) -> str:
    """The certificate as the forger would like it."""
    told = json.loads(with_digest(case, evidence))
    for each in told["primaries"]:
        each |= {
            "protected": True,
            "down": 1.0,
            "up": 1.0,
            "sliding": 1.0,
            "profiles": dict.fromkeys(each["profiles"], True),
        }
        each |= {"proof": "witness" if each["proof"] in ("witness", "attack") else "whole table"}
    told["counts"] |= {"protected": told["counts"]["primaries"], "broken_requirements": 0}
    return json.dumps(told | {"verdict": "passed", "contradictions": []})


def test_no_requirement_is_cut_by_a_proof_that_is_none(case):
    """For each primary and side: no multipliers at all; those of an aggregate that is
    withheld there; a unit row; any reach.
    """
    rng = np.random.default_rng(1)
    relations = case.problem.space.relations.shape[0]
    told = {int(p) for p in case.evidence.cut.cell}
    for p in np.flatnonzero(case.problem.primary).tolist():
        if p in told:
            continue
        for side in (-1, 1, 0):
            rows = rng.choice(relations, 3, replace=False).astype(np.int64)
            for entry in (
                {"cell": p, "side": side},
                {"cell": p, "side": side, "rows": rows, "values": np.ones(3), "split": 3},
                {"cell": p, "side": side, "rows": rows[:1], "values": np.array([1e12]), "split": 1},
                {"cell": p, "side": side, "reach": case.problem.lpl[p] / 2},
            ):
                TRIED["forged witnesses"] += 1
                cut = added(case.evidence.cut, **entry)
                forged = replace(case.evidence, cut=cut)
                if not needs_it(case, p, side):
                    continue
                assert case.refuses(all_protected(case, forged), evidence=forged)
                assert case.refuses(with_digest(case, forged), evidence=forged)


def needs_it(case: Case, p: int, side: int) -> bool:
    return bool({-1: case.problem.lpl, 1: case.problem.upl, 0: case.problem.spl}[side][p] > 0)


def test_nothing_is_cut_on_the_word_of_a_milp(case):
    """Neither of what is not counted, nor of what is, where whole national tables reach further."""
    cut = {tuple(each[:3]) for each in case.evidence.whole_cut.tolist()}
    for p in np.flatnonzero(case.problem.primary).tolist():
        for side in (-1, 1):
            if (0, p, side) not in cut:
                cuts = sorted([*case.evidence.whole_cut.tolist(), [0, p, side, -1, 0]])
                forged = replace(case.evidence, whole_cut=np.array(cuts, dtype=np.int64))
                TRIED["forged witnesses"] += 1
                assert case.refuses(all_protected(case, forged), evidence=forged)
                assert case.refuses(with_digest(case, forged), evidence=forged)


def test_evidence_about_other_primaries_or_profiles_is_refused(case):
    """Each proof moved to the next primary, to another side, to another attacker or profile."""
    for kind in ("broken", "cut"):
        proofs: Multipliers = getattr(case.evidence, kind)
        primaries = np.flatnonzero(case.problem.primary)
        for name, move in MOVES.items():
            if not len(proofs.cell):
                continue
            moved = move(proofs, primaries)
            forged = replace(case.evidence, **{kind: moved})
            TRIED["forged witnesses"] += 1
            assert case.refuses(with_digest(case, forged), evidence=forged), (kind, name)


MOVES: dict[str, Callable[[Multipliers, np.ndarray], Multipliers]] = {
    "next primary": lambda m, p: replace(m, cell=p[(np.searchsorted(p, m.cell) + 1) % len(p)]),
    "no primary": lambda m, p: replace(
        m, cell=np.full_like(m.cell, int(np.setdiff1d(np.arange(p[-1] + 2), p)[0]))
    ),
    "other side": lambda m, p: replace(m, side=-m.side + (m.side == 0)),
    "other attacker": lambda m, p: replace(m, knower=m.knower + 7),
    "other profile": lambda m, p: replace(m, profile=m.profile + 1),
    "less reach": lambda m, p: replace(m, reach=m.reach / 2 - 1),
    "more reach": lambda m, p: replace(m, reach=m.reach + 1),
    "torn": lambda m, p: replace(m, row=np.roll(m.row, 1) if len(np.unique(m.row)) > 1 else m.row + 1),
}


def test_small_misses_do_not_add_up(case):
    """A table that misses each of many relations by a little is none, however far it moves what
    it is about.
    """
    evidence = case.evidence
    noise = np.random.default_rng(2).choice([-1.0, 1.0], evidence.witness.shape)
    size = 1e-3 * max(1.0, float(case.problem.lpl[case.problem.primary].min()))
    dense = evidence.witness.toarray() + size * noise
    forged = replace(evidence, witness=type(evidence.witness)(dense))
    if evidence.witness.shape[0] and not case.problem.integral.any():
        assert case.refuses(with_digest(case, forged), evidence=forged)
