"""Images in prompts, in the chat format of OpenAI-compatible servers.

A study's texts can contain a Markdown image with its bytes in the address. Participants see it, so
a model participant must see it, too. In a chat, such a message is a list of parts: texts and
``image_url``.
"""

import re
from typing import Any

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


def elsewhere(prompt: str) -> str:
    """Return the address of an image that is not embedded in the prompt; empty if all are."""
    urls = (found["url"] for found in _IMAGE.finditer(prompt))
    return next((url for url in urls if not _WITH_BYTES.match(url)), "")


def content(prompt: str) -> str | list[dict[str, Any]]:
    """Return a message's content: the prompt, or the list of its texts and images in order."""
    if not has_images(prompt):
        return prompt
    parts, end = list[dict[str, Any]](), 0
    for found in _IMAGE.finditer(prompt):
        parts += _text(prompt[end : found.start()])
        parts.append({"type": "image_url", "image_url": {"url": found["url"]}})
        end = found.end()
    return parts + _text(prompt[end:])


def tokens_at_most(prompt: str) -> int:
    """Return the largest possible number of tokens in a prompt: no token is below one byte."""
    return len(prompt.encode()) + _MOST_TOKENS * len(_IMAGE.findall(prompt))


def _text(text: str) -> list[dict[str, Any]]:
    return [{"type": "text", "text": text}] if text.strip() else []
