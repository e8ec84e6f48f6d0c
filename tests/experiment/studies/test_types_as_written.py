"""TOML says what each value is, a text, a number or a truth value: none stands for another."""

import tomllib
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

import pytest
from pydantic import BaseModel

from experiment.authoring.examined import Examined
from experiment.authoring.key_checks import check_response_type, check_rules
from experiment.exclusion.rules import RULES
from experiment.responses.registry import RESPONSE_TYPES
from experiment.studies import load
from experiment.studies.load import StudyErrors, frozen_study, load_study
from experiment.studies.study import Rule, Study
from tests.experiment.authoring.whole_study import STUDY, write_whole_study

WORDS = {int: "a whole number", float: "a number", bool: "true or false"}
WRONG: dict[type, list[object]] = {
    int: ["2", "two", 2.0, True],
    float: ["2", "a half", True],
    bool: ["true", "yes", 1, 0, 1.0],
}
KeyPath = tuple[str | int, ...]


def plain_types(annotation: object, path: KeyPath) -> Iterator[tuple[KeyPath, type]]:
    """Yield each path below a field that ends in a number or a truth value, and of which type."""
    origin, parts = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        yield from plain_types(parts[0], path)
    elif origin in (Union, UnionType):
        for part in parts:
            yield from plain_types(part, path)
    elif origin is list:
        yield from plain_types(parts[0], (*path, 0))
    elif origin is dict:
        yield from plain_types(parts[1], (*path, "own"))
    elif isinstance(annotation, type) and issubclass(annotation, BaseModel):
        for name, field in annotation.model_fields.items():
            yield from plain_types(field.annotation, (*path, name))
    elif annotation in WRONG:
        assert isinstance(annotation, type)
        yield path, annotation


def wrong_values(model: type[BaseModel]) -> list[tuple[KeyPath, type, object]]:
    return [(p, kind, wrong) for p, kind in plain_types(model, ()) for wrong in WRONG[kind]]


def with_value(keys: dict[str, Any], path: KeyPath, value: object) -> dict[str, Any]:
    changed: Any = deepcopy(keys)
    table = changed
    for part, following in zip(path, [*path[1:], None], strict=True):
        below: object = value if following is None else [] if following == 0 else {}
        if isinstance(part, int):
            if not table or following is None:
                table[:] = [below]
        elif following is None or part not in table:
            table[part] = below
        table = table[part]
    return changed


KEYS = wrong_values(Study)


def test_the_keys_are_those_of_every_table():
    tables = {path[0] for path, _, _ in KEYS}
    assert tables == {"constructions", "design", "trial", "screening", "comprehension", "attention",
                      "questionnaire", "taking_part", "recruitment", "panel", "privacy",
                      "analysis", "comparisons", "publication", "baseline", "stopping",
                      "simulation", "coding"}  # fmt: skip
    assert len({path for path, _, _ in KEYS}) >= 52


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return write_whole_study(tmp_path_factory.mktemp("studies") / "whole")


@pytest.mark.parametrize(
    ("path", "kind", "wrong"), KEYS, ids=[f"{'.'.join(map(str, p))}={w!r}" for p, _, w in KEYS]
)
def test_a_key_of_another_type_is_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch, path: KeyPath, kind: type, wrong: object
):
    keys = with_value(tomllib.loads(STUDY), path, wrong)
    monkeypatch.setattr(load, "read_toml", lambda text: keys)
    with pytest.raises(StudyErrors) as refused:
        load_study(str(folder))
    name = next(part for part in reversed(path) if isinstance(part, str))
    [named] = [each for each in refused.value.all if f"{name} " in each.problem.replace(".", " ")
               and WORDS[kind] == each.expected]  # fmt: skip
    assert "is missing" not in named.problem


REQUIRED = {
    "measure": "log_rt",
    "answers": {"native_language": "English"},
    "construction": "filler",
    "max_errors": 1,
    "question": "native_language",
    "questions": ["native_language"],
    "accept": ["English"],
    "language": "en",
    "scales": {name: {"question": "How natural?"} for name in ("own", "other")},
}


def parameters(model: type[BaseModel]) -> dict[str, object]:
    """Return parameters that a rule or type of response takes."""
    needed = [name for name, field in model.model_fields.items() if field.is_required()]
    return {name: REQUIRED.get(name, 1) for name in needed}


OWN = [
    (registry, name, *each)
    for registry in (RULES, RESPONSE_TYPES)
    for name in registry.built_in
    if not {"rules"} & set(registry.load(name).model_fields)
    for each in wrong_values(registry.load(name))
]


@pytest.mark.parametrize(
    ("registry", "name", "path", "kind", "wrong"),
    OWN,
    ids=[f"{name}.{path[0]}={wrong!r}" for _, name, path, _, wrong in OWN],
)
@pytest.mark.parametrize("inside", [False, True], ids=["alone", "in a not"])
def test_a_parameter_of_another_type_is_refused(
    folder: Path,
    registry: object,
    name: str,
    path: KeyPath,
    kind: type,
    wrong: object,
    inside: bool,
):
    study, model = load_study(str(folder)), registry.load(name)  # type: ignore[attr-defined]
    shared = ("below_ms", "above_ms", "min_answers")
    share = {"max_share": 0.5} if path[0] in shared else {}
    given = with_value(parameters(model) | share, path, wrong)
    if registry is RULES:
        rule = {"rule": name, **given}
        rule = {"rule": "not", "rules": [rule]} if inside else rule
        changed = study.model_copy(update={"exclusion": [Rule.model_validate(rule)]})
        found = list(check_rules(Examined(changed, 1)))
    else:
        trial = study.trial.model_copy(update={"parameters": given})
        changed = study.model_copy(update={"response": name, "trial": trial})
        found = list(check_response_type(Examined(changed, 1)))
    key = ".".join(part for part in path if isinstance(part, str))
    assert [each for each in found if each.problem.startswith(f"{key} is ")
            or f"{key}: " in each.problem], given  # fmt: skip


def test_a_run_that_was_launched_with_a_number_in_quotes_is_read_as_ever(folder: Path):
    files = {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }
    files["study.toml"] = STUDY.replace("lists = 2", 'lists = "2"').encode()
    assert frozen_study(files, folder).design.lists == 2
