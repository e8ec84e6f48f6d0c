"""Replies are kept: equal questions are asked once, by whichever process."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from lm.answering.answerer import LocalAnswerer, Question, Reply, Tier, reply_store
from lm.errors import LmError
from lm.registry import load_scorer
from tests.lm.toy_models import causal_folder


class Counting:
    """Replies with the number of the question."""

    name, trained_on, workers = "counting", "nothing", 0

    def __init__(self, identity: str = "one", tier: Tier = Tier.TEXT) -> None:
        self.identity, self.tier, self.asked = identity, tier, list[Question]()

    def reply(self, questions: Sequence[Question]) -> list[Reply]:
        self.asked += questions
        return [Reply((float(-len(self.asked)), None), ("said",), ("none",)) for _ in questions]


def test_a_question_is_asked_once_and_answered_alike_after_a_restart(tmp_path: Path):
    model, path = Counting(), tmp_path / "replies.sqlite"
    asked = [Question("p", ("A", "B")), Question("q", ("A", "B")), Question("p", ("A", "B"))]
    with reply_store(path) as store:
        first = store.answer_questions(model, asked)
    assert first[0] == first[2] and len(model.asked) == 2
    with reply_store(path) as store:
        assert store.answer_questions(model, asked) == first
    assert len(model.asked) == 2


@pytest.mark.parametrize(("tier", "n"), [(Tier.TEXT, 1), (Tier.NEXT, 1), (Tier.SAMPLES, 2)])
def test_the_seed_counts_where_the_model_is_sampled_and_nowhere_else(
    tmp_path: Path, tier: Tier, n: int
):
    model = Counting(tier=tier)
    with reply_store(tmp_path / "replies.sqlite") as store:
        store.answer_questions(
            model, [Question("p", ("A",), seed=1), Question("p", ("A",), seed=2)]
        )
    assert len(model.asked) == n


def test_another_model_is_asked_again(tmp_path: Path):
    with reply_store(tmp_path / "replies.sqlite") as store:
        store.answer_questions(Counting("one"), [Question("p", ("A",))])
        other = Counting("other")
        store.answer_questions(other, [Question("p", ("A",))])
    assert len(other.asked) == 1


def test_a_file_that_holds_no_replies_is_refused(tmp_path: Path):
    path = tmp_path / "replies.sqlite"
    path.write_text("a letter, and no database at all" * 50)
    with pytest.raises(LmError, match="the replies cannot be kept"), reply_store(path):
        pass


def test_a_local_model_answers_with_the_probability_of_the_whole_answer(tmp_path: Path):
    causal_folder(tmp_path / "model")
    scorer = load_scorer(tmp_path / "model")
    [reply] = LocalAnswerer(scorer, "x").reply([Question("the cat", ("sleeps .", "sees"))])
    whole, before = (
        float(one.logprobs_nats.sum())
        for one in scorer.score([("", "the cat sleeps ."), ("", "the cat")])
    )
    assert reply.logprobs_nats[0] == pytest.approx(whole - before, abs=1e-4)
