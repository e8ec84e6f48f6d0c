"""The two-parameter model as R's ltm and mirt fit it to published data."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

from analysis.statistics.two_parameters import TwoParameters, fit_two_parameters

# How many of 1,000 people gave each pattern of answers to five items of the Law School Admission
# Test: Bock, R. D. & Lieberman, M. (1970). Fitting a response model for n dichotomously scored
# items. Psychometrika, 35(2), 179-197.
LSAT = {
    "00000": 3, "00001": 6, "00010": 2, "00011": 11, "00100": 1, "00101": 1, "00110": 3,
    "00111": 4, "01000": 1, "01001": 8, "01011": 16, "01101": 3, "01110": 2, "01111": 15,
    "10000": 10, "10001": 29, "10010": 14, "10011": 81, "10100": 3, "10101": 28, "10110": 15,
    "10111": 80, "11000": 16, "11001": 56, "11010": 21, "11011": 173, "11100": 11, "11101": 61,
    "11110": 28, "11111": 298,
}  # fmt: skip
# summary(ltm(LSAT ~ z1)) of R's ltm 1.0, by Gauss-Hermite quadrature with 21 nodes.
DISCRIMINATION = [0.8254, 0.7229, 0.8905, 0.6886, 0.6575]
DISCRIMINATION_ERROR = [0.2581, 0.1867, 0.2326, 0.1852, 0.2100]
DIFFICULTY = [-3.3597, -1.3696, -0.2799, -1.8659, -3.1236]
DIFFICULTY_ERROR = [0.8669, 0.3073, 0.0997, 0.4341, 0.8700]


def judgments() -> pd.DataFrame:
    patterns = [pattern for pattern, n in LSAT.items() for _ in range(n)]
    rows = [
        (f"{pattern}-{person}", f"item {item}", answer == "1")
        for person, pattern in enumerate(patterns)
        for item, answer in enumerate(pattern)
    ]
    # Everybody is right on one item more, which says nothing.
    rows += [(f"{pattern}-{person}", "easy", True) for person, pattern in enumerate(patterns)]
    return pd.DataFrame(rows, columns=["participant", "item_id", "chose_good"])


@pytest.fixture(scope="module")
def fitted() -> TwoParameters:
    names = [*(f"item {item}" for item in range(5)), "easy"]
    correct = [True, False, True, True, False, True]
    return fit_two_parameters(
        judgments(), {"model": pd.DataFrame({"item_id": names, "correct": correct})}
    )


def test_ltm_finds_the_same_items(fitted: TwoParameters):
    items = fitted.items.sort_values("item_id")
    assert fitted.left_out == ["easy"]
    assert items["discrimination"].tolist() == pytest.approx(DISCRIMINATION, abs=2e-3)
    assert items["difficulty"].tolist() == pytest.approx(DIFFICULTY, abs=5e-3)
    assert items["discrimination_error"].tolist() == pytest.approx(DISCRIMINATION_ERROR, abs=1e-3)
    assert items["difficulty_error"].tolist() == pytest.approx(DIFFICULTY_ERROR, abs=3e-3)
    ends = DIFFICULTY[2] - 1.96 * DIFFICULTY_ERROR[2], DIFFICULTY[2] + 1.96 * DIFFICULTY_ERROR[2]
    assert items.iloc[2][["difficulty_low", "difficulty_high"]].tolist() == pytest.approx(
        ends, abs=3e-3
    )


def test_ltm_and_mirt_find_the_same_likelihoods(fitted: TwoParameters):
    # ltm and mirt: -2466.653 with two parameters. ltm: rasch(LSAT) -2466.938, with a common
    # discrimination of .755; the likelihood ratio test of both is .57 with 4 degrees of freedom.
    assert fitted.loglik_two == pytest.approx(-2466.653, abs=2e-3)
    assert fitted.loglik_one == pytest.approx(-2466.938, abs=2e-3)
    assert fitted.common_discrimination == pytest.approx(0.755, abs=1e-3)
    assert (fitted.chi_squared, fitted.df) == (pytest.approx(0.57, abs=6e-3), 4)
    # Of chi-squared with 4 degrees of freedom: exp(-x / 2) (1 + x / 2).
    assert fitted.p == pytest.approx(np.exp(-0.285) * 1.285, abs=2e-3)


def test_mirt_finds_the_same_abilities(fitted: TwoParameters):
    judges = fitted.judges.assign(pattern=fitted.judges["judge"].str[:5])
    of_pattern = judges.groupby("pattern")["ability"].mean()
    # fscores(mirt(LSAT6, 1, method = "QMCEM")), whose abilities are drawn quasi-randomly.
    for pattern, ability in (("00000", -1.8877), ("00001", -1.4738), ("00010", -1.4538)):
        assert of_pattern[pattern] == pytest.approx(ability, abs=0.012)


def test_a_model_is_placed_by_its_answers_and_the_discriminations(fitted: TwoParameters):
    ability = fitted.judges.set_index("judge").loc["model", "ability"]
    slope, difficulty = np.array(DISCRIMINATION), np.array(DIFFICULTY)
    # The likelihood equation, with one right and one wrong answer to an average item.
    expected = slope @ expit(slope * (ability - difficulty))
    expected += 2 * slope.mean() * expit(slope.mean() * (ability - difficulty.mean()))
    assert expected == pytest.approx(slope[[0, 2, 3]].sum() + slope.mean(), abs=2e-3)
