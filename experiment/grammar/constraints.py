"""The key ``where``: conditions on features of words, and on features of the conditions."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from experiment.grammar.source import Place

_CONSTRAINT = re.compile(r"\s*(\w+(?:\.\w+)?)\s*(!?=)\s*(\w+(?:\.\w+)?)\s*")


@dataclass(frozen=True, slots=True)
class Constraint:
    """Two features, or a feature and a value, that must be equal or must differ.

    Attributes:
        left: ``slot.feature``, the name of a feature, or a value.
        right: The same.
        equal: Whether the two must be equal.
        of_words: Whether the features are inherent in words, and not of the conditions.
    """

    left: str
    right: str
    equal: bool
    of_words: bool

    def holds(self, values: Mapping[str, str]) -> bool:
        """Return whether the constraint holds, given each feature's value."""
        same = values.get(self.left, self.left) == values.get(self.right, self.right)
        return same == self.equal


def read_constraint(
    text: str,
    of_words: Mapping[str, Sequence[str]],
    of_conditions: Mapping[str, Sequence[str]],
    inherent: Mapping[str, str],
    place: Place,
) -> Constraint:
    """Return the constraint that a text describes.

    Args:
        text: The constraint as written, such as ``S.gender != V.gender``.
        of_words: ``slot.feature`` -> the values in the slot's lexicon.
        of_conditions: The values of each feature of the conditions.
        inherent: The names that the template gives to inherent features -> ``slot.feature``.
        place: The template's table.

    Raises:
        MaterialsError: The text is no constraint, or names an unknown feature or value.
    """
    match = _CONSTRAINT.fullmatch(text)
    if not match:
        raise place.error(
            f'"{text}" in "where" is not a condition',
            key="where",
            text=text,
            expected="two features, or a feature and a value, with = or != between them, such as "
            "S.gender = V.gender",
        )
    left, right = (inherent.get(term, term) for term in (match[1], match[3]))
    domains = {**of_words, **of_conditions}
    known = [term for term in (left, right) if term in domains]
    unknown = [term for term in (left, right) if term not in domains]
    if not known or any("." in term for term in unknown):
        names = [*of_conditions, *inherent, *of_words]
        raise place.unknown(
            "feature", unknown[0], names, owner=f'"{text}": ', key="where", text=text
        )
    if unknown and unknown[0] not in domains[known[0]]:
        owner = f'"{text}": {known[0]} has '
        raise place.unknown(
            "value", unknown[0], domains[known[0]], owner=owner, key="where", text=text
        )
    if len({term in of_words for term in known}) > 1:
        raise place.error(
            f'"{text}" compares a feature of the conditions with one of a word',
            key="where",
            text=text,
            expected="features of the same kind, because each frame has an item in every condition",
        )
    return Constraint(left, right, match[2] == "=", known[0] in of_words)
