"""The model that a command names, as whoever answers the questions of a session."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from experiment.materials.render import render, split_lower_case_tokens, split_tokens
from experiment.studies.study import Study
from lm.answering.answerer import Answerer, Question
from lm.answering.local import LocalAnswerer
from lm.errors import LmError
from lm.identity import model_identity
from lm.registry import Device, load_scorer
from lm.scorer import HasSubwords, Scorer
from lm.servers.answerer import ServerAnswerer
from lm.servers.spec import API_PREFIX, Terms, parse_server
from lm.weights import AS_USUAL, Weights


@dataclass(frozen=True, slots=True)
class Answering:
    """Who answers, and how it reads.

    Attributes:
        answerer: The model.
        to_model: From an item's plain words to a sentence as the model reads it.
        refuse_too_long: Raises an LmError if one of some questions is longer than the model reads.
        server: The server in front of the model; None for a model on this machine.
    """

    answerer: Answerer
    to_model: Callable[[str], str]
    refuse_too_long: Callable[[Iterable[Question]], None]
    server: ServerAnswerer | None = None


def answering(
    model: str,
    study: Study,
    device: Device,
    terms: Terms,
    how: Weights = AS_USUAL,
    ledger: Path | None = None,
    *,
    chat: bool = False,
) -> Answering:
    """Return the model that ``--model`` names.

    Args:
        model: A folder, ``hf:`` and a path or name, or ``api:URL#MODEL``.
        study: The study, which says how texts are given to models.
        device: Where a network computes.
        terms: On what terms a server is asked.
        how: In which form a model on this machine is loaded.
        ledger: The file that keeps what calls of a server cost.
        chat: Whether prompts are a person's turn in a chat.

    Raises:
        LmError: There is no such model or server, or it may not be asked on these terms.
        ParallaxError: The study names an unknown rendering.
    """
    if model.startswith(API_PREFIX):
        server = ServerAnswerer(parse_server(model), terms, ledger, chat=chat)
        people = render(study.materials.shown_to_people)
        # How long a prompt may be, only the server knows, and says.
        return Answering(server, people, lambda _: None, server)
    scorer = load_scorer(model, device, how=how)
    sentence, write = _renderings(scorer, study)
    identity = " ".join(filter(None, (model_identity(model), how.in_words)))
    answerer = _chatting(scorer, identity) if chat else LocalAnswerer(scorer, identity, write)
    return Answering(answerer, render(sentence), answerer.refuse_too_long)


def _renderings(scorer: Scorer, study: Study) -> tuple[str, Callable[[str], str]]:
    """Return how sentences are rendered for a model, and how prompts are written for it."""
    if isinstance(scorer, HasSubwords):
        return study.materials.shown_to_people, lambda text: text
    cased = getattr(scorer, "cased", False)
    return study.materials.given_to_models, split_tokens if cased else split_lower_case_tokens


def _chatting(scorer: Scorer, identity: str) -> LocalAnswerer:
    if not hasattr(scorer, "score_rendered"):
        raise LmError(
            f"{scorer.name} has no chat template: it is no causal Hugging Face model. Leave --chat "
            "out."
        )
    # Only models of that library are asked as chats, so only they load it.
    from lm.answering.chat import ChatAnswerer

    return ChatAnswerer(cast(Any, scorer), identity)
