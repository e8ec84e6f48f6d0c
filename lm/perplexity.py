"""The perplexity of a text under any ``Scorer``."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from more_itertools import chunked

from lm.corpora.vocab import END
from lm.errors import LmError
from lm.scorer import Scorer

_SENTENCES_AT_A_TIME = 2048


@dataclass(frozen=True, slots=True)
class Perplexity:
    """A model's prediction of a text; each sentence, its end included, is scored separately.

    Attributes:
        logprob_nats: The sum of the counted tokens' log-probabilities.
        n_tokens: The number of counted tokens, ends of sentences included.
        n_unknown: The number of unknown tokens, counted or not.
        n_sentences: The number of sentences.
        with_unknown: Whether unknown tokens are counted. Gulordava et al. (2018) exclude them.
    """

    logprob_nats: float
    n_tokens: int
    n_unknown: int
    n_sentences: int
    with_unknown: bool

    @property
    def value(self) -> float:
        """exp(-logprob / tokens)."""
        return math.exp(-self.logprob_nats / self.n_tokens)


def perplexity(
    scorer: Scorer, sentences: Iterable[Sequence[str]], with_unknown: bool = False
) -> Perplexity:
    """Return a model's perplexity on a text.

    In either case, unknown words are part of later words' contexts, as ``<unk>``.

    Raises:
        LmError: There is no token to count.
    """
    logprobs: list[float] = []
    n_all = n_unknown = n_sentences = 0
    for batch in chunked(sentences, _SENTENCES_AT_A_TIME):
        for scores in scorer.score([("", f"{' '.join(tokens)} {END}") for tokens in batch]):
            counted = scores.logprobs_nats[slice(None) if with_unknown else ~scores.unknown]
            logprobs.append(float(counted.sum()))
            n_all += len(scores.tokens)
            n_unknown += int(scores.unknown.sum())
        n_sentences += len(batch)
    n_tokens = n_all if with_unknown else n_all - n_unknown
    if not n_tokens:
        raise LmError(
            "the text has no token to count: it is empty, or every word is unknown. Give "
            "another text."
        )
    return Perplexity(math.fsum(logprobs), n_tokens, n_unknown, n_sentences, with_unknown)
