"""The study's comparisons, answered: values from the cells, corrections, and sentences."""

import math
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from analysis.data.load import ExportedRun, Scores, load_scores
from analysis.findings.comparison_words import comparison_sentences, words_of
from analysis.findings.finding import Comparison as Report
from analysis.findings.finding import ComparisonOptions
from analysis.report.answered_once import leave_out_answered
from experiment.studies.analysis_plan import Comparison
from experiment.studies.load import load_study
from tests.analysis.chosen_findings import compare_by
from tests.analysis.designed_studies import choices, designed, mixed, within, yes_no
from tests.analysis.rated_study import island_run
from tests.analysis.small_run import write_scores


def _report(run: ExportedRun, *declared: Comparison) -> Report:
    run = replace(run, study=run.study.model_copy(update={"comparisons": list(declared)}))
    return compare_by(("comparisons",), run)


def _rows(report: Report) -> pd.DataFrame:
    return report.statistics["comparisons"].set_index("name")


@pytest.fixture(scope="module")
def run() -> ExportedRun:
    return within(n_people=28)


@pytest.fixture(scope="module")
def implied(run: ExportedRun) -> Report:
    return _report(run)


def _means(run: ExportedRun, value: str = "chose_good") -> pd.Series:
    rows = run.responses.merge(run.items[["item_id", "own_structure", "own_length"]], on="item_id")
    return rows.groupby(["own_structure", "own_length"])[value].mean()


@pytest.mark.parametrize(
    ("measure", "value", "shown"),
    [
        ("accuracy", 0.125, "+12.5"),
        ("rating", -0.5, "\N{MINUS SIGN}0.50"),
        ("share of bad", 0.125, "+12.5"),
        ("d_prime", -0.5, "\N{MINUS SIGN}0.50"),
        ("yes", -0.25, "\N{MINUS SIGN}25.0"),
        # A time that is a quarter longer, and one that is half as long.
        ("log_rt", math.log(1.25), "+25.0"),
        ("log_rt", math.log(0.5), "\N{MINUS SIGN}50.0"),
    ],
)
def test_a_difference_is_said_in_the_unit_of_its_measure(measure: str, value: float, shown: str):
    assert words_of(measure).amount(value) == shown


def test_main_effects_and_the_interaction_are_primary_and_come_first(implied: Report) -> None:
    rows = implied.statistics["comparisons"]
    primary = rows[rows["role"] == "primary"]
    assert list(primary["name"]) == ["structure", "length", "structure x length"]
    assert set(rows["n_in_family"]) == {3, 1}
    assert [table.name for table in implied.tables[:2]] == [
        "comparisons",
        "comparisons_exploratory",
    ]
    assert implied.summary[0].startswith("structure: ")


def test_primary_comparisons_of_a_sessions_other_tasks_count_in_the_correction(
    run: ExportedRun,
) -> None:
    own = Comparison(name="Islands", compare="structure: island - nonisland")
    of_other_task = Comparison(name="Reading", compare="pace", constructions=("read sentences",))
    report = _report(run, own, of_other_task)
    [row] = report.statistics["comparisons"].to_dict("records")
    assert (row["name"], row["n_in_family"]) == ("Islands", 2)
    assert row["p_corrected"] == pytest.approx(min(1, 2 * row["p"]))
    assert (
        "Intervals and p of all 2 primary comparisons of the study are corrected for their number "
        "(Bonferroni)." in report.summary
    )


def test_the_same_comparisons_on_other_scales_count_in_the_correction(run: ExportedRun) -> None:
    whole = load_study("docs/examples/scales")
    own = Comparison(name="Islands", compare="structure: island - nonisland")
    report = _report(replace(run, whole_study=whole), own)
    [row] = report.statistics["comparisons"].to_dict("records")
    n_scales = len(whole.trial.parameters["scales"])
    assert n_scales > 1
    assert row["n_in_family"] == n_scales
    assert row["p_corrected"] == pytest.approx(min(1, n_scales * row["p"]))


LABELS = {
    "structure": {"nonisland": "no island", "island": "wh-island"},
    "length": {"short": "short extraction"},
}


def test_sentences_tables_and_figures_show_the_labels_of_levels(run: ExportedRun) -> None:
    labelled = designed(run, analysis={"labels": LABELS})
    report = compare_by(("comparisons", "design_effects"), labelled)
    assert report.summary[0].startswith(
        "structure: accuracy is higher for no island than for wh-island, "
    )
    [interaction] = [text for text in report.summary if text.startswith("structure x length: ")]
    assert "The difference short extraction minus long is " in interaction
    assert " for no island and " in interaction and " for wh-island; " in interaction
    effects = next(table for table in report.tables if table.name == "design_effects")
    assert "structure: no island - wh-island" in list(effects.frame["label"])
    cells = report.statistics["design_cells"]
    assert set(cells["cell"]) == {
        "no island, short extraction", "no island, long",
        "wh-island, short extraction", "wh-island, long",
    }  # fmt: skip
    means = {
        f"{LABELS['structure'][structure]}, {LABELS['length'].get(length, length)}": mean
        for (structure, length), mean in _means(run).items()
    }
    assert dict(zip(cells["cell"], cells["accuracy"], strict=True)) == pytest.approx(means)
    conditions = next(table for table in report.tables if table.name == "conditions")
    assert set(conditions.frame["label"]) == set(means)
    # What a program reads keeps the names of the items' table.
    assert "island_long" in set(conditions.frame["condition"])
    shown, plain = _rows(report), _rows(_report(run))
    assert list(shown["estimate"]) == pytest.approx(list(plain["estimate"]))
    assert "length at no island" in shown.index and "length at nonisland" in plain.index


def test_the_table_says_what_is_subtracted_and_that_nothing_was_declared(
    run: ExportedRun, implied: Report
) -> None:
    table = implied.tables[0]
    assert (table.title, table.caption) == (
        "Comparisons of the design",
        "The study declared no comparisons; these follow from its design.",
    )
    assert list(table.frame["label"]) == [
        "structure: nonisland minus island", "length: short minus long",
        "structure x length: difference of differences",
    ]  # fmt: skip
    assert "The study declared no comparisons; these follow from its design." in implied.summary
    declared = _report(run, Comparison(name="Islands", compare="structure: island - nonisland"))
    assert declared.tables[0].title == "Primary comparisons"
    assert not any("declared no comparisons" in sentence for sentence in declared.summary)


def test_estimates_are_differences_of_the_cells(run: ExportedRun, implied: Report) -> None:
    means, rows = _means(run), _rows(implied)
    short_minus_long = {
        level: means[level, "short"] - means[level, "long"] for level in ("nonisland", "island")
    }
    of_lengths = (short_minus_long["nonisland"] + short_minus_long["island"]) / 2
    assert rows.loc["length", "estimate"] == pytest.approx(of_lengths)
    interaction = short_minus_long["nonisland"] - short_minus_long["island"]
    assert rows.loc["structure x length", "estimate"] == pytest.approx(interaction)
    at_island = rows.loc["length at island", "estimate"]
    assert at_island == pytest.approx(short_minus_long["island"])


def test_a_comparison_names_the_contrast_of_the_table_of_effects_that_it_answers(
    run: ExportedRun,
) -> None:
    implied = compare_by(("comparisons", "design_effects"), run)
    estimates = implied.statistics["design_effects"].set_index("contrast")["estimate"]
    rows = _rows(implied)
    contrasted = rows[rows["contrast"] != ""]
    assert len(contrasted) == 5
    for row in contrasted.to_dict("records"):
        assert row["estimate"] == pytest.approx(estimates[row["contrast"]])
    printed = {table.name for table in leave_out_answered(implied).tables}
    assert "design_effects" not in printed and "design_cells" in printed


def test_an_exploratory_verdict_on_several_models_is_corrected_for_their_number(
    run: ExportedRun, tmp_path: Path
) -> None:
    models = [_wrong_on_every(nth, name, run, tmp_path) for name, nth in (("a", 4), ("b", 3))]
    declared = [Comparison(name="models", compare="people - models", role="exploratory")]
    asked = replace(run, study=run.study.model_copy(update={"comparisons": declared}))
    report = compare_by(("comparisons", "differences"), asked, models)
    rows = report.statistics["comparisons"]
    assert list(rows["n_in_family"]) == [2, 2]
    assert list(rows["p_corrected"]) == pytest.approx([min(1, 2 * p) for p in rows["p"]])
    verdicts = [text for text in report.summary if "corrected for the 2 models: " in text]
    assert [text.startswith("Exploratory, ") for text in verdicts] == [True, True]


@pytest.mark.parametrize("make", [within, mixed, yes_no, lambda: island_run(1, 30, 24)])
def test_an_interval_excludes_zero_exactly_when_its_p_is_below_5_percent(make) -> None:
    rows = _report(make()).statistics["comparisons"]
    excludes = (rows["low"] > 0) | (rows["high"] < 0)
    assert (excludes == (rows["p_corrected"] < 0.05)).all()
    assert len(rows) >= 3


def test_a_comparison_without_an_interval_has_no_p() -> None:
    rows = _rows(_report(within(frames=4)))
    assert len(rows) == 5 and rows[["low", "high", "p", "p_corrected"]].isna().all(axis=None)


def test_the_primary_family_is_corrected_by_bonferroni(run: ExportedRun, implied: Report) -> None:
    alone = _rows(_report(run, Comparison(name="length", compare="length: short - long")))
    together = _rows(implied)
    assert together.loc["length", "p"] == pytest.approx(alone.loc["length", "p"])
    expected = min(1, 3 * alone.loc["length", "p"])
    assert together.loc["length", "p_corrected"] == pytest.approx(expected)
    width = together["high"] - together["low"]
    assert width["length"] > alone.loc["length", "high"] - alone.loc["length", "low"]


def test_a_declared_comparison_is_answered_in_its_own_direction(run: ExportedRun) -> None:
    report = _report(run, Comparison(name="attraction", compare="length: long - short"))
    [row] = report.statistics["comparisons"].to_dict("records")
    assert row["estimate"] < 0
    by_length = _means(run).groupby("own_length").mean()
    assert report.summary[0].startswith(
        "attraction: accuracy is lower for long than for short (length), "
        f"{by_length['long']:.1%} vs {by_length['short']:.1%}: \N{MINUS SIGN}"
    )


def test_an_interaction_is_said_as_the_difference_at_each_level(
    run: ExportedRun, implied: Report
) -> None:
    means = _means(run)
    at = {
        structure: f"{100 * (means[structure, 'short'] - means[structure, 'long']):+.1f}".replace(
            "-", "\N{MINUS SIGN}"
        )
        for structure in ("nonisland", "island")
    }
    assert (
        f"The difference short minus long of length is {at['nonisland']} for structure nonisland "
        f"and {at['island']} for structure island; the first minus the second, a difference of "
        "differences and not a simple effect, is "
    ) in implied.summary[2]
    for (structure, length), mean in means.items():
        assert f"{structure}, {length} {mean:.1%}" in implied.summary[2]
    rows = _rows(implied)
    assert list(rows["first"] - rows["second"]) == pytest.approx(list(rows["estimate"]))


def test_reading_times_of_both_sides_are_said_in_milliseconds() -> None:
    assert words_of("log_rt").level(math.log(1234.4)) == "1,234 ms"
    assert words_of("d_prime").level(-0.5) == "\N{MINUS SIGN}0.50"


def test_a_difference_below_the_smallest_effect_of_interest_is_claimed_absent() -> None:
    run = island_run(1, 60, 24)
    null = choices(run, np.random.default_rng(4).random(len(run.responses)) < 0.8)
    declared = Comparison(name="structure", compare="structure", smallest_effect=0.15)
    report = _report(null, declared)
    assert report.summary[0].startswith(
        "structure: accuracy is equivalent for nonisland and island within "
        "\N{PLUS-MINUS SIGN}15.0 percentage points (the smallest effect of interest), "
    )
    [row] = report.statistics["comparisons"].to_dict("records")
    assert row["low"] < row["equivalence_low"] < row["equivalence_high"] < row["high"]
    assert any(
        note.startswith("structure: equivalent, because the interval of two one-sided tests, ")
        and "lies within \N{PLUS-MINUS SIGN}15.0 percentage points (p " in note
        for note in report.tables[0].notes
    )
    assert (
        f"(90% interval {100 * row['equivalence_low']:+.1f} to ".replace("-", "\N{MINUS SIGN}")
        in report.summary[0]
    )
    # The p of two one-sided tests is the level whose interval touches the margin.
    touching = max(row["equivalence_high"], -row["equivalence_low"])
    at_margin = _report(null, declared.model_copy(update={"smallest_effect": touching + 1e-9}))
    assert _rows(at_margin).loc["structure", "p_equivalence"] == pytest.approx(0.05, rel=1e-3)
    assert row["p_equivalence"] < 0.05
    undecided = _report(null, declared.model_copy(update={"smallest_effect": 0.001}))
    assert " is inconclusive, and so is equivalence within " in undecided.summary[0]


HAND_MADE = {
    "name": "x", "role": "primary", "measure": "accuracy", "sides": "near minus far",
    "is_declared": True, "is_planned": True, "is_of_judges": False, "interaction": "",
    "response": "sentence_pair", "between": "", "scale": "", "cells": "", "factors": "a",
    "constructions": "", "regions": "", "at": "",
    "margin_source": "the smallest effect of interest",
    "if_positive": "higher", "if_negative": "lower", "if_unclear": "whether they differ",
    "covariates": "", "per": "", "n_in_family": 1, "first": 0.9, "second": 0.8,
    "p_corrected": 0.001, "estimate": 0.1, "low": 0.02, "high": 0.18, "is_equivalent": None,
    "smallest_effect": 0.08,
}  # fmt: skip


@pytest.mark.parametrize(
    ("low", "high", "is_equivalent", "verdict"),
    [
        (0.068, 0.179, False, "Its size relative to {} is inconclusive."),
        (0.081, 0.179, False, "It is larger than {}."),
        (-0.179, -0.081, False, "It is larger than {}."),
        (0.010, 0.070, True, "It is smaller than {}."),
    ],
)
def test_a_difference_from_zero_is_compared_with_the_smallest_effect_of_interest(
    low: float, high: float, is_equivalent: bool, verdict: str
) -> None:
    row = HAND_MADE | {
        "estimate": (low + high) / 2, "low": low, "high": high, "is_equivalent": is_equivalent,
    }  # fmt: skip
    [sentence] = comparison_sentences({"comparisons": pd.DataFrame([row])})
    smallest = "8.0 percentage points (the smallest effect of interest)"
    assert sentence.endswith(f"). {verdict.format(smallest)}")
    row["smallest_effect"] = None
    [undeclared] = comparison_sentences({"comparisons": pd.DataFrame([row])})
    assert undeclared.endswith("; p = .001).")


def test_an_interaction_comes_first_where_it_is_shown_and_says_that_it_is_no_simple_effect() -> (
    None
):
    unclear = HAND_MADE | {"name": "a", "p_corrected": 0.5, "smallest_effect": None}
    crossed = HAND_MADE | {
        "name": "a x b", "smallest_effect": None, "between": "b",
        "interaction": "The difference is {} at c and {} at d", "cells": "c 94.3%; d 82.8%",
    }  # fmt: skip
    rows = pd.DataFrame([unclear, crossed])
    first, second, averages, compatible = comparison_sentences({"comparisons": rows})
    assert averages.startswith(
        "A difference whose factor takes part in an interaction is an average"
    )
    assert compatible.startswith("Inconclusive does not mean equal")
    assert first == (
        "a x b: higher (b varies between participants). Cell means: c 94.3%; d 82.8%. The "
        "difference is +90.0 at c and +80.0 at d; the first minus the second, a difference of "
        "differences and not a simple effect, is +10.0 percentage points (95% interval +2.0 to "
        "+18.0; p = .001)."
    )
    assert second.startswith("a: whether they differ is inconclusive, 90.0% vs 80.0%: ")
    first, *_ = comparison_sentences({"comparisons": rows.assign(p_corrected=0.5)})
    assert first.startswith("a: ")


def test_the_simple_effects_of_a_shown_interaction_follow_it_with_their_intervals() -> None:
    crossed = HAND_MADE | {"name": "a x b", "interaction": "{} and {}", "factors": "a, b"}
    simple = HAND_MADE | {"role": "exploratory", "factors": "a, b", "is_declared": False}
    rows = pd.DataFrame(
        [
            crossed,
            simple | {"at": "c", "sides": "near minus far at b c"},
            simple | {"at": "d", "sides": "near minus far at b d", "estimate": 0.04},
            simple | {"at": "e", "factors": "a, f"},
        ]
    )
    _, effects, *_ = comparison_sentences({"comparisons": rows})
    assert effects == (
        "Simple effects, exploratory and not corrected: near minus far at b c +10.0 percentage "
        "points (95% interval +2.0 to +18.0; p = .001); near minus far at b d +4.0 percentage "
        "points (95% interval +2.0 to +18.0; p = .001)."
    )
    unclear = comparison_sentences({"comparisons": rows.assign(p_corrected=0.5)})
    assert not any("Simple effects" in sentence for sentence in unclear)


def test_a_one_sided_test_halves_p_only_where_it_is_declared(run: ExportedRun) -> None:
    two = Comparison(name="x", compare="structure x length", predicted="negative")
    one = two.model_copy(update={"one_sided": True})
    p_two = _rows(_report(run, two)).loc["x", "p"]
    row = _rows(_report(run, one)).loc["x"]
    assert row["p"] == pytest.approx(p_two / 2)
    assert row["low"] == -np.inf
    wrong = one.model_copy(update={"predicted": "positive"})
    assert _rows(_report(run, wrong)).loc["x", "p"] == pytest.approx(1 - p_two / 2)


def test_a_slope_is_that_of_least_squares_within_participants(run: ExportedRun) -> None:
    items = run.items.assign(own_frequency=[str(n % 7) for n in range(len(run.items))])
    with_column = replace(run, items=items)
    row = _rows(_report(with_column, Comparison(name="f", compare="slope of frequency"))).loc["f"]
    joined = run.responses.merge(items[["item_id", "own_frequency", "construction"]], on="item_id")
    joined = joined[joined["construction"].isin(row["constructions"].split(", "))]
    x = joined["own_frequency"].astype(float)
    y = joined["chose_good"].astype(float)
    x, y = (values - values.groupby(joined["participant"]).transform("mean") for values in (x, y))
    assert row["estimate"] == pytest.approx((x * y).sum() / (x * x).sum())


def test_a_slope_of_surprisal_is_of_the_rated_sentence_for_each_model(tmp_path: Path) -> None:
    run = island_run(1, 28, 24)
    keys, versions = ("item_id", "construction", "condition", "contrast"), ("good", "bad")
    rows = [
        {key: item[key] for key in keys}
        | {"variant": version, "logprob_nats": logprob, "token_logprobs_nats": [logprob]}
        | {"n_tokens": 1, "n_unknown": 0}
        for number, item in enumerate(run.items.to_dict("records"))
        for version, logprob in zip(versions, (-20.0 - number % 7, -30.0), strict=True)
    ]
    facts = {"study": run.facts.study, "materials_hash": run.facts.materials_hash, "model": "m"}
    scores = load_scores(write_scores(tmp_path / "m.parquet", rows, **facts))
    declared = [Comparison(name="s", compare="slope of surprisal")]
    run = replace(run, study=run.study.model_copy(update={"comparisons": declared}))
    [row] = compare_by(("comparisons",), run, [scores]).statistics["comparisons"].to_dict("records")
    of_item = {item: number % 7 for number, item in enumerate(run.items["item_id"])}
    x, y = run.responses["item_id"].map(of_item) / np.log(2), run.responses["rating"].astype(float)
    x, y = (values - values.groupby(run.responses["participant"]).transform("mean")
            for values in (x, y))  # fmt: skip
    assert row["estimate"] == pytest.approx((x * y).sum() / (x * x).sum())
    assert row["judge"] == "m"


def test_a_comparison_that_does_not_fit_is_left_out_with_its_reason(run: ExportedRun) -> None:
    declared = (
        Comparison(name="nonsense", compare="structure: x - y"),
        Comparison(name="structure", compare="structure"),
    )
    report = _report(run, *declared)
    assert list(_rows(report).index) == ["structure"]
    assert any(text.startswith('nonsense: "structure: x - y"') for text in report.left_out)


def test_a_single_factor_of_a_forced_choice_is_compared() -> None:
    run = within(n_people=28)
    one_factor = designed(run, analysis={"factors": ("length",)})
    rows = _rows(_report(one_factor))
    assert rows.loc["short minus long", "role"] == "primary"
    assert rows.loc["short minus long", "p"] < 0.001


def test_a_comparison_by_an_option_is_answered_and_marked_as_not_planned(run: ExportedRun) -> None:
    options = ComparisonOptions(resamples=50, comparisons=("length at structure = island",))
    report = compare_by(("comparisons",), run, [], options)
    row = _rows(report).loc["length at structure = island"]
    assert (row["role"], row["is_planned"]) == ("exploratory", False)
    assert any(text.startswith("Not planned: length at struct") for text in report.summary)


def test_the_studys_own_code_is_not_run_and_its_comparisons_are_left_out(
    run: ExportedRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "own_type_of_a_study.py").write_text("raise SystemExit('the code was run')\n")
    monkeypatch.syspath_prepend(tmp_path)
    own = designed(run, response="own_type_of_a_study:Own")
    report = _report(own)
    assert "comparisons" not in report.statistics
    assert any("comparisons are not answered" in text for text in report.left_out)
    assert "own_type_of_a_study" not in sys.modules


def _wrong_on_every(nth: int, name: str, run: ExportedRun, folder: Path) -> Scores:
    """Scores of a model that prefers the other version of each nth item."""
    shared = {"n_tokens": 1, "n_unknown": 0}
    keys = ("item_id", "construction", "condition", "contrast")
    rows = []
    for number, item in enumerate(run.items.to_dict("records")):
        bad = -21.0 if number % nth else -19.0
        for variant, logprob in (("good", -20.0), ("bad", bad)):
            of_version = {"variant": variant, "logprob_nats": logprob}
            rows.append(
                {key: item[key] for key in keys}
                | shared
                | of_version
                | {"token_logprobs_nats": [logprob]}
            )
    facts = {"study": run.facts.study, "materials_hash": run.facts.materials_hash, "model": name}
    return load_scores(write_scores(folder / f"{name}.parquet", rows, **facts))


def test_the_verdict_on_each_of_several_models_is_the_corrected_comparison(
    run: ExportedRun, tmp_path: Path
) -> None:
    models = [
        _wrong_on_every(nth, name, run, tmp_path) for name, nth in (("a", 4), ("b", 3), ("c", 2))
    ]
    declared = [Comparison(name="models", compare="people - models")]
    asked = replace(run, study=run.study.model_copy(update={"comparisons": declared}))
    options = ComparisonOptions(resamples=100, margin=0.15)
    report = compare_by(("comparisons", "differences"), asked, models, options)
    rows = report.statistics["comparisons"].set_index("judge")
    alone = report.statistics["people_minus_models"]
    alone = alone[alone["construction"] == ""].set_index("judge")
    # By itself b would be equivalent: as one of three models it is not shown to be.
    assert alone["p_equivalence"]["b"] < 0.05 < 3 * alone["p_equivalence"]["b"]
    assert list(rows["is_equivalent"]) == list(3 * alone["p_equivalence"] < 0.05)
    assert report.summary[1].startswith(
        "models: whether people choose the expected version more or less often than b is "
        "inconclusive, and so is equivalence within \N{PLUS-MINUS SIGN}15.0 percentage points "
        "(the margin of the study): people in 60.3% and b in 66.7% of the same judgments, "
    )
    assert "(Bonferroni-adjusted 95% interval " in report.summary[1]
    assert sum("Bonferroni-adjusted" in sentence for sentence in report.summary) == 3
