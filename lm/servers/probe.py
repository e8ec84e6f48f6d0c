"""Which tier a server is of, found out by questions whose answers are known."""

import json
import secrets
from collections.abc import Callable
from typing import Any

from lm.answering.answerer import Tier
from lm.errors import LmError
from lm.servers.replies import echoed

Post = Callable[..., dict[str, Any]]
_ALTERNATIVES = 20


def find_tier(post: Post, *, chat: bool = False) -> tuple[Tier, str]:
    """Return a server's tier, and why it is of no higher one in a sentence (or empty).

    Args:
        post: Calls the server.
        chat: Whether it is asked as a chat, and its probabilities are not looked for.

    Raises:
        LmError: It writes nothing either.
    """
    if chat:
        _writes(post)
        return Tier.SAMPLES, "it was asked as a chat"
    try:
        _echoes(post)
    except LmError as error:
        without_text = str(error)
    else:
        return Tier.TEXT, ""
    try:
        answer = post("completions", prompt="1 2 3 4", max_tokens=1, logprobs=_ALTERNATIVES)
        if len(alternatives(answer)) > 1:
            return Tier.NEXT, without_text
    except LmError as error:
        without_text += f"; {error}"
    _writes(post)
    return Tier.SAMPLES, f"{without_text}; it names no alternatives for the next token"


def _writes(post: Post) -> None:
    answer = post("chat/completions", messages=[_user("Say something.")], max_tokens=4)
    if not isinstance(written(answer), str):
        said = json.dumps(answer, ensure_ascii=False)[:200]
        raise LmError(
            f"the server writes nothing: {said}. Expected a text as content of the first choice's "
            "message. Ask for a model that writes, at an address that speaks OpenAI's protocol."
        )


def _echoes(post: Post) -> None:
    """Raise an LmError unless two texts that nobody asked about before are echoed as they are."""
    for _ in range(2):
        text = f"the {secrets.token_hex(4)} of the {secrets.token_hex(4)} is the"
        reply = post("completions", prompt=text, max_tokens=1, echo=True, logprobs=1)
        if len(echoed(reply, text)) < len(text.split()) // 2:
            raise LmError("the server gave fewer log-probabilities than the text has words")


def alternatives(answer: dict[str, Any]) -> dict[str, float]:
    """Return the next token's alternatives with their log-probabilities; none where none are."""
    choice = (answer.get("choices") or [{}])[0]
    given = choice.get("logprobs") or {}
    if given.get("top_logprobs"):
        return dict(given["top_logprobs"][0] or {})
    content = given.get("content") or []
    return {
        each["token"]: each["logprob"] for each in (content[0]["top_logprobs"] if content else [])
    }


def written(answer: dict[str, Any]) -> str | None:
    """Return what a chat model wrote."""
    choice = (answer.get("choices") or [{}])[0]
    found = (choice.get("message") or {}).get("content")
    return found if isinstance(found, str) else None


def _user(text: str) -> dict[str, str]:
    return {"role": "user", "content": text}
