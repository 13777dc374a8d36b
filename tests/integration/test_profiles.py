"""One registry names the attacker profiles: a profile that is added in one place only is
refused, loudly, in every other.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import inspect
import json
import pkgutil
import sys
from dataclasses import replace

import numpy as np
import pytest
from pydantic import ValidationError
from sqlalchemy import insert, select
from sqlalchemy.exc import IntegrityError

from sdc_tasks import pipeline
from sdc_tasks.domains.schema import AuditOptions
from sdc_tasks.errors import ReleaseBlocked
from sdc_tasks.judge.release import knowledge as told_again
from sdc_tasks.judge.release import recheck
from sdc_tasks.methods.attack import audit, baseline, knowledge_of, promised
from sdc_tasks.model import profiles as registry
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.profiles import PROFILES, Profile, named
from sdc_tasks.model.results import AuditReport, Evidence
from sdc_tasks.warehouse.database.engine import reading, writing
from sdc_tasks.warehouse.database.schema import profile
from sdc_tasks.warehouse.operations.journal import Terms, start_run
from support.oracles.attack import everything, one_cell_release, published
from support.world import raw

FAKE = "insider"
PROBLEM = one_cell_release("AT 100 secret 10 | BE 200 hidden | CY 400 public", EU="AT BE CY")
EXACT = everything(PROBLEM, "exact")


class Insider(Profile):
    """Somebody who has seen every cell of which a respondent knows something."""

    name = FAKE
    who = "somebody who has seen what respondents know"

    def insider(self, problem: ProtectionProblem) -> np.ndarray:
        return problem.suppressed & ~np.isnan(problem.known)


@pytest.fixture
def registered(monkeypatch):
    """The fake stands in the registry, and nowhere else."""
    monkeypatch.setitem(PROFILES, FAKE, Insider())


def put(warehouse, table: str, profiles: str) -> None:
    """A row as somebody at a prompt would write it."""
    row = {"domain": "sbs", "digest": "d" * 64, "profiles": profiles, "approvals": 0, "settings": "{}"}
    if table == "audit":
        start_run(warehouse, "r", "sbs", "2024")
        said = {"domain": "sbs", "period": "2024", "verdict": "failed", "profiles": profiles.split(",")}
        said |= {
            "digests": {"domain": "d", "problem": "p", "publication": "q"},
            "counts": {"primaries": 0, "broken_requirements": 0},
        }
        told = json.dumps(said)
        row = {
            "release_id": "r",
            "digest": hashlib.sha256(told.encode()).hexdigest(),
            "profiles": profiles,
            "certificate": told,
        }
        row |= {
            "problem_digest": "p",
            "publication_digest": "q",
            "passed": False,
            **dict.fromkeys(("primaries", "broken", "lps"), 0),
        }
    row["audited_at" if table == "audit" else "registered_at"] = "2026-01-01 00:00:00"
    names = ", ".join(row)
    raw(
        warehouse,
        f"INSERT INTO operations.{table} ({names}) VALUES ({', '.join(f':{name}' for name in row)})",
        **row,
    )


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


def test_its_class_is_all_that_the_attacker_asks_of_a_profile(registered):
    """AT + BE = 300 exact. To the public AT may be anything up to 300; whoever has seen BE knows AT."""
    problem = replace(PROBLEM, known=np.where(np.arange(PROBLEM.space.size) == 1, PROBLEM.a, np.nan))
    assert knowledge_of(problem, FAKE).cells.tolist() == [1]
    requirements, _ = baseline(problem, ("external", FAKE))
    assert audit(problem, EXACT, requirements).held.tolist() == [[True], [False]]


def test_a_profile_of_the_registry_alone_is_claimed_by_nobody(registered, warehouse):
    with pytest.raises(ValueError, match="the second program does not know"):
        recheck(PROBLEM, EXACT, ("external", FAKE), Evidence())
    for table in ("terms", "audit"):
        with pytest.raises(IntegrityError, match=f"{table} refused"):
            put(warehouse, table, f"external,{FAKE}")


def test_the_second_program_is_not_imported_beside_a_profile_that_it_was_not_told(registered, monkeypatch):
    where = importlib.util.spec_from_file_location("once_more", told_again.__file__)
    again = importlib.util.module_from_spec(where)
    monkeypatch.setitem(sys.modules, "once_more", again)
    with pytest.raises(ImportError, match=FAKE):
        where.loader.exec_module(again)


@pytest.mark.parametrize(
    "said",
    [
        {"name": FAKE, "who": "somebody"},
        {"name": FAKE, "insider": None},
        {"who": "somebody", "insider": None},
    ],
)
def test_a_profile_that_leaves_something_unsaid_cannot_be_made(said):
    with pytest.raises(TypeError, match=r"insider|does not define its"):
        type("Silent", (Profile,), said)()


def test_every_file_of_profiles_has_one_and_the_registry_lists_it():
    found = []
    for each in pkgutil.iter_modules(registry.__path__):
        module = importlib.import_module(f"{registry.__name__}.{each.name}")
        own = [
            c
            for c in vars(module).values()
            if inspect.isclass(c) and issubclass(c, Profile) and c.__module__ == module.__name__
        ]
        if each.name != "profile":
            (profile,) = own
            assert profile.name == each.name
            found.append(profile)
    assert {type(each) for each in PROFILES.values()} == set(found)
    assert all(name == each.name for name, each in PROFILES.items())


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
