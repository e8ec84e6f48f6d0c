"""``parallax study texts``: the pages' buttons and messages, as a table for a native speaker."""

import io
from pathlib import Path

import click
from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po, write_po

from experiment.errors import StudyError
from experiment.materials.formats.raw import RawTable, read_raw
from experiment.studies.load import STUDIES_FOLDER, load_study
from experiment.studies.page_files import catalogue_name, own_messages, read_messages
from experiment.studies.study import Study
from experiment.tables.atomic_write import atomic_write
from experiment.tables.files import require_suffix, safe_csv
from webapp.core.i18n import CATALOGUES, SOURCE_LANGUAGE

_COLUMNS = ("english", "shown", "correction")
# Every catalogue has all messages.
_COMPLETE = "it"
# Of the headers of Parallax's catalogues, and of a study's own one.
_UNREVIEWED, _REVIEWED = "Not reviewed", "reviewed by "
_MOST_NAMED = 3


@click.command()
@click.argument("name_or_folder", metavar="STUDY")
@click.argument("table", required=False, type=click.Path(path_type=Path))
@click.option("--out", type=click.Path(path_type=Path), help="The table to write (.csv).")
@click.option(
    "--reviewed-by",
    "reviewer",
    default="",
    metavar="NAME",
    help="The native speaker who read all texts of TABLE.",
)
def texts(name_or_folder: str, table: Path | None, out: Path | None, reviewer: str) -> None:
    """Write the buttons and messages of STUDY's pages as a table, or read TABLE back.

    The table has the English of each text, what the pages show in the study's language, and an
    empty column for a correction. Send it to a native speaker. Reading it back writes the
    corrections into the study's own catalogue, which takes precedence over Parallax's.
    """
    if (table is None) == (out is None) or (reviewer and table is None):
        raise click.UsageError("Give either --out, or the TABLE that a native speaker filled in.")
    study = load_study(name_or_folder)
    if out is not None:
        _write_table(study, out)
    elif table is not None:
        _read_corrections(study, read_raw(table, study.study.language), reviewer)


def print_text_notes(study: Study, name_or_folder: str) -> None:
    """Print which of the pages' texts are in English or unreviewed, and how to change that."""
    for sentence in describe_texts(study):
        click.echo(
            f"{sentence} To change that: parallax study texts {name_or_folder} --out FILE.csv"
        )


def describe_texts(study: Study) -> list[str]:
    """Return which of the pages' texts are in English or unreviewed, in sentences; [] if none."""
    language = study.study.language
    if language.partition("-")[0].lower() == SOURCE_LANGUAGE:
        return []
    shown = _shown_texts(study)
    n_english = sum(not text for text in shown.values())
    sentences = []
    if n_english:
        sentences.append(
            f"{n_english} of the {len(shown)} buttons and messages of the pages are in English."
        )
    is_unreviewed = _UNREVIEWED in (_parallax_catalogue(language).header_comment or "")
    if is_unreviewed and not _own_catalogue(study).last_translator.startswith(_REVIEWED):
        sentences.append(
            f'No native speaker has reviewed the buttons and messages of the pages in "{language}".'
        )
    return sentences


def _write_table(study: Study, out: Path) -> None:
    require_suffix(out, ".csv")
    rows = [(english, text, "") for english, text in _shown_texts(study).items()]
    with atomic_write(out) as temporary:
        temporary.write_text(safe_csv(_COLUMNS, rows), "utf-8-sig", newline="\n")
    for sentence in (f"{out}: {len(rows)} texts.", *describe_texts(study)):
        click.echo(sentence)
    click.echo(
        "Send the table to a native speaker, who writes better texts into the column correction "
        "and keeps every {name} and %(name)s. Then: "
        f"parallax study texts {study.folder} TABLE --reviewed-by NAME"
    )


def _read_corrections(study: Study, table: RawTable, reviewer: str) -> None:
    if study.folder.parent == STUDIES_FOLDER:
        raise StudyError(
            "a built-in study cannot be changed",
            where=str(study.folder),
            remedy="Copy its folder, and give the copy",
        )
    if missing := [name for name in ("english", "correction") if name not in table.columns]:
        raise StudyError(
            f"the table lacks the column {missing[0]}",
            where=str(table.path),
            expected=f"the columns {', '.join(_COLUMNS)}, as `parallax study texts` wrote them",
        )
    messages = {" ".join(english.split()): english for english in _messages()}
    corrections, unknown = {}, []
    for row in table.rows:
        english = row.values.get("english", "").removeprefix("'")
        correction = row.values.get("correction", "").removeprefix("'")
        message = messages.get(" ".join(english.split()))
        if correction and message is None:
            unknown.append(f'"{english}" ({row.place})')
        elif correction and message:
            corrections[message] = correction
    if unknown:
        raise StudyError(
            f"{len(unknown)} corrected texts are not among the pages': "
            f"{', '.join(unknown[:_MOST_NAMED])}",
            where=str(table.path),
            expected="the column english as `parallax study texts` wrote it",
        )
    if not (corrections or reviewer):
        raise StudyError(
            "the table corrects nothing",
            where=str(table.path),
            expected="texts in the column correction, or --reviewed-by with the name of the native "
            "speaker to whom all texts are right",
        )
    path = study.folder / catalogue_name(study.study.language)
    _write_catalogue(study, path, corrections, reviewer)
    click.echo(f"{path}: {len(corrections)} texts corrected")


def _write_catalogue(study: Study, path: Path, corrections: dict[str, str], reviewer: str) -> None:
    """Merge corrections into the study's own catalogue.

    Raises:
        StudyError: A correction has other placeholders than its English; nothing is written.
    """
    catalogue = Catalog(
        header_comment="# The study's own buttons and messages.",
        project=study.name,
        last_translator=f"{_REVIEWED}{reviewer}"
        if reviewer
        else _own_catalogue(study).last_translator,
        fuzzy=False,
    )
    for english, text in {**own_messages(study), **corrections}.items():
        catalogue.add(english, text)
    written = io.BytesIO()
    write_po(written, catalogue, omit_header=False)
    text = written.getvalue().decode()
    read_messages(text, str(path))
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(path) as temporary:
        temporary.write_text(text, "utf-8", newline="\n")


def _own_catalogue(study: Study) -> Catalog:
    try:
        return read_po(io.BytesIO(study.read(catalogue_name(study.study.language)).encode()))
    except FileNotFoundError:
        return Catalog()


def _shown_texts(study: Study) -> dict[str, str]:
    """Return what pages show by English text; empty for a text that is in English."""
    own, catalogue = own_messages(study), _parallax_catalogue(study.study.language)
    return {
        english: own.get(english) or (str(found.string) if found else "")
        for english in _messages()
        for found in [catalogue.get(english)]
    }


def _messages() -> list[str]:
    return [str(message.id) for message in _parallax_catalogue(_COMPLETE) if message.id]


def _parallax_catalogue(language: str) -> Catalog:
    """Return Parallax's own translations; empty for English, and for languages without any."""
    path = CATALOGUES / language.partition("-")[0].lower() / "LC_MESSAGES" / "messages.po"
    if language.startswith(SOURCE_LANGUAGE) or not path.is_file():
        return Catalog()
    with path.open("rb") as file:
        return read_po(file)
