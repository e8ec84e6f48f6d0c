"""A study's own 2 x 2, within and mixed: effects of the cells, the mixed model, the first lines."""

import subprocess
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from analysis.findings.contrasts import label_in_words, planned_contrasts
from analysis.findings.design import Crossing
from analysis.findings.finding import ComparisonOptions
from experiment.studies.analysis_plan import Analysis
from tests.analysis.chosen_findings import compare_by
from tests.analysis.designed_studies import LEVELS, designed, mixed, within, yes_no
from tests.analysis.rated_study import island_run
from tests.prerequisites import LME4

LENGTHS = "short - long"
INTERACTION = "Interaction: (short: plain - careful) - (long: plain - careful)"


def compared(run):
    names = [f"{of}_{what}" for of in ("design", "yes_no") for what in ("effects", "model")]
    return compare_by((*names, "comparisons"), run)


@pytest.fixture(scope="module")
def runs():
    return {"within": within(n_people=28), "mixed": mixed(), "yes_no": yes_no(n_people=28)}


@pytest.fixture(scope="module")
def found(runs):
    return {name: compared(run) for name, run in runs.items()}


def table(found, name):
    return next(one.frame for one in found.tables if one.name == name)


def answers(run):
    rows = run.responses.merge(run.items[["item_id", "own_structure", "own_length"]], on="item_id")
    return rows.assign(group=[LEVELS[int(one[1:]) % 2] for one in rows["participant"]])


def test_effects_of_a_design_within_participants_are_those_of_the_cells(runs, found):
    means = answers(runs["within"]).groupby(["own_structure", "own_length"])["chose_good"].mean()
    rows = table(found["within"], "design_effects").set_index("label")
    island, none = (means[one]["short"] - means[one]["long"] for one in ("island", "nonisland"))
    assert rows.loc[f"length: {LENGTHS}", "estimate"] == pytest.approx((island + none) / 2)
    assert rows.loc[f"island: {LENGTHS}", "estimate"] == pytest.approx(island)
    crossed = rows.loc[f"Interaction: (nonisland: {LENGTHS}) - (island: {LENGTHS})"]
    assert crossed["estimate"] == pytest.approx(none - island)
    assert crossed["estimate_low"] < none - island < crossed["estimate_high"]
    assert len(rows) == 5


def test_yes_and_no_have_the_differences_and_the_interaction_of_their_shares(runs, found):
    means = answers(runs["yes_no"]).groupby(["own_structure", "own_length"])["said_yes"].mean()
    rows = table(found["yes_no"], "yes_no_effects").set_index("label")
    island, none = (means[one]["short"] - means[one]["long"] for one in ("island", "nonisland"))
    label = f"Interaction: (nonisland: {LENGTHS}) - (island: {LENGTHS})"
    assert rows.loc[label, "estimate"] == pytest.approx(none - island)
    assert rows.loc[label, "estimate_low"] < none - island < rows.loc[label, "estimate_high"]
    assert "yes_no_design" in {one.name for one in found["yes_no"].drawings}


def test_a_factor_between_participants_has_its_main_effect_and_its_interaction(runs, found):
    means = answers(runs["mixed"]).groupby(["own_length", "group"])["chose_good"].mean()
    rows = table(found["mixed"], "design_effects").set_index("label")
    short, long_ = (means[one]["plain"] - means[one]["careful"] for one in ("short", "long"))
    main = rows.loc["instruction: plain - careful", "estimate"]
    assert main == pytest.approx((short + long_) / 2)
    assert rows.loc[INTERACTION, "estimate"] == pytest.approx(short - long_)
    cells = table(found["mixed"], "design_cells").set_index("cell")
    assert cells.loc["long, careful", "accuracy"] == pytest.approx(means["long"]["careful"])
    assert cells.loc["long, careful", "n_participants"] == 24


def test_the_first_lines_tell_the_interaction_as_the_table_has_it(found):
    row = table(found["mixed"], "design_effects").set_index("label").loc[INTERACTION]
    [sentence] = [text for text in found["mixed"].summary if text.startswith("length x instruct")]
    assert f"{100 * row['estimate']:+.1f}".replace("-", "\N{MINUS SIGN}") in sentence
    assert ("is inconclusive" in sentence) == (min(1, 3 * row["p"]) >= 0.05)
    assert "design" in {one.name for one in found["mixed"].drawings}


@pytest.fixture(scope="module")
def in_r(runs, found, tmp_path_factory):
    """What lme4 finds of each run, in one start of R."""
    script, folder = LME4.require(), tmp_path_factory.mktemp("in_r")
    first = {"own_structure": "nonisland", "own_length": "short", "group": "plain"}
    program = ["library(lme4)"]
    for name, run in runs.items():
        rows = answers(run)
        answered, key = MODELS[name]
        rows = rows.assign(frame=rows["position"], y=rows[answered].astype(int))
        one, two = ("own_length", "group") if name == "mixed" else ("own_structure", "own_length")
        rows = rows.assign(
            a=np.where(rows[one] == first[one], 0.5, -0.5),
            b=np.where(rows[two] == first[two], 0.5, -0.5),
        )
        rows = rows.assign(ab=rows["a"] * rows["b"])
        random = _in_r(found[name].statistics[f"{key}_random"], name)
        columns = ["y", "a", "b", "ab", "participant", "frame"]
        rows[columns].to_csv(folder / f"{name}.csv", index=False)
        program += [
            f'rows <- read.csv("{name}.csv")',
            "rows$participant <- factor(rows$participant); rows$frame <- factor(rows$frame)",
            f"model <- glmer(y ~ a + b + ab + {random}, rows, binomial,",
            '  control = glmerControl(optimizer = "bobyqa", optCtrl = list(maxfun = 2e5)))',
            f'write.csv(coef(summary(model)), "{name}_coefficients.csv")',
            f'write(as.numeric(logLik(model)), "{name}_rest.txt")',
        ]
    (folder / "models.R").write_text("\n".join(program) + "\n")
    subprocess.run([script, "models.R"], cwd=folder, check=True, capture_output=True)
    return {
        name: (
            pd.read_csv(folder / f"{name}_coefficients.csv", index_col=0),
            float((folder / f"{name}_rest.txt").read_text()),
        )
        for name in runs
    }


MODELS = {
    "within": ("chose_good", "design_model"),
    "mixed": ("chose_good", "design_model"),
    "yes_no": ("said_yes", "yes_no_model"),
}


@pytest.mark.parametrize("name", MODELS)
def test_the_mixed_model_of_a_design_is_that_of_lme4(found, in_r, name):
    theirs, loglik = in_r[name]
    _, key = MODELS[name]
    own = found[name].statistics[key]
    assert own["estimate"].to_numpy() == pytest.approx(theirs["Estimate"], rel=0.01, abs=0.01)
    assert own["std_error"].to_numpy() == pytest.approx(theirs["Std. Error"], rel=0.01, abs=0.01)
    notes = " ".join(_table(found[name], key).notes)
    assert float(notes.partition("log-likelihood ")[2].partition(";")[0]) == pytest.approx(
        loglik, abs=0.1
    )


def _table(found, name):
    return next(one for one in found.tables if one.name == name)


def _in_r(random, name):
    """The random effects that the rule left, with the columns' names in the test's own script."""
    order = ["length", "instruction"] if name == "mixed" else ["structure", "length"]
    short = {"1": "1"}
    for effect in random["effect"]:
        if effect.startswith("Interaction"):
            short[effect] = "ab"
        elif effect != "1":
            short[effect] = "ab"[order.index(effect.partition(":")[0])]
    parts = []
    for unit, rows in random.groupby("unit", sort=False):
        bar = "|" if rows["correlation"].notna().any() or len(rows) == 1 else "||"
        parts.append(f"({' + '.join(short[one] for one in rows['effect'])} {bar} {unit})")
    return " + ".join(parts)


def test_ratings_with_a_factor_between_participants_have_its_interaction_too():
    run = designed(island_run(), design={"factors": {"instruction": LEVELS}})
    people = run.participants.assign(list=np.arange(len(run.participants)) % 2)
    found = compare_by(("rating_effects",), designed(replace(run, participants=people)))
    labels = list(table(found, "rating_effects")["label"])
    assert "instruction: plain - careful" in labels
    assert sum(one.startswith("Interaction: ") for one in labels) == 4


def test_a_formula_may_name_a_factor_between_participants(runs):
    options = ComparisonOptions(formula="length * instruction + (1 | participant)")
    found = compare_by(("mixed",), runs["mixed"], options=options)
    terms = " ".join(found.statistics["mixed_model"]["term"])
    assert "instruction plain" in terms or "instruction careful" in terms


def test_what_the_study_declares_chooses_the_contrasts():
    cross = Crossing(
        {"a": ("a1", "a2"), "b": ("b1", "b2")},
        {f"{a}{b}": (f"a{a}", f"b{b}") for a in "12" for b in "12"},
    )
    assert len(planned_contrasts(cross)) == 5
    assert len(planned_contrasts(cross, Analysis(simple_effects=False))) == 3
    assert len(planned_contrasts(cross, Analysis(simple_effects=False, interactions=False))) == 2
    treated = planned_contrasts(cross, Analysis(coding="treatment"))
    assert treated["a: a1 - a2 at b1"] == {"11": 1.0, "21": -1.0}


def test_a_three_way_interaction_is_the_difference_of_two_two_way_ones():
    cells = {a + b + c: (a, b, c) for a in "ab" for b in "cd" for c in "ef"}
    cross = Crossing({"x": ("a", "b"), "y": ("c", "d"), "z": ("e", "f")}, cells)
    found = planned_contrasts(cross)
    three = found["Interaction: (a: (c: e - f) - (d: e - f)) - (b: (c: e - f) - (d: e - f))"]
    assert three == {"".join(one): sign for one, sign in _signs().items()}
    assert set(found["x: a - b"].values()) == {0.25, -0.25}
    words = [label_in_words(label) for label in found]
    assert "Interaction: e minus f, by c minus d, by a minus b" in words
    assert "x: a minus b" in words and not any(" - " in label for label in words)


def _signs():
    sign = {"a": 1, "b": -1, "c": 1, "d": -1, "e": 1, "f": -1}
    return {(x, y, z): sign[x] * sign[y] * sign[z] for x in "ab" for y in "cd" for z in "ef"}


@pytest.mark.parametrize(
    ("name", "made"),
    [("design_effects", within), ("yes_no_effects", yes_no), ("rating_effects", island_run)],
)
def test_the_table_of_effects_names_what_repeats_beside_participant_and_frame(name, made):
    run, told = made(1, 8, 8), {}
    run = replace(run, items=run.items.assign(own_verb=np.arange(len(run.items)) // 8))
    for repeats in ("", "verb"):
        tables = compare_by((name,), designed(run, analysis={"repeats": repeats})).tables
        told[repeats] = " ".join(next(one.notes for one in tables if one.name == name))
    assert "clustered by participant and by frame." in told[""]
    assert "clustered by participant, by frame and by verb." in told["verb"]
