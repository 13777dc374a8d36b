"""The text of --help: options by panel, in plain text.

Typer's own help with boxes loads a renderer of Markdown and a highlighter of code, which take as long as all
the rest of `sdc --help`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from typer.core import TyperCommand, TyperGroup

OTHER_OPTIONS, COMMANDS, ARGUMENTS = "Options", "Commands", "Arguments"


class PanelCommand(TyperCommand):
    """A command whose help has a section for each panel of its options."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        _write_options(self, ctx, formatter)


class PanelGroup(TyperGroup):
    """A group whose help has a section for each panel of its commands, each with its first paragraph."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        _write_options(self, ctx, formatter)
        told = [
            (getattr(each, "rich_help_panel", None) or COMMANDS, (name, (each.help or "").split("\n\n")[0]))
            for name, each in self.commands.items()
        ]
        _write_panels(told, formatter)


def _write_options(command: TyperCommand | TyperGroup, ctx: Any, formatter: Any) -> None:
    told = [(_panel(each), each.get_help_record(ctx)) for each in command.get_params(ctx)]
    _write_panels([(panel, record) for panel, record in told if record is not None], formatter)


def _panel(parameter: Any) -> str:
    usual = ARGUMENTS if parameter.param_type_name == "argument" else OTHER_OPTIONS
    return getattr(parameter, "rich_help_panel", None) or usual


def _write_panels(told: Iterable[tuple[str, tuple[str, str]]], formatter: Any) -> None:
    """A section for each panel, in the order in which they appear; what stands in none comes last."""
    panels: dict[str, list[tuple[str, str]]] = {}
    for panel, record in told:
        panels.setdefault(panel, []).append(record)
    for panel in sorted(panels, key=OTHER_OPTIONS.__eq__):
        with formatter.section(panel):
            formatter.write_dl(panels[panel])
