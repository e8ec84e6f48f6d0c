"""``parallax import judgments`` and ``parallax import undo``: other sources' judgments."""

import re
from collections.abc import Sequence
from pathlib import Path

import click
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.data.categorical import find_codes, take_values
from analysis.data.facts import ScoreFacts
from analysis.data.load import ExportedRun
from analysis.data.scales import write_ends
from analysis.errors import AnalysisError
from analysis.readers.colorless_green import UNIGRAM, Published, read_colorless_green
from analysis.readers.guess import guess_mapping
from analysis.readers.import_manifest import refuse_replacing, remove_import, write_import_record
from analysis.readers.judgments import (
    Imported,
    interpret_source,
    missing_items_error,
    read_known_items,
)
from analysis.readers.mapping import TableMap, read_mapping
from analysis.readers.plausibility import check_accuracy, check_key_assignment
from analysis.readers.rating_scale import RATING, RATING_SCALE
from analysis.readers.several_options import OPTIONS
from analysis.readers.single_answers import (
    NO_ANSWER,
    SAID_YES,
    TYPED,
    answer_column,
)
from analysis.readers.sources import Source, read_source
from analysis.tables.provenance import count_noun
from experiment.commands.headers import COLUMNS, SHEET
from experiment.materials.item_rows import item_row
from experiment.materials.read import materials_hash
from experiment.records import Item, Side, Variant
from experiment.tables.atomic_write import atomic_folder
from experiment.tables.files import write_table
from experiment.tables.schemas import ITEMS, SCORES
from experiment.version import code_version

JUDGMENTS, ITEM_TABLE, MAPPING, SCORE_FILE = (
    "judgments.csv", "items.csv", "mapping.toml", "scores_{}.parquet",
)  # fmt: skip
_SHOWN = 5
_FREQUENCIES = "the forms' frequencies that the table has (log of the count plus one)"
_PATH = click.Path(path_type=Path)
REPLACE = click.option(
    "--replace",
    is_flag=True,
    help="Replace an earlier import in the folder although its files were changed since.",
)


@click.command()
@click.argument("file", type=_PATH)
@click.option("--items", type=_PATH, help="The items that were judged, or their study.")
@click.option("--mapping", type=_PATH, help="What the columns mean (TOML), instead of guessing.")
@COLUMNS
@SHEET
@click.option("--out", required=True, type=_PATH, help="The folder to write to.")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation of the preview.")
@click.option(
    "--accept-low-accuracy",
    is_flag=True,
    help="Accept judgments whose accuracy is near chance or below.",
)
@click.option(
    "--unknown-participants",
    is_flag=True,
    help="Accept judgments although no column names the participants.",
)
@REPLACE
def judgments(
    file: Path,
    items: Path | None,
    mapping: Path | None,
    headers: list[str],
    sheet: str,
    out: Path,
    yes: bool,
    accept_low_accuracy: bool,
    unknown_participants: bool,
    replace: bool,
) -> None:
    """Read judgments from FILE, whichever program collected them.

    Without --mapping, the command guesses format and columns, shows them with the first
    judgments, and writes them if you agree. A mapping may also name ratings, yes and no, or typed
    answers to one sentence at a time.

    A published table of Gulordava et al. (2018) also gives its items and each model's scores.
    """
    stated = read_mapping(mapping)
    headers = headers or stated.headers
    source = read_source(file, headers, sheet)
    replaceable, earlier_import = refuse_replacing(out, replace=replace, using=mapping)
    if earlier_import:
        click.echo(earlier_import)
    if source.is_colorless_green:
        _write_published_table(source, read_colorless_green(source.table, file), out, replaceable)
        return
    if items is None:
        raise missing_items_error(file)
    known_items = read_known_items(items)
    is_guessed = mapping is None or _names_no_columns(stated, source)
    meaning = _guess(source, known_items, items, unknown_participants) if is_guessed else stated
    # A mapping without columns adds its rules to the guess.
    rules = {name: getattr(stated, name) for name in stated.model_fields_set if mapping}
    meaning = meaning.model_copy(update={**rules, "headers": headers})
    imported = interpret_source(source, meaning, known_items)
    run = imported.run
    click.echo(preview_import(source, meaning, imported))
    if not accept_low_accuracy:
        check_accuracy(run)
        check_key_assignment(run)
    if not yes and is_guessed:
        click.confirm("Write these judgments?", abort=True)
    with atomic_folder(out, replaceable) as folder:
        # Do not overwrite a hand-written mapping, since its comments would be lost.
        mapping_text = (
            meaning.to_toml().encode() if mapping is None or is_guessed else mapping.read_bytes()
        )
        (folder / MAPPING).write_bytes(mapping_text)
        make_judgments_table(run).to_csv(folder / JUDGMENTS, index=False, lineterminator="\n")
        write_import_record(folder, file, {"format": source.format, **imported.account.as_json()})
    _report_files(out, len(run.responses))


def _names_no_columns(stated: TableMap, source: Source) -> bool:
    """Return whether a mapping has rules alone, for a table whose headers are not Parallax's."""
    named = stated.columns or stated.item_from or stated.item_by_texts or stated.item_by
    return not named and not stated.wide and "item" not in source.table


def _guess(
    source: Source, known_items: Sequence[Item], items: Path, unknown_participants: bool
) -> TableMap:
    """Return the mapping that a source's columns suggest.

    Raises:
        AnalysisError: No column surely holds the items, the answers or the participants.
    """
    guess = guess_mapping(source, known_items)
    if guess.lacking:
        raise AnalysisError(
            f"the file, read as {source.format}, lacks {' and '.join(guess.lacking)}",
            where=str(source.path),
            expected=f"ids or texts of the items of {items}",
            remedy="Say with --mapping what the columns mean (docs/data_formats.md). They are "
            f"{', '.join(source.table.columns)}",
        )
    if "participant" in {*guess.mapping.columns, *source.table} or unknown_participants:
        return guess.mapping
    seeming = guess.unnamed_participants
    raise AnalysisError(
        f'the column "{seeming}" looks like participants, but nothing surely says that it names '
        "them"
        if seeming
        else "no column says who judged",
        where=str(source.path),
        expected="a header such as participant for the column that names the participants",
        remedy="Rename its header to participant, or write a mapping (docs/data_formats.md); if "
        "the participants are unknown, add --unknown-participants",
    )


def _report_files(out: Path, n_judgments: int) -> None:
    files = sorted(path.name for path in out.iterdir())
    remainder = f" and {len(files) - _SHOWN} more" if len(files) > _SHOWN else ""
    click.echo(f"{out}: {n_judgments:,} judgments; {', '.join(files[:_SHOWN])}{remainder}")


def _write_published_table(
    source: Source, published: Published, out: Path, replaceable: set[str]
) -> None:
    with atomic_folder(out, replaceable) as folder:
        write_published_scores(published, folder)
        # A table with model scores only has no judgments.
        if len(published.long):
            published.long.to_csv(folder / JUDGMENTS, index=False, lineterminator="\n")
        write_import_record(
            folder, source.path, {"format": source.format, "rows": len(source.table)}
        )
    _report_files(out, len(published.long))


def write_published_scores(published: Published, folder: Path) -> None:
    """Write the items of a published table, and each model's scores.

    Raises:
        TableError: A file cannot be written.
    """
    items, logprobs = published.items, published.logprobs
    write_table(ITEMS, map(item_row, items), folder / ITEM_TABLE)
    of_item = {item.item_id: item for item in items}
    for model in logprobs.columns.difference(["item", "variant"]):
        facts = ScoreFacts(
            model=model,
            trained_on=_FREQUENCIES if model == UNIGRAM else "a text that the table does not name",
            model_hash="",
            rendering="as published",
            study="",
            study_version="",
            materials_hash=materials_hash(items),
            code_version=code_version(),
        )
        form_scores = zip(logprobs["item"], logprobs["variant"], logprobs[model], strict=True)
        rows = (
            _score_row(of_item[item], variant, logprob) for item, variant, logprob in form_scores
        )
        name = re.sub(r"[^\w.-]", "_", model)
        path = folder / SCORE_FILE.format(name)
        write_table(SCORES, rows, path, facts.model_dump())


def _score_row(item: Item, variant: str, logprob_nats: float) -> dict[str, object]:
    """Return a score row for a form whose only scored part is the form itself."""
    return {
        "item_id": item.item_id,
        "construction": item.construction,
        "condition": item.condition,
        "contrast": item.contrast.value,
        "variant": variant,
        "logprob_nats": logprob_nats,
        "n_tokens": 1,
        "n_unknown": 0,
        "token_logprobs_nats": [logprob_nats],
        "token_unknown": [False],
        "difference_at": 0,
        "logprob_from_difference_nats": logprob_nats,
    }


_TRIALS_SHOWN = 5
_WIDEST, _TWO = 28, 2


def make_judgments_table(run: ExportedRun) -> pd.DataFrame:
    """Return a run's judgments in the long form, for writing and re-reading."""
    rows = run.responses
    codes = find_codes(rows["item_id"], pd.Index(run.items["item_id"]))
    contrast = take_values(run.items["contrast"], codes)
    good_first = run.trials["good_side"].to_numpy() == Side.FIRST.value
    person = rows["participant"]
    columns = {
        "participant": person,
        "item": rows["item_id"],
        "option_first": _versions_from_good(contrast, good_first),
        "chosen": _versions_from_good(
            contrast, rows["chose_good"].fillna(value=False).to_numpy(dtype=bool)
        ),
        "rt_ms": rows["rt_ms"].round(3),
        "list": person.map(run.participants.set_index("participant")["list"]),
        "kept": person.map(run.verdicts.set_index("participant")["kept"]),
    }
    if answer := answer_column(rows):
        for name in ("option_first", "chosen"):
            del columns[name]
        columns |= {"version": rows["version"], answer: rows[answer]}
        if run.rating_ends:
            columns |= {RATING_SCALE: write_ends(run.rating_ends)}
        if answer == TYPED:
            columns |= {NO_ANSWER: rows[NO_ANSWER]}
    if OPTIONS in run.trials:
        del columns["option_first"]
        columns |= {OPTIONS: run.trials[OPTIONS], "chosen": rows["version"]}
    table = pd.DataFrame(columns)
    if "option_first" in table and not (~good_first).any():
        # Judgments without sides are read as if all expected versions came first.
        table = table.drop(columns="option_first")
    if table["list"].nunique() < _TWO:
        table = table.drop(columns="list")
    # Omit columns that the source lacks.
    return table.dropna(axis=1, how="all")


def _versions_from_good(alternative: pd.Categorical, good: NDArray[np.bool_]) -> pd.Categorical:
    """Return the good version where True, else the alternative."""
    versions = pd.Index([Variant.GOOD.value, *alternative.categories])
    return pd.Categorical.from_codes(np.where(good, 0, alternative.codes + 1), versions)


def _summarise_answers(run: ExportedRun) -> str:
    """Return a summary of the answers, in words."""
    rows = run.responses
    if run.rating_ends:
        return (
            f"ratings on a scale from {write_ends(run.rating_ends)}; median "
            f"{rows[RATING].median():.4g}, mean {rows[RATING].mean():.4g}"
        )
    if answer_column(rows) == RATING:
        counts = rows[RATING].value_counts().sort_index()
        rating_counts = ", ".join(f"{point}: {n:,}" for point, n in counts.items())
        return f"ratings {rating_counts}; mean {rows[RATING].mean():.2f}"
    if answer_column(rows) == TYPED:
        return (
            f"{rows[TYPED].nunique():,} different texts were typed; {rows[NO_ANSWER].mean():.1%} "
            "of the times there was no answer"
        )
    if answer_column(rows):
        return f"yes was said to {rows[SAID_YES].mean():.1%}"
    summary = f"the expected version was chosen in {rows['chose_good'].mean():.1%}"
    if OPTIONS not in run.trials:
        return summary
    shares = rows["version"].value_counts(normalize=True).sort_index()
    shares = shares.sort_values(ascending=False, kind="stable")
    share_list = ", ".join(f"{version} {share:.1%}" for version, share in shares.items())
    return f"{summary} of choices among several options ({share_list})"


def preview_import(source: Source, mapping: TableMap, imported: Imported) -> str:
    """Return the format, the mapping, the first judgments and the accounting, as text."""
    run = imported.run
    table = make_judgments_table(run)
    people = int(run.responses["participant"].nunique())
    first_rows = (
        table.head(_TRIALS_SHOWN).astype(object).fillna("").map(lambda value: str(value)[:_WIDEST])
    )
    lines = [
        f"{source.path}: read as {source.format}, {count_noun(len(source.table), 'row')}.",
        "",
        "Mapping:",
        *(f"  {line}" if line else "" for line in mapping.to_toml().splitlines()),
        "",
        "The first judgments:",
        *(f"  {line}" for line in first_rows.to_string(index=False).splitlines()),
        "",
        f"{count_noun(len(table), 'judgment')} of "
        f"{count_noun(people, 'participant') if people else 'unknown participants'} on "
        f"{count_noun(run.responses['item_id'].nunique(), 'item')} of {len(run.items):,}; "
        f"{_summarise_answers(run)}.",
    ]
    times = run.responses["rt_ms"].dropna()
    if len(times):
        lines.append(f"Median reaction time: {times.median():,.0f} ms.")
    lines += ["", "Reconciliation:", *(f"  {line}" for line in imported.account.lines())]
    return "\n".join(lines)


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
def undo(folder: Path) -> None:
    """Remove the files of an import from FOLDER, and no others.

    It stops if one of the files was changed after the import.
    """
    click.echo(f"{folder}: removed {', '.join(remove_import(folder))}")
