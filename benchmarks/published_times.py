"""Compare published reading times of others by one mapping each, beside lme4's estimate.

    python -m benchmarks.published_times CLONES [--only NAME]

CLONES is a folder of clones named OWNER+NAME; --clone prints the commands that create them. Each
table is read by ``parallax compare --times`` with its mapping (benchmarks/published_sets/times).
The output has the estimate of the authors' model on the authors' file (lme4, log milliseconds) with
its standard error, and ours: a difference of means of conditions, so both are the same where the
design is balanced. Times of Witzel et al. need Rscript, which reads the authors' labels.
"""

import argparse
import contextlib
import io
import os
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from analysis.readers.reading_times.mapped.run import read_mapped_times
from benchmarks.published_sets.place import Place
from parallax import cli
from tests.analysis.chosen_findings import compare_by

TIMES = Path(__file__).parent / "published_sets" / "times"
_BAYES, _MAZE = "vasishth/IntroductionBayes", "vboyce/Maze"
_HAHN = "m-hahn/resource-rational-surprisal"


@dataclass(frozen=True)
class PublishedTimes:
    """Published reading times.

    Attributes:
        name: What they are called here; their mapping is called the same.
        source: Who published them, in which language, and where they are compared.
        file: The table; of DMDX, the folder of its files.
        estimates: Comparison to lme4's estimate and standard error.
        task: DMDX's task, as it begins the names of its files.
        labels: The authors' labels of its texts, and whether they name words or numbers.
    """

    name: str
    source: str
    file: Place
    estimates: Mapping[str, tuple[float, float]]
    task: str = ""
    labels: tuple[str, str] = field(default=("", ""))


def _bayes(name: str, source: str, path: str, **estimates: tuple[float, float]) -> PublishedTimes:
    return PublishedTimes(name, source, Place(_BAYES, f"exercises/data/{path}"), estimates)


def _witzel(
    name: str, task: str, labels: tuple[str, str], **estimates: tuple[float, float]
) -> PublishedTimes:
    source = f"Witzel et al. (2012), English, {task}, disambiguating word"
    return PublishedTimes(name, source, Place(_MAZE, "experiment/Witzel"), estimates, task, labels)


def _hahn(name: str, study: str, file: str, *estimate: float) -> PublishedTimes:
    place = Place(_HAHN, f"experiments/maze/previous/{study}/Submiterator-master/{file}")
    source = f"Hahn et al. (2022), English, A-Maze, {study}, critical region"
    return PublishedTimes(name, source, place, {name: (estimate[0], estimate[1])})


SETS = (
    _bayes(
        "gg", "Grodner & Gibson (2005) 1, English, relative verb", "GrodnerGibson2005E1.csv",
        relative=(0.12403, 0.04932),
    ),
    _bayes(
        "gw", "Gibson & Wu (2013), Chinese, head noun", "gibsonwu2012data.txt",
        relative=(-0.07250, 0.04831),
    ),
    _bayes(
        "gwrep", "Vasishth et al. (2013), Chinese, head noun", "gibsonwu2012datarepeat.txt",
        relative=(-0.08546, 0.05931),
    ),
    _bayes(
        "husain", "Husain et al. (2014) 1, Hindi, verb", "HusainEtAlexpt1data.txt",
        distance=(-0.11493, 0.03213), type=(-0.09947, 0.02588),
    ),
    _bayes(
        "e1", "Vasishth et al. (2018) 1, German, verb", "LevyKeller2013/E1SPRlevykellerExp1.txt",
        dative=(-0.01699, 0.02891), adjunct=(-0.00917, 0.02199), interaction=(0.00388, 0.04145),
    ),
    _bayes(
        "e3", "Vasishth et al. (2018) 3, German, verb", "LevyKeller2013/E3SPRlevykellerExp2.txt",
        dative=(-0.00396, 0.03505), adjunct=(0.00053, 0.02586), interaction=(-0.03557, 0.05404),
    ),
    _bayes(
        "e5", "Vasishth et al. (2018) 5, German, verb", "LevyKeller2013/E5SPRlevykellerExp12.txt",
        load=(0.12108, 0.02246), distance=(0.00534, 0.02613), interaction=(-0.01630, 0.05375),
    ),
    _witzel("spr_rel", "SPR", ("rel_clause", "numbers"), rel=(0.04099, 0.04562)),
    _witzel("g_adv", "G", ("adv_clause", "words"), adv=(0.23246, 0.03164)),
    _witzel("l_noun", "L", ("noun_clause", "numbers"), noun=(-0.00663, 0.02466)),
    _hahn("hahn3", "study3_OneTwo", "all_trials.tsv", 0.01926, 0.07315),
    _hahn("hahn4", "study4_compatibility", "all_trials.tsv", 0.07883, 0.04534),
)  # fmt: skip


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("clones", type=Path, nargs="?", default=os.environ.get("PUBLISHED_CLONES"))
    parser.add_argument("--clone", action="store_true", help="print the commands that clone")
    parser.add_argument("--only", choices=[one.name for one in SETS], action="append")
    options = parser.parse_args()
    if options.clone:
        for repository in sorted({one.file.repository for one in SETS}):
            target = repository.replace("/", "+")
            print(f'git clone --depth 1 https://github.com/{repository} "$CLONES/{target}"')
        return
    if options.clones is None:
        parser.error("which clones? Name the folder")
    for one in SETS:
        if not options.only or one.name in options.only:
            print(one.name, one.source, sep=": ")
            for line in compare(one, Path(options.clones)):
                print(f"  {line}", flush=True)


def compare(times: PublishedTimes, clones: Path) -> list[str]:
    """Return a line for each comparison: lme4's estimate, ours, and how far apart they are."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        table, texts = folder / Path(times.file.path).name, None
        if times.task:
            table, texts = _read_dmdx(times, clones, folder)
        else:
            times.file.copy(clones, table)
        read = read_mapped_times(table, TIMES / f"{times.name}.toml", texts)
        found = compare_by(["comparisons"], read.run).statistics["comparisons"]
    ours = found.set_index("name")
    lines = []
    for comparison, (estimate, error) in times.estimates.items():
        row = ours.loc[comparison]
        apart = abs(row["estimate"] - estimate) / error
        lines.append(
            f"{comparison}: lme4 {estimate:.4f} (SE {error:.4f}), ours {row['estimate']:.4f} "
            f"({row['low']:.4f} to {row['high']:.4f}), {apart:.2f} SE apart; "
            f"{row['n_observations']:,.0f} times of {row['n_participants']:.0f} participants"
        )
    return lines


def _read_dmdx(times: PublishedTimes, clones: Path, folder: Path) -> tuple[Path, Path]:
    """Return the imported times and their texts with the authors' labels."""
    table, labels, texts = folder / "times.tsv", folder / "labels.rds", folder / "texts.csv"
    results = [folder / f"{times.task}_data_{group}.txt" for group in (1, 2)]
    lists = [folder / f"Witzel2012{times.task}{group}.txt" for group in (1, 2)]
    for path in (*results, *lists):
        Place(_MAZE, f"{times.file.path}/{path.name}").copy(clones, path)
    words = ["reading", "import", "dmdx", *results, "--out", table]
    for one in lists:
        words += ["--texts", one]
    with contextlib.redirect_stdout(io.StringIO()):
        cli([str(word) for word in words], standalone_mode=False)
    which, named = times.labels
    Place(_MAZE, f"experiment/Labelled/{which}_labelled.rds").copy(clones, labels)
    script = ["Rscript", str(TIMES / "texts.R"), str(table), str(labels), str(texts), named]
    subprocess.run(script, check=True, capture_output=True)
    return table, texts


if __name__ == "__main__":
    main()
