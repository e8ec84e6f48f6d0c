"""How often a report's first sentences state planted effects with their sign, and false ones.

Usage: python -m benchmarks.first_screen [--designs 40] [--datasets 200] [--seed 1]

Each seed makes a design: choices, ratings, yes and no, or reading times; one to three factors, of
which one may be between participants. ``parallax study new`` writes the study, and its implied
primary comparisons are planned by the power analysis (``promised``) and answered by the finding
that writes the first sentences of a report (``stated``), on data sets with these effects and on
data sets without any effect (``false``). A line for each design, then all together.
"""

import os
import random
import re
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path
from types import SimpleNamespace

import click
import numpy as np
import pandas as pd
from click.testing import CliRunner

from analysis.data.join import Joined
from analysis.data.readings import RELATIVE
from analysis.findings.comparison_words import ALPHA, NAME, comparison_sentences
from analysis.findings.comparisons import answered
from analysis.findings.finding import ComparisonOptions, Context, FindingInputs
from analysis.power.base import PowerOptions
from analysis.power.cells import LOG_RT, Answers, add_expected_means, answers_of
from analysis.power.comparisons import _plan_test, model_of, primary_comparisons
from analysis.power.simulated_choices import Assumptions
from analysis.power.simulated_comparisons import Tested, _code_answers, cell_means, simulate
from analysis.statistics.resample import Floats
from experiment.commands import study as commands
from experiment.design.lists import BuiltLists, build_lists
from experiment.materials.read import load_items
from experiment.records import PAIR
from experiment.studies.load import load_study
from experiment.studies.study import Study

_RESPONSES = ("sentence_pair", "rating", "yes_no", "self_paced")
_EFFECTS = {"accuracy": 0.12, "rating": 0.7, "yes": 0.15, LOG_RT: 0.12}
_VALUES = {"accuracy": "chose_good", "rating": "rating", "yes": "said_yes"}
_FACTORS = {"match": ("far", "near"), "number": ("pl", "sg"), "length": ("long", "short")}
_BETWEEN = '\nfactors = { instruction = ["plain", "careful"] }'
_FRAMES, _POINTS = 16, 7
# As far from the shortest as from the longest time that counts, in logarithms.
_TYPICAL_MS = 707.0


def make_study(seed: int) -> tuple[Study, BuiltLists]:
    """Return the study of a seed, and its lists; the working folder is a temporary one."""
    draw = random.Random(seed)
    response = _RESPONSES[seed % len(_RESPONSES)]
    between = draw.random() < 0.4
    within = list(_FACTORS)[: draw.randint(1, 2 if between else 3)]
    is_pair = response == "sentence_pair"
    head = ["item", *within, *(("good", "bad") if is_pair else ("sentence",))]
    rows = []
    for frame in range(1, _FRAMES + 1):
        for levels in product(*(_FACTORS[name] for name in within)):
            text = f"Word {' '.join(levels)} number {frame} is here."
            texts = (text, text.replace("is", "are")) if is_pair else (text,)
            rows.append(",".join(map(str, (frame, *levels, *texts))))
    Path("items.csv").write_text("\n".join([",".join(head), *rows]), "utf-8")
    done = CliRunner().invoke(
        commands.new, ["drawn", "--from", "items.csv", "--response", response]
    )
    if done.exception is not None:
        raise done.exception
    toml = Path("drawn/study.toml")
    text = toml.read_text("utf-8").split("[[comparisons]]")[0]
    people = r"participants_per_list = \d+.*"
    text = re.sub(people, f"participants_per_list = 8{_BETWEEN if between else ''}", text)
    toml.write_text(text, "utf-8")
    study = load_study("drawn")
    return study, build_lists(study, load_items(study), seed)


def plan(
    study: Study, built: BuiltLists, options: PowerOptions
) -> tuple[Answers, pd.DataFrame, list[Tested]]:
    """Return all answers, with the expected means, and how each primary comparison is tested."""
    planned = primary_comparisons(study, built, options)
    measure = planned[0].measure
    answers = answers_of(study, built, max(options.sizes), measure)
    points = _POINTS if measure == "rating" else len(PAIR)
    rows = add_expected_means(answers, points, None)
    tests = [_plan_test(one, answers, rows, study, len(planned), options) for one in planned]
    return answers, rows, [one for one in tests if one is not None]


def make_inputs(study: Study, answers: Answers, values: Floats, measure: str) -> FindingInputs:
    """Return one data set as the inputs of a report's findings."""
    judgments = answers.rows.assign(
        participant="p" + answers.rows["participant"].astype(str),
        frame=answers.rows["unit"],
        position=answers.rows.groupby("participant").cumcount() + 1,
    )
    readings = None
    if measure == LOG_RT:
        judgments = judgments.assign(chose_good=None)
        readings = judgments[["participant", "position", "item_id", "version"]].assign(
            judge="people",
            step=1,
            region=1,
            text="word",
            rt_ms=_TYPICAL_MS * np.exp(values - np.median(values)),
        )
        readings[RELATIVE] = 0
    else:
        given = values if measure == "rating" else values == len(PAIR)
        judgments[_VALUES[measure]] = given
        if measure == "yes":
            judgments["chose_good"] = None
    run = SimpleNamespace(study=study, items=answers.items, readings=readings)
    return FindingInputs(
        run, [], [], Joined(judgments, {}, answers.items), ComparisonOptions(),
        Context(study, SimpleNamespace(simulated=True, resamples=100, seed=1, footer=())),
    )  # fmt: skip


def stated(inputs: FindingInputs) -> dict[str, int]:
    """Return the sign that a report's first sentences state of each primary comparison, or 0."""
    rows, _ = answered(inputs)
    primary = rows[rows["role"] == "primary"]
    sentences = list(comparison_sentences({NAME: rows}))
    signs = {}
    for row, sentence in zip(primary.to_dict("records"), sentences, strict=False):
        said = {1: row["if_positive"], -1: row["if_negative"]}
        sign, name = int(np.sign(row["estimate"])), row["name"]
        is_stated = sentence.startswith(f"{name}: {said.get(sign)}")
        # An interaction has one sentence for both signs, and the differences show which it is.
        signs[name] = sign if is_stated else 0
        assert (row["p_corrected"] < ALPHA) == is_stated
    return signs


def measure_design(seed: int, datasets: int) -> Iterator[tuple[str, float, float, float]]:
    """Yield each comparison's promised and stated share; last, the share of false data sets."""
    study, built = make_study(seed)
    people = Assumptions(0.5, 0.5, 0.0, 0.0)
    options = PowerOptions(
        people=people, sizes=(8,), simulations=datasets, seed=seed, difference=None, width=None,
        sd_effects=0.2, means=None, scale=None, accuracy=None, like=None, slowdown_percent=None,
        log_sds="", cost=None,
    )  # fmt: skip
    measure = primary_comparisons(study, built, options)[0].measure
    percent = 100 * float(np.expm1(_EFFECTS[LOG_RT]))
    options = (
        replace(options, slowdown_percent=percent)
        if measure == LOG_RT
        else replace(options, difference=_EFFECTS[measure])
    )
    answers, rows, tested = plan(study, built, options)
    model = model_of(study, measure, options)
    means, truths = cell_means(tested, rows, model)
    promised = simulate(
        rows.assign(mean=means), tested, truths, model, None, options, range(datasets)
    )
    share = promised.groupby("construction")["detected"].mean()
    rng = np.random.default_rng(seed)
    counted = {one.name: 0 for one in tested}
    base, coded = _code_answers(rows.assign(mean=means), tested, model)
    flat, flat_coded = _code_answers(rows.assign(mean=np.median(means)), tested, model)
    n_false = 0
    for _ in range(datasets):
        signs = stated(make_inputs(study, answers, model.draw(base, coded, rng), measure))
        for name in counted:
            counted[name] += signs[name] == np.sign(truths[name])
        n_false += any(
            stated(make_inputs(study, answers, model.draw(flat, flat_coded, rng), measure)).values()
        )
    for name, n in counted.items():
        yield name, float(share[name]), n / datasets, n_false / datasets


@click.command()
@click.option("--designs", default=40, show_default=True)
@click.option("--datasets", default=200, show_default=True)
@click.option("--seed", default=1, show_default=True)
def main(designs: int, datasets: int, seed: int) -> None:
    """Print a line for each comparison of each design, and all together."""
    differences, false = [], []
    for number in range(seed, seed + designs):
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            for name, promised, told, n_false in measure_design(number, datasets):
                click.echo(
                    f"{number} {_RESPONSES[number % 4]} {name}: promised {promised:.3f}, stated "
                    f"{told:.3f}; false in {n_false:.3f} of null data sets"
                )
                differences.append(told - promised)
            false.append(n_false)
            os.chdir("/")
    error = float(np.sqrt(0.5 / datasets))
    click.echo(
        f"{len(differences)} effects: stated minus promised {np.mean(differences):+.3f} on "
        f"average, at most {np.abs(differences).max():.3f} (error of one at most {error:.3f}); "
        f"false: {np.mean(false):.4f} of {designs * datasets} null data sets"
    )


if __name__ == "__main__":
    main()
