"""``parallax links``: links, personal links and access codes, as a table, a file and QR codes."""

import csv
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO, Any

import click
import segno

from experiment.commands.lazy_group import LazyGroup
from experiment.errors import why_unread
from experiment.tables.files import spreadsheet_safe, text_table
from webapp.commands.options import add_instance_option, open_sessions
from webapp.commands.runs import link_base
from webapp.core.clock import utc_now
from webapp.core.keys import read_keys
from webapp.core.tokens import Tokens
from webapp.database.engine import reading
from webapp.database.retry import run_in_transaction
from webapp.errors import RunError
from webapp.recruiters.settings import load_settings
from webapp.runs.links import (
    LinkWithArrivals,
    find_people_of_codes,
    find_unfinished_participants,
    list_links,
    list_list_numbers,
    make_link_address,
    make_links,
    make_number_labels,
    revoke_links,
)
from webapp.runs.runs import find_named_run
from webapp.sessions.leave import ending_of
from webapp.sessions.lookup import CODE, MULTI, SINGLE

_FILE_PATH = click.Path(path_type=Path, dir_okay=False)
_QR_SCALE = 8
_NOBODY = "nobody's"


def _add_file_options(command: Callable[..., Any]) -> Callable[..., Any]:
    for option in (
        click.option("--qr", type=click.Path(path_type=Path, file_okay=False),
                     help="A folder to write a QR code of each link to, as SVG and PNG."),
        click.option("--csv", "table", type=_FILE_PATH,
                     help="A CSV file to write the links to, for a mailing."),
    ):  # fmt: skip
        command = option(command)
    return command


links = LazyGroup(name="links", help="Manage links, access codes and QR codes.", sections={})


@links.command()
@click.argument("run")
@click.option(
    "--multi", is_flag=True, help="One link for many people: each visit starts a new session."
)
@click.option(
    "--single", type=click.IntRange(1), metavar="N", help="Make N links, each for one person."
)
@click.option(
    "--codes",
    type=click.IntRange(1),
    metavar="N",
    help="Make N access codes for people to type in.",
)
@click.option(
    "--people",
    type=_FILE_PATH,
    help="A CSV file of people: make a link for each row and add it as a column.",
)
@click.option("--list", "list_", type=int, help="Give this list to everyone who uses these links.")
@click.option("--each-list", is_flag=True, help="Make as many links for each list of the run.")
@_add_file_options
@add_instance_option
def make(
    run: str,
    multi: bool,
    single: int | None,
    codes: int | None,
    people: Path | None,
    list_: int | None,
    each_list: bool,
    table: Path | None,
    qr: Path | None,
    instance: Path,
) -> None:
    """Make links or access codes for RUN; from then on, participants need one."""
    kind, labels, rows = _requested_links(multi, single, codes, people)
    base, sessions = link_base(instance), open_sessions(instance)
    with sessions.begin() as session:
        stored_run = find_named_run(session, run)
        lists = list_list_numbers(session, stored_run) if each_list else [list_]
        new = make_links(session, stored_run, kind, labels, lists, utc_now())
        given_links = [
            LinkWithArrivals(link, make_link_address(link, stored_run, base)) for link in new
        ]
    _print_links(given_links, rows, table, qr)


@links.command()
@click.argument("run")
@_add_file_options
@add_instance_option
def show(run: str, table: Path | None, qr: Path | None, instance: Path) -> None:
    """List the links and access codes of RUN, and the participants of each."""
    with reading(open_sessions(instance)) as session:
        links_of_run = list_links(session, find_named_run(session, run), link_base(instance))
    _print_links(links_of_run, [], table, qr)


@links.command()
@click.argument("run")
@click.argument("names", metavar="LINKS...", nargs=-1, required=True)
@add_instance_option
def revoke(run: str, names: Sequence[str], instance: Path) -> None:
    """End LINKS of RUN for new participants, named by token, code or label."""
    number = run_in_transaction(
        open_sessions(instance),
        lambda session: revoke_links(session, find_named_run(session, run), names, utc_now()),
    )
    click.echo(f"{number} link(s) of run {run} no longer admit new participants.")


@links.command()
@click.argument("run")
@click.argument("who", nargs=-1)
@_add_file_options
@add_instance_option
def resume(
    run: str, who: Sequence[str], table: Path | None, qr: Path | None, instance: Path
) -> None:
    """Print personal links with which participants of RUN continue their sessions.

    WHO are references, participants' own codes or link labels; by default everybody who can
    still continue.
    """
    tokens, base = _load_tokens(instance), link_base(instance)
    with reading(open_sessions(instance)) as session:
        people = find_unfinished_participants(session, find_named_run(session, run), who)
    rows = [
        {
            "participant": person.ref,
            "state": person.state,
            "link": f"{base}/p/{tokens.issue(person.ref)}/",
        }
        for person in people
    ]
    _write_tables(rows, table, qr, name="participant")


@links.command()
@click.argument("run")
@click.argument("codes", nargs=-1, required=True)
@add_instance_option
def verify(run: str, codes: Sequence[str], instance: Path) -> None:
    """Show which participants of RUN got the completion CODES.

    The exit code is 1 if a code belongs to no participant.
    """
    tokens = _load_tokens(instance)
    with reading(open_sessions(instance)) as session:
        people = find_people_of_codes(session, find_named_run(session, run), codes, tokens)
    rows = []
    for code, person in people:
        ending = ending_of(person) if person else None
        rows.append((code, person.ref if person else _NOBODY, ending or ""))
    click.echo(text_table(("code", "participant", "ending"), rows))
    if any(who == _NOBODY for _, who, _ in rows):
        sys.exit(1)


def _requested_links(
    multi: bool, single: int | None, codes: int | None, people: Path | None
) -> tuple[str, list[str], list[dict[str, str]]]:
    """Return the kind of links, their labels, and the rows of the recipients' file."""
    if sum((multi, single is not None, codes is not None, people is not None)) != 1:
        raise RunError(
            "the kind of links to make is missing or ambiguous",
            expected="exactly one of --multi, --single N, --codes N and --people FILE",
        )
    if people is not None:
        rows = _read_recipients(people)
        return SINGLE, [row.get("label") or str(n) for n, row in enumerate(rows, 1)], rows
    if multi:
        return MULTI, make_number_labels(MULTI, 1), []
    if codes is not None:
        return CODE, make_number_labels(CODE, codes), []
    return SINGLE, make_number_labels(SINGLE, single or 1), []


def _read_recipients(people: Path) -> list[dict[str, str]]:
    try:
        with people.open(encoding="utf-8-sig", newline="") as file:
            rows = list(csv.DictReader(file))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise RunError(
            f"the people cannot be read: {why_unread(error)}", where=str(people)
        ) from error
    if not rows or any(None in row or None in row.values() for row in rows):
        raise RunError(
            "the file lists no people, or a row has more or fewer cells than the header",
            where=str(people),
            expected="a CSV file with a header and a row for each person",
        )
    return rows


def _print_links(
    shown_links: Sequence[LinkWithArrivals],
    people: Sequence[dict[str, str]],
    table: Path | None,
    qr: Path | None,
) -> None:
    rows = [
        {
            "label": given_link.link.label,
            "kind": given_link.link.kind,
            "list": "" if given_link.link.list is None else str(given_link.link.list),
            "link": given_link.address,
            "code": given_link.code,
            "came": " ".join(given_link.came),
        }
        for given_link in shown_links
    ]
    if people:
        # A mailing needs the researcher's own columns, which are not stored elsewhere.
        rows = [{**person, **row} for person, row in zip(people, rows, strict=False)]
    _write_tables(rows, table, qr, name="label")


def _write_tables(
    rows: Sequence[dict[str, str]], table: Path | None, qr: Path | None, *, name: str
) -> None:
    if not rows:
        click.echo("There are no links yet.")
        return
    if table is None:
        click.echo(text_table(list(rows[0]), [list(row.values()) for row in rows]))
    else:
        with table.open("w", encoding="utf-8", newline="") as file:
            # The recipients' own columns stay unchanged: a telephone number begins with a plus.
            _write_csv(file, [{**row, name: spreadsheet_safe(row[name])} for row in rows])
        click.echo(f"{table}: {len(rows)} rows")
    if qr is not None:
        _draw_qr_codes(rows, qr, name)


def _write_csv(file: IO[str], rows: Sequence[dict[str, str]]) -> None:
    writer = csv.DictWriter(file, fieldnames=list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)


def _draw_qr_codes(rows: Sequence[dict[str, str]], folder: Path, name: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for number, row in enumerate(rows, 1):
        label = "".join(c if c.isalnum() else "_" for c in row.get("code") or row[name])
        image = segno.make(row["link"], micro=False)
        for kind in ("svg", "png"):
            image.save(str(folder / f"{number:04}_{label or 'link'}.{kind}"), scale=_QR_SCALE)
    click.echo(f"{folder}: {len(rows)} QR codes, as SVG and PNG")


def _load_tokens(instance: Path) -> Tokens:
    return Tokens.from_keys(read_keys(instance, load_settings(instance).secret_key_file))
