"""Items, people and models on one scale."""

import subprocess

import numpy as np
import pandas as pd
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.special import expit, logit
from scipy.stats import norm

from analysis.statistics.item_map import ItemMap, fit_item_map
from tests import prerequisites

N_PEOPLE, N_ITEMS = 30, 20


def judgments() -> pd.DataFrame:
    """People and items of known places, as a Rasch model has them."""
    rng = np.random.default_rng(5)
    ability, difficulty = rng.normal(0, 1, N_PEOPLE), rng.normal(-1, 1.5, N_ITEMS)
    right = rng.random((N_PEOPLE, N_ITEMS)) < expit(ability[:, None] - difficulty)
    person, item = (index.ravel() for index in np.indices(right.shape))
    return pd.DataFrame(
        {"participant": [f"p{n:02}" for n in person], "item_id": [f"i{n:02}" for n in item],
         "chose_good": right.ravel()}
    )  # fmt: skip


def decisions(correct: list[bool]) -> pd.DataFrame:
    return pd.DataFrame({"item_id": [f"i{n:02}" for n in range(N_ITEMS)], "correct": correct})


@pytest.fixture(scope="module")
def fitted() -> ItemMap:
    # A model that is right on all items, and one that is right on half of them.
    models = {"all": decisions([True] * N_ITEMS), "half": decisions([True, False] * 10)}
    return fit_item_map(judgments(), models)


def test_lme4_finds_the_same_map(fitted: ItemMap, tmp_path):
    prerequisites.LME4.require()
    judgments().astype({"chose_good": int}).to_csv(tmp_path / "rows.csv", index=False)
    script = (
        "suppressMessages(library(lme4)); d <- read.csv('rows.csv');"
        "m <- glmer(chose_good ~ 1 + (1 | participant) + (1 | item_id), d, binomial, "
        "control = glmerControl(optimizer = 'bobyqa', tolPwrss = 1e-10));"
        "r <- ranef(m, condVar = TRUE); se <- function(t) sqrt(attr(t, 'postVar')[1, 1, ]);"
        "cat(-fixef(m), attr(VarCorr(m)$participant, 'stddev'), attr(VarCorr(m)$item_id, 'stddev'),"
        " logLik(m), '\\n', r$participant[, 1], '\\n', se(r$participant), '\\n',"
        " r$item_id[, 1], '\\n', se(r$item_id), '\\n')"
    )
    output = subprocess.run(
        ["Rscript", "-e", script], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    of_model, *effects = ([*map(float, line.split())] for line in output.stdout.splitlines())
    ours = [fitted.mean_difficulty, fitted.sd_people, fitted.sd_items, fitted.loglik]
    assert ours == pytest.approx(of_model, rel=1e-3)
    people = fitted.judges[~fitted.judges["is_model"]]
    items = fitted.items.sort_values("item_id")
    for found, theirs in zip(
        (people["ability"], people["std_error"], fitted.mean_difficulty - items["difficulty"],
         items["std_error"]),
        effects,
        strict=True,
    ):  # fmt: skip
        assert found.to_numpy() == pytest.approx(theirs, abs=2e-3)


def test_a_model_is_placed_by_its_answers_and_the_items(fitted: ItemMap):
    models = fitted.judges[fitted.judges["is_model"]].set_index("judge")
    difficulty = fitted.items.sort_values("item_id")["difficulty"].to_numpy()
    centre = difficulty.mean()
    for name, n_right in (("all", 20), ("half", 10)):
        # The likelihood equation, with one right and one wrong answer at the average difficulty.
        ability = models.loc[name, "ability"]
        expected = expit(ability - difficulty).sum() + 2 * expit(ability - centre)
        assert expected == pytest.approx(n_right + 1)
    assert models.loc["all", "low"] > models.loc["half", "ability"]
    errors = models["std_error"]
    assert (models["high"] - models["ability"]).tolist() == pytest.approx(
        (norm.ppf(0.975) * errors).tolist()
    )


def test_infit_predicts_each_answer_from_the_persons_other_answers(fitted: ItemMap):
    difficulty = fitted.items.set_index("item_id")["difficulty"]
    answers = judgments().pivot(index="participant", columns="item_id", values="chose_good")

    # Of the answers to all items but i03, at an ability that is normal.
    others = answers.drop(columns="i03")
    of_others, of_i03 = difficulty[others.columns].to_numpy(), difficulty["i03"]

    def predict(person: str) -> float:
        right = others.loc[person].to_numpy()

        def likelihood(ability: float) -> float:
            chances = expit(ability - of_others)
            of_answers = np.where(right, chances, 1 - chances).prod()
            return float(of_answers * norm.pdf(ability / fitted.sd_people))

        both = quad(lambda x: likelihood(x) * expit(x - of_i03), -6, 6)[0]
        return float(logit(both / quad(likelihood, -6, 6)[0]))

    logits = np.array([predict(person) for person in answers.index])
    right = answers["i03"].to_numpy(float)
    # Moved so that the predictions add up to the number of right answers.
    shift = brentq(lambda by: expit(logits + by).sum() - right.sum(), -5, 5)
    chance = expit(logits + shift)
    row = fitted.items[fitted.items["item_id"] == "i03"].iloc[0]
    assert row["infit"] == pytest.approx(
        ((right - chance) ** 2).sum() / (chance * (1 - chance)).sum(), rel=1e-4
    )
    assert row["share"] == pytest.approx(right.mean())


def test_an_item_that_is_answered_against_ability_does_not_fit():
    rows = judgments()
    shares = rows.groupby("participant")["chose_good"].transform("mean")
    others = rows["item_id"] != "i00"
    # Whoever is better than the median errs on i00, and all others are right.
    reversed_ = rows.assign(chose_good=rows["chose_good"].where(others, shares <= shares.median()))
    items = fit_item_map(reversed_, {}).items.set_index("item_id")
    assert items["infit"].idxmax() == "i00"
    assert items.loc["i00", "p"] == items["p"].min()
