"""Encryption of confidential bytes: AES-256-GCM with the newest of several keys; each
payload is bound to its digest.

A key is 32 random bytes, written as URL-safe base64. The first key of a keyring encrypts; all keys
decrypt, so that a key can be replaced while the warehouse is in use (`maintenance.rotate`). The name of a
key is the beginning of its digest. The program that opens the warehouse gives the keys (from the
environment or a secret backend, see `steps.open_desk`); a SQLite warehouse without given keys has a key
file beside it, readable by its owner only.
"""

from __future__ import annotations

import os
import re
import secrets
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from uuid import uuid4

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from sdc_tasks.errors import InvalidInput
from sdc_tasks.model.secret import repeats_one_byte
from sdc_tasks.warehouse.forms.canonical import digest_of

KEY_BYTES = 32
NONCE_BYTES = 12
REMEDY = (
    "Remedy: set SDC_PAYLOAD_KEYS to the keys of this warehouse, separated by "
    "commas, newest first; `sdc new-key` makes one"
)


class TamperedError(Exception):
    """The bytes are not those encrypted under this digest."""


@dataclass(frozen=True)
class Keyring:
    """Keys by name. The first key encrypts."""

    keys: dict[str, bytes] = field(repr=False)

    @classmethod
    def of(cls, written: Sequence[str]) -> Keyring:
        """The keyring of keys as text. Raises InvalidInput, which does not show the text, for an
        invalid key, and where anybody would guess the one that encrypts; an old one opens what it sealed.
        """
        keys = [_key(text.strip()) for text in written if text.strip()]
        if not keys:
            raise InvalidInput(f"the payload keys hold no key. {REMEDY}")
        if repeats_one_byte(keys[0]):
            raise InvalidInput(
                "the newest payload key repeats one byte, so it is no secret. Remedy: make one with `sdc "
                "new-key`, put it before the others in SDC_PAYLOAD_KEYS, and run sdc rotate-keys"
            )
        return cls({_name(key): key for key in keys})

    @property
    def newest(self) -> str:
        """The name of the key that encrypts new payloads after the next rotation."""
        return next(iter(self.keys))

    def seal(self, digest: str, content: bytes, name: str) -> tuple[str, bytes]:
        """Encrypts content with the key of this name. Returns the name, and nonce, ciphertext and tag."""
        nonce = secrets.token_bytes(NONCE_BYTES)
        return name, nonce + AESGCM(self.keys[name]).encrypt(nonce, content, digest.encode())

    def open(self, digest: str, name: str, sealed: bytes) -> bytes:
        """Decrypts content. Raises InvalidInput if its key is missing, TamperedError if it
        was not sealed under this digest.
        """
        if name not in self.keys:
            raise InvalidInput(
                f"artefact {digest} is encrypted with key {name}, which is not among the given keys. {REMEDY}"
            )
        try:
            return AESGCM(self.keys[name]).decrypt(
                sealed[:NONCE_BYTES], sealed[NONCE_BYTES:], digest.encode()
            )
        except (InvalidTag, ValueError):
            raise TamperedError(digest) from None


def new_key() -> str:
    """A new random key as text."""
    return urlsafe_b64encode(secrets.token_bytes(KEY_BYTES)).decode()


def key_file(warehouse: Path) -> Path:
    """The path of the key file of a SQLite warehouse."""
    return warehouse.with_name(f"{warehouse.name}.key")


def read_key_file(path: Path) -> Keyring:
    """The keys of the file, one per line, newest first. Makes the file if there is none yet.

    Raises InvalidInput where others than its owner may read or change the file.
    """
    if not path.exists():
        _place(path, f"{new_key()}\n", over=False)
    if path.stat().st_mode & 0o077:
        raise InvalidInput(
            f"{path}: others than its owner may read these keys. Remedy: chmod 600 {path}; run sdc "
            f"rotate-keys if others may have read them"
        )
    return Keyring.of(path.read_text(encoding="ascii").splitlines())


def write_key_file(path: Path, keys: Sequence[str]) -> None:
    """Replaces the key file in one step."""
    _place(path, "".join(f"{key}\n" for key in keys), over=True)


def _place(path: Path, content: str, over: bool) -> None:
    """Writes the whole file or nothing. If several processes make a new file at once, the first
    one counts.
    """
    part = path.with_name(f"{path.name}.{uuid4().hex}")
    try:
        opened = os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        with os.fdopen(opened, "w", encoding="ascii") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if over:
            part.replace(path)
        else:
            os.link(part, path)
    except FileExistsError:
        pass
    finally:
        part.unlink(missing_ok=True)


def _key(text: str) -> bytes:
    if not re.fullmatch(r"[A-Za-z0-9_-]{43}=", text):
        raise InvalidInput(f"a payload key is not {KEY_BYTES} bytes in URL-safe base64. {REMEDY}")
    return urlsafe_b64decode(text)


def _name(key: bytes) -> str:
    return digest_of(b"sdc payload key " + key)[:16]
