"""``parallax lm tag``: how often a multi-task model predicts the right supertag."""

from pathlib import Path

import click

_PATH = click.Path(path_type=Path)


@click.command()
@click.argument("model", type=_PATH)
@click.argument("tagged", type=_PATH)
def tag(model: Path, tagged: Path) -> None:
    """Print how many words get the right supertag from MODEL.

    TAGGED holds a word, a tab and its tag per line, and a blank line between sentences.
    """
    # Imported only here, so that --help needs no library of an extra.
    from lm.corpora.tagged_text import read_tagged
    from lm.rnn.folder import load_network
    from lm.rnn.supertags import tag_accuracy

    trained = load_network(model)
    result = tag_accuracy(trained, read_tagged(tagged))
    click.echo(
        f"{trained.name}: {result.correct / result.total:.2%} of {result.total:,} supertags right "
        f"in {tagged.name} ({result.unseen:,} words have a tag that training never saw)"
    )
