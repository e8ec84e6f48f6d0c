"""Replies of OpenAI-compatible servers: one schema for completions, chats and streams.

What does not fit the schema is a failure of the server and never a model's answer.
"""

import json
import re
from math import exp
from typing import Annotated, Any, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    FiniteFloat,
    ValidationError,
    model_validator,
)

from lm.errors import LmError

# Sums of rounded probabilities.
_ROUNDING_NATS = 1e-3
# A character that a single token cannot be decoded to, or one of its bytes.
_PART_OF_CHARACTER = re.compile(r"\ufffd|^<0x[0-9A-F]{2}>$|^bytes:")
_SPECIAL_TOKEN = re.compile(r"<.*>|\[[A-Z]+\]|")


class UnusableReplyError(LmError):
    """A server's reply is complete, but is not what was asked for."""


class NoReplyError(LmError):
    """A server refused a call, or failed in all attempts.

    Attributes:
        is_refusal: Whether the server refused the call, so that it would refuse it again.
    """

    def __init__(self, message: str, *, is_refusal: bool) -> None:
        super().__init__(message)
        self.is_refusal = is_refusal


def _refuse_positive(logprob: float) -> float:
    if logprob > _ROUNDING_NATS:
        raise ValueError(f"a log-probability cannot be {logprob:g}")
    return min(logprob, 0.0)


def _join_parts(content: object) -> object:
    """Join a content that is a list of parts; anything else is returned as it is."""
    if not isinstance(content, list):
        return content
    texts = [part.get("text") if isinstance(part, dict) else part for part in content]
    written = [text for text in texts if isinstance(text, str)]
    return "".join(written) if len(written) == len(texts) else content


Logprob = Annotated[FiniteFloat, Field(strict=True), AfterValidator(_refuse_positive)]
Text = Annotated[str, Field(strict=True)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class _Alternative(_Part):
    token: Text
    logprob: Logprob


class _Position(_Part):
    top_logprobs: list[_Alternative] = []


class _Logprobs(_Part):
    """The log-probabilities of completions (the first three) or of chats (``content``)."""

    tokens: list[Text] | None = None
    token_logprobs: list[Logprob | None] | None = None
    top_logprobs: list[dict[str, Logprob] | None] | None = None
    content: list[_Position] | None = None

    def alternatives(self) -> dict[str, float]:
        """Return the alternatives for the first token; empty if there are none."""
        if self.top_logprobs:
            return self.top_logprobs[0] or {}
        first = self.content[0].top_logprobs if self.content else []
        return {alternative.token: alternative.logprob for alternative in first}


class _Message(_Part):
    content: Annotated[Text | None, BeforeValidator(_join_parts)] = None
    refusal: Text | None = None
    reasoning_content: Text | None = None
    reasoning: Text | None = None


class _Choice(_Part):
    text: Text | None = None
    message: _Message | None = None
    logprobs: _Logprobs | None = None
    finish_reason: Text | None = None
    error: Any = None

    @model_validator(mode="after")
    def _refuse_error(self) -> Self:
        if self.error or self.finish_reason == "error":
            raise ValueError("the server says that it ended with an error")
        return self


class ServerReply(_Part):
    """A reply to a completion or a chat.

    Attributes:
        model: The model's name.
        system_fingerprint: A text that changes when the named model does.
        choices: The answers, of which the first is used.
        usage: The counts of tokens; not checked, since they are no part of the answer.
    """

    model: Text | None = None
    system_fingerprint: Text | None = None
    choices: list[_Choice] = Field(min_length=1)
    usage: Any = None

    @property
    def fingerprint(self) -> str:
        """The model's name and fingerprint."""
        return f"{self.model or ''} {self.system_fingerprint or ''}".strip()

    @property
    def cut(self) -> bool:
        """Whether the limit of tokens ended the answer."""
        return self.choices[0].finish_reason == "length"

    @property
    def reasoning_tokens(self) -> int | None:
        """The number of thinking tokens; None if the server does not report it."""
        details = (_as_object(self.usage) or {}).get("completion_tokens_details")
        tokens = (_as_object(details) or {}).get("reasoning_tokens")
        return tokens if isinstance(tokens, int) and tokens >= 0 else None


def _as_object(value: object) -> dict[str, Any] | None:
    return value if isinstance(value, dict) else None


def parse_reply(payload: object) -> ServerReply:
    """Return a decoded reply.

    Raises:
        UnusableReplyError: The reply does not fit the schema, or reports an error.
    """
    if error := (_as_object(payload) or {}).get("error"):
        raise UnusableReplyError(f"the server says: {json.dumps(error, ensure_ascii=False)[:200]}")
    try:
        return ServerReply.model_validate(payload)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        location = ".".join(map(str, first["loc"])) or "the reply"
        raise UnusableReplyError(
            f"the reply is not as expected: {location}: {first['msg']} ({str(first['input'])[:80]})"
        ) from error


def find_written_text(reply: ServerReply) -> str:
    """Return the text that a chat model wrote; a refusal in a separate field counts as text.

    Raises:
        UnusableReplyError: The reply has no text, although nothing explains why.
    """
    choice = reply.choices[0]
    message = choice.message
    if message and message.content is not None:
        return message.content
    if message and message.refusal:
        return message.refusal
    if choice.finish_reason == "content_filter":
        return "I'm sorry, I cannot answer."
    if message and (choice.finish_reason == "length" or message.reasoning_content):
        return ""
    raise UnusableReplyError(
        "the server returned no text. Expected a text as content of the first choice's message. "
        "Use a model that generates text, at an address that speaks OpenAI's protocol."
    )


def find_alternatives(reply: ServerReply) -> dict[str, float]:
    """Return the alternatives for the next token with their log-probabilities.

    Raises:
        UnusableReplyError: The reply has none, or their probabilities sum to more than 1.
    """
    logprobs = reply.choices[0].logprobs
    alternatives = logprobs.alternatives() if logprobs else {}
    if not alternatives:
        raise UnusableReplyError("the server named no alternatives for the next token")
    if (mass := sum(map(exp, alternatives.values()))) > 1 + _ROUNDING_NATS:
        raise UnusableReplyError(f"the alternatives' probabilities sum to {mass:.3g}")
    return alternatives


def align_echoed_tokens(reply: ServerReply, text: str) -> list[tuple[int, float | None]]:
    """Return the start of each token of an echoed text, and its log-probability.

    This detects servers that ignore ``echo``, or return no log-probabilities or those of another
    text: the tokens must add up to the text. Allowed are tokens for the beginning of a text, and
    tokens that were decoded one by one: without the space before a word, or as parts of a
    character, which are joined.

    Raises:
        UnusableReplyError: The answer is not about this text.
    """
    logprobs = reply.choices[0].logprobs
    tokens = (logprobs.tokens if logprobs else None) or []
    values = (logprobs.token_logprobs if logprobs else None) or []
    if not tokens or len(tokens) != len(values):
        raise UnusableReplyError(f'the server gave no log-probabilities of the text "{text[:60]}"')
    aligned, position = list[tuple[int, float | None]](), 0
    parts = list[tuple[str, float | None]]()
    for number, (token, logprob) in enumerate(zip(tokens, values, strict=True)):
        if position == len(text):
            break  # text that the model itself wrote after the prompt
        if _PART_OF_CHARACTER.search(token) or (not token and aligned):
            parts.append((token, logprob))
            continue
        width = sum(len(part) for part, _ in parts)
        ends = (
            (start, end)
            for start in range(position, min(position + width, len(text)) + 1)
            if (end := _end_of_token(text, start, token))
        )
        start, end = next(ends, (len(text), len(text)) if len(text) <= position + width else (0, 0))
        if parts and end:
            aligned.append((position, _sum_known([value for _, value in parts])))
            parts.clear()
        if end and start < len(text):
            aligned.append((start, logprob))
        elif not end and (aligned or parts or not _SPECIAL_TOKEN.fullmatch(token)):
            echo = "".join(tokens[: number + 1])
            raise UnusableReplyError(
                f'the server gave the log-probabilities of another text ("{echo[:60]}") than it was'
                f' asked about ("{text[:60]}")'
            )
        position = end
    if parts and len(text) - position <= sum(len(part) for part, _ in parts):
        aligned.append((position, _sum_known([value for _, value in parts])))
        position = len(text)
    if position != len(text):
        raise UnusableReplyError(
            f'the server gave the log-probabilities of another text ("{"".join(tokens)[:60]}") than'
            f' it was asked about ("{text[:60]}")'
        )
    if not aligned or any(logprob is None for _, logprob in aligned[1:]):
        raise UnusableReplyError(f'the server gave no log-probability for a token of "{text[:60]}"')
    return aligned


def _end_of_token(text: str, position: int, token: str) -> int:
    """Return where a token at this place ends; 0 if it is not there."""
    for written in (token, token.replace("\u2581", " ").replace("\u0120", " ")):
        if text.startswith(written, position):
            return position + len(written)
        if text[position : position + 1] == " " and text.startswith(written, position + 1):
            return position + 1 + len(written)
        if position == 0 and text.startswith(written.lstrip(" ")):
            return len(written.lstrip(" "))
    return 0


def _sum_known(logprobs: list[float | None]) -> float | None:
    return None if None in logprobs else sum(logprob or 0.0 for logprob in logprobs)


def join_stream(text: str) -> object:
    """Return the reply that a stream of server-sent events adds up to; None if it was cut off."""
    joined: dict[str, Any] = {}
    choice: dict[str, Any] = {}
    ended = False
    for line in text.splitlines():
        data = line.removeprefix("data:").strip()
        if not line.startswith("data:") or not data:
            continue
        if data == "[DONE]":
            ended = True
            continue
        try:
            event = json.loads(data)
        except ValueError:
            return None
        if not isinstance(event, dict) or event.get("error"):
            return event
        kept = ("model", "system_fingerprint", "usage")
        joined |= {name: event[name] for name in kept if event.get(name) is not None}
        if event.get("choices"):
            _add_event(choice, event["choices"][0])
            ended = ended or bool(choice.get("finish_reason"))
    return {**joined, "choices": [choice]} if ended and choice else None


def _add_event(choice: dict[str, Any], event: object) -> None:
    """Add a part of an answer; anything else is kept, so that the schema refuses the answer."""
    if not isinstance(event, dict):
        choice["error"] = event is None or event
        return
    added = {**event, "message": event.get("delta", event.get("message"))}
    added.pop("delta", None)
    for name, value in added.items():
        _add_value(choice, name, value)


def _add_value(target: dict[str, Any], name: str, value: object) -> None:
    present = target.get(name)
    if value is None and present is not None:
        return
    if isinstance(value, dict) and isinstance(present, dict):
        for key, part in value.items():
            _add_value(present, key, part)
    elif name in ("role", "finish_reason", "index") or type(present) is not type(value):
        target[name] = value
    elif isinstance(value, str | list):
        target[name] = present + value  # type: ignore[operator]
    else:
        target[name] = value
