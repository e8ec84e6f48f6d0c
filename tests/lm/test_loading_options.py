"""The options about weights reach a command as one form, in whatever order they are written."""

import click
import pytest
from click.testing import CliRunner

from lm.loading_options import loading_options
from lm.weights import Weights


@click.command()
@loading_options
def command(device: str, weights: Weights) -> None:
    click.echo(f"{device} {weights}")


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ([], Weights("float32", 0, "")),
        (["--dtype", "bfloat16", "--bits", "4", "--device-map", "auto"],
         Weights("bfloat16", 4, "auto")),
        (["--bits", "8", "--dtype", "float16"], Weights("float16", 8, "")),
    ],
)  # fmt: skip
def test_the_options_are_one_form_of_weights(options: list[str], expected: Weights):
    assert CliRunner().invoke(command, options).output == f"auto {expected}\n"
