"""The LaTeX of tables compiles in LaTeX's own class with two columns, whose columns are narrow."""

import re
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from analysis.tables.accuracy_table import Column, Table
from analysis.tables.render import to_latex
from tests.prerequisites import LATEX

PAPER = r"""\documentclass[twocolumn]{article}
\usepackage{booktabs}
\begin{document}
Text.
%s
\end{document}
"""


def made(rows: int, models: int, notes: int) -> Table:
    """A table of so many rows and models, with everything that LaTeX could stumble over."""
    names = [f"model_{number}" for number in range(models)]
    label = "Subject-verb agreement & 50% of an object relative_clause"
    frame = pd.DataFrame(
        {
            "group": np.where(np.arange(rows) < rows / 2, "A & B", "C_D"),
            "label": [label[: 20 + 5 * (row % 7)] for row in range(rows)],
            "people": 0.75,
            "people_low": -0.5,
            "people_high": 1.0,
            **dict.fromkeys(names, -0.25),
            **{f"{name}_note": "A footnote #1 with \u2212 and \u03ba ^ ~." for name in names},
        }
    )
    columns = [Column(name, name, spanner="Models of ours") for name in names]
    return Table(
        name="table_1",
        title="Table 1",
        caption="Accuracy of people \u2265 50% {and} models.",
        frame=frame,
        columns=(
            Column("label", "", "text"),
            Column("people", "People", "estimate"),
            *(Column(one.key, one.title, spanner=one.key) for one in columns),
        ),
        notes=("A note of some length that goes over several lines of a column. " * notes,),
        origin=(),
    )


@pytest.mark.parametrize(
    ("rows", "models", "notes"), [(5, 1, 1), (30, 4, 6), (70, 17, 30), (180, 2, 3)]
)
def test_tables_fit_the_page_of_a_class_of_two_columns(rows, models, notes, tmp_path: Path):
    program = LATEX.require()
    (tmp_path / "paper.tex").write_text(PAPER % to_latex(made(rows, models, notes)), "utf-8")
    command = [program, "-interaction=nonstopmode", "paper.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, errors="replace")
    assert done.returncode == 0, done.stdout[-2000:]
    assert "Float too large" not in done.stdout
    wide = [float(one) for one in re.findall(r"Overfull .hbox \(([\d.]+)pt too wide", done.stdout)]
    # The width of characters is an average.
    assert max(wide, default=0.0) < 5, done.stdout
