"""The second half of an audit if values are whole numbers: whole tables must also show each
requirement that the LP audit proves.

A requirement that the LP audit breaks stays broken. The baseline is treated in the same way. If no whole
national table reaches a level with no aggregate published, the requirement is cut to what the best whole
table reaches: the aggregates are not to blame for a weakness of the national table. If a MILP of the baseline
stops at its limit, the requirement is cut to the bound of the MILP.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from sdc_tasks.methods.attack.milp.attacker import IntegerAttacker
from sdc_tasks.methods.attack.milp.prover import IntegerWitness, Shortfall
from sdc_tasks.methods.attack.prover import Batches
from sdc_tasks.methods.attack.requirements import Requirements
from sdc_tasks.methods.attack.targets import SIDES
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.progress import Progress
from sdc_tasks.model.results import AuditReport, Evidence, Publication
from sdc_tasks.model.tolerances import INTEGRALITY, NOTICEABLE


def integer_audit(
    report: AuditReport,
    problem: ProtectionProblem,
    publication: Publication,
    requirements: Requirements,
    batches: Batches,
    seed: int,
    work: Progress,
) -> AuditReport:
    """The report of the LP audit on these batches (number, primaries), extended by integer
    knowledge for the integral cells.
    """
    if not problem.integral[requirements.primaries].any():
        return report
    attacker = IntegerAttacker(problem, publication, requirements, seed, work=work)
    attacker.prove_all(batches)
    worst = {name: getattr(report, name).copy() for name in SIDES.values()}
    held, undecided = report.held.copy(), report.undecided.copy()
    by_milp = np.isin(report.primaries, requirements.primaries[attacker.own_rows])
    for short in attacker.short:
        p = int(np.searchsorted(report.primaries, requirements.primaries[short.row]))
        worst[SIDES[short.side]][p] = min(worst[SIDES[short.side]][p], _share(short))
        held[requirements.of_profile[requirements.profile[short.row]], p] = False
        undecided[p] |= not short.proven
    evidence = replace(report.evidence, **_evidence(list(attacker.witnesses())), whole_cut=requirements.whole)
    return replace(
        report,
        **worst,
        held=held,
        by_milp=by_milp,
        undecided=undecided,
        evidence=evidence,
        lps=report.lps + attacker.milps,
        shared_lps=report.shared_lps + attacker.shared_milps,
    )


def integer_baseline(problem: ProtectionProblem, requirements: Requirements, work: Progress) -> Requirements:
    """The requirements of the LP baseline, cut further to what whole national tables alone reach."""
    integral = problem.integral[requirements.primaries]
    if not integral.any():
        return requirements
    levels = {name: getattr(requirements, name) for name in SIDES.values()}
    floor = {name: np.where(integral, np.floor(level + INTEGRALITY), level) for name, level in levels.items()}
    least = replace(requirements, **floor)
    attacker = IntegerAttacker(problem, None, least, work=work)
    attacker.prove_all([(0, least.cells)])
    reached, cuts = [], []
    for short in attacker.short:
        row, alone = short.row, int(least.insider[short.row])
        cuts.append(
            (
                int(least.profile[row]),
                int(least.primaries[row]),
                short.side,
                alone if alone >= 0 else short.insider,
                short.most,
            )
        )
        reached.append((row, SIDES[short.side], -1 if alone >= 0 else short.insider, short.most))
    return replace(
        least.cut_to(reached), why=least.why, whole=np.array(sorted(cuts), dtype=np.int64).reshape(-1, 5)
    )


def joined(parts: Sequence[Evidence]) -> dict[str, Any]:
    """The whole tables of several chunks as evidence: first, once, those that all chunks share; then batch by
    batch.
    """
    lot = np.concatenate(
        [np.where(part.whole_lot < 0, -1 if n == 0 else -2, part.whole_lot) for n, part in enumerate(parts)]
    )
    profile = np.concatenate([part.whole_profile for part in parts])
    width = max(part.whole.shape[1] for part in parts)
    tall = sp.vstack(
        [
            sp.csr_array((w.data, w.indices, w.indptr), shape=(w.shape[0], width))
            for w in (part.whole for part in parts)
        ]
    )
    order = np.lexsort((profile, lot))
    order = order[lot[order] >= -1]
    return {
        "whole": sp.csr_array(sp.csr_array(tall)[order]),
        "whole_profile": profile[order],
        "whole_lot": lot[order],
        "whole_cut": parts[0].whole_cut,
    }


def _evidence(found: Iterable[IntegerWitness]) -> dict[str, Any]:
    tables = list(found)
    start = np.cumsum([0, *(len(each.column) for each in tables)])
    column = np.concatenate([np.zeros(0, dtype=np.int64), *(each.column for each in tables)])
    value = np.concatenate([np.zeros(0), *(each.value for each in tables)])
    return {
        "whole": sp.csr_array((value, column, start), shape=(len(tables), int(column.max(initial=-1)) + 1)),
        "whole_profile": np.array([each.profile for each in tables], dtype=np.int64),
        "whole_lot": np.array([each.batch for each in tables], dtype=np.int64),
    }


def _share(short: Shortfall) -> float:
    """The reach as a share of the need, rounded down to 1e-4."""
    return float(np.clip(np.floor(1e4 * short.reach / short.need) / 1e4, 0.0, 1 - NOTICEABLE))
