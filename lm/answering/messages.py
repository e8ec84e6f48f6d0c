"""Messages to a server: images in prompts, and thinking before answers.

A study's texts can contain a Markdown image with its bytes in the address. Participants see it, so
a model participant must see it, too. In a chat, such a message is a list of parts: texts and
``image_url``.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from lm.answering.replies import ServerReply

_IMAGE = re.compile(r"!\[[^\]]*\]\((?P<url>[^)\s]*)[^)]*\)")
_EMBEDDED_IMAGE = re.compile(r"data:image/(png|jpeg|gif|webp);base64,")
# The tokens reserved for an image of any size.
_MOST_TOKENS = 50_000
# A single white pixel, sent to test whether a server accepts images.
PIXEL = (
    "![](data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGP4DwAB"
    "AQEAsTj2FAAAAABJRU5ErkJggg==)"
)


def has_images(prompt: str) -> bool:
    """Return whether a prompt contains images."""
    return bool(_IMAGE.search(prompt))


def find_external_image(prompt: str) -> str:
    """Return the address of an image that is not embedded in the prompt; empty if all are."""
    urls = (match["url"] for match in _IMAGE.finditer(prompt))
    return next((url for url in urls if not _EMBEDDED_IMAGE.match(url)), "")


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


_THINKING_TEXT = re.compile(r"<think>(.*?)(?:</think>|\Z)", re.DOTALL)


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


def find_thought(reply: ServerReply) -> Thought:
    """Return the thinking in a reply, from any of the places where servers put it."""
    message = reply.choices[0].message
    text = (message and (message.reasoning_content or message.reasoning)) or ""
    if not text and message and (match := _THINKING_TEXT.search(message.content or "")):
        text = match[1].strip()
    tokens = reply.reasoning_tokens
    return Thought(text, None if text else 0) if tokens is None else Thought(text, tokens)


def total_thinking_tokens(thoughts: Sequence[Thought]) -> int | None:
    """Return the total of thinking tokens; None if one of the numbers is unknown."""
    counts = [thought.tokens for thought in thoughts]
    return None if None in counts else sum(thought or 0 for thought in counts)
