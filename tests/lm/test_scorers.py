"""What every registered model type promises: one contract, run over all of them."""

import math
import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from lm.commands import train
from lm.errors import LmError
from lm.registry import TYPES, load_scorer
from lm.scorer import Scorer

SENTENCES = ["the cat sleeps .", "the cats sleep .", "a cat sees the cats .", "the cat sees ."]
WORDS = ["the", "cat", "cats", "sleeps", "sleep", "a", "sees", ".", "</s>", "<unk>"]


def train_ngram(text: Path, folder: Path) -> None:
    arguments = ["--type", "ngram", "--text", str(text), "--out", str(folder), "--order", "3"]
    CliRunner().invoke(train, arguments, catch_exceptions=False)


BUILDERS: dict[str, Callable[[Path, Path], None]] = {"ngram": train_ngram}


@pytest.fixture(params=sorted(TYPES))
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    text = tmp_path / "text.txt"
    text.write_text("\n".join(SENTENCES) + "\n")
    BUILDERS[request.param](text, tmp_path / "model")
    return tmp_path / "model"


@pytest.fixture
def scorer(folder: Path) -> Scorer:
    return load_scorer(folder)


def sums(scorer: Scorer, requests: list[tuple[str, str]]) -> list[float]:
    return [float(scores.logprobs_nats.sum()) for scores in scorer.score(requests)]


def test_it_is_a_scorer_with_a_name_and_a_text(scorer: Scorer):
    assert isinstance(scorer, Scorer)
    assert scorer.name
    assert "text.txt" in scorer.trained_on


def test_each_token_has_a_log_probability_and_a_flag(scorer: Scorer):
    [scores] = scorer.score([("the cat", "sees the  cats .")])
    assert scores.tokens == ("sees", "the", "cats", ".")
    assert scores.logprobs_nats.dtype == np.float64
    assert scores.logprobs_nats.shape == scores.unknown.shape == (4,)
    assert np.all(scores.logprobs_nats <= 0)
    assert np.all(np.isfinite(scores.logprobs_nats))


@pytest.mark.parametrize("context", ["", "the", "the cat", "sleep sleep sleep", "zebra", "a cat ."])
def test_the_words_after_a_context_share_a_probability_of_one(scorer: Scorer, context: str):
    total = sum(math.exp(logprob) for logprob in sums(scorer, [(context, w) for w in WORDS]))
    assert total == pytest.approx(1, abs=1e-5)


def test_a_text_scores_the_sum_of_its_parts(scorer: Scorer):
    whole, first, second = sums(scorer, [("", "the cats"), ("", "the"), ("the", "cats")])
    assert whole == pytest.approx(first + second, abs=1e-9)


def test_unknown_words_are_flagged(scorer: Scorer):
    [scores] = scorer.score([("", "the zebra sleeps")])
    assert scores.unknown.tolist() == [False, True, False]
    assert scores.tokens[1] == "zebra"


def test_boundaries_are_scored_only_where_they_are_written(scorer: Scorer):
    [without, with_end] = scorer.score([("", "the cat sleeps ."), ("", "the cat sleeps . </s>")])
    assert len(without.tokens) == 4
    assert not with_end.unknown[-1]
    assert without.logprobs_nats.tolist() == with_end.logprobs_nats[:-1].tolist()
    [begin] = scorer.score([("", "<s>")])
    assert begin.unknown.tolist() == [True]


def test_scores_depend_neither_on_the_batch_nor_on_its_order(scorer: Scorer):
    rng = random.Random(3)
    texts = [" ".join(rng.choices([*WORDS, "zebra"], k=rng.randint(0, 7))) for _ in range(40)]
    requests = [(" ".join(rng.choices(WORDS, k=rng.randint(0, 4))), text) for text in texts]
    together = scorer.score(requests)
    backwards = scorer.score(requests[::-1])[::-1]
    alone = [scorer.score([request])[0] for request in requests]
    for one, other, third in zip(together, backwards, alone, strict=True):
        assert one.logprobs_nats.tolist() == other.logprobs_nats.tolist()
        assert one.logprobs_nats.tolist() == third.logprobs_nats.tolist()
        assert one.unknown.tolist() == other.unknown.tolist() == third.unknown.tolist()


def test_nothing_asked_is_nothing_answered(scorer: Scorer):
    assert scorer.score([]) == []
    [scores] = scorer.score([("the cat", "")])
    assert scores.tokens == ()
    assert scores.logprobs_nats.shape == (0,)


def test_loading_twice_gives_equal_scores(scorer: Scorer, folder: Path):
    requests = [("", sentence) for sentence in SENTENCES]
    assert sums(scorer, requests) == sums(load_scorer(folder), requests)


def test_a_damaged_model_is_refused(folder: Path):
    for path in folder.iterdir():
        if path.name != "config.json":
            path.unlink()
    with pytest.raises(LmError):
        load_scorer(folder)


@pytest.mark.parametrize(
    ("config", "said"),
    [
        (None, "holds no trained model"),
        ("{", "is not JSON"),
        ("[]", "not a JSON object"),
        ('{"type": "ngrm"}', 'no model type "ngrm".*Did you mean "ngram"'),
        ('{"model_type": "gpt2"}', "Expected one of: ngram"),
    ],
)
def test_a_folder_that_is_no_model_is_refused(tmp_path: Path, config: str | None, said: str):
    if config is not None:
        (tmp_path / "config.json").write_text(config)
    with pytest.raises(LmError, match=said):
        load_scorer(tmp_path)
