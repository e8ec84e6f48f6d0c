"""Replies with planted faults: what a server sends, and what a question must come to."""

import copy
import json
import random
from collections.abc import Callable, Iterator
from math import exp, log
from typing import Any, NamedTuple

import httpx

from lm.answering.answerer import Question, Tier
from lm.answering.server import ServerAnswerer
from lm.answering.spec import ServerModel, Terms
from tests.patience import PATIENCE_S

LABELS = ("A", "B")
WORDS = ("the", "author", "naïve", "laughs", "that", "guards", "like", "日本", "laugh", "café")
TERMS = Terms(price_in=0.0, price_out=0.0, samples=2)
# The first attempt, and three more after unusable replies.
MOST_UNUSABLE = 3

Fault = Callable[[dict[str, Any], random.Random], object]


def _choice(reply: dict[str, Any]) -> dict[str, Any]:
    return reply["choices"][0]


def _set(path: str, value: object) -> Fault:
    """Return a fault that puts a value at a path, such as ``choices.0.logprobs``."""

    def plant(reply: dict[str, Any], _: random.Random) -> object:
        *parents, last = [int(key) if key.isdigit() else key for key in path.split(".")]
        target: Any = reply
        for key in parents:
            target = target[key]
        target[last] = value
        return reply

    return plant


def _some_logprob(value: object) -> Fault:
    """Return a fault that replaces one log-probability that is used."""

    def plant(reply: dict[str, Any], rng: random.Random) -> object:
        logprobs = _choice(reply)["logprobs"]
        if "top_logprobs" in logprobs:
            alternatives = logprobs["top_logprobs"][0]
            alternatives[rng.choice(list(alternatives))] = value
        else:
            # The last value is of the token that the model wrote itself. The first word may have
            # none, with or without a token before it.
            first = 2 if value is None else 1
            place = rng.randrange(first, len(logprobs["token_logprobs"]) - 1)
            logprobs["token_logprobs"][place] = value
        return reply

    return plant


def _other_text(reply: dict[str, Any], rng: random.Random) -> object:
    tokens = _choice(reply)["logprobs"]["tokens"]
    tokens[rng.randrange(len(tokens) - 1)] = " zebra"
    return reply


# Faults of any reply; each makes it unusable.
ANYWHERE: tuple[Fault, ...] = (
    lambda _reply, _rng: {"error": {"message": "overloaded"}},
    lambda _reply, _rng: {"error": "overloaded", "choices": []},
    lambda _reply, _rng: {"detail": "not ready"},
    lambda reply, _: {**reply, "error": {"code": 502}},
    _set("choices", []),
    _set("choices", None),
    _set("choices", [None]),
    _set("choices", "A"),
    _set("choices.0.finish_reason", "error"),
    _set("choices.0.error", {"code": 502}),
    _set("model", 7),
)
OF_LOGPROBS: tuple[Fault, ...] = (
    _set("choices.0.logprobs", None),
    _set("choices.0.logprobs", {}),
    _set("choices.0.logprobs", []),
    _some_logprob(None),
    _some_logprob("-1.5"),
    _some_logprob(3.0),
    _some_logprob(float("nan")),
    _some_logprob(float("-inf")),
    _some_logprob([-1.0]),
)
OF_TIER: dict[Tier, tuple[Fault, ...]] = {
    Tier.TEXT: (
        *OF_LOGPROBS,
        _other_text,
        _set("choices.0.logprobs.tokens", None),
        _set("choices.0.logprobs.token_logprobs", [-1.0]),
    ),
    Tier.NEXT: (
        *OF_LOGPROBS,
        _set("choices.0.logprobs.top_logprobs", [None]),
        _set("choices.0.logprobs.top_logprobs", [{}]),
        _set("choices.0.logprobs.top_logprobs", [{" A": -0.1, " B": -0.1, " C": -0.2}]),
    ),
    Tier.SAMPLES: (
        _set("choices.0.message", None),
        _set("choices.0.message", "A"),
        _set("choices.0.message.content", None),
        _set("choices.0.message.content", 7),
        _set("choices.0.message.content", [{"type": "text", "text": None}]),
    ),
}
# Oddities that change nothing.
HARMLESS: tuple[Fault, ...] = (
    lambda reply, _: reply,
    _set("usage", None),
    _set("usage", {"prompt_tokens": None, "completion_tokens": "3"}),
    _set("usage", [3, 4]),
    _set("error", None),
    _set("choices.0.extra", {"x": [None]}),
)


class Case(NamedTuple):
    """A question, the replies to each of its calls, and its truth.

    Attributes:
        tier: The tier.
        question: The question.
        attempts: For each call, the attempts in order, each as status and body.
        truth: The log-probabilities; None if the take must stop.
    """

    tier: Tier
    question: Question
    attempts: list[list[tuple[int, str]]]
    truth: tuple[float | None, ...] | None


def _echo(text: str, rng: random.Random) -> tuple[dict[str, Any], list[float]]:
    """Return an echo of a text in one of the ways in which servers decode tokens."""
    words = text.split(" ")
    way = rng.choice(["plain", "bos", "bare", "marked"])
    tokens = [(" " if place else "") + word for place, word in enumerate(words)]
    values = [-rng.uniform(0.1, 9) for _ in words]
    sent: list[float | None] = [*values]
    if way == "bare":
        tokens = words[:]
    elif way == "marked":
        tokens = ["\u2581" + word for word in words]
    if way == "bos":
        tokens, sent = ["<s>", *tokens], [None, *sent]
    else:
        sent[0] = None
    logprobs = {"tokens": [*tokens, " the"], "token_logprobs": [*sent, -0.5]}
    return {"model": "toy", "choices": [{"text": text, "logprobs": logprobs}]}, values


def _sound(tier: Tier, prompt: str, rng: random.Random) -> tuple[list[dict[str, Any]], tuple]:
    """Return the sound reply to each call of a question, and the question's truth."""
    if tier is Tier.TEXT:
        echoes = [_echo(f"{prompt} {label}", rng) for label in LABELS]
        return [reply for reply, _ in echoes], tuple(values[-1] for _, values in echoes)
    if tier is Tier.NEXT:
        shares = [rng.uniform(0.01, 0.3) for _ in range(3)]
        alternatives = dict(zip((" A", " B", "A"), map(log, shares), strict=True))
        logprobs = {"tokens": [" A"], "token_logprobs": [-1.0], "top_logprobs": [alternatives]}
        truth = (log(shares[0] + shares[2]), log(shares[1]))
        return [{"model": "toy", "choices": [{"text": " A", "logprobs": logprobs}]}], truth
    answers = [rng.choice(["A", "B", "both"]) for _ in range(TERMS.samples)]
    replies = [_chat(text, rng) for text in answers]
    n = [answers.count(label) for label in LABELS]
    return replies, tuple(log(count / TERMS.samples) if count else None for count in n)


def _chat(text: str, rng: random.Random) -> dict[str, Any]:
    content = text if rng.random() < 0.7 else [{"type": "text", "text": text}]
    message = {"role": "assistant", "content": content}
    return {"model": "toy", "choices": [{"message": message, "finish_reason": "stop"}]}


def make_case(rng: random.Random) -> Case:
    """Return a question whose calls are answered with planted faults."""
    tier = rng.choice(list(Tier))
    prompt = " ".join(rng.choices(WORDS, k=rng.randint(3, 8)))
    replies, truth = _sound(tier, prompt, rng)
    attempts, stops = [], False
    for reply in replies:
        n_unusable = rng.choices([0, 1, 2, 3, 4, 9], [8, 4, 2, 1, 1, 1])[0]
        planted = [
            (200, json.dumps(_plant(tier, reply, rng)))
            for _ in range(min(n_unusable, MOST_UNUSABLE + 1))
        ]
        # What passes: overload, and a body that was cut off.
        passing = [(503, "busy"), (429, "{}"), (200, '{"choices": [')]
        for _ in range(rng.choice([0, 0, 1, 2])):
            planted.insert(rng.randint(0, len(planted)), rng.choice(passing))
        sound = rng.choice(HARMLESS)(copy.deepcopy(reply), rng)
        attempts.append([*planted, (200, json.dumps(sound))])
        if n_unusable > MOST_UNUSABLE:
            stops = True
            break
    return Case(tier, Question(prompt, LABELS, seed=1), attempts, None if stops else truth)


def _plant(tier: Tier, reply: dict[str, Any], rng: random.Random) -> object:
    return rng.choice((*ANYWHERE, *OF_TIER[tier]))(copy.deepcopy(reply), rng)


def answerer_of(case: Case) -> ServerAnswerer:
    """Return the answerer of a server that sends a case's replies; its probe is left out."""

    class Probed(ServerAnswerer):
        def _find_own_tier(self) -> tuple[Tier, str]:
            return case.tier, ""

    waiting = _in_order(case.attempts)
    answerer = Probed(ServerModel("http://server/v1", "toy"), TERMS)

    def send(_: httpx.Request) -> httpx.Response:
        status, body = next(waiting)
        return httpx.Response(status, text=body)

    answerer.client._http = httpx.Client(transport=httpx.MockTransport(send), timeout=PATIENCE_S)
    answerer.client._wait = lambda _: None
    return answerer


def _in_order(attempts: list[list[tuple[int, str]]]) -> Iterator[tuple[int, str]]:
    for call in attempts:
        yield from call


def is_close(found: tuple[float | None, ...], truth: tuple[float | None, ...]) -> bool:
    """Return whether two questions' values are equal but for rounding."""
    return all(
        (a is None) == (b is None) and (a is None or abs(exp(a) - exp(b or 0)) < 1e-9)
        for a, b in zip(found, truth, strict=True)
    )
