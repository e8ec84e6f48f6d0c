"""Compare the same model participants' runs in process and over HTTP: the rows must be identical.

python -m benchmarks.takers_http [--comparisons 50]

Each comparison uses another model: a recurrent network with random weights that knows the words of
the prompts. It takes a session in both orders, with one of the three sets of labels in turn, in
process and behind the stand-in server.
"""

import argparse
import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread

import pandas as pd
import torch

from analysis.takers.lesson_text import write_lessons
from analysis.takers.plan import Factors
from analysis.takers.run import Request, run_take
from experiment.studies.load import load_study
from experiment.takers.prompt import Context
from lm.answering.answerer import Tier
from lm.answering.spec import Terms
from lm.answering.stand_in import ServedModel, StandIn
from lm.corpora.vocab import STREAM_WORDS, vocabulary_by_frequency, write_vocabulary
from lm.registry import load_scorer
from lm.rnn.folder import VOCABULARY, WEIGHTS, save_weights
from lm.rnn.network import NetworkShape, build_network

NOW = datetime(2026, 11, 25, tzinfo=UTC)
STUDY = "minimal"
LABELS = ("numbers", "letters", "late_letters")
# What an answer is, whoever gave it; the model's name and the time differ by what they are.
ANSWERS = {
    "responses": ("participant", "position", "item_id", "chosen_side", "chose_good"),
    "readings": ("participant", "position", "item_id", "outcome"),
    "asked": ("participant", "position", "ask", "prompt_sha256", "answers"),
    "verdicts": ("participant", "kept", "rule", "evidence"),
}


def network(folder: Path, seed: int) -> Path:
    """Write a network with random weights that knows every word of the study's prompts."""
    folder.mkdir(parents=True)
    text = folder / "text.txt"
    write_lessons(text, load_study(STUDY), 600, 1, 1)
    words = dict.fromkeys(text.read_text("utf-8").split(), 1)
    vocabulary = vocabulary_by_frequency(words, min_count=0, special=STREAM_WORDS)
    torch.manual_seed(seed)
    sizes = {"embedding_size": 24, "hidden_size": 24, "layers": 1}
    shape = {"kind": "lstm", "vocabulary_size": len(vocabulary.words), **sizes}
    made = build_network(NetworkShape.from_config(shape))
    save_weights(made, folder / WEIGHTS)
    write_vocabulary(folder / VOCABULARY, vocabulary)
    config = {"type": "recurrent", "network": made.shape.to_config(), "name": "random"}
    (folder / "config.json").write_text(json.dumps({**config, "trained_on": "nothing"}))
    return folder


@contextmanager
def served(model: Path) -> Iterator[str]:
    """Serve a model and give the name by which it is asked."""
    with StandIn(ServedModel(load_scorer(model)), "random", Tier.TEXT) as server:
        thread = Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"api:{server.url}#random"
        finally:
            server.shutdown()
            thread.join()


def differing(
    model: Path, folder: Path, labels: tuple[str, ...] = LABELS, n_sessions: int = 2
) -> tuple[int, int, float]:
    """Return how many rows there are, how many differ, and by how much log-probabilities do."""
    _take(str(model), folder / "here", labels, n_sessions)
    with served(model) as address:
        _take(address, folder / "there", labels, n_sessions)
    n = different = 0
    for table, columns in ANSWERS.items():
        one, other = (_rows(folder / where, table) for where in ("here", "there"))
        n += len(one)
        different += len(one) if len(one) != len(other) else _unlike(one, other, list(columns))
    numbers = [_rows(folder / where, "asked")["logprobs_nats"] for where in ("here", "there")]
    pairs = zip(*(numbers[0].map(json.loads), numbers[1].map(json.loads)), strict=True)
    worst = max(abs(a - b) for x, y in pairs for a, b in zip(x, y, strict=True))
    return n, different, worst


def _unlike(one: pd.DataFrame, other: pd.DataFrame, columns: list[str]) -> int:
    left, right = (frame[columns].astype(str).to_numpy() for frame in (one, other))
    return int((left != right).any(axis=1).sum())


def _rows(folder: Path, table: str) -> pd.DataFrame:
    return pd.read_csv(folder / "forced_choice" / f"{table}.csv", keep_default_na=False)


def _take(model: str, out: Path, labels: tuple[str, ...], n_sessions: int) -> None:
    factors = Factors((Context.ZERO_SHOT,), labels, (False, True))
    own = Terms(price_in=0.0, price_out=0.0)
    request = Request(
        STUDY, model, ("forced_choice",), factors, n_sessions, 1, False, "cpu", out, terms=own
    )  # fmt: skip
    list(run_take(request, NOW))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--comparisons", type=int, default=50)
    n = parser.parse_args().comparisons
    # Client and server are threads of this process; more of PyTorch's would wait for each other.
    torch.set_num_threads(1)
    found = []
    for seed in range(n):
        with TemporaryDirectory() as folder:
            model = network(Path(folder) / "model", seed)
            found.append(differing(model, Path(folder), (LABELS[seed % len(LABELS)],), 1))
    rows, different = (sum(one[place] for one in found) for place in (0, 1))
    print(f"{n} comparisons, {rows:,} rows of {', '.join(ANSWERS)}: {different} differ")
    print(f"log-probabilities differ by at most {max(one[2] for one in found):.1e} nats")


if __name__ == "__main__":
    main()
