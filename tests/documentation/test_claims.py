"""Every statement of the pages about privacy and security stands beside what holds it."""

import ast
import csv
from functools import cache
from pathlib import Path

import pytest

from tests.documentation.sentences import statements

ROOT = Path(__file__).parents[2]
PAGES = ("approval", "privacy", "security")
# Advice, headings, explanations, and what the page says is not so.
NOTHING = "promises nothing"


def claims() -> list[tuple[str, str, str]]:
    file = ROOT / "tests" / "documentation" / "claims.tsv"
    with file.open(encoding="utf-8", newline="") as lines:
        _, *rows = csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
    return [(page, statement, held_by) for page, statement, held_by in rows]


@cache
def names_in(path: Path) -> frozenset[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return frozenset(each.name for each in ast.walk(tree) if isinstance(each, ast.FunctionDef))


@pytest.mark.parametrize("page", PAGES)
def test_every_statement_stands_beside_what_holds_it(page):
    listed = [statement for on, statement, _ in claims() if on == page]
    assert listed == statements(ROOT / "docs" / f"{page}.md"), (
        "The page and tests/documentation/claims.tsv differ. Write each new or changed statement "
        "there, with the test that holds it"
    )


def test_every_test_that_is_named_is_there():
    missing = []
    for _, statement, held_by in claims():
        if held_by == NOTHING:
            continue
        for each in held_by.split(" and "):
            path, _, name = each.partition("::")
            if not (ROOT / path).is_file() or name not in names_in(ROOT / path):
                missing.append((statement, each))
    assert not missing


def test_the_page_for_an_approval_says_how_many_promises_there_are():
    """A promise without a test has no place: the page says that there is none."""
    nothing = sum(held_by == NOTHING for *_, held_by in claims())
    page = " ".join((ROOT / "docs" / "approval.md").read_text(encoding="utf-8").split())
    assert f"{len(claims()) - nothing} statements promise something" in page
    assert f"each has a test; {nothing} promise nothing" in page
