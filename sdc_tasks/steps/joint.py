"""The problem of a release together with the related releases that are out (methods/linked)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sdc_tasks import pipeline
from sdc_tasks.errors import InvalidInput, ReleaseBlocked
from sdc_tasks.judge.release import Part, differs
from sdc_tasks.methods.linked import Out
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.results import Publication
from sdc_tasks.steps.desk import Desk
from sdc_tasks.steps.linked import of_release
from sdc_tasks.steps.memory import load_from
from sdc_tasks.warehouse import reader
from sdc_tasks.warehouse.confidential import store
from sdc_tasks.warehouse.reader import ReleaseInfo


def beside_what_is_out(desk: Desk, release_id: str, problem: ProtectionProblem) -> ProtectionProblem:
    """The problem together with every related release that is out. Raises InvalidInput where one of them can
    no longer be read, is in other units, or nobody said what its period is to this one.
    """
    releases = of_release(desk, release_id)
    if not releases:
        return problem
    for each in releases:
        _require_comparable(desk, each)
    out = out_of(desk, release_id)
    desk.say(f"attacked together with {', '.join(each.name for each in out)}")
    return pipeline.joint(problem, desk.period, out, desk.domain)


def out_of(desk: Desk, release_id: str) -> list[Out]:
    """The last version of each related release with which a release was opened."""
    last = {(each.domain, each.period): each for each in of_release(desk, release_id)}
    return [_out(desk, each) for each in last.values()]


def require_own_merge(desk: Desk, release_id: str, problem: ProtectionProblem) -> None:
    """Raises ReleaseBlocked where the second program merges the cells of the related releases in another way
    than the problem has them.
    """
    if not (out := out_of(desk, release_id)):
        return
    parts = [Part(each.name, each.period, each.problem, each.publication) for each in out]
    if found := differs(problem, problem.own, desk.period, parts, pipeline.period_rules(desk.domain)):
        names = ", ".join(each.name for each in parts)
        raise ReleaseBlocked(
            f"{release_id}: the second program finds {'; '.join(found)} beside {names}. Nothing was "
            f"published. Remedy: run the release again; if it is refused again, report a fault of the program"
        )


def _out(desk: Desk, release: ReleaseInfo) -> Out:
    try:
        problem = load_from(desk.engine, release.release_id, "assemble", ProtectionProblem)
        publication = load_from(desk.engine, release.release_id, "bases", Publication)
    except store.CorruptedError as error:
        raise InvalidInput(
            f"{desk.domain.id} {desk.period}: the inputs of {release.release_id}, which is out, cannot be "
            f"read ({error}), so nobody can say what this release would reveal together with it. Remedy: "
            "restore them from a backup; governance.retention_days keeps them in future"
        ) from error
    name = release.period if release.domain == desk.domain.id else f"{release.domain} {release.period}"
    return Out(name, release.period, problem.own, publication)


def _require_comparable(desk: Desk, release: ReleaseInfo) -> None:
    """Raises InvalidInput where an indicator of a related release has another unit, or another rule for
    periods, or where nobody said what its period is to this one.
    """
    settings = _settings(desk, release)
    theirs = {each["code"]: each for each in settings.get("indicators", ())}
    where = f"{desk.domain.id} {desk.period}: {release.domain} {release.period} is out"
    for mine in desk.domain.indicators:
        other = theirs.get(mine.code)
        if other is None:
            continue
        asked = {"unit": mine.unit, "unit_multiplier": mine.unit_multiplier}
        if wrong := [name for name, value in asked.items() if name in other and other[name] != value]:
            raise InvalidInput(
                f"{where}, and its {mine.code} has another {wrong[0]}, so that no cell of both can be "
                "compared. Remedy: give the indicator one unit in both domain files, or another code"
            )
        rule = desk.domain.linked.rule_of(mine.code)
        if release.period != desk.period and rule is None:
            raise InvalidInput(
                f"{where}, and the domain file does not say what a period is to those within it. Remedy: "
                "linked: {periods: sum} for flows, mean for stocks, none where neither is true"
            )
        said = _rule(settings, mine.code)
        if rule is not None and said is not None and said != rule.value:
            raise InvalidInput(
                f"{where}, and says that a period of {mine.code} is the {said} of those within it; this "
                f"domain file says {rule.value}. Remedy: say the same in both"
            )


def _settings(desk: Desk, release: ReleaseInfo) -> Mapping[str, Any]:
    found = reader.settings_out(desk.engine, release.domain, release.period, "")
    return next((settings for version, settings in found if version == release.version), {})


def _rule(settings: Mapping[str, Any], indicator: str) -> str | None:
    said = settings.get("linked", {}).get("periods")
    return said.get(indicator) if isinstance(said, dict) else said
