"""The demonstration deliveries: additive, consistently flagged, properly protected, and the same bytes every
time.
"""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from sdc_tasks import intake, pipeline
from sdc_tasks.demo import StatisticShape, write_deliveries, write_demo, write_statistic
from sdc_tasks.demo.enterprises import Economy, microtables
from sdc_tasks.demo.shape import write_domain
from sdc_tasks.domains import load_domain
from sdc_tasks.domains.schema import Domain
from sdc_tasks.model.table import inside

Record = dict[str, str]
SMALL = {"countries": 4, "activities": 15, "sizes": 3}


@dataclass(frozen=True)
class Read:
    """A delivery as arrays over the national cell space; a plain reader, not the pipeline's."""

    value: np.ndarray
    flag: np.ndarray
    units: np.ndarray
    share_1: np.ndarray
    share_2: np.ndarray


def read(path: Path, domain: Domain) -> Read:
    text = path.read_bytes().decode("utf-8-sig")
    separator = ";" if text.splitlines()[0].count(";") else ","
    cells = {key: i for i, key in enumerate(domain.space.national_keys)}
    n = domain.space.national_size
    found = Read(
        np.zeros(n),
        np.full(n, "", dtype="U1"),
        np.zeros(n, dtype=int),
        np.full(n, np.nan),
        np.full(n, np.nan),
    )
    for record in csv.DictReader(io.StringIO(text), delimiter=separator):
        cell = cells[(record["INDICATOR"], record["ACTIVITY"], record["SIZECLASS"])]
        assert found.flag[cell] == "", "a cell has one record"
        found.value[cell] = float(record["OBS_VALUE"].replace(",", "."))
        found.flag[cell], found.units[cell] = record["CONF_STATUS"], int(record["UNITS"])
        if record["SHARE_1"]:
            found.share_1[cell], found.share_2[cell] = float(record["SHARE_1"]), float(record["SHARE_2"])
    return found


def files(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> tuple[Domain, dict[str, Path]]:
    folder = tmp_path_factory.mktemp("demo")
    domain = load_domain(write_demo(folder, **SMALL))
    return domain, {country: folder / "inbox" / f"{country}_2024.csv" for country in domain.countries}


def test_the_small_shape_is_what_was_asked_for(small: tuple[Domain, dict[str, Path]]) -> None:
    domain, deliveries = small
    assert domain.space.national_shape == (1, 15, 4)
    assert list(deliveries) == ["AT", "BE", "BG", "CY"]
    assert all(path.is_file() for path in deliveries.values())


def test_tables_are_additive_to_the_unit(small: tuple[Domain, dict[str, Path]]) -> None:
    domain, deliveries = small
    for path in deliveries.values():
        delivery = read(path, domain)
        assert not (domain.space.national_relations @ delivery.value).any()
        assert not (domain.space.national_relations @ delivery.units).any()


def test_flags_units_and_shares_agree(small: tuple[Domain, dict[str, Path]]) -> None:
    domain, deliveries = small
    for path in deliveries.values():
        d = read(path, domain)
        assert set(np.unique(d.flag)) <= {"", "F", "A", "M", "D"}
        assert (d.flag[d.value > 0] != "").all()
        assert ((d.flag == "") == ((d.value == 0) & inside(domain.space.hierarchies).ravel())).all(), (
            "a total has a record, if zero too"
        )
        assert ((d.flag == "A") == ((d.units == 1) | (d.units == 2))).all()
        primary = np.isin(d.flag, ["A", "M"])
        assert (np.isnan(d.share_1) == ~primary).all()
        assert (d.share_1[primary] >= d.share_2[primary]).all()
        assert ((d.share_1 + d.share_2)[primary] <= 100).all()
        assert (d.share_1[(d.flag == "A") & (d.units == 1)] == 100).all()


def test_there_is_something_to_protect_and_something_to_publish(
    small: tuple[Domain, dict[str, Path]],
) -> None:
    domain, deliveries = small
    flags = np.concatenate([read(path, domain).flag for path in deliveries.values()])
    assert all((flags == code).any() for code in "FAMD")


def test_no_relation_shows_exactly_one_suppressed_cell(small: tuple[Domain, dict[str, Path]]) -> None:
    domain, deliveries = small
    for path in deliveries.values():
        hidden = np.isin(read(path, domain).flag, ["A", "M", "D"]).astype(int)
        assert not (abs(domain.space.national_relations) @ hidden == 1).any()


def test_wire_formats_are_mixed(small: tuple[Domain, dict[str, Path]]) -> None:
    _, deliveries = small
    assert deliveries["AT"].read_bytes().startswith(b"STRUCTURE,STRUCTURE_ID,ACTION,FREQ,REF_AREA,")
    assert deliveries["BE"].read_bytes().startswith(b"DATAFLOW,FREQ,REF_AREA,")
    assert deliveries["CY"].read_bytes().startswith(b"\xef\xbb\xbfDATAFLOW;FREQ;REF_AREA;")
    assert deliveries["CY"].read_bytes().endswith(b"\r\n")


def test_the_same_arguments_give_the_same_bytes_and_another_seed_others(tmp_path: Path) -> None:
    for name, seed in (("one", 5), ("two", 5), ("three", 6)):
        write_demo(tmp_path / name, **SMALL, seed=seed)
    assert files(tmp_path / "one") == files(tmp_path / "two")
    one, three = files(tmp_path / "one"), files(tmp_path / "three")
    assert all(one[name] != three[name] for name in one if name.startswith("inbox"))


def test_a_country_does_not_depend_on_how_many_others_are_made(tmp_path: Path) -> None:
    write_demo(tmp_path / "two", countries=2, activities=15, sizes=3)
    write_demo(tmp_path / "four", **SMALL)
    assert (tmp_path / "two/inbox/BE_2024.csv").read_bytes() == (
        tmp_path / "four/inbox/BE_2024.csv"
    ).read_bytes()


def test_progress_counts_the_countries(tmp_path: Path) -> None:
    seen: list[tuple[str, int, int]] = []
    path = write_domain(tmp_path, countries=2, activities=3, sizes=2)
    write_deliveries(path, period="2023", progress=lambda *step: seen.append(step))
    assert seen == [("AT", 1, 2), ("BE", 2, 2)]
    assert (tmp_path / "inbox/AT_2023.csv").is_file()


@pytest.mark.parametrize("activities", [3, 8, 9, 13, 15, 60, 119, 121, 122, 123, 124, 180, 500])
@pytest.mark.parametrize(("countries", "sizes"), [(2, 3), (30, 7)])
def test_every_shape_is_a_domain_without_only_children(
    tmp_path: Path, countries: int, activities: int, sizes: int
) -> None:
    domain = load_domain(write_domain(tmp_path, countries, activities, sizes))
    assert len(domain.countries) == countries
    assert domain.space.national_shape == (1, activities, sizes + 1)
    assert all(len(parts) > 1 for _, parts in domain.space.hierarchies[0].families)
    assert sum(parent is None for parent in domain.space.hierarchies[0].parent) == 1


def test_the_default_shape_is_the_shipped_domain(tmp_path: Path) -> None:
    assert load_domain(write_domain(tmp_path, 27, 120, 5)).digest == load_domain("sbs").digest


def test_a_shape_without_a_table_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="at least 1 country, 3 activities and 2 size classes"):
        write_domain(tmp_path, 1, 2, 2)


def test_totals_know_their_two_largest_enterprises() -> None:
    hierarchies = load_domain("sbs").space.hierarchies
    table = microtables(Economy(seed=3), 0, "AT", (hierarchies[0], hierarchies[1]))["TURNOVER"]
    assert (table.x1 >= table.x2).all()
    assert (table.x1 + table.x2 <= table.value).all()
    assert ((table.units >= 2) == (table.x2 > 0)).all()
    assert table.x1[0, 0] == table.x1.max()
    for hierarchy, x1 in zip(hierarchies, (table.x1, table.x1.T), strict=True):
        for total, parts in hierarchy.families:
            assert (x1[total] == x1[list(parts)].max(axis=0)).all()


@pytest.fixture(scope="module")
def linked(tmp_path_factory: pytest.TempPathFactory) -> tuple[Domain, Path]:
    folder = tmp_path_factory.mktemp("linked")
    return load_domain(
        write_demo(folder, countries=6, activities=30, sizes=3, indicators=5, euro_area=True)
    ), folder / "inbox"


def test_several_indicators_are_linked_and_hide_the_same_cells(
    linked: tuple[Domain, Path], tmp_path: Path
) -> None:
    domain, inbox = linked
    assert domain.space.indicator_relations == (("VALUE_ADDED", ("PERSONNEL_COSTS", "SURPLUS")),)
    write_demo(tmp_path, countries=6, activities=30, sizes=3)
    alone = load_domain(tmp_path / "domain.yaml")
    for path in sorted(inbox.iterdir()):
        d = read(path, domain)
        assert not (domain.space.national_relations @ d.value).any()
        flags = d.flag.reshape(5, -1)
        assert (flags == flags[0]).all()
        assert ((d.value > 0).reshape(5, -1) == (d.value > 0).reshape(5, -1)[0]).all(), (
            "an enterprise reports at least 1 of each"
        )
        primary = np.isin(d.flag, ["A", "M"])
        assert ((d.share_1 + d.share_2)[primary] <= 100).all()
        turnover = read(tmp_path / "inbox" / path.name, alone)
        assert (d.value.reshape(5, -1)[0] == turnover.value).all()
        assert not ((turnover.flag == "D") & (flags[0] == "F")).any()


def test_linked_tables_protect_their_primaries(linked: tuple[Domain, Path]) -> None:
    """Against somebody who adds up activities, size classes and indicators."""
    domain, inbox = linked
    tables = [
        table
        for path in sorted(inbox.iterdir())
        if (table := intake.read(path, domain, "2024").table) is not None
    ]
    problem = pipeline.build_problem(tables, domain)
    requirements, _ = pipeline.baseline(problem, domain)
    assert problem.primary.sum() > 500
    assert not len(requirements.unprotected(())[0])


def test_the_euro_area_is_a_second_composition(linked: tuple[Domain, Path], tmp_path: Path) -> None:
    domain, _ = linked
    assert [(each.code, each.members) for each in domain.space.aggregates] == [
        ("EU27_2020", ("AT", "BE", "BG", "CY", "CZ", "DE")),
        ("EA20", ("AT", "BE", "CY", "DE")),
    ]
    with pytest.raises(ValueError, match="two members, and a country outside"):
        write_domain(tmp_path, 2, 9, 2, euro_area=True)


def test_an_indicator_that_there_is_not_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="1 to 5 indicators"):
        write_domain(tmp_path, 2, 9, 2, indicators=6)


@pytest.mark.slow
def test_the_default_demonstration_has_the_size_of_the_paper(tmp_path: Path) -> None:
    domain = load_domain(write_demo(tmp_path))
    flags = np.concatenate(
        [read(tmp_path / "inbox" / f"{country}_2024.csv", domain).flag for country in domain.countries]
    )
    assert domain.space.size == 20_160
    assert domain.space.relations.shape[0] == 8_280
    assert 3_800 <= np.isin(flags, ["A", "M"]).sum() <= 4_300
    assert 6_300 <= np.isin(flags, ["A", "M", "D"]).sum() <= 7_100


@pytest.fixture(scope="module")
def statistic(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], dict[str, Record]]:
    """(table and period, country) → activity → record, of the main table, and of its quarters."""
    folder = tmp_path_factory.mktemp("statistic")
    write_statistic(folder, StatisticShape(4, 48, 2, 2, quarters=True))
    found = dict[tuple[str, str], dict[str, Record]]()
    for table in ("main", *(f"quarters/2024-Q{number}" for number in range(1, 5))):
        for file in sorted((folder / "inbox" / table).iterdir()):
            lines = file.read_bytes().decode("utf-8-sig").splitlines()
            reader = csv.DictReader(lines, delimiter=";" if ";" in lines[0] else ",")
            found[table.split("-")[-1], file.name[:2]] = {each["ACTIVITY"]: each for each in reader}
    return found


def test_quarters_add_up_to_the_year_and_hide_what_it_hides(statistic):
    hidden = 0
    for country in ("AT", "BE", "BG", "CY"):
        year = statistic["main", country]
        quarters = [statistic[f"Q{number}", country] for number in range(1, 5)]
        for activity in quarters[0]:
            values = [float(each[activity]["OBS_VALUE"].replace(",", ".")) for each in quarters]
            assert sum(values) == float(year[activity]["OBS_VALUE"].replace(",", "."))
            assert len(set(values)) > 1 or sum(values) == 0
            public = {each[activity]["CONF_STATUS"] == "F" for each in (year, *quarters)}
            assert len(public) == 1, f"{activity} of {country} is hidden in a part of the periods only"
            hidden += public == {False}
    assert hidden > 5
