"""People's surprisal of words that others read, from both studies to a table, by hand."""

from math import log2
from pathlib import Path

import pandas as pd
import pytest

from analysis.commands.import_judgments import judgments
from analysis.commands.reading import cloze
from analysis.errors import AnalysisError
from analysis.typed.next_words import NextWords, normalise_beginning
from analysis.typed.same_answers import SameAnswers
from tests.analysis.typed.test_beside_models import run

READING = Path(__file__).parents[3] / "docs" / "examples" / "self_paced"
# In turn: a context before the sentence, a comma, a text after which two words are one step, a text
# that goes on after its gap, and one that nobody read.
ITEMS = """item_id,construction,condition,context,sentence
c1,cloze,c,While the man,hunted the  DEER ___.
c2,cloze,c,,"While the man hunted, the deer ___"
c3,cloze,c,,While the man hunted ___
c4,cloze,c,,While the girl dressed the baby ___ well.
c5,cloze,c,,Nobody read this ___
"""
ANSWERS = """who,c1,c2,c3,c4,c5
p1,ran,fled,the deer,slept,word
p2,Ran!,fled,the deer,slept,word
p3,runned,hid,the deer,slept,word
p4,?,hid,the deer,slept,word
"""


def typed_study(folder: Path, items: str = ITEMS) -> list[object]:
    (folder / "items.csv").write_text(items)
    (folder / "answers.csv").write_text(ANSWERS)
    (folder / "mapping.toml").write_text(
        'wide = true\nno_answer = ["?"]\n[columns]\nparticipant = "who"\ntyped = "{item}"\n'
    )
    given = ["--items", folder / "items.csv", "--mapping", folder / "mapping.toml"]
    run(judgments, folder / "answers.csv", *given, "--out", folder / "in")
    return ["--judgments", folder / "in" / "judgments.csv", "--items", folder / "items.csv"]


def test_a_words_surprisal_is_that_of_peoples_completions_of_the_text_before_it(tmp_path):
    answers = typed_study(tmp_path)
    output = run(cloze, READING, *answers, "--out", tmp_path / "people.tsv")
    assert "nobody typed 1 of these words" in output
    assert "After 2 of 4 completed texts, no word was read: c3, c5" in output
    table = pd.read_csv(tmp_path / "people.tsv", sep="\t")
    scored = table.dropna().set_index("text_id")
    assert scored[["position", "text", "n", "n_people"]].to_numpy().tolist() == [
        [3, "ran", 2, 4], [3, "ran", 0, 4],
    ]  # fmt: skip
    # (n + .1) / (4 + 10)
    assert scored["surprisal_bits"].tolist() == pytest.approx([log2(14 / 2.1), log2(14 / 0.1)])
    # Each step has a row, so that lengths of the words before are known.
    assert table["position"][:5].tolist() == [1, 2, 3, 4, 5]


def test_variants_count_as_the_word(tmp_path):
    answers = typed_study(tmp_path)
    (tmp_path / "variants.csv").write_text("typed,answer\nrunned,ran\n")
    given = [*answers, "--variants", tmp_path / "variants.csv", "--out", tmp_path / "people.tsv"]
    run(cloze, READING, *given)
    table = pd.read_csv(tmp_path / "people.tsv", sep="\t").dropna()
    assert table["surprisal_bits"].tolist() == pytest.approx([log2(14 / 3.1), log2(14 / 0.1)])


def test_a_word_that_is_a_variant_in_one_of_two_pooled_texts_counts_in_both():
    same = SameAnswers({("b", "colour"): "color"})
    # In a "colour" and "color" are two answers; in b they are one.
    people = {
        ("a", "colour"): {"p1"},
        ("a", "color"): {"p2"},
        ("b", "color"): {"p1", "p3"},
    }
    typed = NextWords(("a", "b"), 3, people, same)
    assert typed.count("Colour") == 2  # p1, p3
    assert typed.count("color") == 3  # p2 in a, p1 and p3 in b


def test_texts_that_nobody_read_are_refused(tmp_path):
    answers = typed_study(tmp_path, ITEMS.replace("deer", "fox").replace("DEER", "fox"))
    with pytest.raises(AnalysisError, match=r"no word of the study comes after .* of 4 texts"):
        run(cloze, READING, *answers, "--out", tmp_path / "people.tsv")
    assert not (tmp_path / "people.tsv").exists()


def test_beginnings_keep_their_punctuation():
    assert normalise_beginning(" It\u2019s  LATE, ") == "it's late,"
