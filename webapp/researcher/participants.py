"""A run's participants, and one of them replayed."""

from collections.abc import Callable
from dataclasses import replace

from flask import Blueprint, render_template, request
from flask.typing import ResponseReturnValue

from experiment.integrity.certificate import Certificate
from experiment.participation import State
from experiment.records import SIDES
from webapp.database.engine import reading
from webapp.database.models import Run
from webapp.errors import RequestError
from webapp.researcher.access import allowed
from webapp.runs.integrity import certificate_of, certificates, flags_of, same_times
from webapp.runs.people import Person, people, record_of
from webapp.runs.unblind import is_blind
from webapp.services import current_services
from webapp.sessions.lookup import find_run
from webapp.sessions.session_payload import shown_trial
from webapp.users.roles import Role

participant_pages = Blueprint("participants", __name__)

_Key = Callable[[Person], float | str]
_LIKENESS = "agent_likelihood"


def _standing(person: Person) -> float:
    return 2.0 if person.verdict is None else float(person.verdict.kept)


def _flags(run: Run, certificate: Certificate | None) -> list[str]:
    if certificate is None:
        return []
    found = [
        f"{name} {_likeness(certificate):.2f}" if name == _LIKENESS else name
        for name in sorted(flags_of(run, certificate))
    ]
    copied = f"copied: {certificate.n_copied}"
    return [*found, copied] if certificate.n_copied else found


def _likeness(certificate: Certificate | None) -> float:
    return (certificate and certificate.agent_likelihood) or 0.0


# By what the table can be sorted; the first key of each is its name in the address.
SORTS: dict[str, tuple[str, _Key]] = {
    "arrival": ("arrival", lambda person: person.participant.id),
    "list": ("list", lambda person: person.participant.list or 0),
    "answered": ("answered", lambda person: person.answered),
    "time": ("minutes", lambda person: person.minutes or 0.0),
    "rt": ("median reaction time", lambda person: person.median_rt_ms or 0.0),
    "fast": ("fast answers", lambda person: -person.fast),
    "side": ("same side", lambda person: -(person.same_side or 0.0)),
    "hidden": ("page hidden", lambda person: -person.hidden),
    "waited": ("slowest to be stored", lambda person: -(person.waited_s or 0.0)),
    "flags": ("flags of plausibility", lambda person: -len(person.flags)),
    "verdict": ("verdict, excluded first", _standing),
    "events": ("events", lambda person: -sum(person.events.values())),
}


# What tells of single answers, and is not told while a run is blind.
_OF_ANSWERS = frozenset({"rt", "fast", "side", "hidden", "waited"})


@participant_pages.get("/runs/<ref>/participants")
@allowed(Role.VIEWER)
def show_all(ref: str) -> str:
    """Show the participants of a run, filtered and sorted as the address says."""
    wanted, search = request.args.get("state", ""), request.args.get("search", "").strip()
    sort = request.args.get("sort", "arrival")
    state = State(wanted) if wanted in set(State) else None
    with reading(current_services().sessions) as session:
        run = find_run(session, ref)
        found = people(session, run, state=state, search=search)
        if sort == "flags":
            # They follow from every answer of the run, so they are made only when asked for.
            study = current_services().study_of(session, run)
            made = {who.id: each for who, each in certificates(session, run, study)}
            found = [
                replace(each, flags=_flags(run, made.get(each.participant.id))) for each in found
            ]
            # Among as many flags, the likest to a program comes first.
            found.sort(key=lambda each: -_likeness(made.get(each.participant.id)))
        blind = is_blind(session, run)
    sorts = {name: each for name, each in SORTS.items() if not blind or name not in _OF_ANSWERS}
    _, key = sorts.get(sort, SORTS["arrival"])
    return render_template(
        "researcher/participants.html",
        run=run,
        people=sorted(found, key=key),
        states=list(State),
        state=state,
        search=search,
        sort=sort,
        sorts=sorts,
        blind=blind,
    )


@participant_pages.get("/runs/<ref>/participants/<participant_ref>")
@allowed(Role.VIEWER)
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
        certificate = certificate_of(session, run, study, record.participant)
        copied = certificate is not None and bool(certificate.n_copied)
        twins = same_times(session, run, record.participant) if copied else []
    shown = [
        (
            each,
            shown_trial(
                study, each.trial.position, each.item.item, each.trial.good_side, each.trial.options
            ),
        )
        for each in record.trials
    ]
    return render_template(
        "researcher/participant.html",
        run=run,
        study=study,
        record=record,
        shown=shown,
        certificate=certificate,
        twins=twins,
        flags=flags_of(run, certificate) if certificate else {},
        sides=[side for side in SIDES if any(side in trial for _, trial in shown)],
        blind=blind,
    )
