"""How many linear programs this process has solved: whoever takes the difference knows what a piece of work
took.
"""

from __future__ import annotations

from threading import Lock

_guard = Lock()  # provers of an attack work in threads
_solved = 0


def count_lp() -> None:
    """One more linear program is solved."""
    global _solved
    with _guard:
        _solved += 1


def solved_lps() -> int:
    """The number of linear programs solved so far, a repeated solve from another start counted again."""
    return _solved
