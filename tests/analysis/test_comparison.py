"""What a comparison prints stays true where people or a model leave nothing to compute with."""

import re
from functools import cache

import pandas as pd
import pytest

from analysis.report.write import render_report
from analysis.tables.render import to_text
from analysis.tables.section import Section
from tests.analysis import small_run
from tests.analysis.chosen_findings import chosen_findings


def model(good, other):
    """Log-probabilities of a model that scores the versions of every item alike."""
    return {
        item: (good, other, None if distractor is None else other)
        for item, (_, _, distractor) in small_run.LOGPROBS.items()
    }


def everybody(choose):
    """The small run's tables, each answer replaced by what ``choose`` says of it."""
    rows = small_run.tables()
    for trial, response in zip(rows["trials"], rows["responses"], strict=True):
        right = choose(response)
        other = {"first": "second", "second": "first"}[trial["good_side"]]
        response |= {
            "chose_good": right,
            "chosen_side": trial["good_side"] if right else other,
        }
    return rows


def only_ann():
    rows = small_run.tables()
    for row in rows["verdicts"]:
        row["kept"] = row["participant"] == "Ann"
    return rows


def without_times():
    rows = small_run.tables()
    for row in rows["responses"]:
        row["rt_ms"] = None
    return rows


PEOPLE = {
    "as they were": small_run.tables,
    "always right": lambda: everybody(lambda _: True),
    "always wrong": lambda: everybody(lambda _: False),
    "right on one construction": lambda: everybody(lambda row: row["item_id"].startswith("s")),
    "alone": only_ann,
    "without times": without_times,
}
MODELS = {
    "as it was": small_run.LOGPROBS,
    "always right": model(-1.0, -2.0),
    "always wrong": model(-2.0, -1.0),
    "always tied": model(-1.0, -1.0),
    "impossible": model(float("-inf"), float("-inf")),
}


@pytest.fixture(scope="module")
def compared(tmp_path_factory):
    """The comparison of people with a model, each made once; no test changes one."""
    return cache(lambda *judges: made(tmp_path_factory.mktemp("compared"), *judges))


@pytest.fixture
def some_of(tmp_path):
    """The same, of the named findings alone."""

    def compare(people, model, *names):
        with chosen_findings(*names):
            return made(tmp_path, people, model)

    return compare


def made(folder, people, model):
    export = small_run.write_export(folder / "export", PEOPLE[people]())
    rows = small_run.score_rows(MODELS[model])
    scores = small_run.write_scores(folder / "scores.parquet", rows)
    return small_run.compared(export, scores, resamples=50)


# Where nothing varies is where nothing can be computed; the rest lies between.
BETWEEN = [
    *((people, "as it was") for people in PEOPLE if people not in ("alone", "without times")),
    ("as they were", "always right"), ("as they were", "always wrong"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("people", "model"),
    [("alone", "as it was"), ("without times", "as it was"), ("as they were", "always tied"),
     ("as they were", "impossible"), ("always right", "always right"),
     ("always wrong", "always wrong"),
     *(pytest.param(*each, marks=pytest.mark.campaign) for each in BETWEEN)],
)  # fmt: skip
def test_nothing_printed_says_nan_or_inf(compared, people, model):
    found = compared(people, model)
    printed = [to_text(table) for table in found.tables]
    printed.append(re.sub(r"<[^>]+>", " ", render_report(found, {}, {})))
    for text in printed:
        assert not re.search(r"(?<![\w-])[+-]?(nan|inf)(?![\w-])", text, re.IGNORECASE), text


@pytest.mark.parametrize(
    ("model", "accuracy"), [("always right", 1.0), ("always wrong", 0.0), ("always tied", 0.0)]
)
def test_a_model_that_never_varies_has_that_accuracy_in_every_table(some_of, model, accuracy):
    found = some_of("as they were", model, "metrics", "multiverse")
    tables = {table.name: table.frame for table in found.tables}
    assert set(tables["table_1"]["5-gram_judged"]) == {accuracy}
    assert set(tables["conditions"]["5-gram_judged"]) == {accuracy}
    assert tables["metrics"].set_index("label").loc["sum", "5-gram_accuracy"] == accuracy
    multiverse = tables["multiverse"]
    of_model = multiverse[multiverse["group"] == "5-gram"].set_index("label")
    assert of_model.loc["Accuracy", "as run"] == accuracy


@pytest.mark.parametrize("people", PEOPLE)
def test_words_stand_with_the_most_difficult_first(some_of, people):
    tables = {table.name: table.frame for table in some_of(people, "as it was", "lexical").tables}
    assert tables["words"]["people"].is_monotonic_increasing


def test_judgments_that_repeat_an_item_are_counted_and_said(compared, tmp_path):
    rows = small_run.tables()
    trial, answer = next(
        (trial, answer)
        for trial, answer in zip(rows["trials"], rows["responses"], strict=True)
        if trial["participant"] == "Ann"
    )
    for table, row in (("trials", trial), ("responses", answer)):
        rows[table].append(row | {"position": 99})
    scores = small_run.write_scores(
        tmp_path / "scores.parquet", small_run.score_rows(small_run.LOGPROBS)
    )
    with chosen_findings():
        found = small_run.compared(small_run.write_export(tmp_path / "export", rows), scores)
    said = "1 judgment of an item that the same participant had judged before; all count."
    assert any(said in each for each in found.provenance.sentences)
    once = compared("as they were", "as it was")
    assert not any("judged before" in each for each in once.provenance.sentences)


def test_every_section_of_a_report_is_one_of_the_enumeration_in_its_order(compared):
    found = compared("as they were", "as it was")
    used = {table.section for table in found.tables} | {one.section for one in found.drawings}
    assert all(isinstance(section, Section) for section in used)
    headings = re.findall(r"<h2>(.*?)</h2>", render_report(found, {}, {}))
    order = [section.value for section in Section]
    places = [order.index(heading) for heading in headings if heading in order]
    assert places == sorted(places)


def test_new_references_of_participants_change_no_number(compared, tmp_path, scores):
    rows = small_run.tables()
    names = {"Ann": "Zoe", "Ben": "Ada", "Cat": "Kim", "Dan": "Bob"}
    renamed = {
        table: [
            row | {"participant": names[str(row["participant"])]} if "participant" in row else row
            for row in of_table
        ]
        for table, of_table in rows.items()
    }
    # Tables sorted by the new references, as another program may have written them.
    renamed["participants"].sort(key=lambda row: str(row["participant"]))
    renamed["responses"].sort(key=lambda row: (str(row["participant"]), row["position"]))
    second = small_run.write_export(tmp_path / "second", renamed)
    one = compared("as they were", "as it was")
    two = small_run.compared(second, scores, resamples=50)
    for before, after in zip(one.tables, two.tables, strict=True):
        pd.testing.assert_frame_equal(before.frame, after.frame)
    pd.testing.assert_frame_equal(one.by_condition, two.by_condition)
