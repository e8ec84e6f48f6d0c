"""Models that answer questions: the interface, local models, and stored replies."""

import hashlib
import json
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from enum import StrEnum
from math import log
from pathlib import Path
from typing import Any, Protocol

from lm.answering.labels import read_label
from lm.completions import Gap, completion_logprobs
from lm.errors import LmError
from lm.scorer import Scorer


class Tier(StrEnum):
    """What a model or its server reports; each tier can also do what the next one can."""

    TEXT = "text"  # log-probabilities of a given text
    NEXT = "next"  # log-probabilities of some alternatives for the next token
    SAMPLES = "samples"  # only sampled text, no probabilities

    @property
    def in_words(self) -> str:
        """The tier's output in words, for messages."""
        return {
            Tier.TEXT: "log-probabilities of a given text",
            Tier.NEXT: "log-probabilities of the next token's alternatives",
            Tier.SAMPLES: "samples",
        }[self]


@dataclass(frozen=True, slots=True)
class Question:
    """A prompt and its possible answers.

    Attributes:
        prompt: The text that the model reads; empty if the answers are whole texts.
        answers: The possible answers.
        seed: The seed of samples, if the model has to be sampled.
        thinking: The most tokens of thinking before the answer; 0 for an immediate answer.
        after: If the answers are words for a gap: the text after it, which may be empty. Prompt and
            answers are then in the form that the model reads.
    """

    prompt: str
    answers: tuple[str, ...]
    seed: int = 0
    thinking: int = 0
    after: str | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """A model's reply to a question.

    Attributes:
        logprobs_nats: The natural-log probability of each answer after the prompt; None if the
            model did not report it. With samples, the log of the answer's share.
        texts: The sampled texts.
        read_by: For each text the rule that read its label, or the reason why it has none (see
            ``lm.answering.labels``).
        thoughts: The thinking text before each answer, if it is visible.
        n_hidden: The number of thinking tokens in all samples; None if unknown.
        fingerprints: What the server said of the model in each call; empty without a server.
        seed: The seed of the first sample; each later sample has the next number. None without
            samples.
    """

    logprobs_nats: tuple[float | None, ...]
    texts: tuple[str, ...] = ()
    read_by: tuple[str, ...] = ()
    thoughts: tuple[str, ...] = ()
    n_hidden: int | None = 0
    fingerprints: tuple[str, ...] = ()
    seed: int | None = None


def read_samples(
    question: Question, texts: Sequence[str], cut: Sequence[bool]
) -> tuple[tuple[float | None, ...], tuple[str, ...]]:
    """Return the log of each answer's share among samples, and what read each sample.

    Args:
        question: The question.
        texts: The samples.
        cut: Whether the limit of tokens ended each of them.
    """
    read = [
        read_label(text, question.answers, question.prompt, cut=ended)
        for text, ended in zip(texts, cut, strict=True)
    ]
    counts = Counter(reading.label for reading in read)
    logprobs = tuple(
        log(counts[answer] / len(texts)) if counts[answer] else None for answer in question.answers
    )
    return logprobs, tuple(reading.rule for reading in read)


class Answerer(Protocol):
    """A model that answers questions, either local or on a server."""

    @property
    def name(self) -> str:
        """The model's name in tables and figures."""
        ...

    @property
    def trained_on(self) -> str:
        """The training text, in words that may be printed below a table."""
        ...

    @property
    def identity(self) -> str:
        """A value that changes when the model does; replies are stored under it."""
        ...

    @property
    def tier(self) -> Tier:
        """What the model reports."""
        ...

    @property
    def workers(self) -> int:
        """The number of concurrent questions, one per call; 0: all questions in one call."""
        ...

    def reply(self, questions: Sequence[Question]) -> list[Reply]:
        """Return one reply per question, in the same order."""
        ...


class LocalAnswerer:
    """A local scorer as an ``Answerer``.

    Args:
        scorer: The model.
        identity: A value that changes when the model's files do.
        write: Converts a prompt or an answer to the form that the model reads.
    """

    tier = Tier.TEXT
    workers = 0

    def __init__(
        self, scorer: Scorer, identity: str, write: Callable[[str], str] = lambda text: text
    ) -> None:
        self._scorer, self.identity, self._write = scorer, identity, write

    @property
    def name(self) -> str:
        """The model's name in tables and figures."""
        return self._scorer.name

    @property
    def trained_on(self) -> str:
        """The text it was trained on."""
        return self._scorer.trained_on

    def reply(self, questions: Sequence[Question]) -> list[Reply]:
        """Return one reply per question; shared parts of prompts are read once, if the model can.

        An answer continues its prompt after one space. If the prompt is empty, the answers are
        whole texts, already in the form that the model reads.

        Raises:
            LmError: A text is longer than the model's window, or cannot be scored.
        """
        requests = [request for question in questions for request in self._make_requests(question)]
        # Equal requests are common: many sessions contain the same sentence.
        distinct_requests = list(dict.fromkeys(requests))
        scores = self._scorer.score(distinct_requests)
        logprobs = {
            request: float(token_scores.logprobs_nats.sum())
            for request, token_scores in zip(distinct_requests, scores, strict=True)
        }
        return [
            self._complete(question)
            if question.after is not None
            else Reply(tuple(logprobs[request] for request in self._make_requests(question)))
            for question in questions
        ]

    def _complete(self, question: Question) -> Reply:
        """Return the log-probability of each word for a gap; see ``lm.completions``."""
        gap = Gap(question.prompt, question.after or "")
        [logprobs] = completion_logprobs(self._scorer, [gap], [question.answers])
        return Reply(tuple(logprobs))

    def refuse_too_long(self, questions: Iterable[Question]) -> None:
        """Raise an LmError if one of the questions is too long for the model."""
        encoder = getattr(self._scorer, "encoder", self._scorer)
        if hasattr(encoder, "encode"):
            for request in {
                request for question in questions for request in self._make_requests(question)
            }:
                encoder.encode(*request)

    def _make_requests(self, question: Question) -> list[tuple[str, str]]:
        if question.after is not None:
            return []
        if not question.prompt:
            return [("", answer) for answer in question.answers]
        prompt = self._write(question.prompt)
        return [(prompt, self._write(answer)) for answer in question.answers]


_TABLE = "CREATE TABLE IF NOT EXISTS replies (key TEXT PRIMARY KEY, reply TEXT NOT NULL)"
# The most replies that an interruption can lose.
_QUESTIONS_AT_A_TIME = 512


class ReplyStore:
    """Replies, stored by question and model.

    Args:
        connection: The database connection.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def answer_questions(self, answerer: Answerer, questions: Sequence[Question]) -> list[Reply]:
        """Return a reply to each question; the model only answers questions without a stored reply.

        Replies are written to disk before the next questions are asked.

        Args:
            answerer: The model.
            questions: The questions; equal ones are asked once.
        """
        keys = [_make_cache_key(answerer, question) for question in questions]
        questions_by_key = dict(zip(keys, questions, strict=True))
        replies = {
            key: reply
            for key in questions_by_key
            if (reply := self._find_stored(key, questions_by_key[key]))
        }
        unanswered = {
            key: question for key, question in questions_by_key.items() if key not in replies
        }
        for new_replies in _ask_model(answerer, unanswered):
            self._store_replies(new_replies)
            replies |= new_replies
        return [replies[key] for key in keys]

    def _find_stored(self, key: str, question: Question) -> Reply | None:
        row = self._connection.execute("SELECT reply FROM replies WHERE key = ?", (key,)).fetchone()
        return _reply_from_json(row[0], question) if row else None

    def _store_replies(self, replies: dict[str, Reply]) -> None:
        rows = [(key, json.dumps(asdict(reply))) for key, reply in replies.items()]
        with self._connection:
            self._connection.executemany("INSERT OR IGNORE INTO replies VALUES (?, ?)", rows)


def _ask_model(answerer: Answerer, questions: dict[str, Question]) -> Iterator[dict[str, Reply]]:
    """Yield replies as they arrive: in batches from a local model, one by one from a server."""
    keys = list(questions)
    if not answerer.workers:
        for start in range(0, len(keys), _QUESTIONS_AT_A_TIME):
            batch_keys = keys[start : start + _QUESTIONS_AT_A_TIME]
            yield dict(
                zip(batch_keys, answerer.reply([questions[key] for key in batch_keys]), strict=True)
            )
        return
    with ThreadPoolExecutor(answerer.workers) as pool:
        calls = {pool.submit(answerer.reply, [questions[key]]): key for key in keys}
        try:
            for call in as_completed(calls):
                yield {calls[call]: call.result()[0]}
        finally:
            # After a failure no further call is started; calls in progress are awaited.
            pool.shutdown(cancel_futures=True)


@contextmanager
def reply_store(path: Path) -> Iterator[ReplyStore]:
    """Open a file of replies; create it if missing.

    Raises:
        LmError: The file cannot be opened, or is not a file of replies.
    """
    try:
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute(_TABLE)
            yield ReplyStore(connection)
    except sqlite3.Error as error:
        raise LmError(
            f"{path}: the replies cannot be kept ({error}). Expected a file that this command "
            "wrote, in a folder that you may write to, with enough free space."
        ) from error


def _make_cache_key(answerer: Answerer, question: Question) -> str:
    # The seed only affects samples.
    seed = question.seed if answerer.tier is Tier.SAMPLES else None
    parts: list[object] = [answerer.identity, question.prompt, list(question.answers), seed]
    if question.thinking:
        parts.append(question.thinking)
    if question.after is not None:
        parts.append({"after": question.after})
    return hashlib.sha256(json.dumps(parts, ensure_ascii=False).encode()).hexdigest()


def _reply_from_json(text: str, question: Question) -> Reply:
    fields: dict[str, Any] = json.loads(text)
    # Earlier versions kept these counts in place of what read each sample.
    n_cut = [fields.pop(name, 0) for name in ("n_unreadable", "n_refused", "n_cut")][-1]
    for name in ("logprobs_nats", "texts", "read_by", "thoughts", "fingerprints"):
        fields[name] = tuple(fields.get(name, ()))
    if fields["texts"] and not fields["read_by"]:
        cut = [bool(n_cut)] * len(fields["texts"])
        fields["logprobs_nats"], fields["read_by"] = read_samples(question, fields["texts"], cut)
    return Reply(**fields)
