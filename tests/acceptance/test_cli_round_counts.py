"""`sdc round-counts`: a table of counts in, a rounded one out; nothing where the input is wrong."""

from __future__ import annotations

import csv
import io
import json
import stat
import subprocess
import sys
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from sdc_tasks.cli import main
from support.oracles.small_counts import Key, every_crossing, publication

DIMS = ("region", "sex", "age")
CODES = ([f"R{i}" for i in range(12)], ["F", "M"], [f"Y{i}" for i in range(9)])
SECRET = "748591"


@dataclass(frozen=True)
class Done:
    returncode: int
    stdout: str
    stderr: str


def sdc(*arguments: str | Path, cwd: Path) -> Done:
    """The command in this process; the first test runs it in one of its own."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err), chdir(cwd), pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["sdc", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
    return Done(int(ended.value.code or 0), out.getvalue(), err.getvalue())


def own_process(*arguments: str | Path, cwd: Path) -> Done:
    command = [str(Path(sys.executable).with_name("sdc")), *map(str, arguments)]
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=300)
    return Done(done.returncode, done.stdout, done.stderr)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """counts.csv: 216 possible inner cells, most of them small; people.csv: the same as microdata."""
    path = tmp_path_factory.mktemp("counts")
    rng = np.random.default_rng(4)
    counts = [(key, int(count)) for key in product(*CODES) if (count := rng.geometric(0.35) - 1)]
    with (path / "counts.csv").open("w", newline="") as stream:
        csv.writer(stream).writerows([[*DIMS, "persons"], *([*key, count] for key, count in counts)])
    with (path / "people.csv").open("w", newline="") as stream:
        writer = csv.writer(stream, delimiter=";")
        writer.writerow(DIMS)
        writer.writerows(key for key, count in counts for _ in range(count))
    return path


def read(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as stream:
        return list(csv.DictReader(stream))


def inner(path: Path) -> list[tuple[Key, int, int]]:
    return [(tuple(row[d] for d in DIMS), int(row["original"]), int(row["rounded"])) for row in read(path)]


def published(path: Path) -> dict[Key, int]:
    rows = read(path)
    found = {tuple(row[d] for d in DIMS): int(row["rounded"]) for row in rows}
    assert len(found) == len(rows)
    return found


def test_a_rounded_table_is_additive_and_holds_nothing_small(folder: Path) -> None:
    done = own_process(
        "round-counts",
        "counts.csv",
        "--count",
        "persons",
        "--dims",
        ",".join(DIMS),
        "--max-order",
        "2",
        "--base",
        "5",
        "--quality",
        "best",
        "--out",
        "inner.csv",
        "--published",
        "pub.csv",
        "--json",
        "facts.json",
        "--plot",
        "plot.svg",
        cwd=folder,
    )
    assert done.returncode == 0, done.stderr
    rows = inner(folder / "inner.csv")
    assert [(key, original) for key, original, _ in rows] == sorted(
        (tuple(row[d] for d in DIMS), int(row["persons"])) for row in read(folder / "counts.csv")
    )
    expected = publication(rows, every_crossing(3, 2))
    assert published(folder / "pub.csv") == {key: value for key, (_, value) in expected.items()}
    assert not [value for _, value in expected.values() if 0 < value < 5]
    assert set(read(folder / "pub.csv")[0]) == {*DIMS, "rounded"}, "no original count leaves the house"
    facts = json.loads((folder / "facts.json").read_text())
    off = [abs(value - original) for original, value in expected.values()]
    found = facts["roundings"][0]["published"]
    assert (found["cells"], found["maximum"]) == (len(off), max(off))
    assert found["mean"] == pytest.approx(sum(off) / len(off))
    assert facts["roundings"][0]["largest"][0]["difference"] in (max(off), -max(off))
    for name, private in (("inner.csv", True), ("facts.json", True), ("pub.csv", False)):
        assert (stat.S_IMODE((folder / name).stat().st_mode) == 0o600) is private
    assert (folder / "plot.svg").read_text().startswith("<?xml")


def test_microdata_crossings_formula_and_hierarchies_say_the_same(folder: Path) -> None:
    (folder / "sex.csv").write_text("code,parent\n*,TOTAL\n")
    ways = {
        "order": ["counts.csv", "--count", "persons", "--max-order", "3"],
        "micro": ["people.csv", "--crossings", "region:sex:age"],
        "formula": ["people.csv", "--formula", "~region*sex*age"],
        "tree": ["people.csv", "--hierarchy", "sex.csv", "--hierarchy", "age=sex.csv"],
        "parquet": ["people.csv", "--max-order", "3"],
    }
    written = {}
    for name, way in ways.items():
        files = [
            "--out",
            f"{name}.parquet" if name == "parquet" else f"{name}.csv",
            "--published",
            f"{name}.pub.csv",
        ]
        done = sdc("round-counts", *way, "--dims", ",".join(DIMS), "--seed", "3", *files, cwd=folder)
        assert done.returncode == 0, done.stderr
        written[name] = published(folder / f"{name}.pub.csv")
    assert all(each == written["order"] for each in written.values())
    assert len({(folder / f"{name}.csv").read_bytes() for name in ("order", "micro", "formula", "tree")}) == 1
    # what was written is read again: rounded counts of the inner cells, whose
    # publication needs no rounding any more
    again = sdc(
        "round-counts",
        "parquet.parquet",
        "--count",
        "rounded",
        "--dims",
        ",".join(DIMS),
        "--max-order",
        "3",
        "--json",
        "again.json",
        cwd=folder,
    )
    assert again.returncode == 0, again.stderr
    assert json.loads((folder / "again.json").read_text())["roundings"][0]["rounds"] == 0


def test_several_bases_stand_side_by_side(folder: Path) -> None:
    arguments = [
        "round-counts",
        "counts.csv",
        "--count",
        "persons",
        "--dims",
        ",".join(DIMS),
        "--crossings",
        "region:sex,age",
        "--seed",
        "7",
    ]
    done = sdc(
        *arguments,
        "--base",
        "3",
        "--base",
        "10",
        "--out",
        "two.csv",
        "--published",
        "two.pub.csv",
        "--json",
        "two.json",
        cwd=folder,
    )
    assert done.returncode == 0, done.stderr
    rows = read(folder / "two.pub.csv")
    for base in (3, 10):
        alone = sdc(*arguments, "--base", str(base), "--published", "one.csv", cwd=folder)
        assert alone.returncode == 0, alone.stderr
        assert [row[f"rounded_{base}"] for row in rows] == [
            row["rounded"] for row in read(folder / "one.csv")
        ]
        assert not [row for row in rows if 0 < int(row[f"rounded_{base}"]) < base]
    assert len(json.loads((folder / "two.json").read_text())["roundings"]) == 2


@pytest.mark.parametrize(
    ("text", "more", "match"),
    [
        ("", [], "the file is empty"),
        ("region,sex,age,persons\n", [], "no record"),
        (
            f"region,sex,age,persons\nR1,F,Y1,-{SECRET}\n",
            [],
            "line 2: column persons: counts are whole numbers",
        ),
        (
            f"region,sex,age,persons\nR1,F,Y1,{SECRET}.5\n",
            [],
            "line 2: column persons: counts are whole numbers",
        ),
        ("region,sex,age,persons\nR1,F,Y1,2\nR1,,Y1,2\n", [], "line 3: column sex: the code is missing"),
        (
            "region,sex,age,persons\nR1,F,Y1,2\n",
            ["--crossings", "region:size"],
            "size is not a dimension of the table",
        ),
        ("region,sex,age,persons\nR1,F,Y1,2\n", ["--formula", "~region*"], "its end is not expected"),
        (
            "region,sex,age,persons\nR1,F,Y1,2\n",
            ["--hierarchy", "other.csv"],
            "the dimension of this hierarchy is missing",
        ),
        ("region,sex,age,persons\nR1,F,Y1,2\n", ["--base", "1"], "base 1: rounds nothing"),
        ("region,sex,age,persons\nR1,F,Y1,2\n", ["--base", "3", "--base", "3"], "given twice"),
        ("region,sex,age,persons\nR1,F,Y1,2\n", ["--steps", "1,x"], "up to three numbers"),
        (
            "region,sex,age,persons\nR1,F,Y1,2\n",
            ["--max-order", "1", "--formula", "~sex"],
            "give one of them",
        ),
        ("region,sex,age,persons\nR1,F,Y1,2\n", ["--plot", "p.pdf"], "name it .svg or .png"),
        ("region,sex,age,persons\nR1,F,Y1,2\n", ["--published", "none/p.csv"], "cannot be written"),
        ("region,sex,age,persons\nR1,F,Y1,2\n", ["--published", "bad.csv"], "this is the table itself"),
    ],
)
def test_bad_input_ends_with_a_remedy_and_writes_nothing(
    tmp_path: Path, text: str, more: list[str], match: str
) -> None:
    (tmp_path / "bad.csv").write_text(text)
    (tmp_path / "other.csv").write_text("code,parent\nR1,all\n")
    before = sorted(tmp_path.iterdir())
    done = sdc(
        "round-counts",
        "bad.csv",
        "--count",
        "persons",
        "--dims",
        ",".join(DIMS),
        "--out",
        "inner.csv",
        "--json",
        "facts.json",
        *more,
        cwd=tmp_path,
    )
    assert done.returncode == 2, done.stdout
    assert match in done.stderr
    assert "Remedy" in done.stderr
    assert "Traceback" not in done.stderr
    assert SECRET not in done.stdout + done.stderr
    assert sorted(tmp_path.iterdir()) == before


def test_every_small_count_moves_where_somebody_may_run_the_program(folder, tmp_path):
    wanted = (
        "--count",
        "persons",
        "--dims",
        ",".join(DIMS),
        "--max-order",
        1,
        "--rule-aware",
        "--seed",
        SECRET,
    )
    for name in ("one", "again"):
        done = sdc(
            "round-counts",
            folder / "counts.csv",
            *map(str, wanted),
            "--published",
            f"{name}.csv",
            "--out",
            "inner.csv",
            cwd=tmp_path,
        )
        assert done.returncode == 0, done.stderr
    assert {new for _, old, new in inner(tmp_path / "inner.csv") if 0 < old < 3} == {0, 3}
    assert all(old == new for _, old, new in inner(tmp_path / "inner.csv") if not 0 < old < 3)
    assert (tmp_path / "one.csv").read_bytes() == (tmp_path / "again.csv").read_bytes()
    for more, said in (
        (("--leverage",), "leverage"),
        (("--base", "3", "--base", "5"), "leave fewer candidates"),
        (("--max-round", "5"), "largest value to round"),
        (("--drawn", "2"), "no chance"),
    ):
        done = sdc("round-counts", folder / "counts.csv", *map(str, wanted), *more, cwd=tmp_path)
        assert done.returncode == 2
        assert said in done.stderr
    done = sdc(
        "round-counts",
        folder / "counts.csv",
        "--count",
        "persons",
        "--dims",
        ",".join(DIMS),
        "--drawn",
        "0.5",
        cwd=tmp_path,
    )
    assert "--drawn: only with --rule-aware" in done.stderr
