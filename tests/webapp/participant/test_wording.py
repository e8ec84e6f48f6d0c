"""Participants of a level read its pages, its title and its questions, and nobody else does."""

import shutil
from pathlib import Path

import pytest

from experiment.authoring.check import check_folder
from experiment.design.audit.audit import audit
from experiment.design.lists import build_lists
from experiment.materials.read import load_items
from experiment.studies.load import load_study

_EXAMPLE = Path("docs/examples/between_participants")
_WORDING = """
[[design.wording]]
when = { filler_length = "long" }
title = "Which sentence is nicer?"
pages = { instructions = "instructions_long", debrief = "debrief_long" }

[[questionnaire]]
name = "hurried"
label = "Did you feel hurried?"
type = "text"
required = true
when = { filler_length = "long" }
"""


def worded(folder: Path, wording: str = _WORDING) -> str:
    made = folder / "between_participants"
    shutil.copytree(_EXAMPLE, made)
    with (made / "study.toml").open("a", encoding="utf-8") as file:
        file.write(wording)
    texts = made / "texts" / "en"
    (texts / "instructions_long.md").write_text("# Take your time\n\nLong ones.\n")
    (texts / "debrief_long.md").write_text("# Thank you, patient reader\n")
    return str(made)


@pytest.fixture
def study(tmp_path):
    return load_study(worded(tmp_path))


@pytest.fixture
def prelaunched() -> bool:
    return False


def test_each_level_reads_its_own_pages_and_is_asked_its_own_questions(study):
    short, long = study.of_list(0), study.of_list(1)
    assert (study.design.levels(0), study.design.levels(1)) == (
        {"filler_length": "short"},
        {"filler_length": "long"},
    )
    assert short.text("instructions") == study.text("instructions")
    assert "Take your time" in long.text("instructions")
    assert [q.name for q in short.questionnaire] == ["native_language", "comment"]
    assert [q.name for q in long.questionnaire] == ["native_language", "comment", "hurried"]


def test_the_pages_of_a_session_are_those_of_its_list(client, run, start, sessions, study):
    seen = {}
    for _ in range(4):
        person = start(run)
        page = person.page().text
        person.answer_all()
        of_level = "Which sentence is nicer?" in page, 'name="hurried"' in person.page().text
        seen.setdefault("Take your time" in page, set()).add(of_level)
    assert seen == {True: {(True, True)}, False: {(False, False)}}


def test_a_preview_shows_each_level(client, run):
    shown = [
        client.post(f"/run/{run.ref}?preview=1&list={n}", data={"decision": "accept"}).text
        for n in (0, 1)
    ]
    assert ["Take your time" in page for page in shown] == [False, True]
    assert ['name="hurried"' in page for page in shown] == [False, True]


def test_the_audit_reads_the_pages_of_each_level(study):
    built = build_lists(study, load_items(study), 1)
    row = next(one for one in audit(study, built) if one.name.startswith("pages and questions"))
    assert row.passed


@pytest.mark.parametrize(
    ("wording", "said"),
    [
        ('when = { filler_lenght = "long" }\ntitle = "x"', "filler_length"),
        ('when = { filler_length = "longer" }\ntitle = "x"', "long"),
        ('when = { filler_length = "long" }\npages = { consent = "debrief_long" }', "same for all"),
        ('when = { filler_length = "long" }\npages = { debrief = "debrief_lung" }', "debrief_long"),
        ('when = { filler_length = "long" }\npages = { debreif = "debrief_long" }', "debrief"),
        ('when = { filler_length = "long" }', "nothing is worded otherwise"),
        (
            'when = { filler_length = "long" }\ntitle = "x"\n'
            '[[design.wording]]\nwhen = { filler_length = "long" }\ntitle = "y"',
            "worded twice",
        ),
        (
            'when = { filler_length = "long" }\npages = { instructions = "debrief_long" }\n'
            '[comprehension]\nquestions = [{ name = "q", label = "What?", correct = ["a"] }]',
            "before a participant has a list",
        ),
    ],
)
def test_what_cannot_be_meant_is_named(tmp_path, wording, said):
    report = check_folder(worded(tmp_path, f"\n[[design.wording]]\n{wording}\n"), 1)
    assert any(said in str(error) and "wording" in str(error) for error in report.errors), [
        str(error) for error in report.errors
    ]


@pytest.mark.parametrize(
    "rule",
    [
        'rule = "not_native"\nquestion = "hurried"\naccepted = "no"',
        'rule = "failed_comprehension"\nanswers = { hurried = "no" }',
        'rule = "any"\nrules = [{ rule = "incomplete" },'
        ' { rule = "failed_comprehension", answers = { hurried = "no" } }]',
    ],
)
def test_a_rule_on_a_question_of_some_is_refused(tmp_path, rule):
    report = check_folder(worded(tmp_path, f"{_WORDING}\n[[exclusion]]\n{rule}\n"), 1)
    assert any("only participants of one level" in str(error) for error in report.errors)


def test_a_factor_that_changes_nothing_is_named(tmp_path):
    folder = Path(worded(tmp_path, ""))
    text = (folder / "study.toml").read_text()
    changed = text.replace('"long"] }', '"long"], mood = ["glad", "sad"] }')
    (folder / "study.toml").write_text(changed)
    notes = [str(note) for note in check_folder(str(folder), 1).notes]
    assert any('the factor "mood" changes nothing' in note for note in notes)
