"""A study of somebody's own, the whole way: a table, a folder, a run, people, an export."""

import re
from collections.abc import Iterator, Mapping, Sequence
from csv import writer
from datetime import UTC, datetime
from pathlib import Path
from threading import Thread

from flask import Flask
from werkzeug.serving import make_server

from experiment.authoring.new import new_study
from experiment.studies.load import load_study
from experiment.studies.study import Study
from webapp import create_app
from webapp.database.engine import reading
from webapp.recruiters.simulated_crowd import simulate
from webapp.recruiters.simulated_plan import make_plan
from webapp.runs.exclude import store_verdicts
from webapp.runs.export import export_run
from webapp.runs.launch import launch_run
from webapp.runs.runs import load_launched_study


def written(path: Path, rows: Sequence[Mapping[str, object]]) -> Path:
    """Write rows as a CSV file."""
    with path.open("w", encoding="utf-8", newline="") as file:
        lines = writer(file)
        lines.writerow(rows[0])
        lines.writerows(row.values() for row in rows)
    return path


def study_of(
    rows: Sequence[Mapping[str, object]],
    folder: Path,
    *,
    participants: int,
    response: str = "",
    changes: Mapping[str, str] | None = None,
) -> Study:
    """Write a study's folder from a table, for so many participants of each list."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    table = written(folder.parent / f"{folder.name}.csv", rows)
    new_study(folder, table, language="en", headers={}, response=response)
    path = folder / "study.toml"
    number = f"participants_per_list = {participants}"
    text = re.sub(r"participants_per_list = \d+", number, path.read_text("utf-8"))
    for old, new in (changes or {}).items():
        assert old in text, old
        text = text.replace(old, new)
    path.write_text(text, encoding="utf-8")
    return load_study(str(folder))


def exported(study: Study, instance: Path) -> Path:
    """Launch a study, let simulated people answer all of it, and export the run."""
    app = create_app(instance)
    sessions, now = app.extensions["parallax"].sessions, datetime.now(UTC)
    with sessions.begin() as session:
        run = launch_run(session, study, 7, "simulator", now=now, code_version="test")
    with reading(sessions) as session:
        ready = make_plan(session, run, load_launched_study(session, run))
    for url in _served(app):
        assert not any(outcome.problem for outcome in simulate(ready, url))
    with sessions.begin() as session:
        store_verdicts(session, session.merge(run), now)
    with reading(sessions) as session:
        export_run(session, session.merge(run, load=False), instance / "export")
    app.extensions["parallax"].engine.dispose()
    return instance / "export"


def _served(app: Flask) -> Iterator[str]:
    server = make_server("127.0.0.1", 0, app, threaded=True)
    thread = Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()
