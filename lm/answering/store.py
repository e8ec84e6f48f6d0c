"""Replies stored on disk, so that no question is asked twice."""

import hashlib
import json
import sqlite3
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import closing, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from lm.answering.answerer import Answerer, Question, Reply, Tier
from lm.errors import LmError

_TABLE = "CREATE TABLE IF NOT EXISTS replies (key TEXT PRIMARY KEY, reply TEXT NOT NULL)"
# The most replies that an interruption can lose.
_AT_A_TIME = 512


class ReplyStore:
    """Replies, stored by question and model.

    Args:
        connection: The database connection.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def answered(self, answerer: Answerer, questions: Sequence[Question]) -> list[Reply]:
        """Return a reply to each question; the model only answers questions without a stored reply.

        Replies are written to disk before the next questions are asked.

        Args:
            answerer: The model.
            questions: The questions; equal ones are asked once.
        """
        keys = [_key(answerer, each) for each in questions]
        known = {key: found for key in dict.fromkeys(keys) if (found := self._known(key))}
        open_ = {key: each for key, each in zip(keys, questions, strict=True) if key not in known}
        for some in _asked(answerer, open_):
            self._keep(some)
            known |= some
        return [known[key] for key in keys]

    def _known(self, key: str) -> Reply | None:
        row = self._connection.execute("SELECT reply FROM replies WHERE key = ?", (key,)).fetchone()
        return _reply(row[0]) if row else None

    def _keep(self, replies: dict[str, Reply]) -> None:
        rows = [(key, json.dumps(asdict(reply))) for key, reply in replies.items()]
        with self._connection:
            self._connection.executemany("INSERT OR IGNORE INTO replies VALUES (?, ?)", rows)


def _asked(answerer: Answerer, open_: dict[str, Question]) -> Iterator[dict[str, Reply]]:
    """Yield replies as they arrive: in batches from a local model, one by one from a server."""
    keys = list(open_)
    if not answerer.workers:
        for start in range(0, len(keys), _AT_A_TIME):
            some = keys[start : start + _AT_A_TIME]
            yield dict(zip(some, answerer.reply([open_[key] for key in some]), strict=True))
        return
    with ThreadPoolExecutor(answerer.workers) as pool:
        calls = {pool.submit(answerer.reply, [open_[key]]): key for key in keys}
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


def _key(answerer: Answerer, question: Question) -> str:
    # The seed only affects samples.
    seed = question.seed if answerer.tier is Tier.SAMPLES else None
    parts: list[object] = [answerer.identity, question.prompt, list(question.answers), seed]
    if question.thinking:
        parts.append(question.thinking)
    return hashlib.sha256(json.dumps(parts, ensure_ascii=False).encode()).hexdigest()


def _reply(text: str) -> Reply:
    found: dict[str, Any] = json.loads(text)
    for name in ("logprobs_nats", "texts", "thoughts"):
        found[name] = tuple(found.get(name, ()))
    return Reply(**found)
