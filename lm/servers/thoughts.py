"""What a server says of the thoughts before an answer: their text, and how many tokens they had."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

_WRITTEN_OUT = re.compile(r"<think>(.*?)(?:</think>|\Z)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Thought:
    """What came before one sample.

    Attributes:
        text: The thought, as far as the server shows it.
        tokens: How many hidden tokens it counts; None where there are some and it does not tell.
    """

    text: str
    tokens: int | None


def asked_to_think(most_tokens: int, effort: str = "", *, allowed: bool) -> dict[str, object]:
    """Return what a call says of thinking and of its tokens.

    Args:
        most_tokens: How many tokens the answer may have, its thought among them.
        effort: A word of the server's own for how hard it thinks; without one, it is told as vLLM
            and others that render templates take it.
        allowed: Whether it may think.
    """
    if not effort:
        return {
            "max_tokens": most_tokens,
            "chat_template_kwargs": {"enable_thinking": allowed},
        }
    # Servers that know this word count thoughts among these tokens, and refuse ``max_tokens``.
    return {
        "max_completion_tokens": most_tokens,
        "reasoning_effort": effort if allowed else "none",
    }


def thought_of(answer: dict[str, Any]) -> Thought:
    """Return what an answer tells of its thought, wherever the server puts it."""
    message = (answer.get("choices") or [{}])[0].get("message") or {}
    text = message.get("reasoning_content") or message.get("reasoning") or ""
    if not text and (found := _WRITTEN_OUT.search(message.get("content") or "")):
        text = found[1].strip()
    details = (answer.get("usage") or {}).get("completion_tokens_details") or {}
    tokens = details.get("reasoning_tokens")
    if tokens is None:
        return Thought(str(text), None if text else 0)
    return Thought(str(text), int(tokens))


def together(thoughts: Sequence[Thought]) -> int | None:
    """Return how many hidden tokens all have; None where one is not known."""
    counts = [one.tokens for one in thoughts]
    return None if None in counts else sum(one or 0 for one in counts)
