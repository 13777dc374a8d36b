"""Mutants of SQL, by pattern: of the statements of the migrations that still hold, of the rights
of the roles, and of the checks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from mutants.change import ROOT, Mutant, read

MAKES = re.compile(
    r"(?P<verb>CREATE(?: OR REPLACE)?|ALTER|DROP) (?P<kind>FUNCTION|TRIGGER|VIEW) "
    r"(?P<name>[a-z0-9_.]+)(?P<on>(?:[^;$]*? ON [a-z_.]+)?)"
)
SILENT = re.compile(r"--[^\n]*|'(?:[^']|'')*'")
MASK = "\x01"  # of a text, which is no code and no blank
ENDS = re.compile(r"\b(?:AND|OR|THEN|BEGIN|END|FOR|GROUP|ORDER|FROM|UNION|LIMIT)\b|;")
# pattern, what takes its place, what that is
WEAKER = (
    (r"<=", "<", "another comparison"),
    (r"(?<![<-])>=", ">", "another comparison"),
    (r"<(?![=>@])", "<=", "another comparison"),
    (r"(?<![<=-])>(?!=)", ">=", "another comparison"),
    (r"<>", "=", "another comparison"),
    (r"\bIS DISTINCT FROM\b", "IS NOT DISTINCT FROM", "another comparison"),
    (r"\bNOT EXISTS\b", "EXISTS", "a removed not"),
    (r"\bIS NOT NULL\b", "IS NULL", "a removed not"),
    (r"\bcount\(DISTINCT ", "count(", "counted twice"),
    (r" FOR UPDATE\b", "", "a dropped lock"),
    (r" SECURITY DEFINER\b", "", "the rights of the caller"),
    (r"(?:\n| )SET search_path = [a-z_, ]+(?= AS\b|;)", "", "a removed search_path"),
    (r"\bBEFORE UPDATE OR DELETE OR TRUNCATE\b", "BEFORE DELETE OR TRUNCATE", "a dropped event"),
    (r"\bBEFORE UPDATE OR DELETE OR TRUNCATE\b", "BEFORE UPDATE OR TRUNCATE", "a dropped event"),
    (r"\bBEFORE UPDATE OR DELETE OR TRUNCATE\b", "BEFORE UPDATE OR DELETE", "a dropped event"),
    (r"(?<=\+ )1\b", "2", "another constant"),
    (r"\bRAISE integrity_constraint_violation[^;]*;", "NULL;", "a removed raise"),
    (r"\bNEW\.[a-z_]+ := [^;]*;", "", "a removed statement"),
)


def live(dialect: str) -> list[tuple[str, int, int]]:
    """(file, start, end) of the statements of the migrations that hold, then of the roles."""
    files = sorted((ROOT / "sql/migrations").glob(f"[0-9]*.{dialect}.sql"))
    roles = whole("sql/roles.sql") if dialect == "postgresql" else []
    return lasting([path.relative_to(ROOT).as_posix() for path in files]) + roles


def lasting(files: Sequence[str]) -> list[tuple[str, int, int]]:
    """The statements of these files that no later one replaces, alters or drops."""
    found: list[tuple[str, int, int, str]] = []
    for file in files:
        for start, end in _statements(read(file)):
            made = MAKES.search(SILENT.sub("", read(file)[start:end]))
            name = f"{made['kind']} {made['name']}" if made else ""
            if made and made["verb"] != "ALTER":
                found = [each for each in found if each[3] != name]
            if not made or made["verb"] != "DROP":
                found.append((file, start, end, name))
    return [each[:3] for each in found]


def whole(file: str) -> list[tuple[str, int, int]]:
    """All statements of a file."""
    return [(file, start, end) for start, end in _statements(read(file))]


def mutants(places: list[tuple[str, int, int]]) -> list[Mutant]:
    """Of these statements, in their order."""
    found: list[Mutant] = []
    for file, start, end in places:
        text = read(file)[start:end]
        seen = SILENT.sub(lambda silent: (" " if silent[0].startswith("--") else MASK) * len(silent[0]), text)
        for begin, stop, new, what in sorted(set(_of_statement(text, seen))):
            found.append(Mutant(file, start + begin, start + stop, new, what))
    return found


def _of_statement(text: str, seen: str) -> Iterator[tuple[int, int, str, str]]:
    first = re.search(r"\S", seen)
    if first and re.match(r"CREATE TRIGGER|REVOKE", seen[first.start() :]):
        yield first.start(), len(text), "SELECT 1", "a removed statement"
    for pattern, new, what in WEAKER:
        if "search_path" in pattern and seen.lstrip().startswith("ALTER"):
            pattern, new = r"\bSET search_path = [a-z_, ]+", "RESET search_path"
        for place in re.finditer(pattern, seen):
            yield place.start(), place.end(), new, what
    for place in re.finditer(r"\bSELECT raise\(ABORT,", seen):
        yield place.start(), seen.index(";", place.start()), "SELECT 1", "a removed raise"
    for place in re.finditer(r"\s+\b(AND|OR)\b", seen):
        yield place.start(), _end(seen, place.end()), "", "a dropped condition"
    for place in re.finditer(r"\b(WHERE|IF)\s+", seen):
        stop = _end(seen, place.end())
        following = re.match(r"\s*\b(AND|OR)\s+", seen[stop:])
        if following:
            yield place.end(), stop + following.end(), "", "a dropped condition"
    for place in re.finditer(r"\b[0-9]+\b(?!_)", seen):
        if seen[place.start() - 1] not in "$." and text[place.start() - 2 : place.start()] != "+ ":
            yield place.start(), place.end(), str(int(place[0]) + 1), "another constant"


def _end(seen: str, start: int) -> int:
    """Where a condition ends that begins there."""
    depth, place = 0, start
    while place < len(seen):
        if seen[place] == "(":
            depth += 1
        elif seen[place] == ")":
            if depth == 0:
                break
            depth -= 1
        elif (
            depth == 0
            and place > start
            and ENDS.match(seen, place)
            and (seen[place] == ";" or not seen[place - 1].isalnum())
        ):
            break
        place += 1
    return len(seen[:place].rstrip())


def _statements(text: str) -> list[tuple[int, int]]:
    """As `sdc_tasks.warehouse.database.sqlfiles.statements` cuts them."""
    found, start = [], 0
    for part in text.split("\n\n"):
        if part.strip():
            found.append((start, start + len(part)))
        start += len(part) + 2
    return found
