"""Self-paced reading and the Maze: division, questions, sides, answers, simulation, bad input."""

import math
import random
import re
from dataclasses import replace
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from experiment.authoring.check import check_folder
from experiment.commands import study as commands
from experiment.errors import StudyError
from experiment.exclusion.rules import load_rule
from experiment.materials.render import sentence_case
from experiment.records import Item, Judgment, Kind, Side, Steps
from experiment.responses.base import GivenAnswer, Known
from experiment.responses.reading.maze import draw_sides
from experiment.responses.registry import answer_keys, load_response
from experiment.responses.responders import Accurate, Guessing
from experiment.studies.load import load_study
from experiment.studies.study import Rule

ITEM = Item("a-1", Kind.TARGET, "a", "", "t", "", "f", "", "the dog barks loudly", "")
DISTRACTORS = ("distractors", "x-x-x upon happy lamp")
MAZED = replace(ITEM, extra=(DISTRACTORS,))
WORDS, REGIONS = load_response("self_paced", {}), load_response("self_paced", {"by": "region"})
MAZE, ENDING = load_response("maze", {}), load_response("maze", {"on_error": "end"})


def of(text: str, regions: str = "", **columns: str) -> Item:
    extra = {"good_regions": regions, **columns}
    return replace(ITEM, good=text, extra=tuple(extra.items()))


@pytest.mark.parametrize(
    ("response", "item", "shown"),
    [
        (WORDS, ITEM, ["The", "dog", "barks", "loudly."]),
        (REGIONS, of("the dog barks", "the dog | barks"), ["The dog", "barks."]),
        (WORDS, of("the dog barks", "the dog | barks"), ["The", "dog", "barks."]),
        (WORDS, of("我喜欢你们的", "我|喜欢|你们|的"), ["我", "喜欢", "你们", "的."]),
        (WORDS, of("הכלב נבח בקול"), ["הכלב", "נבח", "בקול."]),
    ],
)  # fmt: skip
def test_a_sentence_is_divided_as_it_is_written(response, item, shown):
    assert response.show(item, Side.FIRST, sentence_case).besides["steps"] == shown


@pytest.mark.parametrize(
    ("response", "item", "problem"),
    [
        (WORDS, of("Stop!"), "has 1 word"),
        (WORDS, of("a b c", "a | c"), "the regions are not the sentence"),
        (WORDS, of("a b c", "a | | b c"), "the regions are not the sentence"),
        (WORDS, of("a | b c"), "holds the bar"),
        (WORDS, of("我喜欢你们的老师很多"), "script writes no spaces"),
        (WORDS, of("a b", question="Is it?"), 'the column "answer" is empty'),
        (WORDS, of("a b", question="Is it?", answer="maybe"), 'says "maybe"'),
        (WORDS, of("a b", question="Who?", answers="x | y | z", answer="x"), "3 answers"),
        (WORDS, of("a b", question="Who?", answers="x | y", answer="z"), 'says "z"'),
        (MAZE, ITEM, "no word of"),
        (MAZE, replace(ITEM, extra=(("distractors", "x-x-x upon"),)), '"barks" of .* no distract'),
        (MAZE, replace(ITEM, extra=(("distractors", "x-x-x Dog, a b"),)), "is the word itself"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_item(response, item, problem):
    with pytest.raises(StudyError, match=f'"a-1".*{problem}'):
        response.versions(item)


def test_a_question_has_its_right_answer_where_its_author_put_it():
    item = of("a b", question="Who?", answers="the cook | the guest", answer="the guest")
    shown = WORDS.arrangement(item, ("good",))
    assert (shown.good_side, shown.options) == (Side.SECOND, ("good", "2", "question"))
    besides = WORDS.show(item, Side.FIRST, str).besides
    assert besides["answers"] == {"first": "the cook", "second": "the guest"}


def timed(n: int, wrong: tuple[int, ...] = (), done: tuple[float | None, ...] = ()) -> Steps:
    return Steps(tuple(100.0 * k for k in range(n)), (100.0,) * n, "p" * n, (4.0,) * n, wrong, done)


@pytest.mark.parametrize(
    ("response", "given", "options", "accepted"),
    [
        (WORDS, GivenAnswer(steps=timed(4)), "good 4", True),
        (WORDS, GivenAnswer(steps=timed(3)), "good 4", False),
        (WORDS, GivenAnswer(Side.FIRST, steps=timed(4)), "good 4", False),
        (WORDS, GivenAnswer(Side.FIRST, steps=timed(4)), "good 4 question", True),
        (WORDS, GivenAnswer(steps=timed(4)), "good 4 question", False),
        (WORDS, GivenAnswer(Side.FIRST), "good 4 question", False),
        (WORDS, GivenAnswer(steps=replace(timed(4), rt_ms=(1.0,))), "good 4", False),
        (MAZE, GivenAnswer(steps=timed(4, (0, 1, 0, 0), (1.0,) * 4)), "good lrlr", True),
        (MAZE, GivenAnswer(steps=timed(4)), "good lrlr", False),
        (MAZE, GivenAnswer(steps=timed(2, (0, 1), (1.0, None))), "good lrlr", False),
        (ENDING, GivenAnswer(steps=timed(2, (0, 1), (1.0, None))), "good lrlr question", True),
        (ENDING, GivenAnswer(steps=timed(2, (1, 0), (None, 1.0))), "good lrlr", False),
        (
            ENDING,
            GivenAnswer(Side.FIRST, steps=timed(2, (0, 1), (1.0, None))),
            "good lrlr x",
            False,
        ),
    ],
)
def test_only_the_steps_of_the_trial_are_an_answer(response, given, options, accepted):
    assert response.accepts(given, options) is accepted


@pytest.mark.parametrize(
    ("response", "n", "wrong", "finished"),
    [
        (MAZE, 4, (0, 0, 0, 0), True),
        (MAZE, 4, (0, 1, 0, 2), True),
        (ENDING, 4, (0, 0, 0, 0), True),
        (ENDING, 4, (0, 0, 0, 1), False),
        (ENDING, 2, (0, 1), False),
        (ENDING, 2, (0, 0), False),
    ],
)
def test_a_maze_is_finished_where_no_error_ended_it(response, n, wrong, finished):
    steps = timed(n, wrong, (1.0,) * n)
    assert response.is_finished(steps, "lrlr") is finished
    row = {"version": "good lrlr", "steps": steps, "chosen_side": None, "chose_good": None}
    exported = response.derive_columns(row)
    assert (exported["is_finished"], exported["n_wrong"]) == (finished, sum(map(bool, wrong)))
    assert exported["version"] == "good"


@pytest.mark.parametrize("name", ["sentence_pair", "rating", "yes_no", "option_list"])
def test_no_other_type_takes_steps(name):
    given = GivenAnswer(Side.FIRST if name != "rating" else None, 1 if name == "rating" else None)
    response = load_response(name, {})
    assert response.accepts(given, "good bad")
    assert not response.accepts(replace(given, steps=timed(2)), "good bad")


@pytest.mark.parametrize("n", [2, 5, 12, 41, 150])
def test_right_words_stand_half_on_each_side_and_never_four_times_running(n):
    drawn = [draw_sides(n, random.Random(seed)) for seed in range(40)]
    assert all(abs(one.count("l") - one.count("r")) <= 1 for one in drawn)
    assert not any(side * 4 in one for one in drawn for side in "lr")
    assert len(set(drawn)) > 1


def test_over_two_places_each_word_stands_on_both_sides():
    arranged = MAZE.arrangement(MAZED, ("good",))
    first, second = (
        MAZE.drawn(MAZED, arranged, lambda: random.Random(7), mirrored=mirrored).options[1]
        for mirrored in (False, True)
    )
    assert first.translate(str.maketrans("lr", "rl")) == second


def test_a_distractor_gets_the_marks_of_its_word():
    item = replace(ITEM, good="the dog, barks.", extra=(("distractors", "x-x-x upon happy"),))
    page = MAZE.show(item, Side.FIRST, str).besides
    assert page["distractors"] == ["x-x-x", "upon,", "happy."]
    bare = load_response("maze", {"punctuation": False})
    assert bare.show(item, Side.FIRST, str).besides["distractors"] == ["x-x-x", "upon", "happy"]


@pytest.mark.parametrize(("response", "item"), [(WORDS, ITEM), (MAZE, MAZED), (ENDING, MAZED)])
def test_a_simulated_reader_gives_an_answer_that_is_accepted_and_exported(response, item):
    item = replace(item, extra=(*item.extra, ("question", "Is it?"), ("answer", "no")))
    arranged = response.arrangement(item, ("good",))
    known, rng = Known(item, item.good, 0.7), random.Random(3)
    for responder in (Accurate(), Guessing()):
        for _ in range(50):
            given = response.simulate(responder, known, [item.good], rng)
            assert response.accepts(given, " ".join(arranged.options))
            rows = list(response.step_rows(item, arranged, given))
            names = set(response.step_table.column_names)
            assert all(
                {*row, "participant", "position", "item_id", "judge"} == names for row in rows
            )
            assert [row["text"] for row in rows] == item.good.split()[: len(rows)]
            row = {"version": " ".join(arranged.options), "steps": given.steps}
            assert response.derive_columns(row)["version"] == "good"
    assert response.accepts(response.correct_answer(arranged), " ".join(arranged.options))


def test_regions_that_do_not_align_over_conditions_are_named():
    one = of("a b c", "a | b | c")
    other = replace(of("a b c", "a b | c"), item_id="a-2", condition="other")
    [(item, error)] = REGIONS.flaws([one, other])
    assert item is other
    assert "has 2 regions" in str(error) and '"a-1"' in str(error)
    assert not list(REGIONS.flaws([one, replace(other, kind=Kind.FILLER)]))
    # Without a frame in both conditions, the numbers of regions are all that can be compared.
    [(_, error)] = REGIONS.flaws([one, replace(other, frame="g")])
    assert "has 2 regions" in str(error)


def test_questions_that_were_not_asked_are_no_errors():
    rule = load_rule(Rule(rule="max_error_rate", max_error_rate=0.4))
    judged = [
        Judgment(n, f"i{n}", Kind.TARGET, "a", good, None, 900.0)
        for n, good in enumerate([True, None, None, False], start=1)
    ]
    kept, evidence = rule.judge(judged)
    assert not kept and "1 error (50.0%) on the 2 trials" in evidence


LINES = ["sentence,item,condition,question,answer,distractors",
         "a dog | barked,1,x,Did it?,yes,x-x-x upon if",
         "a dog | slept,1,y,Did it?,yes,x-x-x upon if",
         "a cat | barked,2,x,,,x-x-x upon if",
         "a cat | slept,2,y,,,x-x-x upon if"]  # fmt: skip


@pytest.mark.parametrize("response", ["self_paced", "maze"])
def test_a_table_becomes_a_sound_study(response, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("\n".join(LINES), encoding="utf-8")
    done = CliRunner().invoke(commands.new, ["mine", "--from", "t.csv", "--response", response])
    assert done.exception is None, done.output
    assert check_folder("mine", 1).errors == ()
    study = load_study("mine")
    items = (tmp_path / "mine" / "items.tsv").read_text("utf-8")
    assert "\ta dog barked\t" in items and "a dog | barked" in items
    assert answer_keys(study, load_response(response, {})) == (
        ("f", "j") if response == "maze" else ("1", "2")
    )


def test_columns_of_regions_are_one_sentence(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = ["region_1,region_2,region_3,item", "The dog,barked,loudly.,1", "Cats,slept,,2"]
    (tmp_path / "t.csv").write_text("\n".join(lines), encoding="utf-8")
    done = CliRunner().invoke(commands.new, ["mine", "--from", "t.csv", "--response", "self_paced"])
    assert done.exception is None, done.output
    items = (tmp_path / "mine" / "items.tsv").read_text("utf-8")
    assert "\tThe dog barked loudly.\t" in items and "Cats | slept" in items


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("a dog | barked", "a dog | jumped", "the regions are not the sentence"),
        ("a dog | barked", "a | dog | barked", "has 2 regions, and"),
        ("\tyes", "\tperhaps", "its question has no right answer"),
    ],
)
def test_a_mistake_in_the_items_is_one_paragraph_with_file_and_line(
    old, new, problem, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("\n".join(LINES), encoding="utf-8")
    CliRunner().invoke(commands.new, ["mine", "--from", "t.csv", "--response", "self_paced"])
    path = tmp_path / "mine" / "items.tsv"
    lines = path.read_text("utf-8").splitlines()
    changed = lines[1].replace(old, new, 1)
    path.write_text("\n".join([lines[0], changed, *lines[2:], ""]), encoding="utf-8")
    errors = list(map(str, check_folder("mine", 1).errors))
    assert len(errors) == 1 and problem in errors[0], errors
    assert "items.tsv, line " in errors[0]
    assert "\n" not in errors[0]


@pytest.mark.parametrize(
    ("on_error", "delay_ms", "again"), [("correct", 0, 600.0), ("delay", 700, 1300.0)]
)
def test_a_simulated_wrong_word_takes_the_pause_and_another_choice(on_error, delay_ms, again):
    keys = {"on_error": on_error} | ({"delay_ms": delay_ms} if delay_ms else {})
    response = load_response("maze", keys)
    known = Known(MAZED, "", 0.5)
    rng = random.Random(3)
    steps = [response.simulate_steps(Guessing(), known, "good", rng) for _ in range(20)]
    assert {wrong for one in steps for wrong in one.wrong} == {0, 1}
    for one in steps:
        extra = [done - rt for done, rt in zip(one.done_ms, one.rt_ms, strict=True)]
        assert extra == pytest.approx([wrong * again for wrong in one.wrong])
        onsets = [sum(one.done_ms[:n]) for n in range(4)]
        assert one.onset_ms == pytest.approx(onsets, abs=0.2)


def test_a_simulated_error_that_ends_a_sentence_has_no_end_of_its_own():
    rng = random.Random(3)
    steps = [
        ENDING.simulate_steps(Guessing(), Known(MAZED, "", 0.5), "good", rng) for _ in range(20)
    ]
    ended = [one for one in steps if any(one.wrong)]
    assert ended and all(ENDING.fits(one, "llll") for one in steps)
    assert all(one.wrong[-1] == 1 and one.done_ms[-1] is None for one in ended)
    assert all(None not in one.done_ms[:-1] for one in steps)


@pytest.mark.parametrize(
    ("median_times", "times", "shown_ms"), [(1, 1, 322.0), (1, 2, 644.0), (1e9, 1, 86_400_000)]
)
def test_a_simulated_word_takes_280_ms_and_14_for_each_letter_and_a_day_at_most(
    median_times, times, shown_ms
):
    rng = SimpleNamespace(lognormvariate=lambda mean, _: median_times * math.exp(mean))
    assert WORDS.word_ms("dog", rng, times) == shown_ms


def test_a_table_suits_the_maze_by_the_columns_of_its_first_item():
    assert MAZE.suits([MAZED, ITEM], ()) and not MAZE.suits([ITEM, MAZED], ())
    assert MAZE.suits([replace(ITEM, extra=(("good_distractors", "x-x-x a b c"),))], ())


@pytest.mark.parametrize(("n", "shown"), [(80, "x" * 80), (81, "x" * 77 + "...")])
def test_a_message_holds_eighty_letters_of_a_sentence_at_most(n, shown):
    with pytest.raises(StudyError, match=f': "{re.escape(shown)}"'):
        WORDS.versions(of("x" * n))
