"""Pairs from SyntaxGym suites: sentences in regions, with predictions about the expected one.

A prediction that compares two conditions makes a pair: the condition with lower surprisal is the
good one. A prediction over more than two conditions compares differences, which participants cannot
choose between; it is left out with a note. Models can be tested on all predictions (`parallax lm
benchmark`).
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from experiment.errors import MaterialsError
from experiment.materials.formats.format import Drafts, Format, ReadOptions
from experiment.materials.formats.pairs import Draft
from experiment.materials.formats.suite import (
    Suite,
    SuiteCondition,
    SuiteItem,
    is_suite,
    load_suite,
)

_TERM = re.compile(r"\(\s*(?:\d+|\*)\s*;\s*%([^%]+)%\s*\)")
_COMPARISON = re.compile(r"[<>=]")
_OPENING, _CLOSING = "([", ")]"


@dataclass(frozen=True, slots=True)
class _Contrast:
    good: str
    bad: str
    formula: str


def _read(path: Path, _: ReadOptions) -> Drafts:
    """Return a pair for each item and each two-condition prediction, and what was left out.

    Raises:
        MaterialsError: The file is not a suite, a condition is missing, or no prediction makes a
            pair.
    """
    suite = load_suite(path)
    contrasts, notes = _parse_contrasts(suite)
    if not contrasts:
        raise MaterialsError(
            f"none of the {len(suite.predictions)} predictions compares exactly two conditions",
            where=str(path),
            expected='a prediction such as "(2;%match%) < (2;%mismatch%)"',
            remedy="`parallax lm benchmark` evaluates predictions over any number of conditions",
        )
    construction = suite.meta.name or path.stem
    drafts = [
        _make_draft(item, contrast, construction, path)
        for item in suite.items
        for contrast in contrasts
    ]
    return Drafts(drafts, notes)


def _parse_contrasts(suite: Suite) -> tuple[list[_Contrast], list[str]]:
    contrasts: dict[tuple[str, str], _Contrast] = {}
    notes = []
    for number, prediction in enumerate(suite.predictions, start=1):
        for part in _split_conjuncts(prediction.formula):
            contrast = _parse_contrast(part)
            if contrast is None:
                notes.append(
                    f"Prediction {number} was left out, because it does not compare exactly "
                    f"two conditions: {part}"
                )
            else:
                contrasts.setdefault((contrast.good, contrast.bad), contrast)
    return list(contrasts.values()), notes


def _parse_contrast(formula: str) -> _Contrast | None:
    signs = list(_COMPARISON.finditer(formula))
    if len(signs) != 1 or signs[0].group() == "=" or "|" in formula or "-" in _list_signs(formula):
        return None
    left, right = formula[: signs[0].start()], formula[signs[0].end() :]
    sides = [set(_TERM.findall(side)) for side in (left, right)]
    if any(len(side) != 1 for side in sides) or sides[0] == sides[1]:
        return None
    lesser, greater = sides if signs[0].group() == "<" else sides[::-1]
    return _Contrast(lesser.pop(), greater.pop(), formula)


def _list_signs(formula: str) -> str:
    return _TERM.sub("", formula)


def _split_conjuncts(formula: str) -> list[str]:
    """Return the parts joined by "&" outside brackets, without brackets around a whole part."""
    depth, parts = 0, [""]
    for character in formula:
        depth += (character in _OPENING) - (character in _CLOSING)
        if character == "&" and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    stripped = [_remove_brackets(part.strip()) for part in parts]
    if stripped == [formula]:
        return stripped
    return [deeper for part in stripped for deeper in _split_conjuncts(part)]


def _remove_brackets(part: str) -> str:
    if part[:1] not in _OPENING or not part or _TERM.fullmatch(part):
        return part
    depth = 0
    for position, character in enumerate(part):
        depth += (character in _OPENING) - (character in _CLOSING)
        if depth == 0:
            return part[1:-1].strip() if position == len(part) - 1 else part
    return part


def _make_draft(item: SuiteItem, contrast: _Contrast, construction: str, path: Path) -> Draft:
    conditions = {condition.condition_name: condition for condition in item.conditions}
    location = f"{path}, item {item.item_number}"
    good, bad = (
        _get_condition(conditions, name, location) for name in (contrast.good, contrast.bad)
    )
    return Draft(
        location,
        _join_regions(good),
        _join_regions(bad),
        item=item.item_number,
        condition=f"{contrast.good} vs {contrast.bad}",
        construction=construction,
        extra={
            "prediction": contrast.formula,
            "regions_good": " | ".join(good.texts),
            "regions_bad": " | ".join(bad.texts),
        },
    )


def _get_condition(
    conditions: Mapping[str, SuiteCondition], name: str, place: str
) -> SuiteCondition:
    if name not in conditions:
        raise MaterialsError(
            f'a prediction names the condition "{name}", which the item lacks',
            where=place,
            expected=f"one of: {', '.join(conditions)}",
        )
    return conditions[name]


def _join_regions(condition: SuiteCondition) -> str:
    """Return the regions' texts as one sentence; punctuation follows its word without a space."""
    return re.sub(r" (?=[,.;:!?])", "", " ".join(filter(None, condition.texts)))


FORMAT = Format(
    name="a SyntaxGym suite",
    documentation="| SyntaxGym suite (`.json`) | `predictions`, `items` | each prediction that "
    "compares one condition with one other becomes a pair; `lm benchmark` evaluates all "
    "predictions |",
    recognises=is_suite,
    read=_read,
)
