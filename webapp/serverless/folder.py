"""Write a study as a folder of static files, or as a single file."""

import hashlib
import json
from base64 import b64encode
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from flask import Flask, render_template
from markupsafe import Markup
from sqlalchemy import select
from sqlalchemy.orm import Session

from experiment.panels.panel import only_value
from experiment.responses.registry import response_of
from experiment.studies.question import LONGEST_TEXT
from experiment.studies.study import Study
from webapp.core.i18n import text_direction
from webapp.database.models import Place, Run, StudyFile
from webapp.errors import RunError
from webapp.participant.assets import bundle_scripts
from webapp.participant.trial_page import add_script_urls, list_response_scripts, script_name
from webapp.recruiters.base import Recruiter
from webapp.runs.launch import launch_run
from webapp.runs.runs import STATIC_FILE, StaticMark, close_run, find_named_run, list_static_runs
from webapp.serverless.drawn import DrawnSession, draw_sessions, hash_folder, list_session_places
from webapp.serverless.pages import SharedWorkingPage, StaticPages, describe_question, find_editions
from webapp.serverless.stores import Store, make_study_archive

_PAGE_FILE = "index.html"
# The file name endings of a single-file study, or of a study for JATOS.
PAGE_SUFFIXES = (".html", ".htm")
ARCHIVE_SUFFIX = ".jzip"
# The keys of a working page's data that differ between sessions.
_OWN = ("trials", "pauses")


@dataclass(frozen=True, slots=True)
class StaticStudy:
    """A study that is ready to be written.

    Attributes:
        run: Its run.
        mark: How it is written.
        page: The only page.
        sessions: The session files by name; none if the page contains all sessions.
    """

    run: Run
    mark: StaticMark
    page: str
    sessions: Mapping[str, str]


def launch_static(
    session: Session,
    study: Study,
    seed: int,
    recruiter: str,
    store: Store,
    sessions: int,
    *,
    consent: str,
    now: datetime,
    code_version: str,
    simulated: bool = False,
    project: str = "",
) -> tuple[Run, StaticMark, list[DrawnSession]]:
    """Return the run of a study without a server; launch it unless the same run exists.

    Args:
        session: An open session; unchanged unless all checks pass.
        study: The study.
        seed: The seed for lists, sides and orders.
        recruiter: The name of the recruiter.
        store: The store of the answers.
        sessions: The number of sessions to draw.
        consent: The consent text.
        now: The time.
        code_version: The version of the launching code.
        simulated: Whether programs are to answer.
        project: The project that the run belongs to; empty for none. The same study in another
            project is another folder, whose sessions are read into that project's run.

    Raises:
        ParallaxError: As for ``launch``.
    """
    run = launch_run(
        *(session, study, seed, recruiter),
        now=now, code_version=code_version, simulated=simulated, project=project,
    )  # fmt: skip
    study_files = {file.name: file.content for file in _load_study_files(session, run)}
    drawn_sessions = list(draw_sessions(session, run, study, sessions))
    text = f"{consent}\0{project}" if project else consent
    version = hash_folder({**study_files, "": text.encode()}, seed, drawn_sessions)
    mark = StaticMark(version, sessions, store.assignment, consent)
    for earlier_run, of_it in list_static_runs(session):
        if of_it == mark and (earlier_run.recruiter, earlier_run.simulated) == (
            recruiter,
            run.simulated,
        ):
            known_ref = earlier_run.ref
            session.rollback()
            return find_named_run(session, known_ref), mark, drawn_sessions
    session.add(StudyFile(run_id=run.id, name=STATIC_FILE, content=mark.as_file()))
    _add_places(session, run, study, sessions)
    # The server must not assign any of its places.
    close_run(session, run, now)
    session.flush()
    return run, mark, drawn_sessions


def build_static_study(
    run: Run,
    mark: StaticMark,
    drawn: Iterable[DrawnSession],
    pages: StaticPages,
    store: Store,
    *,
    code_version: str,
    in_one_file: bool = False,
) -> StaticStudy:
    """Return a study's page and its session files.

    Args:
        run: The study's run.
        mark: How it was launched.
        drawn: Its sessions.
        pages: Its pages.
        store: The store of the answers.
        code_version: The version of the writing code.
        in_one_file: Whether the page is to contain the sessions too.

    Raises:
        WebappError: A script cannot be embedded in a page.
    """
    app, study, recruiter = pages.app, pages.study, pages.recruiter
    editions = find_editions(study)
    works: dict[str, SharedWorkingPage] = {}
    names: dict[tuple[int, str], str] = {}
    sessions = []
    for session in drawn:
        edition = editions.of_list[session.list]
        layout = edition, json.dumps(session.work["pages"], sort_keys=True)
        name = names.setdefault(layout, f"working {len(names)}")
        works.setdefault(name, SharedWorkingPage(editions.studies[edition], session.work))
        own_data = {key: value for key, value in session.work.items() if key in _OWN}
        sessions.append({**own_data, "page": name, "edition": edition})
    with pages.speaking():
        data = {
            **_make_page_data(study, editions.studies, pages, mark, store),
            "pages": pages.rendered(works, editions.studies),
        }
        common = next(iter(works.values())).work
        response = response_of(study)
        script = script_name(response.script)
        scripts = [script, *(script_name(task.script) for task in response.types.values())]
        common = add_script_urls(common, response, lambda name: name)
        data["work"] = {
            **{key: value for key, value in common.items() if key not in (*_OWN, "pages")},
            "script": script,
        }
        data["drawn"] = sessions if in_one_file else None
        page = _render_page(
            app, study, data, _bundle_scripts(app, scripts), recruiter, store, code_version
        )
    files = {
        f"{number}.json": _to_json(session_data)
        for number, session_data in enumerate(sessions, start=1)
    }
    return StaticStudy(run, mark, page, {} if in_one_file else files)


def write_static(built: StaticStudy, study: Study, out: Path) -> None:
    """Write a study as a page, a JATOS archive or a folder, depending on the name's ending.

    Raises:
        RunError: The name is in use, and is not an empty folder.
    """
    refuse_existing_output(out)
    out.parent.mkdir(parents=True, exist_ok=True)
    ending = out.suffix.lower()
    if ending == ARCHIVE_SUFFIX:
        files = {_PAGE_FILE: built.page.encode()}
        files |= {f"sessions/{name}": text.encode() for name, text in built.sessions.items()}
        about = f"{study.name} {study.study.version}, written by parallax study static"
        out.write_bytes(
            make_study_archive(built.mark.folder, study.study.title, about, files, _PAGE_FILE)
        )
    elif ending in PAGE_SUFFIXES:
        out.write_bytes(built.page.encode())
    else:
        _write_folder(built, out)
    make_readable_by_all(out)


def make_readable_by_all(out: Path) -> None:
    """Make the files readable by everybody, because a web server runs as another user."""
    for path in (out, *out.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)


def _write_folder(built: StaticStudy, folder: Path) -> None:
    """Write the page and its sessions as a new folder, completely or not at all."""
    temporary = Path(mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    (temporary / "sessions").mkdir()
    (temporary / _PAGE_FILE).write_bytes(built.page.encode())
    # Makes GitHub Pages publish all files, without Jekyll.
    (temporary / ".nojekyll").touch()
    for name, text in built.sessions.items():
        (temporary / "sessions" / name).write_bytes(text.encode())
    if folder.exists():
        folder.rmdir()
    temporary.replace(folder)


def refuse_existing_output(output: Path) -> None:
    """Raise an error if the name is in use.

    Raises:
        RunError: The name is in use, and is not an empty folder.
    """
    if output.exists() and not (output.is_dir() and not any(output.iterdir())):
        raise RunError(
            "the output already exists, and people may be taking part in it",
            where=str(output),
            expected="a new name, or an empty folder",
            remedy="Give another --out, or remove what is there",
        )


def _make_page_data(
    study: Study, editions: Iterable[Study], pages: StaticPages, mark: StaticMark, store: Store
) -> dict[str, Any]:
    check = study.comprehension
    return {
        "folder": mark.folder,
        "run": mark.folder,
        "sessions": mark.sessions,
        "language": study.study.language,
        "direction": text_direction(),
        "store": {"kind": store.kind, **store.settings},
        "parameters": _describe_parameters(study),
        "longest_text": LONGEST_TEXT,
        "words": pages.words(),
        "asked": {
            "screening": [
                describe_question(question, accept=question.accept) for question in study.screening
            ],
            "comprehension": [
                describe_question(question, accept=question.correct)
                for question in (check.questions if check else ())
            ],
            "questionnaires": [
                [describe_question(question) for question in edition.questionnaire]
                for edition in editions
            ],
            "tries": check.tries if check else 0,
        },
    }


def _describe_parameters(study: Study) -> dict[str, Any]:
    """Return the panel's URL parameters and the rules for their values."""
    panel = study.panel
    if panel is None:
        return {}
    return {
        name: {
            "pattern": parameter.pattern,
            "required": parameter.required,
            "only": only_value(panel, parameter.only),
        }
        for name, parameter in panel.parameters.items()
    }


def _bundle_scripts(app: Flask, scripts: Iterable[str]) -> str:
    static = Path(app.root_path) / "static"
    modules = {
        path.relative_to(static).as_posix(): path.read_text(encoding="utf-8")
        for path in sorted(static.rglob("*.js"))
        if path.name != "boot.js"
    }
    all_scripts = list_response_scripts()
    needed_scripts = {
        name: all_scripts[name].read_text(encoding="utf-8") for name in dict.fromkeys(scripts)
    }
    return bundle_scripts(modules, needed_scripts)


def _render_page(
    app: Flask,
    study: Study,
    data: Mapping[str, Any],
    program: str,
    recruiter: Recruiter,
    store: Store,
    code_version: str,
) -> str:
    style = (Path(app.root_path) / "static" / "parallax.css").read_text(encoding="utf-8")
    return render_template(
        "static_study.html",
        study=study,
        data=data,
        program=Markup(program),
        style=Markup(style),
        scripts=store.scripts,
        version=code_version,
        policy=_make_security_policy(program, style, recruiter.sites(study), store),
    )


def _make_security_policy(program: str, style: str, sites: Iterable[str], store: Store) -> str:
    """Return the page's content security policy: its own script, and the store's hosts."""
    script, look = f"'{_hash_for_policy(program)}'", f"'{_hash_for_policy(style)}'"
    workers = ""
    if store.scripts:
        # jatos.js loads its libraries into the page and draws over it.
        script, look, workers = "'self' 'unsafe-inline'", "'unsafe-inline'", "; worker-src 'self'"
    hosts, sent_to = " ".join(store.hosts), " ".join(sites)
    return (
        f"default-src 'none'; script-src {script}; style-src {look}; img-src 'self' data:"
        "; font-src data:"
        f"; connect-src 'self' {hosts}; base-uri 'none'; form-action 'self' {sent_to}{workers}"
    )


def _hash_for_policy(text: str) -> str:
    return f"sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _to_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _load_study_files(session: Session, run: Run) -> list[StudyFile]:
    return list(session.scalars(select(StudyFile).where(StudyFile.run_id == run.id)))


def _add_places(session: Session, run: Run, study: Study, sessions: int) -> None:
    existing_places = {
        (list_, place)
        for list_ in range(study.design.n_lists)
        for place in range(study.design.places(list_))
    }
    session.add_all(
        Place(run_id=run.id, list=list_, place=place)
        for list_, place in list_session_places(study, sessions)
        if (list_, place) not in existing_places
    )
