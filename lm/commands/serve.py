"""``parallax lm serve``."""

from pathlib import Path

import click

from lm.answering.answerer import Tier
from lm.answering.stand_in import Fault, ServedModel, StandIn
from lm.model_folder import model_identity
from lm.registry import HF_PREFIX, load_scorer


@click.command()
@click.argument("model")
@click.option("--port", default=8011, show_default=True, type=click.IntRange(0, 65535))
@click.option(
    "--tier",
    type=click.Choice([str(choice) for choice in Tier]),
    default=str(Tier.TEXT),
    show_default=True,
    help="What the server reports about probabilities.",
)
@click.option(
    "--fault",
    "faults",
    multiple=True,
    type=click.Choice([str(choice) for choice in Fault]),
    help="A fault that the server makes; repeat it for more.",
)
def serve(model: str, port: int, tier: str, faults: tuple[str, ...]) -> None:
    """Serve MODEL on this machine as an OpenAI-compatible server does, to try `parallax take`.

    It supports only a few kinds of answers (labels, yes and no), and is not meant for other uses.
    """
    scorer = load_scorer(model)
    name = Path(model.removeprefix(HF_PREFIX)).name
    planned = frozenset(map(Fault, faults))
    identity = model_identity(model)
    with StandIn(ServedModel(scorer), name, Tier(tier), planned, port, identity) as server:
        click.echo(f"api:{server.url}#{name}")
        server.serve_forever()
