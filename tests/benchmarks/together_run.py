"""Three tables of one statistic: decided together, and one after the other in every order.

    PYTHONPATH=tests .venv/bin/python -m benchmarks.together_run --countries 8 --activities 200
    PYTHONPATH=tests .venv/bin/python -m benchmarks.together_run          # 27 × (1 000 + 120 × 6 + 60 × 9)
    PYTHONPATH=tests .venv/bin/python -m benchmarks.together_run \\
        --by-size 300 --by-region 90 --regions 9 --orders 0

The deliveries are those of `sdc demo --statistic`. `TOGETHER.md`, without any order `TOGETHER_FULL.md`, has
the CPU seconds of one process, and the information lost: half-widths relative to the totals, a total of
several tables once.
"""

from __future__ import annotations

import argparse
import os
import platform
import resource
import time
from collections.abc import Mapping, Sequence
from itertools import permutations
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from sdc_tasks import intake, pipeline
from sdc_tasks.demo import StatisticShape, write_statistic
from sdc_tasks.domains import Domain, load_domain
from sdc_tasks.methods.attack.requirements import Requirements
from sdc_tasks.methods.linked import Out, merged
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.results import Adjustment, Publication
from sdc_tasks.model.secret import Secret
from sdc_tasks.model.table import Ints

PAGE, WITHOUT_ORDERS = (Path(__file__).with_name(name) for name in ("TOGETHER.md", "TOGETHER_FULL.md"))
PERIOD = "2024"


class Statistic:
    """The tables of a demonstration, by their names."""

    def __init__(self, folder: Path, shape: argparse.Namespace) -> None:
        size = {name: value for name, value in vars(shape).items() if name not in {"orders", "keep"}}
        of = StatisticShape(**size)
        files = {name: folder / f"sbs_{name}.yaml" for name in of.tables}
        done = folder / "written"  # to protect the national tables takes longer than what is measured
        if not done.is_file() or done.read_text() != repr(of):
            files = write_statistic(folder, of)
            done.write_text(repr(of))
        self.domains: dict[str, Domain] = {name: load_domain(path).of(PERIOD) for name, path in files.items()}
        salt = Secret.of_hex("5" * 63 + "6")
        self.problems: dict[str, ProtectionProblem] = {}
        for name, domain in self.domains.items():
            read = (
                intake.read(file, domain, PERIOD).table
                for file in sorted((folder / "inbox" / name).iterdir())
            )
            tables = [table for table in read if table is not None]
            self.problems[name] = pipeline.build_problem(tables, domain, salt)
        spaces = [each.space for each in self.problems.values()]
        places, _ = merged(spaces, list(self.problems))
        self.places: dict[str, Ints] = dict(zip(self.problems, places, strict=True))

    def lost(self, decided: Mapping[str, Publication]) -> float:
        """The information lost in all tables; a total of several tables counts once, as it came out last."""
        found = dict[tuple[int, int], float]()
        for name, shown in decided.items():
            problem, most = self.problems[name], self.domains[name].bases.maximum_relative_base
            size = np.maximum(np.abs(problem.a[shown.cells]), 1.0)
            half = np.where(shown.rounded, shown.base / 2 / size, np.where(shown.withheld, most, 0.0))
            by_area = half.reshape(len(problem.space.aggregates), -1)
            for area, row in enumerate(by_area.tolist()):
                found |= {
                    (area, place): each for place, each in zip(self.places[name].tolist(), row, strict=True)
                }
        return sum(found.values())

    def one_after_the_other(self, order: Sequence[str]) -> tuple[float, float, dict[str, Publication]]:
        """CPU seconds, of which those of the audits, and what came out."""
        began, audits, out, decided = time.process_time(), 0.0, list[Out](), dict[str, Publication]()
        for name in order:
            problem = pipeline.joint(self.problems[name], PERIOD, out, self.domains[name])
            requirements, _ = pipeline.baseline(problem, self.domains[name])
            found = pipeline.choose_bases(problem, requirements, Adjustment(), self.domains[name])
            audits += self._audited(name, problem, found, requirements)
            decided[name] = found
            out.append(Out(f"{name} {PERIOD}", PERIOD, self.problems[name], found))
        return time.process_time() - began, audits, decided

    def together(self, order: Sequence[str]) -> tuple[float, float, dict[str, Publication], int]:
        """The same for tables that are decided together, and how many took what was decided."""
        began, audits, out, taken = time.process_time(), 0.0, list[Out](), 0
        problems, domains = ([each[name] for name in order] for each in (self.problems, self.domains))
        decided = dict(zip(order, pipeline.choose_together(problems, domains), strict=True))
        for name in order:
            problem = pipeline.joint(self.problems[name], PERIOD, out, self.domains[name])
            requirements, _ = pipeline.baseline(problem, self.domains[name])
            if pipeline.withstands(problem, decided[name], requirements, self.domains[name]):
                taken += 1
            else:
                decided[name] = pipeline.choose_bases(problem, requirements, Adjustment(), self.domains[name])
            audits += self._audited(name, problem, decided[name], requirements)
            out.append(Out(f"{name} {PERIOD}", PERIOD, self.problems[name], decided[name]))
        return time.process_time() - began, audits, decided, taken

    def _audited(
        self, name: str, problem: ProtectionProblem, found: Publication, requirements: Requirements
    ) -> float:
        began = time.process_time()
        if not pipeline.audit(problem, found, requirements, self.domains[name]).passed:
            raise AssertionError(f"{name}: the audit did not pass")
        return time.process_time() - began


def main() -> None:
    asked = argparse.ArgumentParser(description="Tables decided together, and one after the other.")
    asked.add_argument("--countries", type=int, default=27)
    asked.add_argument("--activities", type=int, default=1_000)
    asked.add_argument("--sizes", type=int, default=5)
    asked.add_argument("--regions", type=int, default=8)
    asked.add_argument("--by-size", type=int, default=120, help="at most so many activities by size class")
    asked.add_argument("--by-region", type=int, default=60, help="at most so many activities by region")
    asked.add_argument("--orders", type=int, default=6, help="so many of the six orders, one after the other")
    asked.add_argument("--keep", type=Path, help="a folder for the deliveries, which a later run reads again")
    shape = asked.parse_args()
    with TemporaryDirectory() as folder:
        statistic = Statistic(shape.keep or Path(folder), shape)
    names = list(statistic.problems)
    cells = ", ".join(f"{name} {problem.space.size}" for name, problem in statistic.problems.items())
    print(cells, flush=True)
    rows, apart = [], list[tuple[float, float]]()
    for order in list(permutations(names))[: shape.orders]:
        seconds, audits, decided = statistic.one_after_the_other(order)
        apart.append((seconds, statistic.lost(decided)))
        rows.append(f"| {', then '.join(order)} | {seconds:.1f} | {audits:.1f} | {apart[-1][1]:.2f} | |")
        print(rows[-1], flush=True)
    clock = time.monotonic()
    seconds, audits, decided, taken = statistic.together(names)
    minutes = (time.monotonic() - clock) / 60
    lost = statistic.lost(decided)
    rows.append(f"| **together** | {seconds:.1f} | {audits:.1f} | {lost:.2f} | {taken} of {len(names)} |")
    given = {name: value for name, value in vars(shape).items() if name != "keep"}
    command = " ".join(f"--{name.replace('_', '-')} {value}" for name, value in given.items())
    gigabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    text = [
        "# Three tables of one statistic",
        "",
        f"Written by `PYTHONPATH=tests .venv/bin/python -m benchmarks.together_run {command}`, on "
        f"{platform.machine()} with {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} at the end. CPU "
        f"seconds of one process. Cells: {cells}.",
        "",
        "| order | CPU s | of which audits | lost | took what was decided |",
        "|---|---|---|---|---|",
        *rows,
        "",
        f"Together took {minutes:.1f} minutes. At most {gigabytes:.1f} GB of memory in all.",
        "",
    ]
    if apart:
        times, losses = (min(each) for each in zip(*apart, strict=True))
        ratios = f"{seconds / times:.2f} times the fastest order, {lost / losses:.3f} times the loss"
        text += [f"Together: {ratios} of the best one.", ""]
    (PAGE if shape.orders else WITHOUT_ORDERS).write_text("\n".join(text), encoding="utf-8")
    print("\n".join(text))


if __name__ == "__main__":
    main()
