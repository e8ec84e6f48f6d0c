"""Every flaw of a grammar ends as one paragraph that names file, line, template and slot."""

from pathlib import Path

import pytest

from experiment.errors import MaterialsError
from experiment.grammar.grammar import generate, load_grammar

SOUND = """\
[lexicon.noun]
forms = "singular | plural"
entries = [
    "hotdog | hotdogs",
    "dog | dogs",
]

[lexicon.verb]
forms = "singular | plural"
entries = ["runs | run", "sits | sit"]

[lexicon.adverb]
entries = ["often", "here"]

[[template]]
name = "simple"
construction = "agreement"
condition = "{main}"
features = { main = ["singular", "plural"], animacy = "animate" }
slots = { S = "noun", A = "adverb", V = "verb", V2 = "verb" }
distinct = [["V", "V2"]]
good = "the {S.main} {A} {V.main} and {V2.main}"
bad = "the {S.main} {A} {V.main} and {V2.!main}"
"""
TEMPLATE = 'template "simple" (construction "agreement")'


def line_of(text: str, grammar: str) -> int:
    return next(n for n, line in enumerate(grammar.splitlines(), 1) if text in line)


def failure(tmp_path: Path, grammar: str) -> str:
    path = tmp_path / "grammar.toml"
    path.write_text(grammar, encoding="utf-8")
    with pytest.raises(MaterialsError) as caught:
        list(generate(load_grammar(path)))
    message = str(caught.value)
    assert "\n" not in message
    return message


def test_the_grammar_that_the_other_tests_break_is_sound(tmp_path: Path):
    path = tmp_path / "grammar.toml"
    path.write_text(SOUND, encoding="utf-8")
    assert len(list(generate(load_grammar(path)))) == 2 * 2 * 2 * 2


@pytest.mark.parametrize(
    ("old", "new", "line_with", "parts"),
    [
        ('"dog | dogs"', '"dog"', '"dog"', ['lexicon "noun"', "plural", '"dog | <plural>"']),
        ('"dog | dogs"', '"dog | "', '"dog | "', ["lacks plural"]),
        ('"dog | dogs"', '"dog | dogs | x"', '"dog | dogs | x"', ["has 3 columns", "has 2"]),
        (
            '"dog | dogs"',
            '"hotdog | treats"',
            '"hotdog | treats"',
            ['two entries begin with "hotdog"'],
        ),
        ('"often"', '"often | oft"', '"often | oft"', ['lexicon "adverb"', "has 2 columns"]),
        (
            '"singular | plural"\nentries = [\n',
            '"singular | "\nentries = [\n',
            "forms",
            ["does not name the forms"],
        ),
        ("entries = [\n", "entrees = [\n", "entrees", ['no key "entrees"', 'mean "entries"?']),
        (
            'main = ["singular", "plural"]',
            ", ".join(f'{name} = ["singular", "plural"]' for name in "abcdefghijklmn"),
            "features",
            [TEMPLATE, "the features have 16,384 combinations", "at most 10,000"],
        ),
        ('S = "noun"', 'S = "nuon"', "slots", [TEMPLATE, 'slot "S"', '"nuon"', 'mean "noun"']),
        ("{S.main} {A} {V.main} and {V2.m", "{X.main} {V2.m", "good", [TEMPLATE, 'slot "X"']),
        ('good = "the {S.main}', 'good = "the {S.dual}', "good", ['slot "S"', '"dual"']),
        ('good = "the {S.main}', 'good = "the {S}', "good", ['slot "S"', "inflected"]),
        (
            'good = "the {S.main}',
            'good = "the {S main}',
            "good",
            ["is not a reference to a slot", "{slot}, {slot.feature}, {slot.!f"],
        ),
        ('good = "the {S.main}', 'good = "the {S.main', "good", ["a brace has no partner"]),
        ("{V2.!main}", "{V2.!animacy}", "bad", ['slot "V2"', '"!animacy"', "two values"]),
        ("{V2.!main}", "{V2.!plural}", "bad", ['slot "V2"', '"!plural"', "two values"]),
        ("{V2.!main}", "{V2.animacy}", "bad", ['slot "V2"', '"verb"', 'no form "animate"']),
        ("{V2.!main}", "{V2.main}", "bad", [TEMPLATE, "make the same sentences"]),
        ("{V2.!main}", "{A.main}", "bad", ['slot "A"', 'no form "singular"']),
        ('A = "adverb",', 'A = "adverb", Z = "noun",', "slots", [TEMPLATE, 'slot "Z"']),
        ('"animate" }', '["x", "y"] }', "features", ['"animacy"', "no slot agrees"]),
        ('"animate" }', "[] }", "features", ['"animacy"', "different single words"]),
        ('"{main}"', '"{mian}"', "condition", ['names "mian", which is not a feature']),
        ('"{main}"', '"any"', "condition", [TEMPLATE, "2 combinations", '"any"']),
        ('[["V", "V2"]]', '[["V", "W"]]', "distinct", ["two or more of the slots S, A, V, V2"]),
        ('[["V", "V2"]]', '[["V", "S"]]', "distinct", ["slots that draw on the same lexicon"]),
        (
            "distinct",
            'contrast = "distractor"\ndistinct',
            "contrast",
            ["the template has no distractor"],
        ),
        ("distinct", 'contrast = "worse"\ndistinct', "contrast", ['template "simple"', "worse"]),
        ("good =", "god =", "god", ['template "simple"', '"god"', 'mean "good"?']),
        ('condition = "{main}"\n', "", "[[template]]", ['"condition"', "required"]),
        (
            '"runs | run", "sits | sit"',
            '"ran | ran", "sat | sat"',
            "[[template]]",
            [
                TEMPLATE,
                "in every frame",
                "V2=sat, singular",
                '"singular" and "plural" are both "sat"',
            ],
        ),
    ],
)
def test_a_flaw_is_found_on_its_line(
    tmp_path: Path, old: str, new: str, line_with: str, parts: list[str]
):
    assert old in SOUND
    grammar = SOUND.replace(old, new, 1)
    message = failure(tmp_path, grammar)
    assert message.startswith(f"{tmp_path}/grammar.toml:{line_of(line_with, grammar)}: ")
    assert [part for part in parts if part not in message] == []


def test_the_violation_of_a_three_valued_feature_is_refused(tmp_path: Path):
    grammar = SOUND.replace("singular | plural", "singular | dual | plural")
    grammar = grammar.replace('["singular", "plural"]', '["singular", "dual", "plural"]')
    for two, three in (
        ("hotdog | hotdogs", "hotdog | hotdog | hotdogs"),
        ('"dog | dogs', '"dog | dog | dogs'),
    ):
        grammar = grammar.replace(two, three)
    grammar = grammar.replace("runs | run", "runs | ru | run").replace("sits |", "sits | si |")
    message = failure(tmp_path, grammar)
    assert f"grammar.toml:{line_of('bad =', grammar)}: {TEMPLATE}" in message
    assert 'slot "V2", {V2.!main} in "bad"' in message


def test_a_name_that_is_both_feature_and_form_is_refused(tmp_path: Path):
    grammar = SOUND.replace("main", "plural")
    assert '"plural" is both a feature and a form' in failure(tmp_path, grammar)


def test_a_template_named_twice_points_to_both_places(tmp_path: Path):
    header = SOUND.index("[[template]]")
    grammar = SOUND + SOUND[header:]
    message = failure(tmp_path, grammar)
    first = line_of("[[template]]", grammar)
    second = line_of('name = "simple"', SOUND) + SOUND[header:].count("\n")
    assert message.startswith(f"{tmp_path}/grammar.toml:{second}: {TEMPLATE}")
    assert f"another name; the template at {tmp_path}/grammar.toml:{first} has this one" in message


def test_malformed_toml_is_reported_with_its_line(tmp_path: Path):
    grammar = SOUND.replace('name = "simple"', "name = simple")
    message = failure(tmp_path, grammar)
    assert message.startswith(f"{tmp_path}/grammar.toml:{line_of('name =', grammar)}: not valid")


@pytest.mark.parametrize(
    ("grammar", "part"),
    [
        ("", '"template"'),
        ("template = 3", '"template"'),
        ("template = [3]", 'template "#1"'),
        ("lexicon = 3", '"lexicon"'),
        ("lexicon.x = 3", 'lexicon "x"'),
        ("[sentence]\nname = 'x'", '"sentence"'),
    ],
)
def test_a_file_of_another_shape_is_refused(tmp_path: Path, grammar: str, part: str):
    assert part in failure(tmp_path, grammar)


def test_a_missing_grammar_and_one_in_another_encoding_are_refused(tmp_path: Path):
    with pytest.raises(MaterialsError, match=r"nowhere\.toml: the grammar cannot be opened"):
        load_grammar(tmp_path / "nowhere.toml")
    latin = tmp_path / "latin.toml"
    latin.write_bytes("# caf\xe9".encode("latin-1"))
    with pytest.raises(MaterialsError, match="not UTF-8"):
        load_grammar(latin)
