"""Encoder-decoders (T5, BART) as scorers: the continuation decoded after the context."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from transformers import PreTrainedModel

from lm.errors import LmError
from lm.scorer import TokenScores

_TOKENS_AT_A_TIME = 2_048
Ids = tuple[int, ...]


class Seq2SeqScorer:
    """A Hugging Face encoder-decoder as a ``Scorer``.

    The encoder reads the context between the tokenizer's special tokens; for a text without a
    context, it reads only the special tokens. The decoder reads the continuation's tokens, and
    each token is scored given those before it. The decoder's start token, and a beginning token
    that the tokenizer adds to every text (as BART's does), are not scored.

    Attributes:
        model: The network, in evaluation mode.
        notes: Sentences on how texts are passed to the model.

    Args:
        model: As above.
        tokenizer: Its tokenizer; it must report each token's position in the text.
        window: The most tokens that the encoder and the decoder each read.
        name: The model's name in tables and figures.
        trained_on: The text it was trained on.

    Raises:
        LmError: The tokenizer or the model lacks a feature that scoring needs.
    """

    def __init__(
        self,
        model: PreTrainedModel,
        tokenizer: Any,  # noqa: ANN401 (the library's own classes say little of their kinds)
        *,
        window: int,
        name: str,
        trained_on: str,
    ) -> None:
        self.model, self._tokenizer, self._window = model, tokenizer, window
        self.name, self.trained_on = name, trained_on
        start = getattr(model.config, "decoder_start_token_id", None)
        if not tokenizer.is_fast:
            raise LmError(
                f"the tokenizer of {name} does not report the positions of its tokens in the text, "
                "as those that read bytes (ByT5) do not. Give a model with a tokenizer.json."
            )
        if start is None:
            raise LmError(
                f"{name} has no decoder_start_token_id in its config.json. Give an encoder-decoder "
                "saved with it."
            )
        self._start = int(start)
        self.notes: tuple[str, ...] = (
            f"{name} is an encoder-decoder: it was given the context to encode, and the "
            "continuation was scored in its decoder.",
        )

    def score(self, requests: Sequence[tuple[str, str]]) -> list[TokenScores]:
        """Return each continuation's scores; see ``Scorer``.

        Raises:
            LmError: A text is longer than the model's window.
        """
        pairs = [self.encode(*request) for request in requests]
        logprobs = self._run(list(dict.fromkeys(pairs)))
        unknown = self._tokenizer.unk_token_id
        return [
            TokenScores(
                tuple(self._tokenizer.convert_ids_to_tokens(list(targets))),
                logprobs[source, prefix, targets],
                np.array([token == unknown for token in targets], np.bool_),
            )
            for source, prefix, targets in pairs
        ]

    def token_ends(self, text: str) -> list[int]:
        """Return the character offset at which each token of a text ends."""
        encoding = self._tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
        return [end for _, end in encoding["offset_mapping"]]

    def boundary_logprobs(self, texts: Sequence[str]) -> None:
        """Return None: decoders' word boundaries are not supported."""

    def encode(self, context: str, continuation: str) -> tuple[Ids, Ids, Ids]:
        """Return the encoder's input, the decoder's input before the scored tokens, and these.

        Raises:
            LmError: A text is longer than the model's window.
        """
        context, continuation = context.strip(), continuation.strip()
        source = tuple(self._tokenizer(context)["input_ids"])
        # Special tokens that this tokenizer adds before a text also belong to the decoder's input.
        encoded_continuation = self._tokenizer(
            text_target=continuation, return_special_tokens_mask=True
        )
        first = encoded_continuation["special_tokens_mask"].index(0) if continuation else 0
        prefix = (self._start, *encoded_continuation["input_ids"][:first])
        targets = self._own_tokens(continuation, after_text=bool(context))
        longest = max(len(source), len(prefix) + len(targets))
        if longest > self._window:
            raise LmError(
                f"{self.name} reads {self._window} tokens at most, but "
                f'"{(context or continuation)[:80]}" and what follows have {longest}, special ones '
                "included. Shorten the text: nothing is cut off silently."
            )
        return source, prefix, targets

    def _own_tokens(self, text: str, *, after_text: bool) -> Ids:
        unspaced, spaced = (
            tuple(self._tokenizer(variant, add_special_tokens=False)["input_ids"])
            for variant in (text, f" {text}")
        )
        # The space belongs to the first word if the tokenizer distinguishes words in mid-text.
        return spaced if after_text and len(spaced) <= len(unspaced) else unspaced

    def _run(self, pairs: Sequence[tuple[Ids, Ids, Ids]]) -> dict[Any, NDArray[np.float64]]:
        requests_by_length: defaultdict[tuple[int, int, int], list[tuple[Ids, Ids, Ids]]] = (
            defaultdict(list)
        )
        for source, prefix, targets in pairs:
            requests_by_length[len(source), len(prefix), len(targets)].append(
                (source, prefix, targets)
            )
        logprobs: dict[Any, NDArray[np.float64]] = {}
        for lengths, group in requests_by_length.items():
            size = max(1, _TOKENS_AT_A_TIME // max(1, sum(lengths)))
            for start in range(0, len(group), size):
                batch = group[start : start + size]
                logprobs.update(zip(batch, self._run_batch(batch), strict=True))
        return logprobs

    @torch.inference_mode()
    def _run_batch(self, batch: Sequence[tuple[Ids, Ids, Ids]]) -> list[NDArray[np.float64]]:
        device = self.model.device
        sources = torch.tensor([source for source, _, _ in batch], device=device)
        decoder_ids = torch.tensor(
            [[*prefix, *targets] for _, prefix, targets in batch], device=device
        )
        n_before = len(batch[0][1])
        logits = self.model(
            input_ids=sources,
            attention_mask=torch.ones_like(sources),
            decoder_input_ids=decoder_ids[:, :-1],
            use_cache=False,
        ).logits[:, n_before - 1 :]
        logprobs = torch.log_softmax(logits.float(), -1)
        targets = logprobs.gather(2, decoder_ids[:, n_before:, None])[..., 0]
        return list(targets.clamp(max=0.0).cpu().numpy().astype(np.float64))
