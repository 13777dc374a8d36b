"""Names of people, in the one form in which they are compared.

A typed name proves nothing. But in this form nobody counts twice by writing his name in another way: capitals, blanks, compatibility forms
and combined accents become the same. Invisible characters, and letters of two scripts in one name, are refused.
PostgreSQL refuses the same names by itself (`operations.is_person`), SQLite by the function `is_person` of the program.
"""

from __future__ import annotations

import re
import unicodedata

from sdc_tasks.errors import InvalidInput

# Letters of the scripts of the European Union; all else in a name is printable ASCII. Latin letters stand only in Latin names.
MARKS = "!-@{-~"
SCRIPTS = ("!-~ß-öø-ɏ", f"{MARKS}ͰͲ-Ͽἀ-῿", f"{MARKS}Ѐ-ԯ")
NAME = re.compile("|".join(f"(?:[{script}]+(?: [{script}]+)*)" for script in SCRIPTS))


def normal(name: str) -> str:
    """The form in which names are compared, whatever they are."""
    return " ".join(unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold()).split())


def is_person(name: str) -> bool:
    """A name in its normal form, of letters of one script."""
    return normal(name) == name and NAME.fullmatch(name) is not None


def person(name: str) -> str:
    """The normal form. Raises InvalidInput for what could pass for the name of somebody else."""
    found = normal(name)
    if not is_person(found):
        raise InvalidInput(
            f"{name!a} cannot stand under a decision: it is empty, or holds what cannot be seen, or letters of two scripts. "
            "Remedy: the name in Latin, Greek or Cyrillic letters"
        )
    return found
