"""The screen of all our programs. This module imports rich alone: a program can use it
before it imports anything heavy.
"""

from __future__ import annotations

from typing import Any

from rich.console import Console, RenderableType
from rich.status import Status
from rich.table import Table
from rich.text import Text


class Terminal(Console):
    """Shows text that others wrote as text: no markup, no emoji code and no control character (shown
    as `\\x1b`) changes the screen.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(highlight=False, soft_wrap=True, markup=False, emoji=False, **options)

    def render_str(self, text: str, **options: Any) -> Text:
        return super().render_str(
            "".join(each if each.isprintable() or each in "\n\t" else ascii(each)[1:-1] for each in text),
            **options,
        )

    def print(self, *shown: Any, **options: Any) -> None:
        """Prints. Where the window is narrow, a name in a table goes on in the next line: nothing is cut."""
        for each in shown:
            for column in each.columns if isinstance(each, Table) else ():
                column.overflow = "fold"
        super().print(*shown, **options)

    def tell(self, *parts: str | tuple[str, str]) -> None:
        """Prints a line. A part of it is a text, or a text and its style."""
        pairs = ((part, "") if isinstance(part, str) else part for part in parts)
        self.print(Text.assemble(*(self.render_str(text, style=style) for text, style in pairs)))

    def status(self, status: RenderableType, **options: Any) -> Status:
        return _Line(status, console=self, **options)


class _Line(Status):
    """A status line whose text is not markup. Rich itself reads it as markup, whatever the
    console is set to.
    """

    def __init__(self, status: RenderableType, *, console: Terminal, **options: Any) -> None:
        super().__init__(_text(console, status), console=console, **options)

    def update(self, status: RenderableType | None = None, **options: Any) -> None:
        super().update(None if status is None else _text(self.console, status), **options)


def _text(console: Console, shown: RenderableType) -> RenderableType:
    return console.render_str(shown) if isinstance(shown, str) else shown


out = Terminal()
