"""Deliveries as they should not be: seeded mutations of good ones, in every wire format, of
bytes, lines, fields and numbers.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from support.deliveries import national, sdmx_1, sdmx_2

# Each confidential value is one that cannot come about by accident; the cells of D and A.
DRAWING = """
            _T           S            L
    TOTAL   9173846 F    4000000 F    5173846 F
    C       4000000 F    2741593 D    1258407 D
    D       5173846 F    1258407 D    3915439 A
"""
SECRETS = ("2741593", "1258407", "3915439")

NUMBERS = (
    "",
    " ",
    "-",
    "+",
    ".",
    ",",
    "-0",
    "0x1F",
    "1_000",
    "1e999",
    "1e-999",
    "1e9999999",
    "9" * 400,
    "9" * 16,
    "0." + "3" * 400,
    "NaN",
    "nan",
    "inf",
    "-Infinity",
    "NULL",
    "None",
    "c",
    "1,234",
    "1.234.567",
    "1 234",
    "1\u00a0234",
    "12,5",
    "12.5",
    "½",
    "１２３",
    "٣٤",
    "−5",
    "--5",
    "5-",
    "(5)",
    "5%",
    "=1+1",
    "+SUM(A1)",
    "'5",
    '"5"',
    "5e",
    "e5",
    "5e+",
    "1e308",
    "-1e308",
    "2147483648",
    "9223372036854775808",
)
WORDS = (
    "AT",
    "BE",
    "XX",
    "EU",
    "at",
    " AT",
    "TURNOVER",
    "F",
    "A",
    "D",
    "Z",
    "FF",
    "Ä",
    "\u200b",
    "\u202e",
    "\ufeff",
    "😀",
    "2024",
    "2023",
    "",
)
ENCODINGS = ("utf-16", "utf-16-le", "utf-32", "utf-7", "cp037", "latin-1", "cp1252", "utf-8-sig")
BYTES = (
    b"\x00",
    b"\xff",
    b"\xc3",
    b"\xed\xa0\x80",
    b"\xef\xbb\xbf",
    b"\r",
    b"\n",
    b"\n\n",
    b"\r\n",
    b'"',
    b'""',
    b";",
    b",",
    b"\t",
    b"\x1a",
    b"<?xml",
)


def healthy() -> list[bytes]:
    """Good deliveries: each wire format, some with units and shares, one with every field in
    quotation marks.
    """
    one, two = sdmx_1(DRAWING), sdmx_2(DRAWING)
    units = one.replace(",A,A,,,", ",A,A,2,97.5,2.5").replace(",A,D,,,", ",A,D,5,40.1,30")
    quoted = (
        "\n".join(",".join(f'"{field}"' for field in line.split(",")) for line in one.splitlines()) + "\n"
    )
    return [one.encode(), two.encode(), national(DRAWING), units.encode(), quoted.encode()]


def mutated(chance: random.Random, bases: Sequence[bytes]) -> bytes:
    """A good delivery after one to four mutations."""
    data = chance.choice(bases)
    for _ in range(chance.choice((1, 1, 1, 2, 2, 3, 4))):
        data = chance.choice(MUTATIONS)(chance, data)
    return _wide(chance, data) if chance.random() < 0.002 else data


def nonsense(chance: random.Random, bases: Sequence[bytes]) -> bytes:
    """Bytes that are no delivery, with pieces of one in them."""
    kinds = (
        lambda: chance.randbytes(chance.randrange(20)),
        lambda: chance.choice(BYTES),
        lambda: _piece(chance, chance.choice(bases)),
    )
    return b"".join(chance.choice(kinds)() for _ in range(8))


def _piece(chance: random.Random, data: bytes) -> bytes:
    start = chance.randrange(len(data) + 1)
    return data[start : start + chance.randrange(1, 200)]


def _bytes(chance: random.Random, data: bytes) -> bytes:
    at, end = sorted(chance.randrange(len(data) + 1) for _ in range(2))
    inside = chance.choice(
        (b"", chance.randbytes(1), chance.choice(BYTES), data[at:end], _piece(chance, data))
    )
    return data[:at] + inside + data[min(end, at + chance.choice((0, 1, 2, 30))) :]


def _cut(chance: random.Random, data: bytes) -> bytes:
    return data[: chance.randrange(len(data) + 1)]


def _encoded(chance: random.Random, data: bytes) -> bytes:
    return data.decode("utf-8", "replace").encode(chance.choice(ENCODINGS), "replace")


def _line_ends(chance: random.Random, data: bytes) -> bytes:
    return data.replace(
        b"\n", chance.choice((b"\r", b"\r\n", b"\n\n", b"\n\r", b"\x0b", "\u2028".encode(), b""))
    )


def _separators(chance: random.Random, data: bytes) -> bytes:
    return data.replace(chance.choice((b",", b";")), chance.choice((b",", b";", b"\t", b"|", b" ", b",,")))


def _on_lines(change: Callable[[random.Random, list[str]], None]) -> Callable[[random.Random, bytes], bytes]:
    def changed(chance: random.Random, data: bytes) -> bytes:
        lines = data.decode("utf-8", "surrogateescape").split("\n")
        change(chance, lines)
        return "\n".join(lines).encode("utf-8", "surrogateescape")

    return changed


def _lines(chance: random.Random, lines: list[str]) -> None:
    at, other = (chance.randrange(len(lines)) for _ in range(2))
    match chance.randrange(5):
        case 0:
            lines[at], lines[other] = lines[other], lines[at]
        case 1:
            lines.insert(at, lines[other])
        case 2:
            del lines[at]
        case 3:
            lines[at:at] = [lines[other]] * chance.choice((2, 150))
        case 4:
            lines[at] += lines[other]


def _fields(chance: random.Random, lines: list[str]) -> None:
    """Fields of one line, the header too, or of all."""
    separator = ";" if ";" in lines[0] else ","
    number = chance.randrange(len(lines))
    chosen = range(len(lines)) if chance.random() < 0.15 else [number]
    column, other, way = chance.randrange(16), chance.randrange(16), chance.randrange(9)
    new = chance.choice((*NUMBERS, *WORDS, *SECRETS))
    for i in chosen:
        fields = lines[i].split(separator)
        at, to = column % len(fields), other % len(fields)
        match way:
            case 0 | 1 | 2:
                fields[at] = new
            case 3:
                fields[at], fields[to] = fields[to], fields[at]
            case 4:
                fields[at] += fields[to]  # a separator was lost: a value is glued to a code
            case 5:
                del fields[at]
            case 6:
                fields.insert(at, new)
            case 7:
                fields[at] = f'"{fields[at]}{chance.choice(("", chr(10), separator, chr(34) * 2))}"'
            case 8:
                fields[at] = fields[at].swapcase() + chance.choice(("", " ", "\t", "\u00a0"))
        lines[i] = separator.join(fields)


def _values(chance: random.Random, lines: list[str]) -> None:
    """The number of a record."""
    separator = ";" if ";" in lines[0] else ","
    names = lines[0].lstrip("\ufeff").split(separator)
    number, column = (
        chance.randrange(len(lines)),
        chance.choice(("OBS_VALUE", "OBS_VALUE", "UNIT_MULT", "UNITS", "SHARE_1", "SHARE_2")),
    )
    fields = lines[number].split(separator)
    if column in names and names.index(column) < len(fields):
        at = names.index(column)
        way = chance.randrange(3)
        fields[at] = (
            chance.choice(NUMBERS),
            fields[at] + chance.choice(NUMBERS),
            f"{chance.choice(NUMBERS)}{fields[at]}",
        )[way]
        lines[number] = separator.join(fields)


def _wide(chance: random.Random, data: bytes) -> bytes:
    """One field, or the number of fields, is enormous."""
    at = chance.randrange(len(data) + 1)
    return data[:at] + chance.choice((b"9" * 70_000, b"A" * 70_000, b"," * 3_000, b'"' * 1_001)) + data[at:]


MUTATIONS: tuple[Callable[[random.Random, bytes], bytes], ...] = (
    *([_on_lines(_fields)] * 8),
    *([_on_lines(_values)] * 6),
    *([_on_lines(_lines)] * 2),
    *([_bytes] * 3),
    _cut, _encoded, _line_ends, _separators,
)  # fmt: skip
