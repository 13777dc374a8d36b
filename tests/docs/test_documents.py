"""The pages are true: links lead somewhere, generated pages are those of the program, what is cited is
there, the site builds offline.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from sdc_tasks.domains.schema import AuditOptions
from sdc_tasks.model.attackers import WHO

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
BESIDE = (
    "README.md",
    "SECURITY.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "tests/README.md",
    "docker/README.md",
    "plugins/README.md",
)
KEPT = (
    "argus.md",
    "domain-file.md",
    "cli.md",
    "file-states.md",
    "img/file-states.svg",
    "method.md",
    "protection.md",
)  # made from the program, in whole or in part
BUILT = {"api.md"}  # made for the site, not kept
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)


def pages() -> list[Path]:
    return [*(ROOT / name for name in BESIDE), *sorted(DOCS.rglob("*.md"))]


def generated(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, DOCS / "generate.py", *arguments], capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_link_leads_to_a_file(page: Path):
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    targets = [target.partition("#")[0] for target in LINK.findall(text) if not re.match(r"[a-z]+:", target)]
    lost = [
        target for target in targets if target and target not in BUILT and not (page.parent / target).exists()
    ]
    assert [target for target in lost if Path(target).name not in BUILT] == []


def test_the_picture_of_the_program_says_what_the_attacker_of_the_default_profile_knows():
    """And no more than that: who keeps earlier versions, or has the program, is asked for."""
    (profile,) = AuditOptions().profiles
    said = " ".join(
        re.findall(r"<text[^>]*>([^<]*)</text>", (DOCS / "img" / "overview.svg").read_text(encoding="utf-8"))
    )
    assert f"The attacker by default (profile {profile}): {WHO[profile]}." in said
    assert not [name for name, who in WHO.items() if name != profile and who in said]
    assert "earlier version" not in said


@pytest.mark.parametrize(
    "place", ["README.md", "docs/img/overview.svg", "docs/protection.md", "sdc_tasks/report/report.html.j2"]
)
def test_where_somebody_who_has_the_program_is_named_the_remedy_stands_beside(place: str):
    text = " ".join((ROOT / place).read_text(encoding="utf-8").split())
    named = [
        match.end()
        for match in re.finditer(
            r"has this program|ran the program for every|trying the program on every", text
        )
    ]
    assert named
    assert all("rule_aware" in text[max(0, at - 120) : at + 420] for at in named)


def test_the_generated_pages_are_those_of_the_program():
    done = generated("--check")
    assert done.returncode == 0, done.stderr


def test_every_key_of_a_domain_file_and_every_option_has_a_meaning():
    for name in ("domain-file.md", "cli.md"):
        rows = [
            line for line in (DOCS / name).read_text(encoding="utf-8").splitlines() if line.startswith("| `")
        ]
        assert len(rows) > 80
        assert [row for row in rows if row.endswith("|  |")] == []


def test_a_generated_page_that_says_something_else_is_named(tmp_path: Path):
    copy = tmp_path / "docs"
    (copy / "img").mkdir(parents=True)
    for name in ("generate.py", "tested.yaml", "argus.yaml", *KEPT):
        shutil.copy(DOCS / name, copy / name)
    (copy / "cli.md").write_text("something else\n")
    done = subprocess.run(
        [sys.executable, copy / "generate.py", "--check"], capture_output=True, text=True, check=False
    )
    assert done.returncode != 0
    assert "out of date: cli.md. Remedy: make docs-pages" in done.stderr


@pytest.mark.parametrize(
    ("told", "other", "refused"),
    [
        ("test_groups.py]", "test_nowhere.py]", "there is no test property/test_nowhere.py"),
        ("-k exposed", "-k nowhere", "there is no test property/test_attack_by_hand.py -k nowhere"),
        ("[unit/test_intake_absent.py]", "[]", "a section or a rule without tests"),
        (
            "  Whole numbers:",
            "  Whole values:",
            "tested.yaml has other sections: ['Whole numbers', 'Whole values']",
        ),
    ],
)
def test_a_section_without_a_test_that_exists_is_refused(tmp_path: Path, told: str, other: str, refused: str):
    copy = tmp_path / "docs"
    (copy / "img").mkdir(parents=True)
    for name in ("generate.py", "tested.yaml", "argus.yaml", *KEPT):
        shutil.copy(DOCS / name, copy / name)
    text = (copy / "tested.yaml").read_text(encoding="utf-8")
    assert text.count(told) == 1
    (copy / "tested.yaml").write_text(text.replace(told, other), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, copy / "generate.py", "--check"], capture_output=True, text=True, check=False
    )
    assert done.returncode != 0
    assert refused in done.stderr


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, tools: None) -> Path:
    """The site, built from a copy: every warning is an error, a link to a heading that is not there too."""
    folder = tmp_path_factory.mktemp("site")
    shutil.copytree(DOCS, folder / "docs")
    for name in ("SECURITY.md", "CONTRIBUTING.md", "CHANGELOG.md", "sdc_tasks/GLOSSARY.md"):
        (folder / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    made = subprocess.run(
        [sys.executable, folder / "docs" / "generate.py"], capture_output=True, text=True, check=False
    )
    assert made.returncode == 0, made.stderr
    command = [
        sys.executable,
        "-m",
        "sphinx",
        "-q",
        "-W",
        "--keep-going",
        "-d",
        folder / "doctrees",
        folder / "docs",
        folder / "html",
    ]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder / "html"


@pytest.mark.slow
def test_the_site_has_every_page(site: Path):
    told = {page.relative_to(DOCS).with_suffix(".html").as_posix() for page in DOCS.rglob("*.md")} | {
        "api.html"
    }
    assert {name for name in told if not (site / name).is_file()} == set()
    assert "build_problem" in (site / "api.html").read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_site_loads_nothing_from_elsewhere(site: Path):
    loaded = re.compile(
        r"<(?:script|img|iframe|link "
        r"rel=\"(?:stylesheet|preload|icon)\")[^>]*?(?:src|href)=\"(https?:)?//[^\"]*\""
    )
    assert {
        page.name for page in site.rglob("*.html") if loaded.search(page.read_text(encoding="utf-8"))
    } == set()


def test_the_readme_can_be_skimmed():
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 130


def test_the_readme_shows_the_rows_that_a_release_prints():
    shown = re.findall(r"^│ (\w[\w ]*?) +│", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    printed = re.findall(
        r"add_row\(\s*\"([^\"]+)\"", (ROOT / "sdc_tasks" / "cli" / "release.py").read_text(encoding="utf-8")
    )
    assert len(shown) > 3
    assert [name for name in shown if name not in printed] == []


def test_what_the_code_cites_is_in_the_method():
    headings = set(
        re.findall(r"^## (\d+)\. ", (DOCS / "method.md").read_text(encoding="utf-8"), re.MULTILINE)
    )
    cited: dict[str, set[str]] = {}
    for folder in ("sdc_tasks", "dags", "plugins", "tests"):
        for path in (ROOT / folder).rglob("*.py"):
            for sections in re.findall(r"\bMETHOD ((?:§\d+(?:, )?)+)", path.read_text(encoding="utf-8")):
                for section in re.findall(r"§(\d+)", sections):
                    cited.setdefault(section, set()).add(path.relative_to(ROOT).as_posix())
    assert sum(map(len, cited.values())) > 20
    assert {section: files for section, files in cited.items() if section not in headings} == {}


@pytest.mark.parametrize(
    "page", ["extending.md", *sorted(f"decisions/{path.name}" for path in (DOCS / "decisions").glob("*.md"))]
)
def test_every_path_that_a_page_names_exists(page: str):
    text = (DOCS / page).read_text(encoding="utf-8")
    named = re.findall(r"`((?:sdc_tasks|sql|dags|plugins|tests|docs|docker)/[\w./-]+)`", text)
    assert {path for path in named if "NUMBER" not in path and not (ROOT / path).exists()} == set()


CHANGES = (
    "A flag",
    "A rule for protection levels",
    "A check of deliveries",
    "A wire format",
    "An attacker profile",
    "A solver",
    "A page",
    "A rounding method for a whole indicator",
    "A method of cell suppression",
    "A task of the DAG",
    "A migration",
    "A check of the warehouse",
)


def test_each_change_names_the_files_to_touch_and_the_test_to_copy():
    text = (DOCS / "extending.md").read_text(encoding="utf-8")
    sections = {each.partition("\n")[0]: each for each in text.split("\n## ")[1:]}
    assert set(CHANGES) <= set(sections)
    for change in CHANGES:
        assert re.search(r"`(sdc_tasks|sql|dags|plugins)/", sections[change]), f"{change}: no file to touch"
        assert re.search(r"`tests/[\w/]+\.py`", sections[change]), f"{change}: no test to copy"


def test_each_first_question_is_answered_within_three_files():
    text = (
        (DOCS / "extending.md")
        .read_text(encoding="utf-8")
        .partition("## Where to look first")[2]
        .partition("More places:")[0]
    )
    rows = [line for line in text.splitlines() if line.startswith(("| Where", "| How", "| … "))]
    assert len(rows) == 12
    assert all(1 <= len(re.findall(r"`(?:sdc_tasks|sql|dags|plugins)/", row)) <= 3 for row in rows)


def test_what_is_said_to_be_in_a_file_is_there():
    """`NAME` in `path`, or `NAME`, `path`."""
    text = (DOCS / "extending.md").read_text(encoding="utf-8")
    said = re.findall(
        r"((?:`\w+`(?: and |, ))*`\w+`)(?: in|,)\s+`((?:sdc_tasks|dags|plugins)/[\w./-]+\.py)`", text
    )
    assert len(said) > 10
    for names, path in said:
        known = (ROOT / path).read_text(encoding="utf-8")
        assert [
            name
            for name in re.findall(r"\w+", names.replace(" and ", " "))
            if not re.search(rf"\b{name}\b", known)
        ] == [], path


def test_every_decision_is_listed():
    listed = (DOCS / "decisions" / "index.md").read_text(encoding="utf-8")
    assert [
        path.name
        for path in (DOCS / "decisions").glob("*.md")
        if path.stem != "index" and f"]({path.name})" not in listed
    ] == []


def test_every_room_of_the_tests_is_told():
    told = (ROOT / "tests" / "README.md").read_text(encoding="utf-8")
    rooms = [path.name for path in (ROOT / "tests").iterdir() if path.is_dir() and any(path.rglob("*.py"))]
    assert [room for room in rooms if f"`{room}/`" not in told] == []
