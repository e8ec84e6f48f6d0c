"""``parallax lm perplexity`` and ``parallax lm surprisal``: how well a model predicts texts."""

import csv
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

import click
from more_itertools import chunked
from tqdm import tqdm

from lm.commands.train import show_progress
from lm.corpora.text import read_sentences
from lm.corpora.vocab import END
from lm.errors import LmError, why_unread
from lm.loading_options import loading_options
from lm.model_folder import atomic_write
from lm.registry import Device, load_scorer
from lm.scorer import Scorer
from lm.surprisal import NATS_PER_BIT, PLL, Piece, choose_pll, surprisals
from lm.weights import Weights

_SENTENCES_AT_A_TIME = 2048


@dataclass(frozen=True, slots=True)
class Perplexity:
    """A model's prediction of a text; each sentence, its end included, is scored separately.

    Attributes:
        logprob_nats: The sum of the counted tokens' log-probabilities.
        n_tokens: The number of counted tokens, ends of sentences included.
        n_unknown: The number of unknown tokens, counted or not.
        n_sentences: The number of sentences.
        with_unknown: Whether unknown tokens are counted. Gulordava et al. (2018) exclude them.
    """

    logprob_nats: float
    n_tokens: int
    n_unknown: int
    n_sentences: int
    with_unknown: bool

    @property
    def value(self) -> float:
        """The perplexity, exp(-logprob / tokens)."""
        return math.exp(-self.logprob_nats / self.n_tokens)


def measure_perplexity(
    scorer: Scorer, sentences: Iterable[Sequence[str]], with_unknown: bool = False
) -> Perplexity:
    """Return a model's perplexity on a text.

    In either case, unknown words are part of later words' contexts, as ``<unk>``.

    Raises:
        LmError: There is no token to count.
    """
    logprobs: list[float] = []
    n_all = n_unknown = n_sentences = 0
    for batch in chunked(sentences, _SENTENCES_AT_A_TIME):
        for scores in scorer.score([("", f"{' '.join(tokens)} {END}") for tokens in batch]):
            counted_logprobs = scores.logprobs_nats[
                slice(None) if with_unknown else ~scores.unknown
            ]
            logprobs.append(float(counted_logprobs.sum()))
            n_all += len(scores.tokens)
            n_unknown += int(scores.unknown.sum())
        n_sentences += len(batch)
    n_tokens = n_all if with_unknown else n_all - n_unknown
    if not n_tokens:
        raise LmError(
            "the text has no token to count: it is empty, or every word is unknown. Give "
            "another text."
        )
    return Perplexity(math.fsum(logprobs), n_tokens, n_unknown, n_sentences, with_unknown)


@click.command()
@click.argument("model")
@click.argument("text", type=click.Path(path_type=Path))
@click.option("--with-unknown", is_flag=True, help="Count unknown words too.")
def perplexity(model: str, text: Path, with_unknown: bool) -> None:
    """Print the perplexity of TEXT under MODEL.

    TEXT has one tokenised sentence per line.

    Words the model does not know are left out, as Gulordava et al. (2018) do.
    """
    scorer = load_scorer(model)
    result = measure_perplexity(
        scorer, show_progress(read_sentences(text), "Scoring"), with_unknown
    )
    treated = "counted" if with_unknown else "left out"
    click.echo(
        f"{scorer.name}: perplexity {result.value:.2f} on {text.name}: {result.n_tokens:,} tokens "
        f"with the ends of {result.n_sentences:,} sentences; {result.n_unknown:,} unknown words "
        f"{treated}; every sentence by itself"
    )


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
    "--divider",
    help="The text that separates regions.  [default: white space, which separates words]",
)
@click.option("--no-spaces", is_flag=True, help="Pieces are written without spaces between them.")
@click.option("--uncorrected", is_flag=True, help="Sum tokens without the correction for spaces.")
@click.option(
    "--pll", type=click.Choice(get_args(PLL)), help="For masked models: which tokens to mask."
)
@loading_options
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
    weights: Weights,
) -> None:
    """Write the surprisal of every word of TEXTS under MODEL.

    TEXTS is a file with one text per line, or a table (.csv, .tsv) with the columns text_id (or
    item_id) and text.
    """
    if out.suffix not in _TABLES:
        raise LmError(f"{out} is not the name of a table. Give a name that ends in .csv or .tsv.")
    scorer = load_scorer(model, device, how=weights)
    if pll is not None:
        choose_pll(scorer, pll)
    rows = list(_read(texts))
    progress = tqdm(rows, desc="Scoring", unit=" texts", disable=None)
    n_regions = 0
    with atomic_write(out) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter=_TABLES[out.suffix], lineterminator="\n")
        columns = ("text_id", "position", "text", f"surprisal_{unit}", "n_tokens", "n_unknown")
        writer.writerow([*columns, "corrected"])
        for batch in chunked(progress, _TEXTS_AT_A_TIME):
            regions = [_divide_text(text, divider) for _, text in batch]
            batch_regions = surprisals(
                scorer, regions, spaces=not no_spaces, correct=not uncorrected
            )
            for (name, _), text_pieces in zip(batch, batch_regions, strict=True):
                writer.writerows(_make_lines(name, text_pieces, _UNITS[unit]))
                n_regions += len(text_pieces)
    click.echo(f"{out}: {n_regions:,} pieces of {len(rows):,} texts by {scorer.name}, in {unit}")


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


def _divide_text(text: str, divider: str | None) -> Sequence[str]:
    if divider is None:
        return text.split()
    return [" ".join(region.split()) for region in text.split(divider)]


def _make_lines(name: str, regions: Sequence[Piece], nats: float) -> Iterator[list[object]]:
    for position, region in enumerate(regions, start=1):
        value = f"{region.surprisal_nats / nats:.6f}"
        numbers = (value, region.n_tokens, region.n_unknown, str(region.corrected).lower())
        yield [name, position, region.text, *numbers]
