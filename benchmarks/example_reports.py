"""Run every example study as its page describes, and update the tables in that page.

Usage: python benchmarks/example_reports.py [NAME ...]

Each study runs in its own folder: simulated participants answer, exclusion rules are applied, and
the results are compared. The fenced block after `Its report, by ...` in docs/examples/README.md is
replaced by the command's tables, without captions and notes; long tables are cut after the first
rows.
"""

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "examples" / "README.md"
# What is shown of a study, the command's words and its fence.
SHOWN = re.compile(
    r"(Its report, by `(parallax demo docs/examples/(\w+))`:\n\n```text\n).*?(```)", re.DOTALL
)
RULE = re.compile(r"-{20,}")
# Tables that a study is about and that are not the first of its report.
FURTHER = {"deadline": ("late_answers",)}
LONGEST, CUT = 20, 12


def main() -> None:
    page = PAGE.read_text("utf-8")
    wanted = sys.argv[1:] or [found[3] for found in SHOWN.finditer(page)]
    for name in wanted:
        found = next((one for one in SHOWN.finditer(page) if one[3] == name), None)
        if found is None:
            sys.exit(f"docs/examples/README.md shows no report of {name}.")
        block = report(found[2], name)
        page = page[: found.end(1)] + block + page[found.start(4) :]
        PAGE.write_text(page, encoding="utf-8")
        print(f"{name}\n\n{block}")


def report(command: str, name: str) -> str:
    """Return the tables that an example's command prints, as the page shows them.

    Raises:
        CalledProcessError: The command failed.
    """
    words = shlex.split(command)
    parallax = str(Path(sys.executable).with_name(words[0]))
    study = str(ROOT / words[-1])
    with TemporaryDirectory() as folder:
        run = [parallax, *words[1:-1], study]
        printed = subprocess.run(run, cwd=folder, check=True, capture_output=True, text=True).stdout
        tables = list(_tables(printed.split("$ parallax compare", 1)[1].splitlines()))
        for further in FURTHER.get(name, ()):
            [path] = Path(folder).rglob(f"{further}.txt")
            tables += _tables(path.read_text("utf-8").splitlines())
    return "\n\n".join("\n".join(table) for table in tables) + "\n"


def _tables(lines: Sequence[str]) -> Iterator[list[str]]:
    """Yield the tables among lines, each below the name of its task where there are several."""
    named: list[str] = []
    block: list[str] = []
    for line in [*lines, ""]:
        if line.strip():
            block.append(line.rstrip())
            continue
        rules = [place for place, one in enumerate(block) if RULE.fullmatch(one)]
        if len(rules) > 1:
            length = rules[-1] + 1
            yield [*named, *block[: CUT if length > LONGEST else length]]
            named = []
        elif block and re.fullmatch(r"\w+", block[-1]):
            named = block[-1:]
        block = []


if __name__ == "__main__":
    main()
