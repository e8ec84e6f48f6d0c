"""Reading CoNLL-U."""

import gzip
from pathlib import Path

import conllu
import pytest

from experiment.errors import MaterialsError
from experiment.materials.treebank.conllu import ROOT, read_treebank
from tests.experiment.materials.treebank.treebanks import SAMPLE, needs_parts, small_parts, written

CASA = (
    "1 torna tornare VERB V Number=Sing 0 root",
    "2-3 alla _ _ _ _ _ _",
    "2 a a ADP E _ 5 case",
    "3 la il DET RD Number=Sing 5 det",
    "4 bianca bianco ADJ A Number=Sing 5 amod",
    "5 casa casa NOUN S Number=Sing 1 obl",
    "",
)


def test_a_multiword_token_is_one_word_with_the_annotation_of_its_first_part(tmp_path: Path):
    (sentence,) = read_treebank([written(tmp_path / "a.conllu", *CASA)])
    assert [token.form for token in sentence.tokens] == ["torna", "alla", "bianca", "casa"]
    assert [token.head for token in sentence.tokens] == [ROOT, 3, 3, 0]
    assert (sentence.tokens[1].upos, sentence.tokens[1].attached) == ("ADP", "la")


def test_what_depended_on_a_merged_part_depends_on_the_merged_word(tmp_path: Path):
    (sentence,) = read_treebank(
        [
            written(
                tmp_path / "a.conllu",
                "1 non non ADV B _ 3 advmod",
                "2-3 vaglielo _ _ _ _ _ _",
                "2 va andare VERB V _ 3 aux",
                "3 glielo dire VERB V _ 0 root",
                "4 oggi oggi ADV B _ 3 advmod",
                "",
            )
        ]
    )
    assert [token.head for token in sentence.tokens] == [1, ROOT, 1]


def test_empty_nodes_and_comments_are_skipped(tmp_path: Path):
    path = written(
        tmp_path / "a.conllu",
        "1 lei lei PRON P _ 2 nsubj",
        "1.1 che che PRON P _ _ _",
        "2 dorme dormire VERB V _ 0 root",
        "",
    )
    path.write_text(f"# sent_id = 1\n{path.read_text()}# the end\n")
    (sentence,) = read_treebank([path])
    assert [token.form for token in sentence.tokens] == ["lei", "dorme"]
    assert sentence.where == f"{path}:2"


def test_a_compressed_file_reads_like_the_plain_one(tmp_path: Path):
    plain = written(tmp_path / "a.conllu", *CASA)
    packed = tmp_path / "a.conllu.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    ((one,), (other,)) = (list(read_treebank([path])) for path in (plain, packed))
    assert one.tokens == other.tokens


def test_a_last_sentence_without_an_empty_line_is_read(tmp_path: Path):
    assert len(list(read_treebank([written(tmp_path / "a.conllu", *CASA, *CASA[:-1])]))) == 2


@pytest.mark.parametrize(
    ("rows", "line", "problem"),
    [
        (["1 sola"], 1, "the word's line has 4 columns"),
        (["1 a a ADP E _ 0 root", "3 b b ADP E _ 1 dep", ""], 2, "the word 3 follows word 1"),
        (["1 a a ADP E _ sopra root", ""], 1, "sopra"),
        (["1 a a ADP E _ 7 root", ""], 1, '"a" has the head 7'),
        (["2-9 a _ _ _ _ _ _", "1 a a ADP E _ 0 root", ""], 1, "the ranges of multiword tokens"),
        ([], 1, "the treebank has no sentences"),
    ],
)
def test_what_is_no_conllu_is_named_with_file_and_line(
    tmp_path: Path, rows: list[str], line: int, problem: str
):
    path = written(tmp_path / "bad.conllu", *rows)
    with pytest.raises(MaterialsError, match="not CoNLL-U") as error:
        list(read_treebank([path]))
    assert error.value.where == f"{path}:{line}"
    assert problem in error.value.problem


@pytest.mark.parametrize("content", [b"\xff\xfe", None])
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, content: bytes | None):
    path = tmp_path / "bad.conllu"
    if content:
        path.write_bytes(content)
    with pytest.raises(MaterialsError, match="cannot be read"):
        list(read_treebank([path]))


def test_a_broken_archive_is_named(tmp_path: Path):
    path = tmp_path / "bad.conllu.gz"
    path.write_bytes(gzip.compress(b"1\ta" * 1000)[:40])
    with pytest.raises(MaterialsError, match="cannot be read"):
        list(read_treebank([path]))


def assert_reads_like_the_conllu_package(path: Path) -> None:
    """The surface forms, and tags and features of unmerged words, are the package's."""
    ours = list(read_treebank([path]))
    theirs = conllu.parse(path.read_text(encoding="utf-8"))
    assert len(ours) == len(theirs)
    for mine, other in zip(ours, theirs, strict=True):
        ranges = [
            token for token in other if isinstance(token["id"], tuple) and token["id"][1] == "-"
        ]
        inside = {i for token in ranges for i in range(token["id"][0], token["id"][2] + 1)}
        surface = [
            token
            for token in other
            if token in ranges or (isinstance(token["id"], int) and token["id"] not in inside)
        ]
        assert [token.form for token in mine.tokens] == [token["form"] for token in surface]
        for token, expected in zip(mine.tokens, surface, strict=True):
            if expected not in ranges:
                feats = expected["feats"] or {}
                assert token.upos == expected["upos"]
                assert token.feats == ("|".join(f"{k}={v}" for k, v in feats.items()) or "_")


def test_the_sample_reads_like_the_conllu_package_reads_it():
    assert_reads_like_the_conllu_package(SAMPLE)


@needs_parts
@pytest.mark.parametrize("path", small_parts("italian", "it"), ids=lambda path: path.name)
def test_a_treebank_reads_like_the_conllu_package_reads_it(path: Path):
    assert_reads_like_the_conllu_package(path)
