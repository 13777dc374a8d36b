"""An audit in several processes is the audit in one."""

from __future__ import annotations

import os
from dataclasses import fields
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from sdc_tasks import intake, pipeline
from sdc_tasks.cli import side_by_side
from sdc_tasks.demo import write_demo
from sdc_tasks.domains import load_domain
from sdc_tasks.domains.schema import Domain
from sdc_tasks.errors import Retriable
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.results import Publication


def problem_of(folder: Path, domain: Domain) -> ProtectionProblem:
    tables = [
        table
        for path in sorted((folder / "inbox").iterdir())
        if (table := intake.read(path, domain, "2024").table) is not None
    ]
    return pipeline.build_problem(tables, domain)


@pytest.mark.parametrize("exact", [True, False])
def test_an_audit_in_three_processes_finds_what_one_finds(tmp_path: Path, exact: bool) -> None:
    domain = load_domain(write_demo(tmp_path, countries=5, activities=60, sizes=4, indicators=2)).of("2024")
    problem = problem_of(tmp_path, domain)
    cells = np.flatnonzero(problem.aggregate)
    publication = (
        Publication(cells, problem.a[cells], np.zeros(len(cells))) if exact else Publication.nothing(cells)
    )
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
    problem = problem_of(tmp_path, domain)
    assert side_by_side.processes_for(problem) == 1


def test_a_killed_process_ends_the_audit_with_a_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    domain = load_domain(write_demo(tmp_path, countries=3, activities=5, sizes=2)).of("2024")
    problem = problem_of(tmp_path, domain)
    requirements, _ = pipeline.baseline(problem, domain)
    monkeypatch.setattr(side_by_side, "begin", partial(os._exit, 9))
    with pytest.raises(Retriable, match="Remedy: --processes 1"):
        side_by_side.audit(
            problem,
            Publication.nothing(np.flatnonzero(problem.aggregate)),
            requirements,
            domain,
            2,
            lambda _: None,
        )
