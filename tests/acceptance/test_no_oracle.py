"""Nothing that people see lets somebody who has the program try out a confidential value.

He has the domain file, the program, and all of a delivery but one hidden cell (and what follows from it). He
makes the delivery anew for every candidate, runs whatever of the program he likes in a warehouse of his own,
and compares with what he was shown.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import MetaData, create_engine, select, text

from sdc_tasks import intake, pipeline, steps
from sdc_tasks.domains import load_domain
from sdc_tasks.errors import InvalidInput
from sdc_tasks.methods.rounding.small_count import CountOptions, by_order, dummy_of, round_counts
from sdc_tasks.methods.rounding.small_count.cells import inner_cells
from sdc_tasks.model.public_files import PUBLIC_FILES
from sdc_tasks.model.secret import Secret
from sdc_tasks.steps.identity import terms_of
from sdc_tasks.warehouse.confidential.secret import VARIABLE, secret_of
from sdc_tasks.warehouse.dissemination.lineage import environment
from sdc_tasks.warehouse.forms.canonical import PRINTED, digest_of_printed
from support.deliveries import PERIOD, sdmx_1, small_domain
from support.desk import FREE, Desk, exact, new_desk, sdc
from support.payload_key import WAREHOUSE_SECRET

SOURCES = Path(__file__).parents[2]
NAME = re.compile(r"[0-9a-f]{12,}")
TRUTH = 251409
CANDIDATES = range(TRUTH - 150, TRUTH + 151)


def table(hidden: int) -> str:
    """A national table with one hidden number in it, and its rest."""
    rest = 750000 - hidden
    return f"""
            _T         S         L
    TOTAL   1500000 F  750000 F  750000 F
    C       750000 F   {hidden} D  {rest} D
    D       750000 F   {rest} D  {hidden} A
"""


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    desk = new_desk(tmp_path_factory.mktemp("desk"), AT=table(TRUTH), BE=FREE)
    ended = desk.release("out", "--witnesses", desk.folder / "evidence")
    assert ended.code == 0, ended.text
    return desk


def seen(desk: Desk, out: str = "out") -> dict[str, str]:
    """Whatever of a release is for other eyes than the program's: files, the log, every
    table that is not confidential.
    """
    found = {
        path.name: path.read_text()
        for path in (desk.folder / out).iterdir()
        if path.suffix in {".csv", ".json", ".html"}
    }
    engine = create_engine(f"sqlite:///{desk.folder / out / 'warehouse.db'}")
    tables = MetaData()
    tables.reflect(engine, views=True)
    with engine.connect() as connection:
        for each in tables.sorted_tables:
            if each.name not in {"payload", "secret"}:
                found[f"table {each.name}"] = "\n".join(
                    " ".join(map(str, row)) for row in connection.execute(select(each))
                )
    engine.dispose()
    assert {
        "table.csv",
        "audit.json",
        "report.html",
        "table delivery",
        "table log",
        "table step",
        "table public_release",
    } <= set(found)
    return found


def printed(desk: Desk) -> str:
    """The digest of what the world reads of the release, made of nothing else."""
    engine = create_engine(f"sqlite:///{desk.folder / 'out' / 'warehouse.db'}")
    with engine.connect() as connection:
        rows = connection.execute(
            text(f"SELECT {', '.join(PRINTED)} FROM public_cell ORDER BY position")
        ).all()
    engine.dispose()
    return digest_of_printed(rows)


def names(shown: dict[str, str]) -> dict[str, set[str]]:
    """What looks like a digest, by where it stands."""
    return {where: set(NAME.findall(told)) for where, told in shown.items()}


def test_no_digest_of_a_candidate_is_seen(released: Desk):
    """Plain digests of the file, and of the names that were made of it before they were keyed."""
    everything = "\n".join(seen(released).values())
    domain, program = str(released.domain), environment()
    spec = load_domain(domain)
    others = [hashlib.sha256((released.inbox / f"BE_{PERIOD}.csv").read_bytes()).hexdigest()]
    singled_out = []
    for hidden in CANDIDATES:
        file = hashlib.sha256(sdmx_1(table(hidden), "AT").encode()).hexdigest()
        inputs = (
            "\n".join([spec.digest, PERIOD, *more, *sorted([file, *others])])
            for more in (["0.1.0"], [program], ["0.1.0", program], [])
        )
        if any(
            name[:12] in everything
            for name in (file, *(hashlib.sha256(each.encode()).hexdigest() for each in inputs))
        ):
            singled_out.append(hidden)
    assert singled_out == []


def test_a_warehouse_of_his_own_names_no_candidate_as_the_release_is_named(
    released: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """He runs the program itself, candidate by candidate, and asks it what a release of
    these deliveries would be called.
    """
    everything = "\n".join(seen(released).values())
    monkeypatch.delenv(VARIABLE)
    his = new_desk(tmp_path, AT=table(TRUTH), BE=FREE)
    desk = steps.open_desk(f"sqlite:///{tmp_path / 'his.db'}", str(his.domain), PERIOD)
    named = {}
    for hidden in range(TRUTH - 3, TRUTH + 4):
        his.deliver("AT", table(hidden))
        for each in steps.discover(desk, his.inbox):
            steps.ingest(desk, his.inbox, each.file)
        told = steps.ready(desk)
        assert told is not None
        named[hidden], _ = told
    assert len(set(named.values())) == 7, "the id tells deliveries apart"
    assert [
        hidden for hidden, name in named.items() if name.removeprefix(f"small-{PERIOD}-") in everything
    ] == []
    desk.engine.dispose()


def test_two_secrets_share_no_name_of_anything_confidential(
    released: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """What two warehouses call alike follows from what everybody knows: the domain, the program, the
    publication.
    """
    monkeypatch.delenv(VARIABLE)
    other = new_desk(tmp_path, AT=table(TRUTH), BE=FREE)
    assert sdc("release", *other.where, "--out", tmp_path / "out").code == 0, (
        "into a warehouse that makes its own"
    )
    one, two = seen(released), seen(other)
    told = json.loads(one["audit.json"])["digests"]
    public = {
        told["domain"],
        told["publication"],
        json.loads(environment())["source"],
        hashlib.sha256(environment().encode()).hexdigest(),
    }
    public |= {printed(released), terms_of(load_domain(released.domain).of(PERIOD)).asks}
    out = released.folder / "out"
    public |= {
        hashlib.sha256((out / name).read_bytes()).hexdigest()
        for name in PUBLIC_FILES
        if (out / name).exists()
    }
    shared = {name for names_ in names(one).values() for name in names_} & {
        name for names_ in names(two).values() for name in names_
    }
    allowed = {name for name in shared if any(each.startswith(name) for each in public)}
    numbers = {name for name in shared if name.isdigit()}
    assert shared - allowed - numbers == set()
    assert one["table.csv"] == two["table.csv"]
    assert told["publication"] == json.loads(two["audit.json"])["digests"]["publication"]
    kept = {"domain", "publication"}
    assert all(
        value != json.loads(two["audit.json"])["digests"][name]
        for name, value in told.items()
        if name not in kept
    )


def test_the_same_secret_gives_the_same_bytes(one_secret: None, tmp_path: Path):
    made = []
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        desk = new_desk(tmp_path / folder, AT=table(TRUTH), BE=FREE)
        assert desk.release().code == 0
        made.append({name: (desk.folder / "out" / name).read_bytes() for name in ("table.csv", "audit.json")})
    assert made[0] == made[1]


def test_a_certificate_made_at_the_shell_is_keyed_by_what_only_its_evidence_holds(released: Desk):
    """And by another key each time."""
    elsewhere = released.publish(exact("EU", [FREE, FREE]))
    found = []
    for run in ("one", "two"):
        certificate, evidence = released.folder / f"{run}.json", released.folder / f"{run}.evidence"
        released.audit(elsewhere, "--json", certificate, "--witnesses", evidence)
        found.append(json.loads(certificate.read_text())["digests"])
        assert (
            hashlib.sha256((released.inbox / f"AT_{PERIOD}.csv").read_bytes()).hexdigest()
            not in certificate.read_text()
        )
    assert {name for name, value in found[0].items() if value == found[1][name]} == {"domain", "publication"}


def test_what_an_exact_total_is_printed_as_follows_from_the_total_alone(tmp_path: Path):
    """0.1 + 0.2 and 0.15 + 0.15 are the same total; as binary fractions they differ in the last
    digit, which would tell the parts.
    """
    domain = small_domain(tmp_path)
    found = set()
    for parts in (("0.1", "0.2"), ("0.15", "0.15"), ("0.25", "0.05"), ("0.29", "0.01")):
        tables = []
        for country, part in zip(("AT", "BE"), parts, strict=True):
            drawing = f"""
            _T        S         L
    TOTAL   {part} F  {part} F  0 F
    C       {part} F  {part} F  0 F
    D       0 F       0 F       0 F
"""
            tables.append(
                intake.read_bytes(sdmx_1(drawing, country).encode(), f"{country}.csv", domain, PERIOD).table
            )
        found.add(pipeline.build_problem(tables, domain).a[-9:].tobytes())
    assert len(found) == 1


# --- the program is part of what decides --------------------------------------------------------------------

AUDITOR = '        down=worst["down"],\n'


@pytest.mark.slow
def test_a_corrected_program_does_not_believe_the_verdicts_of_the_old_one(tmp_path: Path):
    """The same warehouse, deliveries and settings; but the auditor of the corrected program lets nothing
    pass.
    """
    desk = new_desk(tmp_path, AT=table(TRUTH), BE=FREE)
    old = desk.release()
    assert old.code == 0, old.text
    corrected = tmp_path / "corrected"
    for part in ("sdc_tasks", "sql"):
        shutil.copytree(SOURCES / part, corrected / part, ignore=shutil.ignore_patterns("__pycache__"))
    auditor = corrected / "sdc_tasks" / "methods" / "attack" / "auditing.py"
    assert AUDITOR in auditor.read_text()
    auditor.write_text(auditor.read_text().replace(AUDITOR, '        down=0.0 * worst["down"],\n'))
    command = [
        sys.executable,
        "-c",
        "from sdc_tasks import cli; cli.main()",
        "release",
        "--domain",
        desk.domain,
        "--period",
        PERIOD,
    ]
    command += ["--inbox", desk.inbox, "--out", desk.folder / "out"]
    environ = {**os.environ, "PYTHONPATH": str(corrected)}
    done = subprocess.run(
        list(map(str, command)), capture_output=True, text=True, env=environ, cwd=corrected, check=False
    )
    assert done.returncode == 3, done.stdout + done.stderr
    named = re.compile(rf"small-{PERIOD}-[0-9a-f]{{12}}")
    assert not set(named.findall(done.stdout)) & set(named.findall(old.said)), "an id of its own"


def test_what_another_program_has_begun_no_step_goes_on_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """It waited for an approval, say, while the program was corrected."""
    desk = new_desk(tmp_path, AT=table(TRUTH), BE=FREE)
    said = desk.release().said
    release_id = re.findall(rf"small-{PERIOD}-[0-9a-f]{{12}}", said)[0]
    monkeypatch.setattr(
        "sdc_tasks.warehouse.dissemination.lineage.environment", lambda: '{"source": "another"}'
    )
    at = steps.open_desk(f"sqlite:///{desk.folder / 'out' / 'warehouse.db'}", str(desk.domain), PERIOD)
    for step in (steps.baseline, partial(steps.choose_bases, group=0), steps.verdict, steps.publish):
        with pytest.raises(
            InvalidInput,
            match=r"another version of the program or of its packages began this release.*Remedy",
        ):
            step(at, release_id)
    at.engine.dispose()


def test_a_warehouse_takes_its_secret_from_the_environment_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    url = f"sqlite:///{tmp_path / 'w.db'}"
    monkeypatch.setenv(VARIABLE, WAREHOUSE_SECRET)
    engine = steps.open_office(url)
    assert secret_of(engine).hex == WAREHOUSE_SECRET
    monkeypatch.delenv(VARIABLE)
    assert secret_of(steps.open_office(url)) == secret_of(engine), "it is kept"
    another = "f" * 63 + "e"
    for wrong, named in ((another, "not the secret of this warehouse"), ("f" * 63, "64 hexadecimal digits")):
        monkeypatch.setenv(VARIABLE, wrong)
        with pytest.raises(InvalidInput, match=f"{named}.*Remedy") as caught:
            secret_of(steps.open_office(url))
        assert wrong not in str(caught.value)
    kept = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert WAREHOUSE_SECRET.encode() not in kept
    assert bytes.fromhex(WAREHOUSE_SECRET) not in kept


@pytest.mark.parametrize("pair", ["00", "ff", "5c"])
def test_a_secret_that_repeats_one_byte_is_refused(
    pair: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv(VARIABLE, pair * 32)
    with pytest.raises(InvalidInput, match=r"one byte.*Remedy: make one with `openssl") as caught:
        steps.open_office(f"sqlite:///{tmp_path / 'w.db'}")
    assert pair * 32 not in str(caught.value)
    assert not (tmp_path / "w.db").exists()


def test_seeds_of_roundings_are_more_than_anybody_tries():
    secret = Secret.fresh()
    seeds = {
        secret.derive("release", domain, period).seed("rounding", "PERSONS")
        for domain in ("a", "b")
        for period in ("1", "2")
    }
    assert len(seeds) == 4
    assert min(seeds) > 2**96, "more than anybody tries"


def test_who_does_not_know_the_seed_does_not_learn_what_a_known_one_gives_away():
    """Nine hidden counts of 1 or 2. He rounds all 512 tables by the seed, and keeps those that give what was
    published: with the seed that everybody had, one table, so that he knew all nine counts. Where any seed
    may have been drawn, no count is certain any more.
    """
    tables, truth = list(product((1, 2), repeat=9)), (2, 2, 1, 2, 2, 1, 1, 2, 1)
    shown = _published(truth, 1)

    def fitting(seed: int) -> list[tuple[int, ...]]:
        return [table for table in tables if _published(table, seed) == shown]

    assert fitting(1) == [truth]
    possible = [truth, *(table for seed in range(2, 6) for table in fitting(seed))]
    assert [len({table[cell] for table in possible}) for cell in range(9)] == [2] * 9


def _published(counts: tuple[int, ...], seed: int) -> tuple[int, ...]:
    codes = np.repeat(np.arange(3), 3).astype(np.int32), np.tile(np.arange(3), 3).astype(np.int32)
    cells, _ = inner_cells("ab", [(codes[0], list("xyz")), (codes[1], list("uvw"))], np.array(counts))
    return tuple(round_counts(dummy_of(cells, by_order(cells, 2)), CountOptions(seed, 3)).published.tolist())
