"""One take from its request to its folders, by the model that the command names."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, cast

from analysis.takers.export import write_sittings
from analysis.takers.folder import (
    REPLIES,
    TakersFolder,
    finish,
    has_begun,
    refuse_foreign_files,
    takers_folder,
)
from analysis.takers.plan import Factors, Plan, make_plan, refuse_tier
from analysis.takers.rows import Taker
from analysis.takers.source import find_source
from analysis.takers.taking import Sitting, longest_questions, take
from experiment.materials.render import render, split_lower_case_tokens, split_tokens
from experiment.studies.study import Study
from lm.answering.answerer import Answerer, LocalAnswerer, Question, Tier
from lm.answering.store import reply_store
from lm.errors import LmError
from lm.identity import model_identity
from lm.registry import Device, load_scorer
from lm.scorer import HasSubwords, Scorer
from lm.servers.answerer import ServerAnswerer
from lm.servers.images import elsewhere, has_images
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


@dataclass(frozen=True, slots=True)
class Request:
    """What somebody asks to be taken; see the options of ``parallax take``."""

    study: str
    model: str
    readings: tuple[str, ...]
    factors: Factors
    n_sessions: int
    seed: int | None
    sampled: bool
    device: Device
    out: Path
    terms: Terms = field(default_factory=Terms)
    participants: tuple[str, ...] = ()
    how: Weights = AS_USUAL
    chat: bool = False


def run_take(request: Request, now: datetime) -> Iterator[str]:
    """Take the sessions that a request asks for, and yield what was done, in sentences.

    Args:
        request: What is asked for.
        now: The time.

    Raises:
        ParallaxError: Something of the request cannot be done; nothing is written then but, in
            OUT, what the probe of a server cost.
        LmError: The model cannot be had, or cannot read a text.
    """
    source = find_source(request.study, request.seed)
    # The probe of a server costs something already, and is in the ledger of the take.
    refuse_foreign_files(request.out, request.readings)
    model = answering(
        request.model,
        source.study,
        request.device,
        request.terms,
        request.how,
        request.out / REPLIES,
        chat=request.chat,
    )
    plan = make_plan(
        source,
        request.readings,
        request.factors,
        request.n_sessions,
        model.to_model,
        sampled=request.sampled,
        participants=request.participants,
    )
    _refuse_vain_thinking(request, model)
    refuse_tier(plan, model.answerer.tier, request.model)
    _refuse_images(plan, model)
    for reading in plan.readings:
        model.refuse_too_long(one for _, one in longest_questions(plan, reading))
    if not has_begun(request.out):
        _refuse_low_cap(plan, model)
    key = {**plan.key(), "model": request.model, "model_identity": model.answerer.identity}
    with takers_folder(request.out, key, [each.name for each in plan.readings], now) as folder:
        if folder.complete:
            yield f"{request.out} already holds this take"
            return
        yield from _taken(plan, model, folder)


def _taken(plan: Plan, model: Answering, folder: TakersFolder) -> Iterator[str]:
    answerer = model.answerer
    taker = Taker(
        answerer.name,
        answerer.trained_on,
        answerer.identity,
        answerer.tier,
        folder.started_at,
    )
    server = model.server
    if server:
        server.go_on()
    with reply_store(folder.replies) as store:
        for reading in plan.readings:
            sittings = take(plan, reading, lambda asked: store.answered(answerer, asked))
            write_sittings(plan, sittings, taker, folder.path / reading.name)
            yield _said(sittings, folder.path / reading.name)
    facts: dict[str, object] = {"tier": str(answerer.tier), "model_name": answerer.name}
    if server:
        server.still_the_same()
        facts |= {
            "tier_note": server.tier_note,
            "fingerprint": server.client.fingerprint,
            "spent": server.budget.spent,
        }
        if answerer.tier is Tier.SAMPLES:
            facts |= server.terms.of_samples
        yield f"{answerer.name} told {answerer.tier.in_words}; calls cost {server.budget.spent:.6g}"
    finish(folder, facts)


def _refuse_vain_thinking(request: Request, model: Answering) -> None:
    """Raise an LmError if something is said of thoughts that nobody would think."""
    thinks = any(request.factors.thinking)
    if thinks and not request.chat:
        raise LmError("a model thinks before it answers in chats only. Add --chat to --thinking.")
    if request.terms.effort and not (thinks and model.server):
        raise LmError(
            f'the reasoning effort "{request.terms.effort}" is told to servers that may think. '
            "Add --chat and --thinking yes (or both), or leave --reasoning-effort out."
        )


def _refuse_images(plan: Plan, model: Answering) -> None:
    """Raise an LmError if prompts show images, and the model is not asked in a way that can."""
    asked = [one.prompt for each in plan.readings for _, one in longest_questions(plan, each)]
    shown = next((prompt for prompt in asked if has_images(prompt)), "")
    if not shown:
        return
    if url := elsewhere(shown):
        raise LmError(
            f'the instructions show the image "{url}", which lies elsewhere, so it cannot be sent. '
            "Put its bytes into the text (![](data:image/png;base64,...)), or leave out the "
            "contexts that show the instructions."
        )
    if model.server is None or model.answerer.tier is not Tier.SAMPLES:
        raise LmError(
            f"the instructions show an image, and {model.answerer.name} is asked by text alone. "
            "Images go to servers that are asked as a chat (--model api:URL#MODEL --chat). Leave "
            "out the contexts and the reading that show the instructions, or ask such a server."
        )
    model.server.refuse_images()


def _refuse_low_cap(plan: Plan, model: Answering) -> None:
    """Raise an LmError if the cap is passed in the worst case where each call is made once."""
    server = model.server
    if server is None or server.budget.cap is None:
        return
    worst = server.budget.spent + sum(
        server.worst(question) * len(sitting.session.trials)
        for reading in plan.readings
        for sitting, question in longest_questions(plan, reading)
    )
    if worst > server.budget.cap:
        raise LmError(
            f"all calls together can cost up to {worst:.6g}, and the cap is {server.budget.cap:g}. "
            "Give a higher --cap, or take fewer sessions, readings, labels or contexts."
        )


def _said(sittings: list[Sitting], path: Path) -> str:
    read = [one for sitting in sittings for one in sitting.read]
    unread = sum(one.given is None for one in read)
    ties = sum(one.outcome == "tie" for one in read)
    notes = [
        *([f"{unread:,} without a readable answer"] if unread else []),
        *([f"{ties:,} ties, drawn by the seed"] if ties else []),
    ]
    more = f" ({'; '.join(notes)})" if notes else ""
    return f"{path}: {len(sittings):,} sittings of {len(read):,} trials{more}"
