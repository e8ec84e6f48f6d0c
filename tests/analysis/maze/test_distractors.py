"""Distractors: the same in all conditions, improbable under both models, audited, deterministic."""

import random
import re
from math import log
from pathlib import Path

import pytest
from click.testing import CliRunner

from analysis.maze.command import audit_, distractors
from analysis.maze.distractors import Use, Vocabulary, compute_surprisals, write_judging_table
from analysis.maze.slots import Sentence, make_slots, read_sentences
from experiment.errors import ParallaxError
from lm.baselines.score_table import FixedScorer
from lm.commands import train

ANIMALS, VERBS = ["dog", "cat", "cow", "pig"], ["ran", "sat", "ate", "hid"]
SENTENCES = [f"the {a} that the {b} saw {v} ." for a in ANIMALS for b in ANIMALS for v in VERBS]
ODD = [f"{w} is {x} ." for w in ("moon", "sun", "sky", "sea", "ice") for x in ("far", "wet", "old")]
TABLE = [
    "sentence,item,condition",
    "The dog that saw the cat ran.,1,subject",
    "The dog that the cat saw ran.,1,object",
    "The cow that saw the pig hid.,2,subject",
    "The cow that the pig saw hid.,2,object",
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("maze")
    lines = SENTENCES + ODD * 3
    for name, own in (("a", lines), ("b", lines[::2])):
        (folder / f"{name}.txt").write_text("\n".join(own) + "\n", encoding="utf-8")
        args = ["--type", "ngram", "--order", "3", "--text", f"{folder}/{name}.txt"]
        done = CliRunner().invoke(train, [*args, "--out", f"{folder}/{name}"])
        assert done.exception is None, done.output
    words = [word for line in lines for word in line.split() if word.isalpha()]
    counted = "\n".join(f"{word},{words.count(word)}" for word in sorted(set(words)))
    more = "\n".join(f"{a}{b}{c},1" for a in "bdf" for b in "aeo" for c in "mnt")
    (folder / "words.csv").write_text(f"word,count\n{counted}\n{more}\n", encoding="utf-8")
    (folder / "t.csv").write_text("\n".join(TABLE), encoding="utf-8")
    return folder


def made(folder: Path, name: str, *options: str) -> str:
    args = [
        f"{folder}/t.csv",
        f"{folder}/a",
        "--second",
        f"{folder}/b",
        "--out",
        f"{folder}/{name}",
    ]
    args += ["--frequencies", f"{folder}/words.csv", "--frequency", "9", "--length", "3", *options]
    done = CliRunner().invoke(distractors, args)
    assert done.exception is None, done.output
    return (folder / name).read_text("utf-8")


def test_the_same_word_has_one_distractor_in_all_conditions(folder):
    lines = made(folder, "o.csv", "--threshold", "1", "--margin", "0").splitlines()[1:]
    for one, other in (lines[:2], lines[2:]):
        pairs = [
            dict(zip(line.split(",")[0].lower().strip(".").split(), line.split(",")[3].split(),
                     strict=True)) for line in (one, other)
        ]  # fmt: skip
        assert {w: d for w, d in pairs[0].items() if w != "the"} == {
            w: d for w, d in pairs[1].items() if w != "the"
        }


def test_a_model_with_capitals_reads_them():
    scores = {("Der alte", "Hund"): (-2 * log(2),)}
    scorer = FixedScorer(scores, name="t", trained_on="x", source="here")
    sentence = Sentence(0, "t.csv", "distractors", "1", ("Der", "alte", "Hund."))
    assert compute_surprisals(scorer, sentence, 2, ["Hund."]) == [pytest.approx(2)]


def test_the_same_seed_gives_the_same_and_another_one_others(folder):
    first, again = made(folder, "p.csv"), made(folder, "q.csv")
    assert first == again
    assert made(folder, "r.csv", "--seed", "2") != first


def test_what_cannot_be_kept_is_named_word_by_word_and_nothing_else(folder):
    made(folder, "s.csv", "--threshold", "3", "--margin", "0.5")
    rows = [line.split("\t") for line in (folder / "s.audit.tsv").read_text("utf-8").splitlines()]
    assert rows[0][3:5] == ["word", "distractor"]
    assert len(rows) == 1 + 4 * 6
    for row in rows[1:]:
        bits = [float(number) if number else None for number in row[5:9]]
        short = any(
            own is None or own < 3 or (right is not None and own - right < 0.5)
            for own, right in (bits[:2], bits[2:])
        )
        assert short == ("bits" in row[-1] or "know" in row[-1]), row


def test_pairs_are_drawn_for_a_person_who_does_not_see_which_goes_on(folder):
    made(folder, "j.csv")
    told = [
        [
            line.split("\t")
            for line in (folder / f"j.judging{part}.tsv").read_text("utf-8").splitlines()
        ]
        for part in ("", ".key")
    ]
    audited = (folder / "j.audit.tsv").read_text("utf-8").splitlines()[1:]
    known = {(row[0], row[2]): row[3:5] for row in (line.split("\t") for line in audited)}
    assert told[0][0] == ["number", "beginning", "first", "second", "goes_on"]
    assert len(told[0]) == len(told[1]) == 1 + min(50, len(audited))
    for pair, key in zip(told[0][1:], told[1][1:], strict=True):
        right, wrong = known[key[1], key[2]]
        shown = pair[2:4] if key[3] == "first" else pair[3:1:-1]
        assert pair[0] == key[0] and pair[4] == "" and shown == [right, wrong]
    assert {key[3] for key in told[1][1:]} == {"first", "second"}


def test_an_audit_of_a_corrected_table_finds_what_a_person_broke(folder):
    made(folder, "u.csv", "--threshold", "1", "--margin", "0")
    lines = (folder / "u.csv").read_text("utf-8").splitlines()
    words = lines[1].split(",")[3].split()
    lines[1] = lines[1].replace(words[1], "cat")
    (folder / "v.csv").write_text("\n".join(lines), encoding="utf-8")
    args = [f"{folder}/v.csv", f"{folder}/a", "--frequencies", f"{folder}/words.csv"]
    done = CliRunner().invoke(audit_, [*args, "--out", f"{folder}/v.tsv"])
    assert done.exception is None, done.output
    assert '"dog" beside "cat": ' in done.output
    assert "it occurs in the sentence already" in done.output


def test_a_sentence_of_one_word_is_refused_with_its_line(folder, tmp_path):
    (tmp_path / "t.csv").write_text("sentence,item\nDogs bark.,1\nStop!,2\n", encoding="utf-8")
    with pytest.raises(
        ParallaxError, match=r'"Stop!" has 1 word.* Expected two words or more'
    ) as refused:
        read_sentences(tmp_path / "t.csv", {})
    assert "line 3" in str(refused.value)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--column", "sentence"), '"sentence" names no header. Expected --column sentence=HEADER'),
        ((), "there are 1 distractors for 2 words: .*Expected one distractor for each word in"),
    ],
)
def test_what_no_audit_can_be_made_of_is_told(folder, tmp_path, options, message):
    (tmp_path / "t.csv").write_text("sentence,distractors\nDogs bark.,x\n", encoding="utf-8")
    args = [f"{tmp_path}/t.csv", f"{folder}/a", "--frequencies", f"{folder}/words.csv"]
    done = CliRunner().invoke(audit_, [*args, "--out", f"{tmp_path}/v.tsv", *options])
    assert re.search(message, str(done.exception)), done.exception
    assert not (tmp_path / "v.tsv").exists()


def test_a_table_in_a_format_that_is_not_written_is_refused_first(folder):
    args = [f"{folder}/t.csv", "none", "--frequencies", "none", "--out", f"{folder}/u.xls"]
    told = str(CliRunner().invoke(distractors, args).exception)
    assert (
        "u.xls: no table of this format can be written here. Expected a name that ends in .csv"
        in told
    )


def test_places_align_where_conditions_differ_in_a_word(tmp_path):
    text = "sentence,item,condition\nThe dogs are old.,1,a\nThe dogs is old.,1,b\n"
    (tmp_path / "t.csv").write_text(text, encoding="utf-8")
    slots = make_slots(read_sentences(tmp_path / "t.csv", {})[1])
    assert [slot.words for slot in slots] == [["dogs", "dogs"], ["are", "is"], ["old", "old"]]


def test_a_vocabulary_of_twenty_words_is_enough_and_one_of_nineteen_is_not(tmp_path):
    path = tmp_path / "words.csv"
    words = [f"{first}{second}" for first in "bdfgk" for second in "aeou"]
    # A word of one letter and a number are no distractors, so they do not count.
    path.write_text("word,count\na,9\n42,9\n" + "".join(f"{word},3\n" for word in words), "utf-8")
    assert sorted(Vocabulary(path).match(["ba"], 0, 0, random.Random(1), 99)) == sorted(words)
    path.write_text("word,count\na,9\n42,9\n" + "".join(f"{word},3\n" for word in words[1:]))
    with pytest.raises(ParallaxError, match="has 19 words of two letters or more"):
        Vocabulary(path)


def test_of_many_pairs_fifty_are_drawn_to_be_judged(tmp_path):
    sentence = Sentence(0, "line 2", "distractors", "1", ("The", "dogs", "bark."))
    uses = [Use(sentence, 1, f"word{number}", (30.0,), (2.0,), ()) for number in range(51)]
    assert write_judging_table(uses, 1, tmp_path / "j.tsv") == 50
    rows = (tmp_path / "j.tsv").read_text("utf-8").splitlines()
    assert len(rows) == 1 + 50
    assert len({*rows[1:]}) == 50 and all("\tThe\t" in row and "dogs" in row for row in rows[1:])
