"""The log-probabilities of a given text as a server echoes it, checked token by token."""

from math import isfinite
from typing import Any

from lm.errors import LmError


class UnusableAnswerError(LmError):
    """A server's answer came whole, and says nothing of what was asked."""


def echoed(answer: dict[str, Any], text: str) -> list[tuple[int, float | None]]:
    """Return where each token of an echoed text begins, and its log-probability.

    Servers that ignore ``echo``, give none for prompts, or give those of another text, are seen
    here: tokens must add up to the very text, each with one log-probability, but for the first.

    Raises:
        UnusableAnswerError: The answer is none about this text.
    """
    given = (answer.get("choices") or [{}])[0].get("logprobs") or {}
    tokens, logprobs = given.get("tokens") or [], given.get("token_logprobs") or []
    if not tokens or len(tokens) != len(logprobs):
        raise UnusableAnswerError(f'the server gave no log-probabilities of the text "{text[:60]}"')
    found, read = list[tuple[int, float | None]](), ""
    for token, logprob in zip(tokens, logprobs, strict=True):
        if len(read) >= len(text):
            break  # what it wrote itself behind the text
        found.append((len(read), logprob))
        read += token
    if read != text:
        raise UnusableAnswerError(
            f'the server gave the log-probabilities of another text ("{read[:60]}") than it was '
            f'asked about ("{text[:60]}")'
        )
    wrong = [one for _, one in found[1:] if one is None or not isfinite(one) or one > 0]
    if wrong or not found:
        raise UnusableAnswerError(
            f"the server gave {wrong[0] if wrong else 'nothing'} as a log-probability of a token of"
            f' "{text[:60]}"'
        )
    return found
