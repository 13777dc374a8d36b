"""The keyring alone: what is sealed opens with its key, its name and its digest, and in no other way."""

from __future__ import annotations

import os
from base64 import urlsafe_b64decode, urlsafe_b64encode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sdc_tasks.errors import InvalidInput
from sdc_tasks.warehouse.keyring import KEY_BYTES, Keyring, TamperedError, new_key, read_key_file

KEY = new_key()


@given(content=st.binary(max_size=200), place=st.integers(min_value=0), bit=st.integers(0, 7))
def test_every_flipped_bit_is_found(content: bytes, place: int, bit: int) -> None:
    keys = Keyring.of([KEY])
    name, sealed = keys.seal("digest", content, keys.newest)
    assert keys.open("digest", name, sealed) == content
    damaged = bytearray(sealed)
    damaged[place % len(sealed)] ^= 1 << bit
    for digest, found in (
        ("digest", bytes(damaged)),
        ("other", sealed),
        ("digest", sealed[:-1]),
        ("digest", b""),
    ):
        with pytest.raises(TamperedError):
            keys.open(digest, name, found)


def test_the_same_content_is_never_sealed_the_same_way() -> None:
    keys = Keyring.of([KEY])
    assert len({keys.seal("digest", b"same", keys.newest)[1] for _ in range(100)}) == 100


def test_the_first_key_is_the_newest_and_every_key_opens() -> None:
    old, fresh = KEY, new_key()
    both = Keyring.of([fresh, old])
    name, sealed = Keyring.of([old]).seal("digest", b"content", Keyring.of([old]).newest)
    assert both.open("digest", name, sealed) == b"content"
    assert both.newest == Keyring.of([fresh]).newest != name
    assert [both.seal("digest", b"content", each)[0] for each in (both.newest, name)] == [both.newest, name]
    with pytest.raises(InvalidInput, match=name):
        Keyring.of([fresh]).open("digest", name, sealed)


@pytest.mark.parametrize(
    "written", ["", " ", "short", "ö" * 44, KEY[:-4], KEY + KEY, "a b" + KEY[3:]], ids=range(7)
)
def test_what_is_no_key_is_refused_without_being_told(written: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        Keyring.of([written])
    assert not written.strip() or written not in str(caught.value)


def test_a_key_that_repeats_one_byte_opens_and_does_not_encrypt() -> None:
    weak = urlsafe_b64encode(bytes(KEY_BYTES)).decode()
    with pytest.raises(InvalidInput, match=r"repeats one byte.*Remedy: make one with `sdc new-key`"):
        Keyring.of([weak, KEY])
    assert Keyring.of([KEY, weak]).newest == Keyring.of([KEY]).newest


def test_a_keyring_does_not_show_its_keys() -> None:
    keys = Keyring.of([KEY])
    assert KEY not in repr(keys)
    assert repr(urlsafe_b64decode(KEY)) not in repr(keys)


def test_who_is_interrupted_while_a_key_is_written_leaves_none_behind(tmp_path, monkeypatch) -> None:
    def interrupted(file: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        read_key_file(tmp_path / "warehouse.db.key")
    assert list(tmp_path.iterdir()) == []
