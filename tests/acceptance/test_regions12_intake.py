"""Twelve real deliveries in three wire formats: all accepted, counted, and read as an independent reader
reads them.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sdc_tasks.checks.suite import check, refusals
from sdc_tasks.domains import Domain, load_domain
from sdc_tasks.domains.schema import Role
from sdc_tasks.intake import Delivery, read

DATA = Path(__file__).parents[3] / "shared/data/regions12/deliveries"
PERIOD = "2024"
pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason=f"the deliveries are not on this machine ({DATA})")


@pytest.fixture(scope="module")
def domain() -> Domain:
    return load_domain(Path(__file__).with_name("regions12.yaml"))


@pytest.fixture(scope="module")
def deliveries(domain: Domain) -> list[Delivery]:
    return [read(path, domain, PERIOD) for path in sorted(DATA.glob("*.csv"))]


def test_all_are_accepted(domain, deliveries):
    assert [delivery.country for delivery in deliveries] == list(domain.countries)
    for delivery in deliveries:
        assert delivery.accepted
        assert {finding.code for finding in delivery.findings} <= {"SDC/precision"}
        assert refusals(check(delivery.table, domain)) == ()


def test_cells_and_flags_are_those_of_the_source(domain, deliveries):
    roles = {code: flag.role for code, flag in domain.flags.items()}
    counted = [roles[flag] for delivery in deliveries for flag in delivery.table.flag]
    assert sum(int((delivery.table.value != 0).sum()) for delivery in deliveries) == 5758
    assert (counted.count(Role.PRIMARY), counted.count(Role.SECONDARY)) == (1602, 942)


def test_the_wire_formats_agree_with_an_independent_reader(domain, deliveries, tmp_path):
    """pysdmx reads 1.0 and 2.0 as they are; a national file becomes 1.0 by its separator,
    decimal sign, mark and line ends.
    """
    from pysdmx.io import read_sdmx

    for delivery in deliveries:
        path = DATA / delivery.file
        content = path.read_bytes().decode("utf-8-sig").replace("\r\n", "\n")
        if content.startswith("DATAFLOW;"):
            content = content.replace(",", ".").replace(";", ",")
        (tmp_path / delivery.file).write_text(content)
        theirs = read_sdmx(tmp_path / delivery.file, validate=False).data[0].data
        index = {key: i for i, key in enumerate(domain.space.national_keys)}
        cell = [index[key] for key in zip(theirs.INDICATOR, theirs.ACTIVITY, theirs.SIZECLASS, strict=True)]
        table = delivery.table
        assert table.value[cell].tolist() == theirs.OBS_VALUE.astype(float).tolist()
        assert table.flag[cell].tolist() == theirs.CONF_STATUS.tolist()
        assert table.units[cell].tolist() == theirs.UNITS.astype(int).tolist()
        np.testing.assert_array_equal(
            table.share_1[cell], [float(share) if share else np.nan for share in theirs.SHARE_1]
        )
        np.testing.assert_array_equal(
            table.share_2[cell], [float(share) if share else np.nan for share in theirs.SHARE_2]
        )
        others = np.delete(np.arange(domain.space.national_size), cell)
        assert not table.value[others].any()
        assert set(table.flag[others]) == {"F"}
