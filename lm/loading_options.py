"""The options of commands that load a model: the device, and the form of its weights."""

import functools
import inspect
from collections.abc import Callable
from typing import Any, TypeVar, get_args

import click

from lm.registry import Device
from lm.weights import DEFAULT_WEIGHTS, Dtype, Weights

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
        default=DEFAULT_WEIGHTS.dtype,
        show_default=True,
        help="For a Hugging Face model: the type of its weights.",
    ),
    click.option(
        "--bits",
        type=click.Choice(["8", "4"]),
        help="For a Hugging Face model on a CUDA device: quantise its weights.",
    ),
    click.option(
        "--device-map",
        default="",
        help="For a Hugging Face model: spread its layers over devices (accelerate), e.g. auto.",
    ),
)


def loading_options(command: _Command) -> _Command:
    """Add the options to a command, which receives ``device`` and ``weights``."""

    @functools.wraps(command)
    def run(*, dtype: Dtype, bits: str | None, device_map: str, **options: Any) -> Any:  # noqa: ANN401
        quantised = {"8": 8, "4": 4}.get(bits or "", 0)
        weights = Weights(dtype, quantised, device_map)  # type: ignore[arg-type]
        return command(weights=weights, **options)

    signature = inspect.signature(command)
    kept = [p for name, p in signature.parameters.items() if name != "weights"]
    added = list(inspect.signature(run, follow_wrapped=False).parameters.values())[:-1]
    run.__signature__ = signature.replace(parameters=sorted([*kept, *added], key=lambda p: p.kind))  # type: ignore[attr-defined]
    for option in reversed(_OPTIONS):
        run = option(run)
    return run  # type: ignore[return-value]
