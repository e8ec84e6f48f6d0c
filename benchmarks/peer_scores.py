"""Compare scores of BLiMP-shaped pairs, item by item, with lm-evaluation-harness and minicons.

Usage: python benchmarks/peer_scores.py [--peers FOLDER] [--keep FOLDER]

The transformer, of GPT-2's shape with random weights, is built locally, so nothing is downloaded.
FOLDER is that of the peers' environment, which is created if necessary; without it only our scores
are computed. --keep saves the peers' scores, with which the tests compare on every machine.
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import pyarrow.parquet as pq
from scoring_venv import python_of

sys.path.append(str(Path(__file__).parents[1]))
from parallax import cli
from tests.lm.blimp_shaped import write_gpt2, write_pairs

PEER = Path(__file__).with_name("peer_scores_elsewhere.py")


def main() -> None:
    """Print the largest difference of a sentence's score from each peer."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peers", type=Path)
    parser.add_argument("--keep", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        write_gpt2(folder / "gpt2")
        write_pairs(folder)
        ours = {name: own_scores(folder, name) for name in ("toy_blimp.yaml", "blimp.jsonl")}
        print(f"ours: {len(ours['blimp.jsonl'])} sentences")
        python = python_of(options.peers) if options.peers else None
        if python is None:
            print("lm-evaluation-harness and minicons are left out")
            return
        subprocess.run([python, str(PEER), str(folder)], check=True)
        samples, tokens = folder / "samples_toy_blimp.jsonl", folder / "minicons.csv"
        worst("lm-evaluation-harness", ours["toy_blimp.yaml"], of_samples(samples))
        worst("minicons", ours["blimp.jsonl"], of_tokens(tokens))
        if options.keep:
            for path in (samples, tokens):
                shutil.copy(path, options.keep / path.name)


def own_scores(folder: Path, materials: str) -> list[float]:
    """Return our sentences' scores, good and bad in turns."""
    out = folder / f"{materials}.parquet"
    words = ["lm", "score", f"hf:{folder / 'gpt2'}", str(folder / materials), "--out", str(out)]
    with redirect_stdout(StringIO()):
        cli.main(words, standalone_mode=False)
    return pq.read_table(out)["logprob_nats"].to_pylist()


def of_samples(path: Path) -> list[float]:
    """Return the scores in a file of samples, good and bad in turns."""
    lines = map(json.loads, path.read_text("utf-8").splitlines())
    return [float(choice[0][0]) for line in lines for choice in line["resps"]]


def of_tokens(path: Path) -> list[float]:
    """Return the sums of a table of tokens, a sentence after the other."""
    sums: dict[str, float] = {}
    for line in path.read_text("utf-8").splitlines()[1:]:
        number, *_, logprob = line.split(",")
        sums[number] = sums.get(number, 0.0) + float(logprob)
    return list(sums.values())


def worst(peer: str, ours: list[float], theirs: list[float]) -> None:
    """Print how far the two are from each other."""
    difference = max(abs(a - b) for a, b in zip(ours, theirs, strict=True))
    turned = sum(
        (ours[n] > ours[n + 1]) != (theirs[n] > theirs[n + 1]) for n in range(0, len(ours), 2)
    )
    print(f"{peer}: largest difference of a sentence {difference:.1e} nats, "
          f"{turned} of {len(ours) // 2} decisions differ")  # fmt: skip


if __name__ == "__main__":
    main()
