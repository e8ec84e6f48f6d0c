"""Tasks of lm-evaluation-harness as items."""

import json

import pytest

from experiment.errors import MaterialsError
from experiment.materials.formats.files import open_materials
from experiment.materials.formats.read import read_materials

ROWS = [
    {"sentence_good": "The cat  sleeps.", "sentence_bad": "The cat sleep.", "n": 1, "UID": "u"},
    {"sentence_good": "Dogs bark.", "sentence_bad": "Dogs barks.", "n": 2, "UID": "u"},
]
BLIMP = """
task: island
dataset_path: json
dataset_kwargs: {data_files: data.jsonl}
output_type: multiple_choice
doc_to_text: ""
doc_to_target: 0
doc_to_choice: "{{[sentence_good, sentence_bad]}}"
"""


def task(folder, text=BLIMP, rows=ROWS):
    (folder / "data.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "task.yaml").write_text(text)
    return folder / "task.yaml"


def test_a_task_like_blimps_gives_its_pairs_behind_a_space(tmp_path):
    found = read_materials(task(tmp_path))
    assert [(item.good, item.bad, item.context) for item in found.items] == [
        ("The cat sleeps.", "The cat sleep.", ""), ("Dogs bark.", "Dogs barks.", ""),
    ]  # fmt: skip
    assert {item.construction for item in found.items} == {"island"}
    assert dict(found.items[0].extra)["UID"] == "u"
    assert found.rendering == "after_space"
    without = read_materials(task(tmp_path, BLIMP + 'target_delimiter: ""\n'))
    assert (without.items, without.rendering) == (found.items, "")


def test_an_included_file_is_below_the_task_own_keys(tmp_path):
    (tmp_path / "_template_yaml").write_text(BLIMP)
    found = read_materials(task(tmp_path, "include: _template_yaml\ntask: mine\n"))
    assert {item.construction for item in found.items} == {"mine"}


@pytest.mark.parametrize(
    ("keys", "rows", "expected"),
    [
        # A context, the target as a column that holds the choice's number.
        ("doc_to_text: '{{start}}'\ndoc_to_choice: [is, are]\ndoc_to_target: label\n",
         {"start": "The keys", "label": 1}, ("The keys", "are", "is")),
        # The choices in a column, the target as a text.
        ("doc_to_text: start\ndoc_to_choice: options\ndoc_to_target: '{{right}}'\n",
         {"start": "The key", "options": ["is", "are"], "right": "is"}, ("The key", "is", "are")),
        # Before every text stands the description.
        ("description: 'Say it: '\ndoc_to_text: start\ndoc_to_choice: ['{{a}}', '{{b}}']\n",
         {"start": "The key", "a": "is", "b": "are"}, ("Say it: The key", "is", "are")),
    ],
)  # fmt: skip
def test_texts_choices_and_targets_may_be_columns_or_templates(tmp_path, keys, rows, expected):
    (item,) = read_materials(task(tmp_path, BLIMP + keys, [rows])).items
    assert (item.context, item.good, item.bad) == expected


def test_data_may_be_a_table_and_a_split(tmp_path):
    (tmp_path / "rows.csv").write_text("sentence_good,sentence_bad\nIt is.,It are.\n")
    keys = "dataset_path: csv\nvalidation_split: dev\n"
    text = BLIMP.replace("data.jsonl", "{train: none.csv, dev: [rows.csv]}") + keys
    (item,) = read_materials(task(tmp_path, text)).items
    assert item.good == "It is."


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ("process_docs: !function utils.process_docs\n", "does not run a task's code"),
        (
            "output_type: generate_until\n",
            "no items can be made from the task .*: its output_type is gen",
        ),
        ("num_fewshot: 5\n", "it shows 5 examples first"),
        ("dataset_path: nyu-mll/blimp\ndataset_kwargs: {}\n", "its data were not found"),
        ("dataset_kwargs: {data_files: nowhere.jsonl}\n", "nowhere.jsonl"),
        ("doc_to_choice: [a, b, c]\n", "it has 3 choices"),
        ("doc_to_choice: '{{nothing}}'\n", "cannot be filled"),
        ("doc_to_choice: 7\n", "does not give a list"),
        ("doc_to_choice: '{{n}} [('\n", "doc_to_choice gives"),
        ("doc_to_target: 2\n", 'gives "2".*Expected the number of a choice, or one'),
        ("doc_to_text: 3\n", "doc_to_text is 3.*Expected a template or a column's name"),
        ("doc_to_text: UID\ntarget_delimiter: ''\n", "without a space"),
        ("doc_to_text: '{{ \"\".__class__.__mro__ }}'\n", "unsafe|cannot be filled"),
        ("doc_to_text: '{{ 1 / 0 }}'\n", "cannot be filled"),
        ("x: [\n", r"line \d+: the file is not YAML \(expected the node content"),
        ("include: task.yaml\n", "include each other"),
    ],
)
def test_what_cannot_be_read_as_pairs_is_refused_in_one_paragraph(tmp_path, keys, message):
    with pytest.raises(MaterialsError, match=message) as raised:
        read_materials(task(tmp_path, BLIMP + keys))
    assert "\n" not in str(raised.value)


def test_a_file_that_is_no_mapping_is_no_task(tmp_path):
    with pytest.raises(MaterialsError, match="not a task"):
        read_materials(task(tmp_path, "- a\n"))


def test_a_tag_for_code_is_never_looked_up(tmp_path):
    with pytest.raises(MaterialsError, match="not YAML"):
        read_materials(task(tmp_path, BLIMP + "x: !!python/object/apply:os.getcwd []\n"))


@pytest.mark.parametrize(
    ("keys", "whole"),
    [
        # The harness gives a model doc_to_text, target_delimiter and the choice, joined.
        ("doc_to_text: \"Question: {{goal}}\\nAnswer:\"\n", "Question: the pilot\nAnswer: waves."),
        ("doc_to_text: goal\ntarget_delimiter: \"\\n\"\n", "the pilot\nwaves."),
        ("doc_to_text: goal\ntarget_delimiter: \"\\n\\n\"\n", "the pilot\n\nwaves."),
        ("doc_to_text: goal\ntarget_delimiter: \"\\t\"\n", "the pilot\twaves."),
        ("doc_to_text: '{{goal}} '\ntarget_delimiter: ''\n", "the pilot waves."),
        ("doc_to_text: '{{goal}} '\n", "the pilot  waves."),
        ("doc_to_text: ''\ntarget_delimiter: \"\\n\"\n", "\nwaves."),
    ],
)  # fmt: skip
def test_the_white_space_of_prompt_and_target_reaches_a_model_as_it_is_written(
    tmp_path, keys, whole
):
    rows = [{"goal": "the pilot", "sol1": "wave.", "sol2": "waves.", "label": 1}]
    choices = "doc_to_choice: '{{[sol1, sol2]}}'\ndoc_to_target: label\n"
    path = task(tmp_path, BLIMP + choices + keys, rows)
    (item,) = open_materials(path).items()
    assert item.after_context(item.good) == whole
    assert item.after_context(item.bad) == whole.replace("waves", "wave")


@pytest.mark.parametrize("delimiter", ["", " "])
def test_chinese_follows_its_prompt_without_a_space_unless_the_task_has_one(tmp_path, delimiter):
    texts = ["\u684c\u5b50\u4e0a\u3002", "\u559c\u6b22\u3002"]
    rows = [{"goal": "\u732b\u5728", "sol1": texts[0], "sol2": texts[1], "label": 0}]
    keys = "doc_to_choice: '{{[sol1, sol2]}}'\ndoc_to_target: label\ndoc_to_text: goal\n"
    path = task(tmp_path, f"{BLIMP}{keys}target_delimiter: '{delimiter}'\n", rows)
    (item,) = open_materials(path).items()
    assert item.after_context(item.good) == f"\u732b\u5728{delimiter}{texts[0]}"


def test_a_study_shows_single_spaces_and_says_which_texts_that_changes(tmp_path):
    path = task(tmp_path, BLIMP + 'doc_to_text: "Q: {{UID}}\\nA:"\n')
    found = read_materials(path)
    assert found.items[0].after_context(found.items[0].good) == "Q: u A: The cat sleeps."
    (note,) = [note for note in found.notes if note.startswith("White space is shown")]
    assert "3 texts were changed: 'Q: u\\nA:' became 'Q: u A:'; 'The cat  sleeps.' became" in note
