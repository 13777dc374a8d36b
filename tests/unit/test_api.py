"""The interface for data frames: every function in its doctest; frames of any library; what a notebook
shows by itself holds no secret.
"""

from __future__ import annotations

import doctest
import io
import json
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest

import sdc_tasks as sdc
from sdc_tasks import api
from sdc_tasks.api import progress as api_progress
from sdc_tasks.api import suppression as api_suppression
from sdc_tasks.api.progress import of_moments, teller
from sdc_tasks.domains import load_domain
from sdc_tasks.errors import InvalidInput
from sdc_tasks.methods.suppression.engine import PatternOptions
from sdc_tasks.methods.suppression.exact import WHILE_IT_PAYS, Work
from sdc_tasks.methods.suppression.pattern.result import SuppressionResult
from sdc_tasks.model.time.moment import Moment
from support.payload_key import WAREHOUSE_SECRET

SECRET = 8128317
TABLE = pd.DataFrame(
    {
        "REGION": ["N", "N", "N", "S", "S", "S"],
        "BRANCH": ["C", "D", "E", "C", "D", "E"],
        "VALUE": [SECRET, 2_411_977, 3_117_043, 4_009_151, 5_000_321, 6_123_007],
        "STATUS": ["u", "s", "s", "s", "s", "s"],
        "LPL": [500_000, 0, 0, 0, 0, 0],
        "UPL": [500_000, 0, 0, 0, 0, 0],
    }
)
DIMS = ["REGION", "BRANCH"]


@pytest.mark.parametrize(
    "module", ["suppression", "auditing", "adjustment", "rounding", "perturbing", "releases"]
)
def test_the_examples_of_the_documentation(module):
    found = doctest.testmod(import_module(f"sdc_tasks.api.{module}"))
    assert found.attempted > 3
    assert not found.failed


def test_every_function_has_an_example_and_every_name_loads():
    functions = [name for name in sdc.__all__ if name.islower()]
    assert len(functions) == 8
    assert [name for name in functions if ">>> " not in getattr(sdc, name).__doc__] == []
    assert {name for name in sdc.__all__ if getattr(sdc, name) is not getattr(api, name)} == set()
    with pytest.raises(AttributeError, match="no attribute 'protect'"):
        _ = sdc.protect  # type: ignore[attr-defined]


def test_the_package_itself_loads_nothing_heavy():
    code = (
        "import sys, sdc_tasks; print([m for m in ('pandas', 'numpy', 'highspy', "
        "'matplotlib') if m in sys.modules])"
    )
    assert (
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        ).stdout.strip()
        == "[]"
    )


def digits(text: str) -> str:
    return re.sub(r"[\s,.\u202f]", "", text)


def test_what_a_notebook_shows_by_itself_holds_no_hidden_value(tmp_path: Path):
    found = sdc.suppress(TABLE, DIMS)
    hidden = [
        str(value) for value in found.table.loc[found.table["STATUS"].isin(["u", "m"]), "VALUE"].astype(int)
    ]
    assert len(hidden) == 4
    assert found.public["VALUE"].isna().sum() == 4
    assert set(found.public["STATUS"]) == {"c", ""}, "the public is not told which cells are primary"
    assert f"{found.loss:.0f}" not in digits(
        found._repr_html_() + repr(found) + found.plot_search()._repr_svg_()
    ), "a sum of hidden values"
    shown = [
        found._repr_html_(),
        repr(found),
        found.plot()._repr_svg_(),
        found.plot_search()._repr_svg_(),
        str(found.explain("N.C")),
    ]
    assert [text for text in shown for value in hidden if value in digits(text)] == []
    checked = sdc.audit(found.table.merge(TABLE[[*DIMS, "LPL", "UPL"]], how="left"), DIMS)
    assert checked.safe
    shown = [checked._repr_html_(), repr(checked), checked.plot()._repr_svg_()]
    assert [text for text in shown for value in hidden if value in digits(text)] == []
    asked = sdc.primary(TABLE, DIMS, rules=sdc.Rules(p=10))
    assert list(asked.public.columns) == DIMS, "totals would give the primary cells away"
    assert str(SECRET) not in digits(asked._repr_html_() + repr(asked))
    opened = sdc.audit(TABLE, DIMS)
    assert (opened.safe, list(opened.public.columns)) == (False, DIMS)
    moved = sdc.adjust(TABLE, DIMS, weights="one", seconds=5)
    assert str(SECRET) not in digits(moved._repr_html_() + repr(moved) + moved.plot()._repr_svg_())
    assert found.plot().save(tmp_path / "pattern.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(InvalidInput, match="not a picture that can be drawn"):
        found.plot().save(tmp_path / "pattern.txt")


def test_intervals_are_what_an_attacker_computes_by_hand():
    found = sdc.suppress(TABLE, DIMS, method="cover")
    told = found.intervals().set_index(DIMS)
    assert len(told) == 4, "the four corners of a rectangle: one number of freedom"
    truth = found.table.set_index(DIMS)["VALUE"]
    low, high = told["LOW"] - truth.loc[told.index], told["HIGH"] - truth.loc[told.index]
    corner = [key for key in told.index if key != ("N", "C") and ("N" in key) == ("C" in key)] + [("N", "C")]
    others = [key for key in told.index if key not in corner]
    down, up = min(truth[key] for key in corner), min(truth[key] for key in others)
    assert low[("N", "C")] == pytest.approx(-down)
    assert high[("N", "C")] == pytest.approx(up)


def test_an_unsafe_pattern_names_who_is_at_risk_and_explains():
    told = TABLE.assign(STATUS=["u", "m", "s", "s", "s", "s"])
    found = sdc.audit(told, DIMS)
    assert (found.safe, found.at_risk) == (False, ("N.C",))
    assert "NOT SAFE" in repr(found)
    assert found.explain("N.C").status == "at risk"
    assert found.explain(("N", "D")).status == "secondary"
    with pytest.raises(
        InvalidInput, match=r"X\.C: no cell of the table\. Remedy: give its codes in the order REGION\.BRANCH"
    ):
        found.explain("X.C")


def test_why_a_cell_is_hidden():
    found = sdc.suppress(TABLE, DIMS)
    secondary = found.table.query("STATUS == 'm'").iloc[0]
    why = found.explain((secondary["REGION"], secondary["BRANCH"]))
    assert why.status == "secondary"
    assert "N.C" in why.lines[0]
    assert found.explain("N.C").status == "primary"
    assert found.explain("TOTAL.TOTAL").status == "open"


def test_frames_of_other_libraries_give_the_same():
    arrow = pytest.importorskip("pyarrow")
    of_arrow = sdc.suppress(arrow.Table.from_pandas(TABLE), DIMS)
    assert of_arrow.table.equals(sdc.suppress(TABLE, DIMS).table)
    only_stream = SimpleNamespace(__arrow_c_stream__=arrow.Table.from_pandas(TABLE).__arrow_c_stream__)
    assert sdc.suppress(only_stream, DIMS).table.equals(of_arrow.table)
    protocol = arrow.Table.from_pandas(TABLE)
    only_protocol = SimpleNamespace(__dataframe__=lambda **asked: protocol.__dataframe__(**asked))
    assert sdc.suppress(only_protocol, DIMS).table.equals(of_arrow.table)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ([1, 2], "a list is no table. Remedy: give a data frame"),
        (TABLE.iloc[:0], "no rows"),
        (pd.concat([TABLE, TABLE[["VALUE"]]], axis=1), "two columns are called VALUE"),
        (TABLE.drop(columns="BRANCH"), "no column BRANCH"),
        (
            TABLE.assign(VALUE=TABLE["VALUE"].astype(object).where(TABLE.index != 3, "x")),
            "row 3: S.C|row 3.*VALUE",
        ),
        (TABLE.assign(BRANCH=TABLE["BRANCH"].where(TABLE.index != 4, "C")), "row 4.*S.C"),
    ],
)
def test_what_is_no_table_names_row_column_and_remedy(table, message):
    with pytest.raises(InvalidInput, match=message) as refused:
        sdc.suppress(table, DIMS)
    assert "Remedy: " in str(refused.value)
    assert str(SECRET) not in str(refused.value)


def test_options_that_contradict_one_another_are_refused():
    rules = sdc.Rules(p=10)
    with pytest.raises(InvalidInput, match="rules decide what is primary, and level says it too"):
        sdc.suppress(TABLE, DIMS, rules=rules, level="LPL")
    with pytest.raises(InvalidInput, match="largest contributions are for rules"):
        sdc.suppress(TABLE, DIMS, top=["VALUE"])
    with pytest.raises(InvalidInput, match="needs its counts"):
        sdc.primary(TABLE, DIMS, rules=rules, top=["LPL", "UPL"])
    with pytest.raises(InvalidInput, match="needs tables, domain and period"):
        sdc.audit(TABLE, DIMS, domain="sbs")  # type: ignore[call-overload]
    with pytest.raises(InvalidInput, match="which columns are dimensions"):
        sdc.audit(TABLE)  # type: ignore[call-overload]
    with pytest.raises(InvalidInput, match="controlled rounding needs a base"):
        sdc.round_table(TABLE, DIMS)


def test_two_steps_give_the_pattern_of_one():
    """The table of `primary` carries levels and singletons, so that `suppress` finds the same."""
    firms = pd.DataFrame(
        {"REGION": list("NNNNSSSS"), "BRANCH": list("CCDDCCDD"), "VALUE": [90, 4, 30, 20, 41, 40, 50, 45]}
    )
    at_once = sdc.suppress(firms, DIMS, rules=sdc.Rules(p=10))
    stepwise = sdc.suppress(sdc.primary(firms, DIMS, rules=sdc.Rules(p=10)).table, DIMS)
    assert stepwise.table.equals(at_once.table)
    assert (stepwise.loss, stepwise.bound) == (at_once.loss, at_once.bound)


def test_several_intruders_together_know_more():
    """p % of the largest, less what is left beside it and its intruders: 10 of 100, less 30 − 12
    − 8 of N.C.
    """
    firms = pd.DataFrame(
        {"REGION": list("NNNNNSSS"), "BRANCH": list("CCCCCCCC"), "VALUE": [100, 12, 8, 6, 4, 50, 50, 50]}
    )

    def levels(intruders: int) -> dict[str, float]:
        found = sdc.primary(firms, ["REGION", "BRANCH"], rules=sdc.Rules(p=15, intruders=intruders)).table
        return {row.REGION: row.LPL for row in found.itertuples() if row.BRANCH == "C" and row.STATUS == "u"}

    assert levels(1) == {}
    assert levels(2) == {"N": 15 - (30 - 12 - 8), "S": 7.5}
    assert levels(3) == {"N": 15 - (30 - 12 - 8 - 6), "S": 7.5}
    with pytest.raises(InvalidInput, match="one contributor attacks at least"):
        sdc.Rules(p=10, intruders=0)


def test_adjusted_tables_add_up_and_keep_their_distance():
    found = sdc.adjust(TABLE, DIMS, weights="one", seconds=5)
    wide = found.public.pivot_table(index="REGION", columns="BRANCH", values="VALUE")
    assert (wide.drop(columns="TOTAL").sum(axis=1) - wide["TOTAL"]).abs().max() < 1e-3
    assert abs(wide.loc["N", "C"] - SECRET) >= 500_000 * (1 - 1e-6)
    assert found.bound <= found.loss == pytest.approx(2_000_000, rel=1e-6)
    row = found.intervals().iloc[0]
    assert (row["LOW"], row["HIGH"]) == (SECRET - 500_000, SECRET + 500_000)
    with pytest.raises(InvalidInput, match="nothing says which cells are sensitive"):
        sdc.adjust(TABLE.drop(columns="STATUS"), DIMS)


@pytest.mark.parametrize("row", [[], [("a", "TOTAL", 0, 0, 0)]], ids=["added up", "given"])
def test_a_total_of_0_moves_with_its_parts_whether_or_not_it_has_a_row(row):
    """a.x may be 0 or more, and is 0: with its total fixed at 0, nobody could move it."""
    cells = [("a", "x", 0, 1, 1), ("a", "y", 0, 0, 0), ("b", "x", 5, 0, 0), ("b", "y", 4, 0, 0)]
    table = pd.DataFrame([*cells, *row], columns=["R", "C", "VALUE", "SECRET", "LEVEL"])
    found = sdc.adjust(table, ["R", "C"], primary="SECRET", level="LEVEL").table.set_index(["R", "C"])
    assert found.ADJUSTED["a", "x"] == found.ADJUSTED["a", "TOTAL"] == 1
    assert found.STATUS["a", "TOTAL"] == "s"


def test_a_total_of_what_is_not_there_stays_empty():
    cells = [("a", "x", 9, 1, 1), ("b", "y", 4, 0, 0)]
    table = pd.DataFrame(cells, columns=["R", "C", "VALUE", "SECRET", "LEVEL"])
    tree = {"T": None, "a": "T", "b": "T", "N": "T", "n1": "N", "n2": "N"}
    named = {"primary": "SECRET", "level": "LEVEL", "missing": "zero", "hierarchy": {"R": tree}}
    found = sdc.adjust(table, ["R", "C"], **named).table.set_index(["R", "C"])
    empty = [("N", "x"), ("N", "y"), ("N", "TOTAL"), ("n1", "TOTAL"), ("a", "y")]
    assert set(found.STATUS[empty]) == {"z"}
    assert not found.ADJUSTED[empty].any()


def test_rounded_tables_and_the_interval_of_a_reader():
    small = TABLE.assign(VALUE=[12, 7, 3, 8, 9, 21])[[*DIMS, "VALUE"]]
    found = sdc.round_table(small, DIMS, base=5)
    told = found.intervals()
    assert ((told["LOW"] <= found.table["VALUE"]) & (found.table["VALUE"] <= told["HIGH"])).all()
    counts = sdc.round_counts(small, DIMS, "VALUE", base=10)
    told = counts.intervals()
    assert ((told["LOW"] <= counts.table["ORIGINAL"]) & (counts.table["ORIGINAL"] <= told["HIGH"])).all()
    with pytest.raises(InvalidInput, match="row 2: column VALUE: counts are whole numbers"):
        sdc.round_counts(small.assign(VALUE=[12, 7, -3, 8, 9, 21]), DIMS, "VALUE")


def test_progress_is_told_to_whom_it_may_concern(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    lines: list[str] = []
    sdc.suppress(TABLE, DIMS, progress=lines.append)
    assert lines
    assert "gap 0.00%" in lines[-1]
    sdc.suppress(TABLE, DIMS)
    assert capsys.readouterr().err == "", "what is short is silent in a script"
    now = [0.0]
    monkeypatch.setattr(api_progress.time, "monotonic", lambda: now[0])
    tell = teller(None)
    for second in range(12):
        now[0] = float(second)
        tell(f"{second} s")
    assert capsys.readouterr().err == "5 s\n10 s\n", "what is long tells a line now and then"
    monkeypatch.undo()
    teller(True)("found")
    assert capsys.readouterr().err == "found\n"
    shown = io.StringIO()
    handle = SimpleNamespace(update=lambda text, raw: shown.write(f"+{text['text/plain']}"))

    def display(text: dict[str, str], raw: bool, display_id: bool) -> SimpleNamespace:
        shown.write(text["text/plain"])
        return handle

    notebook = SimpleNamespace(get_ipython=lambda: SimpleNamespace(kernel=object()))
    monkeypatch.setitem(sys.modules, "IPython", notebook)
    monkeypatch.setitem(sys.modules, "IPython.display", SimpleNamespace(display=display))
    tell = teller(None)
    tell("one")
    tell("two")
    assert shown.getvalue() == "one+two"


def test_who_is_told_of_a_gap_is_told_where_there_is_no_bound():
    """A bound of 0 is none: a gap of 100 % would be said of any pattern."""
    lines: list[str] = []
    report = of_moments(lines.append, "pattern")
    for objective, bound in ((80.0, 0.0), (80.0, 60.0), (0.0, 0.0)):
        report(Moment(1.0, objective, bound, "m"))
    assert [line.partition("found, ")[2] for line in lines] == [
        "no bound (m)",
        "gap 25.00% (m)",
        "gap 0.00% (m)",
    ]
    assert sdc.suppress(TABLE, DIMS, method="cover").figures["gap"] == "no bound"


def test_the_search_ends_where_it_hardly_pays_or_goes_on(monkeypatch: pytest.MonkeyPatch):
    asked: list[Work] = []

    def caught(problem: object, options: PatternOptions, report: object) -> SuppressionResult:
        asked.append(options.work)
        return search(problem, options, report)

    search = api_suppression.suppress_problem
    monkeypatch.setattr(api_suppression, "suppress_problem", caught)
    one, two = sdc.suppress(TABLE, DIMS), sdc.suppress(TABLE, DIMS, prove=True)
    assert asked == [WHILE_IT_PAYS, Work()]
    assert one.loss == two.loss == two.bound
    with pytest.raises(InvalidInput, match=r"prove: method cover proves no bound.*Remedy: "):
        sdc.suppress(TABLE, DIMS, method="cover", prove=True)


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, pd.DataFrame]]:
    from sdc_tasks.demo import write_demo

    folder = tmp_path_factory.mktemp("demo")
    path = write_demo(folder, countries=4, activities=6, sizes=2)
    read = {"sep": None, "engine": "python", "dtype": str, "keep_default_na": False, "encoding": "utf-8-sig"}
    return path, {
        file.name[:2]: pd.read_csv(file, **read) for file in sorted((folder / "inbox").glob("*.csv"))
    }


def test_a_release_of_frames_its_audit_and_why_a_cell_is_not_exact(demo):
    path, tables = demo
    found = sdc.release(tables, path, "2024")
    assert found.safe
    assert "audit passed" in repr(found)
    beside = sdc.audit(found.table, tables=tables, domain=path, period="2024")
    assert (beside.safe, beside.at_risk, beside.unjudged) == (True, (), ())
    inexact = [
        ".".join(key) for key, state in zip(found.cells.keys, found.states, strict=True) if state != "exact"
    ]
    assert inexact
    why = found.explain(inexact[0])
    named = [line for line in why.lines if line.startswith("exact, it would put ")]
    assert named or "no attack succeeds" in why.lines[0]
    exact = found.table.copy()
    truth = sum(
        tables[each]
        .set_index(list(found.cells.dimensions[1:]))["OBS_VALUE"]
        .astype(str)
        .str.replace(",", ".")
        .astype(float)
        for each in tables
    )
    at = [
        tuple(key) in set(truth.index)
        for key in exact[list(found.cells.dimensions[1:])].itertuples(index=False)
    ]
    keys = exact.loc[at, list(found.cells.dimensions[1:])].itertuples(index=False)
    exact.loc[at, "OBS_VALUE"] = [truth[tuple(key)] for key in keys]
    exact["ROUNDING_BASE"] = None
    told = sdc.audit(exact.assign(OBS_STATUS="A", CONF_STATUS="F"), tables=tables, domain=path, period="2024")
    assert not told.safe, "all sums exact give somebody away"
    assert told.at_risk
    assert found.plot()._repr_svg_().startswith("<?xml")


def test_what_is_drawn_is_drawn_by_the_secret_of_the_office_or_not_at_all(demo, monkeypatch):
    """Two calls would be two draws of one period."""
    path, tables = demo
    domain = load_domain(path)
    aware = domain.model_copy(update={"bases": domain.bases.model_copy(update={"rule_aware": True})})
    monkeypatch.delenv("SDC_WAREHOUSE_SECRET", raising=False)
    with pytest.raises(InvalidInput, match=r"drawn by a secret.*Remedy: set SDC_WAREHOUSE_SECRET"):
        sdc.release(tables, aware, "2024")
    monkeypatch.setenv("SDC_WAREHOUSE_SECRET", WAREHOUSE_SECRET)
    one, two = (sdc.release(tables, aware, "2024") for _ in range(2))
    assert one.publication.digest == two.publication.digest
    assert "secret" not in json.loads(one.certificate), "no warehouse names it"


def test_a_country_that_is_missing_or_wrong_is_named_by_row(demo):
    path, tables = demo
    first, *rest = tables
    with pytest.raises(InvalidInput, match=f"no table of {first}"):
        sdc.release({each: tables[each] for each in rest}, path, "2024")
    wrong = tables[first].copy()
    wrong.loc[3, "CONF_STATUS"] = "?"
    with pytest.raises(InvalidInput, match=f"{first}.csv: this delivery is refused; row 3: .*CONF_STATUS"):
        sdc.release({**tables, first: wrong}, path, "2024")
