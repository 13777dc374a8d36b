"""The disk is full, wherever in a release: by a quota (RLIMIT_FSIZE), and as a small disk of its own. What is
there is whole, and with more room the release is completed.
"""

from __future__ import annotations

import pytest

from support.faults.office import look
from support.faults.places import KEYS
from support.tried import tried


@pytest.mark.slow
@pytest.mark.parametrize("new_place", ["postgresql"], indirect=True)
def test_no_room_for_the_files_of_a_release(new_place, undisturbed):
    """The warehouse is elsewhere. A quota of less than the certificate, than the table, than the report."""
    left = undisturbed[0]
    sizes = sorted(len(content) for name, content in left.files.items() if name != "findings.csv")
    for quota in (0, sizes[0] - 1, sizes[1] - 1, sizes[1] + 1):
        place = new_place()
        ended = place.release(limits={"RLIMIT_FSIZE": quota})
        assert ended.code != 0, ended.said
        for name, content in place.look().files.items():
            assert content == left.files[name], f"{name} is whole, or not there"
        again = place.release()
        assert again.code == 0, again.said
        assert place.look() == left
        tried("full disks")


@pytest.mark.slow
@pytest.mark.parametrize("new_place", ["sqlite"], indirect=True)
def test_no_room_for_the_warehouse(new_place, undisturbed):
    """A quota that the database file meets at its first page, in the migrations, in the
    middle of the release, near its end.
    """
    whole = new_place()
    assert whole.release().code == 0
    size = max(path.stat().st_size for path in whole.folder.glob("warehouse.db*"))
    for share in (0.0, 0.2, 0.5, 0.8, 0.95):
        place = new_place()
        ended = place.release(limits={"RLIMIT_FSIZE": int(size * share)})
        assert ended.code == (4 if share else 1), ended.said
        assert place.lying_about() == []
        place.look()
        again = place.release()
        assert again.code == 0, again.said
        assert place.look() == undisturbed[0]
        tried("full disks")


@pytest.mark.parametrize("new_place", ["sqlite"], indirect=True)
@pytest.mark.parametrize("room", [100_000, 400_000, 700_000])
def test_a_disk_of_its_own_that_is_full(new_place, undisturbed, room):
    place = new_place()
    place.out.mkdir()
    inside = place.in_the_out_folder()
    ended = inside.release(small_disk=(str(place.out), room))
    if "unshare" in ended.said or "mount" in ended.said:
        pytest.skip("this system lets nobody but root mount a disk in memory")
    assert ended.code != 0, ended.said
    assert "Retriable: the disk of the warehouse" in ended.said, ended.said
    saved = ended.disk
    look(saved, f"sqlite:///{saved / 'warehouse.db'}", KEYS)
    place.out.rmdir()
    saved.rename(place.out)
    assert inside.release().code == 0
    assert inside.look() == undisturbed[0]
    tried("full disks")
