"""<SAFETYRULE> as our rules for contributions, and what of it is not ours."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sdc_tasks.argus.batch import Command
from sdc_tasks.argus.places import number_in
from sdc_tasks.errors import InvalidInput
from sdc_tasks.methods.contributions import ContributionRules

MANUAL = 20.0  # percent: the margin of a cell whose status was given, where nothing says another one
# Cells with a missing code are judged as all others; τ-ARGUS has a rule that they are safe.
MISSING_AS_ALL, MISSING_SAFE = [0.0], [1.0]  # of MIS
ALL_WHO_ASKED = (
    "REQ: whoever asked counts, not the largest of them alone, and a level keeps his share from being told"
)
JUDGED_ALL_THE_SAME = "MIS: cells with a missing code are judged as all others, not safe by themselves"
MOST_OF_CONTRIBUTORS = {
    "P": 2,
    "NK": 2,
    "FREQ": 1,
    "REQ": 1,
}  # rules of a kind; those behind them are for holdings
EVERYBODY_SAFE = ContributionRules(minimum=1)  # for counts that noise protects, not rules
NamedRule = tuple[str, list[float]]  # a rule of a batch, and its numbers


@dataclass(frozen=True)
class Safety:
    """`rules` is None where the statuses of the file count. `manual`: the level of a given status, in
    percent. `holdings`: rules for holdings alone; `weighted`: sampling weights count. `zero`: up to where
    nobody may exclude a value of a cell of zeros; 0: such a cell is safe. `differences`: what is done
    otherwise than τ-ARGUS does it.
    """

    rules: ContributionRules | None = None
    manual: float = MANUAL
    holdings: bool = False
    weighted: bool = False
    zero: float = 0.0
    differences: tuple[str, ...] = ()

    @property
    def of_records(self) -> str:
        """What only single records tell of, empty where nothing is asked of them."""
        if self.holdings:
            return "rules for holdings"
        if self.weighted:
            return "weights"
        return "REQ" if self.rules is not None and self.rules.requests else ""

    @property
    def of_sizes(self) -> bool:
        """Whether a rule looks at how large contributions are."""
        rules = self.rules
        return rules is not None and (rules.p is not None or bool(rules.nk or rules.requests))


def safety_of(command: Command) -> Safety:
    """The rules of a command. A rule whose first number is 0 is none; the third and fourth p% and (n,k) rule,
    and the second rule of frequencies, are for holdings. Raises InvalidInput for a rule that is not ours: to
    leave it out would protect less.
    """
    said: list[NamedRule] = []
    beside: dict[str, list[float]] = {}
    for name, numbers in _each_rule(command):
        if name in MOST_OF_CONTRIBUTORS:
            _refuse_numbers(command, name, numbers)
            said.append((name, numbers))
        else:
            _refuse_foreign(command, name, numbers)
            beside[name] = numbers
    weighted = beside.get("WGT") == [1.0]
    differences = [JUDGED_ALL_THE_SAME] if beside.get("MIS") == MISSING_SAFE else []
    of_contributors, of_holdings = _apart(command, said)
    if of_holdings and weighted:
        raise command.refused(
            "WGT(1) beside rules for holdings: a holding has no weight of its own. Remedy: leave out "
            "one of them"
        )
    rules = _rules(command, of_holdings or of_contributors)
    if rules is not None and rules.requests:
        differences.append(ALL_WHO_ASKED)
    [manual], [zero] = beside.get("MAN", [MANUAL]), beside.get("ZERO", [0.0])
    return Safety(rules, manual, bool(of_holdings), weighted, zero, tuple(differences))


def _each_rule(command: Command) -> Iterator[NamedRule]:
    """The rules of a command with their numbers. Raises InvalidInput for a kind that may stand once, and
    stands twice.
    """
    once: set[str] = set()
    for name, texts in command.calls:
        numbers = [number_in(command.line, text, f"{name}: an argument") for text in texts]
        if name in once:
            raise command.refused(f"{name} twice. Remedy: keep one of them")
        once |= {name} - set(MOST_OF_CONTRIBUTORS)
        yield name, numbers


def _refuse_foreign(command: Command, name: str, numbers: Sequence[float]) -> None:
    """Raises InvalidInput for what is neither a rule of contributors nor said beside rules here."""
    ours = {
        "MAN": len(numbers) == 1,
        "ZERO": len(numbers) == 1,
        "WGT": numbers in ([0.0], [1.0]),
        "MIS": numbers in (MISSING_AS_ALL, MISSING_SAFE),
    }
    if not ours.get(name, False):
        raise command.refused(
            f"the rule {name} is not ours, and without it less is protected. Remedy: mark its cells in an "
            f"apriori file"
        )


def _apart(command: Command, said: Sequence[NamedRule]) -> tuple[list[NamedRule], list[NamedRule]]:
    """The rules of contributors, and those of holdings, which come behind them; without those whose first
    number is 0. Raises InvalidInput where there are both.
    """
    apart: tuple[list[NamedRule], list[NamedRule]] = ([], [])
    for i, (name, numbers) in enumerate(said):
        before = sum(other == name for other, _ in said[:i])
        if numbers[0] > 0:
            apart[before >= MOST_OF_CONTRIBUTORS[name]].append((name, numbers))
    if all(apart):
        raise command.refused(
            "rules for contributors beside rules for holdings. Remedy: keep one kind; a holding counts as "
            "one contributor"
        )
    return apart


def _refuse_numbers(command: Command, name: str, numbers: Sequence[float]) -> None:
    """Raises InvalidInput where a rule has too many numbers or too few, or would ask for nothing."""
    least, most, how = {"P": (1, 3, "one, two or three"), "REQ": (4, 4, "four")}.get(name, (2, 2, "two"))
    if not least <= len(numbers) <= most:
        raise command.refused(f"{name} takes {how} numbers. Remedy: give them")
    if name == "REQ":
        _refuse_requests(command, numbers)
    elif numbers[0] > 0 and name != "P" and numbers[1] <= 0:
        remedy = "give a second number above 0, or zeros for no rule"
        raise command.refused(
            f"{name} with a second number of 0: left out, less would be protected. Remedy: {remedy}"
        )


def _refuse_requests(command: Command, numbers: Sequence[float]) -> None:
    """Raises InvalidInput for REQ(share, share, minimum, range) that would protect less than it says."""
    one, two, minimum, reach = numbers
    if not any(numbers):
        return
    if not 0 < one < 100 or not 0 <= two < 100 or reach <= 0:
        raise command.refused(
            "REQ takes a share above 0 and below 100, another one or 0, a minimum of contributors, and a "
            "range above 0. Remedy: give them, or zeros for no rule"
        )
    _whole(command, "REQ", minimum)


def _rules(command: Command, chosen: Sequence[NamedRule]) -> ContributionRules | None:
    if not chosen:
        return None
    p, q, intruders = _percent(command, _of_kind(chosen, "P"))
    whole_nk = tuple((_whole(command, "NK", n), k) for n, k in _of_kind(chosen, "NK"))
    minimum, asked = _of_kind(chosen, "FREQ"), _of_kind(chosen, "REQ")
    fewest, reach = (_whole(command, "FREQ", minimum[0][0]), minimum[0][1]) if minimum else (None, 10.0)
    one, two, request_minimum, request_range = asked[0] if asked else [0.0] * 4
    requests = tuple(share for share in (one, two) if share)
    least_asked = _whole(command, "REQ", request_minimum)
    try:
        return ContributionRules(
            p=p,
            q=q,
            nk=whole_nk,
            minimum=fewest,
            range=reach,
            intruders=intruders,
            requests=requests,
            request_minimum=least_asked,
            request_range=request_range,
        )
    except InvalidInput as error:
        raise command.refused(str(error)) from error


def _of_kind(chosen: Sequence[NamedRule], kind: str) -> list[list[float]]:
    return [numbers for name, numbers in chosen if name == kind]


def _percent(command: Command, chosen: Sequence[Sequence[float]]) -> tuple[float | None, float, int]:
    """p, q and the number of intruders of the one rule P(p), P(p,n) or P(p,q,n), if any."""
    if len(chosen) > 1:
        raise command.refused("two p% rules. Remedy: keep the stricter one")
    if not chosen:
        return None, 100.0, 1
    p, *others = chosen[0]
    q = others[0] if len(others) == 2 else 100.0
    return p, q, max(_whole(command, "P", others[-1]), 1) if others else 1


def _whole(command: Command, name: str, number: float) -> int:
    """A number of contributors. Cut to a whole one, 2.7 would ask for less than it says."""
    if number != int(number):
        raise command.refused(f"{name}({number:g}): a number of contributors is whole. Remedy: correct it")
    return int(number)
