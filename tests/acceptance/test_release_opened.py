"""What a release was opened with is what its steps read, whatever arrives, is published or is changed before
they run.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from sdc_tasks import outputs, pipeline, steps
from sdc_tasks.errors import InvalidInput, ReleaseBlocked, Superseded
from sdc_tasks.methods.attack import Requirements
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.results import CandidateWitnesses
from sdc_tasks.steps.memory import load
from sdc_tasks.warehouse import reader
from sdc_tasks.warehouse.confidential import artefacts
from sdc_tasks.warehouse.operations import journal
from support.deliveries import PERIOD
from support.desk import FREE, PROTECTED, Desk, new_desk

BARE = PROTECTED.replace("251409 D", "251409 F").replace("498591 D", "498591 F")
MORE = FREE.replace("300000 F  450000", "310000 F  440000").replace("450000 F  300000", "440000 F  310000")


@dataclass
class Office:
    """A desk, the files of its inbox, and the steps of a release."""

    files: Desk

    def __post_init__(self) -> None:
        self.desk = steps.open_desk(
            f"sqlite:///{self.files.folder / 'warehouse.db'}", self.files.domain, PERIOD
        )

    def judge(self) -> None:
        for each in steps.discover(self.desk, self.files.inbox):
            steps.ingest(self.desk, self.files.inbox, each.file)

    def go_on(self, release_id: str) -> str:
        """From the assembled problem to the verdict."""
        steps.baseline(self.desk, release_id)
        for rung in range(len(self.desk.domain.cta.ladder)):
            steps.adjust(self.desk, release_id, rung)
        steps.choose_bases(self.desk, release_id, 0)
        for chunk in range(self.desk.domain.audit.chunks):
            steps.audit_chunk(self.desk, release_id, chunk)
        steps.verdict(self.desk, release_id)
        return release_id

    def problem(self, release_id: str) -> ProtectionProblem:
        return load(self.desk, release_id, "assemble", ProtectionProblem)

    def told(self) -> set[tuple[str, str]]:
        """(file, code) of every finding."""
        return {(each["file"], each["code"]) for each in reader.findings(self.desk.engine, "small", PERIOD)}


@pytest.fixture
def office(tmp_path) -> Iterator[Office]:
    files = new_desk(tmp_path, AT=BARE, BE=FREE)
    files.settle("flags:", "suppression: {receiver: when_missing, delivered: not_public}\nflags:")
    office = Office(files)
    office.judge()
    yield office
    office.desk.engine.dispose()


def test_the_chunks_of_an_audit_share_their_joint_searches_and_try_what_the_bases_found(tmp_path):
    files = new_desk(tmp_path, AT=PROTECTED, BE=FREE)
    files.settle("flags:", "audit: {chunks: 3}\nflags:")
    office = Office(files)
    office.judge()
    release_id = office.go_on(steps.assemble(office.desk))
    stored = journal.step_outputs(office.desk.engine, release_id, "audit")
    assert set(stored) == {"0", "1", "2", "in common"}
    problem, publication, report = steps.decided(office.desk, release_id)
    assert report.passed
    assert report.lps == 0, "the tables that the choice of bases found show everything"
    requirements = load(office.desk, release_id, "baseline", Requirements)
    alone = pipeline.audit(problem, publication, requirements, office.desk.domain)
    assert alone.passed
    assert alone.lps > 0
    tables = load(office.desk, release_id, "bases", CandidateWitnesses, f"0 {pipeline.TABLES}")
    assert artefacts.from_bytes(artefacts.to_bytes(tables)).value.tobytes() == tables.value.tobytes()
    office.desk.engine.dispose()


def test_a_delivery_that_arrives_after_the_release_was_opened_is_not_read_by_its_steps(office):
    """The table that came later has secondaries of its own: read instead of the first,
    nothing would be set in the first.
    """
    opened, countries = steps.collect(office.desk)
    office.files.deliver("AT", PROTECTED, f"AT_{PERIOD}_v2.csv")
    office.judge()
    for country in countries:
        steps.suppress(office.desk, opened, country)
    assert steps.assemble(office.desk, opened) == opened
    assert [len(each.cells) for each in steps.set_by_receiver(office.desk, opened)] == [3, 0]
    assert office.problem(opened).suppressed.sum() == 4
    assert (f"AT_{PERIOD}.csv", "SDC/secondary") in office.told()
    assert (f"AT_{PERIOD}_v2.csv", "SDC/secondary") not in office.told()
    office.go_on(opened)
    with pytest.raises(Superseded):
        steps.publish(office.desk, opened)
    outputs.write_out(office.desk, opened, office.files.folder / "out")
    page = (office.files.folder / "out" / "report.html").read_text(encoding="utf-8")
    assert "2 accepted" in page
    assert "1 newer" in page
    assert outputs.summary(office.desk, opened).accepted == 2
    assert steps.assemble(office.desk) != opened


def test_a_country_that_was_not_looked_at_is_not_assembled(office):
    opened, _ = steps.collect(office.desk)
    steps.suppress(office.desk, opened, "AT")
    with pytest.raises(InvalidInput, match="suppress BE has no result"):
        steps.assemble(office.desk, opened)


def test_a_version_that_is_published_after_the_release_was_opened_blocks_it(office):
    """The release does not know what that version protects: it may have a primary that is none here."""
    office.files.deliver("AT", PROTECTED)
    office.judge()
    opened, countries = steps.collect(office.desk)
    office.files.deliver("BE", MORE, f"BE_{PERIOD}_v2.csv")
    office.judge()
    other = office.go_on(steps.assemble(office.desk))
    assert steps.publish(office.desk, other) == 1
    for country in countries:
        steps.suppress(office.desk, opened, country)
    steps.assemble(office.desk, opened)
    assert office.problem(opened).earlier.profiles == ()
    with pytest.raises(ReleaseBlocked, match="another version was published"):
        office.go_on(opened)


def test_a_domain_file_that_was_changed_after_the_release_was_opened_stops_it(office):
    opened, _ = steps.collect(office.desk)
    office.files.settle("when_missing", "when_unprotected")
    changed = steps.open_desk(
        f"sqlite:///{office.files.folder / 'warehouse.db'}", office.files.domain, PERIOD
    )
    with pytest.raises(InvalidInput, match=r"the domain file was changed.*Remedy: trigger the release again"):
        steps.suppress(changed, opened, "AT")
    changed.engine.dispose()
