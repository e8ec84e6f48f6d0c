from pathlib import Path

import pytest

from lm.errors import LmError
from lm.text import sampler
from lm.text.grammar import TextGrammar
from lm.text.grammar_file import load_text_grammar
from lm.text.sampler import sample

GRAMMAR = """
name = "toy"
start = "sentence"

[features]
number = ["singular", "plural"]

[lexicon.verb]
forms = "singular | plural"
entries = ["sleeps | sleep", "waits | wait"]

[lexicon.adverb]
entries = ["often", "never"]

[rules]
"sentence" = { "subject(number) predicate(~number)" = 3, "'It rains'" = 1 }
"subject(number)" = { "'the' <noun.number>" = 1 }
"predicate(number)" = { "<verb.number>" = 3, "<adverb> <verb.number>" = 1 }
"two" = { "subject(singular) 'and' subject(plural)" = 1 }
"loop" = { "loop" = 1 }
"""
NOUNS = {"noun.singular": ("cat", "taxi driver"), "noun.plural": ("cats", "taxi drivers")}


def grammar(tmp_path: Path, text: str = GRAMMAR) -> TextGrammar:
    path = tmp_path / "grammar.toml"
    path.write_text(text)
    return load_text_grammar(path)


def test_sentences_are_lower_case_tokens_with_a_final_period(tmp_path: Path):
    drawn = list(sample(grammar(tmp_path), NOUNS, 200, 1, set()))
    assert len(drawn) == 200
    assert "it rains ." in drawn
    assert all(s == " ".join(s.lower().split()) and s.endswith(" .") for s in drawn)
    assert {"the taxi driver sleeps .", "the cats never wait ."} <= set(drawn)


def test_words_agree(tmp_path: Path):
    for sentence in sample(grammar(tmp_path), NOUNS, 300, 1, set()):
        plural_subject = "cats" in sentence or "drivers" in sentence
        plural_verb = sentence.split()[-2] in ("sleep", "wait")
        assert plural_subject == plural_verb


def test_agreement_errors_have_their_share(tmp_path: Path):
    text = GRAMMAR.replace('start = "sentence"', 'start = "sentence"\nagreement_error_rate = 0.2')
    drawn = list(sample(grammar(tmp_path, text), NOUNS, 4000, 1, set()))
    clauses = [s.split() for s in drawn if s.startswith("the")]
    wrong = [
        tokens
        for tokens in clauses
        if ("cats" in tokens or "drivers" in tokens) != (tokens[-2] in ("sleep", "wait"))
    ]
    assert 0.17 < len(wrong) / len(clauses) < 0.23


def test_rules_are_used_by_their_weights(tmp_path: Path):
    drawn = list(sample(grammar(tmp_path), NOUNS, 4000, 1, set()))
    assert 0.22 < drawn.count("it rains .") / 4000 < 0.28


def test_values_may_be_written_out(tmp_path: Path):
    start = GRAMMAR.replace('start = "sentence"', 'start = "two"')
    for sentence in sample(grammar(tmp_path, start), NOUNS, 20, 1, set()):
        first, second = sentence.removesuffix(" .").split(" and ")
        assert first in ("the cat", "the taxi driver")
        assert second in ("the cats", "the taxi drivers")


def test_the_seed_decides(tmp_path: Path):
    toy = grammar(tmp_path)
    assert list(sample(toy, NOUNS, 50, 1, set())) == list(sample(toy, NOUNS, 50, 1, set()))
    assert list(sample(toy, NOUNS, 50, 1, set())) != list(sample(toy, NOUNS, 50, 2, set()))


def test_given_word_lists_come_before_the_grammars_own(tmp_path: Path):
    lists = {**NOUNS, "adverb": ("seldom",)}
    drawn = " ".join(sample(grammar(tmp_path), lists, 200, 1, set()))
    assert "seldom" in drawn
    assert "often" not in drawn


def test_sentences_never_to_be_seen_are_drawn_again(tmp_path: Path):
    never = {"it rains .", "the cat sleeps ."}
    source = sample(grammar(tmp_path), NOUNS, 300, 1, never)
    assert never.isdisjoint(source)
    assert source.rejected > 50


def test_a_grammar_that_gives_too_few_sentences_is_refused(tmp_path: Path):
    toy = grammar(
        tmp_path,
        GRAMMAR.replace('"sentence" =', '"unused" =').replace(
            'start = "sentence"', 'start = "subject_"'
        )
        + '"subject_" = { "subject(number)" = 1 }\n',
    )
    never = {"the cat .", "the cats .", "the taxi driver ."}
    assert set(sample(toy, NOUNS, 5, 1, never)) == {"the taxi drivers ."}
    with pytest.raises(LmError, match=r"gave 0 sentences.*more words"):
        next(sample(toy, NOUNS, 5, 1, never | {"the taxi drivers ."}))


def test_rules_without_end_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sampler, "_MOST_FAILURES", 100)  # of 10,000, each as deep as rules may go
    toy = grammar(tmp_path, GRAMMAR.replace('start = "sentence"', 'start = "loop"'))
    with pytest.raises(LmError, match=r"100 draws in a row .* did not end"):
        next(sample(toy, NOUNS, 5, 1, set()))


def test_a_missing_word_list_is_named(tmp_path: Path):
    with pytest.raises(LmError, match=r'"subject" .* the word list "noun\.plural"'):
        sample(grammar(tmp_path), {"noun.singular": ("cat",)}, 5, 1, set())


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('name = "toy"', "name = toy", "line 2"),
        ('name = "toy"', "", '"name" is missing.'),
        ('name = "toy"', 'name = "toy"\ncolour = 1', '"colour" is unknown.'),
        ('name = "toy"', "name = 3", '"name" must be a text, not 3.'),
        ("often", "often | seldom", 'the lexicon "adverb" the entry "often | seldom"'),
        ("waits | wait", "waits", 'the entry "waits" does not have one word for each'),
        (
            'start = "sentence"',
            'start = "text"',
            'start: there is no rule "text". The rules are: sentence',
        ),
        (
            'start = "sentence"',
            'start = "subject"',
            'rule "subject" takes (number), not 0',
        ),
        (
            "subject(number) pred",
            "subject() pred",
            'rule "subject" takes (number), not 0',
        ),
        (
            "subject(number) pred",
            "object(number) pred",
            'in the rule "sentence": there is no rule "object"',
        ),
        ("subject(singular)", "subject(dual)", '"dual" cannot be the number'),
        ("(~number)", "(~tense)", 'in the rule "sentence" "~tense" is not a feature'),
        ('"predicate(number)" =', '"predicate(tense)" =', "tense, which is not a feature"),
        ('"predicate(number)" =', '"predicate number" =', "does not name a rule"),
        ('"singular", "plural"]', "]", 'in "features.number": a feature needs at least one value'),
        (
            '["singular", "plural"]',
            "3",
            "a feature is a list of its values, or the name of the feature it attracts",
        ),
        ("'It rains'", "It rains!", 'cannot be read at "!"'),
        ('"loop" = 1', '"loop" = 0', "weights of at least 0"),
        ('"loop" = 1', "", 'rule "loop" needs weights'),
    ],
)
def test_a_wrong_grammar_is_refused_with_its_place(tmp_path: Path, old: str, new: str, said: str):
    text = GRAMMAR.replace(old, new, 1)
    with pytest.raises(LmError) as error:
        grammar(tmp_path, text)
    assert said in str(error.value)
    assert "grammar.toml" in str(error.value)
    if "missing" not in said:
        assert f"line {_line_of_the_fault(text, old, new)}" in str(error.value)


def _line_of_the_fault(text: str, old: str, new: str) -> int:
    """Return where what was planted stands; a table in braces is one statement, from its key on."""
    at = GRAMMAR.index(old) + new.rindex("\n") + 1 if "\n" in new else GRAMMAR.index(old)
    return text.count("\n", 0, at) + 1


def test_a_feature_of_one_value_is_refused_where_it_should_disagree(tmp_path: Path):
    text = GRAMMAR.replace('"singular", "plural"]', '"singular"]', 1)
    line = text[: text.index('"sentence" =')].count("\n") + 1
    with pytest.raises(LmError, match=rf"line {line}: .* Only such a feature can disagree"):
        grammar(tmp_path, text)


def test_a_missing_grammar_is_refused(tmp_path: Path):
    (tmp_path / "latin.toml").write_bytes(b'name = "toy"\n# caf\xe9\n')
    with pytest.raises(LmError, match=r"latin\.toml: line 2 is not UTF-8 text\.$"):
        load_text_grammar(tmp_path / "latin.toml")
    with pytest.raises(LmError, match="cannot read the text grammar"):
        load_text_grammar(tmp_path / "absent.toml")


def test_tags_tell_the_rule_and_the_form_of_each_word(tmp_path: Path):
    source = sample(grammar(tmp_path), NOUNS, 50, 1, set())
    for sentence in source:
        tagged = dict(zip(sentence.split(), source.tags, strict=True))
        if "drivers" in tagged:
            assert tagged["taxi"] == tagged["drivers"] == "subject.plural"
            assert tagged["the"] == "subject"
        if "often" in tagged:
            assert tagged["often"] == "predicate"
