"""Names of people, in the form in which they are compared.

A typed name proves nothing. But in this form nobody counts twice by writing his name in another way:
capitals, blanks, compatibility forms and combined accents become equal. Invisible characters, and letters of
two scripts in one name, are refused. PostgreSQL refuses the same names itself (`operations.is_person`),
SQLite through the function `is_person` of the program.
"""

from __future__ import annotations

import re
import unicodedata

from sdc_tasks.errors import InvalidInput

# Letters of the scripts of the European Union; other characters in a name are printable ASCII. Latin
# letters occur only in Latin names.
MARKS = "!-@{-~"
SCRIPTS = ("!-~ß-öø-ɏ", f"{MARKS}ͰͲ-Ͽἀ-῿", f"{MARKS}Ѐ-ԯ")
NAME = re.compile("|".join(f"(?:[{script}]+(?: [{script}]+)*)" for script in SCRIPTS))


def normal(name: str) -> str:
    """A name in the form in which names are compared."""
    return " ".join(unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold()).split())


def is_person(name: str) -> bool:
    """Whether this is a name in its normal form, with letters of one script."""
    return normal(name) == name and NAME.fullmatch(name) is not None


def person(name: str) -> str:
    """The normal form of a name. Raises InvalidInput for a name that could be taken for somebody else's."""
    found = normal(name)
    if not is_person(found):
        raise InvalidInput(
            f"{name!a} cannot be the name of a person: it is empty, or has invisible characters, or letters "
            f"of two scripts. "
            "Remedy: give the name in Latin, Greek or Cyrillic letters"
        )
    return found
