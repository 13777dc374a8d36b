"""Domain files: what they describe, how they are found, and what is refused before any delivery is read."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from deliveries import small_domain
from pydantic import ValidationError

from sdc_tasks.domains import Domain, load_domain, schema
from sdc_tasks.domains.schema import Role
from sdc_tasks.errors import InvalidInput

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
            (tmp_path / f"{name}.csv").write_bytes(content if isinstance(content, bytes) else content.encode())
        return load_domain(path)

    return load


# --- what is shipped ----------------------------------------------------------------------------------------------------------


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
    for codes, dimension in ((sbs.space.areas, "REF_AREA"), *((h.codes, h.dimension) for h in sbs.space.hierarchies)):
        assert set(codes) <= set(sbs.labels[dimension])


# --- found by name, frozen, known by a digest ---------------------------------------------------------------------------------


def test_a_domain_is_found_by_the_name_of_its_file(tmp_path, monkeypatch):
    """Two domains in one folder share the layout and the code lists."""
    small_domain(tmp_path)
    shutil.copyfile(tmp_path / "small.yaml", tmp_path / "other.yaml")
    (tmp_path / "other.yaml").write_text((tmp_path / "other.yaml").read_text().replace("id: small", "id: other"))
    monkeypatch.setattr(schema, "HERE", tmp_path)
    assert schema.known_domains() == ["other", "small"]
    assert [load_domain(name).id for name in schema.known_domains()] == ["other", "small"]
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


# --- compositions -------------------------------------------------------------------------------------------------------------


def test_an_aggregate_with_missing_members_goes_under_its_partial_code(edited):
    domain = edited(EU, EU + "  - {code: EA, label: Some, members: [BE]}\n")
    assert [(a.code, a.members) for a in domain.space.aggregates] == [("EU", ("AT", "BE")), ("EA", ("BE",))]
    assert [(a.code, a.members) for a in domain.space_of(("BE",)).aggregates] == [("EU_PARTIAL", ("BE",)), ("EA", ("BE",))]
    with pytest.raises(InvalidInput, match="EA: no delivery from BE, and the domain file gives no partial_code"):
        domain.space_of(("AT",))


def test_countries_keep_the_order_of_the_code_list_whatever_order_they_arrive_in(edited):
    domain = edited(areas="code,parent\nEU,\nBE,EU\nAT,EU\n")
    assert domain.countries == ("BE", "AT"), "the aggregate of the list is no country"
    assert domain.space_of(("AT", "BE")).countries == ("BE", "AT")


# --- refused ------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        ("id: small", "id: small\nfrobnicate: 1", "frobnicate: "),
        ("percent: 10", "perzent: 10", "flags.A.rule.perzent: "),
        ("label: Union", "label: Union, membres: all", "aggregates.0.membres: "),
        ("id: small", "id: Small One", "id: "),
        ("role: public", "role: free", "flags.F.role: Input should be 'public', 'primary' or 'secondary'"),
        ("{role: secondary}", "{role: secondary, rule: {kind: percent}}", "flags.D: .*exactly the primary flags have a rule"),
        ("{role: primary, rule: {kind: percent, percent: 10}}", "{role: primary}", "flags.A: .*exactly the primary flags have a rule"),
        ("kind: percent, percent: 10", "kind: percent, percent: -10", "flags.A.rule.percent: .*greater than 0"),
        ("members: all", "members: some", "aggregates.0.members"),
        ("title: A table of three activities and three size classes\n", "", "title: Field required"),
        ("id: small", "id: small\nmissing_country: ignore", "missing_country: Input should be 'block', 'partial' or 'wait'"),
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


@pytest.mark.parametrize("content", ["code,parent\nC,D\nD,C\n", "code,parent\nTOTAL,\nC,ALL\n", b"code,parent\nTOTAL,\nC\xe9,TOTAL\n"])
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
        pytest.param(EU + "  - {code: EU_PARTIAL, label: Some, members: [BE]}\n", id="the partial code of another aggregate"),
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
    """Of two flags of one code the last would count: a secondary cell would become a public one without a word."""
    with pytest.raises(InvalidInput):
        edited(old, new)


def test_a_country_twice_in_the_code_list_is_refused(edited):
    with pytest.raises(InvalidInput, match="AT"):
        edited(areas="code,parent\nAT,EU\nAT,EU\nBE,EU\n")


def test_a_file_that_is_not_there_or_not_text_is_refused_by_name(tmp_path):
    with pytest.raises(InvalidInput, match=r"nowhere\.yaml: cannot be read"):
        load_domain(tmp_path / "nowhere.yaml")
    (tmp_path / "latin.yaml").write_bytes("id: café\n".encode("latin-1"))
    with pytest.raises(InvalidInput, match=r"latin\.yaml"):
        load_domain(tmp_path / "latin.yaml")
