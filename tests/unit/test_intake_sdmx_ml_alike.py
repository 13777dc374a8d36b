"""Observations that are written alike are read many at a time: records, lines and findings are those of the
parser, which reads one by one, whatever stands between them.
"""

from __future__ import annotations

import random
import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sdc_tasks.intake.content import Content
from sdc_tasks.intake.findings import Findings
from sdc_tasks.intake.formats import sdmx_ml
from sdc_tasks.intake.formats.gathered import Gathered
from sdc_tasks.intake.formats.records import Concepts
from support.deliveries import HEADER, sdmx_1
from support.laws import law
from support.sdmx_ml import message

NAMES = HEADER.split(",")
CONCEPTS = Concepts(
    required=tuple(NAMES[:-3]),
    optional=tuple(NAMES[-3:]),
    dimensions=tuple(NAMES[:6]),
    numbers=("OBS_VALUE",),
)
MANY, ONE_BY_ONE = 1 << 11, 1 << 30  # bytes that the reader takes at a time
Read = tuple[list[tuple[int, dict[str, str]]] | None, object]


def table(number: int) -> str:
    """So many cells, some with units and shares, with values of their own."""
    head, *lines = sdmx_1().splitlines()
    found = []
    for each in range(number):
        fields = lines[each % len(lines)].split(",")
        fields[head.split(",").index("SIZECLASS")] = f"S{each}"
        fields[head.split(",").index("OBS_VALUE")] = str(each * each)
        found.append(",".join([*fields[:-2], "31.5", "12"] if each % 5 == 0 else fields))
    return "\n".join([head, *found, ""])


def read(data: bytes, taken: int, monkeypatch: pytest.MonkeyPatch, most: int = 10_000) -> Read:
    """Line and texts of each record, and the findings. The parser tells of a text between elements where it
    ends, or where what it was given ends: a line above.
    """
    found = Findings()
    with monkeypatch.context() as patched:
        patched.setattr(sdmx_ml, "TAKEN", taken)
        records = sdmx_ml.parse(Content.of(data), CONCEPTS, found, most)
    if records is None:
        said = found.all()
        return None, [
            replace(each, line=None) if "text where none" in each.message else each for each in said
        ]
    told = [
        (int(line), {name: records.text(name, row) for name in records.columns})
        for row, line in enumerate(records.line)
    ]
    return told, found.all()


@pytest.fixture
def taken_together(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many observations each stretch had."""
    seen: list[int] = []
    stretch = Gathered.stretch

    def counted(self, above, found, line):
        done = stretch(self, above, found, line)
        seen.extend([len(found.down)] if done else [])
        return done

    monkeypatch.setattr(Gathered, "stretch", counted)
    return seen


@pytest.mark.parametrize("generic", [False, True])
@pytest.mark.parametrize("flat", [False, True])
@pytest.mark.parametrize("levels", [False, True])
@pytest.mark.parametrize("end", ["\n", "", "\n\n    ", "\r\n\t"])
def test_most_observations_are_read_together(monkeypatch, taken_together, generic, flat, levels, end):
    """What a data set and its groups say reaches them, too."""
    text = message(table(400), generic=generic, flat=flat, levels=levels)
    assert text.count("<gen:Series>" if generic else "<Series ") == (0 if flat else 400)
    text = re.sub(r"(?<=>)\n?(?=<)", end, text)
    expected = read(text.encode(), ONE_BY_ONE, monkeypatch)
    assert sum(taken_together) == 0
    assert read(text.encode(), MANY, monkeypatch) == expected
    assert 300 < sum(taken_together) < 400, "the first and the last are the parser's"
    assert expected[0] is not None
    assert len(expected[0]) == 400


def test_a_long_series_is_read_together(monkeypatch, taken_together):
    """One cell in many years: the key stands at the series."""
    for generic in (False, True):
        taken_together.clear()
        head, line = sdmx_1().splitlines()[:2]
        years = [line.replace("2024", str(1000 + year)) for year in range(400)]
        text = message("\n".join([head, *years, ""]), generic=generic)
        assert text.count("SeriesKey>" if generic else "<Series") == 1 + generic
        assert read(text.encode(), MANY, monkeypatch) == read(text.encode(), ONE_BY_ONE, monkeypatch)
        assert sum(taken_together) > 250


@pytest.mark.parametrize("generic", [False, True])
def test_observations_of_several_kinds_are_read_together(monkeypatch, taken_together, generic):
    """Their concepts stand in another order, or with other blanks, and a text is long."""
    text = message(table(400), generic=generic, flat=True)
    pieces = re.split(r"(?<=>)\n(?=<(?:gen:)?Obs)", text)
    status, flag, long = "OBS_STATUS", "CONF_STATUS", "\u00c9" * 90
    for at in range(20, 380):
        if at % 3 == 0:
            names = {status: flag, flag: status}
            pieces[at] = re.sub(f"{status}|{flag}", lambda found, names=names: names[found[0]], pieces[at])
        if at % 4 == 0:
            pieces[at] = pieces[at].replace("/>", " />")
        if at % 7 == 0:
            pieces[at] = re.sub(r'"S\d+"', f'"{long}{at}"', pieces[at])
    data = "\n".join(pieces).encode()
    expected = read(data, ONE_BY_ONE, monkeypatch)
    assert read(data, MANY, monkeypatch) == expected
    assert sum(taken_together) > 300
    assert expected[0] is not None
    assert {fields[status] for _, fields in expected[0]} >= {"F", "A"}, "where the two changed names"


def test_observations_of_too_many_kinds_are_the_parsers(monkeypatch, taken_together):
    """Each is looked at once for every kind before it."""
    head, *pieces = re.split(r"(?<=>)\n(?=<Obs)", message(table(1000), flat=True))
    data = "".join([head, *("\n" * (at % 97 + 1) + piece for at, piece in enumerate(pieces))]).encode()
    expected = read(data, ONE_BY_ONE, monkeypatch)
    assert read(data, 1 << 15, monkeypatch) == expected
    assert sum(taken_together) < 64, "the last ones"
    assert expected[0] is not None
    assert len(expected[0]) == 1000


# What stands in the middle of a message instead of the end of an observation, for the parser to judge.
BETWEEN = {
    "a comment": "/>\n<!-- <Obs FREQ='Q'/> -->\n",
    "a comment with an observation": '/>\n<!-- -->\n<Obs FREQ="A"/>\n',
    "text": "/>\nflag C\n",
    "an entity": ' OTHER="a&amp;b"/>\n',
    "a line break in a text": ' OTHER="a\nb"/>\n',
    "a tab in a text": ' OTHER="a\tb"/>\n',
    "a quotation mark in a text": " OTHER='a\"b'/>\n",
    "an attribute twice": ' OTHER="1" OTHER="1"/>\n',
    "a concept in two cases": ' obs_value="1"/>\n',
    "an attribute of a namespace": ' ss:action="Append"/>\n',
    "an unknown namespace": ' none:x="Append"/>\n',
    "a default namespace": ' xmlns=""/>\n',
    "another default namespace": ' xmlns="urn:other"/>\n',
    "something inside": "><Comp/></Obs>\n",
    "an annotation": "><com:Annotations/></Obs>\n",
    "another data set": '/>\n</mes:DataSet><mes:DataSet ss:structureRef="S" ss:action="Append">\n',
    "a section": "/>\n<![CDATA[ ]]>\n",
    "an instruction": "/>\n<?any thing?>\n",
    "a sign that XML does not have": ' OTHER="\x01"/>\n',
    "a sign that stands for none": ' OTHER="\ufffe"/>\n',
    "another letter": ' OTHER="\u00c9"/>\n',
    "blanks": '  OTHER = "1"   />\n\n\n',
    "an opening in a text": ' OTHER="<Obs "/>\n',
    "a name of other letters": ' \u00c9="1"/>\n',
}


@pytest.mark.parametrize("what", BETWEEN)
@pytest.mark.parametrize("at", [3, 200, 390])
def test_what_is_unlike_is_the_parsers(monkeypatch, what, at):
    pieces = message(table(400), flat=True).split("/>\n<Obs")
    text = "/>\n<Obs".join(pieces[:at]) + BETWEEN[what] + "<Obs" + "/>\n<Obs".join(pieces[at:])
    assert read(text.encode(), MANY, monkeypatch) == read(text.encode(), ONE_BY_ONE, monkeypatch)


@pytest.mark.parametrize("element", ["Obs", "Series"])
def test_a_default_namespace_is_no_concept(monkeypatch, element):
    text = message(table(400), flat=element == "Obs")
    named = text.replace(f"<{element} ", f'<{element} xmlns="" ')
    assert named != text
    for taken in (MANY, ONE_BY_ONE):
        assert read(named.encode(), taken, monkeypatch) == read(text.encode(), taken, monkeypatch)


UNLIKE_SERIES = {
    "two observations": ("</Series>", '<Obs TIME_PERIOD="2023" OBS_VALUE="1"/></Series>'),
    "no observation": (r"<Obs.*?/>", ""),
    "a value of its own": (r"(?s)<Series(.*?) (OBS_VALUE=.\d+.)", r"<Series \2\1"),
    "a value of its own in another case": (r"(?s)<Series(.*?) OBS_VALUE=(.\d+.)", r"<Series obs_value=\2\1"),
    "two values": ("<Series ", '<Series OBS_VALUE="1" '),
    "a concept twice, alike": ("<Obs ", '<Obs REF_AREA="AT" '),
    "a concept twice, differently": ("<Obs ", '<Obs REF_AREA="BE" '),
    "an annotation": ("<Obs ", "<com:Annotations/><Obs "),
    "an observation beside it": ("</Series>", '</Series><Obs OBS_VALUE="1"/>'),
    "another concept": ("<Obs ", '<Obs OTHER="1" '),
    "a line break": ("<Obs ", "<Obs\n"),
}


@pytest.mark.parametrize("what", UNLIKE_SERIES)
@pytest.mark.parametrize("at", [3, 200, 390])
def test_a_series_that_is_unlike_is_the_parsers(monkeypatch, taken_together, what, at):
    pieces = re.split(r"(?=<Series)", message(table(400)))
    pieces[at], changed = re.subn(*UNLIKE_SERIES[what], pieces[at], count=1)
    assert changed
    data = "".join(pieces).encode()
    assert read(data, MANY, monkeypatch) == read(data, ONE_BY_ONE, monkeypatch)
    assert at == 3 or taken_together != []


def test_too_many_are_said_at_the_same_line(monkeypatch):
    data = message(table(400), flat=True).encode()
    for most in (1, 250, 399):
        records, found = read(data, MANY, monkeypatch, most)
        assert records is None
        assert (records, found) == read(data, ONE_BY_ONE, monkeypatch, most)


def test_many_texts_need_wider_numbers(monkeypatch, taken_together):
    """The texts of a concept are numbered in one byte as long as that does."""
    for number in (127, 128, 129, 1500):
        data = message(table(number), flat=True).encode()
        assert read(data, MANY, monkeypatch) == read(data, ONE_BY_ONE, monkeypatch)
    assert sum(taken_together) > 1200


@pytest.mark.parametrize(
    ("declared", "encoding", "together"),
    [
        ("UTF-8", "utf-8", True),
        ("utf-8", "utf-8-sig", True),
        ("iso-8859-1",) * 2 + (False,),
        ("utf-16",) * 2 + (False,),
    ],
)
def test_another_encoding_is_the_parsers(monkeypatch, taken_together, declared, encoding, together):
    text = message(table(300), flat=True).replace('"UTF-8"', f'"{declared}"')
    data = text.replace('FREQ="A"', 'FREQ="\u00c9"').encode(encoding)
    records, found = read(data, MANY, monkeypatch)
    assert (records, found) == read(data, ONE_BY_ONE, monkeypatch)
    assert records is not None
    assert (sum(taken_together) > 200) is together


TOKEN = re.compile(r"(<[^<>\"]*|\"[^\"]*\"|/?>|\n)")


def spoilt(chance: random.Random, text: str) -> str:
    """One to three tokens are taken out, repeated or replaced by one of their kind: many stay well-formed."""
    tokens = TOKEN.split(text)
    for _ in range(chance.randrange(1, 4)):
        at = chance.randrange(len(tokens))
        alike = [each for each in tokens if each[:1] == tokens[at][:1]]
        tokens[at] = chance.choice((*chance.choices(alike, k=6), "", tokens[at] * 2, "<!--", "&", "'"))
    return "".join(tokens)


@law(160)
@given(st.integers(0, 2**32), st.booleans(), st.booleans(), st.integers(150, 1500))
def test_both_ways_are_the_same_of_any_damage(seed, generic, flat, taken):
    text = spoilt(random.Random(seed), message(table(60), generic=generic, flat=flat))
    with pytest.MonkeyPatch.context() as monkeypatch:
        assert read(text.encode(), taken, monkeypatch) == read(text.encode(), ONE_BY_ONE, monkeypatch)
