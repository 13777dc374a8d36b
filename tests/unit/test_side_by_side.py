"""An audit in several processes is the audit in one."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

from sdc_tasks import intake, pipeline
from sdc_tasks.cli import side_by_side
from sdc_tasks.demo import write_demo
from sdc_tasks.domains import load_domain
from sdc_tasks.model.results import Publication


@pytest.mark.parametrize("exact", [True, False])
def test_an_audit_in_three_processes_finds_what_one_finds(tmp_path: Path, exact: bool) -> None:
    domain = load_domain(write_demo(tmp_path, countries=5, activities=60, sizes=4, indicators=2)).of("2024")
    tables = [table for path in sorted((tmp_path / "inbox").iterdir()) if (table := intake.read(path, domain, "2024").table) is not None]
    problem = pipeline.build_problem(tables, domain)
    cells = np.flatnonzero(problem.aggregate)
    publication = Publication(cells, problem.a[cells], np.zeros(len(cells))) if exact else Publication.nothing(cells)
    requirements, _ = pipeline.baseline(problem, domain)
    told: list[str] = []
    alone = pipeline.audit(problem, publication, requirements, domain)
    together = side_by_side.audit(problem, publication, requirements, domain, 3, told.append)
    assert bool(alone.broken) == exact
    assert together.evidence.digest(problem.salt) == alone.evidence.digest(problem.salt)
    rest = {field.name for field in fields(alone)} - {"evidence"}
    for name in sorted(rest):
        np.testing.assert_array_equal(getattr(together, name), getattr(alone, name), err_msg=name)
    assert told[-1] == "audit: 3 of 3 parts"


def test_a_small_table_is_audited_in_one_process(tmp_path: Path) -> None:
    domain = load_domain(write_demo(tmp_path, countries=3, activities=5, sizes=2)).of("2024")
    tables = [table for path in sorted((tmp_path / "inbox").iterdir()) if (table := intake.read(path, domain, "2024").table) is not None]
    problem = pipeline.build_problem(tables, domain)
    assert side_by_side.processes_for(problem) == 1
