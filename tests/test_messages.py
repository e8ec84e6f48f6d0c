"""Every message of an error stands in a test that plants the fault."""

import ast
import re
from collections import Counter
from collections.abc import Container, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from tests import folder_graph
from tests.folder_graph import PACKAGES

ROOT = Path(__file__).parent.parent
LONGEST_LINE = 120
# What nobody ever reads, or says in words that many messages share, and why that is enough.
NEVER_READ = {
    "experiment/plugins.py: there is no … one of:": "every registry's test reads it with its kind",
    "experiment/design/audit/audit.py: no order was found": "the audit leaves the block out",
    "webapp/core/tokens.py: the signature has another spelling": "one asks only whether it is ours",
    "webapp/core/tokens.py: there is no signature": "one asks only whether it is ours",
    "webapp/core/tokens.py: not signed by this version": "one asks only whether it is ours",
}
# Where tests keep what is said: their own texts, and the pages and tables that they compare.
SAID_IN = (".py", ".txt", ".toml", ".md", ".json")
# So many words in a row name a message where no more messages than these say them, and tests say
# them as often as messages do.
LENGTHS, SHARED_BY = (3, 4), 4
# Says that something is wrong without being raised there.
SAYS = re.compile(r"(Error|^_?flaw|^_?refused)$")
FIELD = re.compile(r"%\(\w+\)\w")
Window = tuple[str, ...]


class Message(NamedTuple):
    """What the program says of a fault.

    Attributes:
        file: Where it says so.
        line: The line there.
        text: Its literal parts.
        windows: The words that stand in a row in a part, three and four at a time.
    """

    file: str
    line: int
    text: str
    windows: frozenset[Window]

    @property
    def name(self) -> str:
        """The file and the beginning of the text: what stays when lines move."""
        return f"{self.file}: {self.text}"[:LONGEST_LINE].strip()


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def in_a_row(said: list[str]) -> Iterator[Window]:
    for length in LENGTHS:
        yield from zip(*(said[n:] for n in range(length)), strict=False)


def literals(call: ast.Call) -> Iterator[str]:
    """Yield a call's texts, cut where a value is filled in."""
    for node in ast.walk(call):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from FIELD.split(node.value)


def calls(tree: ast.Module) -> Iterator[ast.Call]:
    """Yield the calls that make an error: what is raised, and what is named one."""
    inside = set[ast.Call]()
    for node in ast.walk(tree):
        call = node.exc if isinstance(node, ast.Raise) else node
        if not isinstance(call, ast.Call) or call in inside:
            continue
        name = (
            call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        )
        if isinstance(node, ast.Raise) or SAYS.search(name):
            inside.update(each for each in ast.walk(call) if isinstance(each, ast.Call))
            yield call


def messages() -> Iterator[Message]:
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            source = path.read_text(encoding="utf-8")
            if "Error" not in source and "raise" not in source:
                continue
            for call in calls(folder_graph.tree(path)):
                parts = [part for part in literals(call) if words(part)]
                found = frozenset(row for part in parts for row in in_a_row(words(part)))
                if found:
                    text = " ".join(" … ".join(parts).split())
                    yield Message(path.relative_to(ROOT).as_posix(), call.lineno, text, found)


def said_in_tests(asked: Container[Window]) -> Counter[Window]:
    """Count how often each window stands in a test, outside of comments and docstrings."""
    found: Counter[Window] = Counter()
    for path in Path(__file__).parent.rglob("*"):
        if path.suffix not in SAID_IN or path.stem == Path(__file__).stem:
            continue
        text = path.read_text(encoding="utf-8")
        if path.suffix == ".py":
            text = re.sub(r'(?<=:\n)\s+""".*?"""|^\s*#.*?$', "", text, flags=re.S | re.M)
            text = re.sub(r"""["']\s*\n\s*[frb]*["']""", "", text)
        found.update(window for window in in_a_row(words(text)) if window in asked)
    return found


@cache
def unsaid() -> list[Message]:
    """Return the messages of which tests do not say the words, as often as messages share them."""
    every = list(messages())
    shared = Counter(window for message in every for window in message.windows)
    own = {window for window, number in shared.items() if number <= SHARED_BY}
    said = said_in_tests(own)
    planted = {window for window in own if said[window] >= shared[window]}
    return [message for message in every if not message.windows & planted]


def test_every_message_stands_in_a_test_that_plants_the_fault() -> None:
    missing = [one for one in unsaid() if one.name not in NEVER_READ]
    assert not missing, "plant the fault, and say these words in its test:\n" + "\n".join(
        f"{one.file}:{one.line} {one.text}" for one in missing
    )


def test_what_nobody_ever_reads_is_a_message_that_no_test_says() -> None:
    assert {*NEVER_READ} <= {one.name for one in unsaid()}
