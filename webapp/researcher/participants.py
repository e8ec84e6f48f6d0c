"""A run's participants, and one of them replayed."""

import re
from collections.abc import Mapping
from functools import partial

from flask import Blueprint, render_template, request
from flask.typing import ResponseReturnValue

from experiment.participation import State
from experiment.records import SIDES, Side
from experiment.responses.registry import response_of
from webapp.database.engine import reading
from webapp.database.models import Run
from webapp.errors import RequestError
from webapp.privacy.amendments import correctable, corrected_since_verdict
from webapp.projects.rights import Right
from webapp.researcher.access import allowed
from webapp.researcher.paging import page_asked_for
from webapp.runs.integrity import flags_of
from webapp.runs.notes import tags_in_use, tags_of_people, written_about
from webapp.runs.people import Judged, record_of
from webapp.runs.people_table import Wanted, people_table
from webapp.runs.stored_answers import arrangement_of, given_of
from webapp.runs.summaries import flag_texts
from webapp.runs.unblind import is_blind
from webapp.services import current_services
from webapp.sessions.lookup import find_run
from webapp.sessions.session_payload import ShownTrial, shown_trial

participant_pages = Blueprint("participants", __name__)

# By what the table can be sorted; the first is the order in which it is shown at first.
SORTS: dict[str, str] = {
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
# What tells of single answers, and is not told while a run is blind.
_OF_ANSWERS = frozenset({"rt", "fast", "side", "hidden", "waited"})


@participant_pages.get("/runs/<ref>/participants")
@allowed(Right.SEE)
def show_all(ref: str) -> str:
    """Show a page of a run's participants, filtered and sorted as the address says."""
    with reading(current_services().sessions) as session:
        run = find_run(session, ref)
        blind = is_blind(session, run)
        sorts = {name: each for name, each in SORTS.items() if not blind or name not in _OF_ANSWERS}
        wanted = _wanted(sorts)
        table = people_table(session, run, wanted)
        tags = tags_of_people(session, [each.participant.id for each in table.people])
        known_tags = tags_in_use(session, run)
    address = {
        "ref": ref,
        "state": wanted.state,
        "verdict": request.args.get("verdict") if wanted.kept is not None else None,
        "search": wanted.search or None,
        "tag": wanted.tag or None,
    }
    return render_template(
        "researcher/participants.html",
        run=run,
        table=table,
        wanted=wanted,
        address=address,
        states=list(State),
        verdicts=VERDICTS,
        sorts=sorts,
        flags_of=partial(_flags, run),
        blind=blind,
        tags=tags,
        known_tags=known_tags,
    )


def _text_of_any_side(trial: ShownTrial, side: Side) -> str | None:
    """Return one of a trial's options, in an order that says nothing of where they stood."""
    there = [each for each in SIDES if each in trial]
    options = sorted(str(trial.get(each)) for each in there)
    return dict(zip(there, options, strict=True)).get(side)


def _flags(run: Run, judged: Judged | None) -> list[str]:
    texts = [] if judged is None else flag_texts(run, judged.certificate)
    # Each begins with the flag's name; a figure may follow.
    return [re.sub(r"^\w+", lambda name: name[0].replace("_", " "), text) for text in texts]


def _wanted(sorts: Mapping[str, str]) -> Wanted:
    """Return what the address asks for; what nobody can ask for is left out."""
    state, sort = request.args.get("state", ""), request.args.get("sort", "")
    return Wanted(
        state=State(state) if state in set(State) else None,
        kept=VERDICTS.get(request.args.get("verdict", "")),
        search=request.args.get("search", "").strip(),
        tag=request.args.get("tag", ""),
        sort=sort if sort in sorts else "arrival",
        page=page_asked_for(),
    )


@participant_pages.get("/runs/<ref>/participants/<participant_ref>")
@allowed(Right.SEE)
def show(ref: str, participant_ref: str) -> ResponseReturnValue:
    """Show what one participant saw and did, trial by trial."""
    services = current_services()
    with reading(services.sessions) as session:
        run = find_run(session, ref)
        study, record = services.study_of(session, run), record_of(session, run, participant_ref)
        if record is None:
            raise RequestError(
                f"The run {ref} has no participant {participant_ref}.",
                status=404,
                code="unknown_participant",
            )
        blind = is_blind(session, run)
        questions = correctable(session, study, record.participant)
        stale = corrected_since_verdict(session, record.participant)
        written = written_about(session, run, record.participant)
    restricted = record.participant.restricted_at is not None
    judged = None if restricted else record.judged
    response = response_of(study)
    shown = [
        (
            each,
            shown_trial(
                study, each.trial.position, each.item.item, each.trial.good_side, each.trial.options
            ),
            response.said(arrangement_of(each.trial), given_of(each.response))
            if each.response
            else "",
        )
        for each in (() if restricted else record.trials)
    ]
    return render_template(
        "researcher/participant.html",
        run=run,
        study=study,
        record=record,
        shown=shown,
        certificate=judged and judged.certificate,
        twins=judged.twins if judged else [],
        flags=flags_of(run, judged.certificate) if judged else {},
        sides=[side for side in SIDES if any(side in trial for _, trial, _ in shown)],
        text_of=_text_of_any_side if blind else ShownTrial.get,
        blind=blind,
        restricted=restricted,
        questions=questions,
        stale=stale,
        written=written,
    )
