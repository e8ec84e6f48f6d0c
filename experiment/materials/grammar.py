"""A study's grammar (a TOML file): templates, their cells, and the items generated from them."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import count, product
from pathlib import Path

from experiment.errors import MaterialsError
from experiment.materials.notation import (
    BRACED,
    Features,
    GrammarTables,
    Lexicon,
    Pattern,
    Place,
    Reference,
    Source,
    TemplateTable,
    check_reference,
    read_lexicon,
    read_pattern,
    read_tables,
)
from experiment.plugins import unknown_name
from experiment.records import Item, Kind, Variant


@dataclass(frozen=True, slots=True)
class Cell:
    """One condition of a template.

    The versions are ``str.format`` texts over the entries of the template's slots, in their order:
    ``"the {0[1]} laugh"`` takes the second form of the first slot's entry.

    Attributes:
        condition: The condition's name.
        features: The condition's features as ``name=value``, joined by spaces.
        good: The format of the expected version.
        bad: The format of the version that breaks the rule.
        distractor: The format of the third version; empty if there is none.
    """

    condition: str
    features: str
    good: str
    bad: str
    distractor: str


def compile_cells(
    table: TemplateTable, slots: Mapping[str, Lexicon], place: Place
) -> tuple[Cell, ...]:
    """Return the template's cells, one for each combination of its features' values.

    Raises:
        MaterialsError: A pattern names an unknown slot, form or feature, a slot or feature is
            unused, two versions are the same, or two cells share a condition's name.
    """
    features = _read_features(table, place)
    patterns = [read_pattern(name, table, place) for name in ("good", "bad", "distractor")]
    references = [part for pattern in patterns for part in pattern if isinstance(part, Reference)]
    for reference in references:
        check_reference(reference, slots, features, place)
    _check_used(references, slots, features, place)
    combinations = [
        dict(zip(features, values, strict=True)) for values in product(*features.values())
    ]
    _check_conditions(table.condition, features, combinations, place)
    return tuple(
        Cell(
            _fill_condition(table.condition, values),
            " ".join(f"{name}={value}" for name, value in values.items()),
            *(_format(pattern, slots, features, values) for pattern in patterns),
        )
        for values in combinations
    )


def _read_features(table: TemplateTable, place: Place) -> Features:
    features = {
        name: [values] if isinstance(values, str) else values
        for name, values in table.features.items()
    }
    for name, values in features.items():
        single_words = all(re.fullmatch(r"\w+", text) for text in (name, *values))
        if not values or not single_words or len(set(values)) < len(values):
            raise place.error(
                f'the feature "{name}" cannot have the values {values}',
                key="features",
                expected="one or more different single words",
            )
    return features


def _check_used(
    references: list[Reference], slots: Mapping[str, Lexicon], features: Features, place: Place
) -> None:
    used_slots = {reference.slot for reference in references}
    used_names = {reference.name for reference in references}
    for slot in slots:
        if slot not in used_slots:
            raise place.error(
                f'slot "{slot}" is used in no pattern',
                key="slots",
                text=slot,
                remedy="Remove it or use it in good, bad or distractor",
            )
    for name, values in features.items():
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
        if name not in features:
            raise place.error(
                f'the condition names "{name}", which is not a feature',
                key="condition",
                expected=f"one of: {', '.join(features)}",
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


def _format(
    pattern: Pattern, slots: Mapping[str, Lexicon], features: Features, values: Mapping[str, str]
) -> str:
    positions = {slot: index for index, slot in enumerate(slots)}
    parts = []
    for part in pattern:
        if isinstance(part, str):
            parts.append(part)
            continue
        value = values.get(part.name, part.name)
        if part.violated:
            value = next(other_value for other_value in features[part.name] if other_value != value)
        form = slots[part.slot].forms.index(value) if value else 0
        parts.append(f"{{{positions[part.slot]}[{form}]}}")
    return "".join(parts)


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
        cells: The conditions.
        where: ``file:line`` of the template.
    """

    name: str
    construction: str
    kind: Kind
    contrast: Variant
    slots: Mapping[str, Lexicon]
    distinct: tuple[tuple[int, ...], ...]
    cells: tuple[Cell, ...]
    where: str


def read_template(table: TemplateTable, lexicon: Mapping[str, Lexicon], place: Place) -> Template:
    """Return the template that a table describes.

    Raises:
        MaterialsError: The table contradicts itself or the lexicon.
    """
    slots = {slot: _find_lexicon(slot, name, lexicon, place) for slot, name in table.slots.items()}
    distinct_slots = tuple(_find_slot_indices(group, slots, place) for group in table.distinct)
    cells = compile_cells(table, slots, place)
    _check_versions(table, cells, place)
    return Template(
        name=table.name,
        construction=table.construction,
        kind=table.kind,
        contrast=Variant(table.contrast),
        slots=slots,
        distinct=distinct_slots,
        cells=cells,
        where=place.source.where(place.table),
    )


def _find_lexicon(slot: str, name: str, lexicon: Mapping[str, Lexicon], place: Place) -> Lexicon:
    if name not in lexicon:
        unknown = unknown_name("lexicon", name, list(lexicon))
        raise place.error(
            f'slot "{slot}": {unknown.problem}',
            key="slots",
            text=name,
            expected=unknown.expected,
            remedy=unknown.remedy,
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


def _check_versions(table: TemplateTable, cells: tuple[Cell, ...], place: Place) -> None:
    if table.contrast == "distractor" and not table.distractor:
        raise place.error(
            'the contrast is "distractor", but the template has no distractor', key="contrast"
        )
    for version in ("bad", "distractor"):
        if any(getattr(cell, version) == cell.good for cell in cells):
            raise place.error(
                f'the patterns "good" and "{version}" make the same sentences',
                key=version,
                expected="a difference, such as {slot.feature} against {slot.!feature}",
            )


@dataclass(frozen=True, slots=True)
class Grammar:
    """The source of generated items.

    Attributes:
        path: The grammar's file.
        lexicon: The words of each lexicon, by its name.
        templates: The templates in file order.
    """

    path: Path
    lexicon: Mapping[str, Lexicon]
    templates: tuple[Template, ...]


def load_grammar(path: Path) -> Grammar:
    """Read and check a grammar; docs/materials.md describes the file.

    Raises:
        MaterialsError: The grammar is invalid; the error names file and line, the lexicon or the
            template with its construction, and the slot.
    """
    tables, source = read_tables(path)
    lexicon = {
        name: read_lexicon(name, table, Place(source, name, f'lexicon "{name}"'))
        for name, table in tables.lexicon.items()
    }
    return Grammar(path, lexicon, tuple(_read_templates(tables, lexicon, source)))


def _read_templates(
    tables: GrammarTables, lexicon: Mapping[str, Lexicon], source: Source
) -> list[Template]:
    templates: dict[str, Template] = {}
    for index, table in enumerate(tables.template):
        title = f'template "{table.name}" (construction "{table.construction}")'
        place = Place(source, index, title)
        if table.name in templates:
            raise place.error(
                "the name is taken",
                key="name",
                expected=(
                    f"another name; the template at {templates[table.name].where} has this one"
                ),
            )
        templates[table.name] = read_template(table, lexicon, place)
    return list(templates.values())


def generate(grammar: Grammar) -> Iterator[Item]:
    """Yield every item: by template, then by frame, then by condition.

    Frames come in the order of the lexicons' entries, the last slot varying fastest.

    Raises:
        MaterialsError: Two versions of an item are the same sentence.
    """
    for template in grammar.templates:
        yield from _generate_items(template)


def _generate_items(template: Template) -> Iterator[Item]:
    numbers = count(1)
    for frame, entries in _generate_frames(template):
        for cell in template.cells:
            item = Item(
                f"{template.name}-{next(numbers)}",
                template.kind,
                template.construction,
                cell.condition,
                template.name,
                cell.features,
                frame,
                "",
                cell.good.format(*entries),
                cell.bad.format(*entries),
                cell.distractor.format(*entries),
                template.contrast,
            )
            if item.good in (item.bad, item.distractor):
                raise _make_same_versions_error(template, item)
            yield item


def _generate_frames(template: Template) -> Iterator[tuple[str, tuple[tuple[str, ...], ...]]]:
    """Yield each frame's name with the entries that fill its slots."""
    choices = [
        [(f"{slot}={entry[0].replace(' ', '_')}", entry) for entry in lexicon.entries]
        for slot, lexicon in template.slots.items()
    ]
    for chosen in product(*choices):
        names, entries = zip(*chosen, strict=True)
        if all(len({entries[i] for i in group}) == len(group) for group in template.distinct):
            yield " ".join(names), entries


def _make_same_versions_error(template: Template, item: Item) -> MaterialsError:
    return MaterialsError(
        f'template "{template.name}" (construction "{template.construction}"): the good and '
        f'another version are both "{item.good}" in the frame {item.frame} ({item.features})',
        where=template.where,
        remedy="Change the entry whose forms are spelt the same, or the pattern",
    )
