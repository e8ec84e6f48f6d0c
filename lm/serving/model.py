"""What a served model says: echoes, alternatives, samples, and what it does wrong on purpose."""

import math
import random
import re
from collections.abc import Sequence
from enum import StrEnum
from itertools import pairwise

from lm.scorer import HasSubwords, Scorer

# The answers that are looked at for the next token: our scorers tell how probable a given text is,
# and do not list a vocabulary. What else the model might say stands together as one unread text.
CANDIDATES = (*"123456789", *"ABCDEFGHI", *"RSTUVWXYZ", "yes", "no")
ELSE = "Well, it depends"
# A token of word-level models with the space before it.
_PIECE = re.compile(r"\s*(?:\w+(?:['\u2019-]\w+)*|[^\w\s])")


class Fault(StrEnum):
    """A planted fault; each strikes at every third call, where nothing else is said."""

    RATE_LIMIT = "rate_limit"  # 429 with Retry-After
    CUT = "cut"  # the answer ends in the middle
    MODEL_CHANGED = "model_changed"  # another fingerprint from the twelfth call on
    MISSING_LOGPROBS = "missing_logprobs"  # null in place of log-probabilities
    STALE_LOGPROBS = "stale_logprobs"  # those of the text before
    ECHO_IGNORED = "echo_ignored"  # always: the completion alone
    TRUNCATED_ALTERNATIVES = "truncated_alternatives"  # always: the most probable one alone
    REFUSES = "refuses"  # always, in chats: declines to answer


EVERY, CHANGED_AFTER = 3, 12


class ServedModel:
    """A scorer that answers as completions and chats do.

    Word-level models read a text in tokens of words and marks, in lower case unless they know
    capital letters.

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
        words = " ".join(piece.strip() for piece in _PIECE.findall(text))
        return words if self._cased else words.lower()

    def pieces(self, text: str) -> tuple[list[str], list[float | None]]:
        """Return tokens, which add up to the text, and their log-probabilities: none at first."""
        [scores] = self._scorer.score([("", self._write(text))])
        if isinstance(self._scorer, HasSubwords):
            tokens = [text[a:b] for a, b in pairwise([0, *self._scorer.token_ends(text)])]
        else:
            tokens = _PIECE.findall(text)
        tokens[-1] += text[sum(map(len, tokens)) :]
        return tokens, [None, *scores.logprobs_nats.tolist()[1:]]

    def alternatives(self, prompt: str, n: int) -> list[tuple[str, float]]:
        """Return the ``n`` most probable candidates behind a prompt, with log-probabilities."""
        read = self._write(prompt)
        requests = [(read, self._write(each)) for each in CANDIDATES]
        scores = self._scorer.score(requests)
        found = [
            (each, float(one.logprobs_nats.sum()))
            for each, one in zip(CANDIDATES, scores, strict=True)
        ]
        return sorted(found, key=lambda pair: -pair[1])[:n]

    def sample(self, prompt: str, seed: int, temperature: float) -> str:
        """Return a candidate drawn by its probability, or a text that is none."""
        found = self.alternatives(prompt, len(CANDIDATES))
        if temperature == 0:
            return found[0][0]
        weights = [math.exp(logprob / temperature) for _, logprob in found]
        rest = max(0.0, 1.0 - sum(weights)) if temperature == 1 else 0.0
        said: Sequence[str] = [*(text for text, _ in found), ELSE]
        return random.Random(f"{seed} {prompt}").choices(said, [*weights, rest])[0]
