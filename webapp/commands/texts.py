"""``parallax study texts``: the pages' buttons and messages, as a table for a native speaker."""

import io
from pathlib import Path

import click
from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po, write_po

from experiment.errors import StudyError
from experiment.materials.formats.raw import RawTable, read_raw
from experiment.studies.files import catalogue_name, own_messages, read_messages
from experiment.studies.load import STUDIES_FOLDER, load_study
from experiment.studies.study import Study
from experiment.tables.atomic_write import atomic_write
from experiment.tables.files import safe_csv
from webapp.core.i18n import CATALOGUES, SOURCE_LANGUAGE

_COLUMNS = ("english", "shown", "correction")
# Every catalogue has all messages.
_COMPLETE = "it"
_UNREVIEWED = "Not reviewed"
_MOST_NAMED = 3


@click.command()
@click.argument("name_or_folder", metavar="STUDY")
@click.argument("table", required=False, type=click.Path(path_type=Path))
@click.option("--out", type=click.Path(path_type=Path), help="The table to write (.csv).")
def texts(name_or_folder: str, table: Path | None, out: Path | None) -> None:
    """Write the buttons and messages of STUDY's pages as a table, or read TABLE back.

    The table has the English of each text, what the pages show in the study's language, and an
    empty column for a correction. Send it to a native speaker. Reading it back writes the
    corrections into the study's own catalogue, which takes precedence over Parallax's.
    """
    if (table is None) == (out is None):
        raise click.UsageError("Give either --out, or the TABLE that a native speaker filled in.")
    study = load_study(name_or_folder)
    if out is not None:
        _write_table(study, out)
    elif table is not None:
        _read_corrections(study, read_raw(table, study.study.language))


def _write_table(study: Study, out: Path) -> None:
    if out.suffix != ".csv":
        raise StudyError("the table is a CSV", where=str(out), expected="a name ending in .csv")
    language, own = study.study.language, own_messages(study)
    catalogue = _parallax_catalogue(language)
    rows = []
    for english in _messages():
        translated = catalogue.get(english)
        shown = own.get(english) or (str(translated.string) if translated else "")
        rows.append((english, shown, ""))
    with atomic_write(out) as temporary:
        temporary.write_text(safe_csv(_COLUMNS, rows), "utf-8-sig")
    n_shown = sum(bool(shown) for _, shown, _ in rows)
    click.echo(
        f'{out}: {len(rows)} texts. In the language "{language}", {n_shown} are translated and '
        f"{len(rows) - n_shown} are in English."
    )
    if _UNREVIEWED in (catalogue.header_comment or ""):
        click.echo("Parallax's translations have not been reviewed by a native speaker.")
    click.echo(
        "Send the table to a native speaker, who writes better texts into the column correction "
        f"and keeps every {{name}} and %(name)s. Then: parallax study texts {study.folder} TABLE"
    )


def _read_corrections(study: Study, table: RawTable) -> None:
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
    if not corrections:
        raise StudyError(
            "the table corrects nothing",
            where=str(table.path),
            expected="texts in the column correction",
        )
    path = study.folder / catalogue_name(study.study.language)
    _write_catalogue(study, path, corrections)
    click.echo(f"{path}: {len(corrections)} texts corrected")


def _write_catalogue(study: Study, path: Path, corrections: dict[str, str]) -> None:
    """Merge corrections into the study's own catalogue.

    Raises:
        StudyError: A correction has other placeholders than its English; nothing is written.
    """
    catalogue = Catalog(
        header_comment="# The study's own buttons and messages.", project=study.name, fuzzy=False
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


def _messages() -> list[str]:
    return [str(message.id) for message in _parallax_catalogue(_COMPLETE) if message.id]


def _parallax_catalogue(language: str) -> Catalog:
    """Return Parallax's own translations; empty for English, and for languages without any."""
    path = CATALOGUES / language.partition("-")[0].lower() / "LC_MESSAGES" / "messages.po"
    if language.startswith(SOURCE_LANGUAGE) or not path.is_file():
        return Catalog()
    with path.open("rb") as file:
        return read_po(file)
