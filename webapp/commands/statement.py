"""``parallax statement``: what was spent, and what is still owed, over runs and platforms."""

from pathlib import Path

import click
from sqlalchemy import select

from experiment.money import in_words
from experiment.tables.files import text_table
from webapp.commands.options import open_sessions, with_instance
from webapp.commands.payment_commands import open_run_payments, with_live
from webapp.core.clock import utc_now
from webapp.core.keys import read_keys
from webapp.core.tokens import Tokens
from webapp.database.engine import reading
from webapp.database.models import Recruitment, Run
from webapp.payments.reconciliation.snapshot import take_snapshot
from webapp.payments.spending.lines import RunSpending, SpendingLine
from webapp.payments.spending.paper import ROUNDING, as_csv, as_page, by_funder, totals

_HEADER = ("funder", "study", "run", "platform", "paid", "fees", "spent", "in doubt", "owed")
_PATH = click.Path(path_type=Path, file_okay=False)


@click.command()
@click.argument("runs", nargs=-1, metavar="[RUN]...")
@click.option("--out", type=_PATH, help="A folder for statement.csv and statement.html, to print.")
@with_live
@with_instance
def statement(runs: tuple[str, ...], out: Path | None, live: bool, instance: Path) -> None:
    """State what each RUN spent and still owes, with the platform's fees.

    Without RUN it states every run that was published on a paying platform. Each platform is read,
    and nothing is paid.
    """
    lines = [line for run in runs or _published(instance) for line in _lines(instance, run, live)]
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        (out / "statement.csv").write_text(as_csv(lines), encoding="utf-8", newline="\n")
        (out / "statement.html").write_text(
            as_page(lines, utc_now()), encoding="utf-8", newline="\n"
        )
    if not lines:
        click.echo("Nothing was paid, and nothing is owed.")
        return
    found = totals(lines)
    click.echo(
        text_table(
            _HEADER,
            [
                (
                    each.funder or "(not stated)",
                    each.study,
                    each.run,
                    each.platform,
                    *(
                        in_words(amount, each.currency)
                        for amount in (
                            sum(each.spent_minor.values()),
                            each.fees_minor,
                            each.total_minor,
                            each.doubtful_minor,
                            each.owed_minor,
                        )
                    ),
                )
                for each in found
            ],
        )
    )
    for (funder, currency), spent_minor in by_funder(found).items():
        click.echo(f"{funder or '(no funder stated)'}: {in_words(spent_minor, currency)} spent.")
    click.echo(ROUNDING)


def _published(instance: Path) -> list[str]:
    runs = select(Run.ref).join(Recruitment, Recruitment.run_id == Run.id).order_by(Run.id)
    with reading(open_sessions(instance)) as session:
        return list(session.scalars(runs))


def _lines(instance: Path, run_ref: str, live: bool) -> list[SpendingLine]:
    opened = open_run_payments(instance, run_ref, live=live)
    tokens = Tokens.of(read_keys(instance, opened.settings.secret_key_file))
    snapshot = take_snapshot(opened.sessions, opened.platform, opened.run, tokens, utc_now())
    of_run = RunSpending(opened.sessions, opened.platform, opened.run, opened.study, snapshot)
    return list(of_run.lines())
