"""``parallax study static`` writes a static study; ``parallax import sessions`` reads it back."""

import gzip
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

import click
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from experiment.design.frames import CHANCE, COUNTER, expected_imbalance, list_difference
from experiment.participation import State
from experiment.seeds import generator
from experiment.studies.load import load_study
from experiment.studies.study import Study
from experiment.version import code_version
from webapp import create_app
from webapp.commands.options import add_new_instance_option, open_sessions
from webapp.core.clock import utc_now
from webapp.core.instance import open_instance
from webapp.database.engine import reading
from webapp.database.models import Participant, Run
from webapp.database.models.identity import sealer_of
from webapp.erasures.record import ErasureRecord
from webapp.errors import RunError
from webapp.recruiters.registry import load_recruiter
from webapp.recruiters.settings import load_settings
from webapp.recruiters.terms import set_aside
from webapp.runs.launch import find_project_id
from webapp.runs.runs import StaticMark, list_static_runs, load_launched_study
from webapp.serverless.folder import (
    ARCHIVE_SUFFIX,
    PAGE_SUFFIXES,
    StaticStudy,
    build_static_study,
    launch_static,
    make_readable_by_all,
    refuse_existing_output,
    write_static,
)
from webapp.serverless.pages import StaticPages
from webapp.serverless.refusals import check_needs_no_server, read_publishable_report
from webapp.serverless.replay import ReplayedSession, SessionReplay, get_start_time
from webapp.serverless.session_files import Entry, SessionFiles, read_session_files
from webapp.serverless.stores import STORE_KINDS, Store, make_store
from webapp.services import services_of

# The name of the report in the study's folder.
REPORT_FILE = "report.html"


@click.command()
@click.argument("name_or_folder", metavar="STUDY")
@click.option("--seed", type=int, required=True, help="The seed of the lists, sides and orders.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    required=True,
    help="The folder to write; a name that ends in .html makes one self-contained file, one in"
    " .jzip an archive for JATOS.",
)
@click.option(
    "--store",
    "kind",
    type=click.Choice(STORE_KINDS),
    default="file",
    show_default=True,
    help="Where answers are kept.",
)
@click.option("--url", default="", help="The address of the store post, or of another DataPipe.")
@click.option("--experiment", default="", help="DataPipe's id of the experiment.")
@click.option("--staging", default="", help="The database where DataPipe stages single answers.")
@click.option(
    "--sessions",
    type=click.IntRange(1, 100_000),
    help="How many sessions to draw.  [default: as many as the study has places]",
)
@click.option(
    "--dropout",
    type=click.IntRange(0, 99),
    default=20,
    show_default=True,
    help="The percentage of people whom you expect not to finish; it only changes what is printed.",
)
@click.option("--no-counter", is_flag=True, help="Draw sessions by chance, not by a counter.")
@click.option(
    "--recruiter",
    metavar="NAME",
    default="direct",
    show_default=True,
    help="How participants come: direct, or panel.",
)
@click.option(
    "--simulated", is_flag=True, help="Programs will answer, not people; every table says so."
)
@click.option("--project", metavar="NAME", default="", help="The project that the run belongs to.")
@click.option(
    "--report",
    type=click.Path(path_type=Path),
    help="A report.html of `parallax compare`, to read with the study; only with --simulated.",
)
@add_new_instance_option
def static(
    name_or_folder: str,
    seed: int,
    out: Path,
    kind: str,
    url: str,
    experiment: str,
    staging: str,
    sessions: int | None,
    dropout: int,
    no_counter: bool,
    recruiter: str,
    simulated: bool,
    project: str,
    report: Path | None,
    instance: Path,
) -> None:
    """Write STUDY as a folder of static files, which any web host serves.

    Pages, lists, sides and orders are the same as on a server. The folder does not reveal which
    sentence is good. `parallax import sessions` reads the stored sessions.
    """
    report_copy = read_publishable_report(report, out, simulated=simulated) if report else None
    study, recruits = load_study(name_or_folder), load_recruiter(recruiter, load_settings(instance))
    recruits.check(study)
    store = make_store(kind, url=url, experiment=experiment, staging=staging, count=not no_counter)
    check_needs_no_server(study, recruits, simulated=simulated)
    if (kind == "jatos") != (out.suffix.lower() == ARCHIVE_SUFFIX):
        raise RunError(
            f"the name {out.name} does not fit the store {kind}",
            where="--out",
            expected="a name that ends in .jzip for --store jatos, and any other for other stores",
        )
    refuse_existing_output(out)
    with reading(open_sessions(instance)) as session:
        find_project_id(session, project)
    click.echo("Building and auditing the lists, drawing the sessions ...", err=True)
    n_sessions = sessions or study.design.n_places
    pages = StaticPages(create_app(instance), study, recruits, store.keeper, simulated)
    built, ref = _write_study(pages, store, seed, n_sessions, out, report_copy, project)
    mark = built.mark
    click.echo(f"{out}: {n_sessions} sessions of {study.name} {study.study.version}.")
    click.echo(f"Run {ref}, folder {mark.folder}. Every check of the design passed.")
    click.echo(
        f"One participant loads at most {_largest_download_bytes(built):,} bytes, compressed."
    )
    _print_imbalance(study, seed, mark, dropout)
    if report_copy is not None:
        click.echo(f"{out / REPORT_FILE} is the report, {out / 'index.html'} the study.")
    if unused := set_aside(recruits.terms, study):
        click.echo(f"The recruiter {recruiter} ignores these keys: {', '.join(unused)}.")


def _write_study(
    pages: StaticPages,
    store: Store,
    seed: int,
    n_sessions: int,
    out: Path,
    report: Mapping[str, bytes] | None,
    project: str,
) -> tuple[StaticStudy, str]:
    """Launch the study and write its folder; return the static study and its run."""
    with pages.speaking():
        consent = pages.consent_text()
    with services_of(pages.app).sessions() as session:
        run, mark, drawn_sessions = launch_static(
            session,
            pages.study,
            seed,
            pages.recruiter.name,
            store,
            n_sessions,
            consent=consent,
            now=utc_now(),
            code_version=code_version(),
            simulated=pages.simulated,
            project=project,
        )
        in_one_file = out.suffix.lower() in PAGE_SUFFIXES
        built = build_static_study(
            run,
            mark,
            drawn_sessions,
            pages,
            store,
            code_version=code_version(),
            in_one_file=in_one_file,
        )
        ref = run.ref
        write_static(built, pages.study, out)
        if report is not None:
            for name, page in report.items():
                (out / name).write_bytes(page)
            make_readable_by_all(out)
        session.commit()
    return built, ref


def _print_imbalance(study: Study, seed: int, mark: StaticMark, dropout: int) -> None:
    rng = generator(seed, "imbalance", mark.sessions)
    expected = expected_imbalance(
        study.design.n_lists, mark.sessions, dropout / 100, mark.assignment, rng
    )
    click.echo(
        f"Sessions are drawn by {mark.assignment}. If all are taken and {dropout} % do not finish,"
        f" the fullest list has {expected.mean:.1f} participants more than the emptiest"
        f" ({expected.low} to {expected.high} in nine of ten studies). A server gives places back."
    )


def _largest_download_bytes(built: StaticStudy) -> int:
    """Return the largest number of bytes that one participant loads."""
    texts = [built.page, max(built.sessions.values(), key=len, default="")]
    return sum(len(gzip.compress(text.encode())) for text in texts)


_MOST = 5  # problems, files and numbers that a report lists


@click.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@add_new_instance_option
def sessions(paths: tuple[Path, ...], instance: Path) -> None:
    """Read the session files of a static study into its run.

    PATHS are files, folders, or results archives of JATOS. You can import the same files again
    with others: nothing is added twice, and withdrawals are obeyed.
    """
    session_files = read_session_files(paths)
    by_folder: dict[str, dict[str, list[Entry]]] = defaultdict(dict)
    for (folder, name), entries in session_files.sessions.items():
        by_folder[folder][name] = entries
    sessions_factory = open_sessions(instance)
    with sessions_factory() as session:
        runs = {mark.folder: (run, mark) for run, mark in list_static_runs(session)}
        unknown = {folder: of for folder, of in by_folder.items() if folder not in runs}
        if not by_folder.keys() & runs.keys():
            raise RunError(
                "the sessions come from no folder that this installation wrote:"
                f" {', '.join(sorted(unknown)) or 'no file has the form that a page writes'}",
                where=", ".join(map(str, paths)),
                expected=f"one of: {', '.join(runs) or 'none yet'}",
                remedy="Write the same folder again, from the same study with the same seed and"
                " options: parallax study static",
            )
        note = ErasureRecord(open_instance(instance), sealer_of(session.get_bind().dialect))
        lines = _report_files(session_files, unknown)
        for folder in sorted(by_folder.keys() & runs.keys()):
            run, mark = runs[folder]
            replay = SessionReplay(session, run, load_launched_study(session, run), mark, note)
            ordered = sorted(
                by_folder[folder].items(), key=lambda item: (get_start_time(item[1]), item[0])
            )
            replayed = [replay.add(name, entries) for name, entries in ordered]
            lines += _import_report(session, run, mark, replay, replayed)
        session.commit()
    click.echo("\n".join(lines))


def _report_files(gathered: SessionFiles, unknown: dict[str, dict[str, list[Entry]]]) -> list[str]:
    """Return the report on the files."""
    n_entries = sum(map(len, gathered.sessions.values()))
    lines = [f"{gathered.files} files: {n_entries} entries of {len(gathered.sessions)} sessions."]
    if gathered.repeated:
        lines.append(f"{gathered.repeated} entries are copies of others, and do not count.")
    for name, reason in list(gathered.unreadable.items())[:_MOST]:
        lines.append(f"Left out, {name}: {reason}.")
    if len(gathered.unreadable) > _MOST:
        lines.append(f"... and {len(gathered.unreadable) - _MOST} more files.")
    for name, number in gathered.strange.items():
        lines.append(f"{name}: {number} parts were not written by a page.")
    for name, number in gathered.changed.items():
        lines.append(
            f"Session {name}: {number} entries are not as the browser wrote them, and are left out."
        )
    for folder, of_it in unknown.items():
        lines.append(
            f"Left out, {len(of_it)} sessions of the folder {folder}, which was not written here."
        )
    return lines


def _import_report(
    session: Session,
    run: Run,
    mark: StaticMark,
    replay: SessionReplay,
    replayed: list[ReplayedSession],
) -> list[str]:
    """Return the report on a run."""
    states = Counter(
        result.participant.state for result in replayed if result.participant is not None
    )
    counts = ", ".join(f"{number} {state}" for state, number in sorted(states.items()))
    lines = [f"Run {run.ref} of {run.study} (folder {mark.folder}): {counts or 'nobody'}."]
    for result in replayed:
        lines += [f"Session {result.session}: {problem}" for problem in result.problems[:_MOST]]
        if result.missing > 0:
            lines.append(
                f"Session {result.session}: {result.missing} entries are not in the files."
            )
    n_by_session = Counter(result.number for result in replayed if result.number is not None)
    if repeated_numbers := sorted(number for number, times in n_by_session.items() if times > 1):
        lines.append(
            f"{len(repeated_numbers)} sessions were given to several people:"
            f" {_shortened_list(repeated_numbers)}."
        )
    gaps = [
        number for number in range(1, max(n_by_session, default=0)) if number not in n_by_session
    ]
    if gaps and mark.assignment == "counter":
        lines.append(
            f"{len(gaps)} numbers below the highest belong to no session here: "
            f"{_shortened_list(gaps)}."
        )
    by_chance = any(result.by == CHANCE for result in replayed)
    return [*lines, _describe_imbalance(session, run, CHANCE if by_chance else COUNTER, replay)]


def _shortened_list(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers[:_MOST])) + (" ..." if len(numbers) > _MOST else "")


def _describe_imbalance(session: Session, run: Run, assignment: str, replay: SessionReplay) -> str:
    rows = session.execute(
        select(Participant.list, func.count())
        .where(Participant.run_id == run.id, Participant.state == State.FINISHED)
        .group_by(Participant.list)
    )
    n_finished_by_list = {int(list_): int(number) for list_, number in rows if list_ is not None}
    placed = session.execute(
        select(func.count()).where(Participant.run_id == run.id, Participant.list.is_not(None))
    ).scalar_one()
    n_lists, total = replay.study.design.n_lists, sum(n_finished_by_list.values())
    imbalance = list_difference(n_finished_by_list, n_lists)
    if not placed:
        return "Nobody has begun."
    dropout = 1 - total / placed
    rng = generator(run.seed, "imbalance", placed)
    expected = expected_imbalance(n_lists, placed, min(dropout, 0.99), assignment, rng)
    return (
        f"Lists: the fullest has {imbalance} participants more than the emptiest. Expected of"
        f" {placed} who begin, {dropout:.0%} of whom do not finish: {expected.mean:.1f}"
        f" ({expected.low} to {expected.high})."
    )
