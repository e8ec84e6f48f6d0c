"""The treebanks that several tests read, once."""

import pytest

from experiment.materials.treebank.conllu import Sentence
from tests.experiment.materials.treebank import treebanks


@pytest.fixture(scope="session")
def italian_sample() -> list[Sentence]:
    return treebanks.sample()


@pytest.fixture(scope="session")
def web_treebank() -> list[Sentence]:
    return treebanks.english()
