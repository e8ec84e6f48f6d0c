"""From each treebank of a folder to a checked study and a page for native speakers.

Usage: python benchmarks/treebanks.py FOLDER [--only NAME] [--each 12]

Each folder in FOLDER holds the .conllu files of a treebank with its README and licence. The study
is made by ``parallax treebank study``, checked as by ``parallax study check``, and its page written
by ``parallax natives page``. Columns: the treebank and its licence; its sentences; pairs made;
constructions (features by the relation in which they are broken); cases left out as syncretic;
different sentences for native speakers to check; whether the default texts and the pages' buttons
exist in the language; seconds. The exit status is 1 if a study has errors.
"""

import argparse
import re
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from click.testing import CliRunner

sys.path.append(str(Path(__file__).parents[1]))
from experiment.authoring.check import check_folder
from experiment.authoring.words import languages_with_words
from experiment.errors import ParallaxError
from experiment.materials.read import read_items
from experiment.studies.load import load_study
from parallax import cli
from webapp.core.i18n import languages

HEADINGS = (
    *("treebank", "language", "licence", "sentences", "pairs", "broken features"),
    *("syncretic", "to check", "texts", "buttons", "s"),
)
_COUNT = re.compile(r"^(.+?) {2,}([\d,]+)$", re.MULTILINE)
_TO_CHECK = re.compile(r"^([\d,]+) sentences of", re.MULTILINE)


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", default="", help="the treebanks whose name begins so")
    parser.add_argument("--each", default="12", help="pairs of each construction")
    options = parser.parse_args()
    print(f"| {' | '.join(HEADINGS)} |\n|{'---|' * len(HEADINGS)}", flush=True)
    start, n_faulty, total = time.monotonic(), 0, 0
    for folder in sorted(options.folder.glob(f"{options.only}*")):
        if files := sorted(map(str, folder.glob("*.conllu*"))):
            total += 1
            with tempfile.TemporaryDirectory() as temporary:
                try:
                    cells = list(measure(files, Path(temporary), options.each))
                except ParallaxError as error:
                    n_faulty += 1
                    cells = [str(error)]
            print(f"| {' | '.join([folder.name, *cells])} |", flush=True)
    print(f"\n{total} treebanks in {time.monotonic() - start:.0f} s, {n_faulty} without a study")
    return int(n_faulty > 0)


def measure(files: list[str], folder: Path, each: str) -> Iterator[str]:
    """Yield the cells of a treebank's row, after its name."""
    out, start = folder / "study", time.monotonic()
    printed = run("treebank", "study", *files, "--each", each, "--out", str(out))
    if errors := check_folder(str(out), 1).errors:
        raise errors[0]
    language = load_study(str(out)).study.language
    page = ("--rendering", "as_written", "--out", str(folder / "page.html"))
    shown = run("natives", "page", str(out / "items.tsv"), "--language", language, *page)
    seconds = time.monotonic() - start
    counts = {name: int(number.replace(",", "")) for name, number in _COUNT.findall(printed)}
    items = list(read_items(out / "items.tsv"))
    made = sorted({tuple(item.construction.rsplit("_", 1)) for item in items})
    features = dict.fromkeys(feature for _, feature in made)
    yield language
    yield dict(items[0].extra)["licence"]
    yield f"{counts['sentences']:,}"
    yield f"{len(items)} of {counts['pairs']:,}"
    yield "; ".join(
        f"{feature}: {', '.join(name.split('_')[0] for name, own in made if own == feature)}"
        for feature in features
    )
    yield f"{sum(number for name, number in counts.items() if 'syncretism' in name):,}"
    match = _TO_CHECK.search(shown)
    yield match[1] if match else ""
    base = language.partition("-")[0]
    yield "yes" if base in languages_with_words() else "English"
    yield "yes" if base in languages() else "English"
    yield f"{seconds:.1f}"


def run(*arguments: str) -> str:
    """Return what a command prints."""
    return (
        CliRunner().invoke(cli, [*arguments], catch_exceptions=False, standalone_mode=False).output
    )


if __name__ == "__main__":
    sys.exit(main())
