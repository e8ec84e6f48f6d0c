"""Read files of others with the commands that researchers run, and check the numbers.

    python -m benchmarks.public_files [CLONES] [--only NAME] [--clone] [--files TOML]

CLONES (default: PUBLISHED_CLONES) is a folder of clones named OWNER+NAME; --clone prints the
commands that create them. public_files.toml names each file with its commit and licence, what is
run, and the right number: published, or computed from the file by an expression of pandas, which
shares no code with the readers. A file without such a number must be refused, for a reason that
the expression in ``refused`` finds in the message.

It prints a line of CSV for each file, then the verdicts by kind of file. Each file ends as "read"
(to its number), "refused" (for a true reason), "not read" (refused although it has a number, or for
another reason), or "WRONG" (read to another number).
"""

import argparse
import contextlib
import csv
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import tomllib
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import click
import numpy as np
import pandas as pd
import rdata

from experiment.errors import ParallaxError
from parallax import cli

REGISTRY = Path(__file__).with_suffix(".toml")
READ, REFUSED, NOT_READ, WRONG, ABSENT = "read", "refused", "not read", "WRONG", "absent"
_DELIMITERS = {".csv": ",", ".tsv": "\t", ".tab": "\t"}
_ITEMS = {
    2: ["item_id", "sentence"],
    4: ["item_id", "context", "good", "bad"],
    6: ["item", "option_1", "option_2", "option_3", "option_4", "answer"],
}
_OWN_ITEMS = "items_of_file.csv"
_LONGEST = 300
_VERDICTS = (READ, REFUSED, NOT_READ, WRONG)
_CONTENTS = {
    "study": "items", "judgments": "answers", "scores": "models' scores", "times": "reading times",
}  # fmt: skip
_FORMS = {
    **dict.fromkeys((".csv", ".tsv", ".tab", ".txt"), "text table"),
    **dict.fromkeys((".json", ".jsonl"), "JSON"),
    **dict.fromkeys((".js", ".itm", ""), "program of Ibex or Linger"),
    **dict.fromkeys((".rds", ".RData"), "file of R"),
    **dict.fromkeys((".zip", ".gz"), "archive"),
}


@dataclass(frozen=True)
class PublicFile:
    """One file of others.

    Attributes:
        name: What it is called here.
        repository: Its owner and name on GitHub.
        commit: The commit that has it.
        licence: What it may be used for.
        path: The file in the repository.
        run: What is run: study, judgments, scores or times.
        right: The number that is right, as an expression; of ``t``, the file's table.
        source: Where the number was published; empty if it is computed.
        refused: What a true reason to refuse the file contains, as a regular expression.
        options: More options of the command.
        mapping: The text of the mapping.
        items: The file of the same repository with the items.
        table: An expression for the items, where the file itself has their texts.
        ours: What is compared of ``i``, our table, if not the usual numbers.
        read: Options of pandas for the file.
    """

    name: str
    repository: str
    commit: str
    licence: str
    path: str
    run: str
    right: str = ""
    source: str = ""
    refused: str = ""
    options: Sequence[str] = ()
    mapping: str = ""
    items: str = ""
    table: str = ""
    ours: str = ""
    read: Mapping[str, object] = field(default_factory=dict)

    def fetch(self, clones: Path, folder: Path) -> bool:
        """Write the file and its items into a folder; return whether the clone has them."""
        clone = clones / self.repository.replace("/", "+")
        clone = clone / "repo" if (clone / "repo").is_dir() else clone
        for path in filter(None, (self.path, self.items)):
            content = _content(clone, f"{self.commit}:{path}")
            if content is None:
                return False
            (folder / Path(path).name).write_bytes(content)
        return True

    def prepare(self, folder: Path) -> Path:
        """Write the mapping and the items beside the file; return the file."""
        path = folder / Path(self.path).name
        if self.mapping:
            (folder / "mapping.toml").write_text(self.mapping, encoding="utf-8")
        if self.table:
            source = (self.repository, self.path, self.table)
            if source not in _own_items:
                _own_items[source] = self._items(load(path, self.read))
            (folder / _OWN_ITEMS).write_text(_own_items[source], encoding="utf-8")
        return path

    def _items(self, table: object) -> str:
        columns = evaluate(self.table, t=table)
        items = pd.DataFrame(dict(zip(_ITEMS[len(columns)], columns, strict=True)))
        return items.drop_duplicates().to_csv(index=False)


# The tables of items that files have within themselves, by repository, path and expression.
_own_items: dict[tuple[str, str, str], str] = {}


@cache
def _content(clone: Path, blob: str) -> bytes | None:
    """Return the content of a commit's file; None if the clone lacks it."""
    command = ["git", "-c", "safe.directory=*", "-C", str(clone), "show", blob]
    done = subprocess.run(command, capture_output=True, check=False)
    return None if done.returncode else done.stdout


@dataclass(frozen=True)
class Outcome:
    """What became of a file: its verdict, and the numbers or the message behind it."""

    verdict: str
    expected: str
    got: str


def files(registry: Path = REGISTRY) -> list[PublicFile]:
    """Return the files of a registry, in its order."""
    told = tomllib.loads(registry.read_text("utf-8"))
    return [
        PublicFile(name, **told["repositories"][entry["repository"]], **entry)
        for name, entry in told["files"].items()
    ]


def load(path: Path, read: Mapping[str, object]) -> pd.DataFrame | dict | list[str]:
    """Return a file as pandas reads it, without any of our readers."""
    if path.suffix.lower() in (".rds", ".rdata"):
        return _load_r(path, **read)
    if path.suffix in {".json", ".jsonl"}:
        content = path.read_text("utf-8")
        if content.startswith("{") and "}\n{" in content:
            return pd.read_json(path, lines=True, dtype=False)
        return json.loads(content)
    if path.suffix == ".js" or (path.suffix == ".txt" and set(read) <= {"encoding"}):
        return path.read_text(str(read.get("encoding", "utf-8"))).splitlines()
    options = {"sep": _DELIMITERS.get(path.suffix), "dtype": str, "keep_default_na": False}
    return pd.read_csv(path, **{**options, **read})


def _load_r(path: Path, name: str = "") -> pd.DataFrame:
    """Return a data frame of a file of R, with every value as text."""
    with warnings.catch_warnings():
        # The library warns of classes that it reads as plain data frames.
        warnings.simplefilter("ignore")
        content = rdata.read_rda(path)[name] if name else rdata.read_rds(path)
    return content.astype(object).map(lambda value: "" if pd.isna(value) else str(value))


def texts(*columns: Sequence[str]) -> list[float]:
    """Return the number of texts, and the letters of each version without white space."""
    return [len(columns[0]), *(sum(len("".join(text.split())) for text in c) for c in columns)]


def answers(values: pd.Series, participants: pd.Series) -> list[float]:
    """Return the number of answers, of participants, and the mean answer."""
    return [len(values), participants.nunique(), values.astype(float).mean()]


def scored(good: Sequence[float], bad: Sequence[float]) -> list[float]:
    """Return the number of pairs, the share with good above bad, and the mean difference."""
    good, bad = np.asarray(good), np.asarray(bad)
    return [len(good), float((good > bad).mean()), float((good - bad).mean())]


def slowdown(rt_ms: pd.Series, condition: pd.Series, slow: str, fast: str) -> list[float]:
    """Return the number of times, and the difference of two conditions' mean log times."""
    means = np.log(rt_ms.astype(float)).groupby(condition).mean()
    return [len(rt_ms), float(means[slow] - means[fast])]


_KNOWN = {
    "pd": pd, "re": re, "texts": texts, "answers": answers, "scored": scored, "slowdown": slowdown,
}  # fmt: skip


def evaluate(expression: str, **tables: object) -> list:
    """Return the value of an expression of the registry."""
    return eval(expression, {**_KNOWN, **tables})


def _of_study(folder: Path) -> pd.DataFrame:
    (table,) = (folder / "out").glob("items.*")
    return pd.read_csv(table, sep="\t", dtype=str, keep_default_na=False)


def _study_numbers(i: pd.DataFrame) -> list[float]:
    versions = [i.context + i.good, *((i.context + i.bad,) if i.bad.any() else ())]
    return texts(*versions, *((i.context + i.distractor,) if i.distractor.any() else ()))


def _of_judgments(folder: Path) -> pd.DataFrame:
    return pd.read_csv(folder / "out" / "judgments.csv", dtype={"participant": str, "item": str})


def _judgments_numbers(i: pd.DataFrame) -> list[float]:
    kind = next(name for name in ("rating", "said_yes", "chosen") if name in i)
    values = {"chosen": i.get("chosen") == "good", "said_yes": i.get("said_yes")}
    return answers(values.get(kind, i.get("rating")), i.get("participant", pd.Series()))


def _of_scores(folder: Path) -> pd.DataFrame:
    # Published tables also give the frequencies of words, as scores of a unigram model.
    tables = [path for path in (folder / "out").glob("scores_*") if "unigram" not in path.name]
    if not tables:
        raise ParallaxError("no model was scored")
    return pd.read_parquet(tables[0])


def _scores_numbers(i: pd.DataFrame) -> list[float]:
    wide = i.pivot(index="item_id", columns="variant", values="logprob_nats")
    return scored(wide["good"], wide["bad"])


def _of_times(folder: Path) -> pd.DataFrame:
    told = json.loads((folder / "out" / "results.json").read_text("utf-8"))
    return pd.DataFrame(told["statistics"]["comparisons"])


def _times_numbers(i: pd.DataFrame) -> list[float]:
    return [float(i.n_observations.iloc[0]), float(i.estimate.iloc[0])]


_RUNS = {
    "study": (_of_study, _study_numbers),
    "judgments": (_of_judgments, _judgments_numbers),
    "scores": (_of_scores, _scores_numbers),
    "times": (_of_times, _times_numbers),
}


def command(file: PublicFile, path: Path, folder: Path) -> list[str]:
    """Return the words of the command that reads a file into the folder's ``out``."""
    out, mapping = str(folder / "out"), ["--mapping", str(folder / "mapping.toml")]
    items = folder / (Path(file.items).name if file.items else _OWN_ITEMS)
    items = study if (study := folder / "study").is_dir() else items
    known = ["--items", str(items)] if items.exists() else []
    mapped = mapping if file.mapping else []
    words = {
        "study": ["study", "new", out, "--from", str(path)],
        "judgments": ["import", "judgments", str(path), *known, *mapped, "--out", out, "--yes"],
        "scores": ["import", "scores", str(path), *known, "--out", out],
        "times": [
            *("compare", "--times", str(path), *mapped, "--out", out),
            *("--resamples", "100", "--no-figures"),
        ],
    }
    return [*words[file.run], *file.options]


def _are_single(items: Path) -> bool:
    return items.is_file() and items.read_text("utf-8").startswith(f"{','.join(_ITEMS[2])}\n")


def attempt(file: PublicFile, path: Path, folder: Path) -> tuple[list[float], str]:
    """Run a file's command; return our numbers, and why there are none.

    A reason that begins with "trace" is no message of ours.
    """
    table_of, numbers = _RUNS[file.run]
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            if file.run == "scores" and _are_single(folder / _OWN_ITEMS):
                # Single sentences that were scored are a study's.
                words = ["study", "new", str(folder / "study"), "--from", str(folder / _OWN_ITEMS)]
                cli(words, standalone_mode=False)
            cli(command(file, path, folder), standalone_mode=False)
        ours = table_of(folder)
        got = evaluate(file.ours, i=ours) if file.ours else numbers(ours)
        return [float(number) for number in got], ""
    except (ParallaxError, click.ClickException) as error:
        return [], error.format_message() if isinstance(error, click.ClickException) else str(error)
    except Exception:
        return [], f"trace: {traceback.format_exc().strip().splitlines()[-1]}"


def alike(ours: Sequence[float], right: Sequence[float]) -> bool:
    """Return whether numbers are the same but for rounding."""
    near = (abs(a - b) <= 1e-6 + 1e-5 * abs(b) for a, b in zip(ours, right, strict=False))
    return len(ours) == len(right) and all(near)


def judge(file: PublicFile, right: Sequence[float], ours: Sequence[float], reason: str) -> str:
    """Return the verdict on a file."""
    if ours:
        return READ if right and alike(ours, right) else WRONG
    return REFUSED if file.refused and re.search(file.refused, reason) else NOT_READ


def outcome(file: PublicFile, clones: Path) -> Outcome:
    """Read a file out of the clones; return what became of it."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if not file.fetch(clones, folder):
            return Outcome(ABSENT, "", f"{clones} has no {file.repository} at {file.commit}")
        path = file.prepare(folder)
        table = load(path, file.read) if file.right else None
        right = [float(one) for one in evaluate(file.right, t=table)] if file.right else []
        ours, reason = attempt(file, path, folder)
        reason = reason.replace(f"{folder}/", "")
    shown = shown_numbers(right) if right else f"refusal: {file.refused}"
    return Outcome(judge(file, right, ours, reason), shown, shown_numbers(ours) or reason)


def shown_numbers(numbers: Sequence[float]) -> str:
    """Return numbers as the table prints them."""
    return " / ".join(f"{number:,.4f}".rstrip("0").rstrip(".") for number in numbers)


def rows(chosen: Sequence[PublicFile], clones: Path) -> Iterator[tuple[PublicFile, Outcome]]:
    """Print a line of CSV for each file, as they come."""
    lines = csv.writer(sys.stdout, lineterminator="\n")
    lines.writerow(["name", "file", "of", "run", "expected", "source", "got", "verdict"])
    for file in chosen:
        result = outcome(file, clones)
        got = " ".join(result.got.split())[:_LONGEST]
        expected = (result.expected, file.source or "computed by pandas" * bool(file.right))
        name = Path(file.path).name
        lines.writerow([file.name, name, file.repository, file.run, *expected, got, result.verdict])
        sys.stdout.flush()
        yield file, result


def kind_of(file: PublicFile) -> str:
    """Return what a file holds and in which form, in words."""
    form = _FORMS.get(Path(file.path).suffix, "another")
    return f"{_CONTENTS[file.run]}, {form}"


def tables(results: Sequence[tuple[PublicFile, Outcome]]) -> Iterator[str]:
    """Yield the lines of two tables: verdicts by kind of file, and the files that failed."""
    by_kind: dict[str, Counter[str]] = {}
    for file, result in results:
        by_kind.setdefault(kind_of(file), Counter())[result.verdict] += 1
    yield f"| | Files | {' | '.join(_VERDICTS)} |"
    yield "|---|" + "---:|" * (1 + len(_VERDICTS))
    for kind, ends in sorted(by_kind.items()):
        yield f"| {kind} | {ends.total()} | {' | '.join(str(ends[v]) for v in _VERDICTS)} |"
    failed = [(file, result) for file, result in results if result.verdict not in (READ, REFUSED)]
    if failed:
        yield "\n| File | Of | Expected | Got | Verdict |\n|---|---|---|---|---|"
    for file, result in failed:
        got = " ".join(result.got.split())[:_LONGEST]
        cells = (file.name, file.repository, result.expected, got, result.verdict)
        yield f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"


def main() -> None:
    """Print the table of the files, and how many ended in each way."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("clones", type=Path, nargs="?", default=os.environ.get("PUBLISHED_CLONES"))
    parser.add_argument("--files", type=Path, default=REGISTRY, help="another registry of files")
    parser.add_argument("--only", action="append", help="the files of this name")
    parser.add_argument("--clone", action="store_true", help="print the commands that clone")
    options = parser.parse_args()
    chosen = [f for f in files(options.files) if not options.only or f.name in options.only]
    if options.clone:
        for repository in sorted({file.repository for file in chosen}):
            target = repository.replace("/", "+")
            print(f'git clone https://github.com/{repository} "$CLONES/{target}"')
        return
    if options.clones is None:
        parser.error("which clones? Name the folder")
    results = [*rows(chosen, Path(options.clones))]
    print("", *tables(results), sep="\n")
    ends = Counter(result.verdict for _, result in results).most_common()
    n_published = sum(bool(file.source) for file, _ in results)
    print(f"\n{len(chosen)} files:", ", ".join(f"{n} {verdict}" for verdict, n in ends), end="; ")
    print(f"the numbers of {n_published} were published")


if __name__ == "__main__":
    main()
