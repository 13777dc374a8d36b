"""One job on one release in a process of its own, so that its memory is its own: `python -m
benchmarks.attack_measure RELEASE JOB …`.

    bases VARIANT        baseline, CTA where the rule needs it, and the choice of bases; keeps the publication
    half-widths WEIGHTS  the minimum-uncertainty rule before any ladder: least loss, proven bound
    audit-safe           the full audit of the kept publication, and beside it two cold
                         LPs a primary for a sample of them
    audit-exact          the full audit of all aggregates published exactly
    audit-exact side-by-side    the same in several processes, as `sdc audit` does it where a table is large
    release PROCESSES    `sdc release` in so many processes, from the files to the table; its
                         peak is that of the largest process

Clocks start with the problem in memory, that of a release with the files. Verdicts and losses are those of
plain arithmetic on the publication, written here.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linprog

from benchmarks.attack_registry import ATTACK, PERIOD, REGISTRY, RELEASES, TINY, Release, Variant
from sdc_tasks import pipeline
from sdc_tasks.cli import side_by_side
from sdc_tasks.domains import Domain
from sdc_tasks.methods import attack
from sdc_tasks.methods.bases.policy import case_of
from sdc_tasks.methods.bases.rules import least_loss
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.progress import silent
from sdc_tasks.model.results import Adjustment, AuditReport, Publication, Rung
from sdc_tasks.model.weights import Weights, aggregate_weights
from sdc_tasks.one_thread import one_thread

SIDE_BY_SIDE = "side-by-side"
SOURCES = Path(pipeline.__file__).parent
GAP = 1e-3  # of the half-widths
FORM = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()[
    :12
]  # of this file: a record made by another one is not read
Figures = dict[str, float | int | str | bool | None]


@dataclass(frozen=True)
class Job:
    """What is measured: `kind` on `release`, in the way that `detail` says."""

    release: str
    kind: str
    detail: str = ""

    @property
    def name(self) -> str:
        return "-".join(part for part in (self.release, self.kind, self.detail) if part)


@dataclass(frozen=True)
class Record:
    """What came out. `seconds` is the job alone; `peak_mib` that of the whole process,
    reading the deliveries included.
    """

    job: Job
    code: str
    primaries: int
    suppressed: int
    cells: int
    seconds: float
    peak_mib: float
    load: float
    made: str
    form: str = FORM
    figures: Figures = field(default_factory=dict)

    def to_json(self) -> dict[str, object]:
        return asdict(self)

    @staticmethod
    def from_json(found: dict[str, object]) -> Record:
        rest = {name: value for name, value in found.items() if name != "job"}
        return Record(Job(**found["job"]), **rest)  # type: ignore[arg-type]


def jobs(releases: tuple[Release, ...]) -> list[Job]:
    """In an order in which publications are there when they are audited."""
    found = []
    for release in releases:
        found += [Job(release.name, "half-widths", weights) for weights in release.half_widths]
        found += [Job(release.name, "bases", variant.name) for variant in release.variants]
        found += [Job(release.name, "audit-safe")] if release.variants else []
        found += [Job(release.name, "audit-exact")] if release.variants and release.audit_exact else []
        found += [Job(release.name, "audit-exact", SIDE_BY_SIDE)] if release.side_by_side else []
        found += [Job(release.name, "release", str(number)) for number in release.processes]
    return found


def code() -> str:
    """What all figures depend on beside the deliveries: our sources."""
    files = sorted(
        [
            SOURCES / "pipeline.py",
            *(file for folder in ("methods", "solver", "model") for file in (SOURCES / folder).rglob("*.py")),
        ]
    )
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:12]


def measure(job: Job) -> Record:
    load, release = os.getloadavg()[0], REGISTRY[job.release]
    domain, problem = release.load()
    work: dict[str, Callable[[], tuple[float, Figures]]] = {
        "bases": lambda: _bases(problem, domain, job, release),
        "half-widths": lambda: _half_widths(problem, domain, Weights(job.detail)),
        "audit-safe": lambda: _audit_safe(problem, domain, release),
        "audit-exact": lambda: _audit(problem, domain, _exact(problem), job.detail == SIDE_BY_SIDE)[:2],
        "release": lambda: _release(release, int(job.detail)),
    }
    seconds, figures = work[job.kind]()
    peak = max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return Record(
        job=job,
        code=code(),
        primaries=int(problem.primary.sum()),
        suppressed=int(problem.suppressed.sum()),
        cells=problem.space.size,
        seconds=seconds,
        peak_mib=peak / 1024,
        load=load,
        made=datetime.now(UTC).isoformat(timespec="seconds"),
        figures=figures,
    )


# --- bases --------------------------------------------------------------------------------------------------


def _bases(problem: ProtectionProblem, domain: Domain, job: Job, release: Release) -> tuple[float, Figures]:
    variant = next(variant for variant in release.variants if variant.name == job.detail)
    chosen = variant.of(domain)
    began = time.perf_counter()
    requirements, _ = attack.baseline(problem, ("external",))
    based = time.perf_counter()
    adjustment = Adjustment()
    if variant.rule == "cta":
        for rung in range(len(chosen.cta.ladder)):
            adjustment = pipeline.climb(problem, requirements, chosen, rung, adjustment)
    adjusted = time.perf_counter()
    publication, rungs = choose(problem, requirements, adjustment, chosen)
    done = time.perf_counter()
    keep(publication, job)
    figures: Figures = {"baseline s": based - began, "cta s": adjusted - based, "bases s": done - adjusted}
    figures["ladder bound"] = next((rung.bound for rung in rungs if rung.bound is not None), None)
    return done - began, figures | lost(problem, publication, variant, domain) | moved(problem, adjustment)


def choose(
    problem: ProtectionProblem, requirements: attack.Requirements, adjustment: Adjustment, domain: Domain
) -> tuple[Publication, tuple[Rung, ...]]:
    """The publication, and what each rule that was tried told of its loss and bound."""
    kept: dict[str, Publication | Adjustment] = {}
    publication = pipeline.choose_bases(problem, requirements, adjustment, domain, keep=kept.__setitem__)
    rules = kept["rules"]
    assert isinstance(rules, Adjustment)
    return publication, rules.rungs


def lost(problem: ProtectionProblem, publication: Publication, variant: Variant, domain: Domain) -> Figures:
    """What the world loses: counts, distances and bases of the cells that are published, the
    loss Σ w b/2 of the rounded ones.

    `loss with withheld`: a withheld cell counts as one with a base of twice the domain's maximum.
    """
    a, base = problem.a[publication.cells], publication.base
    rounded, withheld = publication.rounded, publication.withheld
    weight = aggregate_weights(problem, Weights(variant.weights))
    share = base[rounded] / np.maximum(np.abs(a[rounded]), 1.0)
    loss = float(weight[rounded] @ base[rounded] / 2)
    rest = float((weight * np.maximum(np.abs(a), 1.0))[withheld].sum()) * domain.bases.maximum_relative_base
    told = ~withheld
    return {
        "exact": int(publication.exact.sum()),
        "rounded": int(rounded.sum()),
        "withheld": int(withheld.sum()),
        "mean |r − a|": float(np.abs(publication.value[told] - a[told]).mean()) if told.any() else None,
        "mean relative base": float(share.mean()) if rounded.any() else None,
        "median relative base": float(np.median(share)) if rounded.any() else None,
        "loss": loss,
        "loss with withheld": loss + rest,
        "truth inside": bool(
            ((publication.lower <= a * (1 + 1e-12)) & (a * (1 - 1e-12) <= publication.upper)).all()
        ),
    }


def moved(problem: ProtectionProblem, adjustment: Adjustment) -> Figures:
    """The mean |x − a| of the aggregate cells in the CTA table: “x̄ CTA” of [1]."""
    if adjustment.x is None:
        return {}
    return {"mean |x − a|": float(np.abs(adjustment.x - problem.a)[problem.aggregate].mean())}


def keep(publication: Publication, job: Job) -> None:
    path = _kept(job)
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(path, cells=publication.cells, value=publication.value, base=publication.base)


def _kept(job: Job) -> Path:
    return ATTACK / "publications" / f"{job.name}.npz"


def _half_widths(problem: ProtectionProblem, domain: Domain, weights: Weights) -> tuple[float, Figures]:
    """To a closer gap than a release asks for. Without the baseline, which is the attacker's."""
    sharp = domain.model_copy(
        update={"bases": domain.bases.model_copy(update={"gap": GAP, "weights": weights})}
    )
    requirements, _ = attack.baseline(problem, ("external",))
    began = time.perf_counter()
    found = least_loss(case_of(problem, requirements, sharp.bases, sharp.audit.seed, silent, silent))
    seconds = time.perf_counter() - began
    return seconds, {
        "loss": found.loss,
        "bound": found.bound,
        "gap": found.gap,
        "widened": int((found.half > 0).sum()),
    }


# --- audits -------------------------------------------------------------------------------------------------


def _exact(problem: ProtectionProblem) -> Publication:
    cells = np.flatnonzero(problem.aggregate)
    return Publication(cells, problem.a[cells], np.zeros(len(cells)))


def _audit(
    problem: ProtectionProblem, domain: Domain, publication: Publication, spread: bool = False
) -> tuple[float, Figures, attack.Requirements, AuditReport]:
    """In one process, or `spread` over several. Against the external attacker, as the issue asks."""
    began = time.perf_counter()
    requirements, _ = attack.baseline(problem, ("external",))
    based = time.perf_counter()
    processes = side_by_side.processes_for(problem) if spread else 1
    report = side_by_side.audit(problem, publication, requirements, domain, processes, silent)
    seconds = time.perf_counter() - based
    figures: Figures = {
        "baseline s": based - began,
        "passed": report.passed,
        "broken": report.broken,
        "protected": int(report.protected.sum()),
        "cut": int(report.baseline.sum()),
        "lps": report.lps,
        "profiles": ", ".join(report.profiles),
    }
    return seconds, figures, requirements, report


def _audit_safe(problem: ProtectionProblem, domain: Domain, release: Release) -> tuple[float, Figures]:
    made = _kept(Job(release.name, "bases", release.variants[0].name))
    if not made.exists():
        raise FileNotFoundError(
            "there is no publication to audit: the job that chooses its bases has not ended well"
        )
    with np.load(made) as stored:
        publication = Publication(stored["cells"], stored["value"], stored["base"])
    seconds, figures, requirements, report = _audit(problem, domain, publication)
    sample = _sample(problem, release.sample)
    naive = Naive(problem, publication)
    began = time.perf_counter()
    reaches = [naive.reach(primary) for primary in sample]
    each = (time.perf_counter() - began) / max(1, len(sample))
    agree = [
        _meets(requirements, primary, *reach)
        == bool(report.protected[np.searchsorted(report.primaries, primary)])
        for primary, reach in zip(sample, reaches, strict=True)
    ]
    total = each * int(problem.primary.sum())
    return seconds, figures | {
        "naive sample": len(sample),
        "naive s a primary": each,
        "naive s, all primaries": total,
        "naive verdicts alike": sum(agree),
    }


def _meets(requirements: attack.Requirements, primary: int, down: float, up: float) -> bool:
    """By the naive attacker's word; a millionth is what two solvers may differ by."""
    row = int(np.searchsorted(requirements.primaries, primary))
    needs = requirements.down[row], requirements.up[row], requirements.slide[row]
    return all(reach >= need * (1 - 2e-6) for reach, need in zip((down, up, down + up), needs, strict=True))


def _sample(problem: ProtectionProblem, size: int) -> list[int]:
    """Spread evenly over the primaries, so over countries and levels of the hierarchies."""
    primaries = np.flatnonzero(problem.primary)
    return primaries[
        np.unique(np.linspace(0, len(primaries) - 1, min(size, len(primaries))).astype(int))
    ].tolist()


class Naive:
    """Two cold LPs for each primary by scipy's HiGHS, presolve and all, over the suppressed cells of all
    countries: no structure is used.

    What anybody would write first. The matrices are set up once, and not in the time.
    """

    def __init__(self, problem: ProtectionProblem, publication: Publication) -> None:
        self._cells = np.flatnonzero(problem.suppressed)
        space, inside = (
            problem.space,
            problem.space.relations.shape[0] - problem.space.aggregate_relations.shape[0],
        )
        national = sp.csr_array(sp.csc_array(space.relations[:inside])[:, self._cells])
        above = sp.csr_array(sp.csc_array(space.aggregate_relations)[:, self._cells])
        exact, rounded = np.flatnonzero(publication.exact), np.flatnonzero(publication.rounded)
        a = problem.a[publication.cells][rounded]
        self._equal = sp.vstack([national, above[exact]], format="csr")
        self._between = sp.vstack([above[rounded], -above[rounded]], format="csr")
        self._limits = np.concatenate([publication.upper[rounded] - a, a - publication.lower[rounded]])
        self._bounds = np.column_stack(
            [(problem.lb - problem.a)[self._cells], (problem.ub - problem.a)[self._cells]]
        )

    def reach(self, primary: int) -> tuple[float, float]:
        """How far below and above its true value the primary may lie for the attacker;
        infinite where nothing holds it.
        """
        both = []
        for side in (1.0, -1.0):
            cost = np.zeros(len(self._cells))
            cost[np.searchsorted(self._cells, primary)] = side
            result = linprog(
                cost,
                A_ub=self._between,
                b_ub=self._limits,
                A_eq=self._equal,
                b_eq=np.zeros(self._equal.shape[0]),
                bounds=self._bounds,
                method="highs",
            )
            both.append(-float(result.fun) if result.status == 0 else np.inf)
        return both[0], both[1]


# --- whole releases -----------------------------------------------------------------------------------------


def _release(release: Release, processes: int) -> tuple[float, Figures]:
    """Published, or an error: a release that the audit stops has no figures. `table`: a digest of what was
    written.
    """
    source, inbox = release.deliver(ATTACK / release.name)
    with TemporaryDirectory(dir=ATTACK) as folder:
        where = [
            "--domain",
            str(source),
            "--period",
            PERIOD,
            "--inbox",
            str(inbox),
            "--out",
            folder,
            "--processes",
            str(processes),
        ]
        began = time.perf_counter()
        subprocess.run(
            [str(Path(sys.executable).with_name("sdc")), "release", *where],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        seconds = time.perf_counter() - began
        table = (Path(folder) / "table.csv").read_bytes()
    rows = list(csv.DictReader(table.decode("utf-8").splitlines()))
    return seconds, {
        "table": hashlib.sha256(table).hexdigest()[:12],
        "rounded": sum(bool(row["ROUNDING_BASE"]) for row in rows),
        "withheld": sum(not row["OBS_VALUE"] for row in rows),
        "of cells": len(rows),
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("release", choices=[release.name for release in (*RELEASES, *TINY)])
    parser.add_argument("kind")
    parser.add_argument("detail", nargs="?", default="")
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    one_thread()  # as every command
    record = measure(Job(given.release, given.kind, given.detail))
    given.out.write_text(json.dumps(record.to_json(), ensure_ascii=False), encoding="utf-8")


if __name__ == "__main__":
    main()
