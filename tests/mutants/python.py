"""Mutants of a Python module, by its syntax tree: what is changed is code, never a
message, a docstring or an annotation.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from mutants.change import Mutant

COMPARED = {
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.Lt: "<=",
    ast.LtE: "<",
    ast.Gt: ">=",
    ast.GtE: ">",
    ast.In: "not in",
    ast.NotIn: "in",
    ast.Is: "is not",
    ast.IsNot: "is",
}
COUNTED = {ast.Add: "-", ast.Sub: "+", ast.Mult: "/", ast.Div: "*", ast.BitAnd: "|", ast.BitOr: "&"}
CALLED = {"min": "max", "max": "min", "any": "all", "all": "any"}
CALLED_OF_NUMPY = {"minimum": "maximum", "maximum": "minimum"}  # whose arguments may be swapped
SPOKEN = (ast.JoinedStr, ast.Raise)  # what is said; a raise itself goes as a statement


def mutants(file: str, text: str) -> list[Mutant]:
    """All of them, in the order of the file."""
    found = _Finder(file, text)
    found.visit(ast.parse(text))
    return sorted(found.mutants, key=lambda each: (each.start, each.end, each.new))


class _Finder(ast.NodeVisitor):
    def __init__(self, file: str, text: str) -> None:
        self.file, self.text, self.mutants = file, text, list[Mutant]()
        self._lines = [0]
        for line in text.splitlines(keepends=True):
            self._lines.append(self._lines[-1] + len(line))

    def _at(self, line: int, column: int) -> int:
        """Columns of a syntax tree count bytes."""
        start = self._lines[line - 1]
        return start + len(self.text[start : self._lines[line]].encode()[:column].decode())

    def _add(self, node: ast.expr | ast.stmt, new: str, what: str) -> None:
        start, end = (
            self._at(node.lineno, node.col_offset),
            self._at(node.end_lineno or 0, node.end_col_offset or 0),
        )
        self.mutants.append(Mutant(self.file, start, end, new, what))

    def _source(self, node: ast.expr) -> str:
        return ast.unparse(node)

    def generic_visit(self, node: ast.AST) -> None:
        """Everything but annotations, decorators and what is spoken."""
        for name, value in ast.iter_fields(node):
            if name in {"annotation", "returns", "decorator_list", "type_params"}:
                continue
            for each in value if isinstance(value, list) else [value]:
                if isinstance(each, ast.AST) and not isinstance(each, SPOKEN):
                    self.visit(each)
                elif isinstance(each, ast.Raise):
                    self._add(each, "pass", "a removed raise")

    def visit_Compare(self, node: ast.Compare) -> None:
        """One operator at a time."""
        for place, sign in enumerate(node.ops):
            if other := COMPARED.get(type(sign)):
                parts = [self._source(node.left)]
                for i, (each, right) in enumerate(zip(node.ops, node.comparators, strict=True)):
                    parts.append(f"{other if i == place else _sign(each)} {self._source(right)}")
                self._add(node, " ".join(parts), "another comparison")
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        """The other connective, and each condition left out."""
        word = {ast.And: "and", ast.Or: "or"}[type(node.op)]
        values = [f"({self._source(each)})" for each in node.values]
        self._add(node, f"({({'and': ' or ', 'or': ' and '}[word]).join(values)})", f"{word} turned round")
        for place in range(len(values)):
            self._add(
                node, f"({f' {word} '.join(values[:place] + values[place + 1 :])})", "a dropped condition"
            )
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.Not | ast.Invert):
            self._add(node, f"({self._source(node.operand)})", "a removed not")
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        if not isinstance(node.left, ast.Constant | ast.JoinedStr) and (other := COUNTED.get(type(node.op))):
            self._add(
                node, f"({self._source(node.left)}) {other} ({self._source(node.right)})", "another operation"
            )
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, bool):
            self._add(node, str(not node.value), "another constant")
        elif isinstance(node.value, int | float):
            other = node.value + 1 if node.value + 1 != node.value else 2 * node.value
            self._add(node, str(other), "another constant")

    def visit_If(self, node: ast.If) -> None:
        self._add(node.test, f"not ({self._source(node.test)})", "a condition turned round")
        self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self._add(node.test, f"not ({self._source(node.test)})", "a condition turned round")
        self.generic_visit(node)

    def visit_comprehension(self, node: ast.comprehension) -> None:
        for each in node.ifs:
            self._add(each, "True", "a dropped condition")
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if name in CALLED:
            self._add(node.func, CALLED[name], "another function")
        elif isinstance(node.func, ast.Attribute) and node.func.attr in CALLED_OF_NUMPY:
            other = CALLED_OF_NUMPY[node.func.attr]
            self._add(node.func, f"{self._source(node.func.value)}.{other}", "another function")
        elif (
            len(node.args) >= 2
            and not any(isinstance(each, ast.Starred) for each in node.args[:2])
            and not name.startswith("isinstance")
        ):
            first, second = node.args[:2]
            start, end = (
                self._at(first.lineno, first.col_offset),
                self._at(second.end_lineno or 0, second.end_col_offset or 0),
            )
            self.mutants.append(
                Mutant(
                    self.file,
                    start,
                    end,
                    f"{self._source(second)}, {self._source(first)}",
                    "swapped arguments",
                )
            )
        self.generic_visit(node)

    def visit_Expr(self, node: ast.Expr) -> None:
        """A call for what it does; a docstring or a yield is none."""
        if isinstance(node.value, ast.Call | ast.Await):
            self._add(node, "pass", "a removed statement")
            self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self._add(node, "pass", "a removed statement")
        self.generic_visit(node)

    def visit_Return(self, node: ast.Return) -> None:
        if node.value is not None and not (isinstance(node.value, ast.Constant) and node.value.value is None):
            self._add(node, "return None", "nothing returned")
        self.generic_visit(node)

    def visit_Continue(self, node: ast.Continue) -> None:
        self._add(node, "pass", "a removed statement")

    def visit_Break(self, node: ast.Break) -> None:
        self._add(node, "pass", "a removed statement")


def _sign(operator: ast.cmpop) -> str:
    signs: Iterator[tuple[type[ast.cmpop], str]] = iter(
        [
            (ast.Eq, "=="),
            (ast.NotEq, "!="),
            (ast.Lt, "<"),
            (ast.LtE, "<="),
            (ast.Gt, ">"),
            (ast.GtE, ">="),
            (ast.In, "in"),
            (ast.NotIn, "not in"),
            (ast.Is, "is"),
            (ast.IsNot, "is not"),
        ]
    )
    return next(sign for kind, sign in signs if isinstance(operator, kind))
