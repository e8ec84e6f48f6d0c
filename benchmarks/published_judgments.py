"""Import published judgments in their original files, and compare with the published accuracies.

Usage: python benchmarks/published_judgments.py RAW SUMMARY

RAW is BLiMP's raw batch from MTurk (blimp_human_validation_rawMTurk.csv), SUMMARY its table of
human accuracies (human_validation_summary.csv); https://github.com/alexwarstadt/blimp has both in
its history, in raw_results/, at commits 9b329fe and d7b95ad. The batch shows each pair in only one
order, so the first sentence identifies the pair.
"""

import argparse
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd

_IN_ONE_HIT = range(1, 6)
_CHECK = "attnchk"
_ANSWER = -len("ans1")
_ROUNDED = 5e-5
MAPPING = """
wide = true
skip_blank = ["chosen"]
[columns]
participant = "anonCode"
item = "Input.field_{n}_1"
chosen = "Answer.Choice{n}"
good_side = "Input.item_{n}_condition"
[values.chosen]
"1. *" = "first"
"2. *" = "second"
[values.good_side]
"*ans1" = "first"
"*ans2" = "second"
[drop]
AssignmentStatus = "Rejected"
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("raw", type=Path)
    parser.add_argument("summary", type=Path)
    options = parser.parse_args()
    raw = pd.read_csv(options.raw, dtype=str, keep_default_na=False)
    published = pd.read_csv(options.summary).set_index("Condition")
    with TemporaryDirectory() as name:
        judged = imported(options.raw, items(raw), Path(name))
    compared(judged, published)


def items(raw: pd.DataFrame) -> pd.DataFrame:
    """Return the batch's pairs as a table of items."""
    names = ["condition", "first", "second"]
    shown = [
        raw[[f"Input.item_{n}_condition", f"Input.field_{n}_1", f"Input.field_{n}_2"]].set_axis(
            names, axis=1
        )
        for n in _IN_ONE_HIT
    ]
    pairs = pd.concat(shown).drop_duplicates("first")
    good_first = pairs["condition"].str.endswith("1")
    construction = pairs["condition"].str[:_ANSWER]
    return pd.DataFrame(
        {
            "item_id": pairs["first"],
            "kind": (construction == _CHECK).map({True: "catch", False: "target"}),
            "construction": construction,
            "condition": construction,
            "template": "",
            "features": "",
            "frame": "",
            "context": "",
            "good": pairs["first"].where(good_first, pairs["second"]),
            "bad": pairs["second"].where(good_first, pairs["first"]),
            "distractor": "",
            "contrast": "bad",
        }
    )


def imported(raw: Path, pairs: pd.DataFrame, folder: Path) -> pd.DataFrame:
    """Return the judgments that ``parallax import judgments`` writes, with their constructions."""
    pairs.to_csv(folder / "items.csv", index=False)
    (folder / "mapping.toml").write_text(MAPPING, encoding="utf-8")
    files = ["--items", folder / "items.csv", "--mapping", folder / "mapping.toml"]
    command = [sys.executable, "-m", "parallax", "import", "judgments", raw, *files]
    subprocess.run([*map(str, command), "--yes", "--out", str(folder / "out")], check=True)
    found = pd.read_csv(folder / "out" / "judgments.csv", dtype=str)
    known = pairs.set_index("item_id")["construction"]
    return found.assign(
        construction=found["item"].map(known), right=found["chosen"] == "good"
    ).query("construction != @_CHECK")


def compared(judged: pd.DataFrame, published: pd.DataFrame) -> None:
    """Print how far each construction's accuracy is from the published one."""
    each = judged.groupby("construction")["right"].agg(["mean", "size"])
    of_items = judged.groupby(["construction", "item"])["right"].mean()
    each["items"] = of_items.groupby("construction").mean()
    both = each.join(published, how="inner")
    print(f"{len(both)} constructions, {int(both['size'].sum())} judgments", end="")
    print(f" ({int(both['count'].sum())} published)")
    for name, column in (("judgments alike", "mean"), ("items alike", "items")):
        apart = (both[column] - both["total_mean"]).abs()
        print(f"{name}: mean {both[column].mean():.4f}, published {both['total_mean'].mean():.4f};")
        print(
            f"  furthest apart {apart.max():.4f} ({apart.idxmax()}), equal {(apart < 5e-5).sum()}"
        )


if __name__ == "__main__":
    main()
