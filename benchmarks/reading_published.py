"""Published effects on reading times, from their raw files: Witzel et al. (2012).

    git clone https://github.com/vboyce/Maze
    python benchmarks/reading_published.py Maze/experiment

Boyce, Futrell & Levy (2020, Maze made easy) fitted the laboratory's raw data of Witzel, Witzel &
Forster (2012) anew, with a Bayesian mixed model of logarithms for each word position, and print the
differences in milliseconds (experiment/Code/results.md), here those of the word that tells the two
conditions apart and of the two after it. Here the same files are read by `parallax
reading import dmdx`, and each position is fitted by restricted maximum likelihood with the same
fixed and random effects. Only their labels of positions are taken over (R reads them). Their
estimates are means of a posterior with brms' default priors, so small differences are expected.
"""

import subprocess
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from analysis.readings.dmdx import read_dmdx
from analysis.statistics.laplace import RandomTerm
from analysis.statistics.linear_mixed import fit_linear

TASKS = {"SPR": "SPR", "L-maze": "L", "G-maze": "G"}
# Of each construction: its labels' file, and in list 1 the first items of the usual condition and
# of the other one; each has twelve, and list 2 has them the other way.
CONSTRUCTIONS = {
    "relative clause": ("rel", 1, 13),
    "adverb": ("adv", 49, 61),
    "S v NP": ("noun", 25, 37),
}
POSITIONS = range(3)
# What experiment/Code/results.md prints for the laboratory, by construction and position.
PUBLISHED = {
    "relative clause": {
        "SPR": (15, 23, 24),
        "L-maze": (35, 26, 21),
        "G-maze": (121, 39, 14),
    },
    "adverb": {
        "SPR": (56, 25, 15),
        "L-maze": (48, 13, 9),
        "G-maze": (216, 78, 93),
    },
    "S v NP": {
        "SPR": (17, 12, 3),
        "L-maze": (-5, -6, -6),
        "G-maze": (-7, 15, 38),
    },
}


def labels(folder: Path, name: str) -> pd.DataFrame:
    with tempfile.NamedTemporaryFile(suffix=".csv") as file:
        labelled = f"{folder}/{name}_clause_labelled.rds"
        said = f'write.csv(as.data.frame(readRDS("{labelled}")), "{file.name}")'
        subprocess.run(["Rscript", "-e", said], check=True, capture_output=True)
        return pd.read_csv(file.name)


def times(folder: Path, stem: str) -> pd.DataFrame:
    files = [folder / f"{stem}_data_{number}.txt" for number in (1, 2)]
    texts = [folder / f"Witzel2012{stem}{number}.txt" for number in (1, 2)]
    frame = read_dmdx(files, texts).frame
    item, list_ = zip(*(one.split("-") for one in frame["text_id"]), strict=True)
    frame = frame.assign(
        item_num=np.asarray(item, int), second=[one.endswith("2") for one in list_]
    )
    if stem == "SPR":
        asked = frame.drop_duplicates(["participant", "text_id"])
        right = asked["question_correct"].astype(float).groupby(asked["participant"]).mean()
        return frame[frame["participant"].map(right) > 0.8]
    return frame[frame["correct"].astype(bool)]


def of_construction(frame: pd.DataFrame, folder: Path, name: str) -> pd.DataFrame:
    file, usual, other = CONSTRUCTIONS[name]
    item = frame["item_num"]
    in_first, in_other = item.between(usual, usual + 11), item.between(other, other + 11)
    chosen = frame[in_first | in_other]
    is_other = (in_other ^ chosen["second"]).loc[chosen.index]
    known = labels(folder, file)
    known["is_other"] = known["type"].isin(["relative_high", "adverb_high", "and_no_comma"])
    known["position"] = known["word_num"] + 1
    keys = ["item_num", "is_other", "position"]
    merged = chosen.assign(is_other=is_other).merge(known.drop_duplicates(keys), "inner", on=keys)
    if "multi_word" in merged:
        moved = (merged["multi_word"] == "yes") & (merged["mod_word_number"] > 0)
        merged["mod_word_number"] -= moved
        by = ["participant", "item_num", "mod_word_number", "is_other"]
        merged = merged.groupby(by, as_index=False)["rt_ms"].mean()
    return merged


def effect_ms(rows: pd.DataFrame) -> float:
    x = rows["is_other"].to_numpy(float)
    both = np.column_stack([np.ones(len(x)), x])
    terms = [
        RandomTerm(unit, pd.factorize(rows[column])[0], ("1", "other"), both)
        for unit, column in (("item", "item_num"), ("participant", "participant"))
    ]
    found = fit_linear(np.log(rows["rt_ms"].to_numpy(float)), pd.DataFrame({"other": x}), terms)
    intercept, slope = found.coefficients["estimate"]
    return float(np.exp(intercept + slope) - np.exp(intercept))


def effects(folder: Path, name: str, task: str) -> list[float]:
    rows = of_construction(times(folder / "Witzel", TASKS[task]), folder / "Labelled", name)
    return [effect_ms(rows[rows["mod_word_number"] == position]) for position in POSITIONS]


def main() -> None:
    folder = Path(sys.argv[1])
    asked = [(name, task) for name, of_task in PUBLISHED.items() for task in of_task]
    with ProcessPoolExecutor(3) as workers:
        found = list(workers.map(partial(effects, folder), *zip(*asked, strict=True)))
    apart = []
    print("Difference in ms, printed and reproduced, at the word that tells and the two after it")
    print(f"{'construction':<16} {'task':<7} " + " ".join(f"{p:>14}" for p in POSITIONS))
    for (name, task), ours in zip(asked, found, strict=True):
        printed = PUBLISHED[name][task]
        pairs = list(zip(printed, ours, strict=True))
        apart += [(abs(a - b), name, task, p) for (a, b), p in zip(pairs, POSITIONS, strict=True)]
        print(f"{name:<16} {task:<7} " + " ".join(f"{a:>6} {b:>7.1f}" for a, b in pairs))
    worst, known = max(apart), [one[0] for one in apart]
    print(
        f"{len(known)} differences: median distance {np.median(known):.1f} ms, "
        f"{sum(one <= 5 for one in known)} within 5 ms; the largest {worst[0]:.1f} ms "
        f"({worst[1]}, {worst[2]}, position {worst[3]})"
    )


if __name__ == "__main__":
    main()
