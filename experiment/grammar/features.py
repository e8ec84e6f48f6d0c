"""The features of a template: of its conditions, and inherent in the words of its slots."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, product
from math import prod

from experiment.grammar.constraints import Constraint
from experiment.grammar.lexicon import Lexicon
from experiment.grammar.source import Place
from experiment.grammar.tables import TemplateTable

_MOST_COMBINATIONS = 10_000
_INHERENT = re.compile(r"(\w+)\.(\w+)")


@dataclass(frozen=True, slots=True)
class Features:
    """What a template's patterns can agree with.

    Attributes:
        of_conditions: The values of each feature that the conditions have.
        inherent: The name of each inherent feature -> ``slot.feature``.
        of_words: ``slot.feature`` -> its values in the slot's lexicon.
        names: All names in the order of the file.
    """

    of_conditions: Mapping[str, Sequence[str]]
    inherent: Mapping[str, str]
    of_words: Mapping[str, Sequence[str]]
    names: tuple[str, ...]


def read_features(table: TemplateTable, slots: Mapping[str, Lexicon], place: Place) -> Features:
    """Return the features that a template's table declares.

    Raises:
        MaterialsError: No word has an inherent feature, or the values are not single words.
    """
    of_words = {
        f"{slot}.{name}": list(dict.fromkeys(values))
        for slot, lexicon in slots.items()
        for name, values in lexicon.inherent.items()
    }
    of_conditions: dict[str, list[str]] = {}
    inherent: dict[str, str] = {}
    for name, values in table.features.items():
        if isinstance(values, str) and _INHERENT.fullmatch(values):
            if values not in of_words:
                raise place.unknown(
                    "inherent feature",
                    values,
                    list(of_words),
                    owner=f'the feature "{name}": ',
                    key="features",
                    text=values,
                )
            inherent[name] = values
            continue
        listed = [values] if isinstance(values, str) else values
        single_words = all(re.fullmatch(r"\w+", text) for text in (name, *listed))
        if not listed or not single_words or len(set(listed)) < len(listed):
            raise place.error(
                f'the feature "{name}" cannot have the values {listed}',
                key="features",
                expected="one or more different single words",
            )
        of_conditions[name] = listed
    return Features(of_conditions, inherent, of_words, tuple(table.features))


def list_values(lexicon: Lexicon, features: Sequence[str]) -> list[tuple[str, ...]]:
    """Return the values of some inherent features for each entry."""
    columns = [lexicon.inherent[feature] for feature in features]
    return list(zip(*columns, strict=True)) if columns else [()] * len(lexicon.entries)


def list_kept_words(
    slots: Mapping[str, Lexicon],
    inherent: Sequence[Sequence[str]],
    constraints: Sequence[Constraint],
    place: Place,
) -> dict[tuple[str, ...], dict[str, str]]:
    """Return the inherent features of each kind of frame that keeps the constraints.

    Raises:
        MaterialsError: No combination of words keeps them.
    """
    terms = [
        f"{slot}.{name}" for slot, names in zip(slots, inherent, strict=True) for name in names
    ]
    of_slots = [
        dict.fromkeys(list_values(lexicon, names))
        for lexicon, names in zip(slots.values(), inherent, strict=True)
    ]
    kept: dict[tuple[str, ...], dict[str, str]] = {}
    for chosen in product(*of_slots):
        key = tuple(chain.from_iterable(chosen))
        values = dict(zip(terms, key, strict=True))
        if all(each.holds(values) for each in constraints if each.of_words):
            kept[key] = values
    if not kept:
        raise place.error(
            'no combination of words fulfils "where"',
            key="where",
            remedy="Add words with these features to the lexicons, or remove a condition",
        )
    return kept


def list_kept_conditions(
    features: Features, constraints: Sequence[Constraint], place: Place
) -> list[dict[str, str]]:
    """Return the values of the features in each condition that keeps the constraints.

    Raises:
        MaterialsError: No combination keeps them, or there are too many.
    """
    of_conditions = features.of_conditions
    n_combinations = prod(map(len, of_conditions.values()))
    if n_combinations > _MOST_COMBINATIONS:
        raise place.error(
            f"the features have {n_combinations:,} combinations",
            key="features",
            expected=f'at most {_MOST_COMBINATIONS:,}, before "where" leaves any out',
        )
    combinations = [
        dict(zip(of_conditions, values, strict=True)) for values in product(*of_conditions.values())
    ]
    kept = [
        values
        for values in combinations
        if all(each.holds(values) for each in constraints if not each.of_words)
    ]
    if not kept:
        raise place.error('no combination of features fulfils "where"', key="where")
    return kept
