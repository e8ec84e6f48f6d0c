"""Replay one or two sessions as a film of the screens over time."""

from datetime import datetime, timedelta
from typing import Any

from flask import Blueprint, render_template, request
from flask.typing import ResponseReturnValue
from sqlalchemy.orm import Session

from experiment.records import SIDES
from experiment.responses.registry import response_of
from experiment.studies.study import Study
from webapp.database.engine import reading
from webapp.database.models import Run
from webapp.errors import RequestError
from webapp.researcher.access import require_access
from webapp.runs.blinding import is_blind
from webapp.runs.people import AnsweredTrial, ParticipantRecord, load_participant_record
from webapp.runs.stored_answers import get_arrangement, get_given_answer
from webapp.services import current_services
from webapp.sessions.lookup import find_run
from webapp.sessions.session_payload import shown_trial
from webapp.users.roles import Right

film_pages = Blueprint("film", __name__)


@film_pages.get("/runs/<ref>/film")
@require_access(Right.SEE)
def show_film(ref: str) -> ResponseReturnValue:
    """Show the films of the one or two participants whom the query names: ``who``, ``beside``."""
    first_ref, second_ref = request.args.get("who", ""), request.args.get("beside", "").strip()
    services = current_services()
    with reading(services.sessions) as session:
        run = find_run(session, ref)
        if is_blind(session, run):
            raise RequestError(
                "A film shows every choice and its time, and the run is blind. Unblind the run "
                "first, on its page.",
                status=409,
                code="blind",
            )
        study = services.study_of(session, run)
        films = [
            _describe_film(session, run, study, name) for name in (first_ref, second_ref) if name
        ]
    if not films:
        problem = "The address names no participant."
        raise RequestError(problem, status=404, code="no_film")
    facts = {"run": run, "study": study, "films": films, "who": first_ref, "beside": second_ref}
    return render_template("researcher/film.html", **facts, words=_get_script_texts())


def _get_script_texts() -> dict[str, str]:
    """Return the texts of the page's script, by their names in the script."""
    return {
        "play": "Play",
        "pause": "Pause",
        "before": "before the first trial",
        "seconds": "{n} s",
        "after": "after {n} ms",
        "by": "by {input}",
        "hidden": "the page was hidden",
        "unfocused": "the page had lost the focus",
        "shown": "shown {n} times",
        "pointer": "pointer {n} px",
        "count": "trial {n} of {all}, {time}",
        "gap": "pause of {n} s",
    }


def _describe_film(session: Session, run: Run, study: Study, ref: str) -> dict[str, Any]:
    record = load_participant_record(session, run, ref)
    if record is None or not any(trial.response for trial in record.trials):
        raise RequestError(
            f"The run {run.ref} has no participant {ref} who answered a trial.",
            status=404,
            code="unknown_participant",
        )
    if record.participant.restricted_at is not None:
        raise RequestError(
            f"The participant {ref} asked that their data be stored and not used.",
            status=409,
            code="restricted",
        )
    first = _get_start_time(record)
    scenes = [_make_scene(study, trial, first) for trial in record.trials if trial.response]
    scenes.sort(key=lambda scene: scene["until_s"])
    return {"who": ref, "trials": len(record.trials), "scenes": scenes}


def _get_start_time(record: ParticipantRecord) -> datetime:
    onsets = [_get_trial_onset(trial) for trial in record.trials if trial.response]
    return min([*onsets, record.participant.consented_at or onsets[0]])


def _get_trial_onset(answered_trial: AnsweredTrial) -> datetime:
    """Return the onset of a trial: its answer's arrival minus waiting and reaction times."""
    response = answered_trial.response
    assert response is not None
    spent_ms = (response.rt_ms or 0.0) + (response.waited_ms or 0.0)
    return response.recorded_at - timedelta(milliseconds=spent_ms)


def _make_scene(study: Study, answered_trial: AnsweredTrial, first: datetime) -> dict[str, Any]:
    """Return a trial's screen, its start and end in seconds of the film, and the answer."""
    trial, response = answered_trial.trial, answered_trial.response
    assert response is not None
    texts = shown_trial(
        study, trial.position, answered_trial.item.item, trial.good_side, trial.options
    )
    prefix = f"{texts['prefix']} " if texts.get("prefix") else ""
    sides = [(str(side), str(texts.get(side, ""))) for side in SIDES]
    from_s = (_get_trial_onset(answered_trial) - first).total_seconds()
    rt_s = (response.rt_ms or 0.0) / 1000
    return {
        "position": trial.position,
        "from_s": from_s,
        "until_s": from_s + rt_s,
        "rt_ms": response.rt_ms,
        "texts": [{"side": side, "text": prefix + text} for side, text in sides if text],
        "chosen": response.chosen_side,
        "said": response_of(study).describe_answer(
            get_arrangement(trial), get_given_answer(response)
        ),
        "by": response.input_method or "",
        "hidden": bool(response.was_hidden),
        "unfocused": bool(response.lost_focus),
        "shown": response.times_shown or 1,
        "pointer_px": response.pointer_path_px,
    }
