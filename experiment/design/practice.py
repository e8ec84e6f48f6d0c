"""Practice trials, breaks and the pages before blocks."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from experiment.errors import StudyError, why_unread, wrong_keys
from experiment.records import PAIR, Item, Kind, Side
from experiment.responses.registry import response_class
from experiment.seeds import generator
from experiment.studies.study import Study
from experiment.untrusted import read_toml


class _PracticePair(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    context: str = Field(default="", description="the words before the options")
    good: str = Field(min_length=1, description="the expected option, as plain words")
    bad: str = Field(default="", description="the other option; none where one is rated")
    distractor: str = Field(default="", description="a third option, where there are three")
    feedback: str = Field(default="", description="what the participant reads after the choice")
    columns: dict[str, str] = Field(
        default={}, description="what else the type of response reads, such as a question"
    )


class _PracticeFile(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    practice: list[_PracticePair] = Field(min_length=1)


@dataclass(frozen=True, slots=True)
class Practice:
    """One practice trial.

    Attributes:
        item: The item, which belongs to no list.
        good_side: The side of the good option, the same for all participants.
        feedback: The feedback after the choice in addition to right or wrong; may be empty.
    """

    item: Item
    good_side: Side
    feedback: str


def read_practice(study: Study) -> list[Practice]:
    """Return the study's practice trials in order; empty if the study names no file.

    Raises:
        StudyError: The file cannot be read, or a key is missing, unknown or invalid.
    """
    if not study.trial.practice:
        return []
    pairs = _list_pairs(study)
    without_other_option = [number for number, pair in enumerate(pairs) if not pair.bad]
    if without_other_option and not response_class(study.response).alone:
        raise _make_unreadable_error(study, f"practice.{without_other_option[0]}.bad is missing")
    return [
        Practice(
            _make_item(number, pair), _draw_side(number) if pair.bad else Side.FIRST, pair.feedback
        )
        for number, pair in enumerate(pairs, start=1)
    ]


def _list_pairs(study: Study) -> list[_PracticePair]:
    try:
        return _PracticeFile.model_validate(read_toml(study.read(study.trial.practice))).practice
    except ValidationError as error:
        raise _make_unreadable_error(study, wrong_keys(error)) from error
    except (OSError, ValueError, RecursionError) as error:
        raise _make_unreadable_error(study, why_unread(error)) from error


def _make_unreadable_error(study: Study, problem: str) -> StudyError:
    return StudyError(
        f"the practice trials cannot be read: {problem}",
        where=str(study.folder / study.trial.practice),
        expected="tables [[practice]] with good, bad and, optionally, context and feedback",
    )


def _make_item(number: int, pair: _PracticePair) -> Item:
    return Item(
        item_id=f"practice-{number}",
        kind=Kind.FILLER,
        construction="practice",
        condition="",
        template="practice",
        features="",
        frame="",
        context=pair.context,
        good=pair.good,
        bad=pair.bad,
        distractor=pair.distractor,
        extra=tuple(pair.columns.items()),
    )


def _draw_side(number: int) -> Side:
    # The side does not depend on the run: practice is always the same.
    return generator(0, "practice", number).choice(PAIR)


def breaks_before(study: Study, blocks: Sequence[str]) -> Iterator[int]:
    """Yield the positions, from 1, of the trials that follow a break.

    Args:
        study: The study.
        blocks: The block of each trial of a session, in order.
    """
    interval, between = study.trial.break_every, study.design.order.breaks
    for position, begins in enumerate(_mark_block_starts(blocks), start=1):
        is_due = interval > 0 and (position - 1) % interval == 0
        if position > 1 and (is_due or (between and begins)):
            yield position


def pages_before(study: Study, blocks: Sequence[str]) -> dict[int, str]:
    """Return the name of the text before each position that has one."""
    pages = study.design.order.pages
    return {
        position: pages[block]
        for position, (block, begins) in enumerate(
            zip(blocks, _mark_block_starts(blocks), strict=True), start=1
        )
        if begins and block in pages
    }


def _mark_block_starts(blocks: Sequence[str]) -> list[bool]:
    """Return for each trial whether it begins its block."""
    return [not n or blocks[n - 1] != block for n, block in enumerate(blocks)]
