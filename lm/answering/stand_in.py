"""A stand-in server: one model over HTTP, in one tier, with planned faults."""

import hashlib
import json
import math
import random
import re
import sys
from collections import Counter
from collections.abc import Sequence
from enum import StrEnum
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from threading import Lock
from typing import Any

from lm.answering.answerer import Tier
from lm.scorer import HasSubwords, Scorer

# The candidates for the next token: our scorers give the probability of a text, but cannot list a
# vocabulary. All other continuations are represented by one unreadable text.
CANDIDATES = (*"123456789", *"ABCDEFGHI", *"RSTUVWXYZ", "yes", "no")
OTHER_ANSWER = "Well, it depends"
# A token of word-level models, with the space before it.
_WORD_OR_MARK = re.compile(r"\s*(?:\w+(?:['\u2019-]\w+)*|[^\w\s])")


class Fault(StrEnum):
    """A planned fault; unless stated otherwise, it occurs at every third call."""

    RATE_LIMIT = "rate_limit"  # 429 with Retry-After
    CUT = "cut"  # the answer is cut off in the middle
    MODEL_CHANGED = "model_changed"  # another fingerprint from the twelfth call on
    MISSING_LOGPROBS = "missing_logprobs"  # null in place of log-probabilities
    STALE_LOGPROBS = "stale_logprobs"  # the log-probabilities of the previous text
    ECHO_IGNORED = "echo_ignored"  # always: only the completion, no echo
    TRUNCATED_ALTERNATIVES = "truncated_alternatives"  # always: only the most probable alternative
    REFUSES = "refuses"  # always, in chats: declines to answer


EVERY, CHANGED_AFTER = 3, 12


class ServedModel:
    """A scorer that answers completions and chats.

    Word-level models read words and punctuation marks as tokens, in lower case unless their
    vocabulary has capital letters.

    Args:
        scorer: The model.
    """

    def __init__(self, scorer: Scorer) -> None:
        self._scorer = scorer
        self._whole = isinstance(scorer, HasSubwords)
        self._cased = bool(getattr(scorer, "cased", False))

    def _write(self, text: str) -> str:
        if self._whole:
            return text
        words = " ".join(piece.strip() for piece in _WORD_OR_MARK.findall(text))
        return words if self._cased else words.lower()

    def pieces(self, text: str) -> tuple[list[str], list[float | None]]:
        """Return the text's tokens and their log-probabilities; the first token has none."""
        [scores] = self._scorer.score([("", self._write(text))])
        if isinstance(self._scorer, HasSubwords):
            tokens = [text[a:b] for a, b in pairwise([0, *self._scorer.token_ends(text)])]
        else:
            tokens = _WORD_OR_MARK.findall(text)
        tokens[-1] += text[sum(map(len, tokens)) :]
        return tokens, [None, *scores.logprobs_nats.tolist()[1:]]

    def alternatives(self, prompt: str, n: int) -> list[tuple[str, float]]:
        """Return the ``n`` most probable candidates after a prompt, with log-probabilities."""
        written_prompt = self._write(prompt)
        requests = [(written_prompt, self._write(candidate)) for candidate in CANDIDATES]
        scores = self._scorer.score(requests)
        pairs = [
            (candidate, float(token_scores.logprobs_nats.sum()))
            for candidate, token_scores in zip(CANDIDATES, scores, strict=True)
        ]
        return sorted(pairs, key=lambda pair: -pair[1])[:n]

    def sample(self, prompt: str, seed: int, temperature: float) -> str:
        """Return a candidate drawn by its probability, or a text that is not a candidate."""
        candidates = self.alternatives(prompt, len(CANDIDATES))
        if temperature == 0:
            return candidates[0][0]
        weights = [math.exp(logprob / temperature) for _, logprob in candidates]
        other_weight = max(0.0, 1.0 - sum(weights)) if temperature == 1 else 0.0
        texts: Sequence[str] = [*(text for text, _ in candidates), OTHER_ANSWER]
        return random.Random(f"{seed} {prompt}").choices(texts, [*weights, other_weight])[0]


# The constant thinking text, if thinking is allowed; it has no effect.
THOUGHT = "Let me read both once more."


class StandIn(ThreadingHTTPServer):
    """An HTTP server for one model; ``serve_forever`` runs until it is shut down.

    Attributes:
        calls: The number of answered calls, faults included.
        billed: The number of complete, billed answers, by request.
        takes_images: Whether messages may contain images; images have no effect.
        another_model: Whether to report another model from now on.
        honours_keys: Whether a repeated ``Idempotency-Key`` gets the same answer as before, and is
            not billed again.

    Args:
        model: The model.
        name: The model's reported name.
        tier: The tier of information that the server reports.
        faults: The planned faults.
        port: The port; 0 for any free one.
        identity: What distinguishes the model from others with its name.
    """

    daemon_threads = True

    def __init__(
        self,
        model: ServedModel,
        name: str,
        tier: Tier = Tier.TEXT,
        faults: frozenset[Fault] = frozenset(),
        port: int = 0,
        identity: str = "",
    ) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.model, self.name, self.tier, self.faults = model, name, tier, faults
        self.identity = identity
        self.calls, self.billed = 0, Counter[str]()
        self.honours_keys, self.answers = True, dict[str, dict[str, Any]]()
        self.another_model = self.takes_images = False
        self.lock = Lock()
        self.previous: dict[str, Any] | None = None

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignore errors of clients that have disconnected, for example because they were killed."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]

    @property
    def url(self) -> str:
        """The base address of the calls."""
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def strikes(self, fault: Fault) -> bool:
        """Return whether a fault occurs at the current call."""
        return fault in self.faults and self.calls % EVERY == 0

    @property
    def fingerprint(self) -> str:
        """The model's current fingerprint."""
        planted = Fault.MODEL_CHANGED in self.faults and self.calls > CHANGED_AFTER
        changed = planted or self.another_model
        return hashlib.sha256(f"{self.name} {self.identity} {changed}".encode()).hexdigest()[:12]


class _Handler(BaseHTTPRequestHandler):
    server: StandIn
    protocol_version = "HTTP/1.1"
    # Head and body are two writes; without this, the second waits for the first's acknowledgement.
    disable_nagle_algorithm = True

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing: the caller keeps its own record."""

    def do_GET(self) -> None:
        """Return the list of models, with the single model."""
        self._send(200, {"object": "list", "data": [{"id": self.server.name}]})

    def do_POST(self) -> None:
        """Answer a completion or a chat."""
        body = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))))
        server = self.server
        with server.lock:
            server.calls += 1
            if body.get("model") != server.name:
                return self._send(404, {"error": {"message": "there is no such model"}})
            if "image_url" in json.dumps(body.get("messages")) and not server.takes_images:
                return self._send(400, {"error": {"message": "this model reads no images"}})
            if server.strikes(Fault.RATE_LIMIT):
                return self._send(429, {"error": {"message": "slow down"}}, {"Retry-After": "0"})
            key = self.headers.get("Idempotency-Key", "") if server.honours_keys else ""
            answer = server.answers.get(key) or self._answer(body)
            if key:
                server.answers[key] = answer
            if server.strikes(Fault.CUT):
                return self._send(200, answer, cut=True)
            return self._send(200, answer)

    def _answer(self, body: dict[str, Any]) -> dict[str, Any]:
        server = self.server
        server.billed[json.dumps(body, sort_keys=True)] += 1
        return {
            "model": server.name,
            "system_fingerprint": server.fingerprint,
            **(self._chat(body) if "chat" in self.path else self._make_completion(body)),
        }

    def _make_completion(self, body: dict[str, Any]) -> dict[str, Any]:
        server, prompt = self.server, str(body["prompt"])
        n_alternatives = int(body.get("logprobs") or 0)
        [(best, logprob), *_] = candidates = server.model.alternatives(
            prompt, max(1, n_alternatives)
        )
        if Fault.TRUNCATED_ALTERNATIVES in server.faults:
            candidates = candidates[:1]
        reported: dict[str, Any] | None = None
        text = f" {best}"
        if n_alternatives and server.tier is not Tier.SAMPLES:
            top = [{f" {token}": token_logprob for token, token_logprob in candidates}]
            reported = {"tokens": [text], "token_logprobs": [logprob], "top_logprobs": top}
        echoes = server.tier is Tier.TEXT and Fault.ECHO_IGNORED not in server.faults
        if body.get("echo") and echoes:
            tokens, logprobs = server.model.pieces(prompt)
            text = prompt + text
            reported = {"tokens": [*tokens, f" {best}"], "token_logprobs": [*logprobs, logprob]}
            reported = self._spoil_logprobs(reported)
        elif server.strikes(Fault.MISSING_LOGPROBS):
            reported = None
        return {
            "choices": [{"text": text, "logprobs": reported, "finish_reason": "length"}],
            "usage": _count_usage(prompt, 1),
        }

    def _spoil_logprobs(self, reported: dict[str, Any]) -> dict[str, Any]:
        server, previous = self.server, self.server.previous
        server.previous = reported
        if server.strikes(Fault.MISSING_LOGPROBS):
            return {**reported, "token_logprobs": [None] * len(reported["tokens"])}
        return previous if server.strikes(Fault.STALE_LOGPROBS) and previous else reported

    def _chat(self, body: dict[str, Any]) -> dict[str, Any]:
        content = body["messages"][-1]["content"]
        parts = (
            [content] if isinstance(content, str) else [part.get("text", "") for part in content]
        )
        prompt = " ".join(parts)
        sample = self.server.model.sample(
            prompt, int(body.get("seed", 0)), float(body.get("temperature", 1.0))
        )
        if Fault.REFUSES in self.server.faults:
            sample = "I'm sorry, I cannot judge sentences."
        words = sample.split()
        most_tokens = int(body.get("max_completion_tokens") or body.get("max_tokens", 16))
        reason = "length" if len(words) > most_tokens else "stop"
        message = {"role": "assistant", "content": " ".join(words[:most_tokens])}
        thinking = (body.get("chat_template_kwargs") or {}).get("enable_thinking")
        thinking = thinking or body.get("reasoning_effort", "none") != "none"
        thoughts = len(THOUGHT.split()) if thinking else 0
        usage: dict[str, Any] = _count_usage(prompt, len(words[:most_tokens]) + thoughts)
        if thinking:
            message["reasoning_content"] = THOUGHT
            usage["completion_tokens_details"] = {"reasoning_tokens": thoughts}
        return {
            "choices": [{"message": message, "finish_reason": reason}],
            "usage": usage,
        }

    def _send(
        self,
        status: int,
        body: dict[str, Any],
        headers: dict[str, str] | None = None,
        *,
        cut: bool = False,
    ) -> None:
        content = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content[: len(content) // 2] if cut else content)
        if cut:
            self.close_connection = True


def _count_usage(prompt: str, completion: int) -> dict[str, int]:
    prompt_tokens = len(prompt.split())
    return {
        "prompt_tokens": prompt_tokens,
        "completion_tokens": completion,
        "total_tokens": prompt_tokens + completion,
    }
