"""Minimal pairs of a small Italian treebank, written for these tests."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from experiment.errors import MaterialsError
from experiment.materials.treebank.conllu import Sentence, read_treebank
from experiment.materials.treebank.pairs.features import AGREEMENT_FEATURES
from experiment.materials.treebank.pairs.forms import Forms
from experiment.materials.treebank.pairs.items import make_items
from experiment.materials.treebank.pairs.pairs import PairSet, Wishes, make_pairs
from experiment.materials.treebank.pairs.relations import (
    ADPOSITION_NOUN,
    DETERMINER_NOUN,
    RELATIONS,
    SUBJECT_VERB,
)
from experiment.materials.treebank.pairs.sources import Source
from experiment.materials.treebank.pairs.wrong_forms import ALSO_RIGHT, CUE_FITS, SYNCRETIC
from experiment.records import Item
from tests.experiment.materials.treebank.treebanks import written

NOUNS = {"gatto": "gatti", "cane": "cani", "topo": "topi"}
VERBS = {"dorme": "dormono", "corre": "corrono"}


def clause(noun: str, verb: str, number: str, *, lemma: str, verb_lemma: str) -> list[str]:
    article = "Il" if number == "Sing" else "I"
    return [
        f"1 {article} il DET RD Gender=Masc|Number={number} 2 det",
        f"2 {noun} {lemma} NOUN S Gender=Masc|Number={number} 3 nsubj",
        f"3 {verb} {verb_lemma} VERB V Number={number}|Person=3|Tense=Pres|VerbForm=Fin 0 root",
        "4 sempre sempre ADV B _ 3 advmod",
        "5 . . PUNCT FS _ 3 punct",
        "",
    ]


def plain_clauses() -> list[str]:
    """Every noun with every verb, four times: enough to see that they agree."""
    rows = []
    for noun, nouns in NOUNS.items():
        for verb, verbs in VERBS.items():
            rows += clause(noun, verb, "Sing", lemma=noun, verb_lemma=verb)
            rows += clause(nouns, verbs, "Plur", lemma=noun, verb_lemma=verb)
    return 4 * rows


@pytest.fixture
def treebank(tmp_path: Path) -> Callable[..., list[Sentence]]:
    def write(*rows: str) -> list[Sentence]:
        return list(read_treebank([written(tmp_path / "it_own-ud-dev.conllu", *rows)]))

    return write


def pairs_of(
    sentences: list[Sentence], *lexicons: Path, relations: Sequence[str] = (SUBJECT_VERB,)
) -> PairSet:
    forms = Forms(sentences)
    for lexicon in lexicons:
        forms.add_lexicon(lexicon)
    return make_pairs(sentences, forms, Wishes(relations, AGREEMENT_FEATURES, each=50), 1)


def items_of(
    sentences: list[Sentence], *lexicons: Path, relations: Sequence[str] = (SUBJECT_VERB,)
) -> list[Item]:
    pairs = pairs_of(sentences, *lexicons, relations=relations).pairs
    path = Path(sentences[0].where.rpartition(":")[0])
    return make_items(pairs, [Source(path, "CC0")], [])


def test_a_verb_changes_its_number_alone(treebank: Callable[..., list[Sentence]]):
    items = items_of(treebank(*plain_clauses()))
    # Six nouns' forms, each with two verbs; a sentence that is repeated makes one item.
    assert len(items) == 12
    assert {item.construction for item in items} == {"subject_verb_number"}
    versions = {item.good: item.bad for item in items}
    assert versions["Il gatto dorme sempre ."] == "Il gatto dormono sempre ."
    assert versions["I topi corrono sempre ."] == "I topi corre sempre ."


def test_a_wrong_form_begins_a_sentence_with_a_capital(
    treebank: Callable[..., list[Sentence]],
):
    items = items_of(treebank(*plain_clauses()), relations=(DETERMINER_NOUN,))
    versions = {item.good: item.bad for item in items}
    assert versions["Il gatto dorme sempre ."] == "I gatto dorme sempre ."


def test_each_sentence_is_used_once(treebank: Callable[..., list[Sentence]]):
    items = items_of(treebank(*plain_clauses()), relations=tuple(RELATIONS))
    assert len({item.good for item in items}) == len(items) == 12


def test_an_item_names_its_sentence_its_rule_and_its_licence(
    treebank: Callable[..., list[Sentence]],
):
    rows = clause("gatto", "dorme", "Sing", lemma="gatto", verb_lemma="dorme")
    sentences = treebank(*plain_clauses(), "#", *rows)
    sentences[-1] = sentences[-1]._replace(sent_id="a-1")
    extra = dict(items_of(sentences)[0].extra)
    assert extra["source"] == "it_own-ud-dev.conllu"
    assert (extra["rule"], extra["licence"]) == ("Number of the verb and its subject", "CC0")
    assert extra["change"] in ("Sing to Plur", "Plur to Sing")
    assert extra["critical"] == "3"


def test_a_wrong_form_that_is_the_right_one_makes_no_pair(
    treebank: Callable[..., list[Sentence]],
):
    # A verb with one form for both numbers.
    verb = "VERB V Number=Plur|Person=3|Tense=Pres|VerbForm=Fin 0 root"
    alike = [
        row.replace("3 dormono dorme VERB V Number=Plur|Person=3|Tense=Pres|VerbForm=Fin 0 root",
                    f"3 sta stare {verb}")
        for row in clause("gatti", "dormono", "Plur", lemma="gatto", verb_lemma="dorme")
    ]  # fmt: skip
    singular = clause("gatto", "sta", "Sing", lemma="gatto", verb_lemma="stare")
    counts = pairs_of(treebank(*plain_clauses(), *singular, *alike)).counts
    assert counts[f"left out: {SYNCRETIC}"] == 2


def test_a_noun_with_one_form_for_both_numbers_makes_no_pair(
    treebank: Callable[..., list[Sentence]],
):
    both = [
        *clause("re", "dorme", "Sing", lemma="re", verb_lemma="dorme"),
        *clause("re", "dormono", "Plur", lemma="re", verb_lemma="dorme"),
    ]
    counts = pairs_of(treebank(*plain_clauses(), *both)).counts
    assert counts[f"left out: {CUE_FITS}"] == 2


def test_a_lexicon_adds_forms_and_readings(treebank: Callable[..., list[Sentence]], tmp_path: Path):
    rows = clause("gatto", "canta", "Sing", lemma="gatto", verb_lemma="cantare")
    sentences = treebank(*plain_clauses(), *rows)
    assert "Il gatto canta sempre ." not in {item.good for item in items_of(sentences)}
    lexicon = tmp_path / "ita"
    lexicon.write_text("cantare\tcanta\tV;IND;PRS;3;SG\ncantare\tcantano\tV;IND;PRS;3;PL\n")
    assert "Il gatto cantano sempre ." in {item.bad for item in items_of(sentences, lexicon)}
    # If the same form is listed in the singular too, the sentence is not wrong.
    lexicon.write_text(lexicon.read_text() + "cantare\tcantano\tV;SBJV;PRS;3;SG\n")
    assert pairs_of(sentences, lexicon).counts[f"left out: {ALSO_RIGHT}"] == 1


def test_a_coordinated_subject_makes_no_pair(treebank: Callable[..., list[Sentence]]):
    rows = [
        "1 Gatto gatto NOUN S Gender=Masc|Number=Sing 4 nsubj",
        "2 e e CCONJ C _ 3 cc",
        "3 cane cane NOUN S Gender=Masc|Number=Sing 1 conj",
        "4 dormono dorme VERB V Number=Plur|Person=3|Tense=Pres|VerbForm=Fin 0 root",
        "5 . . PUNCT FS _ 4 punct",
        "",
    ]
    goods = {item.good for item in items_of(treebank(*plain_clauses(), *rows))}
    assert not any("Gatto e cane" in good for good in goods)


def test_sources_that_disagree_are_named(treebank: Callable[..., list[Sentence]], tmp_path: Path):
    sentences = treebank(*plain_clauses())
    lexicon = tmp_path / "ita"
    lexicon.write_text("dorme\tdormi\tV;IND;PRS;3;SG\ngatto\tgatto\tN;SG\n")
    (disagreement,) = pairs_of(sentences, lexicon).disagreements
    assert str(disagreement) == (
        f'"dorme", Number=Sing|Person=3: "dorme" (the treebank) and "dormi" ({lexicon})'
    )


def test_two_lexicons_that_disagree_are_named(
    treebank: Callable[..., list[Sentence]], tmp_path: Path
):
    sentences = treebank(*plain_clauses())
    (tmp_path / "a").write_text("gatto\tgatti\tN;PL\ngatto\tgatto\tN;SG\n")
    (tmp_path / "b").write_text("gatto\tgattes\tN;PL\ngatto\tgatto\tN;SG\n")
    (disagreement,) = pairs_of(sentences, tmp_path / "a", tmp_path / "b").disagreements
    assert disagreement.forms == ("gatti", "gattes")


def test_a_lexicon_of_another_language_is_refused(
    treebank: Callable[..., list[Sentence]], tmp_path: Path
):
    (tmp_path / "izh").write_text("hammaz\thampahat\tN;PL;NOM\n")
    with pytest.raises(MaterialsError, match="no word in common"):
        pairs_of(treebank(*plain_clauses()), tmp_path / "izh")


def at_home(noun: str, *after: str) -> list[str]:
    """A sentence with a preposition before a noun, and what follows the noun."""
    return [
        "1 Dorme dormire VERB V VerbForm=Fin 0 root",
        "2 con con ADP E _ 3 case",
        f"3 {noun} {noun} NOUN S _ 1 obl",
        *after,
        f"{4 + len(after)} . . PUNCT FS _ 1 punct",
        "",
    ]


def test_an_adposition_with_a_fixed_place_changes_it(treebank: Callable[..., list[Sentence]]):
    adverbs = ("4 oggi oggi ADV B _ 1 advmod", "5 qui qui ADV B _ 1 advmod")
    # A noun follows: the preposition could belong to it.
    with_name = ("4 Anna Anna PROPN SP _ 1 nsubj", "5 qui qui ADV B _ 1 advmod")
    rows = [*20 * at_home("gatti", *adverbs), *at_home("cani", *with_name)]
    sentences = treebank(*rows)
    wishes = Wishes((ADPOSITION_NOUN,), ("Order",), 50)
    made = make_pairs(sentences, Forms(sentences), wishes, 1)
    path = Path(sentences[0].where.rpartition(":")[0])
    (item,) = make_items(made.pairs, [Source(path, "CC0")], [])
    assert item.good == "Dorme con gatti oggi qui ."
    assert item.bad == "Dorme gatti con oggi qui ."
    assert dict(item.extra)["change"] == "before the noun to after the noun"
    assert made.counts["order left out: the moved word could belong to another one"] == 1


def test_an_adposition_on_either_side_stays_where_it_is(
    treebank: Callable[..., list[Sentence]],
):
    adverbs = ("4 oggi oggi ADV B _ 1 advmod", "5 qui qui ADV B _ 1 advmod")
    after = [
        "1 Dorme dormire VERB V VerbForm=Fin 0 root",
        "2 gatti gatti NOUN S _ 1 obl",
        "3 con con ADP E _ 2 case",
        "",
    ]
    sentences = treebank(*20 * at_home("gatti", *adverbs), *after)
    wishes = Wishes((ADPOSITION_NOUN,), ("Order",), 50)
    assert make_pairs(sentences, Forms(sentences), wishes, 1).pairs == []
