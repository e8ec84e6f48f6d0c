"""What the report says of a study's items and fresh ones, from a few items worked out by hand."""

from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from analysis.data.load import Scores, load_scores
from analysis.errors import AnalysisError
from analysis.findings.finding import ComparisonOptions, FindingInputs, TakerData
from analysis.findings.seen import SEEN
from experiment.materials.fresh import parallel_id
from tests.analysis.findings.hand_made_runs import given_of
from tests.analysis.small_run import write_scores

N_ITEMS, N_DRAWS = 6, 39


def scores_of(
    path: Path, tokens: dict[str, tuple[list[float], list[float]]], **facts: str
) -> Scores:
    """Scores of items, each with the tokens of its good and its bad version."""
    rows = [
        {
            "item_id": item, "construction": "c", "condition": "a", "contrast": "bad",
            "variant": variant, "logprob_nats": sum(values), "n_tokens": len(values),
            "n_unknown": 0, "token_logprobs_nats": values,
        }
        for item, versions in tokens.items()
        for variant, values in zip(("good", "bad"), versions, strict=True)
    ]  # fmt: skip
    return load_scores(write_scores(path, rows, **facts))


def study_tokens() -> dict[str, tuple[list[float], list[float]]]:
    """Every item is right; its second half is certain."""
    return {f"i{n}": ([-4.0, -1.0], [-4.0, -2.0]) for n in range(N_ITEMS)}


def fresh_tokens() -> dict[str, tuple[list[float], list[float]]]:
    """The same beginnings; second halves are less probable, and wrong in every second item."""
    return {
        parallel_id(f"i{n}", draw): ([-4.0, -3.0], [-4.0, -2.0 if n % 2 else -5.0])
        for draw in range(1, N_DRAWS + 1)
        for n in range(N_ITEMS)
    }


@pytest.fixture
def inputs(tmp_path: Path) -> FindingInputs:
    items = [f"i{n}" for n in range(N_ITEMS)]
    judgments = pd.DataFrame(
        {
            "participant": [f"p{p}" for p in range(5) for _ in items], "item_id": items * 5,
            "construction": "c", "condition": "a", "frame": list(range(N_ITEMS)) * 5,
            "chose_good": True,
        }
    )  # fmt: skip
    fresh = scores_of(tmp_path / "fresh.parquet", fresh_tokens())
    options = ComparisonOptions(fresh=[fresh])
    own = scores_of(tmp_path / "own.parquet", study_tokens())
    return replace(given_of(judgments), as_read=[own], options=options)


def test_a_models_accuracy_on_fresh_items_is_compared_within_frames(inputs: FindingInputs):
    [row] = SEEN.run(inputs).statistics["old_minus_fresh"].to_dict("records")
    assert (row["study"], row["fresh"], row["difference"]) == (1, 0.5, 0.5)
    assert (row["n_items"], row["n_fresh"], row["n_frames"]) == (6, 6 * N_DRAWS, 6)
    # Six frames: three lose nothing, three lose all: 2.571 x sqrt(.3 / 6) on each side.
    assert row["low"] == pytest.approx(0.5 - 2.5706 * 0.05**0.5, abs=1e-4)


def test_items_above_all_their_draws_are_said_to_have_been_seen(inputs: FindingInputs):
    findings = SEEN.run(inputs)
    rows = findings.statistics["memorised"].set_index("part")
    assert rows["gain"].tolist() == [2, 2]
    assert rows["first"].tolist() == rows["rank"].tolist() == [1, 1]
    assert rows["p"].tolist() == pytest.approx([1 / (N_DRAWS + 1)] * 2)
    assert findings.summary == ("5-gram prefers the study's items: it has probably seen them.",)


def test_draws_as_probable_as_the_items_are_no_sign_of_memory(inputs: FindingInputs, tmp_path):
    alike = {name: study_tokens()[name.partition(".")[0]] for name in fresh_tokens()}
    other = ComparisonOptions(fresh=[scores_of(tmp_path / "alike.parquet", alike)])
    findings = SEEN.run(replace(inputs, options=other))
    assert findings.statistics["memorised"]["p"].tolist() == [1, 1]
    assert "no sign that it has seen the study's items" in findings.summary[0]


def test_few_draws_allow_no_conclusion(inputs: FindingInputs, tmp_path: Path):
    few = {
        name: values for name, values in fresh_tokens().items() if name.endswith((".fresh1", "h2"))
    }
    options = ComparisonOptions(fresh=[scores_of(tmp_path / "few.parquet", few)])
    findings = SEEN.run(replace(inputs, options=options))
    assert "2 draws are too few to tell whether it has seen" in findings.summary[0]


def test_draws_that_repeat_the_whole_study_allow_no_conclusion(inputs: FindingInputs, tmp_path):
    repeated = {
        name.replace(".fresh", ".shown") if name.endswith((".fresh7", ".fresh8")) else name: values
        for name, values in fresh_tokens().items()
    }
    options = ComparisonOptions(fresh=[scores_of(tmp_path / "again.parquet", repeated)])
    [sentence] = SEEN.run(replace(inputs, options=options)).summary
    assert "draws often repeat the whole study" in sentence


def test_of_a_closed_model_the_report_says_what_cannot_be_told(inputs: FindingInputs):
    closed = TakerData("closed", "samples", pd.DataFrame())
    findings = SEEN.run(replace(inputs, options=replace(inputs.options, takers=[closed])))
    assert "Whether closed memorised items cannot be told: only its answers" in findings.left_out[0]


def test_scores_of_other_items_or_of_another_model_are_refused(inputs: FindingInputs, tmp_path):
    other = scores_of(tmp_path / "other.parquet", fresh_tokens(), model="other")
    with pytest.raises(AnalysisError, match='scored by "other", which is not compared'):
        SEEN.run(replace(inputs, options=ComparisonOptions(fresh=[other])))
    cased = scores_of(tmp_path / "cased.parquet", fresh_tokens(), rendering="sentence_case")
    with pytest.raises(AnalysisError, match="5-gram scored the study's items and the fresh ones d"):
        SEEN.run(replace(inputs, options=ComparisonOptions(fresh=[cased])))
    own = ComparisonOptions(fresh=inputs.as_read)
    with pytest.raises(AnalysisError, match="no item is parallel to an item that people judged"):
        SEEN.run(replace(inputs, options=own))
