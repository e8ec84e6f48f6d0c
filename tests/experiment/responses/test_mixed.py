"""Sessions of several tasks: whatever is asked of a trial is asked of its own task's type."""

import shutil
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from experiment.authoring.check import check_folder
from experiment.authoring.examined import Examined
from experiment.authoring.session_checks import check_task_titles
from experiment.design.audit.audit import audit
from experiment.design.lists import build_lists
from experiment.design.session import compose
from experiment.errors import ParallaxError, StudyError
from experiment.materials.read import load_items
from experiment.records import Item, Kind, Side, Steps
from experiment.responses.base import Arrangement, GivenAnswer, Gives
from experiment.responses.registry import load_response, response_of, tables_shown
from experiment.studies.load import load_study

EXAMPLE = Path(__file__).parents[3] / "docs" / "examples" / "mixed"
MAZE = {"response": "maze", "on_error": "end"}
PAIR = {"response": "sentence_pair", "keys": ["a", "l"], "title": "Which is better?"}
RATING = {"response": "rating", "points": 5}
MIXED = load_response("mixed", {"tasks": {"way": MAZE, "pair": PAIR, "rate": RATING}})


def item(task: str, **changed: object) -> Item:
    found = Item("t-1", Kind.TARGET, "t", "", "t", "", "1", "", "Dogs bark.", "Dogs barks.")
    extra = (("task", task), ("distractors", "x-x-x of"), ("bad_distractors", "x-x-x of"))
    return replace(found, extra=extra, **changed)


def test_a_trial_is_stored_judged_and_counted_as_its_own_task_does():
    steps = Steps((0.0, 500.0), (400.0, 300.0), "pp", (4.0, 4.0), (0, 0), (400.0, 300.0))
    way = MIXED.arrangement(item("way"), ("good",))
    assert way.options[:2] == ("way", "good") and len(way.options) == 3
    stored = " ".join(way.options)
    assert MIXED.accepts(GivenAnswer(steps=steps), stored)
    assert not MIXED.accepts(GivenAnswer(side=Side.FIRST), stored)
    pair = MIXED.whole("pair", Arrangement(Side.SECOND))
    assert MIXED.accepts(GivenAnswer(side=Side.FIRST), "pair")
    assert not MIXED.accepts(GivenAnswer(rating=5), "pair") and MIXED.accepts(
        GivenAnswer(rating=5), "rate good"
    )
    assert not MIXED.accepts(GivenAnswer(rating=6), "rate good")
    assert MIXED.score_answer(pair, GivenAnswer(side=Side.FIRST)).chose_good is False
    assert MIXED.score_answer(pair, MIXED.correct_answer(pair)).chose_good is True
    assert MIXED.score_answer(
        MIXED.whole("rate", Arrangement(None, ("bad",), 5)), GivenAnswer(rating=2)
    ).rating
    assert (MIXED.n_offered("pair"), MIXED.n_offered("rate good")) == (2, 5)
    assert MIXED.gives == {Gives.RIGHT, Gives.POINT, Gives.WHOLE_TIME, Gives.ONE_PRESS}


def test_a_screen_says_its_task_and_where_the_good_one_stands():
    shown = MIXED.show_arranged(item("pair"), MIXED.whole("pair", Arrangement(Side.SECOND)), str)
    assert shown.options == ("Dogs barks.", "Dogs bark.") and shown.besides["task"] == "pair"
    # A preview draws no trials.
    previewed = MIXED.show_arranged(item("rate"), Arrangement(Side.SECOND), str)
    assert previewed.options == ("Dogs barks.",) and previewed.besides["task"] == "rate"
    # The same sentence in another task is another trial.
    texts = {MIXED.screens(item(task), str)[0].texts for task in ("way", "pair", "rate")}
    assert len(texts) == 3


def test_a_row_has_the_columns_of_all_tasks_and_values_of_its_own():
    trials, responses = tables_shown(MIXED)
    assert {"task", "options"} <= set(trials.column_names)
    of = {column.name: column for column in responses.columns}
    assert of["rating"].optional and of["n_wrong"].optional and of["chose_good"].optional
    assert "pair: the side" in of["chosen_side"].description
    row = MIXED.derive_columns(
        {"task": "rate good", "version": "rate good", "rating": 3, "steps": None}
    )
    assert (row["task"], row["version"], row["rating"], row["n_wrong"]) == ("rate", "good", 3, None)
    pair = MIXED.derive_columns({"task": "pair", "version": "pair", "chosen_side": "first"})
    assert (pair["task"], pair["version"], pair["rating"]) == ("pair", None, None)


def test_each_task_is_balanced_by_itself():
    study = load_study(str(EXAMPLE))
    items = [
        replace(one, bad=f"{one.good[:-1]} not.", extra=tuple({**dict(one.extra)}.items()))
        if dict(one.extra)["task"] == "rating"
        else one
        for one in load_items(study)
    ]
    built = build_lists(study, items, 3)
    assert all(check.passed for check in audit(study, built, items))
    counted = Counter()
    for place in (0, 1):
        trials = compose(
            built.lists[0], seed=3, list_=0, place=place, number=1 + place,
            design=study.design, response=response_of(study),
        )  # fmt: skip
        counted.update(trial.options[:2] for trial in trials)
    assert counted["rating", "good"] == counted["rating", "bad"] == 6
    assert counted["self_paced", "good"] == 12


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ('column = "task"', 'column = "what"', 'nothing says which task the item "garden_path-1'),
        ('[trial.parameters.tasks.rating]', '[trial.parameters.tasks.judging]',
         'belongs to the task "rating", which study.toml lacks'),
        ('response = "rating"', 'response = "ratings"', 'no type of response "ratings"'),
        ('response = "rating"', 'response = "mixed"', 'cannot be mixed itself'),
        ("points = 7", "points = 70", "points"),
        ("points = 7", 'points = 7\nkeys = ["a"]', "1 keys choose among 7 answers"),
        ("points = 7", 'points = 7\nblocks = ["end"]', 'block "end"'),
        ("points = 7", 'points = 7\nblocks = [""]\n[trial.parameters.tasks.two]\n'
         'response = "rating"\nblocks = [""]', 'two tasks name the block ""'),
        ("[trial.parameters]", 'keys = ["1", "2"]\n[trial.parameters]', "has its own keys"),
    ],
)  # fmt: skip
def test_what_no_session_can_be_made_of_is_named(tmp_path: Path, old, new, expected):
    folder = shutil.copytree(EXAMPLE, tmp_path / "mixed")
    toml = (folder / "study.toml").read_text("utf-8")
    assert old in toml
    (folder / "study.toml").write_text(toml.replace(old, new, 1), encoding="utf-8")
    said = " ".join(str(error) for error in check_folder(str(folder), 1).errors)
    assert expected in said and "mixed/" in said


def test_blocks_name_tasks_where_no_column_does(tmp_path: Path):
    folder = shutil.copytree(EXAMPLE, tmp_path / "mixed")
    toml = (folder / "study.toml").read_text("utf-8").replace('column = "task"', 'column = "none"')
    for template, block in (("garden_path", "one"), ("attraction", "two"), ("filler", "two")):
        toml = toml.replace(
            f'templates = ["{template}"]', f'templates = ["{template}"]\nblock = "{block}"'
        )
    toml = toml.replace('response = "self_paced"', 'response = "self_paced"\nblocks = ["one"]')
    toml = toml.replace('response = "rating"', 'response = "rating"\nblocks = ["two"]')
    toml = toml.replace('practice = "practice.toml"', 'practice = ""')
    (folder / "study.toml").write_text(toml, encoding="utf-8")
    report = check_folder(str(folder), 1)
    assert report.errors == ()
    response = response_of(report.study)
    assert {response.task_of(entry.item) for entry in report.built.lists[0]} == {
        "self_paced",
        "rating",
    }


def test_an_item_of_no_task_is_refused():
    with pytest.raises(StudyError, match='"t-1" belongs to the task "talk", which'):
        MIXED.screens(item("talk"), str)
    with pytest.raises(ParallaxError, match="is the word itself"):
        MIXED.versions(replace(item("way"), extra=(("task", "way"), ("distractors", "x-x-x bark"))))


def test_several_tasks_without_a_title_are_noted():
    study = load_study(str(Path(__file__).parents[3] / "docs" / "examples" / "mixed"))
    tasks = {name: keys | {"title": ""} for name, keys in study.trial.parameters["tasks"].items()}
    parameters = study.trial.parameters | {"tasks": tasks}
    untitled = study.model_copy(
        update={"trial": study.trial.model_copy(update={"parameters": parameters})}
    )
    [note] = check_task_titles(Examined(untitled, 1))
    assert note.problem.startswith("the tasks self_paced and rating have no title, so participants")
    assert list(check_task_titles(Examined(study, 1))) == []
