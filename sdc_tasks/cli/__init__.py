"""The command line `sdc`. Nothing heavy is imported before a command needs it."""

from __future__ import annotations

import atexit
import gc
import signal
import sys

from sdc_tasks.cli.interrupt import INTERRUPTED, Interruption
from sdc_tasks.confidential import leave_no_core
from sdc_tasks.errors import SdcError
from sdc_tasks.tested import require_tested

# Commands that write the best result so far at Ctrl-C, and what they search for.
SOUGHT = {"cta": "table", "suppress": "pattern", "protect": "pattern", "intervals": "interval"}


def main() -> None:
    """Runs `sdc`. Our own errors end with their message and exit code, not with a traceback."""
    command = sys.argv[1] if len(sys.argv) > 1 else ""
    interruption = Interruption(SOUGHT.get(command, ""))
    try:
        if command in SOUGHT:
            interruption.listen()
        else:
            interruption.heed()
        _run(command, interruption)
    except (Exception, KeyboardInterrupt) as error:
        sys.exit(_exit_code(error, interruption))


def _run(command: str, interruption: Interruption) -> None:
    leave_no_core()
    # What a command loads and reads it keeps. To look through all of it for circles again and again, as
    # Python does by default, takes a twentieth of a small release; to do so at its end, a tenth.
    gc.set_threshold(300_000, 10, 10)
    atexit.register(gc.freeze)
    if sys.argv[1:] != ["--help"]:  # which works with nothing
        require_tested()  # before the packages are imported: one of another version may fail at that
    from sdc_tasks.cli.commands import COMMANDS, build

    name = command.replace("-", "_")
    app = build([name] if name in COMMANDS else COMMANDS)  # a command waits for no other
    app(obj=interruption)


def _exit_code(error: BaseException, interruption: Interruption) -> int:
    """Tells what went wrong, and returns the exit code. Raises the error anew where that is our mistake."""
    if interruption.raised:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # it ends already
        return INTERRUPTED
    if isinstance(error, SdcError):
        _complain(type(error).__name__, str(error))
        return error.exit_code
    if isinstance(error, OSError) and error.filename is not None:
        # a folder that is a file, a place that cannot be written
        remedy = "Remedy: name a place that can be read and written"
        _complain("InvalidInput", f"{error.filename}: {error.strerror}. {remedy}")
        return 2
    raise error


def _complain(kind: str, message: str) -> None:
    from sdc_tasks.cli.terminal import Terminal

    Terminal(stderr=True).tell((kind, "bold red"), f": {message}")
