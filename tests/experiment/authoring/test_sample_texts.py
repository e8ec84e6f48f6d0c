"""The sample texts promise nothing that a study's rules break."""

from pathlib import Path

import pytest

import experiment.responses

TEXTS = sorted(Path(experiment.responses.__file__).parent.glob("*/texts/*/instructions*.md"))
# Catch trials are there to test people, and errors on them exclude.
PROMISES = (
    "trick",
    "nobody is tested",
    "keine Fallen",
    "trampas",
    "piège",
    "trucchi",
    "armadilhas",
)


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_no_sample_instructions_say_that_there_is_no_trick(path):
    text = path.read_text("utf-8")
    assert not [one for one in PROMISES if one in text]
