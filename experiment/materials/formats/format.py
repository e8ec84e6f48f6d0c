"""The interface of a published format of materials, which its own module implements."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from experiment.materials.formats.pairs import Draft
from experiment.plugins import offered_in


@dataclass(frozen=True, slots=True)
class Drafts:
    """The drafts of a file's items, and what was decided while reading it.

    Attributes:
        drafts: The file's items.
        notes: The decisions, as sentences.
        rendering: The rendering for models with their own tokeniser, if the format specifies one.
        response: The type of response that the file's own program asks for, if it says so.
    """

    drafts: list[Draft]
    notes: Sequence[str] = ()
    rendering: str = ""
    response: str = ""


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """Options for reading a file.

    Attributes:
        language: The items' language (BCP 47), which determines the encoding of files without
            Unicode.
        identical: Whether a pair's two sentences may be identical.
    """

    language: str = ""
    identical: bool = False


@dataclass(frozen=True, slots=True)
class Format:
    """A published format: the constant ``FORMAT`` of a module in ``published/``.

    Attributes:
        name: A description of a file in this format.
        documentation: The format's row in docs/interchange.md.
        recognises: Returns whether a file has this format.
        read: Reads a file; raises a MaterialsError if the file is damaged.
        suffixes: File-name suffixes that only this format uses.
        names_its_data: Whether its files name the other files in their folder.
    """

    name: str
    documentation: str
    recognises: Callable[[Path], bool]
    read: Callable[[Path, ReadOptions], Drafts]
    suffixes: tuple[str, ...] = ()
    names_its_data: bool = False


def formats() -> tuple[Format, ...]:
    """Return every published format."""
    return offered_in("experiment.materials.formats.published", "FORMAT", Format)


def format_of(path: Path) -> Format | None:
    """Return the published format of a file; None for a table."""
    return next((format_ for format_ in formats() if format_.recognises(path)), None)
