"""``parallax launch``, ``runs``, ``close``, ``open``, ``simulate``, ``exclude``, ``export`` ..."""

import getpass
from pathlib import Path

import click
from sqlalchemy.orm import Session
from tqdm import tqdm

from experiment.studies.load import load_study
from experiment.studies.study import Study
from experiment.tables.files import text_table
from experiment.version import code_version
from webapp.commands.options import add_instance_option, add_new_instance_option, open_sessions
from webapp.commands.texts import print_text_notes
from webapp.core.clock import utc_now
from webapp.database.engine import reading
from webapp.database.models import Run
from webapp.database.retry import run_in_transaction
from webapp.errors import RunError
from webapp.payments.debts import describe_debts, find_debts
from webapp.recruiters import simulated_crowd as crowd
from webapp.recruiters.registry import RECRUITERS, load_recruiter
from webapp.recruiters.settings import load_settings
from webapp.recruiters.simulated_plan import make_plan
from webapp.recruiters.terms import set_aside
from webapp.runs import exclude as exclude_flow
from webapp.runs import export as export_flow
from webapp.runs import launch as launch_flow
from webapp.runs.blinding import check_unblinded, unblind_with_second_person
from webapp.runs.launch import add_places_to_run, check_responsible_people
from webapp.runs.runs import (
    close_run,
    describe_rules,
    find_named_run,
    list_run_progress,
    load_launched_study,
    open_run,
)
from webapp.server import server_control as server

_SHOWN_PROBLEMS = 5


@click.command()
@click.argument("name_or_folder", metavar="STUDY")
@click.option("--seed", type=int, required=True, help="The seed of the lists, sides and orders.")
@click.option(
    "--recruiter",
    metavar="NAME",
    default="direct",
    show_default=True,
    help=f"How participants come to the run: {', '.join(RECRUITERS.built_in)}, or a plug-in.",
)
@click.option(
    "--simulated", is_flag=True, help="Programs will answer, not people; every table says so."
)
@click.option("--project", metavar="NAME", default="", help="The project that the run belongs to.")
@add_new_instance_option
def launch(
    name_or_folder: str, seed: int, recruiter: str, simulated: bool, project: str, instance: Path
) -> str:
    """Launch STUDY as a new run.

    STUDY is the name of a built-in study or a study folder.
    """
    study, recruits = load_study(name_or_folder), load_recruiter(recruiter, load_settings(instance))
    recruits.check(study)
    sessions = open_sessions(instance)
    with reading(sessions) as session:
        launch_flow.find_project_id(session, project)  # before building lists: slow
    click.echo("Building and auditing the lists ...", err=True)
    with sessions.begin() as session:
        run = launch_flow.launch_run(
            session,
            study,
            seed,
            recruiter,
            now=utc_now(),
            code_version=code_version(),
            simulated=simulated,
            project=project,
        )
    link = recruits.posted_link(link_base(instance), run.ref, study)
    click.echo(f"Run {run.ref} of {run.study} {run.study_version} is launched (seed {seed}).")
    click.echo("Every check of the design passed.")
    if unused := set_aside(recruits.terms, study):
        click.echo(f"The recruiter {recruiter} ignores these keys: {', '.join(unused)}.")
    print_text_notes(study, name_or_folder)
    _print_link(run, study, link)
    return run.ref


def _print_link(run: Run, study: Study, link: str) -> None:
    if run.simulated:
        click.echo(f"Simulated participants come to: {link}")
        return
    try:
        check_responsible_people(study)
    except RunError as error:
        # The run can be viewed, but its link is not given to participants.
        click.echo(f"There is no link for participants yet: {error}")
    else:
        click.echo(f"Participants come to: {link}")


def link_base(instance: Path) -> str:
    """Return the present base address of participants' links."""
    settings, background = load_settings(instance), server.find_running_server(instance)
    return background.url if background and not settings.public_url else settings.link_base


@click.command()
@add_instance_option
def runs(instance: Path) -> None:
    """List the runs and their progress."""
    header: tuple[str, ...] = (
        "run",
        "study",
        "recruiter",
        "simulated",
        "seed",
        "open",
        "taken",
        "finished",
        "excluded",
    )
    with reading(open_sessions(instance)) as session:
        progress = list_run_progress(session)
        rules = describe_rules(session, [p.run for p in progress])
        header += ("rule",) if rules else ()
        rows = [
            (
                p.run.ref,
                p.run.study,
                p.run.recruiter,
                "yes" if p.run.simulated else "no",
                p.run.seed,
                "no" if p.run.closed_at else "yes",
                f"{p.taken} of {p.places}",
                p.finished,
                p.excluded,
                *([rules.get(p.run.id, "")] if rules else []),
            )
            for p in progress
        ]
    click.echo(text_table(header, rows) if rows else "There are no runs yet.")


@click.command()
@click.argument("run")
@click.option("--yes", is_flag=True, help="Do not ask, even if people are still owed money.")
@add_instance_option
def close(run: str, yes: bool, instance: Path) -> None:
    """Close RUN to new participants.

    Participants who have begun can finish. If people are still owed money, it names them and asks.
    """
    sessions = open_sessions(instance)
    with reading(sessions) as session:
        debts_text = describe_debts(find_debts(session, find_named_run(session, run)))
    if debts_text:
        click.echo(f"{debts_text}. To pay them: parallax approve {run}; parallax bonus {run}")
        if not yes:
            click.confirm("Close it all the same?", abort=True)
    run_in_transaction(
        sessions, lambda session: close_run(session, find_named_run(session, run), utc_now())
    )
    click.echo(f"Run {run} is closed. To open it again: parallax open {run}")


@click.command("open")
@click.argument("run")
@click.option("--add", metavar="N", type=int, help="First add N places to each list.")
@add_instance_option
def open_(run: str, add: int | None, instance: Path) -> None:
    """Reopen RUN to new participants."""

    def change(session: Session) -> int | None:
        stored_run = find_named_run(session, run)
        places = add_places_to_run(session, stored_run, add) if add is not None else None
        open_run(session, stored_run)
        return places

    places = run_in_transaction(open_sessions(instance), change)
    click.echo(f"Run {run} is open.")
    if places is not None:
        click.echo(f"It has {places} places now: {add} more in each list.")


@click.command()
@click.argument("run")
@click.option(
    "--participants",
    type=click.IntRange(min=1),
    help="How many participants to send; by default one for every free place.",
)
@click.option(
    "--url",
    help=(
        "The server's address; by default the server in the background, or else "
        "http://HOST:PORT from the settings."
    ),
)
@click.option(
    "--workers",
    type=click.IntRange(min=1),
    default=crowd.N_WORKERS,
    show_default=True,
    help="How many take part at the same time.",
)
@add_instance_option
def simulate(
    run: str, participants: int | None, url: str | None, workers: int, instance: Path
) -> None:
    """Send simulated participants through the pages of RUN."""
    with reading(open_sessions(instance)) as session:
        stored_run = find_named_run(session, run)
        ready = make_plan(session, stored_run, load_launched_study(session, stored_run))
        comes_as = load_recruiter(stored_run.recruiter, load_settings(instance)).visitor()
    server_url = url or _server_url(instance)
    visits = crowd.simulate(ready, server_url, participants, workers, comes_as)
    total = participants or ready.n_free
    outcomes = list(
        tqdm(visits, desc="Simulating", total=total, unit=" participants", disable=None)
    )
    problems = [outcome for outcome in outcomes if outcome.problem]
    click.echo(f"{len(outcomes) - len(problems)} simulated participants finished.")
    if problems:
        details = "; ".join(f"number {o.number}: {o.problem}" for o in problems[:_SHOWN_PROBLEMS])
        raise RunError(f"{len(problems)} did not finish: {details}", where=f"run {run}")


def _server_url(instance: Path) -> str:
    background = server.find_running_server(instance)
    return background.url if background else load_settings(instance).link_base


@click.command()
@click.argument("run")
@add_instance_option
def exclude(run: str, instance: Path) -> None:
    """Apply the study's exclusion rules to everyone who finished RUN.

    Each verdict is stored with its rule and its evidence.
    """
    result = run_in_transaction(
        open_sessions(instance),
        lambda session: exclude_flow.store_verdicts(
            session, find_named_run(session, run), utc_now()
        ),
    )
    click.echo(
        f"{result.decided} participants judged by the exclusion rules now; in all "
        f"{result.kept} kept, {result.excluded} excluded."
    )


@click.command()
@click.argument("run")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="The folder to write to.  [default: exports/RUN in the instance folder]",
)
@add_instance_option
def export(run: str, out: Path | None, instance: Path) -> None:
    """Write all data of RUN as a folder of tables.

    The folder contains their codebook too. A run of people must be unblinded first.
    """
    folder = out or instance / "exports" / run
    with reading(open_sessions(instance)) as session:
        check_unblinded(session, stored_run := find_named_run(session, run))
        facts = export_flow.export_run(session, stored_run, folder)
    of_whom = "simulated participants" if facts["simulated"] else "participants"
    click.echo(f"{facts['n_responses']} responses of {facts['n_participants']} {of_whom}: {folder}")


@click.command()
@click.argument("run")
@click.option(
    "--reason", required=True, help="Why the results are looked at now; the reason is kept."
)
@add_instance_option
def unblind(run: str, reason: str, instance: Path) -> None:
    """Unblind RUN, so that its results can be seen and exported.

    Unblinding cannot be undone. The run and the audit log record who did it, when and why.
    """
    sessions = open_sessions(instance)
    with reading(sessions) as session:
        study = load_launched_study(session, stored_run := find_named_run(session, run))
    user_name = getpass.getuser()
    unblind_with_second_person(
        sessions, stored_run, study, by=user_name, reason=reason.strip(), now=utc_now()
    )
    click.echo(f"The run {run} is unblinded.")
