"""A year beside four quarters that are out: what the joint attack costs, and what it loses.

    PYTHONPATH=tests .venv/bin/python -m benchmarks.linked_run --countries 8 --activities 30
    PYTHONPATH=tests .venv/bin/python -m benchmarks.linked_run          # the demonstration

The demonstration is the year. Each of its inner cells is split into four quarters by shares drawn at
random; what is hidden of the year is hidden of each quarter, with levels in proportion. The quarters are
released one after the other, each alone. Then the year is, once alone, as if there were no quarters, and
once together with them, in one process: `LINKED.md` has the CPU seconds of both, and their ratio.
"""

from __future__ import annotations

import argparse
import os
import platform
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from sdc_tasks import intake, pipeline
from sdc_tasks.demo.writer import write_demo
from sdc_tasks.domains import Domain, load_domain
from sdc_tasks.domains.linked import LinkedOptions
from sdc_tasks.judge.release import Part, differs
from sdc_tasks.methods.bases.comparison import TABLES, Kept
from sdc_tasks.methods.linked import Out
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.results import Adjustment, CandidateWitnesses, Publication
from sdc_tasks.model.secret import Secret
from sdc_tasks.model.table import Floats, added_up, inside
from sdc_tasks.model.time.periods import PeriodRule

PAGE = Path(__file__).with_name("LINKED.md")
QUARTERS = 4
EVEN = 20.0  # how alike the shares of the quarters are: the parameter of a Dirichlet distribution
SEED = 1


@dataclass(frozen=True)
class Measured:
    """One release: CPU seconds of its steps, and what it decided."""

    name: str
    cells: int
    primaries: int
    cut: int
    seconds: tuple[float, float, float]
    exact: int
    rounded: int
    withheld: int

    @property
    def whole(self) -> float:
        return sum(self.seconds)

    @property
    def row(self) -> str:
        steps = " | ".join(f"{each:.1f}" for each in (*self.seconds, self.whole))
        decided = f"{self.exact} · {self.rounded} · {self.withheld}"
        return f"| {self.name} | {self.cells} | {self.primaries} | {self.cut} | {steps} | {decided} |"


def year_of(folder: Path, shape: argparse.Namespace) -> tuple[ProtectionProblem, Domain]:
    domain = load_domain(write_demo(folder, shape.countries, shape.activities, shape.sizes)).of("2024")
    domain = domain.model_copy(update={"linked": LinkedOptions(periods=PeriodRule.SUM)})
    read = (intake.read(file, domain, "2024").table for file in sorted((folder / "inbox").iterdir()))
    tables = [table for table in read if table is not None]
    return pipeline.build_problem(tables, domain, Secret.of_hex("5" * 63 + "6")), domain


def quarters_of(year: ProtectionProblem) -> list[ProtectionProblem]:
    """Four quarters; the year has their sums (`of_sums`)."""
    space, rng = year.space, np.random.default_rng(SEED)
    shape = (len(space.countries), *space.national_shape)
    shares = np.moveaxis(rng.dirichlet([EVEN] * QUARTERS, size=shape), -1, 0)
    national = np.where(inside(space.hierarchies), year.a[: space.first_aggregate].reshape(shape), 0.0)
    return [
        _with(year, added_up(np.floor(national * share), space.hierarchies).reshape(shape[0], -1))
        for share in shares
    ]


def of_sums(year: ProtectionProblem, quarters: Sequence[ProtectionProblem]) -> ProtectionProblem:
    first, count = year.space.first_aggregate, len(year.space.countries)
    return _with(year, np.sum([each.a[:first].reshape(count, -1) for each in quarters], axis=0))


def _with(year: ProtectionProblem, national: Floats) -> ProtectionProblem:
    """The problem with other national values, and levels in proportion."""
    space = year.space
    number = {country: i for i, country in enumerate(space.countries)}
    sums = [national[[number[each] for each in of.members]].sum(axis=0) for of in space.aggregates]
    a = np.concatenate([national.ravel(), *sums])
    share = np.divide(a, year.a, out=np.zeros_like(a), where=year.a > 0)
    known = np.where(np.isfinite(year.known), np.minimum(year.known * share, a), year.known)
    levels = {name: getattr(year, name) * share for name in ("lpl", "upl", "spl")}
    return replace(year, a=a, known=known, **levels)


def released(name: str, problem: ProtectionProblem, domain: Domain) -> tuple[Measured, Publication]:
    began = [time.process_time()]
    requirements, _ = pipeline.baseline(problem, domain)
    began.append(time.process_time())
    kept = dict[str, Kept]()
    found = pipeline.choose_bases(problem, requirements, Adjustment(), domain, keep=kept.__setitem__)
    began.append(time.process_time())
    tables = kept.get(TABLES)  # a release tries them too
    tried = tables if isinstance(tables, CandidateWitnesses) else None
    report = pipeline.audit(
        problem, found, requirements, domain, tried=pipeline.to_try(problem, Adjustment(), tried)
    )
    began.append(time.process_time())
    if not report.passed:
        raise AssertionError(f"{name}: {report.broken} requirements broken")
    first, second, third = np.diff(began).tolist()
    counts = (int(mask.sum()) for mask in (found.exact, found.rounded, found.withheld))
    primaries, cut = len(report.primaries), int(report.baseline.sum())
    measured = Measured(name, problem.space.size, primaries, cut, (first, second, third), *counts)
    print(measured.row, flush=True)
    return measured, found


def main() -> None:
    asked = argparse.ArgumentParser(description="A year beside four quarters that are out.")
    asked.add_argument("--countries", type=int, default=27)
    asked.add_argument("--activities", type=int, default=120)
    asked.add_argument("--sizes", type=int, default=5)
    shape = asked.parse_args()
    with TemporaryDirectory() as folder:
        drawn, domain = year_of(Path(folder), shape)
    quarters = quarters_of(drawn)
    year, out, rows = of_sums(drawn, quarters), list[Out](), list[Measured]()
    for number, quarter in enumerate(quarters, start=1):
        measured, found = released(f"quarter {number}, alone", quarter, domain)
        rows.append(measured)
        out.append(Out(f"2024-Q{number}", f"2024-Q{number}", quarter, found))
    alone, _ = released("year, alone", year, domain)
    began = time.process_time()
    joint = pipeline.joint(year, "2024", out, domain)
    merged = time.process_time() - began
    parts = [Part(each.name, each.period, each.problem, each.publication) for each in out]
    if wrong := differs(joint, year, "2024", parts, pipeline.period_rules(domain), domain.checks.allows):
        raise AssertionError(wrong)
    beside, _ = released("year, beside the quarters", joint, domain)
    command = f"--countries {shape.countries} --activities {shape.activities} --sizes {shape.sizes}"
    text = [
        "# A year beside four quarters that are out",
        "",
        f"Written by `PYTHONPATH=tests .venv/bin/python -m benchmarks.linked_run {command}`, on "
        f"{platform.machine()} with {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} at the end. CPU "
        "seconds of one process.",
        "",
        "| release | cells | primaries | cut by what is out | baseline | bases | audit | together "
        "| exact · rounded · withheld |",
        "|---|---|---|---|---|---|---|---|---|",
        *(each.row for each in (*rows, alone, beside)),
        "",
        f"The joint problem took {merged:.1f} s to merge. The year beside the quarters took "
        f"{beside.whole / alone.whole:.1f} times as long as the year alone.",
        "",
    ]
    PAGE.write_text("\n".join(text), encoding="utf-8")
    print("\n".join(text))


if __name__ == "__main__":
    main()
