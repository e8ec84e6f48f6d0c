"""One study of each type that is read: simulated, exported, compared with two models.

Usage: python -m benchmarks.reading_types [--per-list 10] [--only NAME] [--keep FOLDER]

The two models, an n-gram model of order 3 and a unigram model, are made once, of the sentences of
this repository's documentation. Of each example (docs/examples) simulated people take the sessions
at a server through its pages; the export is scored with `parallax reading surprisal` or `parallax
lm score` and given to `parallax compare`. A line for each report: the readings or answers in it,
the models that the report names, the tables that have intervals, and what it says was left out.
Ends with exit status 1 if a report lacks a model, a table of its measures or their intervals.
"""

import argparse
import json
import logging
import re
import shutil
import sys
import tempfile
import textwrap
from dataclasses import dataclass
from pathlib import Path

from click.testing import CliRunner

import parallax
from experiment.studies.load import load_study
from tests.whole_way import exported

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = ROOT / "docs" / "examples"
MODELS = {"trigram": ("ngram", "--order", "3"), "unigram": ("unigram",)}
# Of the resampled intervals, which are there or not.
RESAMPLES = 200
READ = ("reading_times", "reading_effects", "surprisal_times")
MAZE = (*READ, "maze_accuracy")
# What a report says of the rule below.
LEFT_OUT = re.compile(r"[\d,]+ of [\d,]+ reading times were left out")
RULE = "\n[analysis]\nmost_rt_ms = 1000\n"
RATED = ("ratings", "ratings_and_models")


@dataclass(frozen=True)
class Case:
    """A study of one type.

    Attributes:
        example: The folder below docs/examples.
        wanted: The statistics that its report must have; of several tasks, in any of the reports.
        change: What is changed in its study.toml, before and after.
        commands: The model's commands whose tables it takes: surprisal, score.
    """

    example: str
    wanted: tuple[str, ...]
    change: tuple[str, str] = ("", "")
    commands: tuple[str, ...] = ("surprisal",)


CENTRED = ('display = "moving"', 'display = "centred"')
BOTH = ("surprisal", "score")
CASES = {
    "maze": Case("maze", MAZE),
    "moving window": Case("self_paced", (*READ, "reading_questions")),
    "centred": Case("self_paced", (*READ, "reading_questions"), CENTRED),
    "read, then rate": Case("read_then_rate", (*READ, *RATED), commands=BOTH),
    "deadline": Case(
        "deadline", ("late_answers", "models_compared", "people_minus_models"), commands=("score",)
    ),
    "mixed": Case("mixed", (*READ, "ratings_and_models"), commands=BOTH),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--per-list", type=int, default=10, help="people of each list")
    parser.add_argument("--only", choices=CASES, help="one study alone")
    parser.add_argument("--keep", type=Path, help="where the reports stay")
    options = parser.parse_args()
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    failed = False
    with tempfile.TemporaryDirectory() as place:
        models = trained(Path(place))
        for name in [options.only] if options.only else CASES:
            folder = (options.keep or Path(place)) / name.replace(", ", "_").replace(" ", "_")
            told = compared(CASES[name], models, folder, options.per_list)
            wrapped = [textwrap.fill(line, 96, initial_indent="  ", subsequent_indent="    ")
                       for line in told]  # fmt: skip
            print("\n".join([name, *wrapped]), flush=True)
            failed |= any(line.startswith("LACKS") for line in told)
    sys.exit(failed)


def command(*words: str | Path) -> str:
    """Run a command of Parallax in this process, and return what it printed."""
    result = CliRunner().invoke(parallax.cli, list(map(str, words)), catch_exceptions=False)
    if result.exit_code:
        sys.exit(f"parallax {' '.join(map(str, words))}\n{result.output}")
    return result.output


def trained(folder: Path, pages: str = "*.md") -> list[Path]:
    """Train both models on the sentences of documentation's pages, and return their folders."""
    prose = "\n".join(path.read_text("utf-8") for path in sorted(ROOT.glob(f"docs/{pages}")))
    prose = re.sub(r"(?s)```.*?```|<!--.*?-->|`[^`]*`|\]\([^)]*\)", " ", prose).lower()
    words = (re.findall(r"[a-z']+", line) for line in re.split(r"[.:?!]\s", prose))
    text = folder / "text.txt"
    text.write_text("".join(f"{' '.join(line)} .\n" for line in words if len(line) > 2), "utf-8")
    for name, kind in MODELS.items():
        command("lm", "train", "--type", *kind, "--text", text, "--out", folder / name, "--name",
                name)  # fmt: skip
    return [folder / name for name in MODELS]


def compared(case: Case, models: list[Path], folder: Path, per_list: int) -> list[str]:
    """Take an example the whole way, and return what its reports have and lack."""
    study = shutil.copytree(EXAMPLES / case.example, folder / "study" / case.example)
    toml = (study / "study.toml").read_text("utf-8")
    assert case.change[0] in toml
    people = f"participants_per_list = {per_list}"
    toml = re.sub(r"participants_per_list = \d+", people, toml).replace(*case.change)
    # Tables come in any order; the rule is of what is read.
    toml += RULE if "surprisal" in case.commands else ""
    (study / "study.toml").write_text(toml, encoding="utf-8")
    export = exported(load_study(str(study)), folder / "instance")
    options: list[str | Path] = []
    for model in models:
        if "surprisal" in case.commands:
            table = folder / f"{model.name}.tsv"
            command("reading", "surprisal", model, export, "--out", table)
            options += ["--surprisal", table]
        if "score" in case.commands:
            table = folder / f"{model.name}.parquet"
            command("lm", "score", model, study, "--out", table)
            options += ["--scores", table]
    report = folder / "report"
    command("compare", "--run", export, *options, "--resamples", str(RESAMPLES), "--no-figures",
            "--out", report)  # fmt: skip
    return read(report, case, [model.name for model in models])


def read(report: Path, case: Case, models: list[str]) -> list[str]:
    """Return lines for each report below a folder, and one for whatever is lacking."""
    told, found = [], set()
    for path in sorted(report.glob("**/results.json")):
        statistics = json.loads(path.read_text("utf-8"))["statistics"]
        page = (path.parent / "report.html").read_text("utf-8")
        beside = [model for model in models if model in page]
        ranges = {name: ranged(rows) for name, rows in statistics.items() if ranged(rows)}
        found |= set(ranges)
        measures = ", ".join(f"{name} {number}" for name, number in sorted(ranges.items()))
        told.append(f"{path.parent.name} beside {', '.join(beside)}: {measures}")
        told += [f"left out: {words}" for words in LEFT_OUT.findall(page)]
        told += [f"LACKS {model}" for model in models if model not in beside]
    return [*told, *(f"LACKS {name} with intervals" for name in case.wanted if name not in found)]


def ranged(rows: list[dict[str, object]]) -> int:
    """Count the rows of a statistic that have an interval."""
    return sum(any(key.endswith("low") and row[key] is not None for key in row) for row in rows)


if __name__ == "__main__":
    main()
