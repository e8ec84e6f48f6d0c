"""Measure the accuracy of the mixed model, and the rate of false positives of a comparison.

Usage: python benchmarks/mixed_model.py {recovery,constructions,equal} [--simulations 200]

recovery       bias and coverage of known coefficients, against two other methods
constructions  how often two equally hard constructions are reported as different
equal          how often humans and an equally accurate model are reported as different

Each prints a Markdown table.
"""

import argparse
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import scipy.stats
import statsmodels.api as sm
from scipy.special import expit
from statsmodels.genmod.bayes_mixed_glm import BinomialBayesMixedGLM

from analysis.statistics.mixed_model import fit
from analysis.statistics.one_scale import compare_on_one_scale
from analysis.statistics.paired import people_against_models

# The tests check a few of the same simulations.
sys.path.append(str(Path(__file__).parents[1]))
from tests.analysis.known_choices import (
    EFFECTS,
    SD_ITEM,
    SD_PARTICIPANT,
    equally_accurate,
    known_choices,
    people_and_an_equal_model,
)

Numbers = np.ndarray
Estimates = tuple[Numbers, Numbers, tuple[float, float]]

TERMS = (
    "people, first construction",
    "second construction",
    "model, first construction",
    "model, second construction",
)
RANDOM = {
    "intercepts alone": "construction + (1 | participant) + (1 | item)",
    "the default effects": "construction",
    "`(1 + construction \\|\\| participant)`": (
        "construction + (1 + construction || participant) + (1 | item)"
    ),
}


def main() -> None:
    measurements = {"recovery": recovery, "constructions": constructions, "equal": equal}
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=list(measurements))
    parser.add_argument("--simulations", type=int, default=200)
    options = parser.parse_args()
    measurements[options.what](options.simulations)


def recovery(simulations: int) -> None:
    """Print bias, spread, stated error and coverage of each coefficient, by route."""
    routes = {
        "mixed model": (by_mixed_model, simulations),
        "plain logistic": (by_plain_logistic, simulations),
        # It is slow, and what is wrong with it shows soon.
        "BinomialBayesMixedGLM": (by_variational_bayes, min(simulations, 20)),
    }
    print("| Route | Coefficient (logits) | Truth | Bias | SD of estimates | Mean stated SE "
          "| Covered |\n|---|---|---:|---:|---:|---:|---:|")  # fmt: skip
    below = []
    for route, (estimate, number) in routes.items():
        rng, rows, seconds = np.random.default_rng(2026), [], 0.0
        for _ in range(number):
            choices = known_choices(rng)
            started = time.perf_counter()
            rows.append(estimate(choices))
            seconds += time.perf_counter() - started
        estimates, errors, spreads = (np.array(part) for part in zip(*rows, strict=True))
        covered = np.abs(estimates - EFFECTS) <= 1.96 * errors
        for term, truth in enumerate(EFFECTS):
            print(f"| {route} | {TERMS[term]} | {truth:+.2f} | "
                  f"{estimates[:, term].mean() - truth:+.3f} | "
                  f"{estimates[:, term].std(ddof=1):.3f} | {errors[:, term].mean():.3f} | "
                  f"{100 * covered[:, term].mean():.1f} % |", flush=True)  # fmt: skip
        of_people, of_items = spreads.mean(axis=0)
        below.append(f"{route}: {number} simulations, {seconds / number:.2f} s each")
        if np.isfinite(of_people):
            below[-1] += (
                f"; standard deviation of participants {of_people:.3f} (truth {SD_PARTICIPANT}), "
                f"of items {of_items:.3f} ({SD_ITEM})"
            )
    print("\n- " + "\n- ".join(below))


def by_mixed_model(choices: pd.DataFrame) -> Estimates:
    found = fit(choices, "construction + construction:judge + (1 | participant) + (1 | item)")
    rows = found.coefficients
    return rows["estimate"], rows["std_error"], (found.sd("participant"), found.sd("item_id"))


def design(choices: pd.DataFrame) -> Numbers:
    b = (choices["construction"] == "b").to_numpy(float)
    model = (choices["judge"] == "lstm").to_numpy(float)
    return np.column_stack([np.ones(len(b)), b, model * (1 - b), model * b])


def by_plain_logistic(choices: pd.DataFrame) -> Estimates:
    found = sm.GLM(choices["chose_good"].to_numpy(), design(choices), sm.families.Binomial()).fit()
    return found.params, found.bse, (np.nan, np.nan)


def by_variational_bayes(choices: pd.DataFrame) -> Estimates:
    people = pd.get_dummies(choices["participant"], dtype=float)
    people = people.mul(choices["judge"] == "people", axis=0).to_numpy()
    items = pd.get_dummies(choices["item_id"], dtype=float).to_numpy()
    kinds = np.repeat([0, 1], [people.shape[1], items.shape[1]])
    model = BinomialBayesMixedGLM(
        choices["chose_good"].to_numpy(), design(choices), np.hstack([people, items]), kinds
    )
    found = model.fit_vb()
    return found.fe_mean, found.fe_sd, tuple(np.exp(found.vcp_mean))


def constructions(simulations: int) -> None:
    """Print in how many studies two equally hard constructions are called different, at 5 %."""
    z = {name: [] for name in RANDOM}
    for number in range(simulations):
        rows = equally_hard(np.random.default_rng([9, number]))
        for name, formula in RANDOM.items():
            z[name].append(fit(rows, formula).coefficients["z"].iloc[1])
    print("| Random effects | Studies | Found a difference at 5 % | Standard error |")
    print("|---|---:|---:|---:|")
    for name, found in z.items():
        share = (np.abs(found) > scipy.stats.norm.ppf(0.975)).mean()
        print(f"| {name} | {simulations} | {called(share, simulations)} |")


def called(share: float, n: int) -> str:
    """Return a share of n studies and its standard error, two cells of a table."""
    return f"{100 * share:.1f} % | {100 * (share * (1 - share) / n) ** 0.5:.1f}"


def equal(simulations: int) -> None:
    """Print how often people and an equally accurate model are called different, at 5 %."""
    differences, contained, one_scale = [], [], []
    for seed in range(simulations):
        study = people_and_an_equal_model(np.random.default_rng(seed))
        found = people_against_models(*study, ["construction"]).loc[0]
        differences.append(found["p"] < 0.05)
        contained.append(found["low"] <= 0 <= found["high"])
        rows = equally_accurate(np.random.default_rng([10, seed]))
        model = fit(rows, "judge + (1 | participant) + (1 | item)")
        one_scale.append(compare_on_one_scale(model, rows).loc[0, "p"] < 0.05)
    print("| Comparison | Studies | Called different at 5 % | Standard error |")
    print("|---|---:|---:|---:|")
    paired, mixed_model = (called(np.mean(each), simulations) for each in (differences, one_scale))
    print(f"| difference of accuracies | {simulations} | {paired} |")
    print(f"| mixed model, on one scale | {simulations} | {mixed_model} |")
    if not np.array_equal(contained, ~np.array(differences)):
        sys.exit("an interval and its test contradict each other")


def equally_hard(rng: np.random.Generator, n_people: int = 24, n_items: int = 40) -> pd.DataFrame:
    """Return choices of people who differ in how much harder one construction is to them."""
    person, item = np.divmod(np.arange(n_people * n_items), n_items)
    is_b = np.arange(n_items) % 2
    of_person, slope = rng.normal(0, 0.8, n_people), rng.normal(0, 0.8, n_people)
    of_item = rng.normal(0, 0.6, n_items)
    logit = 1.0 + of_person[person] + slope[person] * (is_b[item] - 0.5) + of_item[item]
    return pd.DataFrame(
        {
            "judge": pd.Categorical(["people"] * len(person)),
            "participant": person.astype(str),
            "item_id": item.astype(str),
            "construction": np.where(is_b[item] == 1, "b", "a"),
            "condition": "any",
            "chose_good": (rng.random(len(person)) < expit(logit)).astype(float),
        }
    )


if __name__ == "__main__":
    main()
