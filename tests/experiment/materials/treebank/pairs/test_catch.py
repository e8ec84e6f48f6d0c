"""Catch trials of reversed order, from a small Italian treebank."""

from pathlib import Path

from experiment.materials.treebank.conllu import Sentence, read_treebank
from experiment.materials.treebank.pairs.catch import choose_catch_sentences, reverse
from experiment.materials.treebank.pairs.forms import Forms
from experiment.materials.treebank.pairs.items import make_catch_items
from experiment.materials.treebank.pairs.pairs import Wishes
from experiment.materials.treebank.pairs.sources import Source
from experiment.records import Kind
from tests.experiment.materials.treebank.treebanks import written

HOME = [
    "1 Il il DET RD Definite=Def|PronType=Art 2 det",
    "2 gatto gatto NOUN S _ 3 nsubj",
    "3 dorme dormire VERB V _ 0 root",
    "4 in in ADP E _ 5 case",
    "5 casa casa NOUN S _ 3 obl",
    "6 . . PUNCT FS _ 3 punct",
    "",
]
# With the article alone: the order of this one is wrong, but of one word only.
ALONE = [*HOME[:3], "4 sempre sempre ADV B _ 3 advmod", "5 . . PUNCT FS _ 3 punct", ""]


def read(folder: Path, *rows: str) -> list[Sentence]:
    return list(read_treebank([written(folder / "it_own-ud-dev.conllu", *rows)]))


def choose(sentences: list[Sentence], used: list[Sentence]) -> list[Sentence]:
    wishes = Wishes([], [])
    return choose_catch_sentences(sentences, used, Forms(sentences), wishes, number=8, seed=1)


def test_a_catch_trial_has_two_words_on_the_wrong_side_of_their_nouns(tmp_path: Path):
    sentences = read(tmp_path, *20 * HOME, *ALONE)
    [chosen] = choose(sentences, [])
    [item] = make_catch_items([chosen], [Source(tmp_path / "it_own-ud-dev.conllu", "CC0")])
    # Without the treebank's spaces after a word, the full stop is a word of its own.
    assert (item.good, item.bad) == ("Il gatto dorme in casa .", "Casa in dorme gatto il .")
    assert (item.kind, item.construction) == (Kind.CATCH, "reversed_order")
    assert dict(item.extra)["licence"] == "CC0"


def test_a_sentence_of_a_pair_is_no_catch_trial_and_fewer_than_20_uses_fix_no_order(tmp_path: Path):
    sentences = read(tmp_path, *20 * HOME)
    assert choose(sentences, sentences[:1]) == []
    assert choose(sentences[:19], []) == []


def test_a_sentence_whose_last_sign_belongs_to_a_word_is_no_catch_trial(tmp_path: Path):
    unsplit = [*HOME[:4], "5 casa. casa NOUN S _ 3 obl", ""]
    assert choose(read(tmp_path, *20 * unsplit), []) == []


def test_words_written_together_stay_together_and_names_keep_their_capital(tmp_path: Path):
    rows = [
        "1 Roma Roma PROPN SP _ 2 nsubj",
        "2 ama amare VERB V _ 0 root",
        "3 l' il DET RD _ 4 det",
        "4 arte arte NOUN S _ 2 obj",
        "5 . . PUNCT FS _ 2 punct",
        "",
    ]
    [sentence] = read(tmp_path, *rows)
    tokens = list(sentence.tokens)
    for index in (2, 3):
        tokens[index] = tokens[index]._replace(space_after=False)
    assert reverse(sentence._replace(tokens=tuple(tokens))) == "L'arte ama Roma."
