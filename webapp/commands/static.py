"""``parallax study static``: a study as a folder of static files, for any web host."""

import gzip
from pathlib import Path

import click

from experiment.design.frames import expected_imbalance
from experiment.seeds import generator
from experiment.studies.load import load_study
from experiment.studies.study import Study
from experiment.version import code_version
from webapp import create_app
from webapp.commands.options import open_sessions, with_instance
from webapp.core.clock import utc_now
from webapp.database.engine import reading
from webapp.errors import RunError
from webapp.recruiters.registry import load_recruiter
from webapp.recruiters.settings import load_settings
from webapp.recruiters.terms import set_aside
from webapp.runs.launch import project_id
from webapp.runs.runs import StaticMark
from webapp.serverless.folder import (
    ARCHIVE,
    ONE_FILE,
    StaticStudy,
    launch_static,
    open_to_all,
    refuse_existing,
    static_study,
    write_static,
)
from webapp.serverless.pages import Pages
from webapp.serverless.refusals import refuse_what_needs_a_server, report_beside
from webapp.serverless.stores import KINDS, Store, store_of
from webapp.services import services_of

# The name of the report in the study's folder.
REPORT = "report.html"


@click.command()
@click.argument("study")
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
    type=click.Choice(KINDS),
    default="file",
    show_default=True,
    help="Where answers are kept.",
)
@click.option("--url", default="", help="Where the store post, or another DataPipe, is.")
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
    help="How many of a hundred you expect not to finish; it changes what is printed alone.",
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
    help="A report.html of `parallax compare`, to be read beside the study; only with --simulated.",
)
@with_instance
def static(
    study: str,
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

    The pages, lists, sides and orders are the server's own. Which sentence is good is not in the
    folder. `parallax import sessions` reads what the store kept.
    """
    beside = report_beside(report, out, simulated=simulated) if report else None
    loaded, recruits = load_study(study), load_recruiter(recruiter, load_settings(instance))
    recruits.check(loaded)
    store = store_of(kind, url=url, experiment=experiment, staging=staging, count=not no_counter)
    refuse_what_needs_a_server(loaded, recruits, simulated=simulated)
    if (kind == "jatos") != (out.suffix.lower() == ARCHIVE):
        raise RunError(
            f"the store {kind} and the name {out.name} do not go together",
            where="--out",
            expected="a name that ends in .jzip for --store jatos, and any other for other stores",
        )
    refuse_existing(out)
    with reading(open_sessions(instance)) as session:
        project_id(session, project)
    click.echo("Building and auditing the lists, drawing the sessions ...", err=True)
    n_sessions = sessions or loaded.design.n_places
    pages = Pages(create_app(instance), loaded, recruits, store.keeper, simulated)
    built, ref = _written(pages, store, seed, n_sessions, out, beside, project)
    mark = built.mark
    click.echo(f"{out}: {n_sessions} sessions of {loaded.name} {loaded.study.version}.")
    click.echo(f"Run {ref}, folder {mark.folder}. Every check of the design passed.")
    click.echo(f"One participant loads at most {_loaded(built):,} bytes, compressed.")
    _tell_imbalance(loaded, seed, mark, dropout)
    if beside is not None:
        click.echo(f"{out / REPORT} is the report, {out / 'index.html'} the study.")
    if unused := set_aside(recruits.terms, loaded):
        click.echo(f"The recruiter {recruiter} sets aside: {', '.join(unused)}.")


def _written(
    pages: Pages,
    store: Store,
    seed: int,
    n_sessions: int,
    out: Path,
    report: bytes | None,
    project: str,
) -> tuple[StaticStudy, str]:
    """Launch the study and write its folder; return the static study and its run."""
    with pages.speaking():
        consent = pages.consent_text()
    with services_of(pages.app).sessions() as session:
        run, mark, drawn = launch_static(
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
        in_one_file = out.suffix.lower() in ONE_FILE
        built = static_study(
            run, mark, drawn, pages, store, code_version=code_version(), in_one_file=in_one_file
        )
        ref = run.ref
        write_static(built, pages.study, out)
        if report is not None:
            (out / REPORT).write_bytes(report)
            open_to_all(out)
        session.commit()
    return built, ref


def _tell_imbalance(study: Study, seed: int, mark: StaticMark, dropout: int) -> None:
    rng = generator(seed, "imbalance", mark.sessions)
    expected = expected_imbalance(
        study.design.n_lists, mark.sessions, dropout / 100, mark.assignment, rng
    )
    click.echo(
        f"Sessions are drawn by {mark.assignment}. If all are taken and {dropout} % do not finish,"
        f" the fullest list has {expected.mean:.1f} participants more than the emptiest"
        f" ({expected.low} to {expected.high} in nine of ten studies). A server gives places back."
    )


def _loaded(built: StaticStudy) -> int:
    """Return the largest number of bytes that one participant loads."""
    texts = [built.page, max(built.sessions.values(), key=len, default="")]
    return sum(len(gzip.compress(text.encode())) for text in texts)
