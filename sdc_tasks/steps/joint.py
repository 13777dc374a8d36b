"""The problem of a release together with the related releases that are out (methods/linked)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sdc_tasks import pipeline
from sdc_tasks.errors import InvalidInput, ReleaseBlocked
from sdc_tasks.judge.release import Part, differs
from sdc_tasks.methods.linked import Differing, Out, Told, differing
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.results import Publication
from sdc_tasks.model.time.periods import PeriodRule
from sdc_tasks.steps.desk import Desk
from sdc_tasks.steps.linked import of_release
from sdc_tasks.steps.memory import load_from
from sdc_tasks.steps.versions import readable
from sdc_tasks.warehouse import reader
from sdc_tasks.warehouse.confidential import store
from sdc_tasks.warehouse.reader import ReleaseInfo


def beside_what_is_out(
    desk: Desk, release_id: str, problem: ProtectionProblem, before: Sequence[Told], notes: list[str]
) -> ProtectionProblem:
    """The problem together with every related release that is out. `before`: its own earlier versions;
    `notes` gets what people must know who agree to the release. Raises InvalidInput where one of them can no
    longer be read, has other units or values, or nobody said what its period is to this one.
    """
    releases = of_release(desk, release_id)
    if not releases:
        return problem
    rules = common_rules(desk, releases)
    require_alike(desk, _last(releases))
    for note in silent_on_periods(desk, releases):
        notes.append(note)
        desk.say(note)
    out = out_of(desk, release_id)
    desk.say(f"attacked together with {', '.join(each.name for each in out)}")
    return pipeline.joint(problem, desk.period, out, desk.domain, rules, desk.say, before)


def out_of(desk: Desk, release_id: str) -> list[Out]:
    """The last version of each related release with which a release was opened."""
    return [_out(desk, each) for each in _last(of_release(desk, release_id))]


def _last(releases: Sequence[ReleaseInfo]) -> list[ReleaseInfo]:
    """The last version of each."""
    return list({(each.domain, each.period): each for each in releases}.values())


def differing_from(desk: Desk, release_id: str, problem: ProtectionProblem) -> Differing:
    """Which cells of a joint problem have other values than the tables beside it say."""
    releases = of_release(desk, release_id)
    periods, rules = [desk.period, *(each.period for each in _last(releases))], common_rules(desk, releases)
    return differing(problem.space, problem.a, periods, rules, desk.domain.checks.allowed)


def require_own_merge(desk: Desk, release_id: str, problem: ProtectionProblem) -> None:
    """Raises ReleaseBlocked where the second program merges the cells of the related releases in another way
    than the problem has them.
    """
    if not (out := out_of(desk, release_id)):
        return
    parts = [Part(each.name, each.period, each.problem, each.publication, each.before) for each in out]
    if found := differs(
        problem,
        problem.own,
        desk.period,
        parts,
        common_rules(desk, of_release(desk, release_id)),
        desk.domain.checks.allows,
        readable(desk, release_id, problem.own),
    ):
        names = ", ".join(each.name for each in parts)
        raise ReleaseBlocked(
            f"{release_id}: the second program finds {'; '.join(found)} beside {names}. Nothing was "
            f"published. Remedy: run the release again; if it is refused again, report a fault of the program"
        )


def _out(desk: Desk, release: ReleaseInfo) -> Out:
    try:
        problem, publication = _told(desk, release.release_id)
        before = [_told(desk, each) for each in reader.made_after(desk.engine, release.release_id)]
    except store.CorruptedError as error:
        raise InvalidInput(
            f"{desk.domain.id} {desk.period}: the inputs of {release.release_id}, which is out, cannot be "
            f"read ({error}), so nobody can say what this release would reveal together with it. Remedy: "
            "restore them from a backup; governance.retention_days keeps them in future"
        ) from error
    name = release.period if release.domain == desk.domain.id else f"{release.domain} {release.period}"
    return Out(name, release.period, problem, publication, before)


def _told(desk: Desk, release_id: str) -> Told:
    problem = load_from(desk.engine, release_id, "assemble", ProtectionProblem)
    return problem.own, load_from(desk.engine, release_id, "bases", Publication)


def common_rules(desk: Desk, releases: Sequence[ReleaseInfo]) -> dict[str, PeriodRule]:
    """`agreed_rules` with the releases that are out, as each version of them was released."""
    return agreed_rules(desk, [(each.domain, each.period, _settings(desk, each)) for each in releases])


def agreed_rules(desk: Desk, others: Sequence[tuple[str, str, Mapping[str, Any]]]) -> dict[str, PeriodRule]:
    """Of every indicator of all tables, what a period is to those within it. `others`: domain, period and
    settings of the tables beside that of the desk.

    Raises InvalidInput where two tables say otherwise or have other units, where nobody said it, and for what
    is not offered beside others.
    """
    said, periods = dict[str, _Said](), dict[str, set[str]]()
    mine = (desk.domain.id, desk.period, desk.domain.settings)
    for domain, period, settings in (mine, *others):
        where = f"{desk.domain.id} {desk.period}: {domain} {period}"
        if aware := _aware(settings):
            raise InvalidInput(
                f"{where} has {aware}, and what that tells beside linked releases is not known. Remedy: "
                "leave it out; a table that is out with it stays alone, or is unrelated for a reason"
            )
        for each in settings.get("indicators", ()):
            code = each["code"]
            periods.setdefault(code, set()).add(period)
            told = _Said(
                f"{domain} {period}", each.get("unit"), each.get("unit_multiplier"), _rule(settings, code)
            )
            said[code] = _agreed(said.get(code, told), told, code, where)
    for code, agreed in sorted(said.items()):
        if agreed.rule is None and len(periods[code]) > 1:
            raise InvalidInput(
                f"{desk.domain.id} {desk.period}: {code} is out of {', '.join(sorted(periods[code]))}, and "
                "no domain file says what a period is to those within it. Remedy: linked: {periods: "
                "sum} for flows, mean for stocks, none where neither is true"
            )
    return {code: PeriodRule(agreed.rule or PeriodRule.NONE) for code, agreed in said.items()}


@dataclass(frozen=True)
class _Said:
    """What the domain file of a table says of an indicator, and of its periods (`rule`); None for nothing."""

    table: str
    unit: object
    unit_multiplier: object
    rule: str | None


def _agreed(before: _Said, told: _Said, code: str, where: str) -> _Said:
    """What two tables say of an indicator. Raises InvalidInput where they contradict each other."""
    for name in ("unit", "unit_multiplier"):
        one, other = getattr(before, name), getattr(told, name)
        if one is not None and other is not None and one != other:
            raise InvalidInput(
                f"{where} is linked with {before.table}, and its {code} has another {name}, so that no "
                "cell of both can be compared. Remedy: give the indicator one unit in both domain "
                "files, or another code"
            )
    if told.rule is None:
        return before
    if before.rule is None:
        return replace(before, table=told.table, rule=told.rule)
    if told.rule != before.rule:
        raise InvalidInput(
            f"{where} says that a period of {code} is the {told.rule} of those within it; "
            f"{before.table} says {before.rule}. Remedy: say the same in both"
        )
    return before


def require_alike(desk: Desk, releases: Sequence[ReleaseInfo]) -> None:
    """Raises InvalidInput where two tables of one period say otherwise of an indicator whether it may be
    negative, or one that it is whole where the other has decimals: a cell of both has one set of values.
    """
    first: dict[tuple[str, str], tuple[str, Mapping[str, Any]]] = {}
    for domain, period, settings in _tables(desk, releases):
        for each in settings.get("indicators", ()):
            other, before = first.setdefault((period, each["code"]), (domain, each))
            if told := _unlike(before, each):
                raise InvalidInput(
                    f"{desk.domain.id} {desk.period}: {domain} and {other} are linked, and {each['code']} "
                    f"{told}, so that nobody can say what a cell of both can be. Remedy: say it alike in "
                    "both domain files"
                )


def _unlike(one: Mapping[str, Any], other: Mapping[str, Any]) -> str:
    """In what two tables describe the values of an indicator otherwise."""
    if bool(one.get("signed")) != bool(other.get("signed")):
        return "may be negative in one of them alone (signed)"
    wholes = [bool(each.get("integer")) or each.get("kind") == "count" for each in (one, other)]
    if wholes[0] != wholes[1] and (one.get("decimals") or other.get("decimals")):
        return "is whole in one of them, and has decimals in the other one (integer, decimals)"
    return ""


def silent_on_periods(desk: Desk, releases: Sequence[ReleaseInfo]) -> list[str]:
    """What to say of each domain file that leaves out what a period of an indicator is to those within it,
    and whose releases are attacked by what a linked one says.
    """
    found, tables = list[str](), _tables(desk, releases)
    for code in dict.fromkeys(each["code"] for *_, told in tables for each in told.get("indicators", ())):
        of = [each for each in tables if code in {one["code"] for one in each[2].get("indicators", ())}]
        said = {domain: rule for domain, _, settings in of if (rule := _rule(settings, code))}
        if said and len({period for _, period, _ in of}) > 1:
            other = min(said)
            found += [
                f"{silent} does not say under linked: periods what a period of {code} is to those within it; "
                f"{other} says {said[other]}, and that counts. Remedy: say the same in both domain files"
                for silent in sorted({domain for domain, *_ in of} - said.keys())
            ]
    return found


def _tables(desk: Desk, releases: Sequence[ReleaseInfo]) -> list[tuple[str, str, Mapping[str, Any]]]:
    """Domain, period and settings of the release, and of those that are out, as they were released."""
    out = [(each.domain, each.period, _settings(desk, each)) for each in releases]
    return [(desk.domain.id, desk.period, desk.domain.settings), *out]


def _aware(settings: Mapping[str, Any]) -> str:
    """What of the settings withstands somebody who has the program; empty for nothing."""
    if settings.get("bases", {}).get("rule_aware"):
        return "bases.rule_aware"
    found = (e["code"] for e in settings.get("indicators", ()) if (e.get("rounding") or {}).get("rule_aware"))
    return next((f"rounding.rule_aware of {code}" for code in found), "")


def _settings(desk: Desk, release: ReleaseInfo) -> Mapping[str, Any]:
    found = reader.settings_out(desk.engine, release.domain, release.period, "")
    return next((settings for version, settings in found if version == release.version), {})


def _rule(settings: Mapping[str, Any], indicator: str) -> str | None:
    said = settings.get("linked", {}).get("periods")
    return said.get(indicator) if isinstance(said, dict) else said
