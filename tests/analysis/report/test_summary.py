"""The report's first sentences are true of the tables, whatever the numbers."""

import re

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

from analysis.report.summary import EXPLORATORY_ALPHA, Verdict, judge_difference, summarise_models
from analysis.statistics.accuracy import accuracies
from analysis.statistics.consistency import error_consistency
from analysis.statistics.paired import people_against_models
from benchmarks.headline import is_wrong
from benchmarks.situations import SITUATIONS, Situation, draw
from experiment.studies.load import load_study
from experiment.studies.study import Construction
from tests.analysis import small_run

MARGIN = 0.1
MINUS = "\N{MINUS SIGN}"


@pytest.fixture
def study(tmp_path):
    loaded = load_study(str(small_run.write_study(tmp_path / "study")))
    constructions = [Construction(name=name, title=name.upper()) for name in "abcdef"]
    return loaded.model_copy(update={"constructions": constructions})


def tables(situation, seed, *, changed=lambda decisions: decisions):
    """The long form and the statistics of one drawn study."""
    rng = np.random.default_rng(seed)
    judgments, decisions = draw(situation, rng)
    of_models = {"lstm": changed(decisions)}
    by = ["construction"]
    return (
        accuracies(judgments, of_models, by, rng, 100),
        {
            "people_minus_models": people_against_models(judgments, of_models, by, MARGIN),
            "error_consistency": error_consistency(judgments, of_models, rng),
        },
    )


SAMPLE = [
    situation if place % 3 == 0 else pytest.param(situation, marks=pytest.mark.campaign)
    for place, situation in enumerate(SITUATIONS)
]


@pytest.mark.parametrize("situation", SAMPLE, ids=lambda one: one.name)
def test_every_number_and_relation_of_the_first_sentences_is_the_tables(study, situation):
    accuracy, statistics = tables(situation, 1)
    first, *explored, people = summarise_models(accuracy, study, statistics, MARGIN)
    rows = statistics["people_minus_models"]
    overall = rows[rows["construction"] == ""].iloc[0]
    shares = re.search(r"in ([\d.]+)% and it in ([\d.]+)%", first)
    told = re.search(rf"([+{MINUS}][\d.]+) percentage points, 95% interval (\S+) to (\S+);", first)
    assert shares and told
    in_points = [float(one.replace(MINUS, "-")) for one in told.groups()]
    expected = [100 * overall[name] for name in ("difference", "low", "high")]
    assert in_points == pytest.approx(expected, abs=0.051)
    both = [float(one) for one in shares.groups()]
    assert both == pytest.approx([100 * overall["people"], 100 * overall["model"]], abs=0.051)
    # One weighting: the two shares differ by the difference that is told.
    assert both[0] - both[1] == pytest.approx(in_points[0], abs=0.11)
    assert people.startswith(f"People chose the expected version in {both[0]}% of all")
    relation = {
        Verdict.WORSE: overall["low"] > 0,
        Verdict.BETTER: overall["high"] < 0,
        Verdict.SAME: overall["p_equivalence"] < 0.05 and abs(overall["difference"]) < MARGIN,
        Verdict.UNDECIDED: overall["low"] <= 0 <= overall["high"],
    }
    said = judge_difference(overall.to_dict())
    assert first.startswith(f"lstm is {said.value}")
    assert relation[said]
    exploratory = " ".join(explored)
    assert all(sentence.startswith("Exploratory, lstm: ") for sentence in explored)
    _named_constructions_are_the_tables(exploratory, rows)
    _errors_are_the_tables(exploratory, statistics["error_consistency"])


def _named_constructions_are_the_tables(first, rows):
    own = rows[rows["construction"] != ""].set_index("construction")
    apart = own[own["p_holm"] < EXPLORATORY_ALPHA]
    if len(own) < 2:
        assert "Holm" not in first
        return
    if apart.empty:
        n = own["p_holm"].notna().sum()
        assert f"No construction of the {n} differs at p < .005 after Holm correction" in first
        return
    named = re.findall(r"([A-F]) \(people ([\d.]+)%, lstm ([\d.]+)%; p [=<] \.\d+\)", first)
    assert len(named) == min(3, len(apart))
    for name, people, model in named:
        row = apart.loc[name.lower()]
        assert (float(people), float(model)) == pytest.approx(
            (100 * row["people"], 100 * row["model"]), abs=0.051
        )
    unnamed = apart.drop([name.lower() for name, *_ in named])
    least = min(abs(apart.loc[name.lower(), "difference"]) for name, *_ in named)
    assert (unnamed["difference"].abs() <= least + 1e-9).all()


def _errors_are_the_tables(first, found):
    own = found[(found["first"] == "people") & (found["second"] == "lstm")].iloc[0]
    if pd.isna(own["low"]):
        assert "same items" not in first
        return
    said = own["p"] < EXPLORATORY_ALPHA
    assert ("It errs on the same items as people more often" in first) == (said and own["low"] > 0)
    assert ("on different items from people more often" in first) == (said and own["high"] < 0)
    # The interval and the p that decides never contradict each other.
    assert (own["p"] < 0.05) == (own["low"] > 0 or own["high"] < 0)


def test_undecided_errors_beside_an_interval_without_zero_say_why(study):
    accuracy, statistics = tables(PLAIN, 1)
    found = statistics["error_consistency"]
    own = (found["first"] == "people") & (found["second"] == "lstm")
    found.loc[own, ["kappa", "low", "high", "p"]] = (0.2, 0.06, 0.34, 0.006)
    among = (found["first"] == "people") & (found["second"] == "people")
    found.loc[among, ["kappa", "low", "high"]] = (0.31, 0.25, 0.37)
    first = summarise_models(accuracy, study, statistics, MARGIN)[1]
    assert (
        "Whether it errs on the same items as people is inconclusive (kappa 0.20, 95% interval "
        "0.06 to 0.34; p = .006 for kappa = 0, and statements other than the primary comparisons "
        "need p < .005; people with people: kappa 0.31, 95% interval 0.25 to 0.37)."
    ) in first
    found.loc[own, ["low", "p"]] = (-0.01, 0.06)
    first = summarise_models(accuracy, study, statistics, MARGIN)[1]
    assert "95% interval \N{MINUS SIGN}0.01 to 0.34; p = .060 for kappa = 0; people with" in first


PLAIN = Situation("plain", people=(0.9, 0.8), model=(0.9, 0.8))


def test_where_all_scores_tie_nothing_is_compared_and_the_ties_are_said(study):
    tied = {"correct": False, "tie": True}
    accuracy, statistics = tables(PLAIN, 1, changed=lambda frame: frame.assign(**tied))
    first = summarise_models(accuracy, study, statistics, MARGIN)[0]
    assert first.startswith("lstm gave both versions of all")
    assert "prefers neither" in first
    assert "%" not in first


def test_some_ties_are_counted_beside_the_answer(study):
    def three(frame):
        some = frame.index < 3
        return frame.assign(tie=some, correct=frame["correct"] & ~some)

    accuracy, statistics = tables(PLAIN, 1, changed=three)
    first = summarise_models(accuracy, study, statistics, MARGIN)[0]
    assert re.search(r"On 3 of the \d+ judged items lstm gave both versions the same score", first)


@pytest.mark.parametrize(("n_items", "n_people"), [(1, 20), (1, 1), (20, 1)])
def test_what_has_no_interval_gets_no_nan(study, n_items, n_people):
    small = Situation("small", people=(0.8,), model=(0.6,), n_items=n_items, n_people=n_people)
    accuracy, statistics = tables(small, 1)
    text = " ".join(summarise_models(accuracy, study, statistics, MARGIN))
    assert "nan" not in text
    assert "Holm" not in text


@pytest.mark.parametrize(
    ("n_items", "n_people", "enough"),
    [(2, 14, False), (4, 40, False), (40, 4, False), (5, 8, True)],
)
def test_nothing_is_concluded_from_fewer_than_five_items_or_participants(
    study, n_items, n_people, enough
):
    apart = Situation("apart", people=(0.99,), model=(0.01,), n_items=n_items, n_people=n_people,
                      sd_person=0.1, sd_item=0.1, each=n_items)  # fmt: skip
    accuracy, statistics = tables(apart, 1)
    first = summarise_models(accuracy, study, statistics, MARGIN)[0]
    assert ("lstm is worse than people" in first) == enough
    assert ("too few items, or compared with too few participants, for a conc" in first) != enough
    rows = statistics["people_minus_models"]
    assert rows[["low", "high", "p", "p_equivalence"]].notna().all(axis=None) == enough


def test_a_model_above_its_ceiling_is_not_left_without_a_word(study):
    accuracy, statistics = tables(PLAIN, 1)
    statistics["correlations"] = pd.DataFrame(
        {"judge": ["lstm"], "construction": [""], "spearman": [0.9],
         "spearman_low": [0.8], "spearman_high": [0.95]}
    )  # fmt: skip
    statistics["ceiling"] = pd.DataFrame({"spearman_ceiling": [0.8]})
    explored = summarise_models(accuracy, study, statistics, MARGIN)[1]
    assert "above the noise ceiling of 0.80" in explored
    statistics["correlations"]["spearman_low"] = np.nan
    assert "Spearman" not in summarise_models(accuracy, study, statistics, MARGIN)[1]


def test_where_no_construction_has_an_interval_none_is_called_the_same(study):
    accuracy, statistics = tables(PLAIN, 1)
    of_all = statistics["people_minus_models"]["construction"] == ""
    statistics["people_minus_models"].loc[~of_all, "p_holm"] = np.nan
    explored = summarise_models(accuracy, study, statistics, MARGIN)[1]
    assert "No construction has an interval" in explored
    assert "No construction of the" not in explored


@pytest.mark.parametrize("studies", [2, pytest.param(6, marks=pytest.mark.campaign)])
def test_the_answer_is_wrong_in_few_of_the_studies_of_each_kind_of_situation(studies):
    """A short version of ``benchmarks/headline.py``: some studies of every fifth situation."""
    rng = np.random.default_rng(9)
    chosen = [one for one in SITUATIONS[::5] for _ in range(studies)]
    wrong = sum(is_wrong(one, rng) for one in chosen)
    # The benchmark finds 1.1 % wrong: more are once in a hundred times or less.
    assert wrong <= binom.ppf(0.99, len(chosen), 0.011)
