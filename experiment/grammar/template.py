"""A template of a grammar: its conditions, its frames, and the sentences of both."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, product

from experiment.grammar.constraints import Constraint, read_constraint
from experiment.grammar.features import (
    Features,
    list_kept_conditions,
    list_kept_words,
    list_values,
    read_features,
)
from experiment.grammar.lexicon import Lexicon
from experiment.grammar.patterns import (
    BRACED,
    VERSIONS,
    Pattern,
    Reference,
    check_reference,
    choose_form,
    read_pattern,
)
from experiment.grammar.source import Place
from experiment.grammar.tables import TemplateTable
from experiment.records import Kind, Variant

# The sign between two regions of a pattern.
BAR = "|"
_FORM = re.compile(r"\{(\d+)\[(\d+)\]\}")


@dataclass(frozen=True, slots=True)
class Cell:
    """One condition of a template.

    The versions are ``str.format`` texts over the entries of the template's slots, in their order:
    ``"the {0[1]} laugh"`` takes the second form of the first slot's entry.

    Attributes:
        condition: The condition's name.
        features: The condition's features as ``name=value``, joined by spaces.
        context: The format of the words before each version; empty if there are none.
        good: The format of the expected version.
        bad: The format of the version that breaks the rule.
        distractor: The format of the third version; empty if there is none.
    """

    condition: str
    features: str
    context: str
    good: str
    bad: str
    distractor: str


def list_forms(version: str) -> list[tuple[int, int]]:
    """Return the index of each slot in a cell's version, with that of its form."""
    return [(int(slot), int(form)) for slot, form in _FORM.findall(version)]


@dataclass(frozen=True, slots=True)
class Template:
    """One template, ready to generate items.

    Attributes:
        name: The template's name, unique in the grammar.
        construction: The row of the results table for the template's items.
        kind: The kind of the template's items.
        contrast: The version that is shown with good.
        slots: The lexicon of each slot; an entry for each slot makes a frame.
        distinct: Groups of slots (by index) that must take different entries.
        inherent: The inherent features of each slot's words on which the sentences depend.
        cells: The conditions of the frames with certain inherent features; frames with others are
            left out.
        critical: The number of the critical region; None if the template names none.
        place: The template's table.
    """

    name: str
    construction: str
    kind: Kind
    contrast: Variant
    slots: Mapping[str, Lexicon]
    distinct: tuple[tuple[int, ...], ...]
    inherent: tuple[tuple[str, ...], ...]
    cells: Mapping[tuple[str, ...], tuple[Cell, ...]]
    critical: int | None
    place: Place

    @property
    def has_regions(self) -> bool:
        """Whether bars divide the good version into regions."""
        return any(BAR in cell.good for cells in self.cells.values() for cell in cells)

    def frames(self) -> Iterator[tuple[str, tuple[tuple[str, ...], ...], tuple[Cell, ...]]]:
        """Yield each frame's name with the entries that fill its slots, and its conditions."""
        choices = [
            [
                (f"{slot}={entry[0].replace(' ', '_')}", entry, values)
                for entry, values in zip(
                    lexicon.entries, list_values(lexicon, features), strict=True
                )
            ]
            for (slot, lexicon), features in zip(self.slots.items(), self.inherent, strict=True)
        ]
        for chosen in product(*choices):
            names, entries, values = zip(*chosen, strict=True)
            cells = self.cells.get(tuple(chain.from_iterable(values)))
            if cells and all(
                len({entries[i] for i in group}) == len(group) for group in self.distinct
            ):
                yield " ".join(names), entries, cells


def read_template(table: TemplateTable, lexicon: Mapping[str, Lexicon], place: Place) -> Template:
    """Return the template that a table describes.

    Raises:
        MaterialsError: The table contradicts itself or the lexicon.
    """
    slots = {slot: _find_lexicon(slot, name, lexicon, place) for slot, name in table.slots.items()}
    distinct_slots = tuple(_find_slot_indices(group, slots, place) for group in table.distinct)
    features = read_features(table, slots, place)
    constraints = [
        read_constraint(text, features.of_words, features.of_conditions, features.inherent, place)
        for text in table.where
    ]
    used = {*features.inherent.values()}
    used |= {term for each in constraints if each.of_words for term in (each.left, each.right)}
    inherent = tuple(
        tuple(name for name in slot_lexicon.inherent if f"{slot}.{name}" in used)
        for slot, slot_lexicon in slots.items()
    )
    _check_regions(table, place)
    cells = _compile_cells(table, slots, features, inherent, constraints, place)
    return Template(
        name=table.name,
        construction=table.construction,
        kind=table.kind,
        contrast=Variant(table.contrast),
        slots=slots,
        distinct=distinct_slots,
        inherent=inherent,
        cells=cells,
        critical=table.critical,
        place=place,
    )


def _check_regions(table: TemplateTable, place: Place) -> None:
    """Raise a MaterialsError unless both versions have a critical region that is named."""
    good, bad = (version.count(BAR) + 1 for version in (table.good, table.bad))
    if (good > 1) != (bad > 1):
        raise place.error(
            f"bars divide only one of the two versions into regions (good has {good}, bad {bad})",
            key="bad",
            expected="bars in both, or in neither",
        )
    if table.critical and (good == 1 or table.critical > min(good, bad)):
        raise place.error(
            f"the critical region is number {table.critical}, and good has {good} and bad {bad}",
            key="critical",
            expected="the number of a region between the bars of both versions, from 1",
        )


def _find_lexicon(slot: str, name: str, lexicon: Mapping[str, Lexicon], place: Place) -> Lexicon:
    if name not in lexicon:
        raise place.unknown(
            "lexicon", name, list(lexicon), owner=f'slot "{slot}": ', key="slots", text=name
        )
    return lexicon[name]


def _find_slot_indices(
    group: list[str], slots: Mapping[str, Lexicon], place: Place
) -> tuple[int, ...]:
    names = list(slots)
    if len(set(group)) < 2 or not set(group) <= set(names):
        raise place.error(
            f'"distinct" cannot tell {", ".join(group) or "nothing"} apart',
            key="distinct",
            expected=f"two or more of the slots {', '.join(names)}",
        )
    if len({slots[slot].name for slot in group}) > 1:
        raise place.error(
            f'"distinct" compares {", ".join(group)}, which draw on different lexicons',
            key="distinct",
            expected="slots that draw on the same lexicon",
        )
    return tuple(names.index(slot) for slot in group)


def _compile_cells(
    table: TemplateTable,
    slots: Mapping[str, Lexicon],
    features: Features,
    inherent: Sequence[Sequence[str]],
    constraints: Sequence[Constraint],
    place: Place,
) -> dict[tuple[str, ...], tuple[Cell, ...]]:
    """Return the conditions of each kind of frame, by the inherent features of its words.

    Raises:
        MaterialsError: A pattern names an unknown slot, form or feature, a slot or feature is
            unused, two versions are the same, or two cells share a condition's name.
    """
    words = list_kept_words(slots, inherent, constraints, place)
    combinations = list_kept_conditions(features, constraints, place)
    domains = {
        **features.of_conditions,
        **{
            name: list(dict.fromkeys(values[term] for values in words.values()))
            for name, term in features.inherent.items()
        },
    }
    patterns = [read_pattern(name, table, place) for name in ("context", *VERSIONS)]
    references = [part for pattern in patterns for part in pattern if isinstance(part, Reference)]
    for reference in references:
        check_reference(reference, slots, domains, place)
    _check_used(references, slots, features, place)
    _check_conditions(table.condition, features, combinations, place)
    cells: dict[tuple[str, ...], tuple[Cell, ...]] = {}
    for key, inherent_values in words.items():
        own = {name: inherent_values[term] for name, term in features.inherent.items()}
        cells[key] = tuple(
            _make_cell(table, features.names, patterns, slots, domains, {**values, **own}, place)
            for values in combinations
        )
        _check_versions(table, cells[key], place)
    return cells


def _check_used(
    references: list[Reference], slots: Mapping[str, Lexicon], features: Features, place: Place
) -> None:
    used_slots = {reference.slot for reference in references}
    used_names = {name for reference in references for name in reference.names}
    for slot in slots:
        if slot not in used_slots:
            raise place.error(
                f'slot "{slot}" is used in no pattern',
                key="slots",
                text=slot,
                remedy="Remove it or use it in context, good, bad or distractor",
            )
    for name, values in features.of_conditions.items():
        if len(values) > 1 and name not in used_names:
            raise place.error(
                f'no slot agrees with the feature "{name}"',
                key="features",
                text=name,
                remedy=f"Write {{slot.{name}}} in a pattern or give it a single value",
            )


def _check_conditions(
    condition: str, features: Features, combinations: list[dict[str, str]], place: Place
) -> None:
    for name in BRACED.findall(condition):
        if name in features.inherent:
            raise place.error(
                f'the condition names "{name}", which differs between frames of one condition',
                key="condition",
                expected=f"one of: {', '.join(features.of_conditions)}",
                remedy="The column features of the items has it",
            )
        if name not in features.of_conditions:
            raise place.error(
                f'the condition names "{name}", which is not a feature',
                key="condition",
                expected=f"one of: {', '.join(features.of_conditions)}",
            )
    names = Counter(_fill_condition(condition, values) for values in combinations)
    name, times = names.most_common(1)[0]
    if times > 1:
        raise place.error(
            f'{times} combinations of features share the condition "{name}"',
            key="condition",
            remedy="Name each feature that has several values in the condition",
        )


def _fill_condition(condition: str, values: Mapping[str, str]) -> str:
    return BRACED.sub(lambda match: values[match[1]], " ".join(condition.split()))


def _make_cell(
    table: TemplateTable,
    names: Sequence[str],
    patterns: Sequence[Pattern],
    slots: Mapping[str, Lexicon],
    domains: Mapping[str, Sequence[str]],
    values: Mapping[str, str],
    place: Place,
) -> Cell:
    positions = {slot: index for index, slot in enumerate(slots)}

    def fill(part: str | Reference) -> str:
        if isinstance(part, str):
            return part
        form = choose_form(part, slots[part.slot], domains, values, place)
        return f"{{{positions[part.slot]}[{form}]}}"

    return Cell(
        _fill_condition(table.condition, values),
        " ".join(f"{name}={values[name]}" for name in names),
        *("".join(map(fill, pattern)) for pattern in patterns),
    )


def _check_versions(table: TemplateTable, cells: tuple[Cell, ...], place: Place) -> None:
    if table.contrast == "distractor" and not table.distractor:
        raise place.error(
            'the contrast is "distractor", but the template has no distractor', key="contrast"
        )
    for version in ("bad", "distractor"):
        for cell in cells:
            if getattr(cell, version) == cell.good:
                raise place.error(
                    f'the patterns "good" and "{version}" make the same sentences in the '
                    f'condition "{cell.condition}"',
                    key=version,
                    expected="a difference, such as {slot.feature} against {slot.!feature}",
                )
