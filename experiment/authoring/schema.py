"""The JSON Schema of study.toml, by which editors complete and check it."""

import json
from functools import cache

from experiment.studies.study import Study

# What only a program sets.
_OWN = ("folder", "files")


def study_schema() -> dict[str, object]:
    """Return the schema of study.toml, made from the model that reads it."""
    schema = Study.model_json_schema()
    for name in _OWN:
        schema["properties"].pop(name)
    schema["required"] = [name for name in schema["required"] if name not in _OWN]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **schema,
        "title": "study.toml",
        "description": "A study of Parallax: docs/studies.md explains every key.",
    }


@cache
def schema_text() -> str:
    """Return the schema as the file that `parallax study schema` writes.

    It is the same for every study: making it took most of the time in which one was begun.
    """
    return json.dumps(study_schema(), indent=2, ensure_ascii=False) + "\n"
