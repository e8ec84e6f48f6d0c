"""A study's grammar: its lexicon and its templates, read from one TOML file and checked."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from experiment.materials.notation.lexicon import Lexicon, read_lexicon
from experiment.materials.notation.source import Place, Source
from experiment.materials.notation.tables import GrammarTables, read_tables
from experiment.materials.notation.templates import Template, read_template


@dataclass(frozen=True, slots=True)
class Grammar:
    """Everything items are generated from.

    Attributes:
        path: The file it was read from.
        lexicon: Lexicon name -> words.
        templates: The templates in their written order.
    """

    path: Path
    lexicon: Mapping[str, Lexicon]
    templates: tuple[Template, ...]


def load_grammar(path: Path) -> Grammar:
    """Read and check a grammar; docs/materials.md describes the file.

    Raises:
        MaterialsError: The grammar is unsound; the error names file and line, the lexicon or the
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
