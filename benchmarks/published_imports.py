"""Import ten published data sets of humans and five of models, each through one mapping.

    python -m benchmarks.published_imports [CLONES] [--only NAME] [--show]
    python -m benchmarks.published_imports --rebuilt

CLONES (default: PUBLISHED_CLONES) is a folder of clones named OWNER+NAME; --clone prints the
commands that create them. Each set is imported with ``parallax import`` and its mapping
(benchmarks/published_sets/mappings), then analysed by ``parallax compare`` (humans) or ``parallax
lm accuracy`` (models). The output has the published number, ours, and the result of compare for all
answers. A set without its files, or every set with --rebuilt, is rebuilt: with the same headers,
our own sentences, and the number of the rebuilt file.
"""

import argparse
import contextlib
import io
import json
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from benchmarks.published_sets.choices import CHOICES
from benchmarks.published_sets.one import MODELS, PublishedSet
from benchmarks.published_sets.scores import SCORES
from benchmarks.published_sets.single import SINGLE
from parallax import cli

SETS: tuple[PublishedSet, ...] = (*CHOICES, *SINGLE, *SCORES)
_ALIKE = 5e-5


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("clones", type=Path, nargs="?", default=os.environ.get("PUBLISHED_CLONES"))
    parser.add_argument("--rebuilt", action="store_true", help="rebuild every set")
    parser.add_argument("--clone", action="store_true", help="print the commands that clone")
    parser.add_argument("--only", choices=[one.name for one in SETS], action="append")
    parser.add_argument("--show", action="store_true", help="print the commands and their output")
    options = parser.parse_args()
    if options.clone:
        print(*sorted({_clone(p.repository) for one in SETS for p in one.files.values()}), sep="\n")
        return
    clones = None if options.rebuilt else options.clones
    if clones is None and not options.rebuilt:
        parser.error("which clones? Name the folder, or write --rebuilt")
    chosen = [one for one in SETS if not options.only or one.name in options.only]
    for one in chosen:
        print(line(one, *run(one, clones, show=options.show)), flush=True)


def _clone(repository: str) -> str:
    target = repository.replace("/", "+")
    return f'git clone --depth 1 https://github.com/{repository} "$CLONES/{target}"'


def line(one: PublishedSet, rebuilt: bool, published: float, ours: float, said: str) -> str:
    """Return what is printed of a set."""
    apart = abs(published - ours)
    why = "" if apart < _ALIKE else f" ({one.differ or 'NOT EXPLAINED'})"
    kind = "rebuilt, not the published file" if rebuilt else f"published; {one.licence}"
    return (
        f"{one.name}: {one.source} [{kind}]\n"
        f"  {one.number}: published {published:.4f}, ours {ours:.4f}, {apart:.4f} apart{why}\n"
        f"  {said}"
    )


def run(
    one: PublishedSet, clones: Path | None, *, show: bool = False, compare: bool = True
) -> tuple[bool, float, float, str]:
    """Return whether a set was rebuilt, the published number, ours, and what is said of all."""
    rebuilt = clones is None or not one.reachable(clones)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if rebuilt or clones is None:
            one.rebuilt(folder)
        else:
            for own, place in one.files.items():
                place.copy(clones, folder / own)
        items = one.items(folder)
        if len(items):
            items.to_csv(folder / "items.csv", index=False)
        found, said = (_models if one.of == MODELS else _people)(one, folder, show, compare)
        known = folder / ("out/items.csv" if not len(items) else "items.csv")
        ours = one.ours(folder, found, pd.read_csv(known, dtype=str))
        return rebuilt, one.published(folder), ours, said


def _people(one: PublishedSet, folder: Path, show: bool, compare: bool) -> tuple[pd.DataFrame, str]:
    judged, out = next(folder.glob("judged*")), folder / "out"
    given = ["--items", folder / "items.csv"] if (folder / "items.csv").exists() else []
    mapping = ["--mapping", one.mapping] if one.mapping else []
    _call(["import", "judgments", judged, *given, *mapping, "--out", out, "--yes"], show)
    found = pd.read_csv(out / "judgments.csv", dtype={"item": str})
    record = json.loads((out / "import.json").read_text("utf-8"))
    dropped = sum(record.get("rows_dropped", {}).values()) + sum(
        record.get("trials_dropped", {}).values()
    )
    said = f"{len(found):,} judgments"
    if "participant" in found:
        said += f" of {found['participant'].nunique():,} participants"
    said += f"; {dropped:,} left out by named rules"
    if compare:
        items = folder / "items.csv" if given else out / "items.csv"
        options = ["--judgments", out / "judgments.csv", "--items", items, "--no-figures"]
        _call(["compare", *options, "--resamples", "100", "--out", folder / "report"], show)
        said += f"; compare: {_compared(folder / 'report', found)}"
    return found, said


def _compared(report: Path, found: pd.DataFrame) -> str:
    """Return what the comparison says of everybody's answers, by its own tables."""
    results = json.loads((report / "results.json").read_text("utf-8"))
    rows = pd.DataFrame((results.get("accuracy") or {}).get("by_construction") or [])
    if len(rows):
        share = (rows["accuracy"] * rows["n_judgments"]).sum() / rows["n_judgments"].sum()
        return f"accuracy {share:.4f} of {int(rows['n_judgments'].sum()):,} judgments"
    tables = results["statistics"]
    if "yes_rates" in tables:
        rows = pd.DataFrame(tables["yes_rates"])
        right = rows["yes"].where(rows["expected"] == "yes", 1 - rows["yes"])
        share = (right * rows["n_answers"]).sum() / rows["n_answers"].sum()
        return f"accuracy {share:.4f} of {int(rows['n_answers'].sum()):,} answers"
    rows = pd.DataFrame(tables["ratings"])
    rows["sum"] = rows["mean"] * rows["n_ratings"]
    sums = rows.groupby("version")[["sum", "n_ratings"]].sum()
    means = [f"{one} {mean:.4f}" for one, mean in (sums["sum"] / sums["n_ratings"]).items()]
    return f"mean ratings {', '.join(means)} of {len(found):,}"


def _models(one: PublishedSet, folder: Path, show: bool, compare: bool) -> tuple[pd.DataFrame, str]:
    judged, out, items = next(folder.glob("judged*")), folder / "out", folder / "items.csv"
    given = ["--items", items] if items.exists() else []
    how = "judgments" if not given else "scores"
    model = [] if how == "judgments" else ["--model", "model"]
    more = ["--yes"] if how == "judgments" else []
    _call(["import", how, judged, *given, *model, *one.options, "--out", out, *more], show)
    files = sorted(out.glob("scores_*.parquet"))
    table = folder / "accuracy"
    _call(["lm", "accuracy", items if given else out / "items.csv", *files, "--out", table], show)
    found = pd.read_csv(table / "by_condition.csv", comment="#")
    return found[found["label"] == "All"], f"{len(files)} model(s)"


def _call(command: Sequence[object], show: bool) -> str:
    words = [str(one) for one in command]
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        cli(words, standalone_mode=False)
    if show:
        print("$ parallax", *words, "\n", text.getvalue())
    return text.getvalue()


if __name__ == "__main__":
    main()
