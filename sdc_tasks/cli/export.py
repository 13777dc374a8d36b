"""`sdc export`: the public files of a release. `sdc export-jj`: its CTA problem as a τ-ARGUS JJ file, for
other solvers and for `sdc cta`.

A JJ file has two settings (METHOD §3), both over all cells of the release:

- *attacker*: public national cells, and cells that follow from them alone, are fixed (z); suppressed
  national cells move at no cost;
  aggregate cells have the weights. Levels are those that the national tables can keep, bounds
  are those of `release_problem`. A table protects every primary of this file if and only if
  it does so in `release_problem`;
- *paper*: all cells move and have a weight, empty cells are fixed, levels are the promised ones,
  cut at the bounds of the cells.
"""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from sdc_tasks.cli.options import METHOD, OUTPUT
from sdc_tasks.cli.screen import out
from sdc_tasks.cli.shared import DomainOption, InboxOption, PeriodOption, WarehouseOption, problem_of_inbox
from sdc_tasks.errors import InvalidInput
from sdc_tasks.model.tolerances import ROUNDING

if TYPE_CHECKING:
    import scipy.sparse as sp

    from sdc_tasks.intake.tables.jj import JJTable
    from sdc_tasks.methods.attack import Requirements
    from sdc_tasks.model.problem import ProtectionProblem
    from sdc_tasks.model.table import Floats
    from sdc_tasks.model.weights import Weights

WEIGHTS = {"one": "one", "inverse": "inverse", "sqrt": "inverse_sqrt", "depth": "depth"}
INFINITE_TIMES = 1.5  # times the largest value: replaces an infinite bound, as in τ-ARGUS
HEADER = ["index", "key"]


def export(
    domain: DomainOption,
    period: PeriodOption,
    warehouse: WarehouseOption,
    folder: Annotated[
        Path,
        typer.Option("--out", help="folder for table.csv and the other public files", rich_help_panel=OUTPUT),
    ],
    formats: Annotated[
        list[str] | None,
        typer.Option(
            "--format",
            help="sdmx-ml, sdmx-json or parquet; repeat it; default: those of the domain file",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
) -> None:
    """Writes the public files of a release again: the table in every format, how it is protected, and
    a descriptor with their digests.

    It writes the version that the world may see now. There is none under embargo or after a retraction.

    Example: sdc export --domain demo/domain.yaml --period 2024 --warehouse sqlite:///out/warehouse.db --out
    again
    """
    from dataclasses import replace

    from pydantic import ValidationError

    from sdc_tasks import outputs, steps
    from sdc_tasks.model.public_files import PUBLIC_FILES

    desk = steps.open_desk(warehouse, domain, period)
    if formats:
        asked = desk.domain.dissemination.model_dump() | {"formats": tuple(formats)}
        try:
            dissemination = type(desk.domain.dissemination).model_validate(asked)
        except ValidationError:
            raise InvalidInput(
                f"--format {', '.join(formats)}: not each once of sdmx-ml, sdmx-json and parquet"
            ) from None
        dissemination.refuse_unwritable(desk.domain.id)
        desk = replace(desk, domain=desk.domain.model_copy(update={"dissemination": dissemination}))
    current = outputs.write_public(desk, folder)
    written = [name for name in PUBLIC_FILES if (folder / name).exists()]
    out.print(f"version {current.version} of {desk.domain.id} {period}: {', '.join(written)} in {folder}")


def export_jj(
    domain: DomainOption,
    period: PeriodOption,
    inbox: InboxOption,
    file: Annotated[
        Path,
        typer.Option(
            "--out", help="FILE.jj or FILE.jj.gz; FILE.cells.csv is written beside it", rich_help_panel=OUTPUT
        ),
    ],
    setting: Annotated[
        Literal["paper", "attacker"],
        typer.Option(
            help="attacker: what the release needs; paper: the whole table as it is in [1]",
            rich_help_panel=METHOD,
        ),
    ] = "attacker",
    weights: Annotated[
        Literal["one", "inverse", "sqrt", "depth"] | None,
        typer.Option(help="default: those of the domain", rich_help_panel=METHOD),
    ] = None,
) -> None:
    """Writes the CTA problem of a release as a JJ file. Both files are confidential: JJ holds true values.

    Example: sdc export-jj --domain demo/domain.yaml --period 2024 --inbox demo/inbox --out table.jj
    """
    from sdc_tasks.domains import load_domain
    from sdc_tasks.intake.tables.jj import write_jj, write_private
    from sdc_tasks.methods.attack import baseline
    from sdc_tasks.model.profiles import EXTERNAL
    from sdc_tasks.model.weights import Weights, aggregate_weights

    if not file.name.lower().endswith((".jj", ".jj.gz")):
        raise InvalidInput(f"{file}: a JJ file is expected. Remedy: name it FILE.jj or FILE.jj.gz")
    spec = load_domain(domain).of(period)
    problem = problem_of_inbox(spec, inbox, period)
    chosen = spec.cta.weights if weights is None else Weights(WEIGHTS[weights])
    if setting == "attacker":
        requirements, _ = baseline(problem, (EXTERNAL,))
        table = attacker_table(problem, requirements, aggregate_weights(problem, chosen, spec.cta.gamma))
    else:
        table = paper_table(problem, chosen, spec.cta.gamma)
    write_jj(file, table)
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(
        [HEADER, *([i, problem.space.key(i)] for i in range(problem.space.size))]
    )
    write_private(cells_file(file), text.getvalue())
    moving = int((~table.fixed).sum())
    out.print(
        f"{len(table.a)} cells, {moving} of them may move, {len(table.rhs)} relations, {len(table.primary)} "
        f"primaries"
    )
    out.tell(("confidential", "bold"), f", true values of every country: {file}; keys: {cells_file(file)}")


def attacker_table(problem: ProtectionProblem, requirements: Requirements, weights: Floats) -> JJTable:
    """`release_problem` as a table of all cells of the release. `weights` (aggregate cells,)."""
    import numpy as np

    from sdc_tasks.intake.tables.jj import JJTable
    from sdc_tasks.methods.cta.model import release_problem

    model = release_problem(problem, requirements, weights)
    n, moving = problem.space.size, model.cells
    cost, lpl, upl = np.zeros(n), np.zeros(n), np.zeros(n)
    lb, ub = problem.a.copy(), problem.a.copy()
    cost[moving] = model.w
    lb[moving] += model.lower * model.unit
    ub[moving] += model.upper * model.unit
    primaries = moving[model.sensitive]
    lpl[primaries], upl[primaries] = model.lpl * model.unit, model.upl * model.unit
    status = np.full(n, "z")
    status[moving] = np.where(problem.suppressed[moving], "m", "s")
    status[primaries] = "u"
    return JJTable(problem.a, cost, status, lb, ub, lpl, upl, np.zeros(n), *_relations(problem))


def paper_table(problem: ProtectionProblem, weights: Weights, gamma: float) -> JJTable:
    """The release as one table in which every cell moves, except empty ones."""
    import numpy as np

    from sdc_tasks.intake.tables.jj import JJTable
    from sdc_tasks.methods.attack import promised
    from sdc_tasks.model.profiles import EXTERNAL
    from sdc_tasks.model.weights import depth_of, weights_of

    n, a = problem.space.size, problem.a
    levels = {name: np.zeros(n) for name in ("down", "up", "slide")}
    requirements = promised(problem, (EXTERNAL,))
    for name, level in levels.items():
        level[requirements.primaries] = getattr(requirements, name)
    widest = INFINITE_TIMES * float(np.abs(a).max(initial=0.0)) + max(
        float(level.max(initial=0.0)) for level in levels.values()
    )
    asked = np.max(list(levels.values()), axis=0) > 0
    status = np.where(problem.suppressed, "m", "s")
    status[problem.primary] = "u"
    status[(a == 0) & ~asked] = "z"
    cost = weights_of(a, weights, np.tile(depth_of(problem.space), len(problem.space.areas)), gamma)
    bounds = np.maximum(problem.lb, -widest), np.minimum(problem.ub, widest)
    return JJTable(
        a, cost, status, *bounds, levels["down"], levels["up"], levels["slide"], *_relations(problem)
    )


def _relations(problem: ProtectionProblem) -> tuple[sp.csr_array, Floats]:
    """(A, rhs), with A (relations, cells). The right-hand side is the error of a relation, if it exceeds the
    noise of adding up; so deviations add up exactly.
    """
    import numpy as np

    A = problem.space.relations
    missed = A @ problem.a
    return A, np.where(np.abs(missed) <= ROUNDING * (abs(A) @ np.abs(problem.a)), 0.0, missed)


def cells_file(file: Path) -> Path:
    """FILE.cells.csv of FILE.jj or FILE.jj.gz."""
    name = file.name
    for suffix in (".gz", ".jj"):
        name = name[: -len(suffix)] if name.lower().endswith(suffix) else name
    return file.with_name(f"{name}.cells.csv")


def read_cells(path: Path) -> list[str]:
    """The keys of the cells, in order. Raises InvalidInput unless the file has the form that `export-jj`
    writes.
    """
    try:
        rows = list(csv.reader(io.StringIO(path.read_text(encoding="utf-8-sig"), newline="")))
    except OSError as error:
        raise InvalidInput(
            f"{path}: cannot be read ({error.strerror}). Remedy: put it beside its table, or give the table "
            f"alone"
        ) from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise InvalidInput(f"{path}: not a CSV file in UTF-8. Remedy: export the table again") from error
    if not rows or rows[0] != HEADER:
        raise InvalidInput(
            f"{path}, line 1: the header is {','.join(HEADER)}. Remedy: export the table again"
        )
    for i, row in enumerate(rows[1:]):
        if len(row) != 2 or row[0] != str(i):
            raise InvalidInput(
                f"{path}, line {i + 2}: the key of cell {i} is expected. Remedy: export the table again"
            )
    return [key for _, key in rows[1:]]
