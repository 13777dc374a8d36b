"""<SAFETYRULE> as our rules for contributions, and what of it is not ours."""

from __future__ import annotations

from dataclasses import dataclass

from sdc_tasks.argus.batch import Command
from sdc_tasks.argus.places import number_in
from sdc_tasks.methods.contributions import ContributionRules

MANUAL = 20.0  # percent: the margin of a cell whose status was given, where nothing says another one


@dataclass(frozen=True)
class Safety:
    """`rules` is None where the statuses of the file count. `manual`: the level of a given status, in
    percent. `holdings`: rules for holdings alone; `weighted`: sampling weights count.
    """

    rules: ContributionRules | None = None
    manual: float = MANUAL
    holdings: bool = False
    weighted: bool = False


def safety_of(command: Command) -> Safety:
    """The rules of a command. A rule whose first number is 0 is none; the third and fourth p% and (n,k) rule,
    and the second rule of frequencies, are for holdings. Raises InvalidInput for a rule that is not ours: to
    leave it out would protect less.
    """
    found: dict[bool, list[tuple[str, list[float]]]] = {False: [], True: []}
    count = {"P": 0, "NK": 0, "FREQ": 0}
    manual, weighted = MANUAL, False
    once: set[str] = set()
    for name, texts in command.calls:
        numbers = [number_in(command.line, text, f"{name}: an argument") for text in texts]
        if name in once:
            raise command.refused(f"{name} twice. Remedy: keep one of them")
        once |= {name} - set(count)
        if name in count:
            if not (2 <= len(numbers) <= (3 if name == "P" else 2) or (name == "P" and len(numbers) == 1)):
                raise command.refused(
                    f"{name} takes {'one, two or three' if name == 'P' else 'two'} numbers. Remedy: give them"
                )
            holding = count[name] >= (1 if name == "FREQ" else 2)
            count[name] += 1
            if numbers[0] > 0 and name != "P" and numbers[1] <= 0:
                remedy = "give a second number above 0, or zeros for no rule"
                raise command.refused(
                    f"{name} with a second number of 0: left out, less would be protected. Remedy: {remedy}"
                )
            if numbers[0] > 0:
                found[holding].append((name, numbers))
        elif name == "MAN" and len(numbers) == 1:
            manual = numbers[0]
        elif name == "WGT" and numbers in ([0.0], [1.0]):
            weighted = numbers == [1.0]
        elif name == "MIS" and numbers == [0.0]:
            pass  # cells with a missing code are judged as all others
        else:
            raise command.refused(
                f"the rule {name} is not ours, and without it less is protected. Remedy: mark its cells in "
                f"an apriori file"
            )
    if found[False] and found[True]:
        raise command.refused(
            "rules for contributors beside rules for holdings. Remedy: keep one kind; a holding counts as "
            "one contributor"
        )
    chosen = found[True] or found[False]
    return Safety(_rules(command, chosen), manual, bool(found[True]), weighted)


def _rules(command: Command, chosen: list[tuple[str, list[float]]]) -> ContributionRules | None:
    if not chosen:
        return None
    percent = [numbers for name, numbers in chosen if name == "P"]
    if len(percent) > 1:
        raise command.refused("two p% rules. Remedy: keep the stricter one")
    minimum = [numbers for name, numbers in chosen if name == "FREQ"]
    p, q, intruders = None, 100.0, 1
    if percent:
        p, *others = percent[0]
        if len(others) == 2:
            q = others[0]
        intruders = _whole(command, "P", others[-1]) if others else 1
    return ContributionRules(
        p=p,
        q=q,
        nk=tuple((_whole(command, "NK", numbers[0]), numbers[1]) for name, numbers in chosen if name == "NK"),
        minimum=_whole(command, "FREQ", minimum[0][0]) if minimum else None,
        range=minimum[0][1] if minimum else 10.0,
        intruders=max(intruders, 1),
    )


def _whole(command: Command, name: str, number: float) -> int:
    """A number of contributors. Cut to a whole one, 2.7 would ask for less than it says."""
    if number != int(number):
        raise command.refused(f"{name}({number:g}): a number of contributors is whole. Remedy: correct it")
    return int(number)
