"""Rules of spelling where words meet: sandhi, elision, contraction, vowel harmony."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from experiment.errors import MaterialsError
from experiment.grammar.source import Place
from experiment.grammar.tables import RewriteTable
from experiment.untrusted import compile_linear, explain_unbounded

# A rule can make a text grow in every round.
_MOST_ROUNDS, _LONGEST_TEXT = 50, 10_000
_GROUP = re.compile(r"\\(\d)")


@dataclass(frozen=True, slots=True)
class Rewrite:
    """A rule: a pattern, what replaces it, and where the rule is."""

    find: Any
    replace: str
    place: Place

    def apply(self, text: str) -> str:
        """Return a text in which the rule replaced every match."""
        # The library's own replacement texts lose letters outside of Latin-1.
        return str(self.find.sub(self._expand, text))

    def _expand(self, match: Any) -> str:  # noqa: ANN401 - the library has no types
        return _GROUP.sub(lambda group: match[int(group[1])] or "", self.replace)


def read_rewrite(table: RewriteTable, place: Place) -> Rewrite:
    """Return the rule that a table describes.

    Raises:
        MaterialsError: The pattern is no regular expression, or lacks a group.
    """
    if expected := explain_unbounded(table.find):
        raise place.error(f'it cannot search for "{table.find}"', key="find", expected=expected)
    pattern = compile_linear(table.find)
    for group in _GROUP.findall(table.replace):
        if int(group) > pattern.groups:
            raise place.error(
                f'"{table.replace}" names the group {group} of "{table.find}", which has '
                f"{pattern.groups}",
                key="replace",
                expected="\\1 for the text in the first pair of brackets of the pattern",
            )
    return Rewrite(pattern, table.replace, place)


def spell(text: str, rewrites: Sequence[Rewrite]) -> str:
    """Return a text after all rules, which apply in order, again and again until nothing changes.

    Raises:
        MaterialsError: The rules never come to an end.
    """
    if not rewrites or not text:
        return text
    for _ in range(_MOST_ROUNDS):
        before = text
        for rewrite in rewrites:
            text = rewrite.apply(text)[:_LONGEST_TEXT]
        if len(text) == _LONGEST_TEXT:
            break
        if text == before:
            return " ".join(text.split())
    changing = next(rule for rule in rewrites if rule.apply(text) != text)
    raise MaterialsError(
        f"{changing.place.title} changes its own result without end: {text[:60]!r}",
        where=changing.place.where,
        expected="a replacement that the pattern does not match again",
    )
