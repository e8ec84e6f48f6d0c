"""Vectors of texts by a Hugging Face encoder in a folder: the mean over its tokens."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from transformers import AutoConfig, AutoModel, AutoTokenizer

from lm.errors import LmError, why_unread
from lm.huggingface.load import fetch_from_library, find_window, refuse_adapter

_BATCH = 64
# What models of the library sentence-transformers do after the encoder. The mean over tokens in
# another scale is the same, because the distances are of vectors of length 1.
_MODULES, _POOLING = "modules.json", "1_Pooling/config.json"
_SAME_AS_MEAN = ("Transformer", "Pooling", "Normalize")
_OTHER_MODES = tuple(
    f"pooling_mode_{mode}"
    for mode in ("cls_token", "max_tokens", "mean_sqrt_len_tokens", "weightedmean_tokens",
                 "lasttoken")
)  # fmt: skip
# A layer on the first token's vector, which the mean does not use.
_POOLER = "pooler."


class Encoder:
    """An encoder's vectors: the mean of the last layer over all tokens, special ones included.

    This is the mean pooling of Reimers & Gurevych (2019), Sentence-BERT, section 3.

    Args:
        folder: The model's folder.

    Raises:
        LmError: The folder has no usable encoder, or its vectors are no means over tokens.
    """

    def __init__(self, folder: Path) -> None:
        source = str(folder.resolve())
        refuse_adapter(folder)
        _refuse_other_pooling(folder)
        config = fetch_from_library(AutoConfig.from_pretrained, source)
        if config.is_encoder_decoder:
            raise LmError(
                f"{folder} is an encoder-decoder model. Expected an encoder, such as BERT or a "
                "model of sentence-transformers that averages over tokens."
            )
        model, report = fetch_from_library(
            AutoModel.from_pretrained, source, dtype=torch.float32, output_loading_info=True
        )
        missing = sorted(key for key in report["missing_keys"] if not key.startswith(_POOLER))
        if missing:
            raise LmError(
                f"{folder} lacks {len(missing)} weights of a {type(model).__name__}, among them "
                f"{missing[0]}; they would be random. Give a folder with all weights."
            )
        self._tokenizer = fetch_from_library(AutoTokenizer.from_pretrained, source)
        self._window = find_window(config, self._tokenizer, str(folder), model)
        self._model = model.eval()

    @property
    def kind(self) -> str:
        """The model's class in the library."""
        return type(self._model).__name__

    @torch.inference_mode()
    def embed(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Return the vectors of texts.

        Args:
            texts: The texts.

        Returns:
            Shape ``(texts, dimensions)``; NaN for a text with an unknown token, or longer than the
            model reads.
        """
        by_length = dict[int, list[tuple[int, list[int]]]]()
        for place, text in enumerate(texts):
            tokens = list(self._tokenizer(text)["input_ids"])
            if self._tokenizer.unk_token_id not in tokens and 0 < len(tokens) <= self._window:
                by_length.setdefault(len(tokens), []).append((place, tokens))
        vectors = np.full((len(texts), int(self._model.config.hidden_size)), np.nan)
        # Texts of one length need no padding, which not every model has.
        for same_length in by_length.values():
            for start in range(0, len(same_length), _BATCH):
                batch = same_length[start : start + _BATCH]
                input_ids = torch.tensor([tokens for _, tokens in batch])
                states = self._model(input_ids=input_ids).last_hidden_state
                vectors[[place for place, _ in batch]] = states.mean(1).double().numpy()
        return vectors


def _refuse_other_pooling(folder: Path) -> None:
    """Raise an error if a folder of sentence-transformers does not average over tokens."""
    kinds = [module["type"].rpartition(".")[2] for module in _read_json(folder / _MODULES) or ()]
    pooling = _read_json(folder / _POOLING) or {}
    other = [
        *(kind for kind in kinds if kind not in _SAME_AS_MEAN),
        *(key for key, used in pooling.items() if used is True and key in _OTHER_MODES),
    ]
    if other:
        raise LmError(
            f"{folder}: this model makes its vectors in another way ({', '.join(other)}). Expected "
            "an encoder whose vectors are the mean over tokens."
        )


def _read_json(path: Path) -> Any:  # noqa: ANN401
    try:
        return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None
    except ValueError as error:
        raise LmError(
            f"{path}: {why_unread(error, path)}. Expected the JSON of sentence-transformers."
        ) from error
