"""Stale scores: is a model scored again whatever of it is replaced?

``python -m benchmarks.substitutions`` writes small models, scores items with ``parallax lm score``,
replaces one thing, and gives the same command again, with the same file to write. It prints what
became of it:

again     the file holds what a model without history gives after the change
refused   the command ended with an error, and the file is as it was
STALE     the file holds anything else

It fails if anything is stale, or if a change that should change scores changes none.
"""

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from textwrap import shorten
from typing import Any
from unittest.mock import patch

import pyarrow.parquet as pq
from click.testing import CliRunner

from analysis.commands.score import score
from benchmarks import planted_scores as planted
from benchmarks.substituted import (
    WEIGHTS,
    Substitution,
    adapter,
    exchanged,
    file,
    link_of_folder,
    link_of_weights,
    linked,
    lstm_weights,
    newer,
    ngram,
    other_index,
    pointing,
    scaled,
    second_shard,
    setting,
    sharded,
    tensors,
    tokenizer,
    vocabulary,
    without_merges,
)

N_ITEMS, _SHOWN = 12, 160
_C, _W = "causal/weights/config.json", f"causal/weights/{WEIGHTS}"
SUBSTITUTIONS: dict[str, Substitution] = {
    "all weights": Substitution(tensors(_W, scaled("weight"))),
    "one matrix": Substitution(tensors(_W, scaled("h.1.mlp.c_fc.weight"))),
    "weights under an old date": Substitution(tensors(_W, scaled("attn"), dated=False)),
    "two words' numbers": Substitution(tokenizer(exchanged)),
    "the tokenizer's merges": Substitution(tokenizer(without_merges)),
    "a normaliser": Substitution(
        tokenizer(lambda found: found.update(normalizer={"type": "Lowercase"}))
    ),
    "the activation": Substitution(setting(_C, activation_function="relu")),
    "an epsilon": Substitution(setting(_C, layer_norm_epsilon=0.3)),
    "the number of heads": Substitution(setting(_C, n_head=4)),
    "the beginning": Substitution(setting("causal/config.json", beginning="The")),
    "fewer layers": Substitution(setting(_C, n_layer=1)),
    "what a pointer points to": Substitution(
        tensors(_W, scaled("mlp")), "pointer", pointing("../causal/weights")
    ),
    "where a pointer points": Substitution(
        setting("pointer/config.json", model="../other/weights"),
        "pointer",
        pointing("../causal/weights"),
    ),
    "where a linked folder leads": Substitution(linked("link", "other"), "link", link_of_folder),
    "where a linked file leads": Substitution(
        linked(_W, f"other/weights/{WEIGHTS}"), before=link_of_weights
    ),
    "one of several files of weights": Substitution(second_shard, before=sharded),
    "every file of weights": Substitution(other_index, before=sharded),
    "an adapter beside the weights": Substitution(adapter),
    "a masked model's weights": Substitution(
        tensors(f"masked/weights/{WEIGHTS}", scaled("attention")), "masked"
    ),
    "a masked model's words": Substitution(
        file("masked/weights/tokenizer.json", '"<mask>"', '"<mast>"'), "masked"
    ),
    "what is hidden": Substitution(lambda _: None, "masked", options=("--pll", "original")),
    "a recurrent network's weights": Substitution(lstm_weights, "lstm"),
    "a recurrent network's words": Substitution(vocabulary, "lstm"),
    "an n-gram model's counts": Substitution(ngram, "ngram"),
    "a newer torch": Substitution(lambda _: None, around=lambda: newer("torch"), same=True),
    "newer tokenizers": Substitution(lambda _: None, around=lambda: newer("tokenizers"), same=True),
    "items under the same ids": Substitution(file("items.csv", "the", "every")),
    "weights after a killed command": Substitution(tensors(_W, scaled("attn")), killed=True),
}


def outcomes(names: Sequence[str] = tuple(SUBSTITUTIONS)) -> Iterator[tuple[str, str, str]]:
    """Yield each substitution's name, what became of it, and what was wrong."""
    with tempfile.TemporaryDirectory() as name:
        models = Path(name) / "models"
        models.mkdir()
        for kind, write in planted.MODELS.items():
            write(models / kind)
        planted.write_items(models / "items.csv")
        lines = (models / "items.csv").read_text("utf-8").splitlines(keepends=True)
        (models / "items.csv").write_text("".join(lines[: N_ITEMS + 1]), "utf-8")
        for number, one in enumerate(names):
            folder = Path(name) / str(number)
            shutil.copytree(models, folder)
            yield one, *_outcome(folder, SUBSTITUTIONS[one])


def _outcome(folder: Path, one: Substitution) -> tuple[str, str]:
    one.before(folder)
    first, said = folder / "scores.parquet", replace(one, around=nullcontext, options=())
    # A killed command leaves parts of the scores, and no file of them.
    leaves = patch("analysis.scores.shard_cache.shutil.rmtree") if one.killed else nullcontext()
    with leaves:
        if error := _scored(folder, said, first):
            return "STALE", f"the first scoring did not end: {error}"
    if one.killed:
        first.unlink()
    before = _content(first)
    one.change(folder)
    error = _scored(folder, one, first)
    fresh = folder / "fresh.parquet"
    if error:
        kept = _content(first) == before and _scored(folder, one, fresh) == error
        return ("refused", error) if kept else ("STALE", f"{error}, but the file changed")
    _scored(folder, one, fresh)
    if _content(first) != _content(fresh):
        return "STALE", "the file is not what a model without history gives"
    if before is not None and not one.same and _content(first)[0] == before[0]:
        return "STALE", "the change changes no score: it shows nothing"
    return "again", ""


def _scored(folder: Path, one: Substitution, out: Path) -> str:
    """Score a model; return the error, empty where there is none."""
    command = [folder / one.model, folder / "items.csv", "--out", out, "--device", "cpu"]
    with one.around():
        done = CliRunner().invoke(score, [*map(str, command), *one.options])
    if done.exit_code == 0:
        return ""
    return shorten(str(done.exception).replace(str(folder), "FOLDER"), _SHOWN)


def _content(path: Path) -> Any:  # noqa: ANN401
    """Return a file's scores and what they are of; None where there is no file."""
    if not path.exists():
        return None
    table = pq.read_table(path)
    about = {
        key: value for key, value in (table.schema.metadata or {}).items() if b"pandas" not in key
    }
    return table["logprob_nats"].to_pylist(), about


def main() -> None:
    """Print every outcome."""
    found = []
    for name, outcome, why in outcomes():
        print(f"{outcome:8}{name}{f': {why}' if why else ''}", flush=True)
        found.append(outcome)
    counts = ", ".join(f"{found.count(one)} {one}" for one in ("again", "refused", "STALE"))
    print(f"{len(found)} substitutions: {counts}")
    if "STALE" in found:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
