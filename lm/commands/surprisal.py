"""``parallax lm surprisal``: the surprisal of every word or region of a text."""

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import get_args

import click
from more_itertools import chunked
from tqdm import tqdm

from lm.errors import LmError, why_unread
from lm.model_folder import atomic_write
from lm.registry import Device, load_scorer
from lm.surprisal import NATS_PER_BIT, PLL, Piece, choose_pll, surprisals

_TEXTS_AT_A_TIME = 4_096
_UNITS = {"bits": NATS_PER_BIT, "nats": 1.0}
_TABLES = {".csv": ",", ".tsv": "\t"}
_ID_COLUMNS = ("text_id", "item_id", "id")
_PATH = click.Path(path_type=Path)


@click.command()
@click.argument("model")
@click.argument("texts", type=_PATH)
@click.option("--out", type=_PATH, required=True, help="The table to write (.csv or .tsv).")
@click.option("--unit", type=click.Choice(list(_UNITS)), default="bits", show_default=True)
@click.option(
    "--divider", help="The divider of regions.  [default: white space, which divides words]"
)
@click.option("--no-spaces", is_flag=True, help="Pieces are written without spaces between them.")
@click.option("--uncorrected", is_flag=True, help="Sum tokens without the correction for spaces.")
@click.option("--pll", type=click.Choice(get_args(PLL)), help="Masked models: what is hidden.")
@click.option("--device", type=click.Choice(get_args(Device)), default="auto", show_default=True)
def surprisal(
    model: str,
    texts: Path,
    out: Path,
    unit: str,
    divider: str | None,
    no_spaces: bool,
    uncorrected: bool,
    pll: str | None,
    device: Device,
) -> None:
    """Write the surprisal of every word of TEXTS under MODEL.

    TEXTS is a file with one text per line, or a table (.csv, .tsv) with the columns text_id (or
    item_id) and text.
    """
    if out.suffix not in _TABLES:
        raise LmError(f"{out} is not the name of a table. Give a name that ends in .csv or .tsv.")
    scorer = load_scorer(model, device)
    if pll is not None:
        choose_pll(scorer, pll)
    rows = list(_read(texts))
    shown = tqdm(rows, desc="Scoring", unit=" texts", disable=None)
    n_pieces = 0
    with atomic_write(out) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter=_TABLES[out.suffix], lineterminator="\n")
        columns = ("text_id", "position", "text", f"surprisal_{unit}", "n_tokens", "n_unknown")
        writer.writerow([*columns, "corrected"])
        for batch in chunked(shown, _TEXTS_AT_A_TIME):
            pieces = [_divided(text, divider) for _, text in batch]
            found = surprisals(scorer, pieces, spaces=not no_spaces, correct=not uncorrected)
            for (name, _), own in zip(batch, found, strict=True):
                writer.writerows(_lines(name, own, _UNITS[unit]))
                n_pieces += len(own)
    click.echo(f"{out}: {n_pieces:,} pieces of {len(rows):,} texts by {scorer.name}, in {unit}")


def _read(path: Path) -> Iterator[tuple[str, str]]:
    """Yield each text's id and the text; lines are identified by their number."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            if path.suffix not in _TABLES:
                lines = (line.strip() for line in file)
                yield from ((str(n), line) for n, line in enumerate(lines, start=1) if line)
                return
            table = csv.DictReader(file, delimiter=_TABLES[path.suffix])
            names = table.fieldnames or ()
            column = next((name for name in _ID_COLUMNS if name in names), None)
            if column is None or "text" not in names:
                raise LmError(
                    f"{path} has the columns {', '.join(names) or '(none)'}. Expected text and one "
                    f"of {', '.join(_ID_COLUMNS)}."
                )
            yield from ((row[column] or "", row["text"] or "") for row in table)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise LmError(
            f"cannot read the texts {path} ({why_unread(error, path)}). Give a file in UTF-8."
        ) from error


def _divided(text: str, divider: str | None) -> Sequence[str]:
    if divider is None:
        return text.split()
    return [" ".join(piece.split()) for piece in text.split(divider)]


def _lines(name: str, pieces: Sequence[Piece], nats: float) -> Iterator[list[object]]:
    for position, piece in enumerate(pieces, start=1):
        value = f"{piece.surprisal_nats / nats:.6f}"
        numbers = (value, piece.n_tokens, piece.n_unknown, str(piece.corrected).lower())
        yield [name, position, piece.text, *numbers]
