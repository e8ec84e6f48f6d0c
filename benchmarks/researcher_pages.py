"""Measure the cost of each researcher page for a large run.

Usage: python benchmarks/researcher_pages.py [--people 100000] [--postgresql] [--times 10]
       [--keep FOLDER] [--study NAME]

A run of the founding study (76 trials), or of ``--study``, is filled by SQL with this number of
participants and their answers. Then each page is requested several times. The output has the
minimum, the median and the maximum processor time of the server's thread (the minimum is closest to
the page's own cost: if other programs share a processor and its caches, the same work takes
longer), the median elapsed time (the only one that includes PostgreSQL's work), and the numbers of
statements and bytes. The first request of each page, which compiles its template, is not counted.
"""

import argparse
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median

from argon2 import PasswordHasher
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import Connection, event, text

from experiment.studies.load import load_study
from experiment.studies.study import Study
from experiment.version import code_version
from webapp import create_app
from webapp.database.engine import Sessions, reading
from webapp.database.models import Run, RunSummary
from webapp.database.row_counts import create_triggers, drop_triggers, recount
from webapp.jobs.housekeeping import summarise_run
from webapp.researcher.participants import SORT_LABELS
from webapp.runs.blinding import unblind_run
from webapp.runs.charts import compute_charts
from webapp.runs.launch import launch_run
from webapp.runs.runs import load_launched_study
from webapp.services import EXTENSION, Services
from webapp.sessions.lookup import find_run
from webapp.users.roles import Role
from webapp.users.users import add_user

sys.path.append(str(Path(__file__).parents[1]))
from tests.webapp.postgres import postgres_server

STUDY = "marvin_linzen_2018"
PASSWORD = "correct horse battery"
# Beyond, summaries are filled in by SQL too.
MOST_SUMMARISED = 2_000
# What that would take; the job that does it waits twenty times as long, so it does not begin here.
SUMMARISED_IN_S = 600


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--people", type=int, default=100_000)
    parser.add_argument("--study", default=STUDY, help="a built-in one")
    parser.add_argument("--postgresql", action="store_true")
    parser.add_argument("--keep", type=Path, help="keep the installation in this folder, "
                        "with its SQLite database; what lies there is measured again")  # fmt: skip
    parser.add_argument("--times", type=int, default=10, help="how often each page is asked for")
    options = parser.parse_args()
    if options.keep and options.postgresql:
        parser.error("--keep: a database of PostgreSQL is filled anew each time")
    folder = options.keep or Path(tempfile.mkdtemp(prefix="researcher-pages-"))
    as_installed = ("autovacuum=on", "shared_buffers=128MB")
    with postgres_server(settings=as_installed) if options.postgresql else nullcontext() as server:
        database = server.database(empty=True) if server else nullcontext()
        with database as url:
            try:
                measure(folder, url, options)
            finally:
                if not options.keep:
                    shutil.rmtree(folder, ignore_errors=True)


def measure(folder: Path, url: str | None, options: argparse.Namespace) -> None:
    """Fill a run and print what its pages cost."""
    people, times = options.people, options.times
    study = load_study(options.study)
    folder.mkdir(exist_ok=True)
    if url:
        (folder / "parallax.toml").write_text(f'database_url = "{url}"\n', encoding="utf-8")
    app = create_app(folder)
    services, now = app.extensions[EXTENSION], datetime.now(UTC)
    print(
        f"{people:,} people, {people * trials_of(study):,} answers, {services.engine.dialect.name}"
    )
    kept = folder / "filled"
    if not kept.exists():
        kept.write_text(fill_run(services, study, people, now), encoding="utf-8")
    with reading(services.sessions) as session:
        run = find_run(session, kept.read_text(encoding="utf-8"))
    here = signed_in(app)
    here.get("/researcher/")
    cpu = f"{'least':>7}{'CPU ms':>8}{'most':>7}"
    print(f"{'page':<36}{cpu}{'wall ms':>9}{'statements':>12}{'KB':>7}")
    last = (people - 1) // 50 + 1
    table = f"/researcher/runs/{run.ref}/participants"
    pages = {
        "runs": "/researcher/",
        "run": f"/researcher/runs/{run.ref}",
        "participants": table,
        "participants, last page": f"{table}?page={last}",
        "participants, at work": f"{table}?state=working",
        "participants, excluded": f"{table}?verdict=excluded",
        "participants, one searched": f"{table}?search={ref_of(people)}",
        **{f"participants by {sort}": f"{table}?sort={sort}" for sort in SORT_LABELS},
        "participants by flags, last page": f"{table}?sort=flags&page={last}",
        "participants at work, by flags": f"{table}?sort=flags&state=working",
        "one participant": f"{table}/{ref_of(people // 2)}",
        "a film": f"/researcher/runs/{run.ref}/film?who={ref_of(people // 2)}",
        "charts' figures": f"/researcher/runs/{run.ref}/charts",
        "reports": f"/researcher/runs/{run.ref}/reports",
        "money": f"/researcher/runs/{run.ref}/money",
        "studies": "/researcher/studies",
        "projects": "/researcher/projects",
        "audit log": "/researcher/audit",
        "accounts": "/researcher/accounts",
        "notifications": "/researcher/notifications",
        "launch": "/researcher/launch",
    }
    for name, address in pages.items():
        print(f"{name:<36}{cost(here, address, services.engine, times)}", flush=True)


def ref_of(number: int) -> str:
    """Return what the participant of that number is called."""
    return f"p{10_000_000 + number}"


def trials_of(study: Study) -> int:
    """Return how many trials a session has."""
    return study.design.trials_per_list or 1


def fill_run(services: Services, study: Study, people: int, now: datetime) -> str:
    """Launch a run, fill it and sign somebody up; return the run's reference."""
    with services.sessions.begin() as session:
        run = launch_run(session, study, 1, "direct", now=now,
                     code_version=code_version())  # fmt: skip
        unblind_run(session, run, by="benchmark", reason="all pages are measured", now=now)
        cheap = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1).hash(PASSWORD)
        add_user(session, "owner", Role.OWNER, cheap, by="benchmark", now=now)
    started = time.perf_counter()
    with services.engine.begin() as connection:
        fill(connection, run.id, study, people, now)
    print(f"filled in {time.perf_counter() - started:.0f} s", flush=True)
    if people <= MOST_SUMMARISED:
        started = time.process_time()
        n = summarise_run(services.sessions, run.ref, load_launched_study, now)
        spent_s = time.process_time() - started
        print(f"summarised {n:,} sessions in {spent_s:.0f} s of processor time", flush=True)
    else:
        with services.engine.begin() as connection:
            connection.execute(text(SUMMARIES), {"run": run.id})
        draw(services.sessions, run, now)
    with services.engine.begin() as connection:
        connection.execute(text("ANALYZE"))  # as autovacuum does, and a day's work
    return run.ref


def draw(sessions: Sessions, run: Run, now: datetime) -> None:
    """Count what the run's page draws, as summarising does, and print what that takes."""
    started = time.process_time()
    with sessions() as session:
        charts = compute_charts(session, run, load_launched_study(session, run), now)
    with sessions.begin() as session:
        session.add(
            RunSummary(
                run_id=run.id, made_at=now, took_s=SUMMARISED_IN_S, responses=0, charts=charts
            )
        )
    print(f"charts counted in {time.process_time() - started:.1f} s of processor time", flush=True)


def cost(here: FlaskClient, address: str, engine: object, times: int) -> str:
    """Return a line of what a page costs."""
    found = []
    here.get(address)
    for _ in range(times):
        with counted(engine) as statements:
            cpu, wall = time.thread_time(), time.perf_counter()
            reply = here.get(address)
            spent = (time.thread_time() - cpu, time.perf_counter() - wall)
        assert reply.status_code == 200, (address, reply.status_code)
        found.append((*spent, len(statements), len(reply.data)))
    cpu_s, wall_s, n, size = map(median, zip(*found, strict=True))
    least_s, most_s = min(found)[0], max(found)[0]
    cpu = f"{1000 * least_s:>7.1f}{1000 * cpu_s:>8.1f}{1000 * most_s:>7.1f}"
    return f"{cpu}{1000 * wall_s:>9.1f}{n:>12.0f}{size / 1000:>7.1f}"


@contextmanager
def counted(engine: object) -> Iterator[list[str]]:
    """Note every statement."""
    seen: list[str] = []

    def note(_c: object, _k: object, statement: str, *_: object) -> None:
        seen.append(statement)

    event.listen(engine, "before_cursor_execute", note)
    try:
        yield seen
    finally:
        event.remove(engine, "before_cursor_execute", note)


def signed_in(app: Flask) -> FlaskClient:
    here = app.test_client()
    reply = here.post("/researcher/sign-in", data={"name": "owner", "password": PASSWORD})
    assert reply.status_code == 303, reply.text
    return here


def fill(connection: Connection, run_id: int, study: Study, people: int, now: datetime) -> None:
    """Add people and their answers by SQL, which both databases understand."""
    drop_triggers(connection)
    connection.execute(text("DELETE FROM place WHERE run_id = :run"), {"run": run_id})
    given = {"run": run_id, "n": people, "trials": trials_of(study),
             "lists": study.design.lists, "now": stamp(connection, now),
             "then": stamp(connection, now - timedelta(minutes=12))}  # fmt: skip
    for statement in re.split(r";\n", FILL):
        connection.execute(text(statement), {
            name: value for name, value in given.items() if f":{name}" in statement
        })  # fmt: skip
    if connection.dialect.name == "postgresql":  # where the numbers of newcomers go on
        connection.execute(text(
            "SELECT setval(pg_get_serial_sequence('participant', 'id'), max(id)) FROM participant"
        ))  # fmt: skip
    recount(connection)
    create_triggers(connection)


def stamp(connection: Connection, at: datetime) -> object:
    """Return a time as this database's driver takes it in plain SQL."""
    return at.strftime("%Y-%m-%d %H:%M:%S.%f") if connection.dialect.name == "sqlite" else at


# Ninety in a hundred finished, five are at work, five left; one in twenty is excluded.
FILL = """
INSERT INTO participant (id, run_id, ref, code, state, watched, list, place, arrived_at,
  consented_at, finished_at)
WITH RECURSIVE one(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM one WHERE i < :n)
SELECT i, :run, 'p' || (10000000 + i), 'c' || i,
  CASE WHEN i % 20 < 18 THEN 'finished' WHEN i % 20 = 18 THEN 'working' ELSE 'abandoned' END,
  FALSE, i % :lists, i, :then, :then, CASE WHEN i % 20 < 18 THEN :now END
FROM one;
INSERT INTO place (run_id, list, place, participant_id)
SELECT run_id, list, place, CASE WHEN state <> 'abandoned' THEN id END FROM participant;
INSERT INTO trial (participant_id, position, run_item_id, good_side)
WITH RECURSIVE one(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM one WHERE i < :trials)
SELECT p.id, one.i, first.id + one.i - 1,
  CASE WHEN (p.id + one.i) % 2 = 0 THEN 'first' ELSE 'second' END
FROM participant p CROSS JOIN one
JOIN (SELECT list, min(id) AS id FROM run_item WHERE run_id = :run GROUP BY list) first
  ON first.list = p.list;
INSERT INTO response (trial_id, client_uuid, chosen_side, rt_ms, input_method, was_hidden,
  lost_focus, release_ms, waited_ms, recorded_at)
SELECT id, 'u' || id, CASE WHEN id % 7 < 4 THEN 'first' ELSE 'second' END,
  700 + (id % 100000 * 7919) % 4001,
  'key', FALSE, FALSE, 780 + (id % 100000 * 7919) % 4001 + id * 0.000001, 12, :now
FROM trial;
INSERT INTO verdict (participant_id, kept, rule, evidence, decided_at)
SELECT id, id % 20 > 0, CASE WHEN id % 20 > 0 THEN '' ELSE 'max_errors' END, '', :now
FROM participant WHERE state = 'finished';
INSERT INTO event (participant_id, kind, detail, at)
SELECT id, 'reloaded', '{}', :now FROM participant WHERE id % 9 = 0
"""

SUMMARIES = """
INSERT INTO session_summary (participant_id, run_id, answered, fast, hidden, n_events, n_flags,
  minutes, median_rt_ms, same_side, waited_s, likelihood, judged)
SELECT id, :run, 76, id % 3, id % 5, CASE WHEN id % 9 = 0 THEN 1 ELSE 0 END, id % 4,
  12, 700 + id % 997, 0.5, 0.01, (id % 100) / 100.0, '{"certificate": {}, "twins": []}'
FROM participant WHERE run_id = :run
"""


if __name__ == "__main__":
    main()
