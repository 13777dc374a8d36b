"""The printed key of a cell, its codes joined by dots, such as `AT.TURNOVER.C10.GE250`; and codes
that readers take for one another.

Two cells have two keys: a code that holds a dot, or begins with a quotation mark, stands between quotation
marks, which are doubled inside. So ("C.S", "_T") is `"C.S"._T`, and ("C", "S._T") is `C."S._T"`. Keys are for
people. Programs that must find a cell again take the codes apart with `codes_in`, and look these up.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from sdc_tasks.errors import InvalidInput

# Cyrillic and Greek letters that look as a Latin one, dashes and apostrophes (Unicode, UTS 39),
# as far as keyboards have them.
_OTHERS = {
    "A": "\u0391\u0410",
    "B": "\u0392\u0412",
    "C": "\u0421",
    "E": "\u0395\u0415",
    "H": "\u0397\u041d",
    "I": "\u0399\u0406",
    "J": "\u0408",
    "K": "\u039a\u041a",
    "M": "\u039c\u041c",
    "N": "\u039d",
    "O": "\u039f\u041e",
    "P": "\u03a1\u0420",
    "S": "\u0405",
    "T": "\u03a4\u0422",
    "X": "\u03a7\u0425",
    "Y": "\u03a5\u0423",
    "Z": "\u0396",
    "a": "\u0430",
    "c": "\u03f2\u0441",
    "d": "\u0501",
    "e": "\u0435",
    "i": "\u0456",
    "j": "\u0458",
    "l": "\u04cf",
    "o": "\u03bf\u043e",
    "p": "\u03c1\u0440",
    "q": "\u051b",
    "s": "\u0455",
    "v": "\u03bd",
    "w": "\u051d",
    "x": "\u0445",
    "y": "\u0443",
    "-": "\u2010\u2011\u2012\u2013\u2014\u2015\u2212",
    "'": "\u2018\u2019\u02bc",
}
_ALIKE = str.maketrans({other: sign for sign, others in _OTHERS.items() for other in others})
_PART = re.compile(r'"((?:[^"]|"")*)"|([^."][^.]*|)')


def printed_key(codes: Iterable[str]) -> str:
    """The key of a cell: no other codes have it."""
    return ".".join(
        '"' + code.replace('"', '""') + '"' if "." in code or code.startswith('"') else code for code in codes
    )


def codes_in(key: str) -> tuple[str, ...]:
    """The codes in a printed key, the inverse of `printed_key`. Raises ValueError where this is none."""
    found, at = [], 0
    while True:
        part = _PART.match(key, at)
        if part is None or (part.end() < len(key) and key[part.end()] != "."):
            raise ValueError("a quotation mark that opens no code, or closes none")
        found.append(part[2] if part[1] is None else part[1].replace('""', '"'))
        if part.end() == len(key):
            return tuple(found)
        at = part.end() + 1


def twins(codes: Iterable[str]) -> tuple[str, str] | None:
    """The first two different codes that a reader takes for one another: they differ by blanks, by the case
    of letters, by letters of another script that look the same, by signs without a width, or by their normal
    form (NFKC) alone. None where there are none.
    """
    first: dict[str, str] = {}
    for code in codes:
        other = first.setdefault(_seen(code), code)
        if other != code:
            return other, code
    return None


def refuse_twins(where: str, codes: Iterable[str]) -> None:
    """Raises InvalidInput for two codes that a reader takes for one another. `where`: the
    file, or what messages call it.
    """
    if found := twins(codes):
        raise InvalidInput(
            f"{where}: {found[0]!a} and {found[1]!a} look like one code. Remedy: keep one of them, or write "
            f"them unlike"
        )


def _seen(code: str) -> str:
    """What a reader sees of a code."""
    plain = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", code).translate(_ALIKE).casefold())
    return "".join(sign for sign in plain if not sign.isspace() and unicodedata.category(sign) != "Cf")
