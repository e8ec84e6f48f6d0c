"""Every number about reading times, worked out by hand from a few times."""

import subprocess
from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import pytest
from statsmodels.stats.multitest import multipletests

from analysis.data.inclusion import PAIR, PROBABILITY, STRATUM, WEIGHT
from analysis.data.readings import _drop_far_times, _remove_length_effect
from analysis.findings.comparisons import COMPARISONS
from analysis.findings.design_model import READING_MODEL
from analysis.findings.finding import FindingInputs
from analysis.findings.measures import READING_EFFECTS
from analysis.maze.analysis import MAZE_ACCURACY
from experiment.studies.analysis_plan import Analysis, Comparison
from experiment.studies.study import Trials
from tests.analysis.designed_studies import designed
from tests.analysis.findings.hand_made_runs import RUN, frame_of, given_of
from tests.prerequisites import LME4

PEOPLE, FRAMES = 12, 8
# The times of region 1 are alike in both conditions; region 2 takes 400 ms in a and 500 ms in b.
MEDIAN_MS = {("a", 1): 300.0, ("b", 1): 300.0, ("a", 2): 400.0, ("b", 2): 500.0}
WRONG_MS = 2500.0


def answers() -> pd.DataFrame:
    """Everybody reads every frame in both conditions."""
    rows = [
        {
            "participant": f"p{person}", "position": 2 * frame + place + 1,
            "item_id": f"{frame}{condition}", "construction": "extraction",
            "condition": condition, "frame": f"f{frame}", "unit": f"f{frame}", "cell": condition,
            "version": "good", "kind": "target", "chose_good": None,
        }
        for person, frame in product(range(PEOPLE), range(FRAMES))
        for place, condition in enumerate("ab")
    ]  # fmt: skip
    return pd.DataFrame(rows)


def readings(judgments: pd.DataFrame, *, maze: bool = False) -> pd.DataFrame:
    """Times whose logarithms lie evenly around the medians, so that these are geometric means.

    In the Maze, the first reading of region 2 in each condition was wrong, and took long.
    """
    rng = np.random.default_rng(1)
    noise = {
        (region, frame): rng.permutation(np.linspace(-0.3, 0.3, PEOPLE))
        for region, frame in product((1, 2), range(FRAMES))
    }
    rows = []
    for answer in judgments.to_dict("records"):
        person, frame = int(answer["participant"][1:]), int(answer["frame"][1:])
        for region in (1, 2):
            sign = 1 if answer["condition"] == "a" else -1
            log = sign * noise[region, frame][person]
            wrong = maze and region == 2 and (person, frame) == (0, 0)
            time = MEDIAN_MS[answer["condition"], region] * np.exp(log)
            row = {name: answer[name] for name in ("participant", "position", "item_id", "version")}
            row |= {"judge": "people", "step": region, "region": region, "text": f"word{region}",
                    "rt_ms": WRONG_MS if wrong else time}  # fmt: skip
            rows.append(row | ({"correct": not wrong} if maze else {}))
    return pd.DataFrame(rows)


def found(*, maze: bool = False):
    judgments = answers()
    given = given_of(judgments, readings=readings(judgments, maze=maze))
    return READING_EFFECTS.run(given)


def test_reading_times_are_geometric_means():
    rows = frame_of(found(), "reading_times").set_index(["cell", "region"])
    for key, median in MEDIAN_MS.items():
        assert rows.loc[key, "rt_ms"] == pytest.approx(median)
        assert rows.loc[key, "rt_ms_low"] < median < rows.loc[key, "rt_ms_high"]
    assert (rows["n_observations"] == PEOPLE * FRAMES).all()
    assert (rows["n_participants"] == PEOPLE).all() and (rows["n_units"] == FRAMES).all()


def test_a_difference_in_per_cent_is_that_of_the_times_not_of_their_logarithms():
    rows = found().statistics["reading_effects"].set_index("region")
    # 400 ms are a fifth less than 500 ms; the logarithms differ by -.223.
    assert rows.loc[2, "contrast"] == "a - b"
    assert rows.loc[2, "percent"] == pytest.approx(-20)
    assert rows.loc[2, "estimate"] == pytest.approx(np.log(0.8))
    assert rows.loc[1, "percent"] == pytest.approx(0, abs=1e-6)
    ends = 100 * (np.exp(rows[["low", "high"]].to_numpy(float)) - 1)
    assert rows[["percent_low", "percent_high"]].to_numpy(float) == pytest.approx(ends)


def test_times_are_weighted_by_the_probabilities_of_their_frames():
    """Two of eight frames have three times the weight, and take 800 ms instead of 500 in b."""
    judgments = answers()
    heavy = judgments["frame"].isin(["f0", "f1"])
    drawn = judgments.assign(
        **{WEIGHT: np.where(heavy, 3.0, 1.0), PROBABILITY: 0.0, STRATUM: 1, PAIR: 0}
    )
    times = readings(judgments)
    slow = times["item_id"].isin(["0b", "1b"]) & (times["region"] == 2)
    times.loc[slow, "rt_ms"] *= 800 / 500
    given = given_of(drawn, readings=times)
    means = frame_of(READING_EFFECTS.run(given), "reading_times").set_index(["cell", "region"])
    assert means.loc[("b", 2), "rt_ms"] == pytest.approx((800 * 500) ** 0.5)
    effects = READING_EFFECTS.run(given).statistics["reading_effects"].set_index("region")
    assert effects.loc[2, "estimate"] == pytest.approx(np.log(400 / (800 * 500) ** 0.5))
    row = _compared(times.assign(relative_region=times["region"] - 2), of="log_rt", given=given)
    assert row["estimate"] == pytest.approx(np.log((800 * 500) ** 0.5 / 400))
    assert np.exp(row["first"] - row["second"]) == pytest.approx((800 * 500) ** 0.5 / 400)


def test_holms_correction_is_over_all_regions_of_a_construction():
    rows = found().statistics["reading_effects"]
    assert len(rows) == 2
    assert rows["p_holm"].to_numpy() == pytest.approx(multipletests(rows["p"], method="holm")[1])
    # Within its region each difference would be the only one.
    assert (
        rows.loc[rows["region"] == 2, "p_holm"].item() > rows.loc[rows["region"] == 2, "p"].item()
    )


def test_a_word_of_a_maze_that_was_chosen_wrongly_counts_in_no_time():
    rows = frame_of(found(maze=True), "reading_times").set_index(["cell", "region"])
    assert rows.loc[("a", 2), "n_observations"] == rows.loc[("b", 2), "n_observations"] == 95
    assert rows.loc[("a", 1), "n_observations"] == 96
    times = readings(answers(), maze=True)
    kept = times[times["correct"] & (times["region"] == 2) & times["item_id"].str.endswith("a")]
    mean = float(np.exp(np.log(kept["rt_ms"]).mean()))
    assert rows.loc[("a", 2), "rt_ms"] == pytest.approx(mean)


def test_the_share_of_words_chosen_at_once_counts_the_wrong_ones():
    judgments = answers()
    given = given_of(judgments, readings=readings(judgments, maze=True))
    rows = frame_of(MAZE_ACCURACY.run(given), "maze_accuracy").set_index(["cell", "region"])
    assert rows.loc[("a", 2), "accuracy"] == pytest.approx(95 / 96)
    assert rows.loc[("b", 1), "accuracy"] == 1
    assert (rows["n_words"] == 96).all()


def test_regions_are_compared_relative_to_the_critical_one():
    """Condition b has a word more before the critical region, which is region 3 there."""
    judgments = answers()
    times = readings(judgments)
    in_b = times["item_id"].str.endswith("b")
    times = times.assign(relative_region=times["region"] - 2)
    times.loc[in_b, "region"] += 1
    times.loc[in_b, "step"] += 1
    rows = READING_EFFECTS.run(given_of(judgments, readings=times)).statistics["reading_effects"]
    assert rows["region"].tolist() == [-1, 0]
    # As in the test above: 400 ms are a fifth less than 500 ms.
    assert rows.loc[rows["region"] == 0, "percent"].item() == pytest.approx(-20)


def _compared(
    times: pd.DataFrame,
    *,
    plan: dict[str, object] | None = None,
    given: FindingInputs | None = None,
    **declared: object,
):
    """The one comparison of a study that reads these times."""
    given = given or given_of(answers(), readings=times)
    given = replace(given, run=replace(given.run, readings=times))
    asked = Comparison.model_validate({"name": "asked", "compare": "condition: b - a"} | declared)
    items = given.run.items.assign(
        template="", context="", good="w1 w2", bad="", distractor="", contrast="bad"
    )
    run = designed(
        replace(given.run, items=items),
        response="self_paced", trial=Trials(), comparisons=[asked], analysis=plan or {},
    )  # fmt: skip
    found = COMPARISONS.run(replace(given, run=run))
    return found.statistics["comparisons"].iloc[0]


def test_times_of_several_regions_are_added_before_their_logarithm():
    """A critical region of 300 ms and the next of 400 or 500 ms: 800 to 700 ms; noise-free."""
    times = readings(answers()).assign(
        rt_ms=lambda rows: [
            MEDIAN_MS[item[-1], region]
            for item, region in zip(rows["item_id"], rows["region"], strict=True)
        ],
        relative_region=lambda rows: rows["region"] - 1,
    )
    row = _compared(times, of="log_rt", regions=[0, 1])
    assert row["estimate"] == pytest.approx(np.log(800 / 700))
    row = _compared(times, of="log_rt", regions=[1])
    assert row["estimate"] == pytest.approx(np.log(500 / 400))


def test_times_far_from_their_participants_mean_are_left_out():
    """Eleven times of 300 ms and one of 4,000: 3.18 standard deviations from the mean."""
    ms = np.array([300.0] * 11 + [4000.0])
    far = (np.log(ms) - np.log(ms).mean()) / np.log(ms).std(ddof=1)
    assert far.max() == pytest.approx(3.175, abs=0.001)
    frame = pd.DataFrame({"participant": "p", "log_rt": np.log(ms)})

    def kept(most: float):
        analysis = Analysis(most_sds=most)
        return _drop_far_times(frame, RUN.study.model_copy(update={"analysis": analysis}))

    assert len(kept(3.1)[0]) == 11 and len(kept(3.2)[0]) == 12
    assert kept(3.1)[1][0].startswith("1 of 12 reading times were left out: their logarithms")


def test_times_residual_on_length_are_those_of_each_participants_line():
    rng = np.random.default_rng(3)
    texts = ["a", "four", "sixsix", "eleven word"] * 2
    frame = pd.DataFrame({"participant": ["p"] * 4 + ["q"] * 4, "text": texts,
                          "log_rt": rng.normal(6, 0.2, 8)})  # fmt: skip
    adjusted = _remove_length_effect(frame)
    lengths = np.array([len(text) for text in texts[:4]])
    for rows, before in ((slice(0, 4), frame[:4]), (slice(4, 8), frame[4:])):
        slope, intercept = np.polyfit(lengths, before["log_rt"], 1)
        residuals = before["log_rt"] - (intercept + slope * lengths)
        at_mean = intercept + slope * lengths.mean()
        assert adjusted["log_rt"][rows].to_numpy() == pytest.approx(
            (residuals + at_mean).to_numpy()
        )


def test_trial_order_is_held_constant_as_in_a_linear_regression():
    times = readings(answers())
    trials = answers().astype({"participant": str}).merge(times, on=["participant", "position"])
    summed = trials.groupby(["participant", "position"], sort=False).agg(
        rt=("rt_ms", "sum"), condition=("condition", "first")
    ).reset_index()  # fmt: skip
    design = np.column_stack([np.ones(len(summed)), summed["condition"] == "b", summed["position"]])
    expected = np.linalg.lstsq(design.astype(float), np.log(summed["rt"]), rcond=None)[0][1]
    row = _compared(times, of="log_rt", covariates=["trial_order"])
    plain = _compared(times, of="log_rt")
    assert row["estimate"] == pytest.approx(expected)
    assert abs(row["estimate"] - plain["estimate"]) > 1e-6
    assert row["covariates"] == "trial_order"


def test_the_reports_script_gives_its_estimates_of_times_in_r(tmp_path, monkeypatch):
    """Region -1 without and region 0 with the effect; trial order is held constant."""
    program = LME4.require()
    monkeypatch.setitem(globals(), "FRAMES", 12)
    times = readings(answers()).assign(relative_region=lambda rows: rows["region"] - 2)
    given = given_of(answers(), readings=times)
    run = designed(given.run, analysis={"covariates": ("trial_order",)})
    found = READING_MODEL.run(replace(given, run=run))
    write, ours = found.folders["reading_model"], found.statistics["reading_model"]
    scripts = [path.name for path in write(tmp_path) if path.suffix == ".R"]
    assert scripts == ["extraction-region-minus-1.R", "extraction-region-0.R"]
    sources = [f'source("{name}", local = new.env())' for name in scripts]
    subprocess.run(
        [program, "-e", "; ".join(sources)], cwd=tmp_path, check=True, capture_output=True
    )
    for region, name in ((-1, "minus-1"), (0, "0")):
        theirs = pd.read_csv(tmp_path / f"extraction-region-{name}_coefficients.csv", index_col=0)
        rows = ours[ours["region"] == region]
        assert rows["term"].tolist() == ["Intercept", "condition: a - b", "trial_order"]
        for column, in_r in (("estimate", "Estimate"), ("std_error", "Std. Error")):
            assert rows[column].to_numpy() == pytest.approx(theirs[in_r], rel=0.01, abs=1e-4)
