"""What the attack engine and the safe bases are measured on: releases by name, and the jobs done with each.

- `demo`: the deliveries of `sdc demo`, 27 countries × 120 activities × 6 size classes: the size of the table
  in [1];
- `demo-thousand`: the same with 1 000 activities, so that bases are grown from tables; its
  audit gets none of these tables;
- `demo-linked`: the same with five indicators, three of which are linked, and two compositions, as
  whole releases (`sdc release`);
- `prodcom`: two indicators by a flat list of 4 000 products, as in the statistics of production;
- `demo-countries`, `demo-activities`: ten times as many countries, and as many
  activities: how time and memory grow;
- `regions12`: twelve real regional deliveries, which are not part of this project;
- `tiny*`: the same kinds in small, for `--quick`.

Deliveries are written once and kept in var/bench/attack, by `python -m benchmarks.attack_registry NAME`: what
is measured begins with the problem in memory, and does not count what made them.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import yaml

from benchmarks.registry import ABSENT, CACHE, HERE, Absent
from sdc_tasks import intake, pipeline
from sdc_tasks.demo import write_demo
from sdc_tasks.demo.shape import write_domain
from sdc_tasks.demo.writer import write_deliveries
from sdc_tasks.domains import Domain, load_domain
from sdc_tasks.model.problem import ProtectionProblem

PERIOD = "2024"
ATTACK = CACHE / "attack"
REGIONS = HERE.parents[2] / "shared/data/regions12/deliveries"
RULES = ("minimum-uncertainty", "cta")
# by the audit alone: no rule that a domain may ask for, but a safe table of a large release in minutes
REPAIR = "repair"
LADDERS = {
    "1-2-5": (1.0, 2.0, 5.0),
    "1-1.5-2-3-5-7": (1.0, 1.5, 2.0, 3.0, 5.0, 7.0),
    "1-to-9": (1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0),
    "fine": (1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0),
}
NEVER = 100.0  # a relative base that hardly any cell reaches


@dataclass(frozen=True)
class Variant:
    """One way to choose bases. `withhold`: cells whose base would exceed the domain's maximum relative base
    are withheld, and a rounded cell costs the domain's charge; without, nothing but Σ w b/2 counts.
    """

    rule: str = "minimum-uncertainty"
    weights: str = "inverse"
    ladder: str = "1-2-5"
    withhold: bool = True

    @property
    def name(self) -> str:
        parts = [
            self.rule,
            self.weights,
            *([self.ladder] if self.ladder != "1-2-5" else []),
            *([] if self.withhold else ["all published"]),
        ]
        return " ".join(parts).replace(" ", "_")

    def of(self, domain: Domain) -> Domain:
        """The domain that chooses its bases this way."""
        rule = (
            "cta" if self.rule == REPAIR else self.rule
        )  # which without a CTA table repairs all-exact, and nothing else
        options = {"rule": rule, "weights": self.weights, "mantissas": LADDERS[self.ladder]}
        if not self.withhold:
            options |= {"maximum_relative_base": NEVER, "rounding_charge": 0.0}
        asked = {
            name: option
            for name, option in domain.bases.model_dump(exclude_unset=True).items()
            if rule != "cta" or name != "passes"
        }
        bases = type(domain.bases).model_validate(asked | options)
        return domain.model_copy(update={"bases": bases})


@dataclass(frozen=True)
class Release:
    """One named release: `deliver` writes its domain file and inbox to a folder, or says why it cannot."""

    name: str
    about: str
    deliver: Callable[[Path], tuple[Path, Path]] = field(repr=False)
    variants: tuple[Variant, ...] = (Variant(),)
    half_widths: tuple[str, ...] = ()  # weights for which the least loss is computed
    audit_exact: bool = True
    sample: int = 0  # primaries of which the naive attacker is timed
    grows_from: str = ""  # the release that this one is a larger relative of
    processes: tuple[int, ...] = ()  # whole releases are made, each in so many processes
    # the audit of all aggregates published exactly runs in several processes, too, as `sdc audit` runs it
    side_by_side: bool = False

    def load(self) -> tuple[Domain, ProtectionProblem]:
        """Raises Absent where the deliveries are not on this machine, ValueError where one is refused."""
        source, inbox = self.deliver(ATTACK / self.name)
        domain = load_domain(source)
        tables = []
        for path in sorted(inbox.iterdir()):
            delivery = intake.read(path, domain, PERIOD)
            if delivery.table is None:
                raise ValueError(f"{self.name}: {path.name} was refused")
            tables.append(delivery.table)
        return domain, pipeline.build_problem(tables, domain)


def _demo(
    countries: int, activities: int, sizes: int, folder: Path, indicators: int = 1, euro_area: bool = False
) -> tuple[Path, Path]:  # fmt: skip
    return _written(
        folder,
        lambda: write_demo(
            folder, countries, activities, sizes, period=PERIOD, indicators=indicators, euro_area=euro_area
        ),
    )


def _prodcom(products: int, folder: Path) -> tuple[Path, Path]:
    def write() -> None:
        path = write_domain(folder, 27, 3, 2, indicators=2)
        settings = yaml.safe_load(path.read_text(encoding="utf-8"))
        for indicator in settings["indicators"]:
            indicator["absent"] = "zero"  # what a country does not make has no record
        path.write_text(yaml.safe_dump(settings, sort_keys=False), encoding="utf-8")
        total = ("ALL", "", "All products")
        rows = [total, *((f"P{number:04d}", "ALL", f"Product {number}") for number in range(1, products + 1))]
        for name, codes in {"activities": rows, "sizes": [("_T", "", "Total")]}.items():
            lines = ["code,parent,label", *(",".join(row) for row in codes)]
            (folder / "codelists" / f"{name}.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
        write_deliveries(path, period=PERIOD)

    return _written(folder, write)


def _written(folder: Path, write: Callable[[], object]) -> tuple[Path, Path]:
    """Written again where the generator is not the one that wrote it."""
    stamp, now = folder / "generator", _generator()
    if not stamp.exists() or stamp.read_text(encoding="utf-8") != now:
        write()
        stamp.write_text(now, encoding="utf-8")
    return folder / "domain.yaml", folder / "inbox"


def _generator() -> str:
    """A digest of the sources that deliveries follow from."""
    import sdc_tasks.demo

    sources = Path(sdc_tasks.demo.__file__).parents[1]
    files = sorted(
        [
            *sources.glob("demo/*.py"),
            *sources.glob("domains/*.yaml"),
            *sources.glob("domains/codelists/*.csv"),
        ]
    )
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()


def _regions(folder: Path) -> tuple[Path, Path]:
    if not REGIONS.is_dir():
        raise Absent(f"the deliveries are not on this machine ({REGIONS})")
    return HERE.parent / "acceptance/regions12.yaml", REGIONS


BOTH = tuple(Variant(rule) for rule in RULES)
LARGE = (Variant(REPAIR),)
RELEASES = (
    Release(
        "regions12",
        "12 real regional deliveries and their sum",
        _regions,
        half_widths=("inverse", "one"),
        sample=20,
        variants=(
            *BOTH,
            *(Variant(rule, "one") for rule in RULES),
            Variant(ladder="fine"),
            Variant(withhold=False),
        ),
    ),
    Release(
        "demo",
        "27 countries × 120 activities × 6 size classes",
        partial(_demo, 27, 120, 5),
        BOTH,
        ("inverse",),
        sample=40,
    ),
    Release(
        "demo-thousand",
        "27 countries × 1 000 activities × 6",
        partial(_demo, 27, 1000, 5),
        (Variant(),),
        audit_exact=False,
    ),
    Release(
        "demo-linked",
        "27 countries × 1 000 activities × 6 × 5 indicators, two compositions",
        partial(_demo, 27, 1000, 5, indicators=5, euro_area=True),
        variants=(),
        processes=(1, 2, 4),
    ),
    Release("prodcom", "27 countries × 4 001 products × 2 indicators", partial(_prodcom, 4000)),
    Release(
        "demo-countries",
        "270 countries × 120 activities × 6",
        partial(_demo, 270, 120, 5),
        LARGE,
        sample=5,
        grows_from="demo",
    ),
    Release(
        "demo-activities",
        "27 countries × 1 200 activities × 6",
        partial(_demo, 27, 1200, 5),
        LARGE,
        sample=5,
        grows_from="demo",
        side_by_side=True,
    ),
)
TINY = (
    Release(
        "tiny",
        "4 countries × 9 activities × 3 size classes",
        partial(_demo, 4, 9, 2),
        BOTH,
        ("inverse", "one"),
        sample=5,
    ),
    Release(
        "tiny-countries",
        "16 countries × 9 activities × 3",
        partial(_demo, 16, 9, 2),
        LARGE,
        sample=5,
        grows_from="tiny",
    ),
    Release(
        "tiny-linked",
        "4 countries × 9 activities × 3 × 5 indicators, two compositions",
        partial(_demo, 4, 9, 2, indicators=5, euro_area=True),
        variants=(),
        processes=(1, 2),
    ),
    Release("tiny-products", "27 countries × 41 products × 2 indicators", partial(_prodcom, 40)),
    Release(
        "tiny-activities",
        "4 countries × 36 activities × 3",
        partial(_demo, 4, 36, 2),
        LARGE,
        sample=5,
        grows_from="tiny",
    ),
)
REGISTRY = {release.name: release for release in (*RELEASES, *TINY)}


if __name__ == "__main__":
    try:
        REGISTRY[sys.argv[1]].deliver(ATTACK / sys.argv[1])
    except Absent as reason:
        print(reason, file=sys.stderr)
        sys.exit(ABSENT)
