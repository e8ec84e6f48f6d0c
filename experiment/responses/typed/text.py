"""What the page sends of a typed answer, and the columns that an export has of it."""

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Annotated, Any

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
)

from experiment.records import Side
from experiment.tables.column import Column
from experiment.tables.schemas import MEASURED_COLUMNS

# The sides of an accepted answer and of any other, where an answer is expected.
RIGHT, WRONG = Side.FIRST, Side.SECOND
LONGEST_TEXT = 1000
# The exported column that holds what a participant typed.
TYPED_COLUMN = "typed"
# Between the texts of several gaps; the page takes no vertical bar there.
GAP_SEPARATOR = " | "
MOST_GAPS = 5
# What the consent says of a typed answer.
TYPED_STORED = (
    "What you type in a trial, as you typed it; when you began and ended; how often you deleted"
    " something; and whether you pasted it, your device put it in, or you typed it with an input"
    " method, as for Chinese."
)
# What is also exported of each gap of a text that has several.
_OF_EACH_GAP = ("first_key_ms", "last_key_ms", "n_edits")
# A screen never shows them where they stand: they turn the text around them.
_DIRECTION_MARKS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_DAY_MS = 24 * 60 * 60 * 1000


def read_or_none(value: object, read: ValidatorFunctionWrapHandler) -> Any:  # noqa: ANN401
    """Return a measurement, or None if it is invalid: the answer itself stays readable."""
    try:
        return read(value)
    except ValidationError:
        return None


Ms = Annotated[
    Annotated[float, Field(ge=0, le=_DAY_MS, allow_inf_nan=False)] | None,
    WrapValidator(read_or_none),
]
Count = Annotated[Annotated[int, Field(ge=0, le=100_000)] | None, WrapValidator(read_or_none)]
Mark = Annotated[bool | None, WrapValidator(read_or_none)]


def has_typable_characters(text: str) -> bool:
    """Return whether a text has only characters that people type."""
    return not any(
        character in _DIRECTION_MARKS or unicodedata.category(character) in ("Cc", "Cs")
        for character in text
    )


class Typing(BaseModel):
    """How the text of a trial, or of one gap, was typed.

    Attributes:
        first_key_ms: When it first changed, in milliseconds after the trial's appearance.
        last_key_ms: When it last changed.
        n_edits: How often something was deleted or taken back.
        pasted: Whether something was pasted or dropped into it.
        inserted: Whether the device put whole words into it: a suggestion, a correction,
            dictation, or a form that was filled in.
        composed: Whether it was typed with an input method that composes characters.
    """

    model_config = ConfigDict(extra="ignore", frozen=True)

    first_key_ms: Ms = None
    last_key_ms: Ms = None
    n_edits: Count = None
    pasted: Mark = None
    inserted: Mark = None
    composed: Mark = None


_Gaps = Annotated[
    Annotated[tuple[Typing, ...], Field(max_length=MOST_GAPS)] | None,
    WrapValidator(read_or_none),
]


class TypedText(Typing):
    """What the page sends of a typed answer.

    Attributes:
        text: The text as it was typed; empty if the participant could not think of one. The texts
            of several gaps have a separator between them, and each of them may be empty.
        gaps: How the text of each of several gaps was typed.
    """

    text: str = Field(max_length=LONGEST_TEXT)
    gaps: _Gaps = None


TYPED_COLUMNS = (
    Column(
        "chosen_side",
        "string",
        "first for an accepted answer, second for any other; empty where none is expected",
        optional=True,
        values=(RIGHT, WRONG),
    ),
    Column(
        "chose_good",
        "boolean",
        "whether the answer is an accepted one; empty where none is expected",
        optional=True,
    ),
    Column("version", "string", "the version that was shown"),
    Column(
        TYPED_COLUMN,
        "string",
        "the answer as it was typed; empty if the participant could not think of one; in CSV with "
        "an apostrophe before what a spreadsheet would take for a formula",
        optional=True,
        is_free_text=True,
    ),
    Column("no_answer", "boolean", "whether the participant could not think of one"),
    Column(
        "first_key_ms",
        "number",
        "from the painting of the trial to the first change of the text",
        unit="ms",
        optional=True,
    ),
    Column(
        "last_key_ms",
        "number",
        "from the painting of the trial to the last change of the text",
        unit="ms",
        optional=True,
    ),
    Column(
        "n_edits",
        "integer",
        "how often something was deleted or taken back in the text",
        unit="edit",
        optional=True,
    ),
    Column("pasted", "boolean", "whether something was pasted into it", optional=True),
    Column(
        "inserted",
        "boolean",
        "whether the device put whole words into it: a suggestion, a correction, dictation",
        optional=True,
    ),
    Column(
        "composed",
        "boolean",
        "whether it was typed with an input method that composes characters",
        optional=True,
    ),
    *MEASURED_COLUMNS,
)
TYPED_TRIAL_COLUMNS = (
    Column(
        "good_side",
        "string",
        "first where an answer is expected; empty where none is",
        optional=True,
        values=(RIGHT,),
    ),
    Column(
        "options",
        "string",
        "the version on the screen, and the accepted answers in the encoding of addresses, "
        "joined by spaces",
    ),
)


def list_columns(n_gaps: int) -> Iterator[Column]:
    """Yield the columns of an answer to a text with at most so many gaps."""
    for column in TYPED_COLUMNS:
        if column.name == TYPED_COLUMN and n_gaps > 1:
            separated = f'{column.description}; of several gaps with "{GAP_SEPARATOR}" between'
            yield replace(column, description=separated)
        else:
            yield column
        if column.name in _OF_EACH_GAP and n_gaps > 1:
            for number in range(1, n_gaps + 1):
                of_gap = column.description.replace("the text", f"gap {number}")
                yield replace(column, name=f"{column.name}_{number}", description=of_gap)


def gap_values(gaps: Sequence[Typing], n_gaps: int) -> dict[str, object]:
    """Return the values of the columns of each gap, by column; None where a text has no such gap.

    Args:
        gaps: How the text of each gap was typed.
        n_gaps: The most gaps of a text.
    """
    return {
        f"{name}_{number}": getattr(gaps[number - 1], name) if number <= len(gaps) else None
        for name in _OF_EACH_GAP
        for number in range(1, n_gaps + 1)
    }
