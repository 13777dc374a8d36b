"""The screen of the commands, made where the first line is shown: `sdc --help`, which Typer prints, needs no
rich.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from sdc_tasks.cli.terminal import Terminal


class _Later:
    def __getattr__(self, name: str) -> Any:
        from sdc_tasks.cli import terminal

        return getattr(terminal.out, name)


out = cast("Terminal", _Later())
