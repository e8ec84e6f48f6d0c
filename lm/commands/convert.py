"""``parallax lm convert``: a published checkpoint as a model folder."""

from pathlib import Path

import click

from lm.published_checkpoint import convert as convert_checkpoint

_PATH = click.Path(path_type=Path)


@click.command()
@click.argument("checkpoint", type=_PATH)
@click.argument("vocabulary", type=_PATH)
@click.option("--out", type=_PATH, required=True, help="The model's folder.")
@click.option("--name", default="LSTM", show_default=True, help="What tables and figures call it.")
@click.option("--trained-on", default="90 million words of Wikipedia", show_default=True)
def convert(checkpoint: Path, vocabulary: Path, out: Path, name: str, trained_on: str) -> None:
    """Turn a CHECKPOINT of Gulordava et al. (2018) and its VOCABULARY into a model folder.

    Only its weights are read; the code that its pickle asks for is never run.
    """
    convert_checkpoint(checkpoint, vocabulary, out, name, trained_on)
    click.echo(f"{out}: {name}, converted from {checkpoint.name}")
