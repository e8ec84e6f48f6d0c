"""What a report says of frames that were drawn where models differ."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from analysis.data.load import load_run, load_scores
from experiment.studies.analysis_plan import Comparison
from experiment.tables.files import write_table
from experiment.tables.schemas import INCLUSION
from tests.analysis import small_run
from tests.analysis.chosen_findings import compare_by
from tests.analysis.rated_study import island_run

Frame = tuple[str, float, str, float, int | None, int | None]
# One of two frames on which the models differ was drawn, and one of four on which they agree.
FRAMES: list[Frame] = [
    *((f"item={n}", 1.0, "differ", 0.5, None, None) for n in (1, 3)),
    *((f"item={n}", 0.0, "agree", 0.25, None, None) for n in (2, 4, 5, 6)),
]
# One exchange of two and one of three was drawn.
PAIRS: list[Frame] = [
    *(("item=1", 1.0, "differ", 0.8, 1, 0), ("item=3", 0.0, "agree", 0.2, 1, 1)),
    *(("item=2", 0.0, "agree", 0.25, 2, 0), ("item=4", 0.0, "agree", 0.25, 2, 1)),
    ("item=5", 1.0, "differ", 0.5, 2, 2),
]


def _export(folder: Path, frames: list[Frame]) -> Path:
    rows = small_run.tables()
    for number, item in enumerate(rows["items"][:2], start=1):
        item["frame"] = f"item={number}"
    export = small_run.write_export(folder / "export", rows)
    names = ("frame", "difference", "stratum", "probability", "pair", "exchange")
    table = [
        dict(zip(names, frame, strict=True)) | {"template": "simple", "models": "5-gram; rnn"}
        for frame in frames
    ]
    write_table(INCLUSION, table, export / "study" / "inclusion.csv")
    toml = export / "study" / "study.toml"
    toml.write_text(toml.read_text().replace("[design]", '[design]\ninclusion = "inclusion.csv"'))
    return export


def test_a_report_weights_accuracies_and_says_that_items_were_chosen(tmp_path: Path):
    run = load_run(_export(tmp_path, FRAMES))
    other = {name: (good, bad, more) for name, (bad, good, more) in small_run.LOGPROBS.items()}
    rows = [row for row in small_run.score_rows(other) if row["logprob_nats"] is not None]
    scores = [
        load_scores(small_run.write_scores(tmp_path / "a.parquet")),
        load_scores(small_run.write_scores(tmp_path / "b.parquet", rows, model="rnn")),
    ]
    result = compare_by(["separating", "differences"], run, scores)
    people = result.by_construction.query("judge == 'people'").set_index("construction")["accuracy"]
    # Of s-1 both are right, and of s-2 one: two frames of 1, and four of a half.
    assert people["simple"] == pytest.approx((2 * 1 + 4 * 0.5) / 6)
    # Fillers or constructions without probabilities are as they were: of p-1 both, of p-2 none.
    assert people["polarity"] == pytest.approx(0.5)
    minus = result.statistics["people_minus_models"].query("construction == 'simple'")
    assert minus.set_index("judge")["model"]["5-gram"] == pytest.approx(2 / 6)
    assert minus.set_index("judge")["model"]["rnn"] == pytest.approx(4 / 6)
    drawn = result.statistics["drawn_frames"].set_index("stratum")
    assert drawn["n_frames"].to_dict() == {"differ": 2, "agree": 4}
    assert drawn["n_drawn"].to_dict() == {"differ": 1, "agree": 1}
    assert drawn["accuracy"].to_dict() == {"differ": 1.0, "agree": 0.5}
    [sentence] = [text for text in result.summary if text.startswith("The items were chosen")]
    assert sentence.startswith(
        "The items were chosen: 2 of 6 frames were drawn, those on which 5-gram and rnn differ "
        "more often than others (1 of 2). Accuracies, means, and differences between"
    )
    assert [table.name for table in result.tables if table.name == "nearer_to_people"]


def test_a_pair_of_frames_counts_as_much_as_if_its_exchange_were_drawn_at_random(tmp_path: Path):
    result = compare_by(["separating"], load_run(_export(tmp_path, PAIRS)), [])
    people = result.by_construction.query("judge == 'people'").set_index("construction")["accuracy"]
    # Of s-1, with a weight of (1/2) / .8, both are right, and of s-2, of (1/3) / .25, one.
    first, second = 0.5 / 0.8, 1 / 3 / 0.25
    assert people["simple"] == pytest.approx((first * 1 + second * 0.5) / (first + second))
    drawn = result.statistics["drawn_frames"].set_index("stratum")
    assert drawn["n_frames"].to_dict() == {"differ": 2, "agree": 3}
    assert drawn["n_drawn"].to_dict() == {"differ": 1, "agree": 1}


def test_comparisons_of_ratings_are_weighted_but_for_slopes(tmp_path: Path):
    run = island_run()
    frames = run.items[["template", "frame"]].drop_duplicates().to_dict("records")
    # Four of sixteen frames were drawn with a quarter of the others' probability.
    table = [
        row | {"difference": 1.0, "stratum": "differ", "probability": 0.2 if n < 4 else 0.8,
               "models": "a; b", "pair": None, "exchange": None}
        for n, row in enumerate(frames)
    ]  # fmt: skip
    write_table(INCLUSION, table, tmp_path / "inclusion.csv")
    design = run.study.design.model_copy(update={"inclusion": "inclusion.csv"})
    declared = tuple(
        Comparison(name=name, compare=compare, role="exploratory")
        for name, compare in (
            ("length", "length: short - long"),
            ("steps", "slope of steps"),
        )
    )
    study = run.study.model_copy(
        update={"folder": tmp_path, "design": design, "comparisons": declared}
    )
    items = run.items.assign(own_steps=[str(n % 7) for n in range(len(run.items))])
    result = compare_by(
        ["separating", "comparisons", "ratings"], replace(run, study=study, items=items)
    )
    [sentence] = [text for text in result.summary if text.startswith("The items were chosen")]
    assert sentence.startswith(
        "The items were chosen: 16 of 16 frames were drawn, more often those for which the scores "
        "of a and b differ more. Means, shares, and differences between conditions are weighted"
    )
    ratings = run.responses.merge(run.items, on="item_id")
    heavy = ratings["frame"].isin([row["frame"] for row in frames[:4]])
    weight = np.where(heavy, 4.0, 1.0)
    in_condition = {
        name: np.average(ratings["rating"][chosen], weights=weight[chosen])
        for name in ratings["condition"].unique()
        for chosen in [ratings["condition"] == name]
    }
    means = result.statistics["ratings"].set_index("condition")["mean"]
    assert means.to_dict() == pytest.approx(in_condition)
    rows = result.statistics["comparisons"].set_index("name")
    first, second = (
        (in_condition[f"island_{length}"] + in_condition[f"nonisland_{length}"]) / 2
        for length in ("short", "long")
    )
    assert rows.loc["length", "estimate"] == pytest.approx(first - second)
    assert (rows.loc["length", "first"], rows.loc["length", "second"]) == pytest.approx(
        (first, second)
    )
    [table] = [table for table in result.tables if table.name == "comparisons_exploratory"]
    assert table.notes[-2:] == (
        "Frames are weighted by the inverse of their probability of being drawn: comparisons hold "
        "for all frames that could be drawn.",
        "Slopes are not weighted: steps holds for the frames that were shown, which were drawn "
        "where models differ.",
    )
