"""Domain files: what they describe, how they are found, and what is refused before any delivery is read."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from pydantic import ValidationError

from sdc_tasks.domains import Domain, file, load_domain
from sdc_tasks.domains.schema import Role
from sdc_tasks.errors import InvalidInput
from support.deliveries import small_domain

EU = "  - {code: EU, label: Union, members: all, partial_code: EU_PARTIAL}\n"


@pytest.fixture
def edited(tmp_path: Path) -> Callable[..., Domain]:
    """Loads the small domain with one piece of its file replaced, or with other code lists."""

    def load(old: str = "", new: str = "", **codelists: str | bytes) -> Domain:
        small_domain(tmp_path)
        path = tmp_path / "small.yaml"
        assert old in path.read_text()
        path.write_text(path.read_text().replace(old, new, 1))
        for name, content in codelists.items():
            (tmp_path / f"{name}.csv").write_bytes(
                content if isinstance(content, bytes) else content.encode()
            )
        return load_domain(path)

    return load


# --- what is shipped ----------------------------------------------------------------------------------------


def test_the_shipped_domain_has_the_shape_of_the_paper():
    sbs = load_domain("sbs")
    assert len(sbs.countries) == 27
    assert [(len(h.codes), len(h.families)) for h in sbs.space.hierarchies] == [(120, 25), (6, 1)]
    assert sbs.space.size == 20_160
    assert sbs.space.relations.shape == (8_280, 20_160)


def test_exactly_the_primary_flags_have_a_rule():
    flags = load_domain("sbs").flags
    assert {flag.role for flag in flags.values()} == set(Role)
    for flag in flags.values():
        assert (flag.rule is not None) == (flag.role is Role.PRIMARY)


def test_every_code_has_a_label_for_the_report():
    sbs = load_domain("sbs")
    for codes, dimension in (
        (sbs.space.areas, "REF_AREA"),
        *((h.codes, h.dimension) for h in sbs.space.hierarchies),
    ):
        assert set(codes) <= set(sbs.labels[dimension])


# --- found by name, frozen, known by a digest ---------------------------------------------------------------


def test_a_domain_is_found_by_the_name_of_its_file(tmp_path, monkeypatch):
    """Two domains in one folder share the layout and the code lists."""
    small_domain(tmp_path)
    shutil.copyfile(tmp_path / "small.yaml", tmp_path / "other.yaml")
    (tmp_path / "other.yaml").write_text(
        (tmp_path / "other.yaml").read_text().replace("id: small", "id: other")
    )
    monkeypatch.setattr(file, "HERE", tmp_path)
    assert file.known_domains() == ["other", "small"]
    assert [load_domain(name).id for name in file.known_domains()] == ["other", "small"]
    assert load_domain("small").digest != load_domain("other").digest
    with pytest.raises(InvalidInput, match=r"no domain named sbs; known: other, small \(or give the path"):
        load_domain("sbs")


def test_nothing_in_a_domain_can_be_changed(edited):
    domain = edited()
    with pytest.raises(ValidationError, match="frozen"):
        domain.missing_country = "partial"
    with pytest.raises(ValidationError, match="frozen"):
        domain.flags["A"].rule.percent = 0


def test_the_digest_is_that_of_the_file_and_of_every_code_list(edited):
    first = edited().digest
    assert edited().digest == first
    changed = {
        edited("percent: 10", "percent: 11").digest,
        edited(areas="code,parent\nAT,EU\nBE,EU\nCY,EU\n").digest,
        edited(activities="code,parent\nTOTAL,\nC,TOTAL\nE,TOTAL\n").digest,
        edited(sizes="code,parent\n_T,\nS,_T\nM,_T\n").digest,
    }
    assert len(changed | {first}) == 5


def test_a_domain_is_made_once_as_long_as_its_files_stay_as_they_are(edited, tmp_path, monkeypatch):
    domain = edited()
    path = tmp_path / "small.yaml"
    assert load_domain(path) is domain, "each step of a release asks for its domain again"
    monkeypatch.chdir(tmp_path)
    assert load_domain("small.yaml") is not domain, "another spelling: messages name files as they were given"
    for name in ("small.yaml", "areas.csv", "activities.csv", "sizes.csv"):
        before, at = load_domain(path), tmp_path / name
        at.write_bytes(at.read_bytes() + b"\n")  # a changed file is read, also where the change says nothing
        assert load_domain(path) is not before, name
        at.write_bytes(at.read_bytes()[:-1])
        assert load_domain(path).settings == domain.settings
    kept = (tmp_path / "sizes.csv").read_bytes()
    (tmp_path / "sizes.csv").unlink()
    with pytest.raises(InvalidInput, match="cannot read"):
        load_domain(path)
    (tmp_path / "sizes.csv").write_bytes(kept.replace(b"L,_T", b"M,_T"))
    assert load_domain(path).space.hierarchies[1].codes == ("_T", "S", "M")


def test_a_changed_list_of_expected_keys_makes_another_domain(edited, tmp_path):
    keys = tmp_path / "keys.csv"
    head = "REF_AREA,INDICATOR,ACTIVITY,SIZECLASS\n"
    keys.write_text(head + "AT,TURNOVER,TOTAL,_T\n")
    domain = edited("flags:", "expected: {keys: keys.csv}\nflags:")
    assert load_domain(tmp_path / "small.yaml") is domain
    keys.write_text(head + "AT,TURNOVER,C,_T\n")
    other = load_domain(tmp_path / "small.yaml")
    assert other.expected_keys == {("AT", "TURNOVER", "C", "_T")}
    assert other.digest != domain.digest


def test_only_the_last_domains_are_remembered(tmp_path):
    folders = [tmp_path / str(number) for number in range(file.REMEMBERED + 1)]
    for each in folders:
        each.mkdir()
    first, *_, last = [small_domain(each) for each in folders]
    assert load_domain(folders[-1] / "small.yaml") is last
    assert load_domain(folders[0] / "small.yaml") is not first


# --- compositions -------------------------------------------------------------------------------------------


def test_an_aggregate_with_missing_members_goes_under_its_partial_code(edited):
    domain = edited(EU, EU + "  - {code: EA, label: Some, members: [BE]}\n")
    assert [(a.code, a.members) for a in domain.space.aggregates] == [("EU", ("AT", "BE")), ("EA", ("BE",))]
    assert [(a.code, a.members) for a in domain.space_of(("BE",)).aggregates] == [
        ("EU_PARTIAL", ("BE",)),
        ("EA", ("BE",)),
    ]
    with pytest.raises(
        InvalidInput, match="EA: no delivery from BE, and the domain file gives no partial_code"
    ):
        domain.space_of(("AT",))


def test_countries_keep_the_order_of_the_code_list_whatever_order_they_arrive_in(edited):
    domain = edited(areas="code,parent\nEU,\nBE,EU\nAT,EU\n")
    assert domain.countries == ("BE", "AT"), "the aggregate of the list is no country"
    assert domain.space_of(("AT", "BE")).countries == ("BE", "AT")


# --- compositions and countries that come and go ------------------------------------------------------------

AREAS = "code,parent,from,until\nEU2,,,\nEU1,,,\nAT,,,\nBE,,,2019\n"
THEN = """  - {code: EU2, label: Of two, members: [AT, BE], from: 2013, until: 2019}
  - {code: EU1, label: Of one, members: all, from: 2020-Q1}
  - {code: AT_ONLY, label: Of one, members: [AT]}
"""


def told(domain: Domain) -> tuple[tuple[str, ...], list[tuple[str, tuple[str, ...]]]]:
    return domain.countries, [(each.code, each.members) for each in domain.space.aggregates]


def test_one_file_serves_the_years_before_and_after_a_country_left(edited):
    domain = edited(EU, THEN, areas=AREAS)
    both, rest = ("AT_ONLY", ("AT",)), ("EU1", ("AT",))
    assert told(domain.of("2010")) == (("AT", "BE"), [both])
    assert told(domain.of("2013")) == (("AT", "BE"), [("EU2", ("AT", "BE")), both])
    assert told(domain.of("2019-Q4")) == (("AT", "BE"), [("EU2", ("AT", "BE")), both])
    assert told(domain.of("2020")) == (("AT",), [rest, both])
    assert told(domain.of("2026-02")) == (("AT",), [rest, both])
    assert domain.of("2020").of("2020").countries == ("AT",)


def test_a_domain_that_changes_in_time_says_nothing_without_a_period(edited):
    domain = edited(EU, THEN, areas=AREAS)
    for name in ("countries", "space"):
        with pytest.raises(ValueError, match="take the domain of a period"):
            getattr(domain, name)
    with pytest.raises(ValueError, match="another period"):
        domain.of("2019").of("2020")


def test_the_digest_is_of_the_period_alone(edited):
    """What changes from 2027 on makes no new release of 2024; what holds in 2024 does."""
    first = edited(EU, THEN, areas=AREAS)
    later = edited(
        EU, THEN + "  - {code: EU3, label: New, members: [AT], from: 2027}\n", areas=AREAS + "CY,,2027,\n"
    )
    assert first.of("2024").digest == later.of("2024").digest
    assert first.of("2027").digest != later.of("2027").digest
    assert len({first.of(period).digest for period in ("2010", "2013", "2020")}) == 3
    other = edited(EU, THEN.replace("members: all", "members: [AT]"), areas=AREAS)
    assert other.of("2013").digest == first.of("2013").digest
    assert other.of("2020").digest != first.of("2020").digest


def test_a_composition_may_follow_another_of_its_code(edited):
    follows = (
        "  - {code: EU, label: Union, members: [AT, BE], until: 2019}\n  - {code: EU, "
        "label: Union, members: [AT], from: 2020}\n"
    )
    domain = edited(EU, follows)
    assert [told(domain.of(year))[1] for year in ("2019", "2020")] == [
        [("EU", ("AT", "BE"))],
        [("EU", ("AT",))],
    ]


@pytest.mark.parametrize(
    ("aggregates", "areas", "said"),
    [
        (THEN.replace("until: 2019", "until: 2012"), AREAS, "from 2013 is after until 2012"),
        (
            THEN.replace("from: 2013", "from: yesterday"),
            AREAS,
            "yesterday is not a reference period; write it such as 2024",
        ),
        (
            THEN.replace("until: 2019", "until: 2021"),
            AREAS,
            r"from 2020-01-01 until before 2022-01-01: aggregate EU2: members \['BE'\]",
        ),
        (
            THEN.replace("EU1", "EU2").replace("2020-Q1", "2019"),
            AREAS,
            "codes of aggregates.*EU2 stands more than once",
        ),
        (THEN, AREAS.replace(",2019", ",9"), r"areas\.csv: 9 is not a reference period"),
    ],
)
def test_validity_that_contradicts_itself_is_refused(edited, aggregates, areas, said):
    with pytest.raises(InvalidInput, match=said):
        edited(EU, aggregates, areas=areas)


def test_a_period_without_compositions_or_beside_their_bounds_is_refused(edited):
    domain = edited(
        EU,
        THEN.replace("  - {code: AT_ONLY, label: Of one, members: [AT]}\n", "").replace("2013", "2013-07"),
        areas=AREAS,
    )
    with pytest.raises(InvalidInput, match="small in 2012: no composition is valid then"):
        domain.of("2012")
    with pytest.raises(
        InvalidInput, match="EU2 is valid from 2013-07-01 until before 2020-01-01, which is a part of 2013"
    ):
        domain.of("2013")
    with pytest.raises(InvalidInput, match="May is not a reference period"):
        domain.of("May")


def test_codes_of_a_hierarchy_have_no_validity(edited):
    with pytest.raises(InvalidInput, match=r"sizes\.csv: from and until are for areas"):
        edited(sizes="code,parent,from\n_T,,2013\nS,_T,\nL,_T,\n")


# --- units by code ------------------------------------------------------------------------------------------

SIZES = "code,parent,unit,unit_multiplier\n_T,,{0},3\nS,_T,{1},3\nL,_T,{1},3\n"
FLAT = "code,parent,unit,unit_multiplier\nS,,kg,3\nL,,m2,\n"
INDICATOR = "  - {code: TURNOVER, label: Turnover, unit: EUR, unit_multiplier: 3}\n"
SOLD = "  - {code: SOLD, label: Sold, unit_of: SIZECLASS}\n"


def test_a_unit_for_each_code(edited):
    domain = edited(INDICATOR, INDICATOR + SOLD, sizes=FLAT)
    told = dict(zip(domain.space.national_keys, domain.units, strict=True))
    assert {key[2]: unit for key, unit in told.items() if key[0] == "SOLD"} == {
        "S": ("kg", 3),
        "L": ("m2", 0),
    }
    assert {unit for key, unit in told.items() if key[0] == "TURNOVER"} == {("EUR", 3)}
    assert edited(INDICATOR, SOLD, sizes=SIZES.format("kg", "kg")).units[0] == ("kg", 3), "a sum of one unit"


@pytest.mark.parametrize(
    ("indicators", "sizes", "said"),
    [
        (
            SOLD,
            SIZES.format("kg", "m2"),
            r"SOLD\.TOTAL\._T would be a sum with SOLD\.TOTAL\.S, which is in another unit",
        ),
        (SOLD, SIZES.format("kg", "kg").replace("L,_T,kg,3", "L,_T,kg,6"), "which is in another unit"),
        (SOLD, SIZES.format("", "kg"), r"sizes\.csv: _T \(1 in all\) without a unit, which SOLD needs"),
        (SOLD, FLAT.replace(",3", ",x"), r"sizes\.csv: invalid literal for int"),
        (SOLD.replace("SIZECLASS", "PRODUCT"), FLAT, "unit_of PRODUCT is no hierarchy"),
        (SOLD.replace("unit_of", "unit: kg, unit_of"), FLAT, "exactly one of them"),
        (INDICATOR.replace(", unit: EUR", ""), FLAT, "exactly one of them"),
        (SOLD.replace("unit_of", "unit_multiplier: 3, unit_of"), FLAT, "it stands in the code list"),
    ],
)
def test_units_that_are_missing_or_would_be_added_up_are_refused(edited, indicators, sizes, said):
    with pytest.raises(InvalidInput, match=said):
        edited(INDICATOR, indicators, sizes=sizes)


def test_linked_indicators_are_in_one_unit(edited):
    parts = (
        INDICATOR
        + INDICATOR.replace("TURNOVER", "HOME")
        + INDICATOR.replace("TURNOVER", "ABROAD").replace("r: 3", "r: 6")
    )
    linked = "indicator_relations: [{total: TURNOVER, parts: [HOME, ABROAD]}]\nhierarchies:"
    old = INDICATOR + "hierarchies:"
    with pytest.raises(
        InvalidInput,
        match=r"TURNOVER\.TOTAL\._T would be a sum with ABROAD\.TOTAL\._T, which is in another unit",
    ):
        edited(old, parts + linked)
    edited(old, parts.replace("r: 6", "r: 3") + linked)


# --- refused ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        ("id: small", "id: small\nfrobnicate: 1", "frobnicate: "),
        ("percent: 10", "perzent: 10", "flags.A.rule.perzent: "),
        ("label: Union", "label: Union, membres: all", "aggregates.0.membres: "),
        ("id: small", "id: Small One", "id: "),
        ("id: small", "id: small\nlinked: 5", "linked: keys and values are wanted"),
        ("id: small", "id: small\nlinked: {tables: sizes}", "linked.tables: a list is wanted"),
        (
            "id: small",
            "id: small\nlinked: {tables: [a], together: maybe}",
            "linked.together: true or false is wanted",
        ),
        ("id: small", "id: small\nlinked: {together: true}", "linked: together: with which tables"),
        (
            "id: small",
            "id: small\nlinked: {periods: 5}",
            "linked.periods: Input should be 'sum', 'mean' or 'none'",
        ),
        ("role: public", "role: free", "flags.F.role: Input should be 'public', 'primary' or 'secondary'"),
        (
            "{role: secondary}",
            "{role: secondary, rule: {kind: percent}}",
            "flags.D: .*exactly the primary flags have a rule",
        ),
        (
            "{role: primary, rule: {kind: percent, percent: 10}}",
            "{role: primary}",
            "flags.A: .*exactly the primary flags have a rule",
        ),
        (
            "kind: percent, percent: 10",
            "kind: percent, percent: -10",
            "flags.A.rule.percent: .*greater than 0",
        ),
        (
            "kind: percent, percent: 10",
            "kind: percent, p: 30",
            "flags.A.rule.p: .*Remedy: leave p out .known here: few_units, .*percent",
        ),
        (
            "kind: nk, n: 1, k: 85",
            "kind: nk, n: 1, q: 85",
            "flags.O.rule.q: .*Remedy: leave q out .known here: few_units, .*k, kind",
        ),
        ("kind: nk, n: 1, k: 85", "n: 1, k: 85", "flags.O.rule: .*kind"),
        ("kind: nk, n: 1, k: 85", "kind: nkk", "flags.O.rule: .*'nkk'.*'percent', 'p_percent', 'pq', 'nk'"),
        (
            "id: small",
            "id: small\ncta: {ladder: [{method: milp, nodes: 9, blocks: 3}]}",
            "cta.ladder.0: .*milp: it has no blocks.*Remedy",
        ),
        (
            "id: small",
            "id: small\ncta: {ladder: [{method: bcd, rounds: 1, solver: cbc}]}",
            "cta.ladder.0: .*bcd: it has no solver",
        ),
        (
            "id: small",
            "id: small\ncta: {ladder: [{method: auto, rounds: 1, polygon: false}]}",
            "cta.ladder.0: .*auto: it has no polygon",
        ),
        ("members: all", "members: some", "aggregates.0.members"),
        ("id: small", "id: small\nbases: {rule: cta, passes: 3}", "bases: .*passes: only .*Remedy"),
        (
            "unit_multiplier: 3}",
            "unit_multiplier: 3, kind: count, rounding: {method: small-count, base: 3, gap: 0.1}}",
            (
                "indicators.0.rounding.gap: .*Remedy: leave gap out .known here: base, drawn, epoch, method, "
                "quality"
            ),
        ),
        (
            "id: small",
            "id: small\nsuppression: {receiver: when_missing, method: paths, gap: 0.1}",
            "suppression: .*gap: method paths proves no bound.*Remedy",
        ),
        ("title: A table of three activities and three size classes\n", "", "title: Field required"),
        (
            "id: small",
            "id: small\nmissing_country: ignore",
            "missing_country: Input should be 'block', 'partial' or 'wait'",
        ),
        ("id: small", "id: [small", "not YAML"),
    ],
)
def test_what_a_domain_file_may_not_say_is_refused_by_file_and_key(edited, old, new, named):
    with pytest.raises(InvalidInput, match=rf"small\.yaml: (.*; )?{named}"):
        edited(old, new)


def test_an_unknown_key_is_answered_with_those_that_are_known(edited):
    with pytest.raises(InvalidInput, match=r"frobnicate.*missing_country"):
        edited("id: small", "id: small\nfrobnicate: 1")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("code,parent\nC,D\nD,C\n", "cycle"),
        ("code,parent\nTOTAL,\nC,ALL\n", r"parents \['ALL'\] are not codes of the list"),
        ("code,parent\nTOTAL,\nC,TOTAL\nC,TOTAL\n", r"repeated codes \['C'\]"),
        ("kode,parent\nTOTAL,\n", "needs the columns code,parent"),
        ("", "needs the columns code,parent"),
        (b"code,parent\nTOTAL,\nC\xe9,TOTAL\n", "utf-8"),
    ],
)
def test_a_code_list_that_is_no_tree_is_refused_and_said_what_for(edited, content, said):
    with pytest.raises(InvalidInput, match=said):
        edited(activities=content)


@pytest.mark.parametrize(
    "content",
    ["code,parent\nC,D\nD,C\n", "code,parent\nTOTAL,\nC,ALL\n", b"code,parent\nTOTAL,\nC\xe9,TOTAL\n"],
)
def test_a_code_list_that_is_no_tree_is_refused_by_the_name_of_its_file(edited, content):
    with pytest.raises(InvalidInput, match=r"activities\.csv"):
        edited(activities=content)


def test_an_absent_code_list_is_named(edited):
    with pytest.raises(InvalidInput, match=r"code list of ACTIVITY: cannot read .*nowhere\.csv"):
        edited("activities.csv", "nowhere.csv")


def test_members_that_are_no_countries_are_named_with_their_list(edited):
    with pytest.raises(InvalidInput, match=r"aggregate EA: members \['XX'\] are not in areas\.csv"):
        edited(EU, EU + "  - {code: EA, label: Some, members: [AT, XX]}\n")


@pytest.mark.parametrize(
    "aggregates",
    [
        pytest.param(EU + "  - {code: EU, label: Again, members: [AT]}\n", id="two aggregates of one code"),
        pytest.param(EU + "  - {code: EA, label: Some, members: [AT, AT]}\n", id="a member twice"),
        pytest.param(
            EU + "  - {code: EU_PARTIAL, label: Some, members: [BE]}\n",
            id="the partial code of another aggregate",
        ),
        pytest.param(EU.replace("EU_PARTIAL", "AT"), id="a country as partial code"),
    ],
)
def test_aggregates_that_cannot_be_told_apart_are_refused(edited, aggregates):
    """Two cells would share a key, or a member would count once in the relation and twice in the total."""
    with pytest.raises(InvalidInput, match=r"EU|EA|AT"):
        edited(EU, aggregates)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param(
            "  - {code: TURNOVER, label: Turnover, unit: EUR, unit_multiplier: 3}\n",
            "  - {code: TURNOVER, label: Turnover, unit: EUR, unit_multiplier: 3}\n" * 2,
            id="indicator",
        ),
        pytest.param("  D: {role: secondary}\n", "  D: {role: secondary}\n  D: {role: public}\n", id="flag"),
        pytest.param("dimension: SIZECLASS", "dimension: ACTIVITY", id="dimension"),
    ],
)
def test_what_is_said_twice_is_refused(edited, old, new):
    """Of two flags of one code the last would count: a secondary cell would become a public one without a
    word.
    """
    with pytest.raises(InvalidInput):
        edited(old, new)


def test_a_country_twice_in_the_code_list_is_refused(edited):
    with pytest.raises(InvalidInput, match="AT"):
        edited(areas="code,parent\nAT,EU\nAT,EU\nBE,EU\n")


def test_a_file_that_is_not_there_or_not_text_is_refused_by_name(tmp_path):
    with pytest.raises(InvalidInput, match=r"domain file: cannot read .*nowhere\.yaml"):
        load_domain(tmp_path / "nowhere.yaml")
    (tmp_path / "latin.yaml").write_bytes("id: café\n".encode("latin-1"))
    with pytest.raises(InvalidInput, match=r"latin\.yaml"):
        load_domain(tmp_path / "latin.yaml")
