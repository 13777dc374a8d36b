"""Record keys and cell keys: which noise a cell gets depends on who is in it, and on nothing else.

Each record has a key; a cell's key is the sum of the keys of its records, modulo M (Fraser & Wooton 2005;
Marley & Leaver 2011). So the same people get the same noise in every table, whatever the order of their
records. A cell nobody is in has key 0 and no noise.

Two ways to a place in [0, 1):

given keys    whole numbers below M; the place is the cell key / M, as R cellKey and the English office
              have it
a secret      M = 2**52, the record key is a keyed digest of the record's name, and the place is a keyed
              pseudo-random function of the cell key: SipHash-2-4 (Aumasson & Bernstein 2012). Keys add up,
              places do not: who knows the noise of the parts of a total learns nothing about that of the
              total. With given keys he may: of two parts whose keys are small, so is the sum. The authors of
              R ptable shuffle the intervals of a table against this.
"""

from __future__ import annotations

import hmac
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sdc_tasks.methods.perturb.ptable import PerturbationTable
from sdc_tasks.methods.rounding.small_count.dummy import Dummy
from sdc_tasks.model.secret import Secret
from sdc_tasks.model.table import Ints

Keys = npt.NDArray[np.uint64]
SECRET_BITS = 52
LIMB = 26  # bits of a summand: a float sums 2**27 of them exactly
HALF_LIMB = 13
PLACES = 1 << 40  # to which the function of a cell key is cut
MOST_MODULUS = 10**15  # of given keys: τ-ARGUS writes 15 decimals
CHUNK = 1 << 16  # cells at once: their words stay in the cache


@dataclass(frozen=True)
class CellKeying:
    """How a cell key chooses its place: `modulus` M; with a `secret` by a pseudo-random function."""

    modulus: int
    secret: Secret | None = None

    @classmethod
    def of_secret(cls, secret: Secret) -> CellKeying:
        return cls(1 << SECRET_BITS, secret)

    @classmethod
    def given(cls, modulus: int) -> CellKeying:
        """Raises ValueError for a modulus that is none."""
        if not 2 <= modulus <= MOST_MODULUS:
            raise ValueError(f"the keys are below a whole number from 2 to {MOST_MODULUS}")
        return cls(modulus)

    @property
    def places(self) -> int:
        """How many places there are."""
        return self.modulus if self.secret is None else PLACES

    def record_keys(self, names: Sequence[str]) -> Keys:
        """(records,): the key of each record of this name. Only with a secret."""
        assert self.secret is not None
        key = self.secret.derive("record keys of cells").key
        mask = self.modulus - 1
        return np.fromiter(
            (int.from_bytes(hmac.digest(key, name.encode(), "sha256")[:8], "big") & mask for name in names),
            dtype=np.uint64,
            count=len(names),
        )

    def summed(self, which: Ints, keys: Keys, cells: int) -> Keys:
        """(cells,): the key of each cell from those of its records; `which` (records,): the cell of each."""
        low, high = np.zeros(cells, dtype=np.uint64), np.zeros(cells, dtype=np.uint64)
        np.add.at(low, which, keys & np.uint64((1 << LIMB) - 1))
        np.add.at(high, which, keys >> np.uint64(LIMB))
        return self.joined(low, high)

    def totals(self, dummy: Dummy, inner: Keys) -> Keys:
        """(P,): the keys of the published cells from those of the inner cells (n,)."""
        low = dummy.totals((inner & np.uint64((1 << LIMB) - 1)).astype(np.int64)).astype(np.uint64)
        high = dummy.totals((inner >> np.uint64(LIMB)).astype(np.int64)).astype(np.uint64)
        return self.joined(low, high)

    def joined(self, low: Keys, high: Keys) -> Keys:
        """low + 2**26 · high modulo M: the limbs were summed apart."""
        modulus, found = np.uint64(self.modulus), high % np.uint64(self.modulus)
        # exact: M is 2**52, which divides 2**64 where this runs over, or below 2**50, where it does not
        for _ in range(LIMB // HALF_LIMB):
            found = (found << np.uint64(HALF_LIMB)) % modulus
        return (found + low % modulus) % modulus

    def group_sums(self, keys: Keys, starts: Ints) -> Keys:
        """(groups,): the key of each group of records that lie together and begin there."""
        low = np.add.reduceat(keys & np.uint64((1 << LIMB) - 1), starts)
        high = np.add.reduceat(keys >> np.uint64(LIMB), starts)
        return self.joined(low, high)

    def placed(self, keys: Keys, use: str = "") -> Keys:
        """(n,): the place of each cell key, below `places`. With a secret another use, such as a column of
        values, has other places.
        """
        if self.secret is None:
            return keys
        word = self.secret.derive("places of cell keys", use).key
        k0, k1 = (int.from_bytes(word[at : at + 8], "little") for at in (0, 8))
        found = np.empty(len(keys), dtype=np.uint64)
        for begin in range(0, len(keys), CHUNK):
            found[begin : begin + CHUNK] = siphash(keys[begin : begin + CHUNK], k0, k1)
        return found >> np.uint64(64 - 40)

    def noise(self, table: PerturbationTable, counts: Ints, keys: Keys) -> Ints:
        """(n,): the noise of each cell with this count and cell key."""
        return table.noise(counts, self.placed(keys), self.places)


def siphash(words: Keys, k0: int, k1: int) -> Keys:
    """(n,): SipHash-2-4 of each word, taken as 8 bytes, little-endian, under the key k0, k1."""
    zero = np.zeros(len(words), dtype=np.uint64)
    v = [
        zero + np.uint64(k0 ^ 0x736F6D6570736575),
        zero + np.uint64(k1 ^ 0x646F72616E646F6D),
        zero + np.uint64(k0 ^ 0x6C7967656E657261),
        zero + np.uint64(k1 ^ 0x7465646279746573),
    ]
    for block in (words, zero + np.uint64(8 << 56)):  # the message, and its length
        v[3] ^= block
        _round(v)
        _round(v)
        v[0] ^= block
    v[2] ^= np.uint64(0xFF)
    for _ in range(4):
        _round(v)
    found: Keys = v[0] ^ v[1] ^ v[2] ^ v[3]
    return found


def _round(v: list[Keys]) -> None:
    """SipRound, in place."""
    v0, v1, v2, v3 = v
    v0 += v1
    v2 += v3
    _turn(v1, 13)
    _turn(v3, 16)
    v1 ^= v0
    v3 ^= v2
    _turn(v0, 32)
    v2 += v1
    v0 += v3
    _turn(v1, 17)
    _turn(v3, 21)
    v1 ^= v2
    v3 ^= v0
    _turn(v2, 32)


def _turn(word: Keys, bits: int) -> None:
    """Turns the bits of each word to the left, in place."""
    over = word >> np.uint64(64 - bits)
    word <<= np.uint64(bits)
    word |= over
