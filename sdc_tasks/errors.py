"""Errors sorted by what the reader does next.

Messages name files, lines, cell keys, rules and remedies; never a confidential value.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches

NAMED_CELLS = 5  # cells that a message names, at most


def and_more(number: int) -> str:
    """How a message goes on that names one thing of several, and `number` are left: nothing where none is."""
    return f" and {number} more" if number else ""


def some_of(names: Sequence[str], most: int = NAMED_CELLS) -> str:
    """The first of these names, and how many more there are."""
    return ", ".join(names[:most]) + and_more(max(0, len(names) - most))


class SdcError(Exception):
    """Base of every error this project raises on purpose. `exit_code` is what `sdc` returns to the shell."""

    exit_code = 1


class Retriable(SdcError):
    """Try again later, nothing is wrong with the input: a country is awaited, a server is away."""

    exit_code = 4


class CountryAwaited(Retriable):
    """A country has no accepted delivery yet, and the domain file waits for it."""


class Superseded(Retriable):
    """Deliveries came that the release was not made of, accepted or second files of
    countries; nothing was published.
    """


class Damaged(SdcError):
    """What is stored is not what was stored, and no second try helps: somebody restores a backup."""


class InvalidInput(SdcError):
    """The delivery or the domain file must be corrected by whoever wrote it."""

    exit_code = 2


class NotTogether(InvalidInput):
    """Tables that cannot be decided together, although each of them can be released."""


class CountryMissing(InvalidInput):
    """A country has no accepted delivery, and the domain file makes no release without it:
    the release waits for its file.
    """


class Unprotectable(SdcError):
    """No table or base can meet the protection asked for; a methodologist must change the domain file."""

    exit_code = 3


class SolverRefused(SdcError):
    """A solver did not take the model or the option that it was given, so that no answer of it counts."""


class ReleaseBlocked(SdcError):
    """The audit of exactly this publication did not pass; nothing was published."""

    exit_code = 3


def did_you_mean(wrong: str, known: Iterable[str]) -> str:
    """A question, with a blank before it, for the known name that is nearest to a wrong one, whatever its
    letters' case; empty where none is near.
    """
    names = list(known)
    near = get_close_matches(wrong.lower(), [name.lower() for name in names], 1)
    return f" Did you mean {next(name for name in names if name.lower() == near[0])}?" if near else ""
