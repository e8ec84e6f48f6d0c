"""Keep what benchmarks print, and show it in the pages: no figure is typed.

Usage: python benchmarks/figures.py
       python benchmarks/figures.py [--note TEXT] NAME COMMAND ...

The second form runs a command and keeps what it prints in benchmarks/results/NAME.txt, below the
command, Parallax's version and commit, and the date. A name that ends in .md is for a command that
prints a Markdown table. Both forms then write every page of docs/ again: what stands between
`<!-- output: NAME.txt -->` and `<!-- /output -->` is that file. A test compares them.
"""

import argparse
import re
import shlex
import subprocess
import sys
import tomllib
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results"
SHOWN = re.compile(r"(<!-- output: (\S+) -->\n).*?(<!-- /output -->)", re.DOTALL)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", nargs="?", help="of the file below benchmarks/results")
    parser.add_argument("--note", help="what a reader must know, for example a busy machine")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    if options.name and not options.command:
        parser.error("which command? Write: python benchmarks/figures.py NAME COMMAND ...")
    if options.name:
        name = options.name if options.name.endswith(".md") else f"{options.name}.txt"
        keep(RESULTS / name, options.command, options.note)
    for path in pages():
        path.write_text(with_outputs(path.read_text("utf-8")), encoding="utf-8")


def pages() -> list[Path]:
    """Return every page that may show an output."""
    return [ROOT / "README.md", *sorted(ROOT.glob("docs/**/*.md"))]


def with_outputs(page: str) -> str:
    """Return a page with the files that its marks name.

    Raises:
        FileNotFoundError: A mark names a file that benchmarks/results does not have.
    """
    return SHOWN.sub(lambda found: f"{found[1]}\n{shown(RESULTS / found[2])}\n{found[3]}", page)


def shown(path: Path) -> str:
    """Return a file as a page shows it: Markdown as it is, any other text in a fence."""
    text = path.read_text("utf-8")
    return text if path.suffix == ".md" else f"```\n{text}```\n"


def keep(path: Path, command: list[str], note: str | None) -> None:
    """Run a command and write what it prints; a command that fails leaves the file as it was."""
    lines = [heading(path, command, note)]
    words = [sys.executable, *command[1:]] if command[0] == "python" else command
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, cwd=ROOT) as running:
        for line in running.stdout or ():
            print(line, end="", flush=True)
            lines.append(line)
    if running.returncode:
        sys.exit(running.returncode)
    RESULTS.mkdir(exist_ok=True)
    path.write_text("".join(lines).rstrip() + "\n", encoding="utf-8")


def heading(path: Path, command: list[str], note: str | None) -> str:
    """Return what stands above an output: the command, the version with its commit, the date."""
    version = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    commit = _git("rev-parse", "--short", "HEAD")
    if _git("status", "--porcelain", "--", "*.py"):
        commit += " with changes"
    when = f"{datetime.now(UTC):%-d %B %Y}"
    source = f"Parallax {version} at {commit}, {when}{f'; {note}' if note else ''}"
    if path.suffix == ".md":
        return f"`{shlex.join(command)}` ({source}):\n\n"
    return f"$ {shlex.join(command)}\n# {source}\n"


def _git(*arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.strip()


if __name__ == "__main__":
    main()
