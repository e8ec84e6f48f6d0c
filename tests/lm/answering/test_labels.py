"""What a model wrote is read as a label where a person reads one, and never as another one."""

import json
from pathlib import Path

import pytest

from lm.answering.answerer import Question, Reply, Tier, read_samples, reply_store
from lm.answering.labels import RULES, UNREADABLE, read_label
from tests.lm.answering.phrasings import phrasings

LETTERS = ("A", "B")


@pytest.mark.parametrize("half", ["seen", "held"])
def test_phrasings_are_read_as_a_person_reads_them(half: str):
    misread, unread, n_readable = list[str](), list[str](), 0
    for phrasing in phrasings(half):
        reading = phrasing.read()
        n_readable += phrasing.value not in UNREADABLE
        assert (reading.rule in RULES) == bool(reading.label)
        if reading.label and reading.label != phrasing.value:
            misread.append(phrasing.text)
        elif not reading.label and phrasing.value not in UNREADABLE:
            unread.append(phrasing.text)
    assert misread == []
    assert len(unread) <= 0.03 * n_readable, unread


@pytest.mark.parametrize(
    ("text", "label", "rule"),
    [
        ("B", "B", "alone"),
        (r"So it is \boxed{\text{B}}.", "B", "boxed"),
        ("The answer is A.", "A", "announced"),
        ("Compare the verbs.\nB", "B", "last_line"),
        ("A, because the verb agrees.", "A", "leading"),
        ("A native speaker would choose B.", "B", "chosen"),
        ("B is grammatical.", "B", "praised"),
        ("A is wrong. B.", "B", "chosen"),
        ("I would not choose B.", "", "none"),
        ("A or B", "", "several"),
        ("", "", "empty"),
        ("I'm sorry, I cannot judge sentences.", "", "refused"),
        ("<think>A? B", "", "cut"),
    ],
)
def test_the_rule_or_the_reason_is_told(text: str, label: str, rule: str):
    assert read_label(text, LETTERS) == read_label(text, LETTERS, "Which one?")
    reading = read_label(text, LETTERS)
    assert (reading.label, reading.rule) == (label, rule)


def test_what_was_cut_off_before_its_end_is_read_only_where_it_began_with_an_answer():
    assert read_label("A sounds good", LETTERS, cut=True).rule == "cut"
    assert read_label("", LETTERS, cut=True).rule == "cut"
    assert read_label("B, because", LETTERS, cut=True).label == "B"


def test_shares_are_of_all_samples_and_each_one_has_its_rule():
    question = Question("Which one?", LETTERS)
    logprobs, read_by = read_samples(question, ("A", "A", "both", "B."), [False] * 4)
    assert logprobs == (pytest.approx(-0.6931471805599453), pytest.approx(-1.3862943611198906))
    assert read_by == ("alone", "alone", "none", "alone")


def test_replies_kept_by_an_earlier_version_are_read_again_by_the_grammar(tmp_path: Path):
    texts = ("A native speaker would choose B.", "B")
    question = Question("Which one?", LETTERS)

    class Sampled:
        name, trained_on, workers, identity, tier = "m", "t", 0, "i", Tier.SAMPLES

        def reply(self, questions):
            return [Reply((None, None), texts) for _ in questions]

    path = tmp_path / "replies.sqlite"
    with reply_store(path) as store:
        store.answer_questions(Sampled(), [question])
        [(kept,)] = store._connection.execute("SELECT reply FROM replies").fetchall()
        fields = {name: value for name, value in json.loads(kept).items() if name != "read_by"}
        earlier = json.dumps(fields | {"n_unreadable": 1, "n_refused": 0, "n_cut": 0})
        with store._connection:
            store._connection.execute("UPDATE replies SET reply = ?", (earlier,))
        [reply] = store.answer_questions(Sampled(), [question])
    assert (reply.logprobs_nats, reply.read_by) == ((None, 0.0), ("chosen", "alone"))
