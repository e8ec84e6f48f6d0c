"""The checklist for human baselines, filled in from an exported run.

Usage: python benchmarks/human_baseline.py EXPORT

EXPORT is a folder that ``parallax export`` wrote. ``parallax compare`` is run on it without models
and without figures, and its human_baseline.md is printed.
"""

import argparse
import sys
import tempfile
from pathlib import Path

from click.testing import CliRunner

sys.path.append(str(Path(__file__).parents[1]))
from parallax import cli


def main() -> None:
    """Print the checklist."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("export", type=Path)
    export = parser.parse_args().export
    with tempfile.TemporaryDirectory() as name:
        out = Path(name) / "report"
        options = ["--run", export, "--out", out, "--no-figures", "--resamples", 100]
        CliRunner().invoke(cli, ["compare", *map(str, options)], catch_exceptions=False)
        print((out / "human_baseline" / "human_baseline.md").read_text("utf-8"))


if __name__ == "__main__":
    main()
