"""``parallax take``: a model takes the sessions of a study or of a run."""

import os
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar, get_args

import click

from analysis.takers.plan import Factors
from analysis.takers.run import Request, run_take
from experiment.takers.prompt import LABEL_SETS, Context
from lm.answering.spec import Terms
from lm.loading_options import loading_options
from lm.registry import Device
from lm.weights import DEFAULT_WEIGHTS, LongTexts, Weights

_DEFAULT_TERMS = Terms()
_Command = TypeVar("_Command", bound=Callable[..., Any])
_MODEL_OPTIONS = (
    click.option(
        "--long-texts",
        type=click.Choice(get_args(LongTexts)),
        default=DEFAULT_WEIGHTS.long_texts,
        show_default=True,
        help="For a Hugging Face model: what happens to texts longer than its window.",
    ),
    click.option(
        "--price-in", type=float, help="For a server: the price of a million prompt tokens."
    ),
    click.option(
        "--price-out", type=float, help="For a server: the price of a million answer tokens."
    ),
    click.option("--cap", type=float, help="For a server: what all calls together may cost."),
    click.option(
        "--samples",
        default=_DEFAULT_TERMS.samples,
        show_default=True,
        type=click.IntRange(1),
        help="For a server that gives no probabilities: how many answers to sample per prompt.",
    ),
    click.option(
        "--temperature",
        default=_DEFAULT_TERMS.temperature,
        show_default=True,
        help="The temperature of sampled answers.",
    ),
    click.option(
        "--max-tokens",
        default=_DEFAULT_TERMS.max_tokens,
        show_default=True,
        type=click.IntRange(1),
        help="How many tokens a sampled answer may have.",
    ),
    click.option(
        "--reasoning-effort",
        "effort",
        default="",
        metavar="WORD",
        help="For a server asked by --chat --thinking: how hard it thinks, such as low or high.",
    ),
    click.option(
        "--fingerprints",
        default=_DEFAULT_TERMS.fingerprints,
        show_default=True,
        type=click.Choice(["stop", "record"]),
        help="For a server: whether a changed fingerprint stops the command, or is only recorded.",
    ),
    click.option(
        "--concurrency",
        default=_DEFAULT_TERMS.concurrency,
        show_default=True,
        type=click.IntRange(1),
        help="How many calls to a server may run at once.",
    ),
    click.option(
        "--key-variable", default="", help="The environment variable that holds the server's key."
    ),
)


def model_options(command: _Command) -> _Command:
    """Add the options, in the order above, to a command."""
    for option in reversed(_MODEL_OPTIONS):
        command = option(command)
    return loading_options(command)


_PATH = click.Path(path_type=Path)
_THINKING = {"no": (False,), "yes": (True,), "both": (False, True)}
_ORDERS = {"both": (False, True), "listed": (False,), "swapped": (True,)}


@click.command()
@click.argument("study", metavar="STUDY_OR_RUN")
@click.option(
    "--model", required=True, help="A model's folder, hf: and a path or name, or api:URL#MODEL."
)
@click.option(
    "--reading",
    "readings",
    multiple=True,
    required=True,
    help="A way of asking; repeat it for more.",
)
@click.option(
    "--context",
    "contexts",
    multiple=True,
    type=click.Choice([str(context) for context in Context]),
    default=(str(Context.ZERO_SHOT),),
    show_default=True,
    help="What comes before each trial in a prompt; repeat it for more.",
)
@click.option(
    "--labels",
    multiple=True,
    type=click.Choice(list(LABEL_SETS)),
    default=tuple(LABEL_SETS),
    show_default=True,
    help="The labels of a prompt's answers; repeat it for more.",
)
@click.option(
    "--order",
    type=click.Choice(list(_ORDERS)),
    default="both",
    show_default=True,
    help="The order of a prompt's answers.",
)
@click.option(
    "--chat",
    is_flag=True,
    help="Ask as a chat: by the model's own template, or by a server's chat, which gives samples.",
)
@click.option(
    "--thinking",
    type=click.Choice(list(_THINKING)),
    default="no",
    show_default=True,
    help="In chats: whether the model may think before it answers.",
)
@click.option(
    "--thought-tokens",
    default=512,
    show_default=True,
    type=click.IntRange(1),
    help="How many tokens a thought may have.",
)
@click.option("--sessions", type=click.IntRange(1), help="How many sessions of the design to take.")
@click.option(
    "--participant",
    "participants",
    multiple=True,
    metavar="REF",
    help="Instead of --sessions: take the session of this person of the run; repeat it for more.",
)
@click.option(
    "--seed", type=click.IntRange(0), help="The seed of the lists.  [default: the run's, or 1]"
)
@click.option(
    "--sampled",
    is_flag=True,
    help="Draw each answer by its probability; else take the best one, the same in each session.",
)
@model_options
@click.option("--out", required=True, type=_PATH, help="The folder to write to.")
def take(
    study: str,
    model: str,
    readings: tuple[str, ...],
    contexts: tuple[str, ...],
    labels: tuple[str, ...],
    order: str,
    chat: bool,
    thinking: str,
    thought_tokens: int,
    sessions: int | None,
    participants: tuple[str, ...],
    seed: int | None,
    sampled: bool,
    device: Device,
    weights: Weights,
    long_texts: LongTexts,
    out: Path,
    key_variable: str,
    **terms: Any,  # noqa: ANN401 (click types them by the options above)
) -> None:
    """Let a model take the sessions of STUDY, or those that the people of an exported run had.

    OUT gets a folder for each reading, with the tables of an export. After an interruption, the
    same command continues.
    """
    if bool(sessions) == bool(participants):
        raise click.UsageError(
            "Give either --sessions with a number, or --participant with a reference of the run."
        )
    request = Request(
        study=study,
        model=model,
        readings=readings,
        factors=Factors(
            tuple(map(Context, contexts)),
            labels,
            _ORDERS[order],
            _THINKING[thinking],
            thought_tokens if thinking != "no" else 0,
        ),
        chat=chat,
        n_sessions=sessions or 0,
        seed=seed,
        sampled=sampled,
        device=device,
        out=out,
        participants=participants,
        how=replace(weights, long_texts=long_texts),
        terms=Terms(key=os.environ.get(key_variable, "") if key_variable else "", **terms),
    )
    for line in run_take(request, datetime.now(UTC)):
        click.echo(line)
