"""The files of a release in the output folder of its cycle, where they are of this
release and its readers may see them.

The folder holds the files of the last release that was written. They are of this one where `audit.json` there
is its certificate and the other file was written after it.
"""

from __future__ import annotations

import logging
from pathlib import Path

import sdc_places
from sqlalchemy import Engine

from sdc_tasks.model.public_files import PUBLIC_FILES
from sdc_tasks.warehouse import reader
from sdc_ui.shared.standing import ReleaseLine, cycle_lines

log = logging.getLogger("sdc.pages")
REPORT = "report.html"
KINDS = {REPORT: ("Report", "text/html"), **PUBLIC_FILES}  # title and media type


def certified(engine: Engine, release_id: str) -> tuple[ReleaseLine, str | None] | None:
    """A release and the certificate of its newest audit; None for an unknown release."""
    row = reader.of_release(engine, release_id)
    if row is None:
        return None
    same = cycle_lines(
        (each for each in reader.history(engine, row["domain"]) if each["period"] == row["period"]), ()
    )
    audits = reader.audits(engine, release_id)
    return next(each for each in same if each.release_id == release_id), audits[-1][
        "certificate"
    ] if audits else None


def kept(line: ReleaseLine, certificate: str | None) -> tuple[str, ...]:
    """The names of the files that may be opened: none before the world may see the
    table, and none after a retraction.
    """
    if certificate is None or not line.shown:
        return ()
    try:
        folder = _folder(line)
        audit = folder / "audit.json"
        if not audit.is_file() or audit.read_text(encoding="utf-8") != certificate:
            return ()
        written = audit.stat().st_mtime
        return tuple(
            name for name in KINDS if (folder / name).is_file() and (folder / name).stat().st_mtime >= written
        )
    # an object store that does not answer, a folder without permission: the page stands without these links
    except Exception as error:
        log.warning("the output folder of %s cannot be read: %s", line.release_id, type(error).__name__)
        return ()


def content(line: ReleaseLine, certificate: str | None, name: str) -> bytes | None:
    """One of these files; None where it may not be opened, or is not of this release."""
    if name not in kept(line, certificate):
        return None
    found: bytes = (_folder(line) / name).read_bytes()
    return found if name != REPORT or line.release_id.encode() in found else None


def _folder(line: ReleaseLine) -> Path:
    return sdc_places.folder(sdc_places.OUT.replace("{domain}", line.domain).replace("{period}", line.period))
