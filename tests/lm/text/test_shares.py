"""Shares of what makes agreement hard, and pairs that a text holds out."""

from pathlib import Path

import pytest

from lm.errors import LmError
from lm.text.generated import write_text
from lm.text.grammar import Shares, TextGrammar, held_out_pairs, pairs_in_words, replace_shares
from lm.text.grammar_file import load_text_grammar
from lm.text.sampler import sample

GRAMMAR = """
name = "toy"
start = "sentence"

[features]
number = ["singular", "plural"]
between = "number"

[paired]
nouns = ["noun"]
verbs = ["verb"]

[lexicon.noun]
forms = "singular | plural"
entries = ["cat | cats", "dog | dogs", "bird | birds", "fish | fishes"]

[lexicon.verb]
forms = "singular | plural"
entries = ["sleeps | sleep", "waits | wait", "sings | sing"]

[rules]
"sentence" = { "clause(number)" = 9, "<noun.number> near(number) <verb.~number> @far" = 1 }
"clause(number)" = { "<noun.number> <verb.~number>" = 1 }
"near(number)" = { "'near' noun(between)" = 3, "'that' noun(between) 'sees' @clauses" = 1 }
"noun(number)" = { "<noun.number>" = 1 }
"""
NOUNS = {"cat": 0, "dog": 0, "bird": 0, "fish": 0, "cats": 1, "dogs": 1, "birds": 1, "fishes": 1}


@pytest.fixture
def grammar(tmp_path: Path) -> TextGrammar:
    (tmp_path / "grammar.toml").write_text(GRAMMAR)
    return load_text_grammar(tmp_path / "grammar.toml")


def drawn(grammar: TextGrammar, n: int = 3000, held_out: float = 0.0) -> list[list[str]]:
    return [text.split() for text in sample(grammar, {}, n, 1, set(), held_out)]


def share(found: list[bool]) -> float:
    return sum(found) / len(found)


def test_marked_sequences_have_the_share_that_is_asked_for(grammar: TextGrammar):
    changed = replace_shares(grammar, Shares(marked={"far": 0.4, "clauses": 0.75}))
    far = [words for words in drawn(changed) if len(words) > 3]
    assert len(far) / 3000 == pytest.approx(0.4, abs=0.03)
    assert share(["that" in words for words in far]) == pytest.approx(0.75, abs=0.04)


@pytest.mark.parametrize("wanted", [0.0, 0.3, 1.0])
def test_nouns_between_differ_in_number_as_often_as_is_asked_for(
    grammar: TextGrammar, wanted: float
):
    changed = replace_shares(grammar, Shares(attractors=wanted, marked={"far": 1.0}))
    differ = [NOUNS[words[0]] != NOUNS[words[2]] for words in drawn(changed)]
    assert share(differ) == pytest.approx(wanted, abs=0.03)


def test_agreement_errors_have_the_share_that_is_asked_for(grammar: TextGrammar):
    texts = drawn(replace_shares(grammar, Shares(agreement_errors=0.3)))
    wrong = [NOUNS[words[0]] == words[-2].endswith("s") for words in texts]
    assert share(wrong) == pytest.approx(0.3, abs=0.03)


def test_what_is_not_asked_for_stays_as_it_is(grammar: TextGrammar):
    assert replace_shares(grammar, Shares()) == grammar
    assert share([len(words) > 3 for words in drawn(grammar)]) == pytest.approx(0.1, abs=0.02)


def test_held_out_pairs_never_stand_in_one_sentence_and_the_rest_does(grammar: TextGrammar):
    pairs = held_out_pairs(grammar, grammar.words, 0.25, 1)
    apart = {tuple(pair) for pair in pairs_in_words(pairs, grammar.words)}
    assert len(apart) == 3
    met = {
        (noun.replace("fishes", "fish").rstrip("s"), word.rstrip("s") + "s")
        for words in drawn(grammar, held_out=0.25)
        for noun in words
        if noun in NOUNS
        for word in words[-2:-1]
    }
    assert met.isdisjoint(apart)
    assert len(met) == 12 - 3


def test_holding_pairs_out_leaves_the_shares_of_sequences(grammar: TextGrammar):
    changed = replace_shares(grammar, Shares(marked={"far": 0.4}))
    far = [len(words) > 3 for words in drawn(changed, held_out=0.5)]
    assert share(far) == pytest.approx(0.4, abs=0.03)


def test_other_shares_leave_the_pairs(grammar: TextGrammar):
    changed = replace_shares(grammar, Shares(agreement_errors=0.3))
    one, other = (sample(g, {}, 5, 1, set(), 0.5).held_out for g in (grammar, changed))
    assert one == other
    assert one != sample(grammar, {}, 5, 2, set(), 0.5).held_out


def test_the_shares_found_are_described_with_the_text(grammar: TextGrammar, tmp_path: Path):
    changed = replace_shares(grammar, Shares(0.05, 0.9, {"far": 0.5}))
    source = sample(changed, {}, 400, 1, set(), 0.25)
    about = write_text(tmp_path / "text.txt", source, source)
    found = about["shares"]
    texts = [line.split() for line in (tmp_path / "text.txt").read_text().splitlines()]
    far = [words for words in texts if len(words) > 3]
    differ = [NOUNS[words[0]] != NOUNS[words[2]] for words in far]
    assert found == {
        "agreement_errors": 0.05,
        "clauses": sum("that" in words for words in texts) / 400,
        "far": len(far) / 400,
        "attractors": sum(differ) / len(differ),
        "held_out_pairs": 0.25,
    }
    assert f"far {100 * found['far']:.3g}%" in about["description"]
    assert "held out pairs 25%" in about["description"]
    assert len(about["pairs_held_out"]) == 3


@pytest.mark.parametrize(
    ("old", "shares", "said"),
    [
        ("@far", Shares(marked={"far": 0.5}), "marks no choice with @far"),
        ('between = "number"', Shares(attractors=0.5), "no feature that is an attractor of"),
    ],
)
def test_a_grammar_that_does_not_mark_what_has_a_share_is_refused(tmp_path, old, shares, said):
    text = GRAMMAR.replace(old, "").replace("(between)", "(number)")
    (tmp_path / "grammar.toml").write_text(text)
    with pytest.raises(LmError, match=said):
        replace_shares(load_text_grammar(tmp_path / "grammar.toml"), shares)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('nouns = ["noun"]\nverbs = ["verb"]', "", "paired"),
        ('nouns = ["noun"]', 'nouns = ["tree"]', 'no word list "tree"'),
        ('between = "number"', 'between = "case"', "case has no values"),
    ],
)
def test_a_grammar_that_names_what_is_not_there_is_refused(tmp_path, old, new, said):
    (tmp_path / "grammar.toml").write_text(GRAMMAR.replace(old, new))
    with pytest.raises(LmError, match=said):
        sample(load_text_grammar(tmp_path / "grammar.toml"), {}, 5, 1, set(), 0.5)


def test_a_grammar_without_pairs_says_so_when_some_are_to_be_held_out(tmp_path: Path):
    text = GRAMMAR.replace('[paired]\nnouns = ["noun"]\nverbs = ["verb"]', "")
    (tmp_path / "grammar.toml").write_text(text)
    with pytest.raises(LmError, match=r"no \[paired\] nouns and verbs"):
        sample(load_text_grammar(tmp_path / "grammar.toml"), {}, 5, 1, set(), 0.5)
