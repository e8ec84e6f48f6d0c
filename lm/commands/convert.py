"""``parallax lm convert``: convert a published checkpoint to a model folder."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from lm.rnn.network import Kind

KINDS = ("lstm", "srn", "gru", "srn_relu")
_PATH = click.Path(path_type=Path)


@click.command()
@click.argument("checkpoint", type=_PATH)
@click.argument("vocabulary", type=_PATH)
@click.option("--out", type=_PATH, required=True, help="The model's folder.")
@click.option(
    "--name", default="LSTM", show_default=True, help="The model's name in tables and figures."
)
@click.option("--trained-on", default="90 million words of Wikipedia", show_default=True)
@click.option(
    "--kind", type=click.Choice(KINDS), help="The kind of network, if the file does not say it."
)
def convert(
    checkpoint: Path,
    vocabulary: Path,
    out: Path,
    name: str,
    trained_on: str,
    kind: "Kind | None",
) -> None:
    """Turn a published CHECKPOINT into a model folder.

    CHECKPOINT is a recurrent model as Gulordava et al. (2018) and PyTorch's example of a word
    language model save it, whole or as a dictionary of weights; VOCABULARY holds its words, one
    per line.

    Only weights are read; the code that a checkpoint asks for is never run.
    """
    # Imported only here, so that --help needs no library of an extra.
    from lm.rnn.published_checkpoint import convert as convert_checkpoint

    convert_checkpoint(checkpoint, vocabulary, out, name, trained_on, kind)
    click.echo(f"{out}: {name}, converted from {checkpoint.name}")
