"""Replaying sessions as a film: what stood on the screen when, alone or two beside each other."""

from datetime import datetime, timedelta
from typing import Any

from flask import Blueprint, render_template, request
from flask.typing import ResponseReturnValue
from sqlalchemy.orm import Session

from experiment.records import SIDES
from experiment.responses.registry import response_of
from experiment.studies.study import Study
from webapp.core.i18n import gettext
from webapp.database.engine import reading
from webapp.database.models import Run
from webapp.errors import RequestError
from webapp.projects.rights import Right
from webapp.researcher.access import allowed
from webapp.researcher.language import said
from webapp.runs.people import AnsweredTrial, Record, record_of
from webapp.runs.stored_answers import arrangement_of, given_of
from webapp.runs.unblind import is_blind
from webapp.services import current_services
from webapp.sessions.lookup import find_run
from webapp.sessions.session_payload import shown_trial

film_pages = Blueprint("film", __name__)


@film_pages.get("/runs/<ref>/film")
@allowed(Right.SEE)
def show(ref: str) -> ResponseReturnValue:
    """Show one or two sessions as they passed; ``who`` and ``beside`` in the address name them."""
    who, beside = request.args.get("who", ""), request.args.get("beside", "").strip()
    services = current_services()
    with reading(services.sessions) as session:
        run = find_run(session, ref)
        if is_blind(session, run):
            raise RequestError(
                gettext(
                    "A film shows every choice and its time, and the run is blind. Unblind the run"
                    " first, on its page."
                ),
                status=409,
                code="blind",
            )
        study = services.study_of(session, run)
        films = [_film(session, run, study, each) for each in (who, beside) if each]
    if not films:
        problem = gettext("The address names no participant.")
        raise RequestError(problem, status=404, code="no_film")
    shown = {"run": run, "study": study, "films": films, "who": who, "beside": beside}
    return render_template("researcher/film.html", **shown, words=_words())


def _words() -> dict[str, str]:
    """Return what the page's own program says, by what it calls each."""
    return {
        "play": gettext("Play"),
        "pause": gettext("Pause"),
        "before": gettext("before the first trial"),
        "seconds": gettext("{n} s"),
        "after": gettext("after {n} ms"),
        "by": gettext("by {input}"),
        "hidden": gettext("the page was hidden"),
        "unfocused": gettext("the page had lost the focus"),
        "shown": gettext("shown {n} times"),
        "pointer": gettext("pointer {n} px"),
        "count": gettext("trial {n} of {all}, {time}"),
        "gap": gettext("pause of {n} s"),
    }


def _film(session: Session, run: Run, study: Study, ref: str) -> dict[str, Any]:
    record = record_of(session, run, ref)
    if record is None or not any(each.response for each in record.trials):
        raise RequestError(
            gettext(
                "The run %(ref)s has no participant %(who)s who answered a trial.",
                ref=run.ref,
                who=ref,
            ),
            status=404,
            code="unknown_participant",
        )
    if record.participant.restricted_at is not None:
        raise RequestError(
            gettext(
                "The participant %(who)s asked that their data be stored and not used.", who=ref
            ),
            status=409,
            code="restricted",
        )
    first = _began(record)
    scenes = [_scene(study, each, first) for each in record.trials if each.response]
    scenes.sort(key=lambda scene: scene["until_s"])
    return {"who": ref, "trials": len(record.trials), "scenes": scenes}


def _began(record: Record) -> datetime:
    onsets = [_onset(each) for each in record.trials if each.response]
    return min([*onsets, record.participant.consented_at or onsets[0]])


def _onset(answered: AnsweredTrial) -> datetime:
    """Return when a trial stood on the screen: before its answer was given, waited and came in."""
    response = answered.response
    assert response is not None
    spent_ms = (response.rt_ms or 0.0) + (response.waited_ms or 0.0)
    return response.recorded_at - timedelta(milliseconds=spent_ms)


def _scene(study: Study, answered: AnsweredTrial, first: datetime) -> dict[str, Any]:
    """Return what was shown, from when to when in seconds of the film, and what was chosen."""
    trial, response = answered.trial, answered.response
    assert response is not None
    texts = shown_trial(study, trial.position, answered.item.item, trial.good_side, trial.options)
    prefix = f"{texts['prefix']} " if texts.get("prefix") else ""
    sides = [(str(side), str(texts.get(side, ""))) for side in SIDES]
    from_s = (_onset(answered) - first).total_seconds()
    rt_s = (response.rt_ms or 0.0) / 1000
    return {
        "position": trial.position,
        "from_s": from_s,
        "until_s": from_s + rt_s,
        "rt_ms": response.rt_ms,
        "texts": [{"side": side, "text": prefix + text} for side, text in sides if text],
        "chosen": response.chosen_side,
        "said": said(response_of(study).said(arrangement_of(trial), given_of(response))),
        "by": said(response.input_method),
        "hidden": bool(response.was_hidden),
        "unfocused": bool(response.lost_focus),
        "shown": response.times_shown or 1,
        "pointer_px": response.pointer_path_px,
    }
