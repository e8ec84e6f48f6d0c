"""``parallax lm perplexity``: how well a model predicts a text."""

from pathlib import Path

import click

from lm.commands.request import shown
from lm.corpora.text import read_sentences
from lm.perplexity import perplexity as measure
from lm.registry import load_scorer


@click.command()
@click.argument("model")
@click.argument("text", type=click.Path(path_type=Path))
@click.option("--with-unknown", is_flag=True, help="Count unknown words too.")
def perplexity(model: str, text: Path, with_unknown: bool) -> None:
    """Print the perplexity of TEXT under MODEL.

    TEXT holds one tokenised sentence per line.

    Words the model does not know are left out, as Gulordava et al. (2018) do.
    """
    scorer = load_scorer(model)
    found = measure(scorer, shown(read_sentences(text), "Scoring"), with_unknown)
    treated = "counted" if with_unknown else "left out"
    click.echo(
        f"{scorer.name}: perplexity {found.value:.2f} on {text.name}: {found.n_tokens:,} tokens "
        f"with the ends of {found.n_sentences:,} sentences; {found.n_unknown:,} unknown words "
        f"{treated}; every sentence by itself"
    )
