"""Ratings, three options, yes and no go from the study's folder through the pages to the report."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from analysis import comparison
from analysis.data.load import ExportedRun, load_run
from analysis.data.tasks import select_task, split_run
from analysis.errors import AnalysisError
from analysis.findings.finding import ComparisonOptions
from analysis.statistics.withheld import CONTRAST, MEAN
from experiment.studies.load import load_study
from tests.analysis.chosen_findings import compare_by
from tests.analysis.small_run import compared, write_scores
from tests.experiment.responses.studies import PRESENTATIONS
from webapp.database.engine import reading
from webapp.runs.exclude import store_verdicts
from webapp.runs.export import export_run

pytestmark = pytest.mark.one_database

EXAMPLE = Path(__file__).parents[3] / "docs" / "examples" / "yes_no"
MIXED, SCALES = EXAMPLE.parent / "mixed", EXAMPLE.parent / "scales"


@pytest.fixture
def study(request: pytest.FixtureRequest):
    return load_study(str(PRESENTATIONS / request.param))


@pytest.fixture
def folder(study, send, sessions, simulated_run, tmp_path) -> Path:
    outcomes = send(participants=study.design.n_places, responder="accurate", accuracy=1.0)
    assert not [outcome.problem for outcome in outcomes if outcome.problem]
    with sessions.begin() as session:
        store_verdicts(session, session.merge(simulated_run), datetime(2026, 3, 1, tzinfo=UTC))
    with reading(sessions) as session:
        export_run(session, simulated_run, tmp_path / "export")
    return tmp_path / "export"


def scores_of(folder: Path, variants: tuple[str, ...]) -> Path:
    """Scores that prefer the good version of every item, by more from item to item."""
    run = load_run(folder)
    rows = []
    for number, item in enumerate(run.items.to_dict("records")):
        for variant in ("good", *(name for name in variants if item[name])):
            logprob = -5.0 if variant == "good" else -7.0 - number
            described = {key: item[key] for key in ("item_id", "construction", "condition")}
            rows.append(described | {
                "contrast": item["contrast"], "variant": variant, "logprob_nats": logprob,
                "n_tokens": 1, "n_unknown": 0, "token_logprobs_nats": [logprob],
            })  # fmt: skip
    facts = {"study": run.facts.study, "materials_hash": run.facts.materials_hash}
    return write_scores(folder.parent / "scores.parquet", rows, **facts)


@pytest.mark.parametrize("study", ["ratings"], indirect=True)
def test_ratings_are_stored_exported_and_reported_and_are_never_right_or_wrong(folder, study):
    run = load_run(folder)
    assert run.responses["rating"].between(1, 7).all()
    assert run.responses["chose_good"].isna().all()
    assert run.responses["chosen_side"].isna().all()
    pairs = run.responses[run.responses["item_id"].str.startswith("extraction")]
    assert Counter(pairs["version"]) == {"good": 64, "bad": 64}
    assert (pairs.groupby("item_id")["version"].nunique() == 2).all()
    assert run.verdicts["kept"].all()
    for stored in folder.glob("*.parquet"):
        stored.unlink()
    as_text = load_run(folder).responses
    assert as_text["rating"].tolist() == run.responses["rating"].tolist()
    assert as_text["chosen_side"].isna().all()

    found = compared(folder, scores_of(folder, ("bad",)))
    table = {one.name: one.frame for one in found.tables}
    notes = {one.name: one.notes for one in found.tables}
    of_pairs = {"rating_differences", "ratings_and_models"}
    own = {"ratings", "rating_points", "rating_effects", "other_kinds", "human_baseline"}
    assert {*own, *of_pairs, "comparisons", "comparisons_exploratory"} == set(table)
    means = table["ratings"].set_index(["construction", "condition", "version"])
    own = run.responses.merge(run.items, on="item_id")
    own = own[(own["condition"] == "long") & (own["version"] == "bad")]
    row = means.loc[("extraction", "long", "other")]
    assert row["rating"] == pytest.approx(own["rating"].mean())
    # 32 ratings are enough for an interval, and 64 answers for one of a difference.
    assert MEAN <= len(own) == 32
    assert 1 <= row["rating_low"] < row["rating"] < row["rating_high"]
    apart = table["rating_differences"].set_index("condition")
    assert (apart["difference"] > 0).all()
    assert CONTRAST <= 64 and (apart["difference_low"] < apart["difference"]).all()
    assert not any("No interval where" in one for one in notes["rating_differences"])
    assert apart.loc["short", "model 5-gram"] > 0
    together = table["ratings_and_models"].iloc[0]
    assert together["agreement"] == 1.0
    assert together["n_items"] == 16
    assert found.by_construction.empty


@pytest.mark.parametrize("study", ["german_case"], indirect=True)
def test_each_of_four_options_is_stored_exported_and_reported(folder, study):
    run = load_run(folder)
    assert set(run.responses["version"]) == {"good"}
    assert run.responses["chose_good"].all()
    assert set(run.responses["chosen_side"]) == {"first", "second", "third", "fourth"}
    shown = run.trials.astype(str)
    case = shown[shown["item_id"].str.startswith("case")]
    assert (case["options"].str.split().map(len) == 4).all()
    assert Counter(case["good_side"]) == dict.fromkeys(("first", "second", "third", "fourth"), 8)

    found = compared(folder, scores_of(folder, ("bad", "distractor")))
    table = {one.name: one.frame for one in found.tables}
    shares = table["options"].set_index(["construction", "condition", "version"])
    assert shares.loc[("case", "dative", "good"), "people"] == 1.0
    assert shares.loc[("case", "dative", "good"), "5-gram"] == 1.0
    assert found.provenance.chance == pytest.approx((8 / 4 + 2 / 2) / 10)
    assert any("of some options only" in sentence for sentence in found.left_out)


@pytest.mark.parametrize("study", [EXAMPLE], indirect=True, ids=["yes_no"])
def test_yes_and_no_are_stored_exported_and_reported(folder, study):
    run = load_run(folder)
    said, version = run.responses["said_yes"], run.responses["version"].astype(str)
    assert (said == (version == "good")).all()
    assert run.responses["chose_good"].all()
    assert (
        run.responses["chosen_side"].astype(str) == said.map({True: "first", False: "second"})
    ).all()
    assert Counter(version) == {"good": 160, "bad": 160}
    assert run.verdicts["kept"].all()
    described = (folder / "README.md").read_text("utf-8")
    assert "whether the sentence was judged acceptable" in described

    found = compared(folder, scores_of(folder, ("bad",)))
    table = {one.name: one.frame for one in found.tables}
    assert set(table) == {
        *(
            "yes_rates",
            "detection",
            "detection_by_cell",
            "yes_no_effects",
            "yes_no_models",
            "other_kinds",
        ),
        *("human_baseline", "comparisons", "comparisons_exploratory"),
    }
    rates = table["yes_rates"].set_index(["condition", "expected"])["yes"]
    assert (rates.xs("yes", level="expected") == 1).all()
    assert (rates.xs("no", level="expected") == 0).all()
    detected = table["detection"].set_index("construction")
    assert (detected["accuracy"] == 1).all() and (detected["dprime"] > 3).all()
    # The scores prefer each item's good version, and every good one to every other.
    models = table["yes_no_models"].set_index(["construction", "judge", "measure"])
    assert models.loc[("", "5-gram", "sum"), "area"] == 1.0
    assert models.loc[("", "people", ""), "area"] == 1.0
    assert models.loc[("", "5-gram", "sum"), "spearman"] > 0.8
    assert found.by_construction.empty
    assert any(
        text.startswith("People said yes to 100% of the acceptable sentences and to 0%")
        for text in found.summary
    )


@pytest.mark.parametrize("study", [SCALES], indirect=True, ids=["scales"])
def test_the_scales_of_a_trial_are_stored_exported_and_compared_each_by_itself(folder, study):
    run = load_run(folder)
    own = run.responses
    assert (own["rating"] == own["rating_acceptability"]).all()
    assert own["rating_acceptability"].between(1, 7).all()
    assert own["rating_plausibility"].between(1, 5).all()
    assert (own["rating_acceptability"] != own["rating_plausibility"]).any()
    described = (folder / "README.md").read_text("utf-8")
    assert "the point of the scale plausibility, from 1: How likely is what it says?" in described

    found = {place.name: part for part, place in split_run(run, "", Path("out"))}
    assert set(found) == {"acceptability", "plausibility"}
    for name, part in found.items():
        report = compare_by(("ratings",), part)
        [table] = [one.frame for one in report.tables if one.name == "ratings"]
        means = own.merge(run.items, on="item_id").groupby("condition")[f"rating_{name}"].mean()
        assert dict(zip(table["condition"], table["rating"], strict=True)) == pytest.approx(
            means.to_dict()
        )
        assert part.study.study.title.startswith("How")
    [(alone, place)] = split_run(run, "plausibility", Path("out"))
    assert place == Path("out")
    assert alone.study.trial.parameters["points"] == 5
    with pytest.raises(AnalysisError, match="is analysed by itself"):
        comparison.compare(run, [], ComparisonOptions(), code_version="x")
    with pytest.raises(AnalysisError, match="one of acceptability, plausibility"):
        list(split_run(run, "plausible", Path("out")))


def shape_of(run: ExportedRun, slower: Callable[[np.ndarray], np.ndarray]) -> pd.Series:
    """What the finding surprisal_shape says where surprisals slow regions in a known way."""
    rng = np.random.default_rng(3)
    assert run.readings is not None
    ids = run.readings["item_id"].astype(str) + ":" + run.readings["version"].astype(str)
    read = run.readings.assign(text_id=ids)
    words = read[["text_id", "step", "text"]].astype({"text": str}).drop_duplicates()
    words = words.assign(surprisal_bits=rng.uniform(2, 14, len(words)))
    bits = read.merge(words.drop(columns="text"), on=["text_id", "step"])
    times = 6 + slower(bits["surprisal_bits"].to_numpy()) + rng.normal(0, 0.05, len(bits))
    planted = replace(run, readings=run.readings.assign(rt_ms=np.exp(times)))
    options = ComparisonOptions(
        resamples=100, surprisal={"m": words.rename(columns={"step": "position"})}
    )
    found = compare_by(("surprisal_shape",), planted, [], options)
    assert "surprisal_shape" in {one.name for one in found.drawings}
    assert "Compared with: m." in found.provenance.sentences
    return found.statistics["surprisal_shape"].iloc[0]


@pytest.mark.parametrize("study", [MIXED], indirect=True, ids=["mixed"])
def test_the_tasks_of_a_session_are_stored_exported_and_compared_each_by_itself(folder, study):
    run = load_run(folder)
    assert Counter(run.responses["task"].astype(str)) == {"self_paced": 120, "rating": 120}
    rated = run.responses["task"] == "rating"
    assert run.responses.loc[rated, "rating"].notna().all()
    assert run.responses.loc[~rated, "rating"].isna().all()
    assert run.responses.loc[rated, "n_steps"].isna().all()
    assert set(run.trials["options"].astype(str).str.split().str[0]) == {"good"}

    reading, judgment = (select_task(run, name) for name in ("self_paced", "rating"))
    assert len(reading.responses) == len(judgment.responses) == 120
    assert len(reading.readings) == 600 and judgment.readings is None
    assert "rating" not in reading.responses and "n_steps" not in judgment.responses
    assert [one.name for one in reading.study.constructions] == ["garden path"]
    assert {one.name for one in judgment.study.constructions} == {"attraction", "filler"}
    for part, expected in ((reading, "reading_times"), (judgment, "ratings")):
        found = comparison.compare(part, [], ComparisonOptions(resamples=100), code_version="x")
        assert expected in {table.name for table in found.tables}
    straight = shape_of(reading, lambda bits: 0.03 * bits)
    bent = shape_of(reading, lambda bits: 0.02 * (bits - 8) ** 2)
    assert straight["delta_low"] <= 0 <= straight["delta_high"]
    assert bent["edf"] > straight["edf"] + 1 and bent["delta_low"] > 1
    places = [place for _, place in split_run(run, "", Path("out"))]
    assert places == [Path("out/self_paced"), Path("out/rating")]
    with pytest.raises(AnalysisError, match="is analysed by itself"):
        comparison.compare(run, [], ComparisonOptions(), code_version="x")
    with pytest.raises(AnalysisError, match="one of self_paced, rating"):
        select_task(run, "ratings")
