"""Shares, means and slopes of the smaller findings, counted by hand or by statsmodels."""

from dataclasses import replace
from itertools import product
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy.stats import norm
from scipy.stats import t as student

from analysis.findings.comparison_words import comparison_sentences
from analysis.findings.comparisons import answered
from analysis.findings.finding import ComparisonOptions, FindingInputs
from analysis.findings.measures import CHOICE_EFFECTS
from analysis.findings.options import option_findings
from analysis.findings.other_answers import OTHER_RATED, OTHER_YES_NO, QUESTIONS, shares_late
from analysis.findings.surprisal import SURPRISAL_TIMES
from experiment.studies.analysis_plan import Comparison
from tests.analysis.findings.hand_made_runs import frame_of, given_of, with_options, with_others
from tests.analysis.findings.option_scores import scores_of_options

PEOPLE, FRAMES = 12, 8


def answers(condition: str, n_right: int, **columns: object) -> list[dict[str, object]]:
    """Answers of everybody to every frame of a condition, of which the first so many are right."""
    return [
        {
            "participant": f"p{person}", "position": frame + 1, "list": 0, "kind": "target",
            "item_id": f"{frame}{condition}", "construction": "extraction",
            "condition": condition, "frame": f"f{frame}", "version": "good",
            "chose_good": number < n_right, **columns,
        }
        for number, (frame, person) in enumerate(product(range(FRAMES), range(PEOPLE)))
    ]  # fmt: skip


def test_cells_and_differences_of_choices_are_shares_of_the_expected_option():
    # One factor of two columns: where two cross, each condition is a cell of both.
    cells = {"near sg": 90, "near pl": 84, "far sg": 72, "far pl": 42}
    rows = pd.DataFrame(
        row
        for name, n in cells.items()
        for row in answers(name, n, own_distance=name.split()[0], own_number=name.split()[1])
    )
    found = CHOICE_EFFECTS.run(given_of(rows, conditions=list(cells)))
    means = found.statistics["design_cells"].set_index("cell")
    assert means["accuracy"].to_dict() == {name: n / 96 for name, n in cells.items()}
    effects = found.statistics["design_effects"].set_index("contrast")["estimate"]
    assert effects["distance: near - far"] == pytest.approx((90 + 84 - 72 - 42) / 2 / 96)
    assert effects["number: sg - pl"] == pytest.approx((90 - 84 + 72 - 42) / 2 / 96)
    assert effects["far: sg - pl"] == pytest.approx(30 / 96)
    interaction = effects["Interaction: (near: sg - pl) - (far: sg - pl)"]
    assert interaction == pytest.approx((6 - 30) / 96)


def test_the_share_of_late_answers_is_that_of_its_condition():
    rows = pd.DataFrame(
        [
            *answers("a", 0, is_late=False)[:90], *answers("a", 0, is_late=True)[90:],
            *answers("b", 0, is_late=False)[:24], *answers("b", 0, is_late=True)[24:],
        ]
    )  # fmt: skip
    found = shares_late(rows).set_index("condition")
    assert found["late"].to_dict() == {"a": 6 / 96, "b": 72 / 96}
    assert found["n_late"].to_dict() == {"a": 6, "b": 72}
    assert (found["late_low"] < found["late"]).all()


def test_shares_of_options_are_of_the_answers_in_their_condition():
    rows = pd.DataFrame(answers("a", 96) + answers("b", 96))
    chosen = ["good"] * 48 + ["bad"] * 36 + ["distractor"] * 12
    rows["version"] = chosen + ["good"] * 72 + ["distractor"] * 24
    given = given_of(rows)
    run = SimpleNamespace(
        trials=pd.DataFrame({"item_id": rows["item_id"], "options": "bad good distractor"})
    )
    # A model gives the good option of "a" the highest score in the first six frames.
    logprobs = {
        f"{frame}{condition}": {
            variant: -1.0 if variant == ("good" if frame < 6 else "bad") else -2.0
            for variant in ("good", "bad", "distractor")
        }
        for frame, condition in product(range(FRAMES), "ab")
    }
    model = scores_of_options(logprobs)
    found = option_findings(run, rows, [model], given.context)
    shares = found.statistics["options"].set_index(["condition", "version"])
    people = {("a", "good"): 0.5, ("a", "bad"): 0.375, ("a", "distractor"): 0.125,
              ("b", "good"): 0.75, ("b", "distractor"): 0.25, ("b", "bad"): 0}  # fmt: skip
    assert shares["people"].to_dict() == people
    assert shares.loc[("a", "good"), "lstm"] == 0.75 and shares.loc[("b", "bad"), "lstm"] == 0.25
    assert found.left_out == ()
    errors = frame_of(found, "option_errors").set_index(["condition", "version"])
    assert errors["people"].to_dict() == {("a", "bad"): 0.75, ("a", "distractor"): 0.25,
                                          ("b", "bad"): 0, ("b", "distractor"): 1}  # fmt: skip
    # People: good .625, bad .1875, distractor .1875; the model: good .75, bad .25.
    of_all = frame_of(found, "option_distances").iloc[0]
    assert of_all["distance"] == pytest.approx(0.1875)
    assert of_all["distance_low"] <= of_all["distance"] <= of_all["distance_high"]


def test_ties_of_a_model_and_choices_of_none_are_counted_as_such():
    rows = pd.DataFrame(answers("a", 96))
    rows["version"] = ["good"] * 72 + ["none"] * 24
    run = SimpleNamespace(
        trials=pd.DataFrame({"item_id": rows["item_id"], "options": "bad good distractor"})
    )
    logprobs = {
        f"{frame}a": {"good": -1.0, "bad": -1.0 if frame < 2 else -3.0, "distractor": -2.0}
        for frame in range(FRAMES)
    }
    context = given_of(rows).context
    found = option_findings(run, rows, [scores_of_options(logprobs)], context)
    shares = found.statistics["options"].set_index("version")
    assert shares["people"].to_dict() == {"good": 0.75, "none": 0.25, "tie": 0}
    assert shares["lstm"].to_dict() == {"good": 0.75, "none": 0, "tie": 0.25}
    [note, *_] = found.tables[0].notes
    assert "none: people chose no option. tie: several options share" in note
    distances = found.statistics["option_distances"].set_index("reading")
    assert distances.loc["best", "distance"] == 0.25
    assert "options' probabilities, divided by" in found.tables[-1].notes[0]
    # Means per token and the like are no probabilities, and are not called so.
    by_mean = replace(context, origin=replace(context.origin, metric="mean"))
    table = option_findings(run, rows, [scores_of_options(logprobs)], by_mean).tables[-1]
    assert (
        "By score: its shares on an item are the options' scores, exponentiated" in table.notes[0]
    )
    assert "By probability" not in {column.title for column in table.columns}


def test_fillers_that_are_rated_or_answered_with_yes_have_their_own_means():
    rows = pd.DataFrame(answers("a", 0))
    others = pd.DataFrame(answers("f", 72, kind="filler", unit="u", cell="f"))
    others["unit"] = others["frame"]
    rated = with_others(given_of(rows), others.assign(rating=[5] * 48 + [2] * 48))
    [row] = OTHER_RATED.run(rated).statistics["other_kinds"].to_dict("records")
    assert (row["mean"], row["n_judgments"], row["n_items"]) == (3.5, 96, FRAMES)
    # 72 are right; yes is the right answer to the first four frames.
    first = np.arange(96) < 48
    yes = np.where(first, others["chose_good"], ~others["chose_good"].astype(bool)).astype(bool)
    said = OTHER_YES_NO.run(with_others(given_of(rows), others.assign(said_yes=yes)))
    shares = said.statistics["other_kinds"].set_index("expected")["yes"]
    assert shares.to_dict() == {"yes": 1, "no": 0.5}


def test_questions_count_answers_of_targets_and_of_fillers_and_none_that_were_not_asked():
    rows = pd.DataFrame(answers("a", 90))
    fillers = pd.DataFrame(answers("f", 48, kind="filler")).assign(construction="filler")
    unasked = pd.DataFrame(answers("g", 0)).assign(chose_good=None, construction="filler")
    given = with_others(given_of(rows), pd.concat([fillers, unasked]))
    found = QUESTIONS.run(given).statistics["reading_questions"].set_index("construction")
    assert found["accuracy"].to_dict() == {"extraction": 90 / 96, "filler": 0.5}
    assert found["n_answers"].to_dict() == {"extraction": 96, "filler": 96}


def _read_with_surprisal() -> tuple[FindingInputs, pd.DataFrame]:
    """Return reading times with surprisals, and the words that count, with their predictors."""
    rng = np.random.default_rng(3)
    rows = pd.DataFrame(answers("a", 96)).assign(unit=lambda own: own["frame"], cell="a")
    steps, words = range(1, 6), ("the", "old", "senator", "often", "slept")
    bits = {(frame, step): rng.uniform(1, 12) for frame, step in product(range(FRAMES), steps)}
    times = [
        {"participant": row["participant"], "position": row["position"],
         "item_id": row["item_id"], "version": "good", "judge": "people", "step": step,
         "region": step, "text": words[step - 1],
         "rt_ms": float(np.exp(5.8 + 0.02 * bits[row["position"] - 1, step]
                               + rng.normal(0, 0.2)))}
        for row in rows.to_dict("records") for step in steps
    ]  # fmt: skip
    surprisal = pd.DataFrame(
        {"text_id": f"{frame}a:good", "position": step, "text": words[step - 1],
         "surprisal_bits": value}
        for (frame, step), value in bits.items()
    )  # fmt: skip
    options = ComparisonOptions(surprisal={"lstm": surprisal})
    given = with_options(given_of(rows, readings=pd.DataFrame(times)), options)
    read = pd.DataFrame(times)
    read = read[read["step"] > 1]
    return given, read.assign(
        length=[len(words[step - 1]) for step in read["step"]],
        before=[len(words[step - 2]) for step in read["step"]],
        bits=[bits[place - 1, step]
              for place, step in zip(read["position"], read["step"], strict=True)],
        log_rt=np.log(read["rt_ms"]),
    )  # fmt: skip


def test_the_slope_of_surprisal_is_ordinary_least_squares_in_per_cent_a_bit():
    given, read = _read_with_surprisal()
    [found] = SURPRISAL_TIMES.run(given).statistics["surprisal_times"].to_dict("records")
    predictors = read[["length", "before", "step", "bits"]]
    fitted = sm.OLS(read["log_rt"], sm.add_constant(predictors)).fit()
    assert found["percent"] == pytest.approx(100 * (np.exp(fitted.params["bits"]) - 1))
    assert found["n_readings"] == 4 * 96 and found["n_words"] == 4 * FRAMES
    assert found["percent_low"] < found["percent"] < found["percent_high"]


def _with_people(given: FindingInputs, first_step: int) -> FindingInputs:
    """Add a table of people that scores the later words of each sentence only."""
    lstm = given.options.surprisal["lstm"]
    bits = (lstm["surprisal_bits"] * lstm["position"]).where(lstm["position"] >= first_step)
    people = lstm.assign(surprisal_bits=bits)
    return with_options(given, ComparisonOptions(surprisal={"lstm": lstm, "people": people}))


def test_models_and_people_are_compared_on_the_words_that_both_have():
    given, read = _read_with_surprisal()
    findings = SURPRISAL_TIMES.run(_with_people(given, 3))
    lstm, people = findings.statistics["surprisal_times"].to_dict("records")
    later = read[read["step"] >= 3]
    for row, bits in ((lstm, later["bits"]), (people, later["bits"] * later["step"])):
        # Three words a sentence: length, the length before and position only tell them apart.
        predictors = pd.get_dummies(later["step"], dtype=float).assign(bits=bits)
        fitted = sm.OLS(later["log_rt"], predictors.rename(columns=str)).fit()
        assert row["percent"] == pytest.approx(100 * (np.exp(fitted.params["bits"]) - 1))
        assert row["n_readings"] == 3 * 96 and row["n_words"] == 3 * FRAMES
    assert findings.tables[0].notes[1] == (
        "All rows are about the same 24 of 32 words, those of which every table has a surprisal "
        "(lstm: 32, people: 24). The surprisal of the word before is no predictor, because not "
        "every table has it for all of these words."
    )


def test_the_difference_between_two_gains_is_paired_by_word_and_clustered_by_frame():
    """Of eight frames each is a fold: 21 words teach five predictors, and three are held out."""
    given, read = _read_with_surprisal()
    findings = SURPRISAL_TIMES.run(_with_people(given, 3))
    [row] = findings.statistics["surprisal_gains"].to_dict("records")
    words = read[read["step"] >= 3].groupby(["position", "step"]).agg(
        log_rt=("log_rt", "mean"), bits=("bits", "first")
    ).reset_index()  # fmt: skip
    steps = pd.get_dummies(words["step"], dtype=float).to_numpy()
    y, frame = words["log_rt"].to_numpy(), words["position"].to_numpy()
    logliks = []
    for bits in (words["bits"], words["bits"] * words["step"]):
        x, held_out = np.column_stack([steps, bits]), np.empty(24)
        for place in set(frame):
            out = frame == place
            beta = np.linalg.lstsq(x[~out], y[~out])[0]
            left = y[~out] - x[~out] @ beta
            held_out[out] = norm.logpdf(y[out], x[out] @ beta, np.sqrt(left @ left / (21 - 5)))
        logliks.append(held_out)
    differs = logliks[0] - logliks[1]
    sums = pd.Series((differs - differs.mean()) / 24).groupby(frame).sum()
    half = student.ppf(0.975, 7) * np.sqrt(8 / 7 * np.sum(sums**2))
    assert (row["model"], row["than"], row["n_words"]) == ("lstm", "people", 24)
    assert (row["delta_loglik"], row["delta_low"], row["delta_high"]) == pytest.approx(
        (differs.mean(), differs.mean() - half, differs.mean() + half)
    )
    lstm, people = findings.statistics["surprisal_times"].to_dict("records")
    assert row["delta_loglik"] == pytest.approx(lstm["delta_loglik"] - people["delta_loglik"])


def test_few_common_words_are_no_comparison():
    findings = SURPRISAL_TIMES.run(_with_people(_read_with_surprisal()[0], 5))
    assert findings.tables == () and [text.split(".")[0] for text in findings.left_out] == [
        f"Surprisal of {name} was left out: 8 words in 8 frames are too few"
        for name in ("lstm", "people")
    ]


def test_a_surprisal_that_does_not_differ_has_no_slope():
    given = _read_with_surprisal()[0]
    same = given.options.surprisal["lstm"].assign(surprisal_bits=8.2)
    findings = SURPRISAL_TIMES.run(with_options(given, ComparisonOptions(surprisal={"x": same})))
    assert findings.left_out == ("Surprisal of x was left out: all words have the same.",)


def test_a_declared_slope_of_surprisal_is_that_within_participants():
    given, read = _read_with_surprisal()
    declared = [Comparison(name="surprisal", compare="slope of surprisal", predicted="positive")]
    trial = given.run.study.trial.model_copy(update={"parameters": {}})
    study = given.run.study.model_copy(
        update={"comparisons": declared, "response": "self_paced", "trial": trial}
    )
    texts = {"template": "a", "context": "", "good": "the old senator often slept", "bad": ""}
    items = given.run.items.assign(**texts, distractor="", contrast="bad")
    given = replace(given, run=replace(given.run, study=study, items=items))
    rows, unanswered = answered(given)
    assert unanswered == ()
    [row] = rows.to_dict("records")
    people = pd.get_dummies(read["participant"], dtype=float)
    predictors = read[["length", "before", "step", "bits"]].join(people)
    fitted = sm.OLS(read["log_rt"], predictors).fit()
    assert row["estimate"] == pytest.approx(fitted.params["bits"])
    assert (row["judge"], row["n_observations"]) == ("lstm", 4 * 96)
    [sentence] = comparison_sentences({"comparisons": rows})
    percent = 100 * np.expm1(fitted.params["bits"])
    assert sentence.startswith(
        f"surprisal: reading time is longer with higher surprisal of lstm, {percent:+.1f} % "
        "per bit (95% interval"
    )
    assert answered(with_options(given, ComparisonOptions()))[1] == (
        "surprisal: no surprisals: name them by --surprisal (of what was read) or --scores.",
    )
