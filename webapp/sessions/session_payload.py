"""The data that the working page receives: trials, progress and settings."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple, NotRequired, TypedDict, cast

from sqlalchemy import Connection, Dialect, Integer, bindparam, select
from sqlalchemy.orm import Session

from experiment.design.practice import Practice, breaks_before, pages_before, read_practice
from experiment.design.session import trial_kinds
from experiment.materials.item_rows import item_from_row
from experiment.materials.render import render
from experiment.records import PAIR, SIDES, Item, Kind, ListEntry, Side
from experiment.records import Trial as DrawnTrial
from experiment.responses.base import Arrangement, Gives
from experiment.responses.registry import answer_keys, response_of
from experiment.studies.study import Study
from webapp.database.models import Device, Participant, Response, Run, RunItem, Trial
from webapp.database.prepared import Prepared
from webapp.sessions.answered import answer_column
from webapp.sessions.run_lists import RunList, ShownTrial, find_run_list

_PREVIEWED_TRIALS = 30


class ShownPractice(ShownTrial):
    """A practice trial, which includes the right answer.

    Attributes:
        correct: The side of the right answer; empty if none is right.
        feedback: The study's own words after an answer.
        accepted: The right answers for each gap of a text, where answers are typed.
        answer: A right answer in words, where no option of the trial shows it.
    """

    correct: str
    feedback: str
    accepted: NotRequired[Sequence[Sequence[str]]]
    answer: NotRequired[str]


class TaskWork(TypedDict):
    """The page's data about one task of a mixed session; the keys are explained in ``Work``."""

    keys: list[str]
    title: str
    deadline_ms: int | None


class Work(TypedDict):
    """The working page's session, as its script reads it.

    Attributes:
        trials: Every trial, in order.
        answered: The positions whose answers are stored.
        practice: The practice trials, in order.
        response: The name of the response type.
        keys: The keyboard keys for the first option, the second, and so on.
        lockout_ms: How long presses are ignored after the options are painted.
        gap_ms: How long a blank or a fixation mark is shown before each trial.
        deadline_ms: The time after painting at which an answer is late; None without a deadline.
        pauses: The positions before which a page is shown: a break or a text of the study.
        pages: The position before which each text of the study is shown, with its name.
        device_known: Whether the browser has described its device.
        preview: Whether the page must not send anything.
        tasks: The tasks of a mixed session, by name.
    """

    trials: list[ShownTrial]
    answered: list[int]
    practice: list[ShownPractice]
    response: str
    keys: list[str]
    lockout_ms: int
    gap_ms: int
    deadline_ms: int | None
    pauses: list[int]
    pages: dict[int, str]
    device_known: bool
    preview: bool
    tasks: NotRequired[dict[str, TaskWork]]


def make_preview(session: Session, run: Run, study: Study, list_: int = 0) -> Work:
    """Return the data of a preview page with the first trial of each kind.

    If there are few conditions, each condition counts as a kind.

    Args:
        session: An open session.
        run: The run.
        study: The run's study.
        list_: A list with the levels to preview; in a design with factors, only lists with the same
            levels are used.
    """
    design = study.design
    list_numbers = [n for n in range(design.n_lists) if design.levels(n) == design.levels(list_)]
    rows = session.execute(
        select(RunItem.item, RunItem.kind)
        .where(RunItem.run_id == run.id, RunItem.list.in_(list_numbers))
        .order_by(RunItem.list, RunItem.list_order)
    )
    entries = [ListEntry(item_from_row(row.item), Kind(row.kind)) for row in rows]
    by_condition = trial_kinds(entries, conditions=True)
    has_few_conditions = len(by_condition) <= _PREVIEWED_TRIALS
    entries = by_condition if has_few_conditions else trial_kinds(entries)[:_PREVIEWED_TRIALS]
    screen, block_of = Screen(study), study.design.block_of
    return screen.work(
        [
            screen.trial(position, entry.item, PAIR[position % 2])
            for position, entry in enumerate(entries, start=1)
        ],
        blocks=[block_of.get(entry.item.template, "") for entry in entries],
        preview=True,
    )


def compose_work(study: Study, items: Mapping[str, Item], trials: Sequence[DrawnTrial]) -> Work:
    """Return the session of a working page that was drawn in advance and is still unassigned.

    Args:
        study: The study.
        items: The items of its list, by id.
        trials: The trials in order.
    """
    screen, block_of = Screen(study), study.design.block_of
    return screen.work(
        [
            screen.trial(
                trial.position,
                items[trial.item_id],
                trial.good_side,
                " ".join(trial.options) or None,
            )
            for trial in trials
        ],
        blocks=[block_of.get(items[trial.item_id].template, "") for trial in trials],
    )


def shown_trial(
    study: Study, position: int, item: dict[str, str], good_side: str, options: str | None
) -> ShownTrial:
    """Return a stored trial as the participant saw it.

    Args:
        study: The run's study, as it was launched.
        position: The trial's position, from 1.
        item: The stored item.
        good_side: The side of the good option; empty if there is none.
        options: The displayed versions, joined by spaces; None for a pair.
    """
    side = Side(good_side) if good_side else None
    return Screen(study).trial(position, item_from_row(item), side, options)


class Screen:
    """The presentation of a study's trials.

    Args:
        study: The study.
    """

    def __init__(self, study: Study) -> None:
        self._study = study
        self._response = response_of(study)
        self._render = render(study.materials.shown_to_people)

    def trial(
        self, position: int, item: Item, good_side: Side | None, options: str | None = None
    ) -> ShownTrial:
        """Return a trial as sent to the browser.

        Args:
            position: Its position.
            item: Its item.
            good_side: The side of the good option.
            options: The displayed versions, joined by spaces; None for a pair.
        """
        arranged = Arrangement(good_side, tuple((options or "").split()))
        shown_item = self._response.show_arranged(item, arranged, self._render)
        texts: dict[str, str] = dict(zip(SIDES, shown_item.options, strict=False))
        if shown_item.prefix:
            texts["prefix"] = shown_item.prefix
        return cast(ShownTrial, {"position": position, **texts, **shown_item.besides})

    def _practice(self, number: int, practice: Practice) -> ShownPractice:
        item = practice.item
        arrangement = self._response.practice_arrangement(item, practice.good_side)
        of_item = self._response.of_item(item)
        right = arrangement.good_side if Gives.RIGHT in of_item.gives else None
        options = " ".join(arrangement.options) or None
        shown = {
            **self.trial(number, item, arrangement.good_side, options),
            **of_item.practice_fields(item, self._render),
            "correct": right or "",
            "feedback": practice.feedback,
        }
        return cast(ShownPractice, shown)

    def work(
        self,
        trials: list[ShownTrial],
        *,
        blocks: Sequence[str] = (),
        preview: bool = False,
    ) -> Work:
        """Return a session with these trials, their ``blocks`` and the study's settings."""
        pages = pages_before(self._study, blocks)
        practice = [
            self._practice(number, practice_item)
            for number, practice_item in enumerate(read_practice(self._study), start=1)
        ]
        work = Work(
            trials=trials,
            answered=[],
            practice=practice,
            response=self._response.name,
            keys=list(answer_keys(self._study, self._response)),
            lockout_ms=self._study.trial.lockout_ms,
            gap_ms=self._study.trial.gap_ms,
            deadline_ms=self._response.deadline_ms,
            pauses=sorted({*pages, *breaks_before(self._study, blocks)}),
            pages=pages,
            device_known=False,
            preview=preview,
        )
        if tasks := self._response.page_tasks:
            work["tasks"] = cast(dict[str, TaskWork], tasks)
        return work


# The number of cached variants per item: a pair has two, several options have one per order.
VARIANTS_KEPT = 4


class _Statements:
    """The prepared statements that the working page executes."""

    def __init__(self, dialect: Dialect) -> None:
        who = bindparam("who", type_=Integer)
        self.find_trials = Prepared(
            select(
                Trial.position,
                Trial.run_item_id,
                Trial.good_side,
                Trial.options,
                answer_column(Response.id, Trial.id),
                select(Device.id).where(Device.participant_id == who).limit(1).scalar_subquery(),
            )
            .where(Trial.participant_id == who)
            .order_by(Trial.position),
            dialect,
        )


# Prepared once per database dialect.
_statements = cache(_Statements)


class OwnWork(NamedTuple):
    """The part of a working page's session that differs between participants.

    Attributes:
        trials: As in ``Work``.
        answered: Likewise.
        device_known: Likewise.
        blocks: The block of each trial.
    """

    trials: list[ShownTrial]
    answered: list[int]
    device_known: bool
    blocks: tuple[str, ...]


def load_work(session: Session, run: Run, participant: Participant, study: Study) -> OwnWork:
    """Return a participant's own data of the working page.

    The good option, and everything else known about an item, stays on the server.

    Args:
        session: An open session.
        run: The participant's run.
        participant: The participant, who has a list.
        study: The study as this participant sees it.
    """
    connection = session.connection()
    rows = stored_trials(connection, participant.id)
    assert participant.list is not None, "who works has a list"
    items = find_run_list(connection, run, participant.list)
    block_of = study.design.block_of
    shown_trials = _show_variants(study, items, [row[1:4] for row in rows])
    return OwnWork(
        trials=[
            shown_trial | {"position": row[0]}
            for row, shown_trial in zip(rows, shown_trials, strict=True)
        ],
        answered=[row[0] for row in rows if row[4] is not None],
        device_known=any(row[5] is not None for row in rows[:1]),
        blocks=tuple([block_of.get(items.by_row[row].item.template, "") for _, row, *_ in rows]),
    )


def stored_trials(connection: Connection, participant_id: int) -> list[tuple[Any, ...]]:
    """Return a participant's trials in order.

    Each row contains the trial's position, the key of its item's row, the side of the good option,
    the displayed options, and the keys of its answer and of a device of the participant (None if
    there is none).
    """
    return _statements(connection.dialect).find_trials.fetch(connection, who=participant_id)


def _show_variants(
    study: Study, items: RunList, variants: Sequence[tuple[int, str, str | None]]
) -> list[ShownTrial]:
    """Return trials as sent to the browser; each is cached per process."""
    try:
        return [items.shown[variant] for variant in variants]
    except KeyError:
        screen = Screen(study)
    shown_trials = [
        screen.trial(0, items.by_row[row].item, Side(side) if side else None, options)
        for row, side, options in variants
    ]
    if len(items.shown) >= VARIANTS_KEPT * len(items.by_row):
        items.shown.clear()
    items.shown.update(zip(variants, shown_trials, strict=True))
    return shown_trials
