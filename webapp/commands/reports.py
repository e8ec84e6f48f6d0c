"""What ``parallax reconcile`` does for a run whose platform is told of endings by our server."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import click
from sqlalchemy import select

from experiment.tables.files import text_table
from webapp.commands.options import open_sessions
from webapp.core.clock import utc_now
from webapp.core.keys import read_keys
from webapp.core.tokens import Tokens
from webapp.database.engine import reading
from webapp.database.models import Participant, Run
from webapp.gate.told import is_held
from webapp.jobs.reports import hold_what_may_be_told, send_reports
from webapp.opening import open_installation
from webapp.recruiters.base import PayingRecruiter, ReportingRecruiter
from webapp.recruiters.registry import load_recruiter
from webapp.recruiters.settings import load_settings
from webapp.recruitment.decided_reports import confirm_by_hand, send_again
from webapp.recruitment.reports import HELD, ReportState, owe_report, reports_of
from webapp.runs.runs import named_run
from webapp.services import Services
from webapp.sessions.leave import ending_of

_HEADER = ("participant", "ending", "state", "tries", "the platform's answer")
_SHOWN = 60
_MISSING = "not owed yet"
_WHAT_TO_DO = (
    "The database was restored, so the panel may know of endings that are held here, and it must "
    "not be told twice. 1. Look at the panel's own pages. 2. Record each held ending that it knows "
    "with --by-hand WHO. 3. Then --fix --again sends the others. After that, endings of new "
    "participants are sent by themselves again."
)


@dataclass(frozen=True, slots=True)
class _Line:
    participant: str
    ending: str
    state: str
    tries: int
    answer: str


@dataclass(frozen=True, slots=True)
class ReportWish:
    """What becomes of a run's reports before they are shown.

    Attributes:
        fix: What is safe to send is sent now.
        again: Reports that the platform may already have received, and does not expect twice, are
            sent too.
        by_hand: The participant whom a person reported to the platform.
    """

    fix: bool = False
    again: bool = False
    by_hand: str | None = None


def reconcile_reports(
    instance: Path, run_ref: str, wish: ReportWish, *, as_json: bool
) -> bool | None:
    """Compare a run's endings with what its platform was told, and print it.

    Args:
        instance: The installation's folder.
        run_ref: The run's reference.
        wish: What is done before.
        as_json: Whether programs read it.

    Returns:
        Whether the platform confirmed every ending; None for a run whose platform needs no reports.
    """
    settings, sessions = load_settings(instance), open_sessions(instance)
    with reading(sessions) as session:
        run = named_run(session, run_ref)
    recruiter = load_recruiter(run.recruiter, settings)
    if isinstance(recruiter, PayingRecruiter) or not isinstance(recruiter, ReportingRecruiter):
        return None
    keys = read_keys(instance, settings.secret_key_file)
    engine = open_installation(instance, settings, keys, utc_now())
    services = Services(settings, engine, Tokens.of(keys), utc_now, instance)
    hold_what_may_be_told(services)
    if wish.by_hand is not None:
        with services.sessions.begin() as session:
            confirm_by_hand(session, run, wish.by_hand, utc_now())
    if wish.fix:
        _fix(services, run, recruiter, again=wish.again)
    lines = _lines(services, run, recruiter)
    with reading(services.sessions) as session:
        held = is_held(session.connection(), run.id)
    services.engine.dispose()
    clean = all(line.state == ReportState.DONE for line in lines) and not held
    _print(run, lines, clean=clean, as_json=as_json)
    if not as_json and (held or any(line.answer == HELD for line in lines)):
        click.echo(_WHAT_TO_DO)
    return clean


def _fix(services: Services, run: Run, recruiter: ReportingRecruiter, *, again: bool) -> None:
    with services.sessions.begin() as session:
        study, now = services.study_of(session, run), services.now()
        for person in session.scalars(select(Participant).where(Participant.run_id == run.id)):
            if (ending := ending_of(person)) is not None:
                owe_report(session, recruiter, study, person, ending, now)
        send_again(session, run, recruiter, study, now, also_unsafe=again)
    send_reports(services)


def _lines(services: Services, run: Run, recruiter: ReportingRecruiter) -> list[_Line]:
    with reading(services.sessions) as session:
        study = services.study_of(session, run)
        found = [
            _Line(person.ref, report.ending, report.state, report.tries, report.answer)
            for report, person in reports_of(session, run)
        ]
        reported = {line.participant for line in found}
        people = select(Participant).where(Participant.run_id == run.id).order_by(Participant.id)
        for person in session.scalars(people):
            ending = ending_of(person)
            if ending and person.ref not in reported and recruiter.report_terms(study, ending):
                found.append(_Line(person.ref, ending, _MISSING, 0, ""))
    return found


def _print(run: Run, lines: Sequence[_Line], *, clean: bool, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps([asdict(line) for line in lines], indent=2))
        return
    rows = [
        (line.participant, line.ending, line.state, line.tries, line.answer[:_SHOWN])
        for line in lines
        if line.state != ReportState.DONE
    ]
    done = len(lines) - len(rows)
    click.echo(f"The platform confirmed {done} of {len(lines)} endings reported to it.")
    if rows:
        click.echo(text_table(_HEADER, rows))
        click.echo(
            "--fix sends the reports that are safe to send; --fix --again also those it may "
            "already have received."
        )
        click.echo("If you credited someone on the panel's own site, record it with --by-hand WHO.")
    elif clean:
        click.echo(f"Run {run.ref} is clean: our records and the platform's answers agree.")
