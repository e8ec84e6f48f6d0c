"""The pages of a run's participants: the table, one participant, their rights, notes and tags."""

import re
from collections.abc import Callable, Mapping
from datetime import datetime
from functools import partial

from flask import Blueprint, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from sqlalchemy import select
from sqlalchemy.orm import Session
from werkzeug.wrappers import Response

from experiment.participation import State
from experiment.records import SIDES, Side
from experiment.responses.registry import response_of
from experiment.studies.study import Study
from webapp.database.engine import reading
from webapp.database.models import Participant, Run
from webapp.database.retry import run_in_transaction
from webapp.database.scrub import empty_log_soon
from webapp.erasures.record import ErasureRecord
from webapp.errors import RequestError
from webapp.privacy.amendments import (
    correct_answers,
    list_correctable_questions,
    release_use,
    restrict_use,
    was_corrected_since_verdict,
)
from webapp.researcher.access import current_user, require_access
from webapp.researcher.template_globals import get_page_number, parse_whole_number
from webapp.runs.blinding import hides_rules, is_blind
from webapp.runs.exclude import describe_without_targets
from webapp.runs.integrity import get_flags
from webapp.runs.notes import (
    list_notes_and_tags,
    list_tags_in_use,
    list_tags_of_people,
    remove_note_or_tag,
    write_note,
)
from webapp.runs.people import AnsweredTrial, Plausibility, load_participant_record
from webapp.runs.people_table import PeopleFilter, make_people_table
from webapp.runs.stored_answers import get_arrangement, get_given_answer
from webapp.runs.summaries import format_flags
from webapp.services import current_services
from webapp.sessions.lookup import find_run
from webapp.sessions.run_lists import ShownTrial
from webapp.sessions.session_payload import shown_trial
from webapp.users.audit_log import record_act
from webapp.users.roles import Right

participant_pages = Blueprint("participants", __name__)

# The sort keys of the table; the first is the default.
SORT_LABELS: dict[str, str] = {
    "arrival": "arrival",
    "list": "list",
    "answered": "answered",
    "time": "minutes",
    "rt": "median reaction time",
    "fast": "fast answers",
    "side": "same side",
    "hidden": "page hidden",
    "waited": "slowest to be stored",
    "flags": "flags of plausibility",
    "events": "events",
}
VERDICTS = {"kept": True, "excluded": False}
# Columns about single answers, which a blind run hides.
_ANSWER_SORTS = frozenset({"rt", "fast", "side", "hidden", "waited"})


@participant_pages.get("/runs/<ref>/participants")
@require_access(Right.SEE)
def show_participants(ref: str) -> str:
    """Show a page of a run's participants, filtered and sorted by the query."""
    with reading(current_services().sessions) as session:
        run = find_run(session, ref)
        blind = is_blind(session, run)
        sorts = {
            name: label
            for name, label in SORT_LABELS.items()
            if not blind or name not in _ANSWER_SORTS
        }
        query = _read_table_query(sorts)
        table = make_people_table(session, run, query)
        tags = list_tags_of_people(session, [row.participant.id for row in table.people])
        known_tags = list_tags_in_use(session, run)
    address = {
        "ref": ref,
        "state": query.state,
        "verdict": request.args.get("verdict") if query.kept is not None else None,
        "search": query.search or None,
        "tag": query.tag or None,
    }
    return render_template(
        "researcher/participants.html",
        run=run,
        table=table,
        wanted=query,
        address=address,
        states=list(State),
        verdicts=VERDICTS,
        sorts=sorts,
        flags_of=partial(_format_flags, run),
        blind=blind,
        tags=tags,
        known_tags=known_tags,
    )


def _make_shown_trial(study: Study, answered_trial: AnsweredTrial) -> ShownTrial:
    trial = answered_trial.trial
    return shown_trial(
        study, trial.position, answered_trial.item.item, trial.good_side, trial.options
    )


def _describe_answer(study: Study, answered_trial: AnsweredTrial) -> str:
    """Return a participant's answer in words; empty without an answer."""
    if not answered_trial.response:
        return ""
    return response_of(study).describe_answer(
        get_arrangement(answered_trial.trial), get_given_answer(answered_trial.response)
    )


def _get_text_hiding_side(trial: ShownTrial, side: Side) -> str | None:
    """Return one of a trial's options, in an order that does not reveal their sides."""
    sides = [place for place in SIDES if place in trial]
    options = sorted(str(trial.get(place)) for place in sides)
    return dict(zip(sides, options, strict=True)).get(side)


def _format_flags(run: Run, plausibility: Plausibility | None) -> list[str]:
    texts = [] if plausibility is None else format_flags(run, plausibility.certificate)
    # Each text begins with the flag's name; a figure may follow.
    return [re.sub(r"^\w+", lambda name: name[0].replace("_", " "), text) for text in texts]


def _read_table_query(sorts: Mapping[str, str]) -> PeopleFilter:
    """Read filters and order from the query; unknown values are ignored."""
    state, sort = request.args.get("state", ""), request.args.get("sort", "")
    return PeopleFilter(
        state=State(state) if state in set(State) else None,
        kept=VERDICTS.get(request.args.get("verdict", "")),
        search=request.args.get("search", "").strip(),
        tag=request.args.get("tag", ""),
        sort=sort if sort in sorts else "arrival",
        page=get_page_number(),
    )


@participant_pages.get("/runs/<ref>/participants/<participant_ref>")
@require_access(Right.SEE)
def show_participant(ref: str, participant_ref: str) -> ResponseReturnValue:
    """Show one participant's trials and answers."""
    services = current_services()
    with reading(services.sessions) as session:
        run = find_run(session, ref)
        study, record = (
            services.study_of(session, run),
            load_participant_record(session, run, participant_ref),
        )
        if record is None:
            raise _make_unknown_error(ref, participant_ref)
        blind = is_blind(session, run)
        questions = list_correctable_questions(session, study, record.participant)
        stale = was_corrected_since_verdict(session, record.participant)
        without_targets = ""
        if record.verdict and hides_rules(session, run, study):
            without_targets = describe_without_targets(session, record.participant, study)
        notes_and_tags = list_notes_and_tags(session, run, record.participant)
    restricted = record.participant.restricted_at is not None
    plausibility = None if restricted else record.judged
    trials = [
        (
            answered_trial,
            _make_shown_trial(study, answered_trial),
            _describe_answer(study, answered_trial),
        )
        for answered_trial in (() if restricted else record.trials)
    ]
    return render_template(
        "researcher/participant.html",
        run=run,
        study=study,
        record=record,
        shown=trials,
        certificate=plausibility and plausibility.certificate,
        twins=plausibility.twins if plausibility else [],
        flags=get_flags(run, plausibility.certificate) if plausibility else {},
        sides=[side for side in SIDES if any(side in trial for _, trial, _ in trials)],
        text_of=_get_text_hiding_side if blind else ShownTrial.get,
        blind=blind,
        restricted=restricted,
        questions=questions,
        stale=stale,
        without_targets=without_targets,
        written=notes_and_tags,
    )


rights_of_people_pages = Blueprint("rights_of_people", __name__)
_SHORTEST_REASON = 10


@rights_of_people_pages.post("/runs/<ref>/participants/<participant_ref>/restrict")
@require_access(Right.REVIEW)
def restrict_data(ref: str, participant_ref: str) -> Response:
    """Restrict a participant's data: they stay stored and are not used."""
    return _switch_restriction(ref, participant_ref, restrict_use, "data restricted")


@rights_of_people_pages.post("/runs/<ref>/participants/<participant_ref>/release")
@require_access(Right.REVIEW)
def release_data(ref: str, participant_ref: str) -> Response:
    """Lift the restriction of a participant's data, after the participant was informed."""
    return _switch_restriction(ref, participant_ref, release_use, "data used again")


def _switch_restriction(
    ref: str,
    participant_ref: str,
    switch: Callable[[Session, Participant, datetime, ErasureRecord], bool],
    act: str,
) -> Response:
    reason, services = _read_reason(), current_services()

    def change(session: Session, run: Run, person: Participant) -> None:
        if switch(session, person, services.now(), services.record):
            _log_act(session, run, person, act, reason=reason)

    return _change_participant(ref, participant_ref, change)


@rights_of_people_pages.post("/runs/<ref>/participants/<participant_ref>/correct")
@require_access(Right.REVIEW)
def correct_answer(ref: str, participant_ref: str) -> Response:
    """Correct one of a participant's answers to a question."""
    reason, services = _read_reason(), current_services()
    field, value = request.form.get("field", ""), request.form.get("value", "")

    def change(session: Session, run: Run, person: Participant) -> None:
        questions = list_correctable_questions(session, services.study_of(session, run), person)
        if field not in {question.name for question in questions}:
            raise RequestError(
                f'The participant was asked no question "{field}".',
                status=400,
                code="no_question",
            )
        answer = {field: value}
        problems = correct_answers(
            session, person, questions, answer, services.now(), services.record
        )
        if problems:
            raise RequestError(f"{field}: {problems[field]}", status=400, code="bad_answer")
        _log_act(session, run, person, "answer corrected", field=field, reason=reason)

    return _change_participant(ref, participant_ref, change)


def _read_reason() -> str:
    reason = request.form.get("reason", "").strip()
    if len(reason) < _SHORTEST_REASON:
        raise RequestError(
            "Please say in a few words how the participant asked for it. The reason is kept.",
            status=400,
            code="no_reason",
        )
    return reason


def _change_participant(
    ref: str, participant_ref: str, change: Callable[[Session, Run, Participant], None]
) -> Response:
    def work(session: Session) -> None:
        run = find_run(session, ref)
        change(session, run, _lock_participant(session, run, participant_ref))

    services = current_services()
    run_in_transaction(services.sessions, work)
    empty_log_soon(services.engine)
    address = url_for("participants.show_participant", ref=ref, participant_ref=participant_ref)
    return redirect(address, 303)


def _log_act(session: Session, run: Run, person: Participant, act: str, **after: str) -> None:
    entry = {"participant": person.ref, **after}
    now = current_services().now()
    record_act(session, current_user().name, act, now, run_ref=run.ref, after=entry)


def _lock_participant(session: Session, run: Run, participant_ref: str) -> Participant:
    """Return a participant, locked until the transaction ends."""
    of_run = Participant.run_id == run.id, Participant.ref == participant_ref
    person = session.scalar(select(Participant).where(*of_run).with_for_update(of=Participant))
    if person is None:
        raise _make_unknown_error(run.ref, participant_ref)
    return person


def _make_unknown_error(ref: str, participant_ref: str) -> RequestError:
    return RequestError(
        f"The run {ref} has no participant {participant_ref}.",
        status=404,
        code="unknown_participant",
    )


note_pages = Blueprint("notes", __name__)
_NOTE_DIGITS = 12


@note_pages.post("/runs/<ref>/notes")
@require_access(Right.REVIEW)
def add_note(ref: str) -> Response:
    """Write a note or tags about the run, or about one of its participants."""
    text, tags = request.form.get("text", ""), request.form.get("tags", "")

    def change(session: Session, run: Run, person: Participant | None) -> None:
        user_name, now = current_user().name, current_services().now()
        write_note(session, run, person, text=text, tags=tags, who=user_name, now=now)

    return _change_notes(ref, change)


@note_pages.post("/runs/<ref>/notes/remove")
@require_access(Right.REVIEW)
def remove_note(ref: str) -> Response:
    """Remove a note or a tag."""
    is_tag = "tag" in request.form
    typed_text = request.form.get("tag" if is_tag else "note", "")
    number = parse_whole_number(typed_text, _NOTE_DIGITS)

    def change(session: Session, run: Run, person: Participant | None) -> None:
        user_name, now = current_user().name, current_services().now()
        remove_note_or_tag(session, run, person, number, is_tag=is_tag, who=user_name, now=now)

    response = _change_notes(ref, change)
    empty_log_soon(current_services().engine)
    return response


def _change_notes(ref: str, change: Callable[[Session, Run, Participant | None], None]) -> Response:
    participant_ref = request.form.get("participant", "")

    def work(session: Session) -> None:
        run = find_run(session, ref)
        change(
            session,
            run,
            _lock_participant(session, run, participant_ref) if participant_ref else None,
        )

    run_in_transaction(current_services().sessions, work)
    if participant_ref:
        address = url_for(
            "participants.show_participant",
            ref=ref,
            participant_ref=participant_ref,
            _anchor="notes",
        )
    else:
        address = url_for("runs.show_run", ref=ref, _anchor="notes")
    return redirect(address, 303)
