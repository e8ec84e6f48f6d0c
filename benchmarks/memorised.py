"""How often models that were trained on copies of a study's items are found to have seen them.

Usage: python benchmarks/memorised.py [--studies 40] [--without 2000] [--lstm 3]
       [--lstm-without 200] [--copies 0 1 3 10 30 100 300] [--seed 1]

Each row trains models on a text of 3,000 sentences, generated with the words of marvin_linzen_2018
and without any of its sentences, and on so many copies of the expected versions of a small study:
ten frames of each of two templates, drawn at random. A model has been
found out if the test of the report (``analysis.findings.seen``) says that it has probably seen the
items, by 79 draws of fresh items. In the first row no model has seen any: what is found there is
false. There, twenty studies are tested on each model, since no study is in its text. At 100 copies
and more, at least 80 studies are tested with 5-grams: if all are found, the interval begins above
95 %.
"""

import argparse
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import torch
from click.testing import CliRunner

sys.path.append(str(Path(__file__).parents[1]))
from analysis.statistics.memorised import Preference, is_memorised, prefer_study
from analysis.statistics.resample import wilson_interval
from experiment.design.frames import MaterialsIndex, index_materials
from experiment.materials.fresh import draw_parallel_items, parse_parallel_id
from experiment.materials.read import load_items
from experiment.materials.render import render
from experiment.records import Item
from experiment.seeds import generator
from experiment.studies.load import load_study
from lm.registry import load_scorer
from lm.scorer import Scorer
from parallax import cli

STUDY = "marvin_linzen_2018"
COPIES = (0, 1, 3, 10, 30, 100, 300)
N_TEMPLATES, N_FRAMES, N_DRAWS, N_SENTENCES = 2, 10, 79, 3_000
MODELS = {
    "5-gram": ("--type", "ngram"),
    "LSTM": (
        *("demo_lstm", "--hidden", "64", "--embedding", "64", "--layers", "1"),
        *("--epochs", "2", "--batch", "32", "--optimizer", "adam", "--lr", "0.003"),
    ),
}
LEAST_FOUND, MOST_FALSE, AT, ENOUGH = 0.95, 0.05, 100, 80
STUDIES_PER_MODEL = 20  # without copies


def draw_study(index: MaterialsIndex, rng: random.Random) -> list[Item]:
    """Return all conditions of random frames of random templates."""
    several = [name for name in index.items if len(index.frames(name)[0].lemmas) > 1]
    return [
        item
        for template in rng.sample(sorted(several), N_TEMPLATES)
        for frame in rng.sample(index.frames(template), N_FRAMES)
        for item in index.items[template][frame.text].values()
    ]


def draw_both(index: MaterialsIndex, rng: random.Random) -> tuple[list[Item], list[Item]]:
    """Return a study and its draws; a study whose words cannot be combined otherwise is dropped."""
    while True:
        study = draw_study(index, rng)
        drawn, left_out = draw_parallel_items(index.items, study, N_DRAWS, rng)
        if not left_out:
            return study, drawn


def run(*arguments: object) -> None:
    """Run a command of Parallax."""
    result = CliRunner().invoke(cli, list(map(str, arguments)), catch_exceptions=False)
    if result.exit_code:
        sys.exit(result.output)


def train(text: Path, folder: Path, model: str, seed: int) -> Scorer:
    """Return a model trained on a text."""
    options = MODELS[model]
    if model == "LSTM":
        options = (*options, "--seed", str(seed), "--device", "cpu")
    run("lm", "train", *options, "--text", text, "--out", folder)
    return load_scorer(str(folder))


def score_items(scorer: Scorer, items: list[Item]) -> tuple[np.ndarray, np.ndarray]:
    """Return the log-probabilities of expected versions, and of their second halves."""
    rendering = render("lower_case_tokens")
    scores = scorer.score([("", rendering(item.good)) for item in items])
    tokens = [score.logprobs_nats for score in scores]
    return (
        np.array([values.sum() for values in tokens]),
        np.array([values[len(values) // 2 :].sum() for values in tokens]),
    )


def test_model(scorer: Scorer, study: list[Item], drawn: list[Item]) -> list[Preference]:
    """Return the tests of whole texts and of second halves."""
    of_study, of_draws = score_items(scorer, study), score_items(scorer, drawn)
    fresh = np.array([parse_parallel_id(item.item_id)[2] for item in drawn])
    fresh = fresh.reshape(N_DRAWS, len(study)).T
    return [
        prefer_study(own, others.reshape(N_DRAWS, len(study)).T, fresh)
        for own, others in zip(of_study, of_draws, strict=True)
    ]


def try_copies(
    index: MaterialsIndex, sentences: list[str], model: str, copies: int, studies: int, seed: int
) -> Iterator[tuple[bool, float]]:
    """Yield for each study whether it was found in the model, and its gain in nats."""
    rendering = render("lower_case_tokens")
    scorer: Scorer | None = None
    for number in range(studies):
        rng = generator(seed, "memorised", model, copies, number)
        study, drawn = draw_both(index, rng)
        if copies or scorer is None or number % STUDIES_PER_MODEL == 0:
            lines = sentences + copies * [rendering(item.good) for item in study]
            rng.shuffle(lines)
            with TemporaryDirectory() as folder:
                text = Path(folder, "text.txt")
                text.write_text("\n".join(lines) + "\n", "utf-8")
                scorer = train(text, Path(folder, "model"), model, number)
        tests = test_model(scorer, study, drawn)
        yield is_memorised(np.array([test.p for test in tests])), tests[0].gain


def count_studies(options: argparse.Namespace, model: str, copies: int) -> int:
    """Return the number of studies for a kind of model and a number of copies."""
    if model == "LSTM":
        return int(options.lstm if copies else options.lstm_without)
    if not copies:
        return int(options.without)
    return max(options.studies, ENOUGH) if copies >= AT else int(options.studies)


def main() -> None:
    """Print the table; the exit status is 1 if rates at 0 or 100 copies are not as promised."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--studies", type=int, default=40, help="5-grams for each number of copies")
    parser.add_argument("--without", type=int, default=2_000, help="studies without copies")
    parser.add_argument("--lstm", type=int, default=3, help="LSTMs for each number of copies")
    parser.add_argument("--lstm-without", type=int, default=200, help="the same without copies")
    parser.add_argument("--copies", type=int, nargs="+", default=COPIES)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(1)  # more threads do not help such small models
    study = load_study(STUDY)
    index = index_materials(load_items(study))
    with TemporaryDirectory() as folder:
        text = Path(folder, "text.txt")
        run("lm", "text", STUDY, "--sentences", N_SENTENCES, "--seed", options.seed, "--out", text)
        sentences = text.read_text("utf-8").splitlines()
    models = [model for model in MODELS if model != "LSTM" or options.lstm]
    print("| Copies | " + " | ".join(f"{name}: found | gain, nats" for name in models) + " |")
    print("|---:|" + "---:|---:|" * len(models))
    failed = False
    for copies in options.copies:
        cells = []
        for model in models:
            n = count_studies(options, model, copies)
            tried = list(try_copies(index, sentences, model, copies, n, options.seed))
            found, gains = (np.array(values) for values in zip(*tried, strict=True))
            ends = wilson_interval(int(found.sum()), n)
            cells += [
                f"{int(found.sum())} of {n} ({100 * ends.low:.0f} to {100 * ends.high:.0f} %)",
                f"{gains.mean():+.2f}",
            ]
            failed |= copies == 0 and ends.low > MOST_FALSE
            failed |= copies >= AT and ends.high < LEAST_FOUND
        print(f"| {copies} | {' | '.join(cells)} |", flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
