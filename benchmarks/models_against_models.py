"""Three models of different sizes against each other, from scores that others published.

python -m benchmarks.models_against_models CLONES [--out DIR]

CLONES is a folder of clones as for benchmarks/published_imports.py. Hu & Frank (2024) published
the log-probabilities of both sentences of 650 pairs of BLiMP by models of several sizes. They are
imported with ``parallax import scores``, each pair under its paradigm of BLiMP, and compared with
``parallax lm paired``, whose first table is printed. With --out the whole page is kept.
"""

import argparse
import contextlib
import io
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from benchmarks.published_sets.one import Place
from parallax import cli

MODELS = ("Llama-2-7b-hf", "Llama-2-13b-hf", "Llama-2-70b-hf")
_REPOSITORY = "jennhu/lm-task-demands"
_MARGIN = 0.02


def page(clones: Path, out: Path, models: Sequence[str] = MODELS) -> str:
    """Compare the models, write the page to a folder, and return its first table as Markdown."""
    with tempfile.TemporaryDirectory() as name:
        folder, logs = Path(name), []
        for model in models:
            scores = folder / f"{model}.csv"
            Place(_REPOSITORY, f"output/blimp/{model}.csv").copy(clones, scores)
            items = folder / f"items_{model}.csv"
            _items(pd.read_csv(scores, dtype=str)).to_csv(items, index=False)
            columns = [
                part
                for version in ("good", "bad")
                for part in (
                    "--column",
                    f"logprob_{version}=direct_sum_logprob_{version}_sentence",
                )
            ]
            imported = folder / model
            _call("import", "scores", scores, "--items", items, "--model", model,
                  *columns, "--out", imported)  # fmt: skip
            [found] = imported.glob("scores_*.parquet")
            logs.append(f"{model.removesuffix('-hf')}={found}")
        _call("lm", "paired", *logs, "--margin", _MARGIN, "--out", out)
        written = (out / "paired.md").read_text("utf-8")
        # Where the files lay on this machine tells nobody anything.
        return written.replace(f"{folder}/", "")


def _items(rows: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "item_id": rows["item_id"],
            "construction": rows["blimp_UID"],
            "good": rows["good_sentence"],
            "bad": rows["bad_sentence"],
        }
    )


def _call(*command: object) -> None:
    with contextlib.redirect_stdout(io.StringIO()):
        cli([str(one) for one in command], standalone_mode=False)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("clones", type=Path, nargs="?", default=os.environ.get("PUBLISHED_CLONES"))
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    if options.clones is None:
        parser.error("which clones? Name the folder, or set PUBLISHED_CLONES")
    with tempfile.TemporaryDirectory() as name:
        print(page(options.clones, options.out or Path(name) / "paired"))


if __name__ == "__main__":
    main()
