"""Which of a model's scores is nearest to people: the planted one, by held-out judgments."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

from analysis.data.load import Scores, load_scores
from analysis.findings.finding import ComparisonOptions, FindingInputs, TakerData
from analysis.findings.links import LINK_FUNCTIONS
from tests.analysis.findings.hand_made_runs import given_of
from tests.analysis.small_run import write_scores

N_ITEMS, N_PEOPLE = 40, 25
SLOPE = 4.0


def token_logprobs(rng: np.random.Generator) -> dict[tuple[str, str], list[float]]:
    """Texts of very different lengths, whose mean per token does not follow from their sum."""
    return {
        (f"i{n}", variant): list(rng.normal(-2, 0.4) + rng.normal(0, 0.1, rng.integers(4, 20)))
        for n in range(N_ITEMS)
        for variant in ("good", "bad")
    }


def scores_of(path: Path, tokens: dict[tuple[str, str], list[float]]) -> Scores:
    rows = [
        {
            "item_id": item, "construction": "c", "condition": "a", "contrast": "bad",
            "variant": variant, "logprob_nats": float(np.sum(values)), "n_tokens": len(values),
            "n_unknown": 0, "token_logprobs_nats": values, "token_unknown": [False] * len(values),
            "difference_at": 0, "logprob_from_difference_nats": float(np.sum(values)),
            "choice_at": 0, "logprob_of_choice_nats": float(np.sum(values)),
        }
        for (item, variant), values in tokens.items()
    ]  # fmt: skip
    return load_scores(write_scores(path, rows))


def inputs_of(
    judgments: pd.DataFrame, scores: Scores, options: ComparisonOptions | None = None
) -> FindingInputs:
    rows = judgments.assign(construction="c", condition="a", frame=judgments["item_id"].str[1:])
    inputs = given_of(rows)
    items = inputs.run.items.assign(context="", good="one two", bad="one two three", distractor="")
    options = options or ComparisonOptions()
    return replace(inputs, run=replace(inputs.run, items=items), as_read=[scores], options=options)


def crossed() -> tuple[list[str], list[str]]:
    people = [f"p{n}" for n in range(N_PEOPLE) for _ in range(N_ITEMS)]
    return people, [f"i{n}" for _ in range(N_PEOPLE) for n in range(N_ITEMS)]


@pytest.fixture
def chosen(tmp_path: Path) -> FindingInputs:
    """People who choose by the mean per token, and a model's scores."""
    rng = np.random.default_rng(3)
    tokens = token_logprobs(rng)
    people, items = crossed()
    mean = {key: np.mean(values) for key, values in tokens.items()}
    apart = np.array([mean[item, "good"] - mean[item, "bad"] for item in items])
    chose = rng.random(len(items)) < expit(SLOPE * apart)
    judgments = pd.DataFrame({"participant": people, "item_id": items, "chose_good": chose})
    return inputs_of(judgments, scores_of(tmp_path / "s.parquet", tokens))


def test_the_score_by_which_people_choose_wins_with_an_interval_above_nothing(chosen):
    findings = LINK_FUNCTIONS.run(chosen)
    links = findings.statistics["links"].set_index("link")
    assert list(links.index) == ["sum", "mean", "words", "penlp", "word"]
    assert links["explained"].idxmax() == "mean"
    assert links.loc["mean", "gain_low"] > 0
    assert links.loc["mean", "pearson"] > links.loc["sum", "pearson"]
    assert set(links["n_judgments"]) == {N_ITEMS * N_PEOPLE}
    # Every score but the mean is told apart from it.
    [note] = [note for note in findings.tables[0].notes if "nearest to people" in note]
    assert "nearest to people is per token" in note and "distinguishable" not in note


def test_a_score_per_word_counts_the_words_of_each_version(chosen):
    scores = chosen.as_read[0].frame.set_index(["item_id", "variant"])["logprob_nats"]
    by_words = scores.xs("good", level=1) / 2 - scores.xs("bad", level=1) / 3
    tokens = {(item, variant): [value] for (item, variant), value in scores.items()}
    alike = {key: [by_words[key[0]] - 10 if key[1] == "good" else -10.0] for key in tokens}
    folder = chosen.as_read[0].path.parent
    other = replace(chosen, as_read=[scores_of(folder / "w.parquet", alike)])
    per_word = LINK_FUNCTIONS.run(chosen).statistics["links"].set_index("link").loc["words"]
    by_sum = LINK_FUNCTIONS.run(other).statistics["links"].set_index("link").loc["sum"]
    assert per_word["explained"] == pytest.approx(by_sum["explained"])


def test_ratings_are_predicted_by_a_line_from_single_texts_and_morcela_by_what_it_weighs(tmp_path):
    rng = np.random.default_rng(4)
    tokens = {key: values for key, values in token_logprobs(rng).items() if key[1] == "good"}
    unigram = {key: list(rng.normal(-6, 1, len(values))) for key, values in tokens.items()}
    people, items = crossed()
    weighed = {
        item: (np.sum(values) - 0.3 * np.sum(unigram[item, "good"]) + 5) / len(values)
        for (item, _), values in tokens.items()
    }
    noise = rng.normal(0, 0.3, len(items))
    z = np.array([weighed[item] for item in items]) + noise
    judgments = pd.DataFrame(
        {"participant": people, "item_id": items, "version": "good", "z": z, "chose_good": None}
    )
    of_unigram = scores_of(tmp_path / "u.parquet", unigram)
    inputs = inputs_of(
        judgments, scores_of(tmp_path / "s.parquet", tokens), ComparisonOptions(unigram=of_unigram)
    )
    links = LINK_FUNCTIONS.run(inputs).statistics["links"].set_index("link")
    assert list(links.index) == ["sum", "mean", "words", "penlp", "slor", "morcela"]
    assert links["explained"].idxmax() == "morcela" and links.loc["morcela", "gain_low"] > 0
    # What no score predicts: the planted noise.
    assert links.loc["morcela", "loss"] == pytest.approx((noise**2).mean(), rel=0.02)


def test_prompted_probabilities_of_the_same_model_are_a_link(chosen):
    chance = pd.Series(np.linspace(0.1, 0.9, N_ITEMS), [f"i{n}" for n in range(N_ITEMS)])
    answers = pd.DataFrame({"item_id": chance.index, "p_good": chance.to_numpy()})
    answers = answers.assign(reading="forced_choice", labels="letters")
    with_texts = pd.concat([answers, answers.assign(reading="sentence", labels="")])
    model = chosen.as_read[0].facts.model
    options = ComparisonOptions(takers=[TakerData(model, "next", with_texts)])
    links = LINK_FUNCTIONS.run(replace(chosen, options=options)).statistics["links"]
    assert list(links["link"])[-1] == "prompt: forced choice"
    assert set(links["judge"]) == {model}


def test_few_texts_are_left_out_and_the_report_says_so(chosen):
    judgments = chosen.data.judgments
    few = replace(chosen.data, judgments=judgments[judgments["frame"].astype(int) < 23])
    findings = LINK_FUNCTIONS.run(replace(chosen, data=few))
    assert not findings.tables
    assert "people judged 23 texts of 23 frames" in findings.left_out[0]
