import numpy as np
import pytest

from analysis.errors import AnalysisError
from analysis.scores.check import check_scores
from analysis.scores.materials import (
    add_choices,
    collect_sentences,
    make_token_table,
    score_items,
)
from analysis.scores.scoring_inputs import find_materials
from experiment.materials.render import render
from experiment.records import Item, Kind, Variant
from experiment.tables.parquet import arrow_schema
from experiment.tables.schemas import SCORES
from lm.independent import Recomputed
from lm.scorer import TokenScores

TOKENS = render("lower_case_tokens")


class LengthScorer:
    """Gives each token minus its length, and does not know "ever"."""

    name, trained_on = "length", "nothing"

    def __init__(self) -> None:
        self.asked = []

    def score(self, requests):
        self.asked += requests
        return [self._score(continuation.split()) for _, continuation in requests]

    def _score(self, tokens):
        logprobs = np.array([-float(len(token)) for token in tokens])
        return TokenScores(tuple(tokens), logprobs, np.array([token == "ever" for token in tokens]))


def item(item_id: str, good: str, bad: str, distractor: str = "", context: str = "") -> Item:
    return Item(
        item_id, Kind.TARGET, "c", "d", "t", "", "", context, good, bad, distractor,
        Variant.DISTRACTOR if distractor else Variant.BAD,
    )  # fmt: skip


def test_every_version_of_every_item_gets_a_row():
    items = [item("1", "A dog barks", "A dog bark"), item("2", "no ever", "most ever", "the ever")]
    table = score_items(LengthScorer(), items, TOKENS)
    assert table.schema.equals(arrow_schema(SCORES))
    rows = table.to_pylist()
    assert [(row["item_id"], row["variant"]) for row in rows] == [
        ("1", "good"), ("1", "bad"), ("2", "good"), ("2", "bad"), ("2", "distractor"),
    ]  # fmt: skip
    assert rows[0]["token_logprobs_nats"] == [-1, -3, -5, -1]
    assert (rows[0]["logprob_nats"], rows[0]["n_tokens"], rows[0]["n_unknown"]) == (-10, 4, 0)
    assert rows[2]["n_unknown"] == 1
    assert rows[2]["token_unknown"] == [False, True, False]


def test_each_version_is_scored_from_where_it_differs_from_what_it_stands_against():
    items = [
        item("1", "a dog barks", "a dog bark"),
        item("2", "no dog ever", "most dog ever", "no cat ever"),
        item("3", "we sleep", "we sleep well"),
        item("4", "same", "same"),
    ]
    rows = score_items(LengthScorer(), items, TOKENS).to_pylist()
    found = {
        (row["item_id"], row["variant"]): (
            row["difference_at"],
            row["logprob_from_difference_nats"],
        )
        for row in rows
    }
    assert found == {
        ("1", "good"): (2, -6), ("1", "bad"): (2, -5),
        # Good stands against the contrast, which is the distractor here.
        ("2", "good"): (1, -8), ("2", "bad"): (0, -12), ("2", "distractor"): (1, -8),
        ("3", "good"): (2, -1), ("3", "bad"): (2, -5),
        ("4", "good"): (2, 0), ("4", "bad"): (2, 0),
    }  # fmt: skip


def test_a_sentence_that_items_share_is_asked_once():
    scorer = LengthScorer()
    items = [item("1", "x y", "x z"), item("2", "x y", "x w")]
    table = score_items(scorer, items, TOKENS)
    assert sorted(scorer.asked) == [("", "x w ."), ("", "x y ."), ("", "x z .")]
    assert table.num_rows == 4


def test_a_context_begins_each_version():
    wanted = collect_sentences([item("1", "barks", "bark", context="the dog")], TOKENS)
    assert wanted.distinct == ["the dog barks .", "the dog bark ."]


def test_every_further_option_gets_a_row_and_is_checked_from_the_file(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(
        "item_id,prefix,option_1,option_2,option_3,option_4,answer\n"
        "1,the dog,barks,bark,barked it,,1\n2,the cat,purr,a,purrs,bb,3\n"
    )
    materials = find_materials(str(path))
    assert (materials.further, materials.n_versions) == (("distractor_2",), 7)
    items = list(materials.items())
    wanted = collect_sentences(items, str, materials.further)
    names = zip(*(wanted.rows[name].to_pylist() for name in ("item_id", "variant")), strict=True)
    table = score_items(LengthScorer(), items, str, materials.further)
    # The letters of each text: "the cat purrs", "the cat purr", "the cat a", "the cat bb".
    assert dict(zip(names, table["logprob_nats"].to_pylist(), strict=True)) == {
        ("1", "good"): -11, ("1", "bad"): -10, ("1", "distractor"): -14,
        ("2", "good"): -11, ("2", "bad"): -10, ("2", "distractor"): -7,
        ("2", "distractor_2"): -8,
    }  # fmt: skip
    raw_texts = materials.raw_texts()
    texts = wanted.distinct
    answers = make_token_table(texts, LengthScorer().score([("", text) for text in texts]))

    def checked(recompute):
        return check_scores(
            items, wanted, [(range(len(texts)), answers)], table, str, recompute,
            np.random.default_rng(0), raw_texts,
        )  # fmt: skip

    check = checked(_recompute_lengths)
    assert (check.n_rows, check.n_scores, check.n_in_file, check.worst_nats) == (7, 7, 7, 0)
    with pytest.raises(AnalysisError, match=r"has \d scored tokens and not \d, when"):
        checked(lambda texts: _recompute_lengths([text.rsplit(" ", 1)[0] for text in texts]))


def _recompute_lengths(texts):
    return Recomputed([np.array([-float(len(w)) for w in text.split()]) for text in texts], True)


def test_the_same_token_scores_in_any_order_give_the_same_sum():
    class Thirds(LengthScorer):
        def _score(self, tokens):
            values = {"a": -0.1, "b": -0.2, "c": -0.3, ".": 0.0}
            logprobs = np.array([values[token] for token in tokens])
            return TokenScores(tuple(tokens), logprobs, np.zeros(len(tokens), bool))

    table = score_items(Thirds(), [item("1", "a b c", "c b a")], TOKENS)
    good, bad = table["logprob_nats"].to_pylist()
    assert good == bad


@pytest.mark.parametrize("value", [1.0, float("nan")])
def test_what_is_no_log_probability_is_refused_with_its_sentence(value):
    class Broken(LengthScorer):
        def _score(self, tokens):
            one = value if "bad" in tokens else -1.0
            return TokenScores(
                tuple(tokens), np.full(len(tokens), one), np.zeros(len(tokens), bool)
            )

    with pytest.raises(AnalysisError, match=r'the sentence "bad \.".*not a log-probability'):
        score_items(Broken(), [item("1", "good", "bad")], TOKENS)


@pytest.mark.parametrize(
    ("context", "option", "rendering", "n_before"),
    [
        ("", "the dog barks", "as_written", 0),
        ("the dog", "barks loudly", "as_written", 2),
        # Rendered alone, the context would end in a full stop, which is no part of the text.
        ("The Dog", "barks loudly", "lower_case_tokens", 2),
        ("the dog", "barks loudly", "sentence_case", 2),
        ("Is it true, dog?", "it barks", "split_lower_case_tokens", 6),
        # The first word is both the context's end and the choice's beginning.
        ("the dog's \n", "barks", "as_written", 2),
    ],
)
def test_the_tokens_of_a_context_are_no_part_of_the_choice(context, option, rendering, n_before):
    wanted = collect_sentences([item("1", option, "bark", context=context)], render(rendering))
    assert add_choices(wanted, LengthScorer).choice_at.tolist() == [n_before] * 2


def test_a_choice_is_unknown_where_the_rendering_hides_the_context():
    wanted = collect_sentences(
        [item("1", "barks", "bark", context="the dog")], lambda text: text[::-1]
    )
    assert add_choices(wanted, LengthScorer).choice_at.tolist() == [-1, -1]
