"""The requirements of a release: how much uncertainty each primary must keep, against each profile (METHOD
§2).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import KW_ONLY, dataclass, field
from functools import cached_property

import numpy as np

from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.profiles import EXTERNAL, KEEPERS, Adversary, named
from sdc_tasks.model.results import Multipliers
from sdc_tasks.model.secret import Secret
from sdc_tasks.model.table import Bools, Floats, Ints
from sdc_tasks.model.tolerances import FEASIBILITY, SAME


@dataclass(frozen=True)
class Requirements:
    """What each primary needs against each profile, as distances ≥ 0 in the unit of the
    data; all arrays of shape (rows,).

    A row is a primary (flat index) against `adversaries[profile]`: first the `profiles`, each with all that
    it knows, then the `weaker` ones, each for some primaries. Rows ascend by profile, cell and `insider`.
    `down`, `up`, `slide`: levels cut at the external bounds and at what the national tables alone protect.
    `cut`: whether the national tables cut the row; no treatment of the aggregates can repair this
    under-protection, and its NSI is told. `insider`: −1, or the one attacker of the row: if attackers act
    alone and the national tables protect less against him than promised, he has a row of his own. `why`
    proves the cuts; `whole` (cuts, 5): the cuts by integer knowledge (`Evidence.whole_cut`). `linked`:
    related releases are out, so that most rows of the public repeat those of attackers who kept them.
    """

    primaries: Ints = field(repr=False)
    down: Floats = field(repr=False)
    up: Floats = field(repr=False)
    slide: Floats = field(repr=False)
    cut: Bools = field(repr=False)
    profile: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64), repr=False)
    insider: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64), repr=False)
    _: KW_ONLY
    profiles: tuple[str, ...]
    weaker: tuple[Adversary, ...] = field(default=(), repr=False)
    linked: bool = field(default=False, repr=False)
    why: Multipliers = field(default_factory=Multipliers, repr=False)
    whole: Ints = field(default_factory=lambda: np.zeros((0, 5), dtype=np.int64), repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "profiles", named(self.profiles))
        n = len(self.primaries)
        if not len(self.profile):
            object.__setattr__(self, "profile", np.zeros(n, dtype=np.int64))
        if not len(self.insider):
            object.__setattr__(self, "insider", np.full(n, -1, dtype=np.int64))

    def digest(self, salt: Secret) -> str:
        """Digest of the requirements, keyed by the salt of the problem: with it an audit
        names the requirements that it used.
        """
        # the digest of stored requirements has the column of insiders under its first name
        names = {name: name for name in ("primaries", "down", "up", "slide", "cut", "profile")}
        names["knower"] = "insider"
        arrays = (
            stored.encode() + np.ascontiguousarray(getattr(self, name)).tobytes()
            for stored, name in names.items()
        )
        weaker = [f"{each.profile}{each.lacks}" for each in self.weaker]
        return salt.derive("requirements").digest("|".join([*self.profiles, *weaker]).encode(), *arrays)

    @cached_property
    def adversaries(self) -> tuple[Adversary, ...]:
        """The adversaries by their number in `profile`."""
        return (*(Adversary(name) for name in self.profiles), *self.weaker)

    @cached_property
    def of_profile(self) -> Ints:
        """(adversaries,): the number of the profile of each."""
        return np.array([self.profiles.index(each.profile) for each in self.adversaries], dtype=np.int64)

    @property
    def worlds(self) -> list[tuple[Adversary, list[int]]]:
        """The polyhedra that an attack needs, each with the numbers of those who face it. Whoever lacks
        rows of earlier releases has one of his own; what a respondent knows is opened and closed
        requirement by requirement (`Insiders`).
        """
        found: dict[Adversary, list[int]] = {}
        for number, each in enumerate(self.adversaries):
            found.setdefault(each if each.profile in KEEPERS else Adversary(each.profile), []).append(number)
        return list(found.items())

    @property
    def asked_weaker(self) -> list[tuple[int, Adversary, Ints]]:
        """(number, weaker adversary, primaries for which he is judged)."""
        first = len(self.profiles)
        return [
            (first + i, who, self.primaries[self.profile == first + i]) for i, who in enumerate(self.weaker)
        ]

    @cached_property
    def implied_by(self) -> Ints:
        """(rows,): the row against an adversary who has more and is owed no less, or −1. Nobody needs to
        attack an implied row. Of several, the one against the adversary who has most.
        """
        found, of_cell = np.full(len(self.primaries), -1), dict[tuple[str, int], list[int]]()
        for row in np.flatnonzero(self.insider < 0).tolist():
            of_cell.setdefault((self._family_of(row), int(self.primaries[row])), []).append(row)
        levels = np.column_stack([self.down, self.up, self.slide])
        for rows in of_cell.values():
            known = [self.adversaries[self.profile[row]] for row in rows]
            for row, mine in zip(rows, known, strict=True) if len(rows) > 1 else ():
                stronger = [other for other, each in zip(rows, known, strict=True) if each.has_more(mine)]
                no_less = (levels[stronger] >= levels[row] * (1 - FEASIBILITY)).all(axis=1)
                found[row] = next((stronger[i] for i in np.flatnonzero(no_less).tolist()), -1)
        return found

    @property
    def implied(self) -> Bools:
        """(rows,): whether another row implies a row."""
        return np.asarray(self.implied_by >= 0)

    def _family_of(self, row: int) -> str:
        """Rows of one family are compared: those of a profile, and, beside related releases, those of the
        public and of whoever kept these.
        """
        name = self.adversaries[self.profile[row]].profile
        return EXTERNAL if self.linked and name in KEEPERS else name

    def lacked(self, rows: Ints) -> dict[int, tuple[int, ...]]:
        """Of these rows (by their position) those against a weaker adversary, with the pieces
        that he lacks.
        """
        numbers = enumerate(self.profile[rows].tolist())
        return {i: self.adversaries[number].lacks for i, number in numbers if number >= len(self.profiles)}

    @cached_property
    def cells(self) -> Ints:
        """The primaries, each once, ascending."""
        return np.unique(self.primaries)

    def keeps(self, promise: Requirements) -> bool:
        """Is every requirement equal to the promise, except in rows that are marked as cut to the national
        baseline?
        """
        general = self.rows((self.insider < 0) & (self.profile < len(self.profiles)))
        if self.profiles != promise.profiles or not all(
            np.array_equal(getattr(general, name), getattr(promise, name))
            for name in ("primaries", "profile")
        ):
            return False
        whole = all(
            np.array_equal(getattr(general, s)[~general.cut], getattr(promise, s)[~general.cut])
            for s in ("down", "up", "slide")
        )
        at = np.searchsorted(self.cells, self.primaries)  # every profile promises the same
        as_promised = np.all(
            [getattr(self, s) == getattr(promise, s)[: len(self.cells)][at] for s in ("down", "up", "slide")],
            axis=0,
        )
        more = self.profile >= len(self.profiles)
        least = np.minimum(np.minimum(self.down, self.up), self.slide)
        return (
            whole
            and bool((least >= 0).all())
            and bool(self.cut[self.insider >= 0].all())
            and bool((self.cut | as_promised)[more].all())
        )

    def unprotected(self, before: Collection[str]) -> tuple[Ints, Ints]:
        """The primaries that their own national tables do not fully protect; and those that lose protection
        by what is out already: to the profiles `before`, who kept it. No treatment of the aggregates can
        repair either of them: each is reported to its NSI.
        """
        kept = np.array([each.profile in before for each in self.adversaries], dtype=bool)[self.profile]
        own = np.unique(self.primaries[self.cut & ~kept])
        return own, np.setdiff1d(self.primaries[self.cut & kept], own)

    def rows(self, chosen: Bools | Ints) -> Requirements:
        """Some of the rows."""
        parts = {
            name: getattr(self, name)[chosen]
            for name in ("primaries", "down", "up", "slide", "cut", "profile", "insider")
        }
        return Requirements(**parts, profiles=self.profiles, weaker=self.weaker, linked=self.linked)

    def cut_to(self, reached: Iterable[tuple[int, str, int, float]]) -> Requirements:
        """The requirements, cut to the levels that are reached: (row, name of the side,
        attacker or −1 for all, level).

        A cut against one attacker becomes a row of its own.
        """
        level = {name: getattr(self, name).copy() for name in ("down", "up", "slide")}
        cut, special = self.cut.copy(), dict[tuple[int, int], dict[str, float]]()
        for row, name, insider, most in reached:
            if insider < 0:
                level[name][row], cut[row] = min(level[name][row], most), True
            else:
                known = special.setdefault((row, insider), {})
                known[name] = min(known.get(name, np.inf), most)
        pairs = sorted(special)
        at = np.array([row for row, _ in pairs], dtype=np.int64)
        more = {
            name: np.minimum(each[at], [special[pair].get(name, np.inf) for pair in pairs])
            for name, each in level.items()
        }
        whole = Requirements(
            primaries=np.concatenate([self.primaries, self.primaries[at]]),
            down=np.concatenate([level["down"], more["down"]]),
            up=np.concatenate([level["up"], more["up"]]),
            slide=np.concatenate([level["slide"], more["slide"]]),
            cut=np.concatenate([cut, np.ones(len(at), dtype=bool)]),
            profile=np.concatenate([self.profile, self.profile[at]]),
            insider=np.concatenate(
                [self.insider, np.array([insider for _, insider in pairs], dtype=np.int64)]
            ),
            profiles=self.profiles,
            weaker=self.weaker,
            linked=self.linked,
        )
        return whole.rows(np.lexsort((whole.insider, whole.primaries, whole.profile)))

    @cached_property
    def strongest(self) -> Requirements:
        """One row for each primary, with the largest requirement of all profiles: for a method that
        knows only the external attacker.
        """
        cells, at = np.unique(self.primaries, return_inverse=True)
        down, up, slide, cut = (
            np.zeros(len(cells)),
            np.zeros(len(cells)),
            np.zeros(len(cells)),
            np.zeros(len(cells), dtype=bool),
        )
        for target, each in ((down, self.down), (up, self.up), (slide, self.slide)):
            np.maximum.at(target, at, each)
        cut[at[self.cut]] = True
        return Requirements(cells, down, up, slide, cut, profiles=(EXTERNAL,))


def promised(problem: ProtectionProblem, profiles: tuple[str, ...]) -> Requirements:
    """The promised protection levels, cut at the external bounds (METHOD §2), against each profile. For
    integral cells, levels are rounded up and bounds down to whole numbers. Raises ValueError if no
    profile is named, or an unknown one.
    """
    p = np.flatnonzero(problem.primary)
    integral = problem.integral[p]
    below, above = (
        _down(integral, problem.a[p] - problem.lb[p]),
        _down(integral, problem.ub[p] - problem.a[p]),
    )
    lpl, upl, spl = (_up(integral, level[p]) for level in (problem.lpl, problem.upl, problem.spl))
    down, up, slide = np.minimum(lpl, below), np.minimum(upl, above), np.minimum(spl, below + above)
    at, profile = np.tile(np.arange(len(p)), len(profiles)), np.repeat(np.arange(len(profiles)), len(p))
    nothing = np.zeros(len(at), dtype=bool)
    linked = bool(problem.earlier.related.any())
    return Requirements(
        p[at], down[at], up[at], slide[at], nothing, profile, profiles=profiles, linked=linked
    )


def _up(integral: Bools, level: Floats) -> Floats:
    """Levels; those of integral cells are rounded up to the next whole number, apart from numerical noise."""
    return np.where(integral, np.ceil(level - SAME), level)


def _down(integral: Bools, room: Floats) -> Floats:
    return np.where(integral, np.floor(room + SAME), room)
