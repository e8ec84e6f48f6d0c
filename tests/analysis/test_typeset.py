import io

import pandas as pd
import pytest

from analysis.side_by_side import Column, Table
from analysis.typeset import latex, to_csv, to_latex, to_markdown, to_text


@pytest.fixture
def table() -> Table:
    return Table(
        name="table_1",
        title="Table 1",
        caption="Accuracy.",
        frame=pd.DataFrame(
            {
                "group": ["A & B", "A & B", ""],
                "label": ["one | two", "50%", "x_1"],
                "people": [0.75, 1.0, None],
                "people_low": [0.5, 0.875, None],
                "people_high": [1.0, 1.0, None],
                "n": pd.array([1200, 4, None], "Int64"),
                "m_judged": [0.5, 2 / 3, 0.0],
            }
        ),
        columns=(
            Column("label", "", "text"),
            Column("people", "accuracy", "estimate", over="People"),
            Column("n", "n", "count", over="People"),
            Column("m_judged", "judged", over="n-gram #1"),
        ),
        notes=("A note.",),
        origin=("Study\nsmall.",),
    )


def test_csv_has_the_notes_as_comments_and_every_column(table):
    text = to_csv(table)
    assert text.startswith("# Table 1. Accuracy.\n# A note.\n# Study small.\ngroup,label,people,")
    read = pd.read_csv(io.StringIO(text), comment="#")
    assert list(read.columns) == list(table.frame.columns)
    assert read["m_judged"].tolist() == [0.5, 0.666667, 0.0]


def test_plain_text_aligns_its_columns(table):
    expected = """\
Table 1. Accuracy.

           -------- People --------   n-gram #1
                    accuracy      n       judged
------------------------------------------------
A & B
one | two  0.75 [0.50, 1.00]  1,200         0.50
50%        1.00 [0.88, 1.00]      4         0.67
x_1                        -      -         0.00
------------------------------------------------
A note.
Study small.
"""
    assert to_text(table) == expected


def test_markdown_escapes_bars_and_lists_the_notes(table):
    lines = to_markdown(table).splitlines()
    assert lines[0] == "**Table 1.** Accuracy."
    assert lines[2] == "|  | People accuracy | People n | n-gram #1 judged |"
    assert lines[4:6] == [
        "| **A & B** |  |  |  |",
        r"| one \| two | 0.75 [0.50, 1.00] | 1,200 | 0.50 |",
    ]
    assert lines[-2:] == ["- A note.", "- Study small."]


def test_latex_is_booktabs_with_everything_escaped(table):
    text = to_latex(table)
    assert text.startswith("% Table 1. Accuracy.\n% A note.\n% Study small.\n\\begin{table}")
    assert r"\caption{Accuracy.}" in text
    assert r"\multicolumn{1}{c}{n-gram \#1} \\" in text
    assert r"\cmidrule(lr){2-3} \cmidrule(lr){4-4}" in text
    assert r"\multicolumn{4}{l}{\textit{A \& B}} \\" in text
    assert r"50\% & 1.00 [0.88, 1.00] & 4 & 0.67 \\" in text
    assert r"x\_1 & - & - & 0.00 \\" in text
    rows = text[text.index("\\begin{tabular}") :].splitlines()
    assert all(row.count(" & ") == 3 for row in rows if row.startswith((" &", "one", "50", "x")))


def test_every_character_that_latex_would_read_is_escaped():
    assert latex(r"\ & % $ # _ { } ~ ^ < >") == (
        r"\textbackslash{} \& \% \$ \# \_ \{ \} \textasciitilde{} \textasciicircum{}"
        r" \textless{} \textgreater{}"
    )
