"""Tables of a batch that share cells and were protected one by one: whoever reads both may subtract."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path

from sdc_tasks.argus.linking import as_one
from sdc_tasks.argus.outputs import Protected
from sdc_tasks.errors import InvalidInput, Unprotectable, some_of
from sdc_tasks.judge.pattern import verify

SECONDS = 600.0  # of the judge; what is not shown then counts as at risk


@dataclass(frozen=True)
class Output:
    """A table that is written: of which `source`, and protected by which `search` of the batch."""

    source: Path
    search: int
    table: Protected = field(repr=False)


def judged_together(outputs: Mapping[str, Output]) -> Iterator[str]:
    """One line for each two files of the same records, by their names, that share cells and were protected by
    different searches: their patterns protect every primary of both from those who read both; or one of them
    is no pattern, and nothing is proven.

    Raises Unprotectable where two patterns do not protect. A cell that is open in one table counts as read.
    """
    for one, other in combinations(outputs, 2):
        if outputs[one].search != outputs[other].search:
            yield from _judged({name: outputs[name].table for name in (one, other)})


def _judged(pair: Mapping[str, Protected]) -> Iterator[str]:
    names = " and ".join(pair)
    problems = {name: each.held.crossed.problem for name, each in pair.items()}
    try:
        both = as_one({name: each.held for name, each in pair.items()}, problems)
    except InvalidInput as error:
        yield f"{names} were not judged together: {error}"
        return
    if not both.shared:
        return
    told = f"{names} share {both.shared} cells and were protected one by one"
    if any(each.kind != "suppressed" for each in pair.values()):
        yield f"{told}, not all by patterns: nothing is proven against those who read both"
        return
    hidden = both.together({name: each.hidden for name, each in pair.items()})
    verdict = verify(both.problem, hidden, seconds=SECONDS)
    if at_risk := sorted({*verdict.unprotected.tolist(), *verdict.misused.tolist()}):
        cells = some_of([both.problem.name(cell) for cell in at_risk])
        raise Unprotectable(
            f"{told}: {cells} not protected from those who read both. Remedy: <SUPPRESS> with table 0, all "
            f"tables as one, or a batch for each, of which one is published"
        )
    yield f"{told}: their patterns protect every primary from those who read both, too"
