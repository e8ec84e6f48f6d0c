"""Hugging Face models as scorers: causal ones, and masked ones by pseudo-log-likelihood.

Every request becomes rows of token numbers, with the positions at which predictions are read. Rows
are packed into tries, or else rows of equal length run in one batch: nothing is ever padded,
so the tokenizer's padding and its side cannot change a score.
"""

import hashlib
from collections import defaultdict
from collections.abc import Sequence
from contextlib import nullcontext
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from transformers import PreTrainedModel
from transformers.pytorch_utils import Conv1D

from lm.errors import LmError
from lm.huggingface.encoding import Encoded, Row, TextEncoder
from lm.huggingface.next_words import search_words
from lm.scorer import TokenScores
from lm.scoring.packed_linear import PackedLayers
from lm.scoring.tree_packing import NODES_AT_A_TIME, WORST_NATS, CheckedPacking, TreePacking

TOKENS_AT_A_TIME = 2_048
# Packing the weights takes as long as it saves with about so many tokens.
_LEAST_TOKENS_TO_PACK = 512
# The exponentials of so many tokens' logits stay in a processor's cache.
_SUMS_AT_A_TIME = 16
_N_SAMPLE_WORDS = 8


class PreparedTexts(NamedTuple):
    """Tokenised requests: the same for all models with the tokenizer.

    Attributes:
        tokens: The tokens of each continuation.
        unknown: Whether each of these tokens is unknown.
        rows: The model inputs that score each continuation.
    """

    tokens: list[tuple[str, ...]]
    unknown: list[NDArray[np.bool_]]
    rows: list[list[Row]]


class HfScorer:
    """A Hugging Face language model as a ``Scorer``; its tokens are the model's own sub-words.

    Context and continuation are joined by one space and tokenised as one text, so a continuation's
    first word gets the space before it that it would have in running text. A ``</s>`` or other
    special token written in the text is read as that token.

    On the CPU, a model keeps a second copy of its weights, packed for faster products
    (``PackedLayers``); later changes to ``model`` do not affect the copy.

    Attributes:
        model: The network, in evaluation mode.
        encoder: The model's tokenizer, which also sets the beginning of texts.
        packing: Whether to pack texts into tries if the model allows it.
        notes: Sentences on how texts are passed to the model.

    Args:
        model: As above.
        encoder: As above.
        name: The model's name in tables and figures.
        trained_on: The text it was trained on.
    """

    def __init__(
        self, model: PreTrainedModel, encoder: TextEncoder, *, name: str, trained_on: str
    ) -> None:
        self.model, self.encoder, self.name, self.trained_on = model, encoder, name, trained_on
        self.packing = True
        self.notes: tuple[str, ...] = ()
        self._refuse_acausal()
        self._layers = PackedLayers(model, NODES_AT_A_TIME, transposed=Conv1D)
        self._packed, self._fault = self._packed_way()

    def score(self, requests: Sequence[tuple[str, str]]) -> list[TokenScores]:
        """Return each continuation's scores; see ``Scorer``.

        For causal models the score of a token is log P(token | beginning, the tokens before it).
        For masked models it is log P(token | all other tokens but those after it in its word):
        the pseudo-log-likelihood of Salazar et al. (2020) with the correction of Kauf & Ivanova
        (2023), which hides the rest of a word while its beginning is predicted.

        Raises:
            LmError: A text is longer than the model's window, or a token spans the border
                between context and continuation.
        """
        return self.score_prepared(self.prepare(requests))

    @property
    def tokenizer_hash(self) -> str:
        """The hash of the tokenizer; models with equal ones can score each other's texts."""
        encoder = self.encoder
        written = encoder.tokenizer.backend_tokenizer.to_str()
        settings = f"{written} {encoder.beginning} {encoder.window} {encoder.pll}"
        return hashlib.sha256(settings.encode()).hexdigest()

    def prepare(self, requests: Sequence[tuple[str, str]]) -> PreparedTexts:
        """Return requests in a form that models with this tokenizer score without repeated work.

        Raises:
            LmError: As ``score``.
        """
        return self._prepare_encoded([self.encoder.encode(*request) for request in requests])

    def score_rendered(self, requests: Sequence[tuple[str, str]]) -> list[TokenScores]:
        """Return the scores of answers that directly follow a rendered template; see ``score``."""
        encoded = [self.encoder.encode_rendered(*request) for request in requests]
        return self.score_prepared(self._prepare_encoded(encoded))

    def _prepare_encoded(self, encoded: Sequence[Encoded]) -> PreparedTexts:
        return PreparedTexts(
            [self.encoder.tokens(text) for text in encoded],
            [self.encoder.unknown(text) for text in encoded],
            [self.encoder.rows(text) for text in encoded],
        )

    def score_prepared(self, texts: PreparedTexts) -> list[TokenScores]:
        """Return the scores of requests that a model with this tokenizer prepared."""
        logprobs = self.run([row for group in texts.rows for row in group])
        return [
            TokenScores(
                tokens, np.concatenate([np.empty(0), *(logprobs[row] for row in group)]), unknown
            )
            for tokens, unknown, group in zip(*texts, strict=True)
        ]

    @property
    def packing_fault(self) -> str:
        """The reason why texts are not packed into tries; empty if they are.

        The reason is known only after scoring, because packing is tried on the scored texts.
        """
        return self._packed.fault if self._packed else self._fault

    def _packed_way(self) -> tuple[CheckedPacking | None, str]:
        """Return the model's tree packing, not tested yet, or why there is none."""
        if self.encoder.beginning is None:
            return None, "a masked model also reads the words that follow"
        head = self.model.get_output_embeddings()
        weight = getattr(head, "weight", None)
        if not isinstance(weight, torch.Tensor):
            return None, "its last layer is not a matrix of words"
        if weight.dtype is not torch.float32:
            return None, "its weights are not float32, so sums in another order differ visibly"
        packing = TreePacking(
            self._compute_hidden_states, weight.detach(), getattr(head, "bias", None)
        )
        return CheckedPacking(packing, self._plain_scores), ""

    def _refuse_acausal(self) -> None:
        """Raise an LmError if a causal model's scores depend on later tokens."""
        if self.encoder.beginning is None:
            return
        n_words = self.model.config.get_text_config().vocab_size
        numbers = np.random.default_rng(1).integers(0, n_words, (3, _N_SAMPLE_WORDS)).tolist()
        begin = self.encoder.beginning
        strings = [[begin, *numbers[0], *ending] for ending in numbers[1:]]
        try:
            first_scores, second_scores = (
                scores[:_N_SAMPLE_WORDS] for scores in self._plain_scores(strings)
            )
        # Models may need inputs other than text; the possible errors cannot be listed.
        except Exception as error:
            reason = str(error).splitlines()[0] if str(error) else ""
            raise LmError(
                f"{self.name} cannot be run on a text alone ({type(error).__name__}: {reason}). "
                "Give a causal or masked language model that reads nothing but tokens."
            ) from error
        self._refuse_no_numbers([first_scores, second_scores])
        worst = float(np.max(np.abs(first_scores - second_scores)))
        if worst > WORST_NATS:
            raise LmError(
                f"{self.name} does not predict a word from the words before it: its scores "
                f"change by {worst:.2g} nats with the words after it. If it is a causal model, its "
                'config.json may lack "is_decoder": true; if not, give its masked version.'
            )

    def _refuse_no_numbers(self, scores: Sequence[NDArray[np.float64]]) -> None:
        """Raise an LmError if a score is not a number, with the reason."""
        if all(np.isfinite(values).all() for values in scores):
            return
        broken = [n for n, part in self.model.named_parameters() if not part.isfinite().all()]
        if broken:
            reason = f"its weights {broken[0]} hold NaN or infinite numbers. Give intact weights."
        elif self.model.dtype == torch.float16:
            reason = (
                "its numbers grow beyond 65,504, the greatest of float16. Load it with --dtype "
                "bfloat16 or float32."
            )
        else:
            reason = "it gives tokens a probability of 0 or none. Give another model."
        raise LmError(f"{self.name} gives scores that are not finite numbers: {reason}")

    def _compute_hidden_states(
        self, ids: torch.Tensor, places: torch.Tensor, mask: torch.Tensor
    ) -> torch.Tensor:
        with self._layers.in_use():
            read = self.model.base_model(
                input_ids=ids, position_ids=places, attention_mask=mask, use_cache=False
            )
        return read.last_hidden_state  # type: ignore[no-any-return]

    def _plain_scores(self, strings: Sequence[Sequence[int]]) -> list[NDArray[np.float64]]:
        rows = [Row(tuple(s[:-1]), tuple(range(len(s) - 1)), tuple(s[1:])) for s in strings]
        scores = self._run_side_by_side(rows)
        return [scores[row] for row in rows]

    def run(self, rows: Sequence[Row]) -> dict[Row, NDArray[np.float64]]:
        """Run the model; return the predictions of each row: natural-log probabilities, at most 0.

        Equal rows are run once, and so are shared beginnings, if the model allows it.

        Returns:
            For each row float64, shape ``(places,)``.
        """
        distinct_rows = list(dict.fromkeys(rows))
        packed = self._run_packed(distinct_rows) if self.packing else None
        if packed is not None:
            return packed
        is_large = sum(len(row.ids) for row in distinct_rows) >= _LEAST_TOKENS_TO_PACK
        with self._layers.in_use() if self.packing and is_large else nullcontext():
            return self._run_side_by_side(distinct_rows)

    def _run_packed(self, rows: Sequence[Row]) -> dict[Row, NDArray[np.float64]] | None:
        """Do the work of ``run`` by packing; return None if that is impossible or costs more."""
        if self._packed is None:
            return None
        context_lengths = [row.places[0] + 1 for row in rows]
        strings = [(*row.ids, row.wanted[-1]) for row in rows]
        pays = self._packed.pays(strings)
        scores = self._packed.logprobs_nats(strings, context_lengths) if pays else None
        if scores is None:
            return None
        triples = zip(rows, scores, context_lengths, strict=True)
        return {row: row_scores[start:] for row, row_scores, start in triples}

    def reference_logprobs(
        self, texts: Sequence[str], places: Sequence[Sequence[int]]
    ) -> list[NDArray[np.float64]]:
        """Return some tokens' log-probabilities, computed in the simplest way: one run for each.

        A causal model reads only the tokens before the predicted one, so that its prediction cannot
        depend on later tokens.

        Args:
            texts: Whole texts.
            places: The indices of tokens, among those that ``score`` returns for each text.

        Returns:
            For each text float64, shape ``(places,)``.
        """
        groups = [
            [row for index, row in enumerate(self._single_rows(text)) if index in chosen]
            for text, chosen in zip(texts, map(set, places), strict=True)
        ]
        logprobs = self._run_side_by_side([row for group in groups for row in group])
        return [
            np.concatenate([np.empty(0), *(logprobs[row] for row in group)]) for group in groups
        ]

    def _single_rows(self, text: str) -> list[Row]:
        """Return one model input per token; a causal model's holds only the tokens before it."""
        causal = self.encoder.beginning is not None
        return [
            Row(row.ids[: index + 1] if causal else row.ids, (index,), (wanted,))
            for row in self.encoder.rows(self.encoder.encode("", text))
            for index, wanted in zip(row.places, row.wanted, strict=True)
        ]

    def token_ends(self, text: str) -> list[int]:
        """Return the character offset at which each token of a text ends."""
        return list(self.encoder.encode("", text).ends)

    def boundary_logprobs(self, texts: Sequence[str]) -> list[NDArray[np.float64]] | None:
        """Return, for each token of each text, log P(a new word or the end follows it).

        Returns:
            For each text float64, shape ``(tokens,)``; None for masked models, and if no token
            starts with the space before a word.
        """
        starts = self.encoder.word_starts()
        if self.encoder.beginning is None or not starts:
            return None
        by_ids: dict[tuple[int, ...], NDArray[np.float64]] = {}
        encoded = [self.encoder.encode("", text) for text in texts]
        for ids in dict.fromkeys(encoding.ids for encoding in encoded):
            by_ids[ids] = self._score_boundaries(ids, starts)
        return [by_ids[encoding.ids][np.array(encoding.scored, np.int64)] for encoding in encoded]

    @torch.inference_mode()
    def top_words(self, before: str, n: int) -> list[str]:
        """Return the most probable next words, most probable first; see ``lm.completions``."""
        return search_words(self._next_logits, self.encoder, before, n)

    def _next_logits(self, ids: torch.Tensor) -> torch.Tensor:
        rows = ids.to(self.model.device)
        read = self.model(input_ids=rows, attention_mask=torch.ones_like(rows))
        return read.logits[:, -1]  # type: ignore[no-any-return]

    @torch.inference_mode()
    def _score_boundaries(self, ids: Sequence[int], starts: Sequence[int]) -> NDArray[np.float64]:
        read = torch.tensor([ids], device=self.model.device)
        logits = self.model(input_ids=read, attention_mask=torch.ones_like(read)).logits[0].double()
        mass = logits[:, starts].logsumexp(1) - logits.logsumexp(1)
        return np.asarray(mass.cpu().numpy(), np.float64)

    def _run_side_by_side(self, rows: Sequence[Row]) -> dict[Row, NDArray[np.float64]]:
        """Do the work of ``run`` with equal rows run once and rows of one length in one batch."""
        of_length: defaultdict[int, list[Row]] = defaultdict(list)
        for row in dict.fromkeys(rows):
            of_length[len(row.ids)].append(row)
        logprobs: dict[Row, NDArray[np.float64]] = {}
        for length, group in of_length.items():
            size = max(1, TOKENS_AT_A_TIME // length)
            for start in range(0, len(group), size):
                batch = group[start : start + size]
                logprobs.update(zip(batch, self._run_batch(batch), strict=True))
        return logprobs

    def _logits_at(self, ids: torch.Tensor, indices: torch.Tensor) -> torch.Tensor:
        """Return the logits at some tokens only: shape ``(indices, words)``.

        A masked model needs one token of each row. Most of its work would be the last layer's for
        all the other tokens, so that layer reads only these, if the model calls it as a module.
        """
        head = self.model.get_output_embeddings()
        every = torch.equal(indices, torch.arange(ids.numel(), device=indices.device))

        def choose(_: torch.nn.Module, inputs: tuple[torch.Tensor]) -> tuple[torch.Tensor]:
            return (inputs[0].flatten(0, -2)[indices],)

        is_linear = isinstance(head, torch.nn.Linear)
        hook = head.register_forward_pre_hook(choose) if is_linear and not every else None
        try:
            read = self.model(input_ids=ids, attention_mask=torch.ones_like(ids))
        finally:
            if hook:
                hook.remove()
        logits: torch.Tensor = read.logits
        if logits.ndim == 2:
            return logits
        # The large matrix is not copied without need.
        return logits.flatten(0, 1) if every else logits.flatten(0, 1)[indices]

    @torch.inference_mode()
    def _run_batch(self, rows: Sequence[Row]) -> list[NDArray[np.float64]]:
        device, n_places = self.model.device, [len(row.places) for row in rows]
        ids = torch.tensor([row.ids for row in rows], device=device)
        row_numbers = torch.arange(len(rows), device=device).repeat_interleave(
            torch.tensor(n_places, device=device)
        )
        places = torch.tensor([p for row in rows for p in row.places], device=device)
        targets = torch.tensor([w for row in rows for w in row.wanted], device=device)
        place_logits = self._logits_at(ids, row_numbers * ids.shape[1] + places).float()
        sums = [part.logsumexp(dim=1) for part in torch.split(place_logits, _SUMS_AT_A_TIME)]
        logprobs = place_logits.gather(1, targets[:, None])[:, 0] - torch.cat(sums)
        # Rounding can make a probability close to 1 exceed 1 by the last digit.
        all_logprobs = logprobs.clamp(max=0.0).cpu().numpy().astype(np.float64)
        return np.split(all_logprobs, np.cumsum(n_places)[:-1])
