"""Images in prompts, as chats of OpenAI-compatible servers take them.

A study's texts can hold an image as Markdown does, with its bytes in the address: people see it, so
a model has to. In a chat, a message is then a list of parts, texts and ``image_url`` in turn.
"""

import re
from typing import Any

_IMAGE = re.compile(r"!\[[^\]]*\]\((?P<url>[^)\s]*)[^)]*\)")
_WITH_BYTES = re.compile(r"data:image/(png|jpeg|gif|webp);base64,")
# What is set aside for one, however small its file is.
_MOST_TOKENS = 50_000
# One white point: what a server is asked about to see whether it takes images.
POINT = (
    "![](data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGP4DwAB"
    "AQEAsTj2FAAAAABJRU5ErkJggg==)"
)


def has_images(prompt: str) -> bool:
    """Return whether a prompt shows images."""
    return bool(_IMAGE.search(prompt))


def elsewhere(prompt: str) -> str:
    """Return the address of an image that is not in the prompt itself; empty where all are."""
    urls = (found["url"] for found in _IMAGE.finditer(prompt))
    return next((url for url in urls if not _WITH_BYTES.match(url)), "")


def content(prompt: str) -> str | list[dict[str, Any]]:
    """Return a message's content: the prompt, or its texts and images in their order."""
    if not has_images(prompt):
        return prompt
    parts, end = list[dict[str, Any]](), 0
    for found in _IMAGE.finditer(prompt):
        parts += _text(prompt[end : found.start()])
        parts.append({"type": "image_url", "image_url": {"url": found["url"]}})
        end = found.end()
    return parts + _text(prompt[end:])


def tokens_at_most(prompt: str) -> int:
    """Return how many tokens a prompt can have: no token has less than a byte."""
    return len(prompt.encode()) + _MOST_TOKENS * len(_IMAGE.findall(prompt))


def _text(text: str) -> list[dict[str, Any]]:
    return [{"type": "text", "text": text}] if text.strip() else []
