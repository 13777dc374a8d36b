"""Twelve real deliveries, written in every format: the same records whatever the format, and
the same release, byte for byte.
"""

from __future__ import annotations

import csv
import io
from pathlib import Path

import numpy as np
import pytest

from sdc_tasks.domains import Domain, load_domain
from sdc_tasks.intake import Sheet, read_sheet
from support.desk import sdc
from support.wire import FORMATS

DOMAIN = Path(__file__).with_name("regions12.yaml")
DATA = Path(__file__).parents[3] / "shared/data/regions12/deliveries"
PERIOD = "2024"
pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason=f"the deliveries are not on this machine ({DATA})")


@pytest.fixture(scope="module")
def domain() -> Domain:
    return load_domain(DOMAIN)


def plain(path: Path) -> str:
    """The delivery as SDMX-CSV 1.0, by Python's own reader of CSV."""
    text = path.read_bytes().decode("utf-8-sig")
    national = text.startswith("DATAFLOW;")
    rows = list(csv.DictReader(io.StringIO(text), delimiter=";" if national else ","))
    stream = io.StringIO()
    columns = [
        "DATAFLOW",
        *(name for name in rows[0] if name not in ("DATAFLOW", "STRUCTURE", "STRUCTURE_ID", "ACTION")),
    ]
    writer = csv.DictWriter(stream, columns, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    for row in rows:
        row["DATAFLOW"] = row.get("DATAFLOW") or row["STRUCTURE_ID"]
        writer.writerow({name: value.replace(",", ".") if national else value for name, value in row.items()})
    return stream.getvalue()


def entries(sheet: Sheet) -> dict[str, np.ndarray]:
    """The records of a file by cell, without their lines."""
    assert sheet.entries is not None, sheet.findings[:3]
    order = np.argsort(sheet.entries.cell)
    return {
        name: getattr(sheet.entries, name)[order]
        for name in ("cell", "value", "available", "flag", "units", "share_1", "share_2")
    }


SENT = sorted(DATA.glob("*.csv"))
SOME = 4  # of the formats, in turn, so that each is tried


@pytest.mark.parametrize("formats", [SOME, pytest.param(len(FORMATS), marks=pytest.mark.slow)])
def test_every_format_gives_the_records_that_were_sent(domain, formats):
    tried = set()
    for number, path in enumerate(SENT):
        sent, text = entries(read_sheet(path.read_bytes(), path.name, domain, PERIOD)), plain(path)
        for turn in range(formats):
            how = list(FORMATS)[(number * formats + turn) % len(FORMATS)]
            suffix, write = FORMATS[how]
            found = entries(read_sheet(write(text), path.stem + suffix, domain, PERIOD))
            for name, content in sent.items():
                np.testing.assert_array_equal(found[name], content, err_msg=f"{path.name} as {how}: {name}")
            tried.add(how)
    assert tried == set(FORMATS)


@pytest.mark.slow
def test_other_formats_give_the_same_release(tmp_path):
    """Inboxes in which every delivery has another format, and each format is in one of them, against
    the deliveries as they were sent.
    """
    inboxes, formats = [DATA], list(FORMATS.values())
    for first in range(0, len(formats), len(SENT)):
        inboxes.append(tmp_path / f"inbox {first}")
        inboxes[-1].mkdir()
        for number, path in enumerate(SENT):
            suffix, write = formats[(first + number) % len(formats)]
            (inboxes[-1] / f"{path.stem}{suffix}").write_bytes(write(plain(path)))
    told = set()
    for inbox in inboxes:
        out = tmp_path / f"out of {inbox.name}"
        ended = sdc("release", "--domain", DOMAIN, "--period", PERIOD, "--inbox", inbox, "--out", out)
        assert ended.code == 0, ended.text
        told.add((out / "table.csv").read_bytes())
    assert len(told) == 1
