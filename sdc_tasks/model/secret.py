"""Secrets: what turns a digest of confidential values into a name that nobody else can make.

A plain digest is an oracle. Who has this program, and all of a table but one cell, tries every value of that cell until the digest is the
one that he was shown. Under a secret key (HMAC-SHA256, RFC 2104) he cannot try a single one. Each use has a key of its own, derived by
its label as in HKDF-Expand (RFC 5869), so that no name of one use says anything about another.
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


@dataclass(frozen=True)
class Secret:
    """A key of 32 bytes. It shows itself nowhere; `hex` is for confidential files alone."""

    key: bytes = field(repr=False)

    def __post_init__(self) -> None:
        if len(self.key) != BYTES:
            raise ValueError(f"a secret has {BYTES} bytes")

    @classmethod
    def fresh(cls) -> Secret:
        """A random one."""
        return cls(secrets.token_bytes(BYTES))

    @classmethod
    def of_hex(cls, text: str) -> Secret:
        """From its digits again. Raises ValueError, without them, where they are not those of a secret."""
        try:
            return cls(bytes.fromhex(text))
        except (ValueError, TypeError):
            raise ValueError(f"a secret is {2 * BYTES} hexadecimal digits") from None

    @property
    def hex(self) -> str:
        """As text: for confidential files alone."""
        return self.key.hex()

    def derive(self, label: str, *of: str) -> Secret:
        """The key for one use, of one thing: its label and what names the thing, such as ("release", domain, period)."""
        return Secret(self._mac([json.dumps([label, *of], ensure_ascii=False).encode()]).digest())

    def digest(self, *parts: bytes) -> str:
        """HMAC-SHA256 of the parts one after the other, in hexadecimal."""
        return self._mac(parts).hexdigest()

    def seed(self, label: str, *of: str) -> int:
        """A seed of 128 bits for one use."""
        return int.from_bytes(self.derive(f"seed {label}", *of).key[:SEED_BYTES], "big")

    def _mac(self, parts: Iterable[bytes]) -> hmac.HMAC:
        mac = hmac.new(self.key, digestmod=hashlib.sha256)
        for part in parts:
            mac.update(part)
        return mac


def name_of_delivery(content: bytes, salt: Secret) -> str:
    """By what a delivered file is known: the same bytes have the same name under the same salt, and another under any other."""
    return salt.derive("delivery").digest(content)
