"""Messages to and from a server: images in prompts; answers, thinking and echoed texts in replies.

A study's texts can contain a Markdown image with its bytes in the address. Participants see it, so
a model participant must see it, too. In a chat, such a message is a list of parts: texts and
``image_url``.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

from lm.errors import LmError

_IMAGE = re.compile(r"!\[[^\]]*\]\((?P<url>[^)\s]*)[^)]*\)")
_WITH_BYTES = re.compile(r"data:image/(png|jpeg|gif|webp);base64,")
# The tokens reserved for an image of any size.
_MOST_TOKENS = 50_000
# A single white pixel, sent to test whether a server accepts images.
POINT = (
    "![](data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGP4DwAB"
    "AQEAsTj2FAAAAABJRU5ErkJggg==)"
)


def has_images(prompt: str) -> bool:
    """Return whether a prompt contains images."""
    return bool(_IMAGE.search(prompt))


def find_external_image(prompt: str) -> str:
    """Return the address of an image that is not embedded in the prompt; empty if all are."""
    urls = (match["url"] for match in _IMAGE.finditer(prompt))
    return next((url for url in urls if not _WITH_BYTES.match(url)), "")


def build_content(prompt: str) -> str | list[dict[str, Any]]:
    """Return a message's content: the prompt, or the list of its texts and images in order."""
    if not has_images(prompt):
        return prompt
    parts, end = list[dict[str, Any]](), 0
    for match in _IMAGE.finditer(prompt):
        parts += _make_text_part(prompt[end : match.start()])
        parts.append({"type": "image_url", "image_url": {"url": match["url"]}})
        end = match.end()
    return parts + _make_text_part(prompt[end:])


def count_tokens_at_most(prompt: str) -> int:
    """Return the largest possible number of tokens in a prompt: no token is below one byte."""
    return len(prompt.encode()) + _MOST_TOKENS * len(_IMAGE.findall(prompt))


def _make_text_part(text: str) -> list[dict[str, Any]]:
    return [{"type": "text", "text": text}] if text.strip() else []


_WRITTEN_OUT = re.compile(r"<think>(.*?)(?:</think>|\Z)", re.DOTALL)


class UnusableAnswerError(LmError):
    """A server's answer is complete, but does not contain the requested information."""


@dataclass(frozen=True, slots=True)
class Thought:
    """The thinking before one sample.

    Attributes:
        text: The visible part of the thinking.
        tokens: The number of thinking tokens; None if there are some and the server reports no
            number.
    """

    text: str
    tokens: int | None


def thinking_parameters(most_tokens: int, effort: str = "", *, allowed: bool) -> dict[str, object]:
    """Return the request parameters for thinking and for the number of tokens.

    Args:
        most_tokens: The most tokens of the answer, thinking included.
        effort: The server's own word for the effort of thinking; without it, the parameters are
            those of vLLM and other servers that render chat templates.
        allowed: Whether the model may think.
    """
    if not effort:
        return {
            "max_tokens": most_tokens,
            "chat_template_kwargs": {"enable_thinking": allowed},
        }
    # Servers with this parameter count thinking among these tokens, and refuse ``max_tokens``.
    return {
        "max_completion_tokens": most_tokens,
        "reasoning_effort": effort if allowed else "none",
    }


def find_thought(answer: dict[str, Any]) -> Thought:
    """Return the thinking in an answer, from any of the places where servers put it."""
    message = (answer.get("choices") or [{}])[0].get("message") or {}
    text = message.get("reasoning_content") or message.get("reasoning") or ""
    if not text and (match := _WRITTEN_OUT.search(message.get("content") or "")):
        text = match[1].strip()
    details = (answer.get("usage") or {}).get("completion_tokens_details") or {}
    tokens = details.get("reasoning_tokens")
    if tokens is None:
        return Thought(str(text), None if text else 0)
    return Thought(str(text), int(tokens))


def total_thinking_tokens(thoughts: Sequence[Thought]) -> int | None:
    """Return the total of thinking tokens; None if one of the numbers is unknown."""
    counts = [thought.tokens for thought in thoughts]
    return None if None in counts else sum(thought or 0 for thought in counts)


def parse_echoed_scores(answer: dict[str, Any], text: str) -> list[tuple[int, float | None]]:
    """Return the start of each token of an echoed text, and its log-probability.

    This detects servers that ignore ``echo``, or return no log-probabilities or those of another
    text: the tokens must add up to the exact text, each but the first with one log-probability.

    Raises:
        UnusableAnswerError: The answer is not about this text.
    """
    scores = (answer.get("choices") or [{}])[0].get("logprobs") or {}
    tokens, logprobs = scores.get("tokens") or [], scores.get("token_logprobs") or []
    if not tokens or len(tokens) != len(logprobs):
        raise UnusableAnswerError(f'the server gave no log-probabilities of the text "{text[:60]}"')
    starts, echo = list[tuple[int, float | None]](), ""
    for token, logprob in zip(tokens, logprobs, strict=True):
        if len(echo) >= len(text):
            break  # text that the model itself wrote after the prompt
        starts.append((len(echo), logprob))
        echo += token
    if echo != text:
        raise UnusableAnswerError(
            f'the server gave the log-probabilities of another text ("{echo[:60]}") than it was '
            f'asked about ("{text[:60]}")'
        )
    wrong = [value for _, value in starts[1:] if value is None or not isfinite(value) or value > 0]
    if wrong or not starts:
        raise UnusableAnswerError(
            f"the server gave {wrong[0] if wrong else 'nothing'} as a log-probability of a token of"
            f' "{text[:60]}"'
        )
    return starts
