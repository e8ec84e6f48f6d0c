"""Compare masked scores with a simple loop: eleven tokenizers trained here, five languages.

``python -m benchmarks.masked_words`` trains each tokenizer, creates a small random network for it,
and compares each token's score from ``parallax lm score`` with the simple loop of
``lm/huggingface/independent.py``, which shares no code with it. The loop handles one text and one
token at a time, and hides the token and, unless ``original`` is set, the rest of its word. The
benchmark prints the largest difference in nats by tokenizer and language, and how often hiding the
rest of a word changed the score: a loop and a scorer that never hide more than one token would
agree as well. It fails above 1e-4.
"""

import argparse
import itertools
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from tokenizers import pre_tokenizers
from transformers import PreTrainedTokenizerFast

sys.path.append(str(Path(__file__).parents[1]))
from lm.huggingface.independent import logprobs_again
from lm.huggingface.load import load_hf
from tests.lm.huggingface.toy_tokenizers import masked_model, trained

# Who, where, what, and what stands between words; some words of several scripts among them.
_PARTS: Mapping[str, tuple[str, str, str, str, str]] = {
    "English": ("the author/my pilots/Dr. O'Neil/3 guards", "near the doors/who re-read it",
                "laughs/don't sleep/is (very) tall", " ", "."),
    "Chinese": ("作者/我的飞行员/三个ABC警卫", "在门边/读过书", "笑了/不睡觉/很高", "", "。"),
    "Japanese": ("作者は/パイロットが/3人の警備員は", "ドアの近くで/コーヒーを飲んで",
                 "笑った/眠らない", "", "。"),
    "Thai": ("นักเขียน/นักบินของฉัน/ยาม 3 คน", "ใกล้ประตู/ที่อ่านหนังสือ", "หัวเราะ/ไม่นอน/สูง", "", ""),
    "Hindi": ("लेखक/मेरा पायलट/3 पहरेदार", "दरवाज़े के पास/जो पढ़ता है", "हँसता है/नहीं सोता", " ", "।"),
}  # fmt: skip
WORST_NATS = 1e-4
_PIECE, _BYTES = pre_tokenizers.Metaspace, pre_tokenizers.ByteLevel
KINDS = {
    "bpe, undivided": ("bpe", None),
    "bpe, SentencePiece": ("bpe", _PIECE()),
    "bpe, SentencePiece without a first mark": ("bpe", _PIECE(prepend_scheme="never")),
    "bpe, bytes": ("bpe", _BYTES(add_prefix_space=False)),
    "bpe, bytes with a first space": ("bpe", _BYTES(add_prefix_space=True)),
    "bpe, white space and marks": ("bpe", pre_tokenizers.Whitespace()),
    "unigram, undivided": ("unigram", None),
    "unigram, SentencePiece": ("unigram", _PIECE()),
    "word pieces, BERT": ("wordpiece", pre_tokenizers.BertPreTokenizer()),
    "word pieces, white space": ("wordpiece", pre_tokenizers.WhitespaceSplit()),
    "words, white space and marks": ("words", pre_tokenizers.Whitespace()),
}


def sentences(language: str) -> list[str]:
    """Return the sentences of a language, every combination of its parts."""
    *parts, between, end = _PARTS[language]
    every = itertools.product(*(part.split("/") for part in parts))
    return [between.join(words) + end for words in every]


def tokenizer(kind: str, texts: list[str], size: int = 0) -> PreTrainedTokenizerFast:
    """Return a tokenizer of a kind, trained on texts.

    Args:
        kind: One of ``KINDS``.
        texts: The texts.
        size: How many tokens; by default so few that most words have several.
    """
    wanted = size or (330 if "bytes" in kind else 260)
    letters = [letter for text in texts for letter in text]
    return trained(*KINDS[kind], [*texts, *letters], wanted)


def write_model(folder: Path, own: PreTrainedTokenizerFast) -> None:
    """Write a small masked network of random weights with a tokenizer."""
    masked_model(len(own)).save_pretrained(folder)
    own.save_pretrained(folder)


def compared(folder: Path, texts: list[str]) -> tuple[float, int, int]:
    """Return the largest difference in nats, how many tokens, and of how many hiding mattered."""
    scorer = load_hf(str(folder), device="cpu")
    found, largest = {}, 0.0
    for pll in ("within_word_l2r", "original"):
        scorer.encoder.pll = pll
        scores = scorer.score([("", text) for text in texts])
        again = logprobs_again(str(folder), texts, pll=pll, device="cpu", identity=str(folder))
        for text, one, other in zip(texts, scores, again, strict=True):
            if len(one.logprobs_nats) != len(other):
                raise SystemExit(f"{text}: {len(one.logprobs_nats)} and {len(other)} tokens")
            largest = max(largest, float(np.abs(one.logprobs_nats - other).max(initial=0)))
        found[pll] = np.concatenate([one.logprobs_nats for one in scores])
    apart = np.abs(found["within_word_l2r"] - found["original"]) > WORST_NATS
    return largest, len(apart), int(apart.sum())


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kinds", type=int, default=len(KINDS), help="how many tokenizers")
    kinds = list(KINDS)[: parser.parse_args().kinds]
    learned = [text for language in _PARTS for text in sentences(language)]
    worst = 0.0
    print(f"{'':40}" + "".join(f"{one:>17}" for one in _PARTS))
    with tempfile.TemporaryDirectory() as name:
        for number, kind in enumerate(kinds):
            folder = Path(name) / str(number)
            write_model(folder, tokenizer(kind, learned))
            cells = [compared(folder, sentences(language)) for language in _PARTS]
            worst = max(worst, *(largest for largest, _, _ in cells))
            shown = (f"{largest:.0e} {hidden}/{n}" for largest, n, hidden in cells)
            print(f"{kind:40}" + "".join(f"{one:>17}" for one in shown), flush=True)
    print(f"largest difference {worst:.1e} nats; with each: tokens whose score depends on what is")
    print("hidden of their word, of all tokens")
    if worst > WORST_NATS:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
