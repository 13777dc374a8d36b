"""Secrets: keys with which a digest of confidential values becomes a name that nobody else can compute.

A plain digest is an oracle: an attacker who has this program, and all of a table but one cell, tries every
value of that cell until the digest matches. Without the key of an HMAC-SHA256 (RFC 2104) he cannot test a
single value. Each use has its own key, derived from its label as in HKDF-Expand (RFC 5869), so that a name of
one use reveals nothing about another use.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
from collections.abc import Iterable
from dataclasses import dataclass, field

BYTES = 32
SEED_BYTES = 16  # more than anybody can try


def repeats_one_byte(key: bytes) -> bool:
    """Whether anybody would try this key first: chance draws none such."""
    return len(set(key)) == 1


@dataclass(frozen=True)
class Secret:
    """A key of 32 bytes. Printing the object hides it; `hex` is for confidential files only.
    Raises ValueError for another length.
    """

    key: bytes = field(repr=False)

    def __post_init__(self) -> None:
        if len(self.key) != BYTES:
            raise ValueError(f"a secret has {BYTES} bytes")

    @classmethod
    def fresh(cls) -> Secret:
        """A random secret."""
        return cls(secrets.token_bytes(BYTES))

    @classmethod
    def of_hex(cls, text: str) -> Secret:
        """The secret of these hexadecimal digits. Raises ValueError, which does not show them, when they are
        not valid, or anybody would try them first.
        """
        try:
            made = cls(bytes.fromhex(text))
        except (ValueError, TypeError):
            raise ValueError(f"a secret is {2 * BYTES} hexadecimal digits") from None
        if repeats_one_byte(made.key):
            raise ValueError("it repeats one byte, so it is no secret")
        return made

    @property
    def hex(self) -> str:
        """The key as 64 hexadecimal digits, for confidential files only."""
        return self.key.hex()

    @property
    def fingerprint(self) -> str:
        """The name of the secret that everybody may know, 64 hexadecimal digits: a digest by a key of its
        own, so that only a guess of the whole secret could be tried on it.
        """
        return self.derive("fingerprint").digest()

    def derive(self, label: str, *of: str) -> Secret:
        """The key for one use of one thing: the label of the use, then the names of the thing, such
        as ("release", domain, period).
        """
        return Secret(self._mac([json.dumps([label, *of], ensure_ascii=False).encode()]).digest())

    def digest(self, *parts: bytes) -> str:
        """HMAC-SHA256 of the concatenated parts, in hexadecimal."""
        return self.digest_of(parts)

    def digest_of(self, parts: Iterable[bytes]) -> str:
        """The same of parts that are not all there at once."""
        return self._mac(parts).hexdigest()

    def seed(self, label: str, *of: str) -> int:
        """A seed of 128 bits for one use."""
        return int.from_bytes(self.derive(f"seed {label}", *of).key[:SEED_BYTES], "big")

    def _mac(self, parts: Iterable[bytes]) -> hmac.HMAC:
        mac = hmac.new(self.key, digestmod=hashlib.sha256)
        for part in parts:
            mac.update(part)
        return mac


def name_of_delivery(content: bytes | Iterable[bytes], salt: Secret) -> str:
    """The keyed digest that names a delivered file, given whole or by pieces: the same bytes have the same
    name under the same salt only.
    """
    pieces = (content,) if isinstance(content, bytes) else content
    return salt.derive("delivery").digest_of(pieces)


def drawn_seed(given: int | None) -> int:
    """The given seed of a rounding, or a random one that nobody can guess."""
    return Secret.fresh().seed("rounding") if given is None else given
