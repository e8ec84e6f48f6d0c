"""Options of ``parallax take`` about the model, local or behind a server."""

from collections.abc import Callable
from typing import Any, TypeVar, get_args

import click

from lm.answering.spec import Terms
from lm.registry import Device
from lm.weights import AS_USUAL, Dtype, LongTexts

_TERMS = Terms()
_Command = TypeVar("_Command", bound=Callable[..., Any])
_OPTIONS = (
    click.option(
        "--device",
        type=click.Choice(get_args(Device)),
        default="auto",
        show_default=True,
        help="The device that networks compute on.",
    ),
    click.option(
        "--dtype",
        type=click.Choice(get_args(Dtype)),
        default=AS_USUAL.dtype,
        show_default=True,
        help="Of a Hugging Face model: what its weights are.",
    ),
    click.option(
        "--bits",
        type=click.Choice(["8", "4"]),
        help="Of a Hugging Face model on a CUDA device: quantise its weights.",
    ),
    click.option(
        "--device-map",
        default="",
        help="Of a Hugging Face model: spread its layers over devices (accelerate), e.g. auto.",
    ),
    click.option(
        "--long-texts",
        type=click.Choice(get_args(LongTexts)),
        default=AS_USUAL.long_texts,
        show_default=True,
        help="Of a Hugging Face model: what happens to texts longer than its window.",
    ),
    click.option(
        "--price-in", type=float, help="Of a server: the price of a million prompt tokens."
    ),
    click.option("--price-out", type=float, help="Of a server: that of a million answer tokens."),
    click.option("--cap", type=float, help="Of a server: what all calls together may cost."),
    click.option(
        "--samples",
        default=_TERMS.samples,
        show_default=True,
        type=click.IntRange(1),
        help="Of a server that tells no probabilities: answers to each prompt.",
    ),
    click.option(
        "--temperature", default=_TERMS.temperature, show_default=True, help="Of samples."
    ),
    click.option(
        "--max-tokens",
        default=_TERMS.max_tokens,
        show_default=True,
        type=click.IntRange(1),
        help="The longest sample.",
    ),
    click.option(
        "--reasoning-effort",
        "effort",
        default="",
        metavar="WORD",
        help="Of a server asked by --chat --thinking: how hard it thinks, such as low or high.",
    ),
    click.option(
        "--concurrency",
        default=_TERMS.concurrency,
        show_default=True,
        type=click.IntRange(1),
        help="Calls of a server under way at once.",
    ),
    click.option(
        "--key-variable", default="", help="The environment variable that holds the server's key."
    ),
)


def model_options(command: _Command) -> _Command:
    """Add the options, in the order above, to a command."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command
