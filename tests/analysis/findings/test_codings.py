"""The codings that ``[analysis]`` can name, and a covariate of the questionnaire: planted effects.

The reference are patsy's contrasts and statsmodels' least squares.
"""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf

from analysis.data.declared import add_participant_columns
from analysis.findings.contrasts import fixed_columns, planned_contrasts
from analysis.findings.design import Crossing
from analysis.statistics.contrasts import contrasts
from experiment.studies.analysis_plan import Analysis
from experiment.studies.question import Question
from tests.analysis.chosen_findings import compare_by
from tests.analysis.designed_studies import choices, designed
from tests.analysis.rated_study import island_run

LEVELS, MEANS = ("near", "middle", "far"), {"near": 5.0, "middle": 4.4, "far": 3.1}
CROSS = Crossing({"distance": LEVELS}, {one: (one,) for one in LEVELS})
# patsy's Helmert is a level less the mean of those before it, over their number and one.
THEIRS = {
    "sum": ("Treatment", (1, 1)),
    "treatment": ("Treatment", (1, 1)),
    "helmert": ("Helmert", (2, 3)),
}


@pytest.fixture(scope="module")
def rows() -> pd.DataFrame:
    """Thirty people rate eighteen frames, each in one of three conditions."""
    rng = np.random.default_rng(35)
    person, frame = np.divmod(np.arange(30 * 18), 18)
    cell = np.array(LEVELS)[(person + frame) % 3]
    value = pd.Series(cell).map(MEANS) + rng.normal(0, 0.5, 30)[person]
    value += rng.normal(0, 0.4, 18)[frame] + rng.normal(0, 0.7, len(frame))
    return pd.DataFrame({"participant": person, "unit": frame, "cell": cell, "rating": value})


@pytest.mark.parametrize("coding", THEIRS)
def test_a_factor_of_three_levels_is_coded_as_patsy_codes_it(rows, coding):
    name, scale = THEIRS[coding]
    columns = fixed_columns(rows["cell"], CROSS, Analysis(coding=coding))
    own = np.linalg.lstsq(np.column_stack([np.ones(len(rows)), columns]), rows["rating"])[0]
    formula = f"rating ~ C(cell, {name}, levels={list(LEVELS)})"
    theirs = smf.ols(formula, rows).fit().params.to_numpy()
    assert own[1:] == pytest.approx(theirs[1:] * scale)
    means = rows.groupby("cell")["rating"].mean()
    # Centred columns leave the grand mean to the intercept, treatment the first level's.
    assert own[0] == pytest.approx(means["near"] if coding == "treatment" else means.mean())


@pytest.mark.parametrize(
    ("coding", "planted"),
    [
        ("sum", {"near - middle": 0.6, "near - far": 1.9, "middle - far": 1.3}),
        ("treatment", {"near - middle": 0.6, "near - far": 1.9, "middle - far": 1.3}),
        ("helmert", {"middle - near": -0.6, "far - mean of near, middle": -1.6}),
    ],
)
def test_the_table_has_the_coding_s_contrasts_and_finds_what_was_planted(rows, coding, planted):
    found = contrasts(rows, "rating", planned_contrasts(CROSS, Analysis(coding=coding)))
    assert list(found["contrast"]) == list(planted)
    truth = np.array(list(planted.values()))
    assert ((found["low"] < truth) & (truth < found["high"])).all()
    assert (found["p_holm"] < 0.001).all()


def test_a_covariate_of_the_questionnaire_is_held_constant_in_the_model_of_the_design():
    run = island_run(4, 24, 12)
    names = run.participants["participant"].astype(str)
    rng = np.random.default_rng(4)
    years = pd.Series(rng.integers(1, 30, len(names)).astype(float), names.to_numpy())
    z = run.responses["participant"].astype(str).map((years - years.mean()) / years.std())
    # Nothing but the answer moves the choices: what varies besides is chance.
    run = choices(run, rng.random(len(z)) < 1 / (1 + np.exp(-(0.6 + 0.9 * z))))
    run = designed(run, analysis={"covariates": ("years",)},
                   questionnaire=[Question(name="years", label="Years of study?")])  # fmt: skip
    asked = {"participant": names, "field": "years", "value": years.astype(str).to_numpy()}
    run = replace(run, answers=pd.DataFrame(asked))
    found = compare_by(("design_model",), run)
    own = found.statistics["design_model"].set_index("term").loc["years"]
    rows = pd.DataFrame({"right": run.responses["chose_good"].astype(float), "z": z})
    rows = rows.join(run.responses[["item_id"]]).merge(run.items, on="item_id")
    rows = rows.assign(z=(rows["z"] - rows["z"].mean()) / rows["z"].std())
    formula = "right ~ z + C(own_structure, Sum) * C(own_length, Sum)"
    theirs = smf.logit(formula, rows).fit(disp=0)
    # Effects that vary by chance make a coefficient given them larger than that over everybody.
    assert abs(own["estimate"] - theirs.params["z"]) < own["std_error"] < 0.2
    assert abs(own["estimate"] - 0.9) < 2 * own["std_error"] and own["p"] < 0.001


def test_a_score_of_the_participants_is_a_covariate_of_their_answers():
    run = designed(island_run(2, 4, 2), analysis={"covariates": ("vocabulary",)})
    people = run.participants.assign(vocabulary=[62.5, 50.0, None, 100.0])
    names = people["participant"].astype(str)
    judgments = pd.DataFrame({"participant": names[[3, 0, 2]], "list": 0})
    found = add_participant_columns(judgments, replace(run, participants=people))
    np.testing.assert_array_equal(found["own_vocabulary"], [100.0, 62.5, np.nan])
