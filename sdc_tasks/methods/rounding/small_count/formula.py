"""Model formulas that name crossings: `~(a+b)*c` is the crossings a, b, c, a:c and b:c, and the grand total.

    formula    ~ sum
    sum        term, then `+ term` or `- term`
    term       power, then `* power` (both sides and their crossing) or `: power` (the crossing alone)
    power      atom, then `^ number`
    atom       a name, 1 (the grand total), 0 (none), or ( sum )

A crossing with itself is itself. As usual in such formulas `:` binds tighter than `*`, and `-` takes terms
out.
"""

from __future__ import annotations

import re

from sdc_tasks.errors import InvalidInput

Term = frozenset[str]
TOKEN = re.compile(r"\s*(?:([A-Za-z_.][\w.]*|`[^`]+`)|(\d+)|([~+*:^()\-]))")
MOST_TERMS = 100_000  # more terms than this mean a mistyped power


def expand(formula: str) -> list[Term]:
    """The crossings of a formula, smaller ones first. Raises InvalidInput for text that is not a formula."""
    parser = _Parser(formula)
    terms = parser.whole()
    if not terms:
        raise parser.error("no crossing is named")
    return sorted(terms, key=lambda term: (len(term), sorted(term)))


class _Parser:
    def __init__(self, formula: str) -> None:
        self.formula = formula
        self.tokens: list[str] = []
        position, end = 0, len(formula.rstrip())
        while position < end:
            found = TOKEN.match(formula, position)
            if found is None:
                raise self.error(f"character {position + 1} is not expected")
            self.tokens.append(found.group().strip())
            position = found.end()
        self.tokens.append("")

    def error(self, what: str) -> InvalidInput:
        return InvalidInput(
            f"formula {self.formula}: {what}. Remedy: write it as ~(a+b)*c, with names of dimensions"
        )

    def take(self, *wanted: str) -> str:
        """Takes the next token if it is one of `wanted`; else returns an empty string."""
        return self.tokens.pop(0) if self.tokens[0] in wanted and self.tokens[0] else ""

    def whole(self) -> set[Term]:
        self.take("~")
        terms = self.sum({frozenset()})
        if self.tokens[0]:
            raise self.error(f"{self.tokens[0]} is not expected")
        return terms

    def sum(self, start: set[Term]) -> set[Term]:
        """A sum that begins with the terms `start`: outside brackets, the grand total."""
        terms, sign = set(start), self.take("+", "-") or "+"
        while sign:
            zero = self.tokens[0] == "0"
            found = self.term()
            if zero:
                found, sign = {frozenset()}, "-" if sign == "+" else "+"
            terms = terms | found if sign == "+" else terms - found
            sign = self.take("+", "-")
        return terms

    def term(self) -> set[Term]:
        terms = self.crossed()
        while self.take("*"):
            other = self.crossed()
            terms = self.limited(terms | other | _cross(terms, other))
        return terms

    def crossed(self) -> set[Term]:
        terms = self.power()
        while self.take(":"):
            terms = self.limited(_cross(terms, self.power()))
        return terms

    def power(self) -> set[Term]:
        terms = self.atom()
        while self.take("^"):
            number = self.tokens.pop(0)
            if not number.isdigit() or not 1 <= int(number) <= 30:
                raise self.error("a power is a number from 1 to 30")
            base = set(terms)
            for _ in range(int(number) - 1):
                terms = self.limited(terms | _cross(terms, base))
        return terms

    def atom(self) -> set[Term]:
        token = self.tokens.pop(0)
        if token == "(":
            terms = self.sum(set())
            if not self.take(")"):
                raise self.error("a bracket is not closed")
            return terms
        if token == "1":
            return {frozenset()}
        if token == "0":
            return set()
        if not token or not (token[0].isalpha() or token[0] in "_.`"):
            raise self.error(f"{token or 'its end'} is not expected")
        return {frozenset([token.strip("`")])}

    def limited(self, terms: set[Term]) -> set[Term]:
        if len(terms) > MOST_TERMS:
            raise self.error(f"more than {MOST_TERMS} crossings")
        return terms


def _cross(left: set[Term], right: set[Term]) -> set[Term]:
    return {a | b for a in left for b in right}
