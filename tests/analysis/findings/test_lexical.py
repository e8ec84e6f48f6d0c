import pandas as pd
import pytest

from analysis.data.join import Joined, decisions, judgments
from analysis.data.load import load_run, load_scores
from analysis.errors import AnalysisError
from analysis.findings.finding import Context
from analysis.findings.lexical import (
    count_corpus_words,
    critical_words,
    lexical_choices,
    lexical_findings,
)
from analysis.tables.section import Section
from experiment.materials.item_rows import item_row
from experiment.records import Item, Kind, Variant


def item(item_id, good, bad, frame, features="number=singular", distractor=""):
    contrast = Variant.DISTRACTOR if distractor else Variant.BAD
    return Item(
        item_id, Kind.TARGET, "c", "d", "t", features, frame, "", good, bad, distractor, contrast
    )


SINGULAR, PLURAL = "number=singular", "number=plural"
ITEMS = [
    item("s-1", "the child sleeps", "the child sleep", "N=child V=sleeps"),
    item("s-2", "the children sleep", "the children sleeps", "N=child V=sleeps", PLURAL),
    item("p-1", "no child ever", "most child ever", "N=taxi_driver"),
    item("p-2", "few ever", "many ever", "", PLURAL, "some ever"),
]


def of_item(item_id):
    """The choices of an item, as factor and value."""
    found = lexical_choices(ITEMS)
    own = found.pair[found.item == found.item_ids.index(item_id)]
    return dict(found.pairs[pair] for pair in own)


def test_an_item_has_its_slots_its_features_and_the_words_that_differ():
    # The verb never varies, so it tells nothing.
    assert of_item("s-1") == {
        "words that differ": "sleeps / sleep", "slot N": "child", "feature number": "singular",
    }  # fmt: skip
    assert of_item("p-1")["slot N"] == "taxi driver"


def test_the_words_that_differ_are_those_of_the_versions_people_saw():
    assert of_item("p-2")["words that differ"] == "few / some"


@pytest.mark.parametrize(
    ("good", "other", "words"),
    [
        ("a b c", "a x c", ("b", "x")),
        ("a b", "a", ("b", "")),
        ("a", "a", ("", "")),
    ],
)
def test_the_first_word_that_differs_is_found(good, other, words):
    assert critical_words(good, other) == words


@pytest.fixture
def tables(export, scores, small_comparison):
    items = pd.DataFrame(map(item_row, ITEMS))
    data = Joined(judgments(load_run(export)), {"5-gram": decisions(load_scores(scores))}, items)
    context = Context(small_comparison.study, small_comparison.provenance)
    return lexical_findings(data, context, {"sleep": 99, "no": 0, "the": 901}).tables


def test_each_word_has_the_accuracy_of_people_and_of_models(tables):
    words, slots = tables
    row = words.frame.set_index("label").loc["sleep / sleeps"]
    assert (row["people"], row["5-gram"], row["n_judgments"]) == (0.5, 0.0, 2)
    assert (words.section, slots.section) == (Section.WORDS, Section.SUPPLEMENT)
    assert set(slots.frame["group"]) == {"slot N", "feature number"}


def test_frequency_is_per_million_and_of_words_alone(tables):
    words, slots = tables
    frequency = words.frame.set_index("label")["frequency"]
    assert frequency["sleep / sleeps"] == pytest.approx(4.99957, abs=1e-4)
    assert frequency["no / most"] == pytest.approx(2.99957, abs=1e-4)
    of_features = slots.frame.loc[slots.frame["group"] == "feature number", "frequency"]
    assert of_features.isna().all()


def test_a_corpus_is_counted_in_lower_case(tmp_path):
    path = tmp_path / "text.txt"
    path.write_text("The dog .\nthe cat .\n")
    assert count_corpus_words(path)["the"] == 2


def test_a_corpus_that_is_not_there_is_named(tmp_path):
    with pytest.raises(AnalysisError, match=r"none\.txt: the corpus cannot be read"):
        count_corpus_words(tmp_path / "none.txt")
