"""``parallax coding``: let two people code imported typed answers, and freeze their codes."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import click
from sqlalchemy.orm import Session

from experiment.coding.categories import Coding
from experiment.coding.frozen import CodingError, write_version
from experiment.coding.rounds import Round
from experiment.studies.load import load_study
from experiment.studies.study import Study
from experiment.tables.atomic_write import atomic_write
from experiment.version import code_version
from webapp.codes.answers import DistinctAnswer, list_answers
from webapp.codes.codes import N_CODERS, check_complete, combine_codes
from webapp.codes.imported import (
    CODER_NAME,
    SavedCodes,
    list_imported_answers,
    make_code_rows,
    read_saved_codes,
)
from webapp.codes.proposals import Proposals, read_proposals, store_proposals
from webapp.coding_pages.cards import Place
from webapp.coding_pages.file_page import write_file_page
from webapp.commands.options import add_instance_option, open_sessions
from webapp.core.clock import utc_now
from webapp.database.models import Participant, Response, RunItem, Trial
from webapp.database.retry import run_in_transaction
from webapp.runs.export_queries import select_answered_trials
from webapp.runs.runs import find_named_run, load_launched_study

_PATH = click.Path(path_type=Path)
_study = click.argument("name_or_folder", metavar="STUDY")
_folder = click.argument("folder", metavar="IMPORT", type=_PATH)
_codes = click.option(
    "--codes", "tables", multiple=True, type=_PATH, help="What a coder saved; repeat it."
)
_proposed = click.option(
    "--proposed", type=_PATH, help="A table of codes that a model proposed, which never decide."
)


@click.group()
def coding() -> None:
    """Let people code the typed answers of an import."""


@coding.command()
@_study
@_folder
@click.option("--coder", required=True, help="The coder's name, which is also in the saved file.")
@_codes
@_proposed
@click.option("--seed", default=1, show_default=True, help="The seed of the order of answers.")
@click.option("--out", required=True, type=_PATH, help="The page to write (.html).")
def page(
    name_or_folder: str,
    folder: Path,
    coder: str,
    tables: tuple[Path, ...],
    proposed: Path | None,
    seed: int,
    out: Path,
) -> None:
    """Write a page on which a person codes the answers of IMPORT.

    STUDY has the items and the categories. Send the file to the coder, who opens it in a browser
    and sends a saved table back. With --codes of both coders, the page shows the disagreements to
    the person who decides, with a model's opinion if there is --proposed.
    """
    if not CODER_NAME.fullmatch(coder):
        raise CodingError(
            f'"{coder[:80]}" cannot be a coder\'s name',
            where="--coder",
            expected="at most 60 letters, digits, spaces, full stops and hyphens",
        )
    study, declared = _load_study(name_or_folder)
    answers = {each.digest: each for each in list_imported_answers(study, folder).values()}
    saved = _read_coders(tables, declared) if tables else []
    if proposed and not tables:
        raise CodingError(
            "a page for a coder would have a model's opinion",
            where="--proposed",
            expected="--codes of both coders: only who decides sees what a model proposed",
        )
    opinions = read_proposals(proposed, declared, answers.values()) if proposed else Proposals()
    own = [each.codes for each in saved]
    codes = combine_codes(declared, answers.values(), own, {}, opinions)
    text, n_cards = write_file_page(study, answers, codes, Place(seed, coder, bool(tables)))
    with atomic_write(out) as temporary:
        temporary.write_text(text, "utf-8", newline="\n")
    what = "disagreements" if tables else "answers to code"
    click.echo(f"{n_cards:,} {what} written to {out}")


@coding.command()
@_study
@_folder
@_codes
@click.option("--decided", type=_PATH, help="What the person saved who decides disagreements.")
@_proposed
def freeze(
    name_or_folder: str,
    folder: Path,
    tables: tuple[Path, ...],
    decided: Path | None,
    proposed: Path | None,
) -> None:
    """Freeze the codes of IMPORT as its next version.

    `parallax compare` uses the latest version in the folder of its judgments.
    """
    study, declared = _load_study(name_or_folder)
    answers = list_imported_answers(study, folder)
    saved = _read_coders(tables, declared)
    decisions = read_saved_codes(decided, declared.names) if decided else None
    if decisions and not decisions.decides:
        raise _make_task_error(decisions, "decisions")
    own, decided_codes = [each.codes for each in saved], decisions.codes if decisions else {}
    opinions = read_proposals(proposed, declared, answers.values()) if proposed else Proposals()
    codes = combine_codes(declared, answers.values(), own, decided_codes, opinions)
    remedy = "Let everybody finish; `parallax coding page --codes` writes the page of disagreements"
    check_complete(codes, str(folder), remedy)
    about = {
        "coders": [each.coder for each in saved],
        "decided": decisions.coder if decisions else "",
        "at": utc_now().isoformat(),
        "code_version": code_version(),
    }
    table = write_version(folder, make_code_rows(answers, codes), about)
    click.echo(f"{len(answers):,} answers frozen in {table}")
    _report_unused(answers, saved)


@coding.command()
@click.argument("run")
@click.argument("table", type=_PATH)
@add_instance_option
def propose(run: str, table: Path, instance: Path) -> None:
    """Read TABLE, the codes that a model proposes for RUN.

    They never decide and coders do not see them. The person who decides disagreements sees them,
    marked as the model's.
    """

    def work(session: Session) -> tuple[int, int]:
        of_run = find_named_run(session, run)
        study = load_launched_study(session, of_run)
        query = select_answered_trials(of_run, Participant.ref, Trial, RunItem.item, Response)
        answers = list_answers(session, of_run, study, query)
        proposals = read_proposals(table, _get_coding(study), answers.values())
        store_proposals(session, of_run, proposals, utc_now())
        return len(proposals.categories), len(answers)

    n_proposed, n_answers = run_in_transaction(open_sessions(instance), work)
    click.echo(f"A model's codes of {n_proposed:,} of {n_answers:,} answers are stored.")


def _load_study(name_or_folder: str) -> tuple[Study, Coding]:
    study = load_study(name_or_folder)
    return study, _get_coding(study)


def _get_coding(study: Study) -> Coding:
    if study.coding is None:
        raise CodingError(
            "the study declares no categories, so answers cannot be coded",
            where=str(study.folder / "study.toml"),
            expected="[coding] with a question and categories (docs/coding.md)",
        )
    return study.coding


def _read_coders(tables: Sequence[Path], declared: Coding) -> list[SavedCodes]:
    """Return the codes of both coders.

    Raises:
        CodingError: There are not two tables, or they are of one coder or of who decides.
    """
    if len(tables) != N_CODERS:
        raise CodingError(
            f"{len(tables)} tables are given with --codes",
            expected="the tables of two coders, as they saved them",
        )
    saved = [read_saved_codes(path, declared.names) for path in tables]
    for each in saved:
        if each.decides:
            raise _make_task_error(each, "codes")
    if len({each.coder for each in saved}) < N_CODERS:
        raise CodingError(
            f"both tables are of {saved[0].coder}",
            where=", ".join(map(str, tables)),
            expected="the tables of two people",
        )
    return saved


def _make_task_error(saved: SavedCodes, expected: str) -> CodingError:
    actual = "decisions on disagreements" if saved.decides else "codes of all answers"
    return CodingError(
        f"the table of {saved.coder} has {actual}",
        where=str(saved.path),
        expected=expected,
        remedy="Give the coders' tables with --codes, and the decisions with --decided",
    )


def _report_unused(
    answers: Mapping[tuple[str, str, str], DistinctAnswer], saved: Sequence[SavedCodes]
) -> None:
    digests = {answer.digest for answer in answers.values()}
    coded = {answer for each in saved for round_, answer in each.codes if round_ != Round.TRAINING}
    if n_unused := len(coded - digests):
        click.echo(f"{n_unused:,} codes are of answers that the import does not have (any more).")
