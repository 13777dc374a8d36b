"""No text says more than the certificate of its release: certificates are changed in any place, and
every text of the release is read.
"""

from __future__ import annotations

import copy
import html
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sdc_tasks import outputs, steps
from sdc_tasks.cli import release as command
from sdc_tasks.cli.terminal import out as terminal
from sdc_tasks.model.claim import EXTENTS, Extent, Tone, claim_of
from sdc_tasks.model.profiles import PROFILES
from sdc_tasks.warehouse import reader
from support.deliveries import PERIOD
from support.laws import law
from support.weak import PRIMARIES, PROTECTED, SAID, weak_desk

Certificate = dict[str, Any]
PUBLIC = ("metadata.html", "metadata.json", "datapackage.json", "table.csv", "table.json", "table.xml")


class Told:
    """A release, and all its texts as they are where its certificate is another one."""

    def __init__(self, folder: Path) -> None:
        desk = weak_desk(folder)
        ended = desk.release()
        assert ended.code == 0, ended.text
        self.desk = steps.open_desk(f"sqlite:///{folder / 'out' / 'warehouse.db'}", desk.domain, PERIOD)
        self.out = folder / "told"
        [info] = reader.releases(self.desk.engine)
        self.release_id = info.release_id
        self.certificate: Certificate = json.loads(
            reader.audits(self.desk.engine, self.release_id)[-1]["certificate"]
        )

    def texts(self, certificate: Certificate) -> dict[str, str]:
        """Name → text of what the office reads and of what is public; none where the certificate
        is refused.
        """
        [record] = reader.audits(self.desk.engine, self.release_id)
        changed = record | {"certificate": json.dumps(certificate)}
        with patch.object(reader, "audits", lambda *_: [changed]):
            try:
                outputs.write_out(self.desk, self.release_id, self.out)
                brief = outputs.brief(self.desk, self.release_id)
            except ValueError:
                return {}
            with terminal.capture() as said:
                command.show(outputs.summary(self.desk, self.release_id), "sqlite://", self.out)
        files = {name: (self.out / name).read_text(encoding="utf-8") for name in ("report.html", *PUBLIC)}
        return files | {"brief": brief, "console": said.get()}


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Told:
    return Told(tmp_path_factory.mktemp("claims"))


def places(node: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in a certificate but the digests, which say what it is about."""
    if path:
        yield path
    items = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, child in items:
        if key not in ("digests", "cell"):
            yield from places(child, (*path, key))


def change(certificate: Certificate, path: tuple[Any, ...], how: int) -> None:
    """Changes what is there, or takes it away."""
    *above, last = path
    node: Any = certificate
    for key in above:
        if not (key in node if isinstance(node, dict) else isinstance(node, list) and key < len(node)):
            return
        node = node[key]
    if not (last in node if isinstance(node, dict) else isinstance(node, list) and last < len(node)):
        return
    old = node[last]
    if how == 0:
        del node[last]
    elif isinstance(old, bool):
        node[last] = not old
    elif isinstance(old, (int, float)):
        node[last] = old + (1 if how == 1 else -1)
    elif old in ("passed", "failed"):
        node[last] = "failed" if old == "passed" else "passed"
    elif isinstance(old, str):
        node[last] = {1: "coalition", 2: "vintage", 3: "internal"}[how]
    elif isinstance(old, list):
        node[last] = (
            [*old, copy.deepcopy(old[-1]) if old else "CC.TURNOVER.F.L"] if how == 1 else old[: len(old) // 2]
        )


@st.composite
def changed(draw: st.DrawFn, certificate: Certificate) -> Certificate:
    """Also the honest one; changes of single primaries are as likely as those of all else together."""
    found = copy.deepcopy(certificate)
    everywhere = list(places(certificate))
    heads = [path for path in everywhere if path[0] != "primaries" or len(path) == 1]
    for _ in range(draw(st.integers(0, 3))):
        path = draw(st.sampled_from(heads) if draw(st.booleans()) else st.sampled_from(everywhere))
        change(found, path, draw(st.integers(0, 3)))
    return found


def full(certificate: Certificate) -> set[str]:
    """The primaries that a certificate states to be protected against all that it names, and not cut."""
    names = certificate.get("profiles", [])
    return {
        each["cell"]
        for each in certificate.get("primaries", [])
        if each.get("protected") is True
        and each.get("cut_to_national_baseline") is False
        and all(each.get("profiles", {}).get(name) is True for name in names)
    }


def may_pass(certificate: Certificate) -> bool:
    counts, entries = certificate.get("counts", {}), certificate.get("primaries", [])
    return (
        certificate.get("verdict") == "passed"
        and certificate.get("contradictions") == []
        and bool(certificate.get("profiles"))
        and all(each.get("protected") is True for each in entries)
        and counts.get("primaries") == len(entries) == len({each["cell"] for each in entries})
        and counts.get("protected") == len(entries)
        and counts.get("broken_requirements") == 0
        and counts.get("cut_to_national_baseline")
        == sum(each.get("cut_to_national_baseline") is not False for each in entries)
    )


def plain(text: str) -> str:
    bare = re.sub(r"<style>.*?</style>", " ", text, flags=re.DOTALL)
    return re.sub(r"[\s│]+", " ", html.unescape(re.sub(r"<[^>]+>", " ", bare)))


def says_no_more(certificate: Certificate, texts: dict[str, str]) -> None:
    entries = {each["cell"] for each in certificate.get("primaries", [])}
    most, passes = len(full(certificate)), may_pass(certificate)
    for name, text in texts.items():
        said = plain(text)
        for number, of in re.findall(r"(\d+) of (\d+) primaries protected", said) + re.findall(
            r"(\d+) protected of (\d+)", said
        ):
            assert (int(number) <= most, int(of)) == (True, len(entries)), name
        if not (passes and most == len(entries)):
            assert "Every confidential cell" not in said, name
            assert not re.search(r"\b[Pp]assed(?! with exceptions)", said.split("Strategies", 1)[0]), name
            assert 'class="verdict good"' not in text, name
        if any(
            each.get("cut_to_national_baseline") is not False for each in certificate.get("primaries", [])
        ):
            assert "protect all its primary cells" not in said, name
        if not passes:
            assert "passed with exceptions" not in said.lower(), name
            assert "confidential cell stays as uncertain" not in said, name
        for attacked in re.findall(r"(?<!not )against ([a-z, ]+)[;.:]", said):
            assert {each for each in attacked.split(", ") if each in PROFILES} <= set(
                certificate.get("profiles", [])
            ), name
        if name in PUBLIC:
            named = {each for each, profile in PROFILES.items() if profile.who in said}
            assert named <= set(certificate.get("profiles", [])), name
            assert "primaries" not in said, name


def test_the_texts_of_the_honest_certificate_are_all_there(told: Told) -> None:
    """What the law reads is said, so that it does not pass because nothing is."""
    texts = told.texts(told.certificate)
    for name in ("report.html", "brief", "console"):
        assert SAID in plain(texts[name])
        assert "against external; not against internal, coalition, vintage, revision" in plain(texts[name])
    assert 'class="verdict warn"' in texts["report.html"]
    assert PROFILES["external"].who in plain(texts["metadata.html"])
    assert (len(full(told.certificate)), may_pass(told.certificate)) == (PROTECTED, True)
    whole = copy.deepcopy(told.certificate)
    whole["counts"]["cut_to_national_baseline"] = 0
    for each in whole["primaries"]:
        each["cut_to_national_baseline"] = False
    texts = told.texts(whole)
    assert f"Passed. {PRIMARIES} of {PRIMARIES} primaries protected." in plain(texts["report.html"])
    assert "Every confidential cell stays" in texts["metadata.html"]


@law(100)
@given(data=st.data())
def test_no_text_says_more_than_the_certificate(told: Told, data: st.DataObject) -> None:
    certificate = data.draw(changed(told.certificate))
    says_no_more(certificate, told.texts(certificate))


@law(300)
@given(data=st.data())
def test_a_certificate_that_says_less_never_makes_a_claim_larger(told: Told, data: st.DataObject) -> None:
    """Whatever is taken away or turned to the worse: not one primary more, no better colour, no attacker
    more.
    """
    before, after = told.certificate, copy.deepcopy(told.certificate)
    for i in data.draw(st.sets(st.integers(0, PRIMARIES - 1))):
        name = data.draw(st.sampled_from(["protected", "cut_to_national_baseline", "profiles"]))
        if data.draw(st.booleans()):
            del after["primaries"][i][name]
        else:
            after["primaries"][i][name] = {
                "protected": False,
                "cut_to_national_baseline": True,
                "profiles": {},
            }[name]
    for each in data.draw(st.sets(st.sampled_from(["verdict", "counts", "contradictions", "profiles"]))):
        del after[each]
    one, two = claim_of(before), claim_of(after)
    order = [Tone.BAD, Tone.WARN, Tone.GOOD]
    assert two.protected <= one.protected
    assert order.index(two.tone) <= order.index(one.tone)
    assert set(two.profiles) <= set(one.profiles)
    assert set(one.not_attacked) <= set(two.not_attacked)
    assert len(two.public) <= len(one.public)


def test_a_further_extent_is_one_line(told: Told, monkeypatch: pytest.MonkeyPatch) -> None:
    """An entry of a certificate that lists primaries in a further way."""
    from sdc_tasks.model import claim

    line = Extent(
        "not looked at again",
        Tone.WARN,
        "Some were not looked at.",
        lambda told: told.get("not_looked_at", ()),
    )
    monkeypatch.setattr(claim, "EXTENTS", (*EXTENTS, line))
    listed = told.certificate | {
        "not_looked_at": ["AA.TURNOVER.C.S", "AA.TURNOVER.C.L", "BB.TURNOVER.C.S", "CC.TURNOVER.F.L"]
    }
    sentence = "16 of 21 primaries protected; 2 only as far as their national table allows (CC 1, DD 1); "
    sentence += "3 not looked at again (AA 2, BB 1)"
    texts = told.texts(listed)
    for name in ("report.html", "brief", "console"):
        assert sentence in plain(texts[name])
    assert "Some were not looked at." in texts["metadata.html"]
