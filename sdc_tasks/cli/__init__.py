"""The command line `sdc`. Nothing heavy is imported before a command needs it."""

from __future__ import annotations

import sys

from sdc_tasks.cli.interrupt import Interruption
from sdc_tasks.confidential import leave_no_core
from sdc_tasks.errors import SdcError
from sdc_tasks.tested import require_tested

# Commands that write the best result so far at Ctrl-C, and what they search for.
SOUGHT = {"cta": "table", "suppress": "pattern", "protect": "pattern", "intervals": "interval"}


def main() -> None:
    """Runs `sdc`. Our own errors end with their message and exit code, not with a traceback."""
    leave_no_core()
    command = sys.argv[1] if len(sys.argv) > 1 else ""
    interruption = Interruption(SOUGHT.get(command, ""))
    if command in SOUGHT:
        interruption.listen()
    try:
        require_tested()  # before the packages are imported: one of another version may fail at that
        from sdc_tasks.cli.app import app

        app(obj=interruption)
    except SdcError as error:
        _complain(type(error).__name__, str(error))
        sys.exit(error.exit_code)
    except OSError as error:  # a folder that is a file, a place that cannot be written
        if error.filename is None:
            raise
        _complain(
            "InvalidInput",
            f"{error.filename}: {error.strerror}. Remedy: name a place that can be read and written",
        )
        sys.exit(2)


def _complain(kind: str, message: str) -> None:
    from sdc_tasks.cli.terminal import Terminal

    Terminal(stderr=True).tell((kind, "bold red"), f": {message}")
