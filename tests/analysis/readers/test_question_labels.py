"""Qualtrics exports whose items are known only by the sentences in their questions' labels."""

import json

import pandas as pd
import pytest
from click.testing import CliRunner

from analysis.commands.import_judgments import judgments
from analysis.errors import AnalysisError

SENTENCES = {"i1": "The cats sleep.", "i2": "The cats sleep well.", "i10": "Dogs bark!"}
# Columns in another order than the items; the first text is part of the second.
LABELS = {
    "ResponseId": "Response ID",
    "Q7": "How natural? - Dogs bark",
    "Q2": "How natural? - The cats  sleep well.",
    "Q3_Page Submit": "Timing - Page Submit",
    "Q5": "How natural? - the cats sleep",
    "Q9": "How old are you?",
}
ANSWERS = [("R_1", 7, 2, 1.5, 6, 31), ("R_2", 5, 1, 2.5, "", 44), ("R_3", 6, 3, 0.5, 4, 27)]


def import_export(folder, labels=LABELS):
    rows = pd.DataFrame(ANSWERS, columns=list(labels))
    ids = {name: json.dumps({"ImportId": name}) for name in labels}
    pd.concat([pd.DataFrame([labels, ids]), rows]).to_csv(folder / "export.csv", index=False)
    items = [f"{item},c,all,{text}" for item, text in SENTENCES.items()]
    (folder / "items.csv").write_text(
        "\n".join(["item_id,construction,condition,sentence", *items]) + "\n"
    )
    words = [folder / "export.csv", "--items", folder / "items.csv", "--out", folder / "in"]
    result = CliRunner().invoke(judgments, [*map(str, words), "--yes"], catch_exceptions=False)
    return result.output


def test_items_are_found_by_the_texts_of_their_questions(tmp_path):
    said = import_export(tmp_path)
    assert '"Q7" ("How natural? - Dogs bark") is [i10]' in said
    written = pd.read_csv(tmp_path / "in" / "judgments.csv")
    assert written.groupby("item")["rating"].apply(list).to_dict() == {
        "i10": [7, 5, 6], "i2": [2, 1, 3], "i1": [6, 4],
    }  # fmt: skip


def test_two_questions_about_one_item_are_not_read(tmp_path):
    labels = {**LABELS, "Q9": "How well formed? - Dogs bark."}
    said = import_export(tmp_path, labels)
    assert '"Q7" and "Q9" ask about one item, and are not read' in said
    assert set(pd.read_csv(tmp_path / "in" / "judgments.csv")["item"]) == {"i1", "i2"}


def test_labels_without_the_items_texts_are_refused(tmp_path):
    labels = {
        name: label.replace("cats", "birds").replace("Dogs", "Cows")
        for name, label in LABELS.items()
    }
    with pytest.raises(AnalysisError, match="lacks a column that holds the items' ids"):
        import_export(tmp_path, labels)
