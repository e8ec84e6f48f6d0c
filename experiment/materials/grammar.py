"""Reading and checking of a study's grammar (a TOML file), and generation of its items."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import count, product
from pathlib import Path

from experiment.errors import MaterialsError
from experiment.materials.notation.patterns import Lexicon, read_lexicon
from experiment.materials.notation.tables import GrammarTables, Place, Source, read_tables
from experiment.materials.notation.templates import Template, read_template
from experiment.records import Item


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
                expected=f"another name than the template at {templates[table.name].where} has",
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
        yield from _items(template)


def _items(template: Template) -> Iterator[Item]:
    numbers = count(1)
    for frame, entries in _frames(template):
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
                raise _same_versions(template, item)
            yield item


def _frames(template: Template) -> Iterator[tuple[str, tuple[tuple[str, ...], ...]]]:
    """Yield each frame's name with the entries that fill its slots."""
    choices = [
        [(f"{slot}={entry[0].replace(' ', '_')}", entry) for entry in lexicon.entries]
        for slot, lexicon in template.slots.items()
    ]
    for chosen in product(*choices):
        names, entries = zip(*chosen, strict=True)
        if all(len({entries[i] for i in group}) == len(group) for group in template.distinct):
            yield " ".join(names), entries


def _same_versions(template: Template, item: Item) -> MaterialsError:
    return MaterialsError(
        f'template "{template.name}" (construction "{template.construction}"): the good and '
        f'another version are both "{item.good}" in the frame {item.frame} ({item.features})',
        where=template.where,
        remedy="Change the entry whose forms are spelt the same, or the pattern",
    )
