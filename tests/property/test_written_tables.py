"""What `sdc suppress` and `sdc protect` write is read back as it was: primaries,
secondaries, levels and verdict.

Tables are drawn with codes that hold separators, quotation marks, blanks and dots, with zeros, values below
zero and up to 1e15, levels on one side, bounds, and cells of a single respondent.
"""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sdc_tasks.errors import Unprotectable
from sdc_tasks.intake.tables.crossed import CrossedSuppression, suppression_in
from sdc_tasks.intake.tables.given.earlier import read_earlier_csv
from sdc_tasks.intake.tables.jj import JJTable, read_jj, write_jj
from sdc_tasks.intake.tables.rows import read_rows
from sdc_tasks.intake.tables.suppression import suppressed, suppression_of
from sdc_tasks.judge.pattern import verify
from sdc_tasks.methods.suppression.engine import suppress
from sdc_tasks.methods.suppression.prior_patterns.earlier import hidden_in
from sdc_tasks.model.layout import TableLayout
from support.desk import sdc
from support.laws import law

TOWNS, JOBS = ("A,1", 'B "2"', "C.3", "d e"), ("1.2;x", "3", "'")
SAME = ("a", "lb", "ub", "lpl", "upl", "spl", "primary", "fixed", "singleton", "respondents")


@st.composite
def tables(draw: st.DrawFn) -> str:
    """A table as CSV: inner cells, totals are added up."""
    size = draw(st.sampled_from([20, 10_000, 10**14]))
    negative, bounds, alone = draw(st.booleans()), draw(st.booleans()), draw(st.booleans())
    columns = [*(["LB", "UB"] if bounds else []), *(["SINGLETON", "RESPONDENT"] if alone else [])]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["TOWN", "JOB", "VALUE", "STATUS", "LPL", "UPL", "SPL", *columns])
    for town in TOWNS:
        for job in JOBS:
            value = draw(st.sampled_from([0, 1, 1, 1])) * draw(
                st.integers(-size // 10 if negative else 0, size)
            )
            status = draw(st.sampled_from("sssuz"))
            level = st.integers(0, 3).map(lambda k, value=value: k * max(abs(value), 4) // 10)
            levels = [draw(level), draw(level), draw(level)] if status == "u" else [0, 0, 0]
            levels[1] += 1 if status == "u" and not any(levels) else 0
            beside = (
                [value - draw(st.sampled_from([3, size])), draw(st.sampled_from(["", value + size]))]
                if bounds
                else []
            )
            who = draw(st.sampled_from(["", "one", "two"])) if alone and status == "u" else ""
            writer.writerow(
                [town, job, value, status, *levels, *beside, *([int(bool(who)), who] if alone else [])]
            )
    return text.getvalue()


WANTED = TableLayout(("TOWN", "JOB"))


def test_names_of_columns_may_hold_separators(tmp_path: Path) -> None:
    place, out = tmp_path / "t.csv", tmp_path / "out.csv"
    place.write_text(
        '"Town; or ""place"";x","Job, '
        '1",VALUE,STATUS,LPL,UPL\na,x,5,u,2,2\na,y,7,s,,\nb,x,6,s,,\nb,y,12,s,,\n'
    )
    wanted = TableLayout(('Town; or "place";x', "Job, 1"))
    table = suppression_in(read_rows(place), wanted)
    hidden = suppress(table.problem).pattern
    assert hidden is not None
    out.write_text(table.text(hidden))
    same(table, suppression_in(read_rows(out), wanted))
    told = read_earlier_csv(out, table.dimensions, table.value, table.keys)
    np.testing.assert_array_equal(told.hidden, hidden)


def same(one: CrossedSuppression, two: CrossedSuppression) -> None:
    assert two.keys == one.keys
    for name in SAME:
        np.testing.assert_array_equal(getattr(two.problem, name), getattr(one.problem, name), name)
    np.testing.assert_array_equal(two.stays, one.stays)


@law(200)
@given(tables())
def test_a_table_with_its_pattern_is_read_back_as_it_was(text: str) -> None:
    with TemporaryDirectory() as name:
        file, out, jj = Path(name) / "table.csv", Path(name) / "out.csv", Path(name) / "out.jj"
        file.write_text(text)
        table = suppression_in(read_rows(file), WANTED)
        problem = table.problem
        try:
            hidden = suppress(problem).pattern
        except Unprotectable:
            return
        if hidden is None:  # values so far apart that no pattern is shown to be safe; then nothing is written
            return
        out.write_text(table.text(hidden))
        again = suppression_in(read_rows(out), WANTED)
        same(table, again)
        assert again.text(hidden) == table.text(hidden)
        told = hidden_in(again.problem, read_earlier_csv(out, again.dimensions, again.value, again.keys))
        np.testing.assert_array_equal(told, hidden)
        assert (
            verify(again.problem, told).unprotected.tolist()
            == verify(problem, hidden).unprotected.tolist()
            == []
        )
        # the same as JJ, which has no codes and nobody's name
        assert problem.rhs is not None
        levels = [np.where(problem.primary, level, 0.0) for level in (problem.lpl, problem.upl, problem.spl)]
        status = np.where(table.stays, "z", "s")
        plain = JJTable(
            problem.a,
            problem.cost,
            np.where(problem.primary, "u", status),
            problem.lb,
            problem.ub,
            *levels,
            problem.M,
            problem.rhs,
        )
        write_jj(jj, suppressed(plain, problem, hidden, table.stays))
        back = suppression_of(read_jj(jj), "file")
        for field in SAME[:-2]:
            np.testing.assert_array_equal(
                getattr(back, field), getattr(replace(problem, singleton=np.zeros(0)), field), field
            )
        np.testing.assert_array_equal(np.isin(read_jj(jj).status, ["u", "m"]), hidden)


FIRMS = (
    [("A,1", "1.2;x", v) for v in (5, -5)]
    + [(t, j, v) for t in TOWNS for j in JOBS for v in (60, 70, 80)][3:]
    + [('B "2"', "3", 900)]
)


def test_what_protect_writes_is_read_by_protect_and_by_suppress(tmp_path: Path) -> None:
    """Contributions of +5 and −5 are a cell of 0 that a rule protects."""
    firms, out, facts = tmp_path / "firms.csv", tmp_path / "out.csv", tmp_path / "facts.json"
    with firms.open("w", newline="") as stream:
        csv.writer(stream).writerows([("TOWN", "JOB", "VALUE"), *FIRMS])
    rules = ("protect", firms, "--dims", "TOWN,JOB", "--p", "10", "--min-frequency", "3")
    assert sdc(*rules, "--out", out).code == 0
    with out.open(newline="") as stream:
        rows = {(row["TOWN"], row["JOB"]): row for row in csv.DictReader(stream)}
    cell = rows["A,1", "1.2;x"]
    assert (cell["VALUE"], cell["STATUS"], float(cell["LPL"]) > 0) == ("0", "u", True)
    assert sdc(*rules, "--check", out, "--json", facts).code == 0
    read = suppression_in(read_rows(out), WANTED)
    assert {key for key, primary in zip(read.keys, read.problem.primary, strict=True) if primary} == {
        key for key, row in rows.items() if row["STATUS"] == "u"
    }
    again = tmp_path / "again.csv"
    assert sdc("suppress", out, "--dims", "TOWN,JOB", "--out", again).code == 0
    with again.open(newline="") as stream:
        told = {(row["TOWN"], row["JOB"]): row for row in csv.DictReader(stream)}
    assert told == rows
