"""A model on a server as an ``Answerer``, in the tier that a probe determines."""

import hashlib
import secrets
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from math import exp, log
from pathlib import Path

from lm.answering.answerer import Question, Reply, Tier, read_samples
from lm.answering.budget import Budget
from lm.answering.client import Client, ReplyCheck
from lm.answering.messages import (
    PIXEL,
    Thought,
    build_content,
    find_thought,
    thinking_parameters,
    total_thinking_tokens,
)
from lm.answering.replies import (
    NoReplyError,
    ServerReply,
    UnusableReplyError,
    align_echoed_tokens,
    find_alternatives,
    find_written_text,
)
from lm.answering.spec import ServerModel, Terms
from lm.errors import LmError

_TOP_N = 20


class ServerAnswerer:
    """A server that answers questions.

    Attributes:
        tier: How much the server reports about its answers (from text alone to log-probabilities),
            as found by test calls.
        tier_note: The reason why the tier is not higher; empty for the highest tier.
        budget: The costs of calls.
        terms: The prices and settings of calls.

    Args:
        server: The server and its model.
        terms: The prices and settings of calls.
        ledger: The file that stores the costs of calls, the probe's included; None: in memory.
        chat: Whether to use chats, which give only samples and no probabilities.

    Raises:
        LmError: The server does not answer, a price is unknown, or the cap is reached.
    """

    def __init__(
        self, server: ServerModel, terms: Terms, ledger: Path | None = None, *, chat: bool = False
    ) -> None:
        self._server, self.terms, self._as_chat = server, terms, chat
        self.budget = Budget(terms, ledger)
        self.client = Client(server, self.budget, terms.key, varying=terms.fingerprints == "record")
        self.tier, self.tier_note = self._find_own_tier()
        self.workers = terms.concurrency

    @property
    def name(self) -> str:
        """The model's name on the server."""
        return self._server.model

    @property
    def trained_on(self) -> str:
        """The words "unknown text" and the model's name: servers do not report training texts."""
        return f"unknown text (model {self._server.model} of a server)"

    @property
    def identity(self) -> str:
        """A hash of the server, the model, its fingerprint, and the settings of samples."""
        model_parts = (self._server.url, self._server.model, self.client.fingerprint, self.tier)
        terms = self.terms
        # An empty effort is omitted, so that runs from before this setting can be resumed.
        effort = (terms.effort,) if terms.effort else ()
        drawn = (terms.temperature, terms.samples, terms.max_tokens, *effort)
        parts = (*model_parts, *(drawn if self.tier is Tier.SAMPLES else ()))
        return hashlib.sha256("\n".join(map(str, parts)).encode()).hexdigest()

    def reply(self, questions: Sequence[Question]) -> list[Reply]:
        """Return one reply per question.

        Raises:
            LmError: The server fails, or the cap is reached.
        """
        reply_by_tier = {
            Tier.TEXT: self._answer_by_text,
            Tier.NEXT: self._answer_by_next_token,
            Tier.SAMPLES: self._answer_by_samples,
        }
        try:
            return [reply_by_tier[self.tier](question) for question in questions]
        except UnusableReplyError:
            # With the same idempotency key, the server would repeat the same unusable answer.
            self.budget.forget_take()
            raise

    def resume(self) -> None:
        """Reuse the idempotency keys of the interrupted command that started this run, if any.

        Raises:
            LmError: The ledger cannot be used.
        """
        self.client.take = self.budget.take(self.client.take)

    def worst_cost(self, question: Question) -> float:
        """Return the highest possible cost of a question."""
        prompt, answers = question.prompt, question.answers
        if self.tier is Tier.TEXT:
            return sum(self.budget.worst_cost(f"{prompt} {answer}", 1) for answer in answers)
        if self.tier is Tier.NEXT:
            return self.budget.worst_cost(prompt, 1)
        most_tokens = self.terms.max_tokens + question.thinking
        return self.terms.samples * self.budget.worst_cost(prompt, most_tokens)

    def _find_own_tier(self) -> tuple[Tier, str]:
        return find_tier(self._probe, chat=self._as_chat)

    def _answer_by_text(self, question: Question) -> Reply:
        logprobs, first_tokens = list[float | None](), set[str]()
        fingerprints = list[str]()
        for answer in question.answers:
            prompt = question.prompt.rstrip()
            text = f"{prompt} {answer}" if prompt else answer
            check = partial(align_echoed_tokens, text=text)
            reply = self._complete(text, check, max_tokens=1, echo=True, logprobs=1)
            tokens = check(reply)
            fingerprints.append(reply.fingerprint)
            answer_tokens = [(start, logprob) for start, logprob in tokens if start >= len(prompt)]
            crosses = bool(prompt) and (not answer_tokens or answer_tokens[0][0] > len(prompt) + 1)
            ends = [start for start, _ in tokens[1:]] + [len(text)]
            if answer_tokens and answer_tokens[0][1] is None:
                first_tokens.add(text[: ends[0]])
            logprobs.append(
                None if crosses else sum(logprob or 0.0 for _, logprob in answer_tokens)
            )
        # A server that adds no token before a text cannot report the probability of its first
        # token. Equal first tokens cancel.
        if len(first_tokens) > 1:
            logprobs = [None] * len(logprobs)
        return Reply(tuple(logprobs), fingerprints=tuple(fingerprints))

    def _answer_by_next_token(self, question: Question) -> Reply:
        reply = self._complete(question.prompt, find_alternatives, max_tokens=1, logprobs=_TOP_N)
        shares = Counter[str]()
        for token, logprob in find_alternatives(reply).items():
            shares[token.strip()] += exp(logprob)  # type: ignore[assignment]
        logprobs = [
            min(log(shares[text]), 0.0) if shares[text] > 0 else None for text in question.answers
        ]
        return Reply(tuple(logprobs), fingerprints=(reply.fingerprint,))

    def _answer_by_samples(self, question: Question) -> Reply:
        first = question.seed % 2**31
        texts, cut, thoughts = list[str](), list[bool](), list[Thought]()
        fingerprints = list[str]()
        for number in range(self.terms.samples):
            reply = self._chat(question, seed=(first + number) % 2**31)
            texts.append(find_written_text(reply))
            cut.append(reply.cut)
            fingerprints.append(reply.fingerprint)
            thoughts.append(find_thought(reply))
        logprobs, read_by = read_samples(question, texts, cut)
        return Reply(
            logprobs,
            tuple(texts),
            read_by,
            thoughts=tuple(thought.text for thought in thoughts) if question.thinking else (),
            n_hidden=total_thinking_tokens(thoughts),
            fingerprints=tuple(fingerprints),
            seed=first,
        )

    def _complete(
        self, prompt: str, check: ReplyCheck, *, max_tokens: int, **body: object
    ) -> ServerReply:
        parameters: dict[str, object] = {"temperature": 0, **body}
        parameters |= {"prompt": prompt, "max_tokens": max_tokens}
        return self._post_paid("completions", prompt, max_tokens, check, **parameters)

    def _chat(self, question: Question, *, seed: int) -> ServerReply:
        terms, most_tokens = self.terms, self.terms.max_tokens + question.thinking
        body: dict[str, object] = {"max_tokens": most_tokens}
        if self._as_chat:
            body = thinking_parameters(most_tokens, terms.effort, allowed=bool(question.thinking))
        messages = [{"role": "user", "content": build_content(question.prompt)}]
        body |= {"messages": messages, "temperature": terms.temperature, "seed": seed}
        return self._post_paid(
            "chat/completions", question.prompt, most_tokens, find_written_text, **body
        )

    def _probe(self, path: str, check: ReplyCheck, **body: object) -> ServerReply:
        most_tokens = body.pop("max_tokens")
        limit_name = "max_completion_tokens" if self.terms.effort else "max_tokens"
        return self._post_paid(
            path, str(body), int(str(most_tokens)), check, **{limit_name: most_tokens}, **body
        )

    def _post_paid(
        self,
        path: str,
        prompt: str,
        most: int,
        check: ReplyCheck = lambda _: None,
        /,
        **body: object,
    ) -> ServerReply:
        return self.client.post(path, self.budget.worst_cost(prompt, most), check, **body)

    def refuse_images(self) -> None:
        """Raise an LmError if the server accepts no images in chats."""
        prompt = f"{PIXEL} Which color is this?"
        messages = [{"role": "user", "content": build_content(prompt)}]
        limit_name = "max_completion_tokens" if self.terms.effort else "max_tokens"
        try:
            self._post_paid("chat/completions", prompt, 1, messages=messages, **{limit_name: 1})
        except LmError as error:
            raise LmError(
                f"{self._server.url} was given an image and gave no answer ({error}). The study's "
                "instructions show one. Name a server whose model reads images, or leave out the "
                "contexts that show the instructions."
            ) from error

    def refuse_changed(self) -> None:
        """Raise an LmError if the server's model or tier has changed."""
        tier, note = find_tier(self._probe, chat=self._as_chat, expected=self.tier)
        if tier is not self.tier:
            raise LmError(
                f"{self._server.url}: the server gave {self.tier.in_words} at first, and now gives "
                f"{tier.in_words} ({note}). Begin again in a new folder."
            )


Post = Callable[..., ServerReply]


def find_tier(post: Post, *, chat: bool = False, expected: Tier = Tier.SAMPLES) -> tuple[Tier, str]:
    """Return a server's tier, and a sentence on why it is not higher (or an empty text).

    Args:
        post: Calls the server.
        chat: Whether to use chats only, without looking for probabilities.
        expected: The tier that the server had before: a reply that is below it is asked for again.

    Raises:
        LmError: The server does not even write text, changes its model, or costs more than the cap.
    """
    if chat:
        _check_writes(post)
        return Tier.SAMPLES, "it was asked as a chat"
    # A probe that failed, as servers do that are starting, is repeated after a lower one succeeded.
    tier, note, has_failed = _try_probes(post, expected)
    if has_failed:
        tier, note, _ = _try_probes(post, expected)
    return tier, note


def _try_probes(post: Post, expected: Tier) -> tuple[Tier, str, bool]:
    """Return the tier, why it is not higher, and whether the server failed to reply to a probe."""
    probes = {
        Tier.TEXT: partial(_check_echoes, post, again=expected is Tier.TEXT),
        Tier.NEXT: partial(_check_alternatives, post, again=expected is Tier.NEXT),
    }
    reasons, has_failed = list[str](), False
    for tier, probe in probes.items():
        try:
            probe()
        except UnusableReplyError as error:
            reasons.append(str(error))
        except NoReplyError as error:
            reasons.append(str(error))
            has_failed |= not error.is_refusal
        else:
            return tier, "; ".join(reasons), has_failed
    _check_writes(post)
    return Tier.SAMPLES, "; ".join(reasons), has_failed


def _check_writes(post: Post) -> None:
    find_written_text(
        post(
            "chat/completions",
            check=find_written_text,
            messages=[_make_user_message("Say something.")],
            max_tokens=4,
        )
    )


def _accept(_: ServerReply) -> None:
    """Accept any reply that fits the schema."""


def _check_echoes(post: Post, *, again: bool) -> None:
    """Check that the server echoes two new, random texts unchanged.

    Args:
        post: Calls the server.
        again: Whether to ask again after a reply without the echo.

    Raises:
        UnusableReplyError: It does not.
        NoReplyError: The server refuses or fails.
    """
    for _ in range(2):
        text = f"the {secrets.token_hex(4)} of the {secrets.token_hex(4)} is the"
        check = partial(align_echoed_tokens, text=text) if again else _accept
        reply = post("completions", check=check, prompt=text, max_tokens=1, echo=True, logprobs=1)
        if len(align_echoed_tokens(reply, text)) < len(text.split()) // 2:
            problem = "the server gave fewer log-probabilities than the text has words"
            raise UnusableReplyError(problem)


def _check_alternatives(post: Post, *, again: bool) -> None:
    """Check that the server names several alternatives for the next token.

    Args:
        post: Calls the server.
        again: Whether to ask again after a reply without alternatives.

    Raises:
        UnusableReplyError: It does not.
        NoReplyError: The server refuses or fails.
    """
    check = find_alternatives if again else _accept
    reply = post("completions", check=check, prompt="1 2 3 4", max_tokens=1, logprobs=_TOP_N)
    if len(find_alternatives(reply)) <= 1:
        raise UnusableReplyError("it names a single alternative for the next token")


def _make_user_message(text: str) -> dict[str, str]:
    return {"role": "user", "content": text}
