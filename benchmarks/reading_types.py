"""One example study of each type that is read: simulated, exported, compared with two models.

    python benchmarks/reading_types.py MODEL OTHER

Each step is a command: `parallax demo` launches the example, sends its simulated readers through
the pages and exports; `parallax reading surprisal`, `parallax lm score` and `parallax compare` set
the export beside both models. The browser tests take the same examples with a real browser
(tests/browser/test_reading.py).
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from screenshots import EXAMPLES

NAMES = ("self_paced", "maze", "read_then_rate", "mixed")


def parallax(folder: Path, *words: str | Path) -> None:
    """Run a command in a folder; what it prints is shown where it fails."""
    command = [sys.executable, "-m", "parallax", *map(str, words)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, words))}\n{done.stdout}\n{done.stderr}")


def compared(example: str, models: list[Path], folder: Path) -> list[Path]:
    """Take an example the whole way; return its reports, one for each task."""
    parallax(folder, "demo", EXAMPLES / example, "--instance", folder / "instance")
    [export] = (folder / "instance" / "studies").glob("*/export")
    options: list[str | Path] = []
    for number, model in enumerate(models):
        surprisals, scores = folder / f"model_{number}.tsv", folder / f"model_{number}.parquet"
        parallax(folder, "reading", "surprisal", model, export, "--out", surprisals)
        parallax(folder, "lm", "score", model, EXAMPLES / example, "--out", scores)
        options += ["--surprisal", surprisals, "--scores", scores]
    parallax(folder, "compare", "--run", export, *options, "--out", folder / "report")
    return sorted(path.parent for path in (folder / "report").glob("**/results.json"))


def main() -> None:
    """Print a line for each report: how many trials, tables and figures it has, and its models."""
    models = [Path(one).resolve() for one in sys.argv[1:3]]
    print(f"{'example':16}{'report':12}{'judgments':>10}{'tables':>8}{'figures':>9}  beside models")
    for example in NAMES:
        with tempfile.TemporaryDirectory() as place:
            for report in compared(example, models, Path(place)):
                found = json.loads((report / "results.json").read_text("utf-8"))
                shape = found["statistics"].get("surprisal_times", [])
                rated = found["statistics"].get("ratings_and_models", [])
                beside = ", ".join(
                    f"{len(rows)} {what}"
                    for what, rows in (("slopes of surprisal", shape), ("rows of ratings", rated))
                    if rows
                )
                tables = {path.stem for path in (report / "tables").glob("*.csv")}
                figures = {path.stem for path in (report / "figures").glob("*.svg")}
                n = found["provenance"].get("n_judgments", "")
                own = report.name if report.name != "report" else ""
                print(f"{example:16}{own:12}{n:>10}{len(tables):>8}{len(figures):>9}  {beside}",
                      flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
