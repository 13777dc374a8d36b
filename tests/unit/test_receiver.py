"""Secondaries of the receiver where indicators are linked, counted, or sent without numbers of units;
judged by an attacker of its own.

The attacker's relations are written down from the codes, and each question is one program of scipy.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, milp

from sdc_tasks import pipeline
from sdc_tasks.errors import Unprotectable
from sdc_tasks.methods import attack
from sdc_tasks.methods.receiver.options import SuppressionOptions
from sdc_tasks.methods.receiver.secondaries import secondaries
from sdc_tasks.model.problem import ProtectionProblem
from sdc_tasks.model.results import ReceiverSuppression
from sdc_tasks.model.table import CellSpace, Hierarchy, added_up
from support.deliveries import deliver, sdmx_1, small_domain

ONE = "  - {code: TURNOVER, label: Turnover, unit: EUR, unit_multiplier: 3}\n"
LINKED = ONE + "".join(
    f"  - {{code: {each}, label: {each}, unit: EUR, unit_multiplier: 3}}\n" for each in ("GOODS", "SERVICES")
)
LINKED += "indicator_relations: [{total: TURNOVER, parts: [GOODS, SERVICES]}]\n"
COUNTED = ONE + (
    "  - {code: FIRMS, label: Firms, unit: EUR, unit_multiplier: 3, kind: count, "
    "rounding: {method: small-count, base: 3}}\n"
)
ASKED = (
    "missing_country: partial\nsuppression: {{receiver: when_missing, gap: "
    "0}}\naudit: {{profiles: {}}}\nhierarchies:"
)
PRIMARY = """
            _T       S       L
    TOTAL   1500 F   700 F   800 F
    C       700 F    300 F   400 F
    D       800 F    400 F   400 A
"""
FREE = PRIMARY.replace("400 A", "400 F")
DOUBLE = """
            _T       S       L
    TOTAL   3000 F   1400 F  1600 F
    C       1400 F   600 F   800 F
    D       1600 F   800 F   800 F
"""
COUNTS = """
            _T       S       L
    TOTAL   21 F     10 F    11 F
    C       13 F     8 F     5 F
    D       8 F      2 D     6 F
"""


def case(
    folder: Path, indicators: str, drawings: dict[str, str], profiles: str = "[external]", units: str = "9"
) -> tuple[ProtectionProblem, ReceiverSuppression]:
    """The table of AT, a drawing for each indicator, and what the receiver sets in it. `units`
    of all cells but the primaries.
    """
    domain = small_domain(folder, f"{ONE}hierarchies:", indicators + ASKED.format(profiles))
    files = [
        sdmx_1(drawing).replace(",TURNOVER,", f",{code},").splitlines() for code, drawing in drawings.items()
    ]
    records = [
        line.replace(",A,,,", ",A,9,,").replace(",,,", f",{units},,") for _, *lines in files for line in lines
    ]
    delivery = deliver(domain, folder, "\n".join([files[0][0], *records, ""]))
    assert delivery.table is not None, delivery.findings
    problem = pipeline.build_problem([delivery.table], domain)
    return problem, pipeline.receiver_sets(
        problem, "AT", pipeline.sets_secondaries(delivery.table, domain), domain, ()
    )


def keys(problem: ProtectionProblem, cells: np.ndarray) -> set[str]:
    return {problem.space.key(int(cell)) for cell in cells}


def interval(problem: ProtectionProblem, hidden: np.ndarray, cell: int) -> tuple[float, float]:
    """What the attacker finds of a national cell, if these are hidden too: every cell is a variable, every
    sum a row.
    """
    space, n = problem.space, problem.space.national_size
    place = {key: i for i, key in enumerate(space.national_keys)}
    rows = []
    for indicator, *codes in product(*space.axes):
        sums = [
            [(part, *codes) for part in parts]
            for total, parts in space.indicator_relations
            if total == indicator
        ]
        for axis, hierarchy in enumerate(space.hierarchies):
            children = [
                code
                for code, above in zip(hierarchy.codes, hierarchy.parent, strict=True)
                if above == codes[axis]
            ]
            sums.append([(indicator, *codes[:axis], child, *codes[axis + 1 :]) for child in children])
        for parts in filter(None, sums):
            row = np.zeros(n)
            row[place[indicator, *codes]] = -1
            row[[place[part] for part in parts]] = 1
            rows.append(row)
    open_ = problem.public[:n].copy()
    open_[hidden] = False
    lower, upper = (
        np.where(open_, problem.a[:n], problem.lb[:n]),
        np.where(open_, problem.a[:n], problem.ub[:n]),
    )
    found = []
    for side in (1.0, -1.0):
        cost = np.zeros(n)
        cost[cell] = side
        whole = problem.integral[:n].astype(int)
        ended = milp(
            cost,
            bounds=Bounds(lower, upper),
            constraints=LinearConstraint(np.array(rows), 0, 0),
            integrality=whole,
        )
        found.append(side * ended.fun if ended.status == 0 else -side * np.inf)
    return found[0], found[1]


def unprotected(problem: ProtectionProblem, hidden: np.ndarray) -> list[str]:
    """The primaries of the country that the attacker finds more closely than their
    levels, upwards, downwards or in all.
    """
    wrong = []
    for cell in np.flatnonzero(problem.primary[: problem.space.national_size]):
        low, high = interval(problem, hidden, int(cell))
        a, tiny = problem.a[cell], 1e-6 * max(1.0, problem.a[cell])
        down = min(problem.lpl[cell], a - problem.lb[cell])
        if (
            low > a - down + tiny
            or high < a + problem.upl[cell] - tiny
            or high - low < problem.spl[cell] - tiny
        ):
            wrong.append(problem.space.key(int(cell)))
    return wrong


def test_a_cell_of_one_indicator_is_not_the_difference_of_two_others(tmp_path):
    """A square within GOODS protects the primary in GOODS, and TURNOVER less SERVICES gives it away."""
    problem, found = case(tmp_path, LINKED, {"TURNOVER": DOUBLE, "GOODS": PRIMARY, "SERVICES": FREE})
    square = np.flatnonzero(
        [key[0] == "GOODS" and "TOTAL" not in key and "_T" not in key for key in problem.space.national_keys]
    )
    assert unprotected(problem, square) == ["AT.GOODS.D.L"]
    assert unprotected(problem, found.cells) == []
    assert {key.split(".")[1] for key in keys(problem, found.cells)} > {"GOODS"}
    assert len(found.cells) == 7, "the primary, its square, and the same square in another indicator"
    assert (keys(problem, found.unsafe), len(found.shown), len(found.known)) == ({"AT.GOODS.D.L"}, 0, 0)


def test_the_bound_of_one_indicator_is_a_bound_of_another(tmp_path):
    """GOODS cannot be more than a public TURNOVER of which hardly anything is SERVICES: hidden
    alone, they leave no room upwards.
    """
    rest = """
            _T     S      L
    TOTAL   12 F   6 F    6 F
    C       6 F    3 F    3 F
    D       6 F    3 F    3 F
"""
    whole = """
            _T       S       L
    TOTAL   1512 F   706 F   806 F
    C       706 F    303 F   403 F
    D       806 F    403 F   403 F
"""
    problem, found = case(tmp_path, LINKED, {"TURNOVER": whole, "GOODS": PRIMARY, "SERVICES": rest})
    inner = (
        "TOTAL" not in key and "_T" not in key and key[0] != "TURNOVER" for key in problem.space.national_keys
    )
    assert unprotected(problem, np.flatnonzero(list(inner))) == ["AT.GOODS.D.L"]
    assert unprotected(problem, found.cells) == []
    assert any(".TURNOVER." in key for key in keys(problem, found.cells))


def test_small_counts_are_primaries_and_open_small_counts_stay_open(tmp_path):
    """The suppressed count of 2 is a primary of small count rounding, not a secondary that the
    country has set: it has set none.
    """
    problem, found = case(tmp_path, COUNTED, {"TURNOVER": PRIMARY, "FIRMS": COUNTS})
    assert {"AT.TURNOVER.D.L", "AT.FIRMS.D.S"} == keys(problem, np.flatnonzero(problem.primary))
    assert unprotected(problem, np.zeros(0, dtype=int)) == ["AT.TURNOVER.D.L", "AT.FIRMS.D.S"]
    assert not found.own
    assert unprotected(problem, found.cells) == []
    assert {key.split(".")[1] for key in keys(problem, found.cells)} == {"TURNOVER", "FIRMS"}
    assert not ((problem.a[found.cells] > 0) & (problem.a[found.cells] < problem.least[found.cells])).any()


def test_what_the_country_hides_of_its_counts_are_no_secondaries_of_its_turnover(tmp_path):
    """Nobody publishes a count here. Of the turnover the country has sent primaries only."""
    hidden = COUNTS.replace(" F", " D")
    problem, found = case(tmp_path, COUNTED, {"TURNOVER": PRIMARY, "FIRMS": hidden})
    assert unprotected(problem, np.zeros(0, dtype=int)) == ["AT.TURNOVER.D.L"]
    assert (found.own, keys(problem, found.cells)) == (
        False,
        {f"AT.TURNOVER.{key}" for key in ("C.S", "C.L", "D.S")},
    )


def test_secondaries_in_a_linked_indicator_are_the_countrys_own(tmp_path):
    """It hid cells of SERVICES for a primary of GOODS: the domain asks only for tables without any."""
    hidden = FREE.replace("300 F", "300 D")
    _, found = case(tmp_path, LINKED, {"TURNOVER": DOUBLE, "GOODS": PRIMARY, "SERVICES": hidden})
    assert (found.own, len(found.cells)) == (True, 0)


@pytest.mark.parametrize("units", ["1", "2", ""])
def test_cells_of_few_or_unknown_units_are_not_hidden_from_respondents(tmp_path, units):
    """Their respondents would know what is hidden. Here that is every cell, so nothing can be done,
    and it is said what would help.
    """
    with pytest.raises(
        Unprotectable, match=r"AT\.TURNOVER\.D\.L: not protected to the level.*sends UNITS of each cell"
    ):
        case(tmp_path, ONE, {"TURNOVER": PRIMARY}, "[external, internal]", units)


def test_cells_of_many_units_are_hidden_from_respondents(tmp_path):
    problem, found = case(tmp_path, ONE, {"TURNOVER": PRIMARY}, "[external, internal]")
    assert keys(problem, found.cells) == {f"AT.TURNOVER.{key}" for key in ("C.S", "C.L", "D.S")}
    assert unprotected(problem, found.cells) == []


def test_without_respondents_among_the_attackers_units_do_not_matter(tmp_path):
    problem, found = case(tmp_path, ONE, {"TURNOVER": PRIMARY}, units="")
    assert len(found.cells) == 3
    assert unprotected(problem, found.cells) == []


def square(
    inner: list[list[float]], primaries: dict[int, tuple[float, float]], whole: bool
) -> ProtectionProblem:
    """Totals and 3 × 3 cells, all public but the primaries: sliding level, and what the
    largest unit knows of the cell.
    """
    hierarchies = tuple(Hierarchy(name, ("T", *"abc"), (None, "T", "T", "T")) for name in ("ROW", "COLUMN"))
    values = np.zeros((4, 4))
    values[1:, 1:] = inner
    a = added_up(values, hierarchies).ravel()
    primary, spl, known = np.zeros(16, dtype=bool), np.zeros(16), np.full(16, np.nan)
    for cell, (level, part) in primaries.items():
        primary[cell], spl[cell], known[cell] = True, level, part
    none = np.zeros(16)
    space = CellSpace(("AT",), (), ("I",), hierarchies)
    return ProtectionProblem(
        space,
        a,
        none,
        np.full(16, np.inf),
        none,
        none,
        spl,
        ~primary,
        primary,
        (),
        known=known,
        integral=np.full(16, whole),
    )


@pytest.mark.parametrize(
    ("table", "most"),
    [
        (
            square(
                [[1, 6, 24], [27, 15, 18], [22, 19, 16]], {7: (16.3, np.nan), 14: (15.5, 11.0)}, whole=True
            ),
            4,
        ),
        (
            square(
                [[5, 11, 3], [29, 13, 26], [17, 6, 19]], {14: (4.6, 3.0), 15: (28.6, np.nan)}, whole=False
            ),
            6,
        ),
    ],
)
def test_of_the_cells_around_a_primary_only_those_stay_hidden_that_it_needs(table, most):
    """Against a respondent who knows his part the cheapest pattern is not enough. All that lies
    around would be 14 and 8 cells.
    """
    profiles = ("external", "internal")
    found = secondaries(table, "AT", False, SuppressionOptions(receiver="when_missing", gap=0), profiles, ())
    assert len(found.cells) == most
    hidden = replace(table, public=table.public & ~np.isin(np.arange(16), found.cells))
    assert unprotected(table, found.cells) == []
    assert not attack.baseline(hidden, profiles)[0].cut.any()
    for cell in found.cells:
        shown = replace(hidden, public=hidden.public | (np.arange(16) == cell))
        assert attack.baseline(shown, profiles)[0].cut.any(), "each of them is needed"
