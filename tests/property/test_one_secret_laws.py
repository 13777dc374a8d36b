"""Whatever is drawn, and in whatever order offices open their warehouses: no second secret of a
period gets so far as a release.
"""

from __future__ import annotations

import shutil
from itertools import count
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sdc_tasks.domains import Domain
from sdc_tasks.errors import InvalidInput
from sdc_tasks.methods.rounding.options import ControlledRounding, QuadraticRounding
from sdc_tasks.model.secret import Secret
from sdc_tasks.steps.desk import Desk
from sdc_tasks.steps.identity import drawn_by, require_kept
from sdc_tasks.warehouse.confidential.secret import keep, named, secret_of
from sdc_tasks.warehouse.database.engine import open_warehouse
from sdc_tasks.warehouse.database.migrations import FIRST, migrate
from support.deliveries import PERIOD, small_domain
from support.laws import law
from support.world import KEYS

WAYS = {
    "nothing": {},
    "bases": {"rule_aware": True},
    "controlled": ControlledRounding(method="controlled", base=5),
    "quadratic": QuadraticRounding(method="quadratic", base=5),
}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Domain]:
    """A folder with a warehouse that has tables alone: a secret is made by whoever opens a
    copy of it, as the migration would.
    """
    folder = tmp_path_factory.mktemp("offices")
    engine = open_warehouse(f"sqlite:///{folder / 'template.db'}", KEYS)
    migrate(engine, FIRST)  # by its number: a secret comes with the newest, whichever that is
    engine.dispose()
    return folder, small_domain(folder)


NUMBER = count()


@given(
    st.sampled_from(sorted(WAYS)),
    st.lists(st.sampled_from(["own", "kept", "given", "restored"]), min_size=2, max_size=4),
)
@law(300)
def test_a_second_secret_is_refused_or_kept_by_who_was_told(
    place: tuple[Path, Domain], way: str, offices: list[str]
) -> None:
    """Each in a warehouse of its own: it makes a secret, also keeps it, is given that of the
    office, or is a copy of the first.
    """
    folder, domain = place
    drawn, given_one = _drawn(domain, way), Secret(bytes(32))
    files, found = [], []
    for what in ["own" if offices[0] == "restored" else offices[0], *offices[1:]]:
        files.append(folder / f"{next(NUMBER)}.db")
        shutil.copy(files[0] if what == "restored" else folder / "template.db", files[-1])
        engine = open_warehouse(f"sqlite:///{files[-1]}", KEYS, secret=given_one if what == "given" else None)
        secret_of(engine)
        if what == "kept":
            assert way == "nothing" or _refusal(Desk(engine, drawn, PERIOD)), "it was told before"
            keep(engine, lambda _: None)
        found.append((what, named(engine)[0], _refusal(Desk(engine, drawn, PERIOD))))
        engine.dispose()
    for what, fingerprint, refusal in found:
        if what == "restored":
            assert (fingerprint, refusal) == found[0][1:], "a copy is the same warehouse"
        elif what == "given":
            assert (fingerprint, refusal) == (given_one.fingerprint, "")
        elif what == "own" and way != "nothing":
            assert fingerprint[:16] in refusal
            assert "whoever sees two of them" in refusal
        else:
            assert refusal == "", "nothing is drawn, or the office keeps what it draws by"
    own = [fingerprint for what, fingerprint, _ in found if what in ("own", "kept")]
    assert len(set(own)) == len(own), "nobody draws the secret of another"


def _refusal(desk: Desk) -> str:
    try:
        require_kept(desk)
    except InvalidInput as refusal:
        return str(refusal)
    assert drawn_by(desk) == (named(desk.engine)[0] if desk.domain.draws else "")
    return ""


def _drawn(domain: Domain, way: str) -> Domain:
    if way == "bases":
        return domain.model_copy(update={"bases": domain.bases.model_copy(update=WAYS[way])})
    if way == "nothing":
        return domain
    return domain.model_copy(
        update={
            "indicators": tuple(each.model_copy(update={"rounding": WAYS[way]}) for each in domain.indicators)
        }
    )
