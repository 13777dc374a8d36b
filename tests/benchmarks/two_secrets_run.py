"""Two warehouses with two secrets: how often they draw two tables of one period, and how often both
together tell what each alone does not.

    .venv/bin/python -m benchmarks.two_secrets_run [--pairs 60] [--table 3x6x3]

from `tests/`. Each pair is one demonstration, whose requirements are those of the pipeline. The same
deliveries go through the pipeline's choice under two secrets. Where the published tables differ, linear
programs of another library (support/oracles) attack both together: an attacker without knowledge of whole
numbers, so that what he breaks is at least what can be broken. No warehouse lets such a pair out.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from sdc_tasks import intake, pipeline
from sdc_tasks.demo import write_demo
from sdc_tasks.domains import load_domain
from sdc_tasks.errors import SdcError
from sdc_tasks.methods.attack import Requirements
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.results import Adjustment, Publication
from sdc_tasks.model.secret import Secret
from support.oracles.attack import DOWN, UP, ColdAttacker, slack

SECRETS = [Secret(bytes([number]) * 32) for number in (1, 2)]
TOLERANCE = 1e-6  # of a requirement
METHODS: Mapping[str, Mapping[str, Any]] = {
    "bases": {},
    "bases, rule_aware": {"bases": {"rule_aware": True}},
    "controlled": {"rounding": {"method": "controlled", "base": 1000, "nodes": 50}},
    "quadratic": {"rounding": {"method": "quadratic", "base": 1000, "nodes": 50}},
}


def drawn(folder: Path, table: tuple[int, int, int], seed: int, more: Mapping[str, Any]) -> list[Any]:
    """[(problem, requirements, publication)] of the same deliveries under each secret."""
    path = write_demo(folder, *table, seed=seed)
    told = yaml.safe_load(path.read_text())
    told |= {"cta": {"ladder": []}, **{key: each for key, each in more.items() if key != "rounding"}}
    if "rounding" in more:
        told["indicators"][0] |= {"rounding": more["rounding"], "integer": True}
    path.write_text(yaml.safe_dump(told, sort_keys=False))
    domain, found = load_domain(path).of("2024"), []
    for secret in SECRETS:
        salt = secret.derive("release", domain.id, "2024")
        tables = [
            intake.read(file, domain, "2024", salt).table for file in sorted((folder / "inbox").glob("*.csv"))
        ]
        problem = pipeline.build_problem([each for each in tables if each is not None], domain, salt)
        requirements, _ = pipeline.baseline(problem, domain)
        found.append(
            (problem, requirements, pipeline.choose_bases(problem, requirements, Adjustment(), domain))
        )
    return found


def broken(problem: ProtectionProblem, requirements: Requirements, publications: list[Publication]) -> int:
    """The primaries whose requirement on a side fails for somebody who holds all these tables."""
    slacks = [slack(problem, each) for each in publications]
    low, high = (np.minimum.reduce([each[side] for each in slacks]) for side in (0, 1))
    attacker = ColdAttacker(problem, low, high)
    asked = zip(
        requirements.primaries.tolist(), requirements.down.tolist(), requirements.up.tolist(), strict=True
    )
    return sum(
        attacker.reach(cell, DOWN) < down * (1 - TOLERANCE) or attacker.reach(cell, UP) < up * (1 - TOLERANCE)
        for cell, down, up in asked
    )


def measure(name: str, table: tuple[int, int, int], pairs: int) -> str:
    """A line of Markdown."""
    differ = fell = refused = alone = 0
    for seed in range(1, pairs + 1):
        with tempfile.TemporaryDirectory() as folder:
            try:
                (problem, requirements, one), (_, _, two) = drawn(Path(folder), table, seed, METHODS[name])
            except SdcError:
                refused += 1
                continue
        if one.digest == two.digest:
            continue
        differ += 1
        alone += any(broken(problem, requirements, [each]) for each in (one, two))
        fell += bool(broken(problem, requirements, [one, two]))
    return f"| {name} | {'×'.join(map(str, table))} | {pairs - refused} | {differ} | {alone} | {fell} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=60)
    parser.add_argument("--table", default="3x6x3", help="countries x activities x size classes")
    parser.add_argument("--methods", nargs="*", default=list(METHODS))
    asked = parser.parse_args()
    countries, activities, sizes = map(int, asked.table.split("x"))
    print(
        "| method | table | pairs | differ | broken by one alone | broken by both together "
        "|\n|---|---|---|---|---|---|"
    )
    for name in asked.methods:
        print(measure(name, (countries, activities, sizes), asked.pairs), flush=True)


if __name__ == "__main__":
    main()
