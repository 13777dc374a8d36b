"""What was asked of the members of a profile, each with a part of what it knows, and who is to be
asked next.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache

from sdc_tasks.methods.attack.requirements import Requirements, promised
from sdc_tasks.methods.attack.weaker.pieces import pieces_of
from sdc_tasks.methods.attack.weaker.support import Levels, Remaining, Unpublished
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.profiles import EXTERNAL, KEEPERS, Adversary
from sdc_tasks.model.tolerances import FEASIBILITY

MOST_WEAKER = 40  # adversaries of one profile for one primary

Question = tuple[Adversary, int]  # a weaker adversary, and a primary
Lacks = frozenset[int]


@dataclass
class Family:
    """What is known of r(K, p) so far, by profile, primary and the pieces that K lacks."""

    problem: ProtectionProblem
    profiles: tuple[str, ...]
    levels: dict[tuple[str, int], dict[Lacks, Levels]] = field(default_factory=dict)
    _promise: dict[int, Levels] = field(default_factory=dict)
    _pieces: dict[str, dict[int, Lacks]] = field(default_factory=dict)
    _worlds: dict[str, Unpublished] = field(default_factory=dict)

    def __post_init__(self) -> None:
        promise = promised(self.problem, (EXTERNAL,))
        cells = promise.primaries
        self._promise = dict(zip(cells.tolist(), _levels(promise), strict=True))
        for profile in self.profiles:
            self._pieces[profile] = dict(
                zip(cells.tolist(), pieces_of(self.problem, profile, cells), strict=True)
            )

    def learn(self, needs: Requirements) -> None:
        """Takes over the requirements against all attackers of an adversary together."""
        for number, cell, insider, levels in zip(
            needs.profile.tolist(),
            needs.primaries.tolist(),
            needs.insider.tolist(),
            _levels(needs),
            strict=True,
        ):
            if insider < 0:
                who = needs.adversaries[number]
                self.levels.setdefault((who.profile, cell), {})[frozenset(who.lacks)] = levels

    def questions(self, lowered: Sequence[tuple[str, int]]) -> list[Question]:
        """What is to be asked next for these primaries, whose requirement against the strongest of a profile
        is cut.
        """
        asked = (
            (Adversary(profile, tuple(sorted(lacks))), cell)
            for profile, cell in lowered
            for lacks in self.missing(profile, cell, frozenset())
        )
        return list(dict.fromkeys(asked))

    def pieces(self, profile: str, cell: int) -> Lacks:
        return self._pieces[profile][cell]

    def is_cut(self, cell: int, levels: Levels) -> bool:
        return any(
            got < asked - FEASIBILITY * asked for got, asked in zip(levels, self._promise[cell], strict=True)
        )

    def covers(self, profile: str, cell: int) -> bool:
        """Is everybody judged who has all that the profile knows, or a part of it?"""
        mine, pieces = self._judged(profile, cell), self.pieces(profile, cell)

        @cache
        def all_below(lacks: Lacks) -> bool:
            if lacks not in mine:
                return False
            if not self.is_cut(cell, mine[lacks]) or lacks == pieces:
                return True
            return any(
                all(all_below(lacks | {w}) for w in pieces - rest)
                for rest in self._as_low(profile, cell, lacks)
            )

        return all_below(frozenset())

    def missing(self, profile: str, cell: int, lacks: Lacks) -> list[Lacks]:
        """What is to be asked next, so that everybody is judged who lacks these pieces, or more."""
        mine, pieces = self._judged(profile, cell), self.pieces(profile, cell)
        if lacks not in mine:
            return _not_asked((lacks,), mine)
        if not self.is_cut(cell, mine[lacks]) or lacks == pieces:
            return []
        rest = self._as_low(profile, cell, lacks)[0]
        if rest == lacks:
            guess = pieces - self.left(Adversary(profile, tuple(sorted(lacks))), cell).used
            if guess > lacks and guess not in mine:
                below = [lacks | {w} for w in sorted(pieces - guess)]
                return _not_asked((guess, *below), mine)
        return [each for w in sorted(pieces - rest) for each in self.missing(profile, cell, lacks | {w})]

    def _judged(self, profile: str, cell: int) -> dict[Lacks, Levels]:
        """The requirements of a primary against adversaries of a profile, by the pieces that they lack.
        Who kept nothing is the public.
        """
        mine, pieces = dict(self.levels.get((profile, cell), {})), self.pieces(profile, cell)
        if (
            profile in KEEPERS
            and len(pieces) == len(self.problem.earlier.pieces)
            and (public := self.levels.get((EXTERNAL, cell)))
        ):
            mine.setdefault(pieces, public[frozenset()])
        return mine

    def _as_low(self, profile: str, cell: int, lacks: Lacks) -> list[Lacks]:
        """What those lack who have no piece besides those of K, and no larger requirement; those with the
        fewest pieces first. To whoever has none of the pieces that matter, the same is owed as to the public.
        """
        mine = self._judged(profile, cell)
        each_side = zip(mine[lacks], self._promise[cell], strict=True)
        most = [got + FEASIBILITY * asked for got, asked in each_side]
        if public := self.levels.get((EXTERNAL, cell)):
            mine.setdefault(self.pieces(profile, cell), public[frozenset()])
        low = [
            each
            for each, levels in mine.items()
            if each >= lacks and all(got <= top for got, top in zip(levels, most, strict=True))
        ]
        return sorted(low, key=lambda each: (-len(each), sorted(each)))

    def left(self, who: Adversary, cell: int, row: int = 0) -> Remaining:
        """What an adversary leaves of a primary with nothing new published."""
        if who.profile not in self._worlds:
            self._worlds[who.profile] = Unpublished.of(self.problem, who.profile)
        return self._worlds[who.profile].left(
            cell, who.lacks, self._promise[cell], row, self._least(who, cell)
        )

    def _least(self, who: Adversary, cell: int) -> Levels:
        """What he leaves at least: as much as anybody who has more. Respondents are asked for all the same:
        the proofs of releases that are out came from these programs, one after the other.
        """
        mine = self.levels.get((who.profile, cell), {}) if who.profile in KEEPERS else {}
        more = [levels for lacks, levels in mine.items() if lacks < frozenset(who.lacks)]
        down, up, slide = (max((each[side] for each in more), default=0.0) for side in range(3))
        return down, up, slide


def _levels(needs: Requirements) -> Iterable[Levels]:
    return zip(needs.down.tolist(), needs.up.tolist(), needs.slide.tolist(), strict=True)


def _not_asked(wanted: Iterable[Lacks], judged: Collection[Lacks]) -> list[Lacks]:
    """Those that nobody asked yet; none where enough was asked."""
    return [each for each in wanted if each not in judged] if len(judged) < MOST_WEAKER else []
