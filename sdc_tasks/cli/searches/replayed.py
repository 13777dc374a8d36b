"""`sdc audit --replay N`: what is left for somebody who has the program (METHOD §9), in words
without values.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from sdc_tasks.cli.case import CaseOptions
from sdc_tasks.cli.shared import delivered_by
from sdc_tasks.errors import InvalidInput, Unprotectable
from sdc_tasks.model.tolerances import SAME

if TYPE_CHECKING:
    from sdc_tasks.domains import Domain
    from sdc_tasks.methods.attack import Requirements
    from sdc_tasks.model.problem import NationalTable, ProtectionProblem
    from sdc_tasks.model.results import Publication
    from sdc_tasks.model.table import Floats

NOT_JUDGED = "The verdict does not count this."


def replayed(
    case: CaseOptions,
    problem: ProtectionProblem,
    publication: Publication,
    requirements: Requirements,
    most: int,
) -> str:
    """Runs the program for every hidden table that fits, or, where these are more than
    `most`, for `most` nearest tables.

    With bases.rule_aware: looks for two tables that prove the width of a primary, for `most`
    primaries. Raises InvalidInput where the program does not publish this table for the deliveries:
    then a replay says nothing about it.
    """
    import numpy as np

    from sdc_tasks.methods.attack import replay

    spec = case.spec
    if spec.bases.rule_aware:
        return _against_keys(problem, publication, requirements, spec, most)
    run = program(delivered_by(spec, case.inbox, case.period, problem.salt).tables, problem, spec)

    def chance(z: np.ndarray) -> float:
        found = run(z)
        return 0.0 if found is None else float(_same(found, publication))

    needs = requirements.strongest
    hidden = np.flatnonzero(problem.suppressed)
    if not chance(np.zeros(len(hidden))):
        raise InvalidInput(
            "--replay: the program does not publish this table for these deliveries, so its runs say nothing "
            "about it. Remedy: give "
            "table.csv of a first version, with its domain file; a rounding of a whole indicator is drawn by "
            "the secret of its warehouse"
        )
    steps = problem.space.last_decimals(each.decimals for each in spec.indicators)[hidden]
    fitting = replay.Fitting.of(problem, publication, steps)
    tables = fitting.every(most)
    if tables is not None:
        found = replay.support(problem, needs, tables, chance)
        near, narrow, known = (int(each.sum()) for each in (found.broken, found.narrow, found.width == 0))
        return (
            f"replay: {found.fit} hidden tables fit, and the program publishes this table for {found.tables} "
            f"of them. For somebody who "
            f"has the program, {near} of {len(found.cells)} primaries are nearer than a level to one end of "
            f"what is left, {narrow} have "
            f"less left than both levels together, {known} a single value. {NOT_JUDGED}"
        )
    some = replay.sampled(fitting, needs, chance, most, spec.audit.seed)
    return (
        f"replay: more than {most} hidden tables fit, so {some.asked} of {some.sides} sides of primaries "
        f"were drawn. For {some.kept} of "
        "them the program publishes this table also where the primary lies a level away on that side, which "
        "proves the side against "
        f"somebody who has the program; {some.none} had no nearest table in whole steps. With 95 % "
        f"confidence each, this would prove at "
        f"least {some.at_least():.0%} and at most {some.at_most():.0%} of all sides. Other sides are not "
        f"shown, and not broken for that. "
        f"{NOT_JUDGED}"
    )


def _against_keys(
    problem: ProtectionProblem, publication: Publication, requirements: Requirements, spec: Domain, most: int
) -> str:
    """Replays against bases.rule_aware: a key that publishes this table for other deliveries exists if and
    only if the table passes both tests for them (METHOD §9, Theorem 4). One of them sees public figures
    alone, the other one is the audit.
    """
    import numpy as np

    from sdc_tasks.methods import attack
    from sdc_tasks.methods.attack import replay
    from sdc_tasks.methods.attack.replay.residual import residual_uncertainty
    from sdc_tasks.model.results import Publication as Published

    hidden = np.flatnonzero(problem.suppressed)
    if (
        problem.integral.any()
        or problem.levels is None
        or not (problem.suppressed[: problem.space.first_aggregate]).any()
    ):
        raise InvalidInput(
            "--replay: bases.rule_aware is replayed where a cell is hidden, and no indicator is counted. "
            "Remedy: leave out --replay"
        )
    steps = problem.space.last_decimals(each.decimals for each in spec.indicators)
    needs, profiles = requirements.strongest, requirements.profiles
    nothing = residual_uncertainty(
        problem, needs, Published.nothing(publication.cells), steps, spec.audit.seed
    ).narrow
    found = residual_uncertainty(problem, needs, publication, steps, spec.audit.seed)
    first = attack.Attacker(problem, requirements, spec.audit.seed)
    first.set_publication(publication)
    first.prove_all()
    if first.broken:
        raise InvalidInput(
            "--replay: this table does not pass the audit, so bases.rule_aware never publishes it. Remedy: "
            "replay one that does"
        )
    tables = [witness.dense(len(hidden)) for _, witness in first.witnesses()]

    def chance(z: np.ndarray) -> float:
        other = moved(problem, z)
        own, _ = attack.baseline(other, profiles)
        attacker = attack.Attacker(other, own, spec.audit.seed)
        attacker.set_publication(publication)
        attacker.try_witnesses(each - z for each in tables)
        attacker.prove_all()
        return float(not attacker.broken)

    fitting = replay.Fitting.of(problem, publication, steps[hidden])
    some = replay.replay_collisions(fitting, problem, needs, found.window, chance, most, spec.audit.seed)
    return (
        "replay: bases.rule_aware. The test of the width, which sees public figures alone, shows both levels "
        "together for "
        f"{int((~found.narrow).sum())} of {len(needs.primaries)} primaries of this table as it is printed; "
        f"with nothing published it fails "
        f"for {int(nothing.sum())}, which have no claim. Of {some.sides} primaries that their national "
        f"tables protect, {some.asked} were "
        f"drawn. For {some.kept} of them two hidden tables were found that are as far apart as both levels, "
        f"and for each of the two a key "
        f"publishes this table; {some.none} have no two such tables in whole steps. With 95 % confidence "
        f"this would show at least "
        f"{some.at_least():.0%} of them. Others are not shown, and not broken for that. {NOT_JUDGED}"
    )


def moved(problem: ProtectionProblem, z: Floats) -> ProtectionProblem:
    """The problem of the deliveries that deviate by z (suppressed cells,): totals follow, and so do
    levels. It has `levels`, and nobody in it knows a part of a cell: what bases.rule_aware
    withstands are external attackers.
    """
    import numpy as np

    from sdc_tasks.model.table import MOST_PLACES

    assert problem.levels is not None
    a, first = problem.a.copy(), problem.space.first_aggregate
    a[problem.suppressed] += z
    a[first:] = problem.space.aggregate_relations[:, :first] @ a[:first]
    a = np.round(a, MOST_PLACES)
    level = np.where(problem.primary, np.maximum(problem.levels.slope * a, problem.levels.least), 0.0)
    return replace(problem, a=a, lpl=level, upl=level, known=np.full(len(a), np.nan))


def program(
    tables: Sequence[NationalTable], problem: ProtectionProblem, domain: Domain
) -> Callable[[Floats], Publication | None]:
    """The program as somebody runs it who has it: from deviations (suppressed cells,) of the tables to what
    it publishes; None where it refuses the deviating tables. Levels follow from the deviating values, with
    the flags, units and shares of the tables.

    `problem`: that of the tables. Raises InvalidInput where the receiver sets secondaries: a
    deviating table may get others.
    """
    import numpy as np

    from sdc_tasks import pipeline
    from sdc_tasks.model.results import Adjustment
    from sdc_tasks.model.table import MOST_PLACES

    if domain.suppression.active:
        raise InvalidInput(
            "--replay: the receiver sets secondaries (suppression in the domain file), and a replay knows no "
            "rule for them"
        )
    given = {table.country: table for table in tables}
    ordered = [given[country] for country in problem.space.countries]
    hidden = problem.suppressed[: problem.space.first_aggregate]

    def run(z: Floats) -> Publication | None:
        value = np.concatenate([table.value for table in ordered])
        value[hidden] = np.round(value[hidden] + z, MOST_PLACES)
        moved = [
            replace(table, value=own)
            for table, own in zip(ordered, np.split(value, len(ordered)), strict=True)
        ]
        try:
            other = pipeline.build_problem(moved, domain, problem.salt)
            requirements, _ = pipeline.baseline(other, domain)
            adjustment = Adjustment()
            for rung in range(len(domain.cta.ladder)):
                if not adjustment.accepted:
                    adjustment = pipeline.climb(other, requirements, domain, rung, adjustment)
            return pipeline.choose_bases(other, requirements, adjustment, domain)
        except (InvalidInput, Unprotectable):
            return None

    return run


def _same(first: Publication, second: Publication) -> bool:
    """Do both print the same, apart from the last digits of binary fractions?"""
    import numpy as np

    return all(
        np.allclose(getattr(first, name), getattr(second, name), rtol=SAME, atol=0, equal_nan=True)
        for name in ("value", "base", "covers")
    )
