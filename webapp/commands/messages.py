"""``parallax recruitment``: trying an offer out, writing to participants, and joining parts."""

import sys
from pathlib import Path

import click

from experiment.tables.atomic_write import atomic_write
from experiment.tables.files import safe_csv
from webapp.commands.options import open_sessions, with_instance
from webapp.commands.payment_commands import with_live
from webapp.commands.published_run import open_published
from webapp.core.clock import utc_now
from webapp.database.engine import reading
from webapp.errors import RunError
from webapp.recruiters.capabilities import Messages, TestOffers
from webapp.recruitment.publish import draft
from webapp.recruitment.terms import offer_of, terms_of
from webapp.recruitment.writing import Whom, checked_text, recipients, send
from webapp.runs.parts import joined_parts


@click.command("test")
@click.argument("run")
@with_live
@with_instance
def test_offer(run: str, live: bool, instance: Path) -> None:
    """Make a test study of RUN on its platform.

    Only test participants find it. Its pages show what people would see, and store nothing.
    """
    found = open_published(instance, run, live=live)
    platform = found.platform
    if not isinstance(platform, TestOffers):
        raise RunError(
            "this platform has no test studies",
            where=f"run {run}",
            remedy="Open the run's link with &preview=1 at its end",
        )
    plan = draft(found.sessions, platform, run, found.link, utc_now())
    offer = offer_of(terms_of(plan.study), found.link, 1, f"test of {run}")
    click.echo(f"Test participants find it at {platform.offer_test(plan.task, offer)}")


@click.command("write")
@click.argument("run")
@click.option(
    "--to",
    "whom",
    type=click.Choice([each.value for each in Whom]),
    required=True,
    help="Which of the run's participants.",
)
@click.option("--text", required=True, help="What they read; @FILE reads it from a file.")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@with_live
@with_instance
def write(run: str, whom: str, text: str, yes: bool, live: bool, instance: Path) -> None:
    """Write to RUN's participants on their platform.

    For example, to invite everybody who finished to the next part.
    """
    found = open_published(instance, run, live=live)
    platform = found.platform
    if not isinstance(platform, Messages):
        raise RunError(
            "this platform cannot write to participants from here",
            where=f"run {run}",
            remedy="Write to them on the platform's own pages",
        )
    body = checked_text(
        Path(text[1:]).read_text(encoding="utf-8") if text.startswith("@") else text
    )
    with reading(found.sessions) as session:
        by_offer = recipients(session, run, Whom(whom))
    number = sum(map(len, by_offer.values()))
    click.echo(f"{number} participants would read:\n\n{body}\n")
    if number and not yes:
        click.confirm("Send it? It cannot be taken back", abort=True)
    click.echo(f"It was sent to {send(platform, by_offer, body)} participants.")


@click.command("parts")
@click.argument("runs", nargs=-1, required=True)
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The file to write; the terminal if left out.",
)
@with_instance
def parts(runs: tuple[str, ...], out: Path | None, instance: Path) -> None:
    """Say which participants of RUNS are the same person.

    Each person has a code of their own, and their participant in each run beside it.
    """
    with reading(open_sessions(instance)) as session:
        rows = joined_parts(session, runs)
    text = safe_csv(("code", *runs), rows)
    if out is None:
        sys.stdout.write(text)
        return
    with atomic_write(out) as file:
        file.write_bytes(text.encode())
    everywhere = sum(all(refs) for _, *refs in rows)
    click.echo(f"{len(rows)} people, {everywhere} of them in every run: {out}")
