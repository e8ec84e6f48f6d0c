"""A study's grammar (a TOML file): its lexicons and templates, and the items made from them."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

from experiment.errors import MaterialsError, StudyNote
from experiment.grammar.lexicon import Lexicon, check_agreement, read_lexicon, read_paradigms
from experiment.grammar.source import Place, Source, is_outside, read_source
from experiment.grammar.tables import GrammarTables, RewriteTable, TemplateTable, parse_tables
from experiment.grammar.template import BAR, Cell, Template, list_forms, read_template
from experiment.records import Item
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


REGION_COLUMNS, CRITICAL_COLUMN = ("good_regions", "bad_regions"), "critical"
Entries = tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Grammar:
    """The source of generated items.

    Attributes:
        path: The grammar's file.
        lexicon: The words of each lexicon, by its name.
        templates: The templates in file order.
        rewrites: The rules of spelling, in file order.
    """

    path: Path
    lexicon: Mapping[str, Lexicon]
    templates: tuple[Template, ...]
    rewrites: tuple[Rewrite, ...]

    @property
    def reading_columns(self) -> tuple[str, ...]:
        """The columns that a reading task needs; empty if no template has regions."""
        if not any(template.has_regions for template in self.templates):
            return ()
        has_critical = any(template.critical for template in self.templates)
        return REGION_COLUMNS + ((CRITICAL_COLUMN,) if has_critical else ())


def load_grammar(path: Path) -> Grammar:
    """Read and check a grammar; docs/materials.md describes the file.

    Raises:
        MaterialsError: The grammar is invalid; the error names file and line, the lexicon or the
            template with its construction, and the slot.
    """
    files = _read_files(path)
    lexicon: dict[str, Lexicon] = {}
    rewrites: list[Rewrite] = []
    tables: list[tuple[TemplateTable, Place]] = []
    read = cache(read_paradigms)
    for file, source in files:
        for name, table in file.lexicon.items():
            place = Place(source, "lexicon", name, f'lexicon "{name}"')
            if name in lexicon:
                raise place.error(
                    "the name is taken",
                    expected=f"another name; the lexicon at {lexicon[name].place.where} has it",
                )
            lexicon[name] = read_lexicon(name, table, place, read)
        for index, rule in enumerate(file.rewrite):
            place = Place(source, "rewrite", index, f'the rule "{rule.find}"')
            rewrites.append(read_rewrite(rule, place))
        for index, template in enumerate(file.template):
            title = f'template "{template.name}" (construction "{template.construction}")'
            tables.append((template, Place(source, "template", index, title)))
    if not tables:
        raise MaterialsError(
            'the grammar has no table "template"',
            where=str(path),
            expected="at least one [[template]]",
        )
    check_agreement(lexicon)
    return Grammar(path, lexicon, tuple(_read_templates(tables, lexicon)), tuple(rewrites))


def _read_files(path: Path) -> list[tuple[GrammarTables, Source]]:
    """Return the tables of a grammar's included files and of the file itself."""
    source = read_source(path, "the grammar")
    tables = parse_tables(source)
    files = []
    for name in tables.include:
        if is_outside(name):
            raise MaterialsError(
                f'the file "{name}" lies outside the folder of the grammar',
                where=str(path),
                expected="a file in the same folder, because a study keeps its files together",
            )
        included_source = read_source(path.parent / name, "the included file")
        included = parse_tables(included_source)
        if included.include:
            raise MaterialsError(
                "an included file includes others",
                where=str(included_source.path),
                expected=f"all names in {path}",
            )
        files.append((included, included_source))
    return [*files, (tables, source)]


def list_files(path: Path) -> list[str]:
    """Return the names of the further files that a grammar reads.

    Raises:
        MaterialsError: The grammar or an included file is not valid.
    """
    files = _read_files(path)
    names = list(files[-1][0].include)
    for tables, _ in files:
        for lexicon in tables.lexicon.values():
            names += [lexicon.entries] if isinstance(lexicon.entries, str) else []
            names += [lexicon.paradigms] if lexicon.paradigms else []
    return list(dict.fromkeys(names))


def _read_templates(
    tables: list[tuple[TemplateTable, Place]], lexicon: Mapping[str, Lexicon]
) -> list[Template]:
    templates: dict[str, Template] = {}
    for table, place in tables:
        if table.name in templates:
            raise place.error(
                "the name is taken",
                key="name",
                expected=(
                    f"another name; the template at {templates[table.name].place.where} has this "
                    "one"
                ),
            )
        templates[table.name] = read_template(table, lexicon, place)
    return list(templates.values())


OnLeftOut = Callable[[StudyNote], object]


def generate(grammar: Grammar, left_out: OnLeftOut | None = None) -> Iterator[Item]:
    """Yield every item: by template, then by frame, then by condition.

    Frames come in the order of the lexicons' entries, the last slot varying fastest. A frame is
    left out if two versions are the same sentence in one of its conditions.

    Args:
        grammar: The grammar.
        left_out: Called for each template of which frames were left out.

    Raises:
        MaterialsError: A template has no frames, or all of them were left out.
    """
    for template in grammar.templates:
        yield from _generate_items(grammar, template, left_out)


def _generate_items(
    grammar: Grammar, template: Template, left_out: OnLeftOut | None
) -> Iterator[Item]:
    make_items = partial(_make_items, template, grammar.rewrites, grammar.reading_columns)
    number, n_frames, n_same, first_same = 0, 0, 0, ""
    for frame, entries, cells in template.frames():
        n_frames += 1
        items = make_items(frame, entries, cells, number)
        same = _find_same(items)
        if same:
            n_same += 1
            first_same = first_same or _describe_same(
                template, entries, cells[same[0]], items[same[0]]
            )
            continue
        number += len(items)
        yield from items
    if number == 0:
        raise _make_empty_error(template, first_same)
    if n_same and left_out:
        left_out(
            StudyNote(
                f"{template.place.title}: {n_same:,} of {n_frames:,} frames are left out, because "
                f"two versions are the same; {first_same}",
                where=template.place.where,
            )
        )


def _make_items(
    template: Template,
    rewrites: Sequence[Rewrite],
    reading_columns: Sequence[str],
    frame: str,
    entries: Entries,
    cells: Sequence[Cell],
    n_before: int,
) -> list[Item]:
    items = []
    for number, cell in enumerate(cells, start=n_before + 1):
        good = spell(cell.good.format(*entries), rewrites)
        bad = spell(cell.bad.format(*entries), rewrites)
        extra: tuple[tuple[str, str], ...] = ()
        if reading_columns:
            values = (*map(_write_regions, (good, bad)), str(template.critical or ""))
            extra = tuple(zip(reading_columns, values, strict=False))
        items.append(
            Item(
                f"{template.name}-{number}",
                template.kind,
                template.construction,
                cell.condition,
                template.name,
                cell.features,
                frame,
                spell(cell.context.format(*entries), rewrites),
                _remove_bars(good),
                _remove_bars(bad),
                _remove_bars(spell(cell.distractor.format(*entries), rewrites)),
                template.contrast,
                extra,
            )
        )
    return items


def _remove_bars(text: str) -> str:
    return " ".join(text.replace(BAR, "").split()) if BAR in text else text


def _write_regions(text: str) -> str:
    """Return a sentence with its regions, as a table of items has it; empty without bars."""
    return f" {BAR} ".join(map(str.strip, text.split(BAR))) if BAR in text else ""


def _find_same(items: Sequence[Item]) -> list[int]:
    """Return which items have two versions alike."""
    return [n for n, item in enumerate(items) if item.good in (item.bad, item.distractor)]


@dataclass(frozen=True, slots=True)
class Example:
    """An item with what it was made from: the entry of each slot, and the condition's patterns."""

    item: Item
    entries: Entries
    cell: Cell


def list_examples(grammar: Grammar, template: Template) -> list[Example]:
    """Return the item of each condition in a template's first frame that is not left out.

    Raises:
        MaterialsError: The template has no such frame.
    """
    make_items = partial(_make_items, template, grammar.rewrites, grammar.reading_columns)
    first_same = ""
    for frame, entries, cells in template.frames():
        items = make_items(frame, entries, cells, 0)
        same = _find_same(items)
        if not same:
            return [Example(i, entries, cell) for i, cell in zip(items, cells, strict=True)]
        first_same = first_same or _describe_same(template, entries, cells[same[0]], items[same[0]])
    raise _make_empty_error(template, first_same)


def _describe_same(template: Template, entries: Entries, cell: Cell, item: Item) -> str:
    """Return which sentence has two versions alike, and the two forms of a word that are."""
    other = cell.bad if item.good == item.bad else cell.distractor
    text = f'first "{item.good}" ({item.frame}, {item.condition})'
    good_forms, other_forms = dict(list_forms(cell.good)), dict(list_forms(other))
    slots = list(template.slots.items())
    for slot, form in good_forms.items():
        other_form = other_forms.get(slot, form)
        name, lexicon = slots[slot]
        word = entries[slot][form]
        if other_form != form and word == entries[slot][other_form]:
            line = lexicon.lines[lexicon.entries.index(entries[slot])]
            return (
                f'{text}: in slot {name}, "{lexicon.forms[form]}" and '
                f'"{lexicon.forms[other_form]}" are both "{word}" ({line})'
            )
    return text


def _make_empty_error(template: Template, first_same: str) -> MaterialsError:
    if first_same:
        return template.place.error(
            f"the good and another version are the same in every frame; {first_same}",
            remedy="Change the entries whose forms are spelt the same, or the pattern",
        )
    return template.place.error(
        'no combination of words fulfils "distinct" and "where"',
        expected="lexicons with more words",
    )
