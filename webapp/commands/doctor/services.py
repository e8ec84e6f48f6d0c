"""Checks of the database, connections, backups, jobs and due erasures."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

from sqlalchemy import inspect, select, text

from webapp.commands.doctor.findings import Finding, Installation, Level
from webapp.core.worker_count import count_connections
from webapp.database.backup.routine import age_s, read_last_backup
from webapp.database.engine import make_sessions, reading
from webapp.database.models import Base, Run
from webapp.database.schema import revisions, schema_problem, stored_revision
from webapp.errors import RunError
from webapp.jobs.periodic_queue import PERIODIC_JOBS, get_last_success
from webapp.privacy.retention import compute_erasure_time, is_erasure_due
from webapp.runs.runs import load_launched_study

_MOST_CLOCK_DIFFERENCE = timedelta(seconds=2)
_OLD_BACKUP_S = 26 * 3600.0
_MISSED_TICKS = 5
# Files in the instance folder that only a server creates.
_FILES_OF_OPERATION = ("jobs.sqlite3", "erasures", "ledger", "told", "last_backup.json")
_NEARLY_FULL = 0.9


def check_database(at: Installation) -> Iterator[Finding]:
    """Check that the database answers and has this code's schema."""
    if at.engine is None:
        yield Finding("database", Level.FAULT, at.database_error, "See docs/database.md")
        return
    revision = stored_revision(at.engine)
    if revision is None:
        yield _report_empty_database(at)
    elif problem := schema_problem(revision):
        yield Finding("database", Level.FAULT, problem.problem, problem.remedy)
    elif missing := sorted(set(Base.metadata.tables) - set(inspect(at.engine).get_table_names())):
        message = f"it lacks what belongs to its schema {revision}: {', '.join(missing)}"
        remedy = "Restore the newest backup: parallax db restore FILE"
        yield Finding("database", Level.FAULT, message, remedy)
    else:
        yield Finding("database", Level.GOOD, f"it answers; its schema is {revision}")


def _report_empty_database(at: Installation) -> Finding:
    """Return the finding for an empty database: a new installation, or data in another database."""
    if not any((at.folder / name).exists() for name in _FILES_OF_OPERATION):
        return Finding("database", Level.GOOD, "it answers; its schema is not made")
    message = "the database is empty, although a server ran here: its data were moved or lost"
    remedy = (
        "Stop the server. Put the database back into its place, or restore the newest backup:"
        " parallax db restore FILE. Check that database_url names the right one"
    )
    return Finding("database", Level.FAULT, message, remedy)


def check_clock(at: Installation) -> Iterator[Finding]:
    """Compare this machine's clock with the database's."""
    if at.engine is None or at.engine.dialect.name == "sqlite":
        yield Finding("clock", Level.GOOD, "the database runs on this machine's clock")
        return
    with at.engine.connect() as connection:
        asked_at = at.now()
        database_time = connection.execute(text("SELECT clock_timestamp()")).scalar_one()
        answered_at = at.now()
    # Between our two readings, the exact moment of the database's reading is unknown.
    offset = max(database_time - answered_at, asked_at - database_time, timedelta())
    message = (
        f"this machine's clock is at least {offset.total_seconds():.1f} s away from the database's"
    )
    if offset > _MOST_CLOCK_DIFFERENCE:
        yield Finding(
            "clock", Level.FAULT, message, "Synchronise the clocks of both machines by NTP"
        )
    else:
        yield Finding("clock", Level.GOOD, "the database's clock agrees")


def check_backup(at: Installation) -> Iterator[Finding]:
    """Check the age of the newest valid backup."""
    remedy = "parallax db backup FOLDER --keep 30 --drill, every night: docs/database.md"
    last = read_last_backup(at.folder)
    if last is None:
        yield Finding(
            "backup", Level.WARNING, "no backup was made from this instance folder", remedy
        )
        return
    hours = age_s(last, at.now()) / 3600
    message = (
        f"{last.file} is {hours:.1f} h old, {'tried out' if last.drilled else 'not tried out'}"
    )
    if hours * 3600 > _OLD_BACKUP_S:
        yield Finding("backup", Level.WARNING, message, remedy)
    elif not Path(last.file).exists():
        message = f"{last.file}, the newest backup, is no longer there"
        yield Finding("backup", Level.WARNING, message, f"If it was not moved on purpose: {remedy}")
    elif not last.drilled:
        yield Finding("backup", Level.WARNING, message, f"parallax db drill {last.file}")
    else:
        yield Finding("backup", Level.GOOD, message)


def check_jobs(at: Installation) -> Iterator[Finding]:
    """Check when each periodic job last succeeded on this machine."""
    late_jobs = []
    for name, job in PERIODIC_JOBS.items():
        done = get_last_success(at.folder, name)
        if done is None or (at.now() - done).total_seconds() > _MISSED_TICKS * job.every_s:
            last_success = f"last at {done.isoformat(timespec='seconds')}" if done else "never yet"
            late_jobs.append(f"{name} ({last_success})")
    if late_jobs:
        message = f"these jobs have not succeeded recently on this machine: {', '.join(late_jobs)}"
        remedy = "Check that a server or parallax work is running. The log says why a job failed"
        yield Finding("jobs", Level.WARNING, message, remedy)
    else:
        yield Finding("jobs", Level.GOOD, "every job succeeded recently")


def check_connections(at: Installation) -> Iterator[Finding]:
    """Compare PostgreSQL's limits with one machine's needs, and count the open connections."""
    if at.engine is None or at.engine.dialect.name == "sqlite":
        yield Finding("connections", Level.GOOD, "SQLite has no limit of connections")
        return
    with at.engine.connect().execution_options(reading=True) as connection:
        most, of_role, used = connection.execute(
            # PostgreSQL shows a session's details only to the session's role, but its database to
            # every role.
            text(
                "SELECT current_setting('max_connections')::int"
                " - current_setting('superuser_reserved_connections')::int,"
                " (SELECT rolconnlimit FROM pg_roles WHERE rolname = current_user),"
                " (SELECT count(*) FROM pg_stat_activity WHERE datid IS NOT NULL)"
            )
        ).one()
    most = min(most, of_role) if of_role is not None and of_role >= 0 else most
    needed = count_connections(at.settings.workers)
    message = (
        f"PostgreSQL admits {most} connections; this machine may open {needed}; {used} are open"
    )
    remedy = "Raise max_connections (or the role's CONNECTION LIMIT): docs/database.md#connections"
    if needed > most:
        yield Finding("connections", Level.FAULT, message, remedy)
    elif used > _NEARLY_FULL * most:
        yield Finding("connections", Level.WARNING, message, remedy)
    else:
        yield Finding("connections", Level.GOOD, message)


def check_retention(at: Installation) -> Iterator[Finding]:
    """Check when identifying data are due for erasure, and whether they were erased."""
    if at.engine is None:
        return
    if stored_revision(at.engine) != revisions()[-1]:
        message = "not checked: the database does not have this version's schema"
        yield Finding("retention", Level.GOOD, message)
        return
    dates = []
    with reading(make_sessions(at.engine)) as session:
        for run in session.scalars(select(Run).where(Run.closed_at.is_not(None))).all():
            try:
                study = load_launched_study(session, run)
            except RunError:
                continue
            day = compute_erasure_time(run, study)
            if day is None:
                continue
            if is_erasure_due(run, study, at.now()):
                message = f"people of run {run.ref} should have been anonymised by {day:%Y-%m-%d}"
                remedy = (
                    f"Pay everyone who is still to be paid: parallax review {run.ref}; see "
                    "the check jobs"
                )
                yield Finding("retention", Level.WARNING, message, remedy)
                return
            if run.identities_erased_at is None or run.identities_erased_at < day:
                dates.append((day, run.ref))
    if dates:
        day, ref = min(dates)
        message = f"the next to be erased are the identities of run {ref}, on {day:%Y-%m-%d}"
        yield Finding("retention", Level.GOOD, message)
    else:
        yield Finding("retention", Level.GOOD, "no identities are scheduled to be erased")
