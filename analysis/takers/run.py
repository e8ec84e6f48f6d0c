"""Run one take, from the request to its folders, with the model named in the command."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any, cast

from analysis.scores.scoring_inputs import choose_text_rendering
from analysis.takers.export import Taker, write_sessions
from analysis.takers.folder import (
    REPLIES,
    TakersFolder,
    has_begun,
    mark_complete,
    open_takers_folder,
    refuse_foreign_files,
)
from analysis.takers.plan import Factors, Plan, make_plan, refuse_tier
from analysis.takers.source import find_source
from analysis.takers.taking import Sitting, find_longest_questions, take_sessions
from experiment.materials.render import render
from experiment.studies.study import Study
from experiment.takers.session import Complete
from lm.answering.answerer import Answerer, LocalAnswerer, Question, Tier, reply_store
from lm.answering.labels import UNREADABLE
from lm.answering.messages import find_external_image, has_images
from lm.answering.server import ServerAnswerer
from lm.answering.spec import API_PREFIX, Terms, parse_server
from lm.completions import list_words, make_gap
from lm.errors import LmError
from lm.model_folder import model_identity
from lm.registry import Device, load_scorer
from lm.scorer import HasSubwords, Scorer
from lm.weights import DEFAULT_WEIGHTS, Weights

# How many of its most probable words a model chooses among in a gap.
_MOST_WORDS = 100


@dataclass(frozen=True, slots=True)
class AnsweringModel:
    """The answering model and its input format.

    Attributes:
        answerer: The model.
        to_model: Converts an item's plain words to the model's input.
        refuse_too_long: Raises an LmError if a question exceeds the model's context length.
        server: The server in front of the model; None for a model on this machine.
        complete: Completes texts with a gap; None for a server.
    """

    answerer: Answerer
    to_model: Callable[[str], str]
    refuse_too_long: Callable[[Iterable[Question]], None]
    server: ServerAnswerer | None = None
    complete: Complete | None = None


def load_answering_model(
    model: str,
    study: Study,
    device: Device,
    terms: Terms,
    how: Weights = DEFAULT_WEIGHTS,
    ledger: Path | None = None,
    *,
    chat: bool = False,
) -> AnsweringModel:
    """Return the model that ``--model`` names.

    Args:
        model: A folder, ``hf:`` and a path or name, or ``api:URL#MODEL``.
        study: The study, which defines the rendering of texts.
        device: The device for neural networks.
        terms: The terms of use of a server.
        how: The loading options of a local model.
        ledger: The file that records the costs of server calls.
        chat: Whether prompts are user messages in a chat.

    Raises:
        LmError: The model or server does not exist, or does not allow these terms.
        ParallaxError: The study names an unknown rendering.
    """
    if model.startswith(API_PREFIX):
        server = ServerAnswerer(parse_server(model), terms, ledger, chat=chat)
        people = render(study.materials.shown_to_people)
        # Only the server knows its maximum prompt length, and reports errors itself.
        return AnsweringModel(server, people, lambda _: None, server)
    scorer = load_scorer(model, device, how=how)
    sentence, write = _choose_renderings(scorer, study)
    identity = " ".join(filter(None, (model_identity(model), how.in_words)))
    answerer = (
        _make_chat_answerer(scorer, identity) if chat else LocalAnswerer(scorer, identity, write)
    )
    to_model = render(sentence)

    @cache
    def complete(before: str, after: str) -> tuple[str, str, tuple[str, ...]]:
        gap = make_gap(scorer, before, after, to_model)
        return gap.before, gap.after, tuple(list_words(scorer, gap, _MOST_WORDS))

    return AnsweringModel(answerer, to_model, answerer.refuse_too_long, complete=complete)


def _choose_renderings(scorer: Scorer, study: Study) -> tuple[str, Callable[[str], str]]:
    """Return the rendering of sentences for a model, and the function that formats prompts."""
    is_running = isinstance(scorer, HasSubwords)
    rendering = study.materials.shown_to_people if is_running else study.materials.given_to_models
    return rendering, choose_text_rendering(scorer)


def _make_chat_answerer(scorer: Scorer, identity: str) -> LocalAnswerer:
    if not hasattr(scorer, "score_rendered"):
        raise LmError(
            f"{scorer.name} has no chat template: only causal Hugging Face models have one. "
            "Leave --chat out."
        )
    # Only this library's models use chats, so only they need to load it.
    from lm.huggingface.chat import ChatAnswerer

    return ChatAnswerer(cast(Any, scorer), identity)


@dataclass(frozen=True, slots=True)
class Request:
    """A request for a take; see the options of ``parallax take``."""

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
    how: Weights = DEFAULT_WEIGHTS
    chat: bool = False


def run_take(request: Request, now: datetime) -> Iterator[str]:
    """Run the requested sessions, and yield progress reports as sentences.

    Args:
        request: The request.
        now: The time.

    Raises:
        ParallaxError: The request cannot be met; nothing is written then, except the cost of
            probing a server, in OUT.
        LmError: The model cannot be loaded, or cannot process a text.
    """
    source = find_source(request.study, request.seed)
    # Probing a server already costs money; the take's ledger includes it.
    refuse_foreign_files(request.out, request.readings)
    model = load_answering_model(
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
        complete=model.complete,
    )
    _refuse_vain_thinking(request, model)
    refuse_tier(plan, model.answerer.tier, request.model)
    _refuse_images(plan, model)
    for reading in plan.readings:
        model.refuse_too_long(question for _, question in find_longest_questions(plan, reading))
    if not has_begun(request.out):
        _refuse_low_cap(plan, model)
    key = {**plan.key(), "model": request.model, "model_identity": model.answerer.identity}
    with open_takers_folder(
        request.out, key, [plan_reading.name for plan_reading in plan.readings], now
    ) as folder:
        if folder.complete:
            yield f"{request.out} already holds this take"
            return
        yield from _run_readings(plan, model, folder)


def _run_readings(plan: Plan, model: AnsweringModel, folder: TakersFolder) -> Iterator[str]:
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
        server.resume()
    with reply_store(folder.replies) as store:
        for reading in plan.readings:
            sittings = take_sessions(
                plan, reading, lambda questions: store.answer_questions(answerer, questions)
            )
            write_sessions(plan, sittings, taker, folder.path / reading.name)
            yield _describe_sessions(sittings, folder.path / reading.name)
    facts: dict[str, object] = {"tier": str(answerer.tier), "model_name": answerer.name}
    if server:
        server.refuse_changed()
        facts |= {
            "tier_note": server.tier_note,
            "fingerprint": server.client.fingerprint,
            "spent": server.budget.spent,
        }
        if answerer.tier is Tier.SAMPLES:
            facts |= server.terms.of_samples
        yield f"{answerer.name} told {answerer.tier.in_words}; calls cost {server.budget.spent:.6g}"
    mark_complete(folder, facts)


def _refuse_vain_thinking(request: Request, model: AnsweringModel) -> None:
    """Raise an LmError if options about thinking would have no effect."""
    thinks = any(request.factors.thinking)
    if thinks and not request.chat:
        raise LmError("a model thinks before it answers in chats only. Add --chat to --thinking.")
    if request.terms.effort and not (thinks and model.server):
        raise LmError(
            f'the reasoning effort "{request.terms.effort}" is sent to servers that support '
            "reasoning. Add --chat and --thinking yes (or both), or leave --reasoning-effort out."
        )


def _refuse_images(plan: Plan, model: AnsweringModel) -> None:
    """Raise an LmError if prompts contain images that the model cannot receive."""
    prompts = [
        question.prompt
        for plan_reading in plan.readings
        for _, question in find_longest_questions(plan, plan_reading)
    ]
    prompt_with_image = next((prompt for prompt in prompts if has_images(prompt)), "")
    if not prompt_with_image:
        return
    if url := find_external_image(prompt_with_image):
        raise LmError(
            f'the instructions show the image "{url}", which is stored elsewhere, so it cannot be '
            "sent. Put its bytes into the text (![](data:image/png;base64,...)), or leave out the "
            "contexts that show the instructions."
        )
    if model.server is None or model.answerer.tier is not Tier.SAMPLES:
        raise LmError(
            f"the instructions show an image, and {model.answerer.name} reads text alone. "
            "Images go to servers that are asked as a chat (--model api:URL#MODEL --chat). Leave "
            "out the contexts and the reading that show the instructions, or ask such a server."
        )
    model.server.refuse_images()


def _refuse_low_cap(plan: Plan, model: AnsweringModel) -> None:
    """Raise an LmError if the worst-case cost, with each call made once, exceeds the cap."""
    server = model.server
    if server is None or server.budget.cap is None:
        return
    worst = server.budget.spent + sum(
        server.worst_cost(question) * len(sitting.session.trials)
        for reading in plan.readings
        for sitting, question in find_longest_questions(plan, reading)
    )
    if worst > server.budget.cap:
        raise LmError(
            f"all calls together can cost up to {worst:.6g}, and the cap is {server.budget.cap:g}. "
            "Give a higher --cap, or take fewer sessions, readings, labels or contexts."
        )


def _describe_sessions(sittings: list[Sitting], path: Path) -> str:
    answers = [answer for sitting in sittings for answer in sitting.read]
    unread = sum(answer.given is None for answer in answers)
    ties = sum(answer.outcome == "tie" for answer in answers)
    notes = [
        *([f"{unread:,} without a readable answer"] if unread else []),
        *([f"{ties:,} ties, drawn by the seed"] if ties else []),
    ]
    rules = Counter(
        rule for answer in answers for reply in answer.replies for rule in reply.read_by
    )
    if unreadable := {reason: rules[reason] for reason in UNREADABLE if rules[reason]}:
        kinds = ", ".join(f"{n:,} {reason}" for reason, n in unreadable.items())
        notes.append(f"{sum(unreadable.values()):,} of {rules.total():,} samples unread: {kinds}")
    note_text = f" ({'; '.join(notes)})" if notes else ""
    return f"{path}: {len(sittings):,} sittings of {len(answers):,} trials{note_text}"
