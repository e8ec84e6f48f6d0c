"""The error messages that Parallax writes, read from the places in the code that make them."""

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from reference.markdown import plain

ROOT = Path(__file__).parents[3]
PACKAGES = {
    "experiment": "Studies: materials, design, rules, tables",
    "webapp": "Runs, participants, payment and the server",
    "lm": "Language models",
    "analysis": "Analysis and imports",
    "marketplace": "The local marketplace",
}
_ROOTS = frozenset({"ParallaxError", "LmError", "MarketplaceError"})
_GAP = "\u2026"


class Message(NamedTuple):
    """One message.

    Attributes:
        kind: The error's class.
        problem: What it says is wrong; an ellipsis stands for what differs each time.
        expected: What would have been right; may be empty.
        remedy: What to do; may be empty.
        module: Where it is made.
    """

    kind: str
    problem: str
    expected: str
    remedy: str
    module: str


def error_pages() -> Iterator[tuple[str, str]]:
    """Yield a page for each package with its messages, and one that says what they are."""
    trees = {
        path: ast.parse(path.read_text(encoding="utf-8"))
        for package in PACKAGES
        for path in sorted((ROOT / package).rglob("*.py"))
    }
    nodes = {path: list(ast.walk(tree)) for path, tree in trees.items()}
    meanings = error_classes(chain.from_iterable(nodes.values()))
    for package, title in PACKAGES.items():
        inside = [path for path in trees if path.relative_to(ROOT).parts[0] == package]
        found = sorted({one for path in inside for one in _messages(path, nodes[path], meanings)})
        yield f"reference/errors/{package}.md", _page(title, found, meanings)
    yield "reference/errors/index.md", _introduction()


def error_classes(nodes: Iterable[ast.AST]) -> dict[str, str]:
    """Return every class of error that a user can mend, with the first sentence about it."""
    classes = [node for node in nodes if isinstance(node, ast.ClassDef)]
    known: dict[str, str] = {}
    while True:
        new = {
            one.name: (ast.get_docstring(one) or "").split("\n\n")[0]
            for one in classes
            if one.name not in known
            and (one.name in _ROOTS or {_name(base) for base in one.bases} & {*known, *_ROOTS})
        }
        if not new:
            return known
        known |= new


def _messages(path: Path, nodes: list[ast.AST], kinds: dict[str, str]) -> Iterator[Message]:
    module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
    for node in nodes:
        if isinstance(node, ast.Call) and _name(node.func) in kinds and node.args:
            problem = _text(node.args[0])
            given = {one.arg: _text(one.value) for one in node.keywords}
            if len(problem.replace(_GAP, "").strip(" :;.")) > 3:
                yield Message(
                    _name(node.func), problem, given.get("expected", ""), given.get("remedy", ""),
                    module,
                )  # fmt: skip


def _name(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _text(node: ast.expr) -> str:
    """Return what an expression writes as far as the code says it."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(map(_text, node.values))
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return _text(node.left) + _text(node.right)
    return _GAP


def _page(title: str, messages: list[Message], meanings: dict[str, str]) -> str:
    by_kind = defaultdict(list)
    for one in messages:
        by_kind[one.kind].append(one)
    parts = [f"# Error messages: {title}\n"]
    for kind, found in by_kind.items():
        parts.append(f"## {kind}\n\n{plain(meanings[kind])}\n")
        parts += map(_entry, found)
    return "\n".join(parts)


def _entry(message: Message) -> str:
    said = [f"**{plain(_sentence(message.problem))}**"]
    if message.expected.strip(_GAP):
        said.append(f"Expected {plain(_sentence(message.expected))}")
    if message.remedy.strip(_GAP):
        said.append(plain(_sentence(message.remedy)))
    return f"- {' '.join(said)} (`{message.module}`)\n"


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?", _GAP)) else f"{text}."


def _introduction() -> str:
    rows = "\n".join(f"- [{title}]({package}.md)" for package, title in PACKAGES.items())
    return (
        "# Error messages\n\n"
        "An error that you can mend is one paragraph: what is wrong, where, what was expected and"
        " what to do. The command that met it ends with exit status 2. Search for a few words of"
        f" the message you got. An ellipsis ({_GAP}) stands for the part that differs each time:"
        " a name, a number, a file. Messages that consist of such parts alone are left out.\n\n"
        f"{rows}\n"
    )
