"""Small treebanks for the tests, and the real ones."""

from pathlib import Path

from experiment.materials.treebank.conllu import Sentence, mark_verb_number, read_treebank
from experiment.studies.load import STUDIES_FOLDER
from tests import published_data
from tests.published_data import ENGLISH_WEB_TREEBANK, UNIVERSAL_DEPENDENCIES

SAMPLE = STUDIES_FOLDER / "gulordava_2018_italian" / "treebank.conllu"

needs_parts = published_data.needs(UNIVERSAL_DEPENDENCIES)


def sample() -> list[Sentence]:
    return list(read_treebank([SAMPLE]))


def english() -> list[Sentence]:
    published = published_data.require(ENGLISH_WEB_TREEBANK)
    return [mark_verb_number(sentence) for sentence in read_treebank([published])]


def small_parts(language: str, code: str) -> list[Path]:
    folder = UNIVERSAL_DEPENDENCIES / language
    return [folder / f"{code}-ud-{part}.conllu" for part in ("dev", "test")]


def written(path: Path, *rows: str) -> Path:
    """Write words given as ``ID FORM LEMMA UPOS XPOS FEATS HEAD DEPREL``; "" ends a sentence."""
    lines = ("\t".join([*row.split(" "), "_", "_"]) if row else "" for row in rows)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path
