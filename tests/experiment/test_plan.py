"""A frozen plan: the study as it was planned stays known, and no launch changes it silently."""

import json
import shutil
from hashlib import sha256
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from experiment.authoring.check import require_sound
from experiment.authoring.plan import (
    amend_plan,
    build_plan_values,
    describe_change,
    find_changes,
    hash_lists,
    hash_values,
    read_plan,
    refuse_silent_change,
    to_json,
)
from experiment.authoring.plan import (
    freeze_plan as frozen_plan,
)
from experiment.commands.study import freeze
from experiment.errors import StudyError
from experiment.studies.files import study_files
from experiment.studies.load import find_study, load_study


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(shutil.copytree(find_study("minimal"), tmp_path / "minimal"))


def frozen(folder: Path, *options: str, seed: int = 1) -> Result:
    return CliRunner().invoke(freeze, [str(folder), "--seed", str(seed), *options])


def launched(folder: Path, seed: int = 1) -> None:
    study = load_study(str(folder))
    refuse_silent_change(require_sound(study, seed))


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), "utf-8")


def test_a_plan_has_the_hash_of_its_values_and_travels_with_the_study(folder: Path):
    assert frozen(folder).exit_code == 0
    study = load_study(str(folder))
    plan = read_plan(study)
    assert plan is not None and plan.sha256 == hash_values(plan.values)
    places = sum(study.design.places(number) for number in range(study.design.n_lists))
    assert plan.values["n_participants"] == places
    assert "plan.json" in study_files(study)
    assert plan.sha256 in (folder / "plan.md").read_text("utf-8")


def test_a_plan_from_before_comparisons_still_allows_the_launch(folder: Path):
    frozen(folder)
    path = folder / "plan.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    del content["planned"]["questions"]
    content["sha256"] = hash_values(content["planned"])
    path.write_text(json.dumps(content), encoding="utf-8")
    launched(folder)
    assert frozen(folder).exit_code == 0


def test_freezing_again_changes_nothing(folder: Path):
    frozen(folder)
    before = (folder / "plan.json").read_bytes()
    assert frozen(folder).exit_code == 0
    assert (folder / "plan.json").read_bytes() == before


def test_what_was_planned_is_launched_and_a_study_without_a_plan_too(folder: Path):
    launched(folder)
    frozen(folder)
    launched(folder)


# One change in each kind of thing that is planned.
CHANGES = {
    "sample size": ("study.toml", "participants_per_list = ", "participants_per_list = 1"),
    "coding": ("study.toml", "[simulation]", '[analysis]\ncoding = "treatment"\n\n[simulation]'),
    "attention check": (
        "study.toml",
        "[simulation]",
        "[attention]\nmax_catch_errors = 2\n\n[simulation]",
    ),
    "comparison": (
        "study.toml",
        "[simulation]",
        '[[comparisons]]\nname = "models"\ncompare = "people - models"\nrole = "exploratory"\n\n'
        "[simulation]",
    ),
    "margin": ("study.toml", "[simulation]", "[analysis]\nmargin = 0.3\n\n[simulation]"),
    "question": (
        "study.toml",
        "[simulation]",
        '[[questionnaire]]\nname = "more"\nlabel = "More?"\n\n[simulation]',
    ),
    "instructions": ("texts/en/instructions.md", "", "More words.\n"),
    "consent": ("texts/en/consent.md", "", "More words.\n"),
}


@pytest.mark.parametrize("what", CHANGES)
def test_a_silent_change_stops_the_launch_and_is_named(folder: Path, what: str):
    frozen(folder)
    name, old, new = CHANGES[what]
    edit(folder / name, old, new)
    with pytest.raises(StudyError, match="changed after its plan was frozen") as told:
        launched(folder)
    assert "--amend" in str(told.value) and "\n" not in str(told.value)


def test_another_seed_is_a_change_and_metadata_for_archives_are_none(folder: Path):
    frozen(folder)
    with pytest.raises(StudyError, match="seed was 1, is 2"):
        launched(folder, seed=2)
    edit(
        folder / "study.toml", "[simulation]", '[publication]\nlicense = "CC0-1.0"\n\n[simulation]'
    )
    launched(folder)


def test_an_amendment_keeps_what_was_planned_and_why_it_changed(folder: Path):
    frozen(folder)
    before = json.loads((folder / "plan.json").read_text("utf-8"))
    edit(folder / "study.toml", "[simulation]", "[analysis]\nmargin = 0.3\n\n[simulation]")
    refused = frozen(folder)
    assert isinstance(refused.exception, StudyError) and "comparisons" in str(refused.exception)
    assert frozen(folder, "--amend", "The pilot was noisier.").exit_code == 0
    after = json.loads((folder / "plan.json").read_text("utf-8"))
    (amendment,) = after["amendments"]
    assert amendment["reason"] == "The pilot was noisier."
    assert amendment["sha256_before"] == before["sha256"] != after["sha256"]
    assert amendment["changes"]["comparisons"][0] == before["planned"]["comparisons"]
    launched(folder)


def test_a_plan_changed_by_hand_or_of_a_newer_version_is_refused(folder: Path):
    frozen(folder)
    path = folder / "plan.json"
    whole = path.read_text("utf-8")
    path.write_text(whole.replace('"seed": 1', '"seed": 2'), "utf-8")
    with pytest.raises(StudyError, match="changed by hand"):
        launched(folder)
    path.write_text(whole.replace('"version": 1', '"version": 9'), "utf-8")
    with pytest.raises(StudyError, match="has the version 9"):
        launched(folder)
    path.write_text("{", "utf-8")
    with pytest.raises(StudyError, match=r"the file is not a plan .Expecting"):
        launched(folder)
    for other in ("[]", '{"version": 1}'):
        path.write_text(other, "utf-8")
        with pytest.raises(StudyError, match="the file is JSON, but not a whole plan"):
            launched(folder)


# The hashes below are those that sha256sum gives of texts written by hand.


def test_the_hash_of_lists_is_that_of_their_sorted_rows_with_list_item_and_kind():
    # printf '0\x1fa-1\x1ftarget\n0\x1fb-1\x1fcatch\n1\x1fa-1\x1ffiller\n' | sha256sum
    rows = [(1, "a-1", "filler"), (0, "b-1", "catch"), (0, "a-1", "target")]
    assert hash_lists(rows) == "6b8cf9b2c21c9bdff32ded86cf990df35ae270a5bf8b63267d3285d9ee2633e1"
    # The same items with one kind changed.
    rows[2] = (0, "a-1", "catch")
    assert hash_lists(rows) == "2eba335db62870aef5c0ea6a271894074e05ba6023e4705c40e2809916839838"


def test_the_hash_of_values_is_that_of_compact_json_with_sorted_keys():
    # printf '{"a":"\xc3\xa9","b":[1,2.5]}' | sha256sum
    expected = "123b424b7606d08d0756074e1f76051117423e1a66a03e02f56fd334de63705b"
    assert hash_values({"b": [1, 2.5], "a": "\u00e9"}) == expected
    # printf '{}' | sha256sum
    empty = "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"
    assert frozen_plan({}, "2026-02-01").sha256 == hash_values({}) == empty


def test_changes_are_values_that_differ_new_names_and_names_that_went():
    before, after = {"seed": 1, "kept": 2, "went": 3}, {"kept": 2, "seed": 4, "new": 5}
    assert find_changes(before, after) == {"seed": (1, 4), "went": (3, None), "new": (None, 5)}
    assert find_changes(before, before) == {}


def test_an_amended_plan_has_the_new_values_and_the_changes_since_the_old():
    plan = frozen_plan({"seed": 1}, "2026-02-01")
    changed = amend_plan(plan, {"seed": 1, "n": 8}, "2026-02-03", "A larger room.")
    assert (changed.values, changed.frozen_on) == ({"seed": 1, "n": 8}, "2026-02-01")
    assert changed.sha256 == hash_values({"n": 8, "seed": 1})
    assert changed.amendments == (
        {
            "on": "2026-02-03",
            "reason": "A larger room.",
            "sha256_before": plan.sha256,
            "changes": {"n": [None, 8]},
        },
    )
    assert json.loads(to_json(changed)) == {
        "version": 1,
        "sha256": changed.sha256,
        "frozen_on": "2026-02-01",
        "amendments": list(changed.amendments),
        "planned": {"seed": 1, "n": 8},
    }


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        (1, 2, "x was 1, is 2"),
        (0.1, None, "x was 0.1, is not set"),
        ("a" * 41, "b", f"x was {'a' * 39}\u2026, is b"),
        ([1, 2], [2, 3], "x: removed 1 and added 3"),
        ([1, 2], [1], "x: removed 2"),
        ([1, 2], [2, 1], "x: in another order"),
        (None, [1], "x was not set, is [1]"),
        ({"a": 1, "b": 2}, {"a": 1, "b": 3, "c": 4}, "x.b was 2, is 3; x.c was not set, is 4"),
        ({"a": 1}, None, 'x was {"a": 1}, is not set'),
    ],
)
def test_a_change_in_words_is_short(before: object, after: object, words: str):
    assert describe_change("x", before, after) == words


def test_a_plan_has_every_decision_of_the_study(folder: Path):
    edit(
        folder / "study.toml",
        "[simulation]",
        "[attention]\nmax_catch_errors = 2\n\n"
        '[comprehension]\ntries = 3\n[[comprehension.questions]]\nname = "task"\n'
        'label = "What?"\ncorrect = ["Read"]\n\n[simulation]',
    )
    study = load_study(str(folder))
    values = build_plan_values(require_sound(study, 7))
    assert set(values) == {
        "study", "study_version", "seed", "materials_hash", "lists_hash", "n_lists",
        "n_participants", "response", "trial", "screening", "comprehension", "attention",
        "questionnaire", "exclusion", "comparisons", "questions", "files",
    }  # fmt: skip
    assert (values["study"], values["study_version"], values["seed"]) == ("minimal", "1.0", 7)
    assert (values["n_lists"], values["n_participants"]) == (2, 8)
    assert values["response"] == "sentence_pair"
    assert values["attention"] == {"max_catch_errors": 2}
    assert values["comprehension"]["questions"][0]["name"] == "task"
    assert [question["name"] for question in values["questionnaire"]] == ["native_language"]
    assert values["exclusion"] == [
        {"rule": "max_errors", "construction": "simple_agreement", "max_errors": 1}
    ]
    assert "study.toml" not in values["files"] and "texts/en/consent.md" in values["files"]
    # Each list: one target and three catch trials of one square, four targets of the other.
    lists = require_sound(study, 7).built.lists
    assert sorted(str(entry.kind) for entry in lists[0]) == ["catch"] * 3 + ["target"] * 5
    rows = sorted(
        f"{number}\x1f{entry.item.item_id}\x1f{entry.kind}\n"
        for number, entries in enumerate(lists)
        for entry in entries
    )
    assert values["lists_hash"] == sha256("".join(rows).encode()).hexdigest()
