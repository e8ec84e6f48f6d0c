"""Words with several features, from tables and paradigms, and rules of spelling."""
# ruff: noqa: RUF001 - the Turkish letter without a dot

from pathlib import Path

import pytest

from experiment.errors import MaterialsError, StudyNote
from experiment.grammar.grammar import generate, list_files, load_grammar
from experiment.records import Item

FRENCH = r"""
[lexicon.article]
forms = "masculine singular | feminine singular | plural"
entries = ["le | la | les"]

[lexicon.noun]
forms = "singular | plural"
inherent = "gender"
entries = ["auteur | auteurs | masculine", "reine | reines | feminine"]

[lexicon.adjective]
forms = "masculine singular | feminine singular | masculine plural | feminine plural"
entries = ["petit | petite | petits | petites", "jeune | jeune | jeunes | jeunes"]

[[rewrite]]
find = "(^| )l[ea] ([aeiou])"
replace = "\\1l'\\2"

[[template]]
name = "gender"
construction = "gender_agreement"
condition = "{number}"
features = { number = ["singular", "plural"], gender = "N.gender" }
slots = { D = "article", N = "noun", A = "adjective" }
where = []
good = "{D.number.gender} {N.number} est {A.number.gender}"
bad = "{D.number.gender} {N.number} est {A.number.!gender}"
"""
NOUNS = "singular,plural,gender,note\nauteur,auteurs,masculine,x\n\nreine,reines,feminine,\n"
VERBS = """\
dormir\tdort\tV;IND;PRS;3;SG
dormir\tdorment\tV;IND;PRS;3;PL
dormir\tdormions\tV;IND;PST;1;PL
dormir\tdormions\tV;SBJV;PRS;1;PL
dormir\tdormant\tV.PTCP;PRS

"""
VERBAL = """
[lexicon.verb]
forms = "3 SG | 3 PL"
paradigms = "verbs.tsv"
entries = ["dormir"]

[[template]]
name = "verbs"
construction = "agreement"
condition = "{person} {number}"
features = { person = "3", number = ["SG", "PL"] }
slots = { V = "verb" }
good = "ils {V.person.number}"
bad = "ils {V.person.!number}"
"""


def write(folder: Path, grammar: str) -> Path:
    path = folder / "grammar.toml"
    path.write_text(grammar, encoding="utf-8")
    (folder / "nouns.csv").write_text(NOUNS, encoding="utf-8")
    (folder / "verbs.tsv").write_text(VERBS, encoding="utf-8")
    return path


def items_of(folder: Path, grammar: str, notes: list[StudyNote] | None = None) -> list[Item]:
    return list(generate(load_grammar(write(folder, grammar)), (notes or []).append))


def failure(folder: Path, grammar: str) -> str:
    with pytest.raises(MaterialsError) as refused:
        items_of(folder, grammar)
    message = str(refused.value)
    assert "\n" not in message
    return message


def replaced(old: str, new: str, grammar: str = FRENCH) -> str:
    assert old in grammar
    return grammar.replace(old, new, 1)


def test_words_agree_with_a_noun_s_gender_and_the_condition_s_number(tmp_path: Path):
    items = items_of(tmp_path, FRENCH)
    assert [(item.features, item.good, item.bad) for item in items] == [
        ("number=singular gender=masculine", "l'auteur est petit", "l'auteur est petite"),
        ("number=plural gender=masculine", "les auteurs est petits", "les auteurs est petites"),
        ("number=singular gender=feminine", "la reine est petite", "la reine est petit"),
        ("number=plural gender=feminine", "les reines est petites", "les reines est petits"),
    ]
    assert [item.item_id for item in items] == ["gender-1", "gender-2", "gender-3", "gender-4"]


def test_frames_with_two_versions_alike_are_left_out_and_counted(tmp_path: Path):
    notes: list[StudyNote] = []
    list(generate(load_grammar(write(tmp_path, FRENCH)), notes.append))
    (note,) = notes
    line = FRENCH.splitlines().index("[[template]]") + 1
    assert note.where == f"{tmp_path}/grammar.toml:{line}"
    assert "2 of 4 frames are left out, because two versions are the same" in note.problem
    assert "D=le N=auteur A=jeune, singular" in note.problem
    same = 'in slot A, "masculine singular" and "feminine singular" are both "jeune"'
    assert f"{same} ({tmp_path}/grammar.toml:13)" in note.problem


def test_each_feature_can_be_violated_by_name(tmp_path: Path):
    items = items_of(tmp_path, replaced("{A.number.!gender}", "{A.!number.gender}"))
    # Both adjectives have two numbers, so that no frame is left out: 2 nouns x 2 x 2 conditions.
    assert len(items) == 8
    assert items[0].bad == "l'auteur est petits"


@pytest.mark.parametrize(
    ("where", "nouns", "conditions"),
    [
        ('"N.gender = feminine"', {"reine"}, {"singular", "plural"}),
        ('"gender != feminine"', {"auteur"}, {"singular", "plural"}),
        ('"number = plural"', {"auteur", "reine"}, {"plural"}),
    ],
)
def test_where_keeps_words_and_conditions(
    tmp_path: Path, where: str, nouns: set[str], conditions: set[str]
):
    grammar = replaced("where = []", f"where = [{where}]")
    grammar = replaced("{A.number.!gender}", "{A.!number.gender}", grammar)
    items = items_of(tmp_path, grammar)
    assert {item.frame.split()[1] for item in items} == {f"N={noun}" for noun in nouns}
    assert {item.condition for item in items} == conditions


def test_two_words_can_be_required_to_share_a_feature(tmp_path: Path):
    grammar = replaced('A = "adjective" }', 'A = "adjective", M = "noun" }')
    grammar = replaced("est {A.number.gender}", "et {M.plural} est {A.number.gender}", grammar)
    # Two nouns, two adjectives, two nouns.
    assert len({item.frame for item in items_of(tmp_path, grammar)}) == 8
    same = replaced("where = []", 'where = ["N.gender = M.gender"]', grammar)
    assert {item.frame for item in items_of(tmp_path, same)} == {
        f"D=le N={noun} A={adjective} M={noun}"
        for noun in ("auteur", "reine")
        for adjective in ("petit", "jeune")
    }


def test_entries_of_a_table_and_of_the_grammar_make_the_same_items(tmp_path: Path):
    listed = 'entries = ["auteur | auteurs | masculine", "reine | reines | feminine"]'
    assert items_of(tmp_path, replaced(listed, 'entries = "nouns.csv"')) == items_of(
        tmp_path, FRENCH
    )


def test_forms_come_from_paradigms_by_their_features(tmp_path: Path):
    items = items_of(tmp_path, VERBAL)
    assert [(item.condition, item.good, item.bad) for item in items] == [
        ("3 SG", "ils dort", "ils dorment"),
        ("3 PL", "ils dorment", "ils dort"),
    ]
    # Two moods share a form, which is no contradiction; a dot in a feature is an underscore.
    assert (
        items_of(
            tmp_path,
            VERBAL.replace("3 SG |", "1 PL |")
            .replace('"3"', '"3"')
            .replace("3 PL", "V_PTCP")
            .replace("{V.person.number}", "{V.1.PL}")
            .replace("{V.person.!number}", "{V.V_PTCP}")
            .replace('["SG", "PL"]', '"any"'),
        )[0].good
        == "ils dormions"
    )


def test_lexicons_and_rules_are_included_from_further_files(tmp_path: Path):
    words, template = FRENCH.split("[[template]]")
    (tmp_path / "words.toml").write_text(words, encoding="utf-8")
    grammar = f'include = ["words.toml"]\n[[template]]{template}'
    assert items_of(tmp_path, grammar) == items_of(tmp_path, FRENCH)
    assert list_files(write(tmp_path, grammar)) == ["words.toml"]
    assert list_files(write(tmp_path, VERBAL)) == ["verbs.tsv"]


def test_a_context_precedes_the_versions(tmp_path: Path):
    grammar = replaced(
        'good = "{D.number.gender} {N.number} est',
        'context = "{D.number.gender} {N.number}"\ngood = "est',
    )
    grammar = replaced('bad = "{D.number.gender} {N.number} est', 'bad = "est', grammar)
    first = items_of(tmp_path, grammar)[0]
    assert (first.context, first.good, first.bad) == ("l'auteur", "est petit", "est petite")


TURKISH = r"""
[lexicon.noun]
entries = ["ev", "okul", "göl", "kız"]

[[rewrite]]
find = "([eiöü][^aeıioöuüAI ]*)A"
replace = "\\1e"
[[rewrite]]
find = "([aıou][^aeıioöuüAI ]*)A"
replace = "\\1a"
[[rewrite]]
find = "([ei][^aeıioöuüAI ]*)I"
replace = "\\1i"
[[rewrite]]
find = "([aı][^aeıioöuüAI ]*)I"
replace = "\\1ı"
[[rewrite]]
find = "([öü][^aeıioöuüAI ]*)I"
replace = "\\1ü"
[[rewrite]]
find = "([ou][^aeıioöuüAI ]*)I"
replace = "\\1u"

[[template]]
name = "possessive"
construction = "possessive"
condition = "all"
features = {}
slots = { N = "noun" }
good = "{N}ImIz {N}lArImIzdA"
bad = "{N}"
"""


def test_rules_of_harmony_spread_from_vowel_to_vowel(tmp_path: Path):
    assert [item.good for item in items_of(tmp_path, TURKISH)] == [
        "evimiz evlerimizde",
        "okulumuz okullarımızda",
        "gölümüz göllerimizde",
        "kızımız kızlarımızda",
    ]


@pytest.mark.parametrize(
    ("old", "new", "line_with", "parts"),
    [
        ('"N.gender"', '"N.gendre"', "features =", ["inherent feature", 'mean "N.gender"?']),
        ("{A.number.gender}", "{A.nubmer.gender}", "good =", ["neither", 'mean "number"?']),
        ("{A.number.gender}", "{A.gender}", "good =", ['"masculine"', "one form for each"]),
        ("{N.number} est {A", "{N.number.gender} est {A", "good =", ['"noun" depends']),
        ('"{number}"', '"{gender}"', "condition", ["differs between frames of one condition"]),
        ('inherent = "gender"', 'inherent = "g h | h g"', "inherent", ["name the inherent"]),
        ('inherent = "gender"', 'inherent = "plural"', "inherent", ["both a form and an inherent"]),
        ("reine | reines | feminine", "reine | reines", '"reine', ["lacks gender", "<gender>"]),
        ("where = []", 'where = ["N.gender"]', "where", ["is not a condition"]),
        ("where = []", 'where = ["N.gendre = x"]', "where", ['"N.gendre"', "N.gender"]),
        ("where = []", 'where = ["gender = neuter"]', "where", ['no value "neuter"']),
        ("where = []", 'where = ["gender = number"]', "where", ["of the conditions with one of"]),
        ("where = []", 'where = ["number != number"]', "where", ["no combination of features"]),
        ("where = []", 'where = ["gender != gender"]', "where", ["no combination of words"]),
        ("where = []", 'distinct = [["D", "E"]]', "[[template]]", ['"distinct" and "where"']),
        ("(^| )l[ea]", "(?=l)[ea]", "find", ["cannot search for", "without what only a search"]),
        ("\\\\2", "\\\\3", "replace", ["names the group 3 of", "which has 2"]),
        ("l'\\\\2", "l'e le \\\\2", "[[rewrite]]", ["changes its own result without end"]),
        ("l'\\\\2", "le ale a\\\\2", "[[rewrite]]", ["changes its own result without end"]),
        ("masculine singular | feminine singular", "masculine | singular", "good =", ['both "m']),
        ('["auteur', '["auteur | auteurs | feminine", "auteur', "entries", ["two entries begin"]),
    ],
)  # fmt: skip
def test_a_flaw_is_one_paragraph_with_its_line(
    tmp_path: Path, old: str, new: str, line_with: str, parts: list[str]
):
    grammar = replaced(old, new)
    if "distinct" in new:
        grammar = replaced(
            'slots = { D = "article",', 'slots = { D = "article", E = "article",', grammar
        )
        grammar = replaced("est {A.number.gender}", "est {E.plural} {A.number.gender}", grammar)
    message = failure(tmp_path, grammar)
    assert [part for part in parts if part not in message] == []
    lines = [str(n) for n, line in enumerate(grammar.splitlines(), 1) if line_with in line]
    assert message.split(":")[1] in lines


@pytest.mark.parametrize(
    ("old", "new", "parts"),
    [
        ("verbs.tsv", "../verbs.tsv", ["lies outside the folder of the grammar"]),
        ("verbs.tsv", "nowhere.tsv", ["the file of paradigms cannot be opened (No such file"]),
        ('["dormir"]', '["dromir"]', ['no lemma "dromir"', 'mean "dormir"?']),
        ("3 PL", "2 PL", ['no form "2 PL" of "dormir"', "V;IND;PRS;3;SG"]),
        ("3 PL", "3", ['two forms of "dormir" are "3": "dort"', "tsv:1", '"dorment"', "tsv:2"]),
        ('["dormir"]', '"words.csv"', ["the file of words cannot be opened (No such file"]),
        (
            '["dormir"]',
            '"nouns.csv"',
            ['no column "word"', "nouns.csv:1", "a column for each of word"],
        ),
    ],
)
def test_a_flaw_of_a_further_file_names_it(tmp_path: Path, old: str, new: str, parts: list[str]):
    message = failure(tmp_path, replaced(old, new, VERBAL))
    assert [part for part in parts if part not in message] == []


def test_a_line_of_paradigms_without_features_is_refused(tmp_path: Path):
    path = write(tmp_path, VERBAL)
    (tmp_path / "verbs.tsv").write_text("dormir\tdort\n", encoding="utf-8")
    with pytest.raises(MaterialsError, match=r"verbs\.tsv:1: the line is not a lemma, a form"):
        load_grammar(path)


@pytest.mark.parametrize(
    ("old", "new", "first"),
    [
        ("verbs.tsv", "long.tsv", "dormir\tdort\tV;IND;PRS;3;SG"),
        ('["dormir"]', '"long.csv"', "word"),
    ],
)
def test_a_cell_that_is_too_long_is_named_by_its_line(tmp_path: Path, old, new, first):
    path, name = write(tmp_path, replaced(old, new, VERBAL)), new.strip('"')
    (tmp_path / name).write_text(f"{first}\n{'x' * 131_073}\n", encoding="utf-8")
    expected = rf"{name}:2: the line cannot be read .* Expected cells of at most 131,072 characters"
    with pytest.raises(MaterialsError, match=expected):
        load_grammar(path)


def test_a_file_without_words_is_refused(tmp_path: Path):
    path = write(tmp_path, replaced('["dormir"]', '"words.csv"', VERBAL))
    (tmp_path / "words.csv").write_text("word\n", encoding="utf-8")
    with pytest.raises(MaterialsError, match=r"words\.csv has no words below its header"):
        load_grammar(path)


def test_two_lexicons_that_disagree_are_refused_with_both_places(tmp_path: Path):
    other = FRENCH.split("[lexicon.adjective]")[0].split("[lexicon.noun]")[1]
    other = f"[lexicon.person]{other}".replace(
        "reine | reines | feminine", "reine | reines | masculine"
    )
    message = failure(tmp_path, other + FRENCH)
    assert message.startswith(f"{tmp_path}/grammar.toml:14: two lexicons disagree")
    assert '"feminine" in "noun" and "masculine" in "person"' in message
    assert f"({tmp_path}/grammar.toml:4)" in message


def test_a_name_that_two_files_give_to_a_lexicon_is_refused(tmp_path: Path):
    (tmp_path / "words.toml").write_text(FRENCH.split("[[rewrite]]")[0], encoding="utf-8")
    message = failure(tmp_path, f'include = ["words.toml"]\n{FRENCH}')
    assert 'lexicon "article": the name is taken' in message
    assert f"another name; the lexicon at {tmp_path}/words.toml:2 has it" in message


@pytest.mark.parametrize(
    ("included", "part"),
    [
        ('include = ["grammar.toml"]', "an included file includes others"),
        ("[lexicon.x]\nentrees = []", 'no key "entrees"'),
    ],
)
def test_an_included_file_is_checked(tmp_path: Path, included: str, part: str):
    (tmp_path / "words.toml").write_text(included, encoding="utf-8")
    assert part in failure(tmp_path, f'include = ["words.toml"]\n{FRENCH}')
    outside = failure(tmp_path, f'include = ["/words.toml"]\n{FRENCH}')
    assert '"/words.toml" lies outside the folder of the grammar' in outside


READ = """
[lexicon.noun]
forms = "singular | plural"
entries = ["dog | dogs", "cat | cats"]

[lexicon.verb]
forms = "singular | plural"
entries = ["sleeps | sleep"]

[[template]]
name = "read"
construction = "agreement"
condition = "{main}"
features = { main = ["singular", "plural"] }
slots = { N = "noun", V = "verb" }
critical = 2
good = "the {N.main} near him | {V.main} | today"
bad = "the {N.main} near him | {V.!main} | today"
"""


def test_bars_make_regions_and_the_critical_one_is_named(tmp_path: Path):
    first = items_of(tmp_path, READ)[0]
    assert first.good == "the dog near him sleeps today"
    assert first.bad == "the dog near him sleep today"
    assert dict(first.extra) == {
        "good_regions": "the dog near him | sleeps | today",
        "bad_regions": "the dog near him | sleep | today",
        "critical": "2",
    }


def test_bars_of_a_script_without_spaces_leave_none(tmp_path: Path):
    grammar = READ.replace("the {N.main} near him | {V.main} | today", "三只|{N.main}|来了", 1)
    grammar = grammar.replace("the {N.main} near him | {V.!main} | today", "三只|{V.main}|来了", 1)
    first = items_of(tmp_path, grammar)[0]
    assert (first.good, dict(first.extra)["good_regions"]) == ("三只dog来了", "三只 | dog | 来了")


@pytest.mark.parametrize(
    ("old", "new", "line_with", "part"),
    [
        ("him | {V.!main} | t", "him {V.!main} t", "bad =", "bars divide only one of the two"),
        (
            "critical = 2",
            "critical = 4",
            "critical",
            "region is number 4, and good has 3 and bad 3",
        ),
    ],
)
def test_regions_that_a_version_lacks_are_refused(
    tmp_path: Path, old: str, new: str, line_with: str, part: str
):
    grammar = replaced(old, new, READ)
    message = failure(tmp_path, grammar)
    assert part in message
    line = next(n for n, text in enumerate(grammar.splitlines(), 1) if line_with in text)
    assert message.startswith(f"{tmp_path}/grammar.toml:{line}: ")
