"""A participant's value by hand, and rules that a study does not allow."""

import math
import shutil
import sys
from pathlib import Path

import pytest

from experiment.authoring.check import check_folder, require_sound
from experiment.authoring.plan import build_plan_values
from experiment.coding.categories import Category, Coding
from experiment.design.lists import build_lists
from experiment.errors import StudyError
from experiment.materials.read import load_items
from experiment.stopping.questions import Person, list_asked_comparisons, look_at_answers
from experiment.studies.analysis_plan import Comparison
from experiment.studies.load import load_study
from experiment.studies.study import Study

EXAMPLES = Path(__file__).parents[3] / "docs" / "examples"


def _asked(folder: Path):
    study = load_study(str(folder))
    items = list(load_items(study))
    built = build_lists(study, items, 1)
    lists = {n: [entry.item.item_id for entry in part] for n, part in enumerate(built.lists)}
    return list_asked_comparisons(study, items, lists), items, lists


@pytest.fixture
def written(tmp_path: Path):
    """Copies an example and adds a rule to it."""

    def write(example: str, rule: str, *changes: tuple[str, str]) -> Path:
        folder = tmp_path / example
        shutil.copytree(EXAMPLES / example, folder)
        toml = folder / "study.toml"
        text = toml.read_text("utf-8")
        for before, after in changes:
            assert before in text
            text = text.replace(before, after)
        toml.write_text(f"{text}\n[stopping]\n{rule}\n", "utf-8")
        return folder

    return write


ANY = 'rule = "any_time"\nmaximum = 16\n'


def test_a_value_is_the_difference_of_a_persons_own_shares(written):
    asked, items, lists = _asked(written("latin_square", ANY + 'comparisons = ["subject"]'))
    [comparison] = asked
    conditions = {item.item_id: item.condition for item in items}
    targets = [name for name in lists[0] if conditions[name][:2] in ("sg", "pl")]
    assert len(targets) == 8
    sg = [name for name in targets if conditions[name].startswith("sg")]
    wrong = {sg[0], *[name for name in targets if name not in sg][:2]}
    rows = [{"item_id": name, "chose_good": name not in wrong} for name in lists[0]]
    # Three of four with a singular subject, two of four with a plural one.
    assert comparison.values.value_of(0, rows) == pytest.approx(0.25)
    assert (comparison.question.bounds.low, comparison.question.bounds.high) == (-1, 1)
    assert comparison.values.n_groups == 4
    without = [row for row in rows if row["item_id"] in sg]
    assert comparison.values.value_of(0, without) is None
    people = [Person(list_, 0, list_ < 3 or None, rows) for list_ in range(4)]
    assert look_at_answers(comparison, people).n_participants == 0


def test_an_interaction_reaches_twice_as_far(written):
    [comparison], *_ = _asked(
        written("latin_square", ANY + 'comparisons = ["subject x attractor"]')
    )
    assert comparison.question.bounds.high == 2


def test_alpha_is_divided_among_the_primary_comparisons(written):
    asked, *_ = _asked(written("latin_square", ANY))
    assert [each.name for each in asked] == ["subject", "attractor", "subject x attractor"]
    assert [each.question.alpha for each in asked] == pytest.approx([0.05 / 3] * 3)


def test_a_value_of_reading_times_is_one_of_mean_logarithms_of_complete_trials(written):
    rule = ANY.replace("16", "4") + "bounds = [-0.5, 0.5]"
    [comparison], items, lists = _asked(written("self_paced", rule))
    conditions = {item.item_id: item.condition for item in items}
    first = [name for name in lists[0] if conditions[name] == "ambiguous"]
    second = [name for name in lists[0] if conditions[name] == "comma"]
    times = {
        first[0]: (400, 500),
        first[1]: (300, 20),
        second[0]: (300, 500),
        second[1]: (200, 200),
    }
    rows = [
        {"item_id": name, "position": position, "step": step, "rt_ms": ms}
        for position, (name, of_trial) in enumerate(times.items())
        for step, ms in enumerate(of_trial)
    ]
    # The second trial has a time below 100 ms: it is left out as a whole.
    by_hand = math.log(900) - (math.log(800) + math.log(400)) / 2
    assert comparison.values.value_of(0, rows) == pytest.approx(by_hand)
    assert comparison.question.bounds.limit(by_hand) == pytest.approx(by_hand)
    # Of regions relative to the critical one, only the critical one counts.
    regions = [row | {"relative_region": row["step"] - 1} for row in rows]
    of_critical = math.log(500) - (math.log(500) + math.log(200)) / 2
    assert comparison.values.value_of(0, regions) == pytest.approx(of_critical)


def test_comparisons_on_several_scales_are_asked_of_each(written):
    asked, items, lists = _asked(written("scales", ANY))
    # Three comparisons on two scales, of seven and five points.
    assert [each.name for each in asked[:2]] == [
        "grammar (acceptability)",
        "grammar (plausibility)",
    ]
    assert [each.question.alpha for each in asked] == pytest.approx([0.05 / 6] * 6)
    assert [each.question.bounds.high for each in asked[:2]] == [6, 4]
    conditions = {item.item_id: item.condition for item in items}
    rows = [
        {"item_id": name, "rating": 7, "rating_acceptability": 7,
         "rating_plausibility": 5 if conditions[name].startswith("grammatical") else 2}
        for name in lists[0]
    ]  # fmt: skip
    assert [each.values.value_of(0, rows) for each in asked[:2]] == pytest.approx([0, 3])


def test_bounds_are_those_of_times_where_a_session_also_has_ratings(written):
    asked, *_ = _asked(written("mixed", ANY + "bounds = [-0.5, 0.5]"))
    assert {each.values.measure: each.question.bounds.high for each in asked} == {
        "log_rt": 0.5,
        "rating": 6,
    }


def test_people_in_different_groups_are_compared_by_their_lists(written):
    [comparison], _, lists = _asked(
        written("between_participants", ANY + 'comparisons = ["filler_length"]')
    )
    values = {
        tuple(
            comparison.values.value_of(
                list_, [{"item_id": name, "chose_good": right} for name in lists[list_]]
            )
            for right in (False, True)
        )
        for list_ in comparison.values.weights
    }
    # The mean over lists of twice the distance from one half is the difference of the shares.
    assert values == {(-1.0, 1.0), (1.0, -1.0)}
    assert comparison.question.bounds.high == 1


@pytest.mark.parametrize(
    ("example", "rule", "message"),
    [
        ("latin_square", ANY + 'comparisons = ["verb"]', 'There is no comparison "verb"'),
        (
            "latin_square",
            ANY + 'comparisons = ["people and models"]',
            "is not a difference between",
        ),
        ("latin_square", ANY.replace("16", "14"), "14 participants are not complete blocks of 4"),
        ("latin_square", ANY.replace("16", "20"), "the study has 16 places, fewer than"),
        (
            "latin_square",
            'rule = "planned_looks"\nlooks = [7]\nmaximum = 16',
            "7 participants are not complete blocks of 4",
        ),
        (
            "mixed",
            ANY + "bounds = [-0.5, 0.5]\nhalf_width = 0.2",
            "half_width = 0.2 has the unit of one measure, and the comparisons of the stopping "
            "rule have several: log_rt, rating",
        ),
        ("self_paced", ANY, "have no bounds, which any_time needs"),
    ],
)
def test_a_rule_that_the_study_does_not_allow_is_refused(written, example, rule, message):
    report = check_folder(str(written(example, rule)), 1)
    assert any(message.lower() in str(error).lower() for error in report.errors), report.errors
    assert all("stopping" in error.where for error in report.errors)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ('of = "accuracy"\nsmallest_effect = 1.5', "no participant's difference is above 1"),
        ('covariates = ["trial_order"]', "with covariates pools the answers of all participants"),
    ],
)
def test_a_comparison_that_a_rule_cannot_wait_for_is_refused(written, changes, message):
    folder = written(
        "latin_square",
        ANY + 'comparisons = ["subject"]',
        (
            'compare = "subject: sg - pl"\nof = "accuracy"',
            f'compare = "subject: sg - pl"\n{changes}',
        ),
    )
    assert any(message in str(error) for error in check_folder(str(folder), 1).errors)


def test_categories_of_typed_answers_come_too_late_for_a_rule(written):
    study = load_study(str(written("typed", ANY)))
    compared = Comparison(name="living", compare="condition: strong - weak", of="share of alive")
    categories = [Category(name="alive", title="A"), Category(name="thing", title="B")]
    coded = study.model_copy(
        update={"comparisons": [compared], "coding": Coding(question="?", categories=categories)}
    )
    with pytest.raises(StudyError, match='"living" is about a category of typed answers'):
        list_asked_comparisons(coded, list(load_items(study)), {})


def test_a_study_of_explorations_alone_has_no_rule(written):
    folder = written("latin_square", ANY, ('role = "primary"', 'role = "exploratory"'))
    [error] = check_folder(str(folder), 1).errors
    assert "the stopping rule has no comparison to test: none is primary" in str(error)


def test_the_rule_is_part_of_the_plan_and_only_where_there_is_one(written):
    def plan(study: Study):
        return build_plan_values(require_sound(study, 1))

    with_rule = plan(load_study(str(written("latin_square", ANY))))
    assert with_rule["stopping"]["maximum"] == 16
    assert "stopping" not in plan(load_study(str(EXAMPLES / "latin_square")))


def test_without_the_package_a_study_with_a_rule_is_refused(written, monkeypatch):
    monkeypatch.setitem(sys.modules, "experiment.stopping.questions", None)
    [error] = check_folder(str(written("latin_square", ANY)), 1).errors
    assert "has a stopping rule, and the package experiment.stopping is not" in str(error)


COLUMNS_OF_LISTS = (
    "item_id,kind,construction,condition,template,features,frame,context,good,bad,distractor,"
    "contrast"
)
ITEMS_OF_LISTS = "".join(
    f"{name},target,lists,{condition},{condition},,frame={name},,Name them.,,,bad\n"
    for name, condition in [("a1", "living"), ("a2", "living"), ("b1", "made"), ("b2", "made")]
)
LISTS = """response = "fluency"

[study]
name = "lists"
title = "Lists"
version = "1.0"
language = "en"

[materials]
items = "items.csv"

[design]
lists = 1
participants_per_list = 20
trials_per_list = 4

[[design.shared]]
templates = ["living", "made"]

[simulation]
mix = { accurate = 1.0 }

[[constructions]]
name = "lists"
title = "Lists"

[[comparisons]]
name = "living"
compare = "condition: living - made"
of = "OF"

[stopping]
rule = "any_time"
maximum = 16
BOUNDS
"""


@pytest.fixture
def asked_of_lists(tmp_path: Path):
    """Asks about a study of lists."""
    shutil.copytree(EXAMPLES / "typed" / "texts", tmp_path / "texts")

    def ask(of: str, bounds: str = "bounds = [-10, 10]"):
        (tmp_path / "items.csv").write_text(f"{COLUMNS_OF_LISTS}\n{ITEMS_OF_LISTS}", "utf-8")
        (tmp_path / "study.toml").write_text(
            LISTS.replace("OF", of).replace("BOUNDS", bounds), "utf-8"
        )
        study = load_study(str(tmp_path))
        items = list(load_items(study))
        return list_asked_comparisons(study, items, {0: [item.item_id for item in items]})

    return ask


def test_a_value_of_lists_is_the_difference_of_mean_numbers_of_entries(asked_of_lists):
    [comparison] = asked_of_lists("different_entries")
    numbers = {"a1": 12, "a2": 9, "b1": 4, "b2": 6}
    rows = [{"item_id": name, "different_entries": n} for name, n in numbers.items()]
    assert comparison.values.value_of(0, rows) == pytest.approx(10.5 - 5)
    assert comparison.question.bounds.high == 10
    # A list that an archive withholds has no number; without one of a condition there is no value.
    assert comparison.values.value_of(0, rows[:2]) is None


def test_lists_need_bounds_and_no_rule_waits_for_categories(asked_of_lists):
    with pytest.raises(StudyError, match="have no bounds, which any_time needs"):
        asked_of_lists("entries", "")
