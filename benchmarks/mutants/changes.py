"""What a mutant changes: one comparison, number, order, condition or date of a file, as a tree.

An omission leaves out the filter of a comprehension, the first entry of a dictionary, the last
element of a tuple or list, an argument given by name, or a logarithm, a root
or the like around its argument.
"""

import ast
import copy
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

CLASSES = ("comparison", "number", "sort", "permission", "date")
# Counted only when asked for, so that earlier figures keep their meaning.
OMISSION = "omission"
_TURNED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.In: ast.NotIn, ast.NotIn: ast.In,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
# The same of SQLAlchemy, and what puts rows in an order.
_COMPARED = {"in_": "not_in", "not_in": "in_", "is_": "is_not", "is_not": "is_"}
_ORDERED = {"desc": "asc", "asc": "desc"}
_ENDS = {"min": "max", "max": "min"}
_NUMERIC = {"abs", "exp", "expm1", "log", "log10", "log1p", "log2", "round", "sqrt", "unique"}
_UNITS = {"days": "hours", "hours": "minutes", "minutes": "hours", "seconds": "minutes"}
_OF_TIME = re.compile(r"\b(now|timedelta|deadline|days)\b|_(at|days)\b")
_SIGNS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change.

    Attributes:
        file: Of which file.
        place: Which node of its tree, in the order of ``ast.walk``.
        kind: Which of ``CLASSES``.
        line: Where.
        before: The code.
        after: The code in its place.
        lines: Those whose run reaches it.
        name: The name of the module's that it gives another value; empty inside of functions.
        reachable: Whether it stands where a running program can be given it.
    """

    file: Path
    place: int
    kind: str
    line: int
    before: str
    after: str
    lines: tuple[int, int]
    name: str
    reachable: bool

    @property
    def id(self) -> str:
        """What names it in a list."""
        return f"{self.file}:{self.line} ({self.place}) {self.before} -> {self.after}"

    def tree(self) -> ast.Module:
        """Return the file's tree with the change in it."""
        tree = ast.parse(self.file.read_text(encoding="utf-8"))
        target = list(ast.walk(tree))[self.place]
        changed = next(new for kind, new in changes(target) if kind == self.kind)
        put = _Put(target, ast.copy_location(changed, target) if changed else None)
        return ast.fix_missing_locations(put.visit(tree))


class _Put(ast.NodeTransformer):
    def __init__(self, old: ast.AST, new: ast.AST | None) -> None:
        self._old, self._new = old, new

    def visit(self, node: ast.AST) -> ast.AST | None:
        """Return the other node in the place of one."""
        return self._new if node is self._old else self.generic_visit(node)


def _is_time(node: ast.AST) -> bool:
    return _OF_TIME.search(ast.unparse(node)) is not None


def changes(node: ast.AST) -> Iterator[tuple[str, ast.AST | None]]:
    """Yield what a node may become (None is nothing), each with its class: at most one of each."""
    yield from _omissions(node)
    new = copy.deepcopy(node)
    match new:
        case ast.Compare():
            new.ops[0] = _TURNED[type(new.ops[0])]()
            yield "comparison", new
        case ast.Constant(value=bool() | str() | None):
            return
        case ast.Constant(value=int() | float()):
            new.value += 1
            yield "number", new
        case ast.BinOp(left=left, right=right) if type(new.op) in _SIGNS:
            texts = (ast.JoinedStr, ast.List, ast.Tuple)
            if not any(
                isinstance(side, texts)
                or (isinstance(side, ast.Constant) and isinstance(side.value, str))
                for side in (left, right)
            ):
                new.op = _SIGNS[type(new.op)]()
                yield "date" if _is_time(node) else "number", new
        case ast.BoolOp():
            new.op = ast.And() if isinstance(new.op, ast.Or) else ast.Or()
            yield "permission", new
        case ast.UnaryOp(op=ast.Not()):
            yield "permission", new.operand
        case ast.If(body=[ast.Raise()]):
            new.test = ast.Constant(False)
            yield "permission", new
        case ast.Expr(value=ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name))):
            if name.lstrip("_").startswith(("refuse", "check", "require", "lock")):
                yield "permission", ast.Pass()
        case ast.Call():
            yield from _called(new)
        case ast.keyword(arg="reverse"):
            new.value = ast.UnaryOp(ast.Not(), new.value)
            yield "sort", new


def _omissions(node: ast.AST) -> Iterator[tuple[str, ast.AST | None]]:
    new = copy.deepcopy(node)
    match new:
        case ast.comprehension(ifs=[_, *rest]):
            new.ifs = rest
        case ast.Dict(keys=[_, _, *_]):
            new.keys, new.values = new.keys[1:], new.values[1:]
        case ast.Tuple(elts=[_, _, *_]) | ast.List(elts=[_, _, *_]) if isinstance(
            new.ctx, ast.Load
        ):
            new.elts = new.elts[:-1]
        case ast.keyword(arg=str(), value=value) if not isinstance(value, ast.Constant):
            new = None
        case ast.Call(
            func=ast.Name(id=name) | ast.Attribute(attr=name), args=[only], keywords=[]
        ) if name in _NUMERIC:
            new = only
        case _:
            return
    yield OMISSION, new


def _called(call: ast.Call) -> Iterator[tuple[str, ast.AST]]:
    match call.func:
        case ast.Attribute(attr=name) if name in _COMPARED:
            call.func.attr = _COMPARED[name]
            yield "comparison", call
        case ast.Attribute(attr=name) if name in _ORDERED:
            call.func.attr = _ORDERED[name]
            yield "sort", call
        case ast.Attribute(attr="order_by"):
            yield "sort", call.func.value
        case ast.Name(id="sorted"):
            call.func.id, call.keywords = "list", []
            yield "sort", call
        case ast.Name(id=name) if name in _ENDS:
            call.func.id = _ENDS[name]
            yield "sort", call
        case ast.Name(id="timedelta") if call.keywords and call.keywords[0].arg in _UNITS:
            call.keywords[0].arg = _UNITS[call.keywords[0].arg]
            yield "date", call


def mutants(file: Path, classes: tuple[str, ...]) -> Iterator[Mutant]:
    """Yield every mutant of a file."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    above: dict[ast.AST, ast.AST] = {
        child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)
    }
    for place, node in enumerate(ast.walk(tree)):
        for kind, new in changes(node):
            of_type = isinstance(node, ast.Tuple) and isinstance(above[node], ast.Subscript)
            if kind in classes and not of_type:
                line = getattr(node, "lineno", 0) or getattr(above[node], "lineno", 0)
                before, after = (
                    " ".join(ast.unparse(version).split())[:90] if version else "nothing"
                    for version in (node, new)
                )
                if isinstance(node, ast.If):
                    before, after = f"if {ast.unparse(node.test)[:80]}: raise", "pass"
                where = _where(node, above)
                yield Mutant(file, place, kind, line, before, after, *where)


def _where(node: ast.AST, above: dict[ast.AST, ast.AST]) -> tuple[tuple[int, int], str, bool]:
    """Return the lines that reach a node, the module's name it is of, and whether it is reached."""
    way = [node]
    while way[-1] in above:
        way.append(above[way[-1]])
    statement = next(one for one in way if isinstance(one, ast.stmt))
    simple = not hasattr(statement, "body")
    last = statement.end_lineno if simple else getattr(node, "end_lineno", statement.lineno)
    lines = statement.lineno, last or statement.lineno
    for inner, outer in pairwise(way):
        if isinstance(outer, ast.FunctionDef | ast.Lambda | ast.AsyncFunctionDef):
            body = outer.body if isinstance(outer.body, list) else [outer.body]
            if inner in body:
                return lines, "", True
    top = way[-2]
    if isinstance(top, ast.Assign) and isinstance(top.targets[0], ast.Name):
        name = top.targets[0].id
        return lines, name, _is_used(name, way[-1])
    return lines, "", False


def _is_used(name: str, module: ast.AST) -> bool:
    """Return whether a function of the module reads a name whenever it runs."""
    return any(
        isinstance(node, ast.Name) and node.id == name
        for function in ast.walk(module)
        if isinstance(function, ast.FunctionDef)
        for statement in function.body
        for node in ast.walk(statement)
    )
