"""A lexicon: the words that can stand in one slot, each with all its forms."""

from dataclasses import dataclass
from itertools import zip_longest

from experiment.materials.notation.source import Place
from experiment.materials.notation.tables import LexiconTable


@dataclass(frozen=True, slots=True)
class Lexicon:
    """Words of one kind.

    Attributes:
        name: The lexicon's name.
        forms: The names of the forms; empty when the words are not inflected.
        entries: Each word's forms in the order of ``forms``; the first one is the lemma.
    """

    name: str
    forms: tuple[str, ...]
    entries: tuple[tuple[str, ...], ...]


def read_lexicon(name: str, table: LexiconTable, place: Place) -> Lexicon:
    """Return the lexicon a table describes.

    Raises:
        MaterialsError: An entry lacks a form or has one too many, or a name or lemma stands twice.
    """
    forms = _columns(table.forms) if table.forms else ()
    if not all(form.isidentifier() for form in forms) or len(set(forms)) < len(forms):
        raise place.error(
            f'"{table.forms}" does not name the forms',
            key="forms",
            expected='different names between bars, such as "singular | plural"',
        )
    lexicon = Lexicon(name, forms, tuple(_columns(entry) for entry in table.entries))
    lemmas: set[str] = set()
    for written, entry in zip(table.entries, lexicon.entries, strict=True):
        _check_entry(lexicon, written, entry, place)
        if entry[0] in lemmas:
            raise place.error(
                f'two entries begin with "{entry[0]}"',
                key="entries",
                text=f'"{written}"',
                expected="a different first form in each entry, because it names the entry",
            )
        lemmas.add(entry[0])
    return lexicon


def _columns(text: str) -> tuple[str, ...]:
    return tuple(" ".join(column.split()) for column in text.split("|"))


def _check_entry(lexicon: Lexicon, written: str, entry: tuple[str, ...], place: Place) -> None:
    names = lexicon.forms or ("word",)
    pairs = list(zip_longest(names, entry))
    missing = [name for name, word in pairs if name and not word]
    if missing:
        raise place.error(
            f'the entry "{written}" lacks the form(s) {", ".join(missing)}',
            key="entries",
            text=f'"{written}"',
            expected=f'"{" | ".join(word or f"<{name}>" for name, word in pairs if name)}"',
        )
    if len(entry) > len(names):
        raise place.error(
            f'the entry "{written}" has {len(entry)} forms where the lexicon has {len(names)}',
            key="entries",
            text=f'"{written}"',
            expected=f'one word for each of "{" | ".join(names)}"',
        )
