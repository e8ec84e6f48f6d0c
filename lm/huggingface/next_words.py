"""Search the most probable next words of a causal model, best first.

A word's probability is the product of its tokens' times the probability that a new word or the end
follows. The product without that end is an upper bound of every word that begins with these tokens,
so that the words are completed in the order of their probability.
"""

import heapq
from collections.abc import Callable, Sequence

import torch

from lm.completions import is_word
from lm.huggingface.encoding import TextEncoder

# The next tokens of each beginning that are looked at, and how many beginnings are read at most.
_WIDTH, _MOST_READ, _AT_A_TIME = 100, 400, 8
Logits = Callable[[torch.Tensor], torch.Tensor]


def search_words(logits: Logits, encoder: TextEncoder, before: str, n: int) -> list[str]:
    """Return the most probable next words, most probable first.

    Args:
        logits: Returns the logits of the next tokens for rows of token numbers, shape
            ``(rows, vocabulary)``.
        encoder: The tokenizer. Without tokens that start with a space nothing is found.
        before: The text before the word.
        n: How many words to find.
    """
    starts = encoder.word_starts()
    if encoder.beginning is None or not starts:
        return []
    prefix = encoder.encode("", before).ids
    is_start = torch.zeros(1, dtype=torch.bool)
    words: dict[str, float] = {}
    beginnings: list[tuple[float, tuple[int, ...]]] = [(0.0, ())]
    read = 0
    while beginnings and read < _MOST_READ:
        best = sorted(words.values(), reverse=True)[:n]
        # No other beginning can become one of the n words.
        if len(best) == n and -beginnings[0][0] <= best[-1]:
            break
        length = len(beginnings[0][1])
        batch: list[tuple[float, tuple[int, ...]]] = []
        while beginnings and len(batch) < _AT_A_TIME and len(beginnings[0][1]) == length:
            batch.append(heapq.heappop(beginnings))
        read += len(batch)
        rows = torch.tensor([[*prefix, *tokens] for _, tokens in batch])
        logprobs = logits(rows).double().log_softmax(1).cpu()
        if len(is_start) == 1:
            is_start = torch.zeros(logprobs.shape[1], dtype=torch.bool)
            is_start[starts] = True
        ends = logprobs[:, is_start].logsumexp(1).tolist()
        for (negative, tokens), row, end in zip(batch, logprobs, ends, strict=True):
            if tokens:
                word = encoder.decode(tokens)
                if is_word(word):
                    words[word] = max(words.get(word, -torch.inf), end - negative)
            _extend(beginnings, negative, tokens, row, is_start)
    return sorted(words, key=lambda word: -words[word])[:n]


def _extend(
    beginnings: list[tuple[float, tuple[int, ...]]],
    negative: float,
    tokens: Sequence[int],
    logprobs: torch.Tensor,
    is_start: torch.Tensor,
) -> None:
    """Add the most probable continuations of a beginning: at first tokens that start a word."""
    allowed = is_start if not tokens else ~is_start
    values, places = logprobs.masked_fill(~allowed, -torch.inf).topk(min(_WIDTH, len(logprobs)))
    for value, place in zip(values.tolist(), places.tolist(), strict=True):
        if value > -torch.inf:
            heapq.heappush(beginnings, (negative - value, (*tokens, place)))
