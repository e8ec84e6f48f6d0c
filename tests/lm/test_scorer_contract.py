"""What every registered model type promises: one contract, run over all of them."""

import json
import math
import random
from pathlib import Path

import numpy as np
import pytest

from lm.errors import LmError
from lm.registry import TYPES, load_scorer
from lm.scorer import Scorer, TokenScores
from tests.lm.toy_models import N_RARE, SENTENCES, TOY_MODELS, WORDS

ASKABLE = [("", sentence) for sentence in SENTENCES] + [("the", "cat"), ("a cat", "sees .")]
# A table answers what stands in it, and a masked model also reads the words that follow:
# these promises are not theirs.
DISTRIBUTIONS = sorted(set(TOY_MODELS) - {"fixed", "hf masked"})
OPEN_QUESTIONS = sorted(set(TOY_MODELS) - {"fixed"})
# Matrix products of another shape add up in another order.
CLOSE = {"abs": 1e-5}


@pytest.fixture(scope="module")
def folders() -> dict[str, Path]:
    """Each toy model's folder, written on first use only."""
    return {}


@pytest.fixture
def folder(
    request: pytest.FixtureRequest,
    folders: dict[str, Path],
    tmp_path_factory: pytest.TempPathFactory,
) -> Path:
    case = request.param
    if case not in folders:
        path = tmp_path_factory.mktemp("toy") / "model"
        TOY_MODELS[case][1](path)
        folders[case] = path
    return folders[case]


@pytest.fixture
def scorer(folder: Path) -> Scorer:
    return load_scorer(folder)


every_model = pytest.mark.parametrize("folder", sorted(TOY_MODELS), indirect=True)
every_distribution = pytest.mark.parametrize("folder", DISTRIBUTIONS, indirect=True)
every_open_model = pytest.mark.parametrize("folder", OPEN_QUESTIONS, indirect=True)


def sums(scorer: Scorer, requests: list[tuple[str, str]]) -> list[float]:
    return [float(scores.logprobs_nats.sum()) for scores in scorer.score(requests)]


def assert_same(one: list[TokenScores], other: list[TokenScores]) -> None:
    for left, right in zip(one, other, strict=True):
        assert left.tokens == right.tokens
        assert left.unknown.tolist() == right.unknown.tolist()
        assert left.logprobs_nats.tolist() == pytest.approx(right.logprobs_nats.tolist(), **CLOSE)


def random_requests() -> list[tuple[str, str]]:
    rng = random.Random(3)
    texts = [" ".join(rng.choices([*WORDS, "zebra"], k=rng.randint(0, 7))) for _ in range(40)]
    return [(" ".join(rng.choices(WORDS, k=rng.randint(0, 4))), text) for text in texts]


@pytest.mark.parametrize("type_", sorted(TYPES))
def test_every_registered_type_has_a_toy_model_here(type_: str):
    assert type_ in {type_ for type_, _ in TOY_MODELS.values()}


@every_model
def test_it_is_a_scorer_with_a_name_and_a_text(scorer: Scorer):
    assert isinstance(scorer, Scorer)
    assert scorer.name == "toy"
    assert scorer.trained_on


@every_model
def test_each_token_has_a_log_probability_and_a_flag(scorer: Scorer):
    for scores in scorer.score(ASKABLE):
        assert scores.logprobs_nats.dtype == np.float64
        assert scores.logprobs_nats.shape == scores.unknown.shape == (len(scores.tokens),)
        assert scores.unknown.dtype == np.bool_
        assert np.all(scores.logprobs_nats <= 0)
        assert np.all(np.isfinite(scores.logprobs_nats))


@every_model
def test_tokens_are_the_words_of_the_continuation_whatever_divides_them(scorer: Scorer):
    [scores] = scorer.score([("", "the  cats   sleep .")])
    assert scores.tokens == ("the", "cats", "sleep", ".")


@every_distribution
@pytest.mark.parametrize("context", ["", "the", "the cat", "sleep sleep sleep", "zebra", "a cat ."])
def test_the_words_after_a_context_share_a_probability_of_one(
    scorer: Scorer, folder: Path, context: str
):
    words = [*WORDS, *(f"rare{n}" for n in range(N_RARE if has_rare_words(folder) else 0))]
    logprobs = sums(scorer, [(context, word) for word in words])
    assert sum(map(math.exp, logprobs)) == pytest.approx(1, abs=1e-5)


def has_rare_words(folder: Path) -> bool:
    vocabulary = folder / "vocab.txt"
    return vocabulary.is_file() and "rare0" in vocabulary.read_text().split()


@every_distribution
def test_a_text_scores_the_sum_of_its_parts(scorer: Scorer):
    whole, first, second = sums(scorer, [("", "the cats"), ("", "the"), ("the", "cats")])
    assert whole == pytest.approx(first + second, **CLOSE)


@every_open_model
def test_unknown_words_are_flagged(scorer: Scorer):
    [scores] = scorer.score([("", "the zebra sleeps")])
    assert scores.unknown.tolist() == [False, True, False]


@every_open_model
def test_a_context_of_unknown_words_is_no_obstacle(scorer: Scorer):
    [scores] = scorer.score([("zebra yak", "sleeps")])
    assert scores.unknown.tolist() == [False]
    assert np.all(np.isfinite(scores.logprobs_nats))


@every_distribution
def test_boundaries_are_scored_only_where_they_are_written(scorer: Scorer):
    [without, with_end] = scorer.score([("", "the cat sleeps ."), ("", "the cat sleeps . </s>")])
    assert len(without.tokens) == 4
    assert not with_end.unknown[-1]
    assert without.logprobs_nats.tolist() == pytest.approx(
        with_end.logprobs_nats[:-1].tolist(), **CLOSE
    )


@every_open_model
def test_a_written_beginning_is_an_unknown_word(scorer: Scorer):
    [begin] = scorer.score([("", "<s>")])
    assert begin.unknown.tolist() == [True]


@every_model
def test_scores_depend_neither_on_the_batch_nor_on_its_order(folder: Path, scorer: Scorer):
    requests = ASKABLE if is_table(folder) else random_requests()
    together = scorer.score(requests)
    assert_same(together, scorer.score(requests[::-1])[::-1])
    assert_same(together, [scorer.score([request])[0] for request in requests])
    assert_same(together + together, scorer.score(requests * 2))


def is_table(folder: Path) -> bool:
    return json.loads((folder / "config.json").read_text())["type"] == "fixed"


@every_model
def test_nothing_asked_is_nothing_answered(scorer: Scorer):
    assert scorer.score([]) == []
    [scores] = scorer.score([("the cat", "")])
    assert scores.tokens == ()
    assert scores.logprobs_nats.shape == (0,)
    assert scores.unknown.shape == (0,)


@every_model
def test_loading_twice_gives_equal_scores(scorer: Scorer, folder: Path):
    assert sums(scorer, ASKABLE) == sums(load_scorer(folder), ASKABLE)
    assert sums(scorer, ASKABLE) == sums(load_scorer(str(folder)), ASKABLE)


@every_model
def test_a_model_without_its_files_is_refused(folder: Path, tmp_path: Path):
    (tmp_path / "config.json").write_bytes((folder / "config.json").read_bytes())
    with pytest.raises(LmError):
        load_scorer(tmp_path)
