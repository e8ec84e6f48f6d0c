"""``parallax convert``: other people's judgments in Parallax's own tables."""

import re
from pathlib import Path

import click
import pandas as pd

from analysis.load import ScoreFacts
from analysis.readers.colorless_green import UNIGRAM, is_colorless_green, read_colorless_green
from analysis.readers.mapping import read_mapping, to_long
from analysis.readers.sources import read_source
from experiment.materials.identity import materials_hash
from experiment.materials.read import item_row
from experiment.records import Item
from experiment.schemas import ITEMS, SCORES
from experiment.tables import write_table
from experiment.version import code_version
from experiment.writing import replacing_folder

JUDGMENTS, ITEM_TABLE, _SCORES = "judgments.csv", "items.csv", "scores_{}.parquet"
_SHOWN = 5
_FREQUENCIES = "the forms' frequencies that the table has (log of the count plus one)"
_PATH = click.Path(path_type=Path)


@click.command()
@click.argument("judgments", type=_PATH)
@click.option("--mapping", type=_PATH, help="What the columns mean (TOML).")
@click.option("--out", required=True, type=_PATH, help="The folder to write.")
def convert(judgments: Path, mapping: Path | None, out: Path) -> None:
    """Write a table of JUDGMENTS in the long form that `parallax compare --judgments` reads.

    A published table of Gulordava et al. (2018) also gives its items and each model's scores; with
    models alone, no judgments are written.
    """
    table = read_source(judgments)
    own = {JUDGMENTS, ITEM_TABLE, *(path.name for path in out.glob(_SCORES.format("*")))}
    with replacing_folder(out, own) as folder:
        if is_colorless_green(table.columns):
            published = read_colorless_green(table, judgments)
            long = published.long
            write_table(ITEMS, map(item_row, published.items), folder / ITEM_TABLE)
            _write_scores(published.logprobs, published.items, folder)
        else:
            long = to_long(table, read_mapping(mapping), judgments)
        if len(long):
            long.to_csv(folder / JUDGMENTS, index=False, lineterminator="\n")
    files = sorted(path.name for path in out.iterdir())
    more = f" and {len(files) - _SHOWN} more" if len(files) > _SHOWN else ""
    click.echo(f"{out}: {len(long):,} judgments; {', '.join(files[:_SHOWN])}{more}")


def _write_scores(logprobs: pd.DataFrame, items: list[Item], folder: Path) -> None:
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
        path = folder / _SCORES.format(name)
        write_table(SCORES, rows, path, facts.model_dump())


def _score(item: Item, variant: str, logprob_nats: float) -> dict[str, object]:
    """Return the row of a form, of which the table scores nothing but the form itself."""
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
