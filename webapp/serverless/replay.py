"""Replay sessions of a study without a server through the server's own steps.

The entries from the browser become the same rows as if they had been sent to a server, so that
every other part of Parallax reads the run like any other. Replaying a session again changes
nothing.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.exc import StatementError
from sqlalchemy.orm import Session

from experiment.errors import ParallaxError
from experiment.participation import Ending, State, move
from experiment.responses.registry import response_of
from experiment.studies.study import Study
from webapp.database.models import Participant, Place, Run
from webapp.erasures.record import ErasureRecord
from webapp.runs.runs import StaticMark
from webapp.serverless.drawn import get_session_number, list_session_places
from webapp.serverless.session_files import Entry
from webapp.sessions.admission import check_comprehension, check_screening
from webapp.sessions.assign import FreePlace, take_place
from webapp.sessions.collected import collected_of, list_uncollected_fields
from webapp.sessions.consent_texts import store_agreed_text_id, text_hash
from webapp.sessions.device import note_device, read_device
from webapp.sessions.finish import finish_session, finish_without_questions
from webapp.sessions.leave import Wish, end_visit, end_visit_on_request, has_no_data, withdraw
from webapp.sessions.link_visits import store_visit
from webapp.sessions.newcomer import Newcomer, may_still_agree, store_trials
from webapp.sessions.record import read_answer, record_answer

# States in which a participant answers no trials.
_UNSTARTED_STATES = (State.ARRIVED, State.DECLINED)
_NAME = re.compile(r"[a-z0-9]{12}", re.ASCII)
# The errors that malformed values raise: anybody can write such a file.
_MALFORMED_ERRORS = (
    KeyError, TypeError, ValueError, AttributeError, OverflowError, RecursionError, StatementError,
)  # fmt: skip


class InvalidEntryError(Exception):
    """A session or an entry that no page of the folder could have produced."""


@dataclass
class ReplayedSession:
    """The result of replaying one session.

    Attributes:
        session: The name of the session.
        participant: Its participant; None if the session was left out.
        problems: The parts that were left out, with the reasons.
        number: The number that it had drawn; None if it drew none.
        by: How it was drawn: "link", "counter" or "chance".
        missing: The number of entries that are missing from the files, judging by their numbers.
    """

    session: str
    participant: Participant | None = None
    problems: list[str] = field(default_factory=list)
    number: int | None = None
    by: str = ""
    missing: int = 0


@dataclass
class SessionReplay:
    """Replays sessions into a run.

    Args:
        session: An open session that writes.
        run: The run.
        study: The run's study.
        mark: How its folder was written.
        note: The record in which withdrawals are noted.
    """

    session: Session
    run: Run
    study: Study
    mark: StaticMark
    note: ErasureRecord

    def __post_init__(self) -> None:
        self._response = response_of(self.study)
        self._places = list_session_places(self.study, self.mark.sessions)

    def add(self, name: str, entries: Sequence[Entry]) -> ReplayedSession:
        """Replay one session into the run, and return the result."""
        replayed = ReplayedSession(name)
        numbers = {entry.n for entry in entries}
        code = self._code_of(name, entries)
        erased = any(
            _is_withdrawal(entry, code) and entry.body.get("wish") == Wish.ERASE
            for entry in entries
        )
        # Erased entries are missing because the participant asked for it.
        replayed.missing = 0 if erased else max(numbers, default=0) - len(numbers)
        if not _NAME.fullmatch(name) or not entries or entries[0].kind != "consent":
            replayed.problems.append("its beginning is not in the files")
            return replayed
        for entry in entries:
            is_data = entry.kind not in ("consent", "place", "withdraw")
            if erased and is_data:
                continue
            step = _REPLAY_STEPS.get(entry.kind)
            if step is None:
                continue
            try:
                with self.session.begin_nested():
                    step(self, replayed, entry)
            except (InvalidEntryError, ParallaxError, *_MALFORMED_ERRORS) as error:
                replayed.problems.append(f"{entry.kind} {entry.n}: {error}")
                if replayed.participant is None:
                    break
        return replayed

    def _code_of(self, name: str, entries: Sequence[Entry]) -> object:
        """Return the code that only the session's participant knows; exports have only its name."""
        stored_code = select(Participant.code).where(
            Participant.run_id == self.run.id, Participant.ref == name
        )
        return self.session.scalar(stored_code) or (
            entries[0].body.get("code") if entries else None
        )

    def _consent(self, replayed: ReplayedSession, entry: Entry) -> None:
        parameters = _to_texts(entry.body.get("parameters") or {})
        platform_id = self._person(parameters)
        agrees = entry.body["decision"] == "accept"
        stored_participant = self.session.scalar(
            select(Participant).where(
                Participant.run_id == self.run.id, Participant.ref == replayed.session
            )
        )
        if stored_participant is not None:
            replayed.participant = stored_participant
            if agrees and may_still_agree(stored_participant):
                stored_participant.state = move(State.DECLINED, State.ARRIVED)
                self._agree(stored_participant, entry)
            return
        code = str(entry.body["code"])
        if not _NAME.fullmatch(code):
            raise InvalidEntryError("its code has not the form of a participant's code")
        mark = replayed.session if platform_id is None else None
        newcomer = Newcomer(self.run, entry.at, platform_id, mark, None)
        state = State.ARRIVED if agrees else State.DECLINED
        replayed.participant = newcomer.enter(self.session, state, ref=replayed.session, code=code)
        if replayed.participant is None:
            raise InvalidEntryError("the same person has another session in this run")
        if agrees:
            self._agree(replayed.participant, entry)
        store_visit(self.session, replayed.participant, parameters, entry.at)

    def _agree(self, participant: Participant, entry: Entry) -> None:
        participant.consented_at = entry.at
        if entry.body.get("text") == text_hash(self.mark.consent):
            participant.consent_text_id = store_agreed_text_id(
                self.session, self.run, self.mark.consent, entry.at
            )
        self.session.flush()

    def _person(self, parameters: Mapping[str, str]) -> str | None:
        panel = self.study.panel
        if panel is None or not panel.person:
            return None
        return " ".join(parameters[name] for name in panel.person)

    def _place(self, replayed: ReplayedSession, entry: Entry) -> None:
        participant, number = _get_participant(replayed), int(entry.body["number"])
        if not 1 <= number <= self.mark.sessions:
            raise InvalidEntryError(f"the folder has no session {number}")
        replayed.number, replayed.by = number, str(entry.body.get("by", ""))
        list_, place = self._places[number - 1]
        row = self.session.scalar(
            select(Place).where(
                Place.run_id == self.run.id, Place.list == list_, Place.place == place
            )
        )
        if row is None:
            raise InvalidEntryError(f"the run has no place {place} of list {list_}")
        if participant.state != State.ARRIVED:
            return
        if row.participant_id is None:
            take_place(self.session, FreePlace(row.id, list_, place), participant)
        participant.list, participant.place = list_, place
        participant.state = move(State.ARRIVED, State.WORKING)
        if self.study.asks_before_start:
            participant.consented_at = entry.at
        self.session.flush()
        store_trials(
            self.session,
            self.run,
            self.study,
            participant.id,
            FreePlace(row.id, list_, place),
            get_session_number(self.study, list_, place),
        )

    def _screening(self, replayed: ReplayedSession, entry: Entry) -> None:
        self._asked(replayed, entry, check_screening, _to_texts(entry.body))

    def _comprehension(self, replayed: ReplayedSession, entry: Entry) -> None:
        self._asked(replayed, entry, check_comprehension, _to_texts(entry.body["given"]))

    def _asked(
        self,
        replayed: ReplayedSession,
        entry: Entry,
        step: Callable[..., object],
        given: Mapping[str, str],
    ) -> None:
        step(
            self.session,
            self.run,
            _get_participant(replayed),
            self.study,
            given,
            entry.at,
            give=_give_no_place,
        )

    def _answer(self, replayed: ReplayedSession, entry: Entry) -> None:
        participant = _get_participant(replayed)
        if participant.state in _UNSTARTED_STATES:
            raise InvalidEntryError("its participant has not agreed, or has no place")
        if participant.state in (State.LEFT, State.WITHDRAWN):
            return  # read in before
        answer = read_answer(json.dumps(entry.body).encode())
        left_out = list_uncollected_fields(collected_of(self.session, self.run), self._response)
        record_answer(
            self.session, participant, answer, entry.at, self._response, left_out=left_out
        )

    def _device(self, replayed: ReplayedSession, entry: Entry) -> None:
        device = read_device(json.dumps(entry.body).encode())
        left_out = list_uncollected_fields(collected_of(self.session, self.run), self._response)
        note_device(self.session, _get_participant(replayed), device, entry.at, left_out=left_out)

    def _questionnaire(self, replayed: ReplayedSession, entry: Entry) -> None:
        participant = _get_participant(replayed)
        questions = self.study.of_list(participant.list).questionnaire
        if not questions:
            finish_without_questions(self.session, participant, questions, entry.at)
            return
        problems = finish_session(
            self.session, participant, questions, _to_texts(entry.body), entry.at
        )
        if problems:
            raise InvalidEntryError("; ".join(problems.values()))

    def _end_session(self, replayed: ReplayedSession, entry: Entry) -> None:
        participant, ending = _get_participant(replayed), Ending(entry.body["ending"])
        if ending is Ending.SCREENED_OUT:
            end_visit(self.session, participant, ending, entry.at)
        else:
            end_visit_on_request(self.session, participant, entry.at)

    def _withdraw(self, replayed: ReplayedSession, entry: Entry) -> None:
        if not _is_withdrawal(entry, _get_participant(replayed).code):
            raise InvalidEntryError(
                "it does not name the session's own code, so anybody may have sent it"
            )
        wish = Wish(entry.body["wish"])
        if not has_no_data(_get_participant(replayed)):
            withdraw(self.session, _get_participant(replayed), wish, entry.at, self.note)


_REPLAY_STEPS: Mapping[str, Callable[[SessionReplay, ReplayedSession, Entry], None]] = {
    "consent": SessionReplay._consent,
    "screening": SessionReplay._screening,
    "comprehension": SessionReplay._comprehension,
    "place": SessionReplay._place,
    "device": SessionReplay._device,
    "answer": SessionReplay._answer,
    "questionnaire": SessionReplay._questionnaire,
    "leave": SessionReplay._end_session,
    "withdraw": SessionReplay._withdraw,
}


def get_start_time(entries: Sequence[Entry]) -> datetime:
    """Return when a session began; sessions are replayed in this order."""
    return min(entry.at for entry in entries)


def _is_withdrawal(entry: Entry, code: object) -> bool:
    """Return whether an entry is the session's own participant's wish to withdraw."""
    return entry.kind == "withdraw" and entry.body.get("code") == code


def _get_participant(replayed: ReplayedSession) -> Participant:
    assert (
        replayed.participant is not None
    )  # replaying stops unless a session begins with its consent
    return replayed.participant


def _give_no_place(*_: object) -> None:
    """Give no place; the entry of the folder's own draw does."""


def _to_texts(given: Mapping[str, object]) -> dict[str, str]:
    return {str(name): str(value) for name, value in given.items()}
