"""What HiGHS answers is read: where others raise, its API returns a status and goes on with what it has."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sdc_tasks.errors import SolverRefused


def asked(do: Callable[..., Any], *arguments: object) -> None:
    """Calls a function of HiGHS that changes a model, an option or a basis.

    Raises SolverRefused, with its name and that of the option, where HiGHS does not take all of it: it would
    solve another model than the one that was meant. A warning is an entry that it leaves out because it is
    small.
    """
    if (answer := do(*arguments)).name != "kOk":
        option = f" {arguments[0]}" if arguments and isinstance(arguments[0], str) else ""
        raise SolverRefused(
            f"HiGHS does not take what it is given ({do.__name__}{option}: {answer.name}). Remedy: values of "
            "more than 15 digits, or beside others 1e9 times as large, are a usual cause: "
            "give them in a larger unit"
        )
