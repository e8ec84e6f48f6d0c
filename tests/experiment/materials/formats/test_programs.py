"""Items of Ibex and Linger become a study as their own program shows them; nothing is run."""

import json
import re

import pytest

from experiment.authoring.new import new_study
from experiment.errors import MaterialsError
from experiment.materials.formats.javascript import CodeExpression, read_variables
from experiment.materials.formats.read import read_materials
from experiment.records import Kind
from experiment.responses.reading.division import question_of

IBEX = r"""
var practiceItemTypes = ["warm"];
var defaults = ["Question", {hasCorrect: true}, Separator, {f: function (s) { return /["']/; }}];
var items = [
    // [["rc-obj", 9], "DashedSentence", {s: "A comment."}],
    ["sep", "Separator", { }], /* ] */
    ["warm", "DashedSentence", {s: "Warm up here."}],
    [["rc-subj", 1], "DashedSentence", {s: 'The cook\'s aunt who saw the nurse left.'},
                     "Question", {q: "Who left?", as: ["the aunt", "the nurse"]}],
    [["rc-obj", [1, 2]], "DashedSentence", {s: "The cook's aunt who " + "the nurse saw left.",},
                     "Question", {q: "Who left?", as: [["f", "the nurse"], ["j", "the aunt"]],
                                  hasCorrect: 1}],
    [["filler", 20], ds, {s: ["It rained", "<b>all</b> day."]},
                     "Question", {q: "Why?", as: ["a", "b", "c"]}],
    [["filler", 21], Message, {html: "x"}, "DashedSentence", {s: [`It`, "snowed."]}],
    [["filler", 22], "DashedSentence", {s: texts[1].toString() + "!"}],
];
"""
LINGER = """# rc 1 subj
The aunt who saw the nurse left.
? Did the aunt leave? Y

# rc 1 obj
The aunt who the nurse saw left.
? Did the nurse leave? N
# filler 1 - late
It rained
all day.
? Did it snow? N
? Really? Y
# practice 1 practice
Warm up here.
"""


def test_an_array_of_ibex_is_sentences_with_questions_fillers_and_practice(tmp_path):
    (tmp_path / "data.js").write_text(IBEX)
    found = read_materials(tmp_path / "data.js")
    assert [(item.good, item.condition, item.frame, item.kind) for item in found.items] == [
        ("The cook's aunt who saw the nurse left.", "rc-subj", "item=1", Kind.TARGET),
        ("The cook's aunt who the nurse saw left.", "rc-obj", "item=1", Kind.TARGET),
        ("It rained all day.", "all", "item=20", Kind.FILLER),
        ("It snowed.", "all", "item=21", Kind.FILLER),
    ]
    assert [draft.good for draft in found.practice] == ["Warm up here."]
    questions = [question_of(item) for item in found.items]
    # The first answer is right where hasCorrect is true.
    assert [one and (one.text, one.answers[one.right == "second"]) for one in questions] == [
        ("Who left?", "the aunt"), ("Who left?", "the aunt"), None, None,
    ]  # fmt: skip
    filler = dict(found.items[2].extra)
    assert (filler["good_regions"], filler["ibex_question"]) == ("It rained | all day.", "Why?")
    said = " ".join(found.notes)
    assert "1 entries were left out, because their sentence is computed: line 16" in said
    assert "1 questions are not asked" in said and "(hasCorrect): line 13" in said
    assert "is not read: Message (1)" in said and "1 texts are shown without their marks" in said


@pytest.mark.parametrize(("name", "text"), [("data.js", IBEX), ("rc.itm", LINGER)])
def test_a_study_asks_as_the_file_s_own_program(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    new = new_study(tmp_path / "s", tmp_path / name, language="en", headers={})
    assert new.task.name == "self_paced"
    assert new.design.lists == 2
    assert "Warm up here." in (tmp_path / "s" / "practice.toml").read_text()


def test_judgments_of_ibex_are_ratings_with_the_file_s_scale(tmp_path):
    scale = '{as: ["1","2","3","4","5"], presentAsScale: true, leftComment: "(bad)"}'
    entries = [f'[["c{n}", 1], "AcceptabilityJudgment", {{s: "The {n} left."}}]' for n in (1, 2)]
    # Conditions that share no item are other experiments.
    entries += [f'[["d{n}", 7], "AcceptabilityJudgment", {{s: "A {n} ran."}}]' for n in (1, 2)]
    (tmp_path / "x.js").write_text(
        f'defaults = ["AcceptabilityJudgment", {scale}]; items = [{", ".join(entries)}]'
    )
    found = read_materials(tmp_path / "x.js")
    assert found.response == "rating"
    assert [item.construction for item in found.items] == ["c", "c", "d", "d"]
    assert {(dict(item.extra)["points"], dict(item.extra)["lowest"]) for item in found.items} == {
        ("5", "(bad)")
    }


def test_labels_of_ibex_that_repeat_the_item_s_number_share_their_conditions(tmp_path):
    entries = [
        f'[["target-{n}-{ending}", {n}], "AcceptabilityJudgment", {{s: "The {n} {word}."}}]'
        for n in (1, 2) for ending, word in (("too-00", "left too"), ("nil-00", "left"))
    ]  # fmt: skip
    (tmp_path / "x.js").write_text(f"items = [{', '.join(entries)}]")
    found = read_materials(tmp_path / "x.js")
    assert [(item.frame, item.condition) for item in found.items] == [
        ("item=1", "target-too-00"), ("item=1", "target-nil-00"),
        ("item=2", "target-too-00"), ("item=2", "target-nil-00"),
    ]  # fmt: skip


def test_items_of_linger_are_sentences_with_their_first_question(tmp_path):
    (tmp_path / "rc.itm").write_text(LINGER)
    found = read_materials(tmp_path / "rc.itm")
    assert [(item.good, item.construction, item.condition) for item in found.items] == [
        ("The aunt who saw the nurse left.", "rc", "subj"),
        ("The aunt who the nurse saw left.", "rc", "obj"),
        ("It rained all day.", "filler", "all"),
    ]
    extra = [dict(item.extra) for item in found.items]
    assert [one["answer"] for one in extra] == ["yes", "no", "no"]
    assert [one["code_1"] for one in extra] == ["", "", "late"]
    assert "Of 1 items a question is not read" in found.notes[0] and "line 8" in found.notes[0]


def test_names_of_linger_s_regions_and_choices_are_not_shown(tmp_path):
    (tmp_path / "items").write_text(
        "# rc 1 subj\nThe aunt@NP left.@VP\n* Who left? A. aunt B. nurse\n"
    )
    (item,) = read_materials(tmp_path / "items").items
    assert item.good == "The aunt left."
    assert dict(item.extra)["good_regions"] == "The aunt | left."


def test_expressions_that_are_no_literals_stay_code():
    text = "a = [1, -2, f(x, [3]).y, {k: () => { return 1; }, m(x) {}, 'n': .5}, ...more]; b == 3"
    values = read_variables(text, {"a", "b"}, "t.js")
    assert list(values) == ["a"]
    (one, minus, call, keys, more), line = values["a"]
    assert (one, minus, call, line) == (1, CodeExpression("-2"), CodeExpression("f(x, [3]).y"), 1)
    assert keys == {"k": CodeExpression("() => { return 1; }"), "n": 0.5}
    assert more == CodeExpression("...more")


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        (
            "a.js",
            'items = [["a", "M", {s: "x}]]',
            "line 1: a text has no closing quotation mark. "
            "Expected brackets and quotation marks that come in pairs, as in JavaScript",
        ),
        ("a.js", 'items = [\n["a", "M", {s: "x"}]', "line 2: the file ends within a bracket"),
        ("a.js", 'items = [["a"}]', 'line 1: "}" is not expected here'),
        ("a.js", 'items = [["sep", "Separator", {}]]', 'no entry of the array "items" shows'),
        ("a.js", "itms = []", r"the program has no items.* chunk_includes, name that"),
        (
            "a.itm",
            "The cat sleeps.",
            "line 1: the line has no header above it. Expected a "
            'header "# experiment item condition", below it the sentence, and questions such as',
        ),
        ("a.itm", "# rc 1 subj\n? Y", "line 1: the header has no sentence below it"),
        ("a.itm", "# rc 1\nThe cat.", 'line 1: the header has 2 words: "# rc 1"'),
        ("a.itm", "\n", "the file has no items"),
    ],
)
def test_what_is_no_list_of_items_is_refused_with_its_line(tmp_path, name, text, message):
    (tmp_path / name).write_text(text)
    with pytest.raises(MaterialsError, match=message):
        read_materials(tmp_path / name)


def test_two_prefixes_of_comps_are_two_sentences_with_one_property(tmp_path):
    row = {"id": 7, "prefix_acceptable": "A robin", "prefix_unacceptable": "A trout",
           "property_phrase": "can fly.", "negative_sample_type": "random"}  # fmt: skip
    (tmp_path / "comps_base.jsonl").write_text(json.dumps(row) + "\n")
    (item,) = read_materials(tmp_path / "comps_base.jsonl").items
    assert (item.good, item.bad) == ("A robin can fly.", "A trout can fly.")
    assert (item.construction, dict(item.extra)["negative_sample_type"]) == ("comps_base", "random")
    (tmp_path / "comps_base.jsonl").write_text(json.dumps({**row, "prefix_acceptable": ""}))
    message = "line 1: the row has no prefix_acceptable. Expected prefix_acceptable, "
    with pytest.raises(MaterialsError, match=re.escape(message)):
        read_materials(tmp_path / "comps_base.jsonl")


ENTRY = '[["{label}", {n}], "AcceptabilityJudgment", {{s: "{text}"}}],\n'


@pytest.mark.parametrize("name", ["spr.js", "speeded"])
def test_entries_of_ibex_alone_are_items_and_a_name_needs_no_suffix(tmp_path, name):
    (tmp_path / name).write_text(
        ENTRY.format(label="high", n=1, text="The aunt left.")
        + ENTRY.format(label="low", n=1, text="The aunt sang.")
    )
    items = read_materials(tmp_path / name).items
    assert [(item.good, item.condition, item.frame) for item in items] == [
        ("The aunt left.", "high", "item=1"), ("The aunt sang.", "low", "item=1"),
    ]  # fmt: skip


def test_a_number_after_letters_is_no_part_of_the_condition(tmp_path):
    labels = (("it1-pl", 1), ("it1-sg", 1), ("it12-pl", 12), ("it12-sg", 12))
    (tmp_path / "x.js").write_text(
        "".join(ENTRY.format(label=label, n=n, text=f"A {label} text.") for label, n in labels)
        # Without a number of its own, an entry keeps its label.
        + '["bad7", "AcceptabilityJudgment", {s: "No number."}],'
    )
    items = read_materials(tmp_path / "x.js").items
    assert [item.condition for item in items] == ["pl", "sg", "pl", "sg", "bad7"]
