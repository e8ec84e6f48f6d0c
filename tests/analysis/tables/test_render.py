import io
from dataclasses import replace

import pandas as pd
import pytest

from analysis.tables.accuracy_table import Column, Table
from analysis.tables.latex import escape_latex
from analysis.tables.render import to_csv, to_latex, to_markdown, to_text


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
            Column("people", "accuracy", "estimate", spanner="People"),
            Column("n", "n", "count", spanner="People"),
            Column("m_judged", "judged", spanner="n-gram #1"),
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


def test_no_cell_of_csv_is_a_formula(table):
    typed = replace(table, frame=table.frame.assign(label=["=1+1", "\u200b@x", "x=1"]))
    read = pd.read_csv(io.StringIO(to_csv(typed)), comment="#")
    assert read["label"].tolist() == ["'=1+1", "'\u200b@x", "x=1"]
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


def test_no_zero_has_a_minus_sign(table):
    near = table.frame.assign(people=-0.001, people_low=-0.004, people_high=0.001)
    columns = (Column("people", "", "estimate"), Column("m_judged", "", "signed"))
    text = to_text(replace(table, frame=near.assign(m_judged=-0.001), columns=columns))
    assert "0.00 [0.00, 0.00]" in text and "+0.00" in text
    assert "-0.00" not in text


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
    assert r"\multicolumn{1}{c}{n-gram \#1} \tabularnewline" in text
    assert r"\cmidrule(lr){2-3} \cmidrule(lr){4-4}" in text
    assert r"\multicolumn{4}{@{}l}{\textit{A \& B}} \tabularnewline" in text
    assert r"50\% & 1.00 [0.88, 1.00] & 4 & 0.67 \tabularnewline" in text
    assert r"x\_1 & -- & -- & 0.00 \tabularnewline" in text
    rows = text[text.index("\\begin{tabular}") :].splitlines()
    assert all(
        row.count(" & ") == 3 for row in rows if row.startswith((" & accuracy", "one", "50", "x"))
    )


def test_latex_has_real_minus_signs_and_the_notes_below(table):
    frame = table.frame.assign(people=[-0.25, 1.0, None])
    text = to_latex(replace(table, frame=frame))
    assert r"$-$0.25 [0.50, 1.00]" in text
    assert text.index(r"\end{tabular}") < text.index("A note.\n\\end{minipage}")


@pytest.mark.parametrize(("rows", "floats"), [(30, 1), (70, 2), (140, 4)])
def test_a_table_longer_than_a_page_goes_on_in_further_tables(rows, floats, table):
    frame = pd.concat([table.frame.iloc[:1]] * rows, ignore_index=True)
    text = to_latex(replace(table, frame=frame))
    assert text.count(r"\begin{table}") == text.count(r"\end{table}") == floats
    assert text.count(r"\caption{") == text.count("A note.\n\\end{minipage}") == 1
    assert text.count("one | two") == rows


def test_a_table_too_wide_for_a_page_goes_on_with_its_labels_and_footnotes(table):
    frame = table.frame.assign(m_judged_note=["", "Here.", ""], people_note=["There.", "", ""])
    columns = (*table.columns[:3], *(Column("m_judged", f"a model {n}") for n in range(20)))
    text = to_latex(replace(table, columns=columns, frame=frame))
    assert text.count(r"\begin{table*}") == text.count("50\\%") == text.count("one | two") > 1
    assert text.count(r"0.67\textsuperscript{2}") == 20
    assert text.count(r"0.67\textsuperscript{1}") == 0


def test_every_character_that_latex_would_read_is_escaped():
    assert escape_latex(r"\ & % $ # _ { } ~ ^ < >") == (
        r"\textbackslash{} \& \% \$ \# \_ \{ \} \textasciitilde{} \textasciicircum{}"
        r" \textless{} \textgreater{}"
    )


def test_latex_sets_numbers_options_and_quotations_in_notes_as_a_printer_would():
    assert escape_latex('"as sum": [-0.018, +0.02], --unigram, 3-4') == (
        "``as sum'': [$-$0.018, +0.02], -{}-unigram, 3-4"
    )


def test_a_column_of_words_stands_left_in_latex(table):
    columns = (table.columns[0], Column("label", "again", "text"), *table.columns[1:])
    assert r"\begin{tabular}{@{}llr" in to_latex(replace(table, columns=columns))


def test_what_is_printed_in_per_cent_is_called_a_share_in_csv(table):
    shares = replace(table, columns=(*table.columns[:3], Column("m_judged", "% (SD)", "spread")))
    assert "x_1" in to_text(shares) and "66.7" in to_text(shares)
    assert "# In this file shares from 0 to 1, not per cent: m_judged.\n" in to_csv(shares)
    assert "not per cent" not in to_csv(table)
