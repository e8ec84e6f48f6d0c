"""The options of commands that load a model: the device, and the form of its weights."""

from collections.abc import Callable
from typing import Any, TypeVar, get_args

import click

from lm.registry import Device
from lm.weights import DEFAULT_WEIGHTS, Dtype, Weights

_Command = TypeVar("_Command", bound=Callable[..., Any])


def _keep(context: click.Context, option: click.Parameter, value: str | None) -> None:
    """Keep the value of an option that is a part of the weights."""
    context.meta[f"{__name__}.{option.name}"] = value


def _combine(context: click.Context, _option: click.Parameter, dtype: Dtype) -> Weights:
    """Return the form of the weights: their type, and what the eager options have kept."""
    bits, device_map = (context.meta[f"{__name__}.{name}"] for name in ("bits", "device_map"))
    return Weights(dtype, int(bits or 0), device_map or "")  # type: ignore[arg-type]


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
        "weights",
        type=click.Choice(get_args(Dtype)),
        default=DEFAULT_WEIGHTS.dtype,
        show_default=True,
        callback=_combine,
        help="For a Hugging Face model: the type of its weights.",
    ),
    click.option(
        "--bits",
        type=click.Choice(["8", "4"]),
        is_eager=True,
        expose_value=False,
        callback=_keep,
        help="For a Hugging Face model on a CUDA device: quantise its weights.",
    ),
    click.option(
        "--device-map",
        default="",
        is_eager=True,
        expose_value=False,
        callback=_keep,
        help="For a Hugging Face model: spread its layers over devices (accelerate), e.g. auto.",
    ),
)


def loading_options(command: _Command) -> _Command:
    """Add the options to a command, which receives ``device`` and ``weights``."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command
