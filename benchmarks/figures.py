"""Rerun the figures (measured results) of the documentation, and update its pages.

Usage: python benchmarks/figures.py [headline | long | NAME ...]

``figures.toml`` lists every figure: its command, its page, its minutes and its kind. Each command
runs in its own process; its output is saved in ``results/NAME.txt`` below the command, Parallax's
version and commit, the date, the duration, and the machine's load at the start. Then every page is
updated: the text between ``<!-- figure: NAME -->`` and ``<!-- /figure -->`` is replaced by that
file, and the text after ``<!-- figures: NAME NAME ... -->`` by a table with a row for each figure.
Without arguments no command runs, and only the pages are updated.

If a command fails, or takes three times as long as expected, the earlier result is kept and the
other commands continue. The exit status is 1 if one failed.
"""

import argparse
import os
import re
import shlex
import signal
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results"
KINDS = ("headline", "long")
SHOWN = re.compile(r"(<!-- figures?: ([\w ]+) -->\n).*?(<!-- /figures? -->)", re.DOTALL)
HEAD = "| Measured | Result | Command | Commit and date |\n|---|---|---|---|\n"
_LONGEST = 3
_AT_LEAST_S = 600


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure of the registry.

    Attributes:
        name: What it is called in the registry, in results and in its page.
        what: What is measured.
        command: What prints it.
        page: The page that shows it.
        minutes: How long it takes on two cores.
        kind: Who reruns it: ``headline`` or ``long``.
        needs: A path without which it cannot be made.
        only: A pattern of the lines that the page shows; the result keeps them all.
    """

    name: str
    what: str
    command: str
    page: str
    minutes: float
    kind: str
    needs: str = ""
    only: str = ""

    @property
    def result(self) -> Path:
        """The file that keeps what the command printed last."""
        return RESULTS / f"{self.name}.txt"


def registry() -> dict[str, Figure]:
    """Return every figure by its name, in the order of the registry."""
    table = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
    return {name: Figure(name, **fields) for name, fields in table.items()}


def main() -> None:
    """Run the figures that are named, and write the pages."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="headline | long | NAME")
    names = parser.parse_args().names
    known = registry()
    if unknown := set(names) - {*known, *KINDS}:
        parser.error(f"no figure is called {', '.join(sorted(unknown))}; see figures.toml")
    chosen = [figure for figure in known.values() if {figure.name, figure.kind} & set(names)]
    failures = run_all(chosen)
    write_pages()
    for name, reason in failures.items():
        print(f"{name}: {reason}", file=sys.stderr)
    sys.exit(bool(failures))


def run_all(figures: Iterable[Figure]) -> dict[str, str]:
    """Run figures one after the other; return why some have no new result."""
    failures = {}
    for figure in figures:
        if figure.needs and not (ROOT / figure.needs).exists():
            print(f"{figure.name} is left out: it needs {figure.needs}", flush=True)
            continue
        print(f"{datetime.now(UTC):%H:%M} {figure.name}: {figure.what}", flush=True)
        if reason := run(figure):
            failures[figure.name] = reason
        else:
            write_pages()
    return failures


def run(figure: Figure) -> str:
    """Run a figure's command and keep what it prints; return why there is no result, or ''."""
    words = shlex.split(figure.command)
    words[0] = sys.executable if words[0] == "python" else words[0]
    code, load, started = _code(), os.getloadavg()[0], time.monotonic()
    longest = max(_AT_LEAST_S, 60 * figure.minutes * _LONGEST)
    process = subprocess.Popen(
        words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, cwd=ROOT,
        start_new_session=True,
    )  # fmt: skip
    try:
        printed, _ = process.communicate(timeout=longest)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return f"stopped after {longest / 60:.0f} minutes, {figure.minutes:g} were expected"
    if process.returncode:
        return f"exit code {process.returncode}; it printed:\n{printed}"
    if not _lines(figure, printed):
        return f"no line is like {figure.only!r}, which the page shows; it printed:\n{printed}"
    seconds = time.monotonic() - started
    RESULTS.mkdir(exist_ok=True)
    text = f"{heading(figure.command, code, seconds, load)}{printed.strip()}\n"
    figure.result.write_text(text, encoding="utf-8")
    return ""


def heading(command: str, code: str, seconds: float, load: float) -> str:
    """Return the two lines above an output: the command, and what it was measured on and when."""
    took = f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} minutes"
    machine = f"load {load:.1f} on {os.cpu_count()} cores"
    when = f"{datetime.now(UTC):%-d %B %Y}"
    return f"$ {command}\n# {code}, {when}; {took}; {machine}\n"


def _code() -> str:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    commit = _git("rev-parse", "--short", "HEAD")
    changed = " with changes" if _git("status", "--porcelain", "--", "*.py") else ""
    return f"Parallax {version} at {commit}{changed}"


def _git(*arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def pages() -> list[Path]:
    """Return every page that may show a figure."""
    return [ROOT / "README.md", *sorted(ROOT.glob("docs/**/*.md"))]


def write_pages() -> None:
    """Put every kept result into the page that shows it."""
    known = registry()
    for path in pages():
        page = path.read_text("utf-8")
        written = with_figures(page, known)
        if written != page:
            path.write_text(written, encoding="utf-8")


def with_figures(page: str, known: Mapping[str, Figure]) -> str:
    """Return a page with the results of the figures that its marks name.

    Raises:
        KeyError: A mark names a figure that the registry does not have.
    """

    def shown_by(mark: re.Match[str]) -> str:
        figures = [known[name] for name in mark[2].split()]
        block = "".join(map(row, figures)) if "figures:" in mark[1] else shown(figures[0])
        return f"{mark[1]}\n{HEAD if 'figures:' in mark[1] else ''}{block}\n{mark[3]}"

    return SHOWN.sub(shown_by, page)


def row(figure: Figure) -> str:
    """Return a figure as a row of a table: the shown lines of its result, joined by semicolons."""
    if not figure.result.exists():
        return f"| {figure.what} | not measured yet | `{figure.command}` | |\n"
    command, source, printed = figure.result.read_text("utf-8").split("\n", 2)
    lines = [line.strip("| \n").replace(" | ", ", ") for line in _lines(figure, printed)]
    result = "; ".join(" ".join(line.split()) for line, _ in groupby(lines))
    when = source.removeprefix("# Parallax ").split(";")[0].replace(" at ", ", ", 1)
    when = re.sub(r"^[\d.]+, ", "", when)
    return f"| {figure.what} | {result} | `{command.removeprefix('$ ')}` | {when} |\n"


def shown(figure: Figure) -> str:
    """Return a figure as a page shows it: its source, then a table of Markdown or a fence."""
    if not figure.result.exists():
        return f"Not measured yet: `{figure.command}`.\n"
    command, source, printed = figure.result.read_text("utf-8").split("\n", 2)
    text = "".join(_lines(figure, printed)).lstrip("\n")
    if figure.only:
        source += f"; every line is in {figure.result.relative_to(RESULTS.parents[1])}"
    if text.startswith("|"):
        return f"`{command.removeprefix('$ ')}` ({source.removeprefix('# ')}):\n\n{text}"
    return f"```text\n{command}\n{source}\n{text}```\n"


def _lines(figure: Figure, printed: str) -> list[str]:
    return [line for line in printed.splitlines(keepends=True) if re.search(figure.only, line)]


if __name__ == "__main__":
    main()
