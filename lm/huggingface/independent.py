"""Independent recomputation of Hugging Face models' log-probabilities.

This module shares no code with the scorer. It loads the model and its tokenizer again, runs whole
texts through the library's own ``forward``, and determines beginnings, hidden tokens and word
boundaries in a different way.
"""

import unicodedata
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    AutoModelForImageTextToText,
    AutoModelForMaskedLM,
    AutoModelForSeq2SeqLM,
    AutoTokenizer,
)

from lm.devices import DeviceChoice, choose_device
from lm.model_folder import split_revision
from lm.weights import Dtype

# The start of the Unicode names of letters in scripts without spaces between words.
_UNSPACED_NAMES = (
    "CJK UNIFIED", "CJK COMPATIBILITY IDEOGRAPH", "HANGZHOU NUMERAL", "IDEOGRAPHIC ITERATION",
    "VERTICAL IDEOGRAPHIC", "IDEOGRAPHIC NUMBER ZERO", "OLD CHINESE", "VIETNAMESE ALTERNATE",
    "HIRAGANA", "HENTAIGANA", "KATAKANA", "HALFWIDTH KATAKANA LETTER", "THAI", "LAO", "MYANMAR",
    "KHMER",
)  # fmt: skip
# The number of rows of one masked text, and of tokens of several texts, run in one batch.
_ROWS, _TOKENS = 64, 256


@torch.inference_mode()
def logprobs_again(
    source: str,
    texts: Sequence[str],
    *,
    beginning: str = "",
    pll: str = "",
    device: DeviceChoice = "auto",
    dtype: Dtype = "float32",
    identity: str = "",
) -> list[NDArray[np.float64]]:
    """Return the log-probability of each token of whole texts.

    Args:
        source: A model's folder, or its name in the local cache.
        texts: The texts.
        beginning: The token that a causal model's texts start with, if one was specified.
        pll: ``original`` if a masked model hides each token alone; otherwise the rest of its
            word is hidden as well.
        device: The device to compute on.
        dtype: The type of the weights.
        identity: A value that changes when the model's files do, so that they are read again.
    """
    model, tokenizer = _load_model(source, device, dtype, identity)
    if hasattr(tokenizer, "mask_token_id") and _reads_both_ways(model):
        return [
            _score_masked(model, tokenizer, _empty_if_blank(text), pll == "original")
            for text in texts
        ]
    if model.config.is_encoder_decoder:
        return [_score_decoder(model, tokenizer, text.strip()) for text in texts]
    first_token = (
        beginning
        or _special_token(tokenizer, "bos_token")
        or _special_token(tokenizer, "eos_token")
    )
    start = tokenizer.get_vocab()[first_token]
    return _score_causal(model, tokenizer, [_empty_if_blank(text) for text in texts], start)


def load_splitter(source: str) -> Callable[[Sequence[str]], list[tuple[str, ...]]]:
    """Return a function that gives the tokens of whole texts, without those that the model adds.

    Args:
        source: A model's folder, or its name in the local cache.
    """
    source, load_options = _choose_loading(source)
    tokenizer = AutoTokenizer.from_pretrained(source, **load_options)
    decodes = AutoConfig.from_pretrained(source, **load_options).is_encoder_decoder

    def split(texts: Sequence[str]) -> list[tuple[str, ...]]:
        if decodes:
            ids = [_own_labels(tokenizer, text.strip()) for text in texts]
        else:
            written = [_empty_if_blank(text) for text in texts]
            ids = tokenizer(written, add_special_tokens=False, verbose=False)["input_ids"]
        return [tuple(tokenizer.convert_ids_to_tokens(text_ids)) for text_ids in ids]

    return split


def _choose_loading(source: str) -> tuple[str, dict[str, Any]]:
    source, revision = split_revision(source)
    options = {"local_files_only": True, "trust_remote_code": False, "revision": revision}
    return source, options


@lru_cache(maxsize=1)
def _load_model(
    source: str, device: DeviceChoice, dtype: Dtype, identity: str = ""
) -> tuple[Any, Any]:
    source, load_options = _choose_loading(source)
    config = AutoConfig.from_pretrained(source, **load_options)
    [architecture, *_] = config.architectures or ("",)
    loader: Any = AutoModelForCausalLM
    if architecture.endswith("ForMaskedLM"):
        loader = AutoModelForMaskedLM
    elif architecture.endswith("ForConditionalGeneration"):
        decodes = config.is_encoder_decoder
        loader = AutoModelForSeq2SeqLM if decodes else AutoModelForImageTextToText
    model = loader.from_pretrained(source, dtype=getattr(torch, dtype), **load_options)
    tokenizer = AutoTokenizer.from_pretrained(source, **load_options)
    return model.to(choose_device(device, exact=True)).eval(), tokenizer


def _reads_both_ways(model: Any) -> bool:  # noqa: ANN401
    return type(model).__name__.endswith("ForMaskedLM")


def _special_token(tokenizer: Any, name: str) -> str:  # noqa: ANN401
    return str(tokenizer.special_tokens_map.get(name) or "")


def _empty_if_blank(text: str) -> str:
    """Return a text as it is written; one of white space alone is empty."""
    return "" if text.isspace() else text


def _score_causal(
    model: Any,  # noqa: ANN401
    tokenizer: Any,  # noqa: ANN401
    texts: Sequence[str],
    start: int,
) -> list[NDArray[np.float64]]:
    rows = [[start, *tokenizer(text, add_special_tokens=False)["input_ids"]] for text in texts]
    logprobs = [np.empty(0)] * len(rows)
    by_length = sorted(
        (n for n, row in enumerate(rows) if len(row) > 1), key=lambda n: len(rows[n])
    )
    size = max(1, _TOKENS // max(map(len, rows), default=1))
    for begin in range(0, len(by_length), size):
        batch = by_length[begin : begin + size]
        longest = len(rows[batch[-1]])
        # What follows a text has no effect on the text itself.
        filled = [rows[n] + [start] * (longest - len(rows[n])) for n in batch]
        ids = torch.tensor(filled, device=model.device)
        logits = model(ids[:, :-1], use_cache=False).logits.double()
        chosen = logits.gather(2, ids[:, 1:, None])[..., 0] - logits.logsumexp(2)
        for number, text_logprobs in zip(batch, chosen.cpu().numpy(), strict=True):
            logprobs[number] = text_logprobs[: len(rows[number]) - 1]
    return logprobs


def _score_decoder(model: Any, tokenizer: Any, text: str) -> NDArray[np.float64]:  # noqa: ANN401
    """Return a decoder's output for a text after an empty input; the model shifts the text."""
    labels = tokenizer(text_target=text)["input_ids"]
    empty_input = torch.tensor([tokenizer("")["input_ids"]], device=model.device)
    logits = model(
        input_ids=empty_input, labels=torch.tensor([labels], device=model.device)
    ).logits[0]
    logprobs = torch.log_softmax(logits.double(), dim=-1).cpu().numpy()
    special = _special_numbers(tokenizer)
    scored = [(n, token) for n, token in enumerate(labels) if token not in special]
    return np.array([logprobs[n, token] for n, token in scored], np.float64)


def _own_labels(tokenizer: Any, text: str) -> list[int]:  # noqa: ANN401
    special = _special_numbers(tokenizer)
    return [token for token in tokenizer(text_target=text)["input_ids"] if token not in special]


def _special_numbers(tokenizer: Any) -> set[int]:  # noqa: ANN401
    return set(tokenizer.all_special_ids) - {tokenizer.unk_token_id}


def _score_masked(model: Any, tokenizer: Any, text: str, alone: bool) -> NDArray[np.float64]:  # noqa: ANN401
    text_ids = tokenizer(text, add_special_tokens=False)["input_ids"]
    all_ids = tokenizer(text)["input_ids"]
    shift = next(n for n in range(len(all_ids)) if all_ids[n : n + len(text_ids)] == text_ids)
    words = _identify_words(tokenizer, text, text_ids)
    rows = []
    for index, word in enumerate(words):
        row = list(all_ids)
        row[shift + index] = tokenizer.mask_token_id
        for later in range(index + 1, len(text_ids)):
            if not alone and words[later] == word:
                row[shift + later] = tokenizer.mask_token_id
        rows.append(row)
    logprobs = []
    for begin in range(0, len(rows), _ROWS):
        part = torch.tensor(rows[begin : begin + _ROWS], device=model.device)
        logits = model(input_ids=part).logits
        for n in range(len(part)):
            index = begin + n
            word_logprobs = torch.log_softmax(logits[n, shift + index].double(), dim=-1)
            logprobs.append(float(word_logprobs[text_ids[index]]))
    return np.array(logprobs, np.float64)


def _identify_words(tokenizer: Any, text: str, ids: Sequence[int]) -> list[object]:  # noqa: ANN401
    """Return a word identifier for each token; tokens of one word have equal ones."""
    piece_numbers = _number_pieces(tokenizer, text, ids)
    divides = len(_split_words(tokenizer, "a b")) > 1
    offsets = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
    words: list[object] = []
    for n, (start, end) in enumerate(offsets["offset_mapping"]):
        while start < end and text[start].isspace():
            start += 1
        character = text[start : start + 1]
        if character and _is_unspaced(character):
            words.append((piece_numbers[n], start))
        elif divides or not character:
            words.append((piece_numbers[n], "all"))
        else:
            words.append(_find_run_start(text, start))
    return words


def _split_words(tokenizer: Any, text: str) -> list[str]:  # noqa: ANN401
    backend = tokenizer.backend_tokenizer
    normalized = backend.normalizer.normalize_str(text) if backend.normalizer else text
    if backend.pre_tokenizer is None:
        return [normalized]
    return [piece for piece, _ in backend.pre_tokenizer.pre_tokenize_str(normalized)]


def _number_pieces(tokenizer: Any, text: str, ids: Sequence[int]) -> list[int | None]:  # noqa: ANN401
    """Return the number of the piece that each token was split from."""
    model = tokenizer.backend_tokenizer.model
    cut, numbers = [], list[int | None]()
    for number, piece in enumerate(_split_words(tokenizer, text)):
        tokens = [token.id for token in model.tokenize(piece)] if piece else []
        cut += tokens
        numbers += [number] * len(tokens)
    special = _special_numbers(tokenizer)
    if cut == list(ids) and not special & set(ids):
        return numbers
    # Special tokens written in the text split it before any other rule applies.
    return list(tokenizer(text, add_special_tokens=False).word_ids())


def _is_unspaced(character: str) -> bool:
    category = unicodedata.category(character)
    is_letter = category[0] in "LM" or category == "Nl"
    return is_letter and unicodedata.name(character, "").startswith(_UNSPACED_NAMES)


def _find_run_start(text: str, position: int) -> int:
    while (
        position and _is_word_character(text[position]) and _is_word_character(text[position - 1])
    ):
        if _is_unspaced(text[position - 1]):
            break
        position -= 1
    return position


def _is_word_character(character: str) -> bool:
    category = unicodedata.category(character)
    return category[0] in "LMN" or category == "Pc"
