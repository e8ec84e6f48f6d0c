"""The parts of the mixed model: what is likeliest, how sure it is, and what varies, by formula."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import brentq, minimize
from scipy.special import expit, logit
from scipy.stats import norm

from analysis.errors import AnalysisError
from analysis.statistics import mixed_model as mixed
from analysis.statistics import one_scale
from analysis.statistics.mixed_model import penalised_covariance, penalised_mode, random_columns
from analysis.statistics.mixed_model_rows import Effects


def problem(seed: int = 1) -> SimpleNamespace:
    rng = np.random.default_rng(seed)
    n = 60
    x = np.column_stack([np.ones(n), rng.normal(size=n), np.arange(n) < 9])
    levels = [np.arange(n) % 5, np.arange(n) // 15]
    values = np.column_stack([np.full(n, 0.8), rng.normal(size=n)])
    y = (rng.random(n) < expit(x[:, 1])).astype(float)
    y[:9] = 1
    offset = rng.normal(size=n) / 3
    penalised = np.array([False, False, True])
    dense = np.zeros((n, 9))
    for row in range(n):
        dense[row, levels[0][row]] = values[row, 0]
        dense[row, 5 + levels[1][row]] = values[row, 1]
    return SimpleNamespace(x=x, levels=levels, values=values, y=y, offset=offset,
                           penalised=penalised, dense=dense)  # fmt: skip


def test_each_level_of_each_effect_has_a_column_of_its_values():
    one = problem()
    assert random_columns(one.levels, one.values).toarray() == pytest.approx(one.dense)


@pytest.mark.parametrize("scale", [1.0, 5.0])
def test_the_mode_is_where_the_penalised_likelihood_is_highest(scale):
    one = problem()
    offset = one.offset * scale
    z = random_columns(one.levels, one.values)
    found, logits = penalised_mode(one.x, z, one.y, offset, one.penalised)

    def minus_log(at: np.ndarray) -> float:
        eta = offset + one.x @ at[:3] + one.dense @ at[3:]
        likely = one.y @ eta - np.logaddexp(0, eta).sum()
        # One right and one wrong judgment: log of exp(b) / (1 + exp(b))^2.
        return -likely - (at[2] - 2 * np.logaddexp(0, at[2])) + at[3:] @ at[3:] / 2

    best = minimize(minus_log, np.zeros(12), method="BFGS", options={"gtol": 1e-7})
    assert found == pytest.approx(best.x[:3], abs=1e-4)
    assert logits == pytest.approx(offset + one.x @ best.x[:3] + one.dense @ best.x[3:], abs=1e-3)


def test_from_far_away_the_mode_is_reached_by_steps_that_are_not_too_long():
    x, y = np.ones((40, 1)), np.repeat([1.0, 0.0], [30, 10])
    z = random_columns([np.zeros(40, np.intp)], np.zeros((40, 1)))
    for offset in (9.0, -12.0):
        found, logits = penalised_mode(x, z, y, np.full(40, offset), np.array([False]))
        assert found[0] == pytest.approx(np.log(3) - offset, abs=1e-5)
        assert logits == pytest.approx(np.full(40, np.log(3)), abs=1e-5)


def test_the_covariance_is_the_inverse_of_the_whole_curvature():
    one = problem()
    logits = one.offset + one.x @ [0.4, -0.3, 1.0]
    prior = np.array([0.0, 0.0, 0.37])
    weight = np.diag(expit(logits) * (1 - expit(logits)))
    columns = np.hstack([one.x, one.dense])
    whole = columns.T @ weight @ columns + np.diag([*prior, *np.ones(9)])
    z = random_columns(one.levels, one.values)
    found = penalised_covariance(one.x, z, logits, prior)
    assert found == pytest.approx(np.linalg.inv(whole)[:3, :3], rel=1e-8)


def fitted_by_hand() -> tuple[mixed._Fitted, pd.DataFrame]:
    own = mixed._Fitted(
        estimate=np.array([1.0, -2.0]),
        covariance=np.array([[0.25, 0.1], [0.1, 4.0]]),
        loadings=np.eye(1),
        penalised=np.array([False, True]),
        is_converged=True,
    )
    return own, mixed._coefficient_table(own, ["Intercept", "judge[T.m]"])


def test_coefficients_have_walds_intervals_and_two_sided_p():
    _, found = fitted_by_hand()
    assert found["term"].tolist() == ["Intercept", "judge m"]
    assert found["std_error"].tolist() == [0.5, 2.0]
    assert found["low"].tolist() == pytest.approx([1 - 1.959964 * 0.5, -2 - 1.959964 * 2])
    assert found["high"].tolist() == pytest.approx([1 + 1.959964 * 0.5, -2 + 1.959964 * 2])
    assert found["z"].tolist() == [2.0, -1.0]
    assert found["p"].tolist() == pytest.approx([2 * norm.sf(2), 2 * norm.sf(1)])


def test_random_effects_are_described_by_their_covariance():
    varying = Effects(("person", "person, x", "item", "item, x"), (), np.zeros((0, 4)),
                      ((0, 1), (2, 3)))  # fmt: skip
    loadings = np.array(
        [[2.0, 0, 0, 0], [-0.6, 0.8, 0, 0], [0, 0, 0.049, 0], [0, 0, 0.5, 0.07]]
    )  # fmt: skip
    found = mixed._random_effect_table(varying, loadings)
    assert found["sd"].tolist() == pytest.approx([2, 1, 0.049, np.hypot(0.5, 0.07)])
    wanted = [np.nan, -0.6, np.nan, 0.5 / np.hypot(0.5, 0.07)]
    assert found["correlation"].tolist() == pytest.approx(wanted, nan_ok=True)
    # A variance of next to nothing; a correlation of .9903.
    assert found["singular"].tolist() == [False, False, True, True]
    none = mixed._random_effect_table(varying, np.zeros((4, 4)))
    assert none["correlation"].tolist() == pytest.approx([np.nan, 0, np.nan, 0], nan_ok=True)
    assert none["singular"].all()


def test_columns_separate_where_the_last_term_of_all_its_choices_is_right_or_wrong():
    x = np.array([[1, 0, 0], [1, 0, 0], [1, 1, 0], [1, 1, 0], [1, 1, 1], [1, 0, 1]], float)

    def separated(*y: float) -> list[bool]:
        return mixed._separated_columns(x, np.array(y)).tolist()

    assert separated(1, 0, 1, 1, 0, 1) == [False, True, False]
    assert separated(1, 0, 0, 1, 0, 0) == [False, False, True]
    assert separated(1, 1, 0, 0, 1, 1) == [True, True, True]
    assert mixed._separated_columns(x[:5], np.array([1.0, 0, 1, 0, 1])).tolist() == [
        False,
        False,
        True,
    ]
    none_of_the_last = x[:4]
    assert (
        mixed._separated_columns(none_of_the_last, np.array([1.0, 0, 1, 0])).tolist() == [False] * 3
    )


def test_bounded_choices_that_cannot_tell_two_terms_apart_are_refused():
    design = pd.DataFrame({"Intercept": 1.0, "a": [0.0, 0, 1, 1, 1, 0], "b": [0.0, 0, 1, 1, 0, 1]})
    rows = pd.DataFrame({"chose_good": [0.0, 1, 0, 1, 1, 1]})
    varying = Effects(("person",), (np.arange(6) % 2,), np.ones((6, 1)))
    with pytest.raises(AnalysisError, match="cannot estimate the remaining terms"):
        mixed._fit_in_steps(rows, design, varying, np.arange(6) < 4)


def test_shares_on_one_scale_are_integrals_and_their_errors_the_delta_methods():
    """People of a spread of 1.2 logits and a model of one of .5, with a covariance of two."""
    fixed = np.array([[1.0, 0], [1, 0], [1, 1]])
    varying = Effects(("a", "b"), (), np.array([[1.0, 1], [1, 1], [0, 1]]))
    loadings = np.diag([np.sqrt(1.2**2 - 0.25), 0.5])
    covariance_ = np.array([[0.04, -0.02], [-0.02, 0.09]])
    model = mixed.MixedModel(
        "", pd.DataFrame({"estimate": [1.1, -0.7]}), pd.DataFrame(), 3, fixed, varying,
        covariance_, loadings, is_converged=True,
    )  # fmt: skip
    rows = pd.DataFrame({"judge": ["people", "people", "m"], "construction": "x"})
    found = one_scale.compare_on_one_scale(model, rows)
    assert found["construction"].tolist() == ["", "x"]
    row = found.iloc[0]

    at = np.linspace(-9, 9, 4001)
    density = norm.pdf(at) * (at[1] - at[0])

    def share(eta: float, spread: float) -> float:
        return float(expit(eta + spread * at) @ density)

    def typical(chance: float) -> float:
        """The logit of a participant in the middle, among whom the share is so."""
        return brentq(lambda eta: share(eta, 1.2) - chance, -20, 20, xtol=1e-13)

    scales = {
        "marginal": lambda one, two: logit(share(one, 1.2)) - logit(share(two, 0.5)),
        "conditional": lambda one, two: typical(share(one, 1.2)) - typical(share(two, 0.5)),
    }
    assert (row["people"], row["model"]) == pytest.approx((share(1.1, 1.2), share(0.4, 0.5)))
    for name, of in scales.items():
        middle = of(1.1, 0.4)
        step = 1e-4
        first = (of(1.1 + step, 0.4) - of(1.1 - step, 0.4)) / (2 * step)
        second = (of(1.1, 0.4 + step) - of(1.1, 0.4 - step)) / (2 * step)
        slope = np.array([first + second, second])
        error = np.sqrt(slope @ covariance_ @ slope)
        assert row[name] == pytest.approx(middle, abs=1e-5)
        assert row[f"{name}_low"] == pytest.approx(middle - 1.959964 * error, abs=1e-4)
        assert row[f"{name}_high"] == pytest.approx(middle + 1.959964 * error, abs=1e-4)
        if name == "marginal":
            assert row["p"] == pytest.approx(2 * norm.sf(abs(middle) / error), rel=1e-3)


def test_a_construction_that_people_or_the_model_lack_has_no_row():
    fixed = np.array([[1.0, 0], [1, 1], [1, 1]])
    varying = Effects(("a",), (), np.ones((3, 1)))
    model = mixed.MixedModel("", pd.DataFrame({"estimate": [0.5, 0.1]}), pd.DataFrame(), 3, fixed,
                             varying, np.eye(2), np.eye(1), is_converged=True)  # fmt: skip
    rows = pd.DataFrame({"judge": ["people", "m", "m"], "construction": ["x", "x", "y"]})
    assert one_scale.compare_on_one_scale(model, rows)["construction"].tolist() == ["", "x"]


def laplace(x: np.ndarray, y: np.ndarray, groups: list, values: np.ndarray, theta) -> float:
    """Minus the log-likelihood by Laplace's approximation, of dense matrices."""
    sds = np.exp(theta[x.shape[1] :])
    z = np.hstack([np.eye(one.max() + 1)[one] * values[:, [n]] * sds[n]
                   for n, one in enumerate(groups)])  # fmt: skip
    b = np.zeros(z.shape[1])
    for _ in range(50):
        p = expit(x @ theta[: x.shape[1]] + z @ b)
        whole = z.T @ (z * (p * (1 - p))[:, None]) + np.eye(len(b))
        step = np.linalg.solve(whole, z.T @ (y - p) - b)
        b += step
        if np.abs(step).max() < 1e-10:
            break
    eta = x @ theta[: x.shape[1]] + z @ b
    likely = y @ eta - np.logaddexp(0, eta).sum() - b @ b / 2
    return float(np.linalg.slogdet(whole)[1] / 2 - likely)


def crossed_rows() -> pd.DataFrame:
    rng = np.random.default_rng(4)
    person, item = np.divmod(np.arange(20 * 16), 16)
    level = 1.2 * rng.normal(size=20)[person] + 0.9 * rng.normal(size=16)[item] + 0.6
    rows = pd.DataFrame({"judge": "people", "participant": person, "item_id": item,
                         "construction": np.where(item % 2, "b", "a")})  # fmt: skip
    rows["chose_good"] = (rng.random(len(rows)) < expit(level - 0.5 * (item % 2))).astype(float)
    model = pd.DataFrame({"judge": "m", "participant": "m", "item_id": np.arange(16)})
    model = model.assign(construction=["a", "b"] * 8, chose_good=[1.0, 0.0, 1.0, 1.0] * 4)
    both = pd.concat([rows, model], ignore_index=True)
    return both.assign(judge=pd.Categorical(both["judge"], ["people", "m"]))


def dense_columns(found: mixed.MixedModel) -> np.ndarray:
    """The columns of a fit: the fixed effects', then one for each level of each random one."""
    values = found.varying.values @ found.loadings
    levels = [np.eye(one.max() + 1)[one] * values[:, [n]]
              for n, one in enumerate(found.varying.groups)]  # fmt: skip
    return np.hstack([found.fixed, *levels])


def test_a_model_that_is_always_right_is_as_sure_as_its_penalty_makes_it():
    rows = crossed_rows()
    rows["chose_good"] = rows["chose_good"].where(rows["judge"] == "people", 1.0)
    found = mixed.fit(rows, "construction + judge + (1 | participant) + (1 | item)")
    told = found.coefficients.set_index("term")
    assert told["penalised"].to_dict() == {
        "Intercept": False, "construction b": False, "judge m": True,
    }  # fmt: skip
    place = told.index.get_loc("judge m")
    held = told["estimate"].to_numpy().copy()
    held[place] = 0
    columns = dense_columns(found)
    own = [place, *range(len(held), columns.shape[1])]
    offset, y = found.fixed @ held, rows["chose_good"].to_numpy()

    def minus_log(at: np.ndarray) -> float:
        eta = offset + columns[:, own] @ at
        prior = at[0] - 2 * np.logaddexp(0, at[0])
        return -(y @ eta - np.logaddexp(0, eta).sum()) - prior + at[1:] @ at[1:] / 2

    best = minimize(minus_log, np.zeros(len(own)), method="BFGS", options={"gtol": 1e-6}).x
    assert told["estimate"].iloc[place] == pytest.approx(best[0], abs=1e-3)
    p = expit(offset + columns[:, own] @ best)
    whole = columns.T @ (columns * (p * (1 - p))[:, None])
    whole[place, place] += 2 * expit(best[0]) * (1 - expit(best[0]))
    whole[len(held) :, len(held) :] += np.eye(len(own) - 1)
    errors = np.sqrt(np.diag(np.linalg.inv(whole)))[: len(held)]
    assert told["std_error"].to_numpy() == pytest.approx(errors, rel=1e-3)


def test_a_fit_is_where_laplaces_likelihood_is_highest():
    rows = crossed_rows()
    found = mixed.fit(rows, "judge + construction + (1 | participant) + (1 | item)")
    is_person = (rows["judge"] == "people").to_numpy(float)
    x = np.column_stack([np.ones(len(rows)), 1 - is_person, rows["construction"] == "b"])
    groups = [pd.factorize(rows[name])[0] for name in ("participant", "item_id")]
    values = np.column_stack([is_person, np.ones(len(rows))])
    y = rows["chose_good"].to_numpy()
    best = minimize(
        lambda theta: laplace(x, y, groups, values, theta), [0.5, 0, 0, 0, 0], method="BFGS"
    )
    coefficients = found.coefficients.set_index("term")["estimate"]
    terms = ["Intercept", "judge m", "construction b"]
    assert coefficients[terms].to_numpy() == pytest.approx(best.x[:3], abs=0.02)
    sds = [found.sd(one) for one in ("participant", "item_id")]
    assert sds == pytest.approx(np.exp(best.x[3:]), rel=0.03)
    # Standard errors are of the whole curvature, where the likelihood is highest.
    held, columns = found.coefficients["estimate"].to_numpy(), dense_columns(found)
    b = np.zeros(columns.shape[1] - len(held))
    for _ in range(30):
        p = expit(columns @ [*held, *b])
        whole = columns.T @ (columns * (p * (1 - p))[:, None])
        inner = whole[len(held) :, len(held) :] + np.eye(len(b))
        b += np.linalg.solve(inner, columns[:, len(held) :].T @ (y - p) - b)
    whole[len(held) :, len(held) :] += np.eye(len(b))
    errors = np.sqrt(np.diag(np.linalg.inv(whole)))[: len(held)]
    assert found.coefficients["std_error"].to_numpy() == pytest.approx(errors, rel=1e-3)
    assert found.sd("frame") == 0
    assert not found.coefficients["penalised"].any()
    assert found.n_rows == len(rows)
    # The default formula has the usual effects, and the cells of judges and constructions.
    usual_terms = mixed.fit(rows).coefficients["term"].tolist()
    assert usual_terms == ["Intercept", "construction b", "construction a, judge m",
                           "construction b, judge m"]  # fmt: skip
