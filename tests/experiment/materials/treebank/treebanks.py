"""Small treebanks for the tests, and where the real ones are."""

from pathlib import Path

import pytest

from experiment.materials.treebank.conllu import Sentence, read_treebank
from experiment.materials.treebank.english import mark_verb_number
from experiment.studies.load import BUILT_IN

SAMPLE = BUILT_IN / "gulordava_2018_italian" / "treebank.conllu"
DATA = Path(__file__).parents[5] / "shared" / "data"
ENGLISH_WEB_TREEBANK = DATA / "universal_dependencies_2.16" / "english_ewt.conllu.gz"
COLORLESS_GREEN = DATA / "colorless_green"

needs_data = pytest.mark.skipif(not DATA.is_dir(), reason=f"the data folder {DATA} is absent")


def sample() -> list[Sentence]:
    return list(read_treebank([SAMPLE]))


def english() -> list[Sentence]:
    return [mark_verb_number(sentence) for sentence in read_treebank([ENGLISH_WEB_TREEBANK])]


def small_parts(language: str, code: str) -> list[Path]:
    folder = DATA / "universal_dependencies_2.0" / language
    return [folder / f"{code}-ud-{part}.conllu" for part in ("dev", "test")]


def written(path: Path, *rows: str) -> Path:
    """Write words given as ``ID FORM LEMMA UPOS XPOS FEATS HEAD DEPREL``; "" ends a sentence."""
    lines = ("\t".join([*row.split(" "), "_", "_"]) if row else "" for row in rows)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path
