"""Measure the statistics: how right they are, and what they cost.

Usage: python benchmarks/measure_statistics.py {intervals,mixed,constructions,bootstrap,large} ...

intervals  coverage and width of three intervals of accuracy, participants and items differing
mixed      bias and coverage of the mixed model against two other routes
constructions  how often the mixed model finds a difference of constructions where there is none
bootstrap  seconds of the crossed bootstrap against a plain pandas loop and scipy's one-way one
large      seconds and memory of the whole comparison of ten million answers with five models
"""

import argparse
import json
import resource
import sys
import tempfile
import time
from collections import defaultdict
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pandas as pd
import scipy.stats
import statsmodels.api as sm
from large_run import TRIALS_EACH, write_large_run, write_large_scores
from scipy.special import expit
from statsmodels.genmod.bayes_mixed_glm import BinomialBayesMixedGLM

from analysis.comparison import ComparisonOptions, compare
from analysis.data.load import load_all_scores, load_run
from analysis.report.write import write_comparison
from analysis.statistics.clustered import clustered_intervals
from analysis.statistics.mixed import fit
from analysis.statistics.resample import (
    cells,
    crossed_bootstrap,
    percentile_interval,
    wilson_interval,
)

# The tests check a few of the same simulations.
sys.path.append(str(Path(__file__).parents[1]))
from tests.analysis.known_choices import EFFECTS, SD_ITEM, SD_PARTICIPANT, known_choices

Numbers = np.ndarray
Estimates = tuple[Numbers, Numbers, tuple[float, float]]

# A condition or construction of the ten-list design: 100 participants, each list its own items.
DESIGNS = {"10 items, each person 1": 1, "60 items, each person 6": 6}
BASES = (0.5, 2.0, 3.5)
SPREADS = ((0.0, 0.0), (0.5, 0.5), (1.0, 1.0), (1.5, 0.5), (0.5, 1.5))


WHAT = ("intervals", "mixed", "constructions", "bootstrap", "large")
RANDOM = {
    "intercepts alone": "construction + (1 | participant) + (1 | item)",
    "default": "construction",
    "slopes": "construction + (1 + construction || participant) + (1 | item)",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=list(WHAT))
    parser.add_argument("--simulations", type=int, default=200)
    parser.add_argument("--participants", type=int, default=131_579)
    parser.add_argument("--models", type=int, default=5)
    parser.add_argument("--resamples", type=int, default=100)
    options = parser.parse_args()
    if options.what == "intervals":
        intervals(options.simulations)
    elif options.what == "mixed":
        mixed(options.simulations)
    elif options.what == "constructions":
        constructions(options.simulations)
    elif options.what == "bootstrap":
        bootstrap()
    else:
        large(options.participants, options.models, options.resamples)


def intervals(simulations: int) -> None:
    """Print, for each design, how often each interval covers the true accuracy, and its width."""
    print("design | mean accuracy | SD participants, items | covered %, mean width of each")
    everything = defaultdict(list)
    for design, each in DESIGNS.items():
        people = np.repeat(np.arange(100), each)
        items = people // 10 * each + np.tile(np.arange(each), 100)
        for base in BASES:
            for spread in SPREADS:
                rng = np.random.default_rng(
                    [7, each, int(10 * base), *(int(10 * s) for s in spread)]
                )
                found = coverage(people, items, base, spread, simulations, rng)
                truth = true_accuracy(base, spread)
                cells_ = [f"{name} {100 * c:.1f} {w:.3f}" for name, (c, w) in found.items()]
                print(f"{design} | {truth:.3f} | {spread} | {' | '.join(cells_)}", flush=True)
                for name, pair in found.items():
                    everything[name].append(pair)
    for name, pairs in everything.items():
        covered, width = np.array(pairs).T
        print(f"{name}: covered {100 * covered.min():.1f} to {100 * covered.max():.1f} %, "
              f"mean {100 * covered.mean():.1f} %; mean width {width.mean():.3f}")  # fmt: skip


def true_accuracy(base: float, spread: tuple[float, float]) -> float:
    points, weights = np.polynomial.hermite_e.hermegauss(61)
    return float((expit(base + np.hypot(*spread) * points) * weights).sum() / weights.sum())


def coverage(
    people: Numbers,
    items: Numbers,
    base: float,
    spread: tuple[float, float],
    simulations: int,
    rng: np.random.Generator,
) -> dict[str, tuple[float, float]]:
    """Return for each interval (share that covers the truth, mean width)."""
    truth, n = true_accuracy(base, spread), len(people)
    one_group = np.zeros(n, np.intp)
    found = defaultdict(list)
    for _ in range(simulations):
        of_people = rng.normal(0, spread[0], people.max() + 1)
        of_items = rng.normal(0, spread[1], items.max() + 1)
        correct = (rng.random(n) < expit(base + of_people[people] + of_items[items])).astype(float)
        if correct.all():
            continue
        draws = crossed_bootstrap(cells(correct, people, items, one_group), rng, 400)[:, 0]
        clustered = clustered_intervals(correct, people, items, one_group)
        resampled, wilson = percentile_interval(draws), wilson_interval(int(correct.sum()), n)
        for name, low, high in (
            ("bootstrap", resampled.low, resampled.high),
            ("clustered", clustered.low[0], clustered.high[0]),
            ("Wilson", wilson.low, wilson.high),
        ):
            found[name].append((low <= truth <= high, high - low))
    return {name: tuple(np.mean(pairs, axis=0)) for name, pairs in found.items()}


def constructions(simulations: int) -> None:
    """Print in how many studies two equally hard constructions are called different, at 5 %."""
    z = {name: [] for name in RANDOM}
    for number in range(simulations):
        rows = equally_hard(np.random.default_rng([9, number]))
        for name, formula in RANDOM.items():
            z[name].append(fit(rows, formula).coefficients["z"].iloc[1])
    for name, found in z.items():
        print(f"{name}: {(np.abs(found) > scipy.stats.norm.ppf(0.975)).mean():.1%}")


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


def mixed(simulations: int) -> None:
    """Print bias, spread, stated error and coverage of each coefficient, by route."""
    routes = {
        "mixed model": (by_mixed_model, simulations),
        "plain logistic": (by_plain_logistic, simulations),
        # It is slow, and what is wrong with it shows soon.
        "BinomialBayesMixedGLM": (by_variational_bayes, min(simulations, 20)),
    }
    for route, (estimate, number) in routes.items():
        rng, rows, seconds = np.random.default_rng(2026), [], 0.0
        for _ in range(number):
            choices = known_choices(rng)
            started = time.perf_counter()
            rows.append(estimate(choices))
            seconds += time.perf_counter() - started
        estimates, errors, spreads = (np.array(part) for part in zip(*rows, strict=True))
        covered = np.abs(estimates - EFFECTS) <= 1.96 * errors
        print(f"{route}: {number} simulations, {seconds / number:.2f} s each")
        print("  term | truth | bias | SD of estimates | mean stated SE | covered %")
        for term, truth in enumerate(EFFECTS):
            print(f"  {term} | {truth:+.2f} | {estimates[:, term].mean() - truth:+.3f} | "
                  f"{estimates[:, term].std(ddof=1):.3f} | {errors[:, term].mean():.3f} | "
                  f"{100 * covered[:, term].mean():.1f}")  # fmt: skip
        print(f"  SD participants {spreads[:, 0].mean():.3f} ({SD_PARTICIPANT}), "
              f"items {spreads[:, 1].mean():.3f} ({SD_ITEM})", flush=True)  # fmt: skip


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


def bootstrap() -> None:
    """Print the seconds of 10,000 resamples of 7,600 judgments in 68 conditions, by route."""
    rng = np.random.default_rng(1)
    people, trial = np.divmod(np.arange(7600), 76)
    frame = pd.DataFrame(
        {"participant": people, "item": people // 10 * 76 + trial, "condition": trial % 68,
         "right": rng.random(7600) < 0.85}
    )  # fmt: skip
    started = time.perf_counter()
    counted = cells(
        frame["right"], frame["participant"], frame["item"], frame["condition"].to_numpy()
    )
    crossed_bootstrap(counted, rng, 10_000)
    ours = time.perf_counter() - started
    few = 20
    started = time.perf_counter()
    for _ in range(few):
        pandas_resample(frame, rng)
    theirs = (time.perf_counter() - started) / few * 10_000
    print(f"vectorised: {ours:.2f} s; pandas loop: {theirs:.0f} s, extrapolated from {few} "
          f"resamples; ratio {theirs / ours:.0f}")  # fmt: skip
    started = time.perf_counter()
    scipy_bootstrap(frame, rng)
    one_way = time.perf_counter() - started
    print(f"scipy.stats.bootstrap, participants alone: {one_way:.2f} s; "
          f"ratio {one_way / ours:.1f}")  # fmt: skip


def scipy_bootstrap(frame: pd.DataFrame, rng: np.random.Generator) -> Numbers:
    """Resample participants alone: scipy's bootstrap knows no second kind of cluster."""
    cells_ = frame.groupby(["participant", "condition"])["right"].agg(["sum", "size"])
    right, judged = (cells_[name].unstack(fill_value=0).to_numpy() for name in ("sum", "size"))

    def accuracies(drawn: Numbers, axis: int) -> Numbers:
        return np.moveaxis(right[drawn].sum(axis=-2) / judged[drawn].sum(axis=-2), -1, 0)

    found = scipy.stats.bootstrap(
        (np.arange(len(right)),), accuracies, n_resamples=10_000, batch=200, vectorized=True,
        method="percentile", rng=rng,
    )  # fmt: skip
    return found.confidence_interval.low


def pandas_resample(frame: pd.DataFrame, rng: np.random.Generator) -> pd.Series:
    """Resample as one would write it down: merge what was drawn, group, average."""
    people = rng.choice(frame["participant"].unique(), frame["participant"].nunique())
    drawn = pd.DataFrame({"participant": people}).merge(frame, on="participant")
    items = (
        frame[["condition", "item"]]
        .drop_duplicates()
        .groupby("condition")["item"]
        .sample(frac=1, replace=True, random_state=rng)
    )
    return (
        pd.DataFrame({"item": items}).merge(drawn, on="item").groupby("condition")["right"].mean()
    )


def large(participants: int, models: int, resamples: int) -> None:
    """Print seconds and peak memory of loading a large run and comparing it with models."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        # In a process of its own: the memory that writing takes is not the comparison's.
        writer = get_context("spawn").Process(target=write, args=(folder, participants, models))
        writer.start()
        writer.join()
        report("before", time.perf_counter(), answers=participants * TRIALS_EACH)
        started = time.perf_counter()
        run = load_run(folder / "export")
        scores = load_all_scores(sorted(folder.glob("*.parquet")))
        report("loaded", started, items=len(run.items), models=models)
        started = time.perf_counter()
        options = ComparisonOptions(resamples=resamples)
        found = compare(run, scores, options, code_version="benchmark")
        report("compared", started, resamples=resamples)
        started = time.perf_counter()
        files = write_comparison(found, folder / "report", figures=False)
        report("written", started, files=len(files))


def write(folder: Path, participants: int, models: int) -> None:
    write_large_run(folder / "export", participants, 1)
    for number in range(models):
        write_large_scores(folder / f"scores_{number}.parquet", number)


def report(step: str, started: float, **numbers: int) -> None:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    seconds = time.perf_counter() - started
    print(f"{step}: {seconds:.1f} s, peak {peak:.0f} MiB, {json.dumps(numbers)}", flush=True)


if __name__ == "__main__":
    main()
