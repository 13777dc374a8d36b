"""One registry names the attacker profiles: a profile that is added in one place only is refused, loudly, in every other."""

from __future__ import annotations

import hashlib
from dataclasses import replace

import numpy as np
import pytest
from oracle import everything, one_cell_release, published
from pydantic import ValidationError
from sqlalchemy import insert, select
from sqlalchemy.exc import IntegrityError
from test_warehouse import raw

from sdc_tasks import pipeline
from sdc_tasks.domains.schema import AuditOptions
from sdc_tasks.errors import ReleaseBlocked
from sdc_tasks.methods.attack import audit, baseline, knowledge_of, promised
from sdc_tasks.methods.recheck import recheck
from sdc_tasks.model.profiles import PROFILES, named
from sdc_tasks.model.results import AuditReport, Evidence
from sdc_tasks.warehouse.engine import reading, writing
from sdc_tasks.warehouse.journal import Terms
from sdc_tasks.warehouse.schema import profile

FAKE = "insider"
PROBLEM = one_cell_release("AT 100 secret 10 | BE 200 hidden | CY 400 public", EU="AT BE CY")
EXACT = everything(PROBLEM, "exact")


@pytest.fixture
def registered(monkeypatch):
    """The fake stands in the registry, and nowhere else."""
    monkeypatch.setitem(PROFILES, FAKE, "somebody of whom nobody has told what he knows")


def put(warehouse, table: str, profiles: str) -> None:
    """A row as somebody at a prompt would write it."""
    row = {"domain": "sbs", "digest": hashlib.sha256(b"{}").hexdigest(), "profiles": profiles, "approvals": 0, "settings": "{}"}
    if table == "audit":
        row = {"release_id": "r", "digest": row["digest"], "problem_digest": "p", "publication_digest": "q", "profiles": profiles}
        row |= {"passed": False, "certificate": "{}", **dict.fromkeys(("primaries", "broken", "lps"), 0)}
    row["audited_at" if table == "audit" else "registered_at"] = "2026-01-01 00:00:00"
    names = ", ".join(row)
    raw(warehouse, f"INSERT INTO operations.{table} ({names}) VALUES ({', '.join(f':{name}' for name in row)})", **row)


def test_the_warehouse_knows_the_profiles_of_the_registry(warehouse):
    with reading(warehouse) as connection:
        assert {row.name for row in connection.execute(select(profile.c.name))} == set(PROFILES)


@pytest.mark.parametrize("profiles", [(), (FAKE,), ("external", FAKE), ("external", "external")])
def test_no_place_takes_an_unknown_profile_or_none(profiles, warehouse):
    """Nor one that is named twice."""
    requirements, _ = baseline(PROBLEM, ("external",))
    report = audit(PROBLEM, EXACT, requirements)
    for ask in (
        lambda: named(profiles),
        lambda: promised(PROBLEM, profiles),
        lambda: baseline(PROBLEM, profiles),
        lambda: replace(requirements, profiles=profiles),
        lambda: replace(report, profiles=profiles),
        lambda: recheck(PROBLEM, EXACT, profiles, Evidence()),
        lambda: Terms("sbs", "d" * 64, profiles),
        lambda: pipeline.release("r", PROBLEM, requirements, EXACT, report, profiles),
    ):
        with pytest.raises(ValueError, match="attacker profile"):
            ask()
    with pytest.raises(ValidationError, match="attacker profile"):
        AuditOptions(profiles=profiles)
    for table in ("terms", "audit"):
        with pytest.raises(IntegrityError, match=f"{table} refused: attacker profiles"):
            put(warehouse, table, ",".join(profiles))


def test_a_profile_of_the_registry_alone_is_attacked_by_nobody(registered, warehouse):
    with pytest.raises(ValueError, match="the attacker does not know"):
        knowledge_of(PROBLEM, FAKE)
    with pytest.raises(ValueError, match="the attacker does not know"):
        baseline(PROBLEM, ("external", FAKE))
    with pytest.raises(ValueError, match="the second program does not know"):
        recheck(PROBLEM, EXACT, ("external", FAKE), Evidence())
    for table in ("terms", "audit"):
        with pytest.raises(IntegrityError, match=f"{table} refused"):
            put(warehouse, table, f"external,{FAKE}")


def test_a_profile_that_only_the_warehouse_knows_is_asked_for_by_nobody(warehouse):
    with writing(warehouse) as connection:
        connection.execute(insert(profile).values(name=FAKE))
    with pytest.raises(ValidationError, match=FAKE):
        AuditOptions(profiles=("external", FAKE))
    with pytest.raises(ValueError, match=FAKE):
        Terms("sbs", "d" * 64, ("external", FAKE))


def test_a_gate_names_what_was_not_attacked():
    requirements, _ = baseline(PROBLEM, ("external",))
    safe = published(PROBLEM, (700, 500))
    report = audit(PROBLEM, safe, requirements)
    assert isinstance(report, AuditReport)
    assert np.asarray(report.held).all()
    with pytest.raises(ReleaseBlocked, match="not audited against profile coalition"):
        pipeline.release("r", PROBLEM, requirements, safe, report, ("external", "coalition"))
