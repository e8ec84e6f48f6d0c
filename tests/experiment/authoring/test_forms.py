"""A text of another form is told in words: no message shows a regular expression."""

import re
import shutil
from collections.abc import Iterator

import pytest
from pydantic import BaseModel, Field, ValidationError

from experiment.authoring.study_toml import study_schema
from experiment.errors import PATTERN_WORDS, StudyError, describe_validation_error, wrong_keys
from experiment.grammar.tables import LexiconTable, TemplateTable
from experiment.studies.load import STUDIES_FOLDER, load_study


def patterns(schema: object) -> Iterator[str]:
    if isinstance(schema, dict):
        for key, value in schema.items():
            if key == "pattern" and isinstance(value, str):
                yield value
            yield from patterns(value)
    elif isinstance(schema, list):
        for each in schema:
            yield from patterns(each)


def test_every_form_that_an_author_s_file_asks_for_has_words():
    schemas = (study_schema(), LexiconTable.model_json_schema(), TemplateTable.model_json_schema())
    found = set(patterns([*schemas]))
    assert len(found) > 3
    assert found <= PATTERN_WORDS.keys()


@pytest.mark.parametrize("pattern", PATTERN_WORDS)
def test_a_wrong_form_is_said_in_words_and_without_its_pattern(pattern):
    class Form(BaseModel):
        text: str = Field(pattern=pattern)

    with pytest.raises(ValidationError) as refused:
        Form(text="?!")
    for message in (
        describe_validation_error(refused.value.errors()[0]),
        wrong_keys(refused.value),
    ):
        assert PATTERN_WORDS[pattern] in message
        assert pattern not in message and "pattern" not in message


@pytest.mark.parametrize(
    ("old", "new", "key"),
    [
        ('name = "minimal"', 'name = "My study"', "name"),
        ('language = "en"', 'language = "english please"', "language"),
        ('name = "native_language"', 'name = "Native language"', "name"),
    ],
)
def test_a_planted_fault_names_file_line_and_form(tmp_path, old, new, key):
    study = shutil.copytree(STUDIES_FOLDER / "minimal", tmp_path / "minimal")
    toml = study / "study.toml"
    text = toml.read_text("utf-8")
    assert text.count(old) == 1
    toml.write_text(text.replace(old, new), encoding="utf-8")
    line = text[: text.index(old)].count("\n") + 1
    with pytest.raises(StudyError) as refused:
        load_study(str(study))
    said = str(refused.value)
    assert f"study.toml, line {line}" in said and f"{key} is" in said
    assert refused.value.expected in PATTERN_WORDS.values()
    assert not re.search(r"pattern|\^\[", said)
