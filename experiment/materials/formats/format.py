"""What a published format of materials says of itself; its module is all that it needs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from experiment.discovery import offered_in
from experiment.materials.formats.pairs import Draft


@dataclass(frozen=True, slots=True)
class Drafts:
    """What was read of a file.

    Attributes:
        drafts: Its items.
        notes: What was decided, in sentences.
        rendering: How models that cut running text up are given it, where the format says so.
    """

    drafts: list[Draft]
    notes: Sequence[str] = ()
    rendering: str = ""


@dataclass(frozen=True, slots=True)
class Terms:
    """How a file is to be read.

    Attributes:
        language: The items' language (BCP 47), which tells the encoding of what is no Unicode.
        identical: Whether a pair's two sentences may be the same.
    """

    language: str = ""
    identical: bool = False


@dataclass(frozen=True, slots=True)
class Format:
    """A published format; ``FORMAT`` of a module in ``published/``.

    Attributes:
        name: What a file of it is, in words.
        documentation: Its row in docs/interchange.md.
        recognises: Whether a file is of it.
        read: Reads a file; raises a MaterialsError where it is damaged.
        suffixes: Endings that only its files have.
        names_its_data: Whether its files name the others of their folder.
    """

    name: str
    documentation: str
    recognises: Callable[[Path], bool]
    read: Callable[[Path, Terms], Drafts]
    suffixes: tuple[str, ...] = ()
    names_its_data: bool = False


def formats() -> tuple[Format, ...]:
    """Return every published format."""
    return offered_in("experiment.materials.formats.published", "FORMAT", Format)


def format_of(path: Path) -> Format | None:
    """Return the published format that a file is of; None for a table."""
    return next((each for each in formats() if each.recognises(path)), None)
