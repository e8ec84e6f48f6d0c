"""A list in a time limit: everything that participants can think of, entry by entry."""

import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, WrapValidator

from experiment.coding.normalise import normalise
from experiment.records import PAIR, Item
from experiment.responses.base import Arrangement, GivenAnswer, Gives, Known, ScoredAnswer
from experiment.responses.one_version import OneVersion
from experiment.responses.proposals import CatchTrials, propose_no_rule
from experiment.responses.responders import Responder, Typist
from experiment.responses.typed.simulated import WORDS
from experiment.responses.typed.text import (
    GAP_SEPARATOR,
    LONGEST_TEXT,
    RIGHT,
    TYPED_COLUMN,
    TYPED_COLUMNS,
    Count,
    Mark,
    Ms,
    has_typable_characters,
    read_or_none,
)
from experiment.responses.typed.typed import NO_ANSWER
from experiment.studies.analysis_plan import DIFFERENT_ENTRIES, ENTRIES
from experiment.tables.column import Column
from experiment.tables.schemas import MEASURED_COLUMNS

MOST_ENTRIES = 200
LONGEST_LIST = 6000
_LIST_STORED = (
    "The list that you type in a trial, as you typed it; when you made each entry; how often you"
    " deleted something; and whether you pasted something."
)
_OF_TYPED = {column.name: column for column in TYPED_COLUMNS}


class TypedList(BaseModel):
    """What the page sends of a list.

    Attributes:
        text: The entries as they were typed, with a separator between them.
        entry_ms: When each was made, in milliseconds after the trial's appearance.
        is_last_unfinished: Whether the last was still in its field when the time was up.
        n_edits: How often something was deleted or taken back.
        pasted: Whether something was pasted or dropped into the field.
    """

    model_config = ConfigDict(extra="ignore", frozen=True)

    text: str = Field(max_length=LONGEST_LIST)
    entry_ms: Annotated[
        Annotated[tuple[Ms, ...], Field(max_length=MOST_ENTRIES)] | None,
        WrapValidator(read_or_none),
    ] = None
    is_last_unfinished: Mark = None
    n_edits: Count = None
    pasted: Mark = None

    @property
    def entries(self) -> list[str]:
        """The entries; none if nothing was typed."""
        return self.text.split(GAP_SEPARATOR) if self.text else []


class Fluency(OneVersion):
    """Shows one version of an item, such as a category, and asks for a list until time is up."""

    name: ClassVar[str] = "fluency"
    family: ClassVar[str] = "fluency"
    template: ClassVar[str] = "typed/fluency.html"
    script: ClassVar[str] = "typed/fluency.js"
    details: ClassVar[Mapping[str, str]] = dict.fromkeys(TypedList.model_fields, _LIST_STORED)
    gives: ClassVar[frozenset[Gives]] = frozenset({Gives.WHOLE_TIME})
    measures: ClassVar[tuple[str, ...]] = (DIFFERENT_ENTRIES, ENTRIES)
    asked: ClassVar[str] = "fluency"
    instructions: ClassVar[str] = "instructions_fluency"
    columns: ClassVar[tuple[Column, ...]] = (
        Column(
            "chosen_side",
            "string",
            "always empty: a list chooses no side",
            optional=True,
            values=PAIR,
        ),
        Column("chose_good", "boolean", "always empty: no list is right or wrong", optional=True),
        _OF_TYPED["version"],
        Column(
            TYPED_COLUMN,
            "string",
            f'the entries as they were typed, in their order, with "{GAP_SEPARATOR}" between them; '
            "in CSV with an apostrophe before what a spreadsheet would take for a formula",
            optional=True,
            is_free_text=True,
        ),
        Column("no_answer", "boolean", "whether there is no entry"),
        Column(ENTRIES, "integer", "how many entries the list has", unit="entry"),
        Column(
            DIFFERENT_ENTRIES,
            "integer",
            "how many of them differ after the normalisations; repetitions do not count",
            unit="entry",
        ),
        Column(
            "entry_ms",
            "string",
            "when each entry was made, in milliseconds from the painting of the trial, joined by "
            "spaces",
            optional=True,
        ),
        Column(
            "is_last_unfinished",
            "boolean",
            "whether the last entry was still in its field when the time was up",
            optional=True,
        ),
        _OF_TYPED["n_edits"],
        _OF_TYPED["pasted"],
        *MEASURED_COLUMNS,
    )

    seconds: int = Field(default=60, ge=5, le=600, description="how long participants may type")
    words: Literal["one", "many"] = Field(
        default="many", description="whether an entry is one word or may be many"
    )
    max_length: int = Field(
        default=40, ge=1, le=LONGEST_TEXT, description="the most characters of an entry"
    )
    show_entries: bool = Field(
        default=True, description="whether participants see the entries that they have made"
    )

    @property
    def typical_rt_ms(self) -> float:  # type: ignore[override]
        """The time of a list, and that of going on."""
        return 1000.0 * (self.seconds + 2)

    @property
    def most_entries(self) -> int:
        """The most entries of a list."""
        return MOST_ENTRIES

    @property
    def most_characters(self) -> int:
        """The most characters of a list, separators included."""
        return LONGEST_LIST

    def arrangement(self, item: Item, options: tuple[str, ...]) -> Arrangement:
        """Return the version; no answer is expected."""
        return Arrangement(None, options)

    def proposed_rules(self, catch: Sequence[CatchTrials]) -> Iterator[str]:
        """Yield an example of a rule for lists, which are hardly ever the same."""
        yield from propose_no_rule(
            'rule = "unknown_words" # gibberish, or another language',
            'language = "en" # of the entries',
            "max_share = 0.5",
        )

    # How the server reads and checks an answer.

    @property
    def n_answers(self) -> int:
        """0: nothing is offered to choose from."""
        return 0

    def accepts(self, answer: GivenAnswer, options: str | None) -> bool:
        """Return whether the answer is a list of allowed entries; it may be empty."""
        if not answer.has_details_alone:
            return False
        try:
            entries = _read_list(answer).entries
        except ValidationError:
            return False
        return len(entries) <= MOST_ENTRIES and all(map(self.allows, entries))

    def allows(self, entry: str) -> bool:
        """Return whether a text can be an entry."""
        is_one = self.words == "many" or len(entry.split()) == 1
        is_separate = GAP_SEPARATOR.strip() not in entry and bool(entry.strip())
        is_short = len(entry) <= self.max_length
        return is_one and is_separate and is_short and has_typable_characters(entry)

    def score_answer(self, arrangement: Arrangement, answer: GivenAnswer) -> ScoredAnswer:
        """Return the list, which is neither right nor wrong."""
        typed = _read_list(answer)
        text = GAP_SEPARATOR.join(map(normalise, typed.entries))
        return ScoredAnswer(
            version=arrangement.options[0], answer=text or NO_ANSWER, typed=typed.text
        )

    def correct_answer(self, arrangement: Arrangement) -> GivenAnswer:
        """Return a list of one entry."""
        return GivenAnswer(details={"text": "x"})

    # What the export contains.

    @property
    def completes_rows(self) -> bool:
        """True: the list and its measurements are derived from the stored details."""
        return True

    def derive_columns(self, row: dict[str, object]) -> dict[str, object]:
        """Return a row of responses with the list and its measurements."""
        typed = TypedList.model_validate(row.pop("details", None))
        times = ("" if ms is None else f"{ms:g}" for ms in typed.entry_ms or ())
        return row | {
            **typed.model_dump(exclude={"text"}),
            TYPED_COLUMN: typed.text or None,
            "no_answer": not typed.text,
            ENTRIES: len(typed.entries),
            DIFFERENT_ENTRIES: len({*map(normalise, typed.entries)}),
            "entry_ms": " ".join(times) or None,
        }

    # How answers are simulated and described.

    def simulate(
        self, responder: Responder, known: Known, options: Sequence[str], rng: random.Random
    ) -> GivenAnswer:
        """Return the common words that a simulated participant thinks of, a few of them twice."""
        words = [
            word
            for word in WORDS
            if self.allows(word)
            and responder.choose(known.item.kind, RIGHT, known.accuracy, rng) is RIGHT
        ]
        rng.shuffle(words)
        entries = words + [word for word in words if rng.random() > known.accuracy]
        if isinstance(responder, Typist):
            entries = [responder.type_word(word, rng) for word in entries]
        times = sorted(round(rng.uniform(0, self.seconds * 1000), 1) for _ in entries)
        return GivenAnswer(details={"text": GAP_SEPARATOR.join(entries), "entry_ms": times})

    def describe_answer(self, arrangement: Arrangement, answer: GivenAnswer) -> str:
        """Return the entries as they were typed."""
        return ", ".join(_read_list(answer).entries) or NO_ANSWER

    @property
    def example_note(self) -> str:
        """The note that `parallax study show` prints above its examples."""
        return f"a trial shows one of the texts, and asks for a list for {self.seconds} seconds"


def _read_list(answer: GivenAnswer) -> TypedList:
    return TypedList.model_validate(answer.details)
