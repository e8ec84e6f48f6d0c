"""``parallax import judgments``: convert judgments of other sources to Parallax's tables."""

import re
from pathlib import Path

import click

from analysis.data.load import ScoreFacts
from analysis.errors import AnalysisError
from analysis.readers.colorless_green import UNIGRAM, Published, read_colorless_green
from analysis.readers.guess import guess_mapping
from analysis.readers.import_manifest import refuse_replacing, write_record
from analysis.readers.judgments import Imported, interpreted, lacking_items, read_known_items
from analysis.readers.mapping import Meaning, read_mapping
from analysis.readers.plausibility import check_accuracy, check_keys
from analysis.readers.preview import judgments_table, preview
from analysis.readers.sources import Source, read_source
from experiment.materials.read import item_row, materials_hash
from experiment.records import Item
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
@click.option("--items", type=_PATH, help="The items that were judged.")
@click.option("--mapping", type=_PATH, help="What the columns mean (TOML), instead of guessing.")
@click.option("--out", required=True, type=_PATH, help="The folder to write to.")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation of the preview.")
@click.option(
    "--accept-low-accuracy",
    is_flag=True,
    help="Accept judgments whose accuracy is near chance or below.",
)
@REPLACE
def judgments(
    file: Path,
    items: Path | None,
    mapping: Path | None,
    out: Path,
    yes: bool,
    accept_low_accuracy: bool,
    replace: bool,
) -> None:
    """Read judgments from FILE, whichever program collected them.

    Format and columns are guessed unless --mapping says what they mean, shown with the first
    judgments, and written when you agree. A mapping may also name ratings, or yes and no, to one
    sentence at a time.

    A published table of Gulordava et al. (2018) also gives its items and each model's scores.
    """
    source = read_source(file)
    own, earlier = refuse_replacing(out, replace=replace, using=mapping)
    if earlier:
        click.echo(earlier)
    if source.is_colorless_green:
        _write_published(source, read_colorless_green(source.table, file), out, own)
        return
    meaning, found = _understood(source, items, mapping)
    run = found.run
    click.echo(preview(source, meaning, found))
    if not accept_low_accuracy:
        check_accuracy(run)
        check_keys(run)
    if not (yes or mapping):
        click.confirm("Write these judgments?", abort=True)
    with atomic_folder(out, own) as folder:
        # Do not overwrite a hand-written mapping, since its comments would be lost.
        written = mapping.read_bytes() if mapping else meaning.to_toml().encode()
        (folder / MAPPING).write_bytes(written)
        judgments_table(run).to_csv(folder / JUDGMENTS, index=False, lineterminator="\n")
        write_record(folder, file, {"format": source.format, **found.account.as_json()})
    _say(out, len(run.responses))


def _understood(
    source: Source, items: Path | None, mapping: Path | None
) -> tuple[Meaning, Imported]:
    if items is None:
        raise lacking_items(source.path)
    known = read_known_items(items)
    if mapping is not None:
        meaning = read_mapping(mapping)
    else:
        guess = guess_mapping(source, known)
        if guess.lacking:
            raise AnalysisError(
                f"the file, read as {source.format}, lacks {' and '.join(guess.lacking)}",
                where=str(source.path),
                expected=f"ids or texts of the items of {items}",
                remedy="Say with --mapping what the columns mean (docs/data_formats.md). They are "
                f"{', '.join(source.table.columns)}",
            )
        meaning = guess.mapping
    return meaning, interpreted(source, meaning, known)


def _say(out: Path, n_judgments: int) -> None:
    files = sorted(path.name for path in out.iterdir())
    more = f" and {len(files) - _SHOWN} more" if len(files) > _SHOWN else ""
    click.echo(f"{out}: {n_judgments:,} judgments; {', '.join(files[:_SHOWN])}{more}")


def _write_published(source: Source, published: Published, out: Path, own: set[str]) -> None:
    with atomic_folder(out, own) as folder:
        write_published_scores(published, folder)
        # A table with model scores only has no judgments.
        if len(published.long):
            published.long.to_csv(folder / JUDGMENTS, index=False, lineterminator="\n")
        write_record(folder, source.path, {"format": source.format, "rows": len(source.table)})
    _say(out, len(published.long))


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
        found = zip(logprobs["item"], logprobs["variant"], logprobs[model], strict=True)
        rows = (_score(of_item[item], variant, logprob) for item, variant, logprob in found)
        name = re.sub(r"[^\w.-]", "_", model)
        path = folder / SCORE_FILE.format(name)
        write_table(SCORES, rows, path, facts.model_dump())


def _score(item: Item, variant: str, logprob_nats: float) -> dict[str, object]:
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
