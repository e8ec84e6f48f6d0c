"""The form of a study's most used settings: it changes values in the text and nothing else."""

import tomllib

import pytest

from experiment.errors import StudyError
from experiment.studies.load import STUDIES_FOLDER
from experiment.studies.study import STUDY_FILE
from webapp.researcher.study_folders import hash_text
from webapp.researcher.study_settings import (
    change_settings,
    describe_hourly_pay,
    read_settings,
)
from webapp.researcher.toml_edits import set_value
from webapp.users.roles import Role

pytestmark = pytest.mark.one_database
TEXT = (STUDIES_FOLDER / "minimal" / STUDY_FILE).read_text("utf-8")
HOSTILE = "\"]\\ # [x] = 1 ''' \u202e {{7*7}}<script>"


def test_a_value_is_changed_and_every_comment_stays():
    changed = change_settings(TEXT, {"design.participants_per_list": "6", "study.title": "Hé # 1"})
    lines = zip(TEXT.splitlines(), changed.splitlines(), strict=True)
    differ = [(old, new) for old, new in lines if old != new]
    assert differ == [
        ('title = "Which sentence sounds better?"', 'title = "Hé # 1"'),
        ("participants_per_list = 4", "participants_per_list = 6"),
    ]


def test_a_comment_behind_a_value_and_a_hash_inside_it_are_told_apart():
    text = '[study]\r\ncontact = "a # b"  # who answers # really\r\n'
    changed = set_value(text, "study", "contact", "c")
    assert changed == '[study]\r\ncontact = "c"  # who answers # really\r\n'


def test_a_value_over_several_lines_is_replaced():
    text = '[study]\ncontact = """\na\n"""\n# who leads\n[design]\n'
    assert set_value(text, "study", "contact", "c") == (
        '[study]\ncontact = "c"\n# who leads\n[design]\n'
    )


def test_a_key_of_a_table_inside_is_another_key():
    text = '[study]\nname = "x"\n[study.more]\ncontact = "a"\n'
    assert set_value(text, "study", "contact", "c") == (
        '[study]\ncontact = "c"\nname = "x"\n[study.more]\ncontact = "a"\n'
    )


@pytest.mark.parametrize("value", [HOSTILE, "", "x" * 500, "سؤال", "\ttab".strip()])
def test_whatever_is_typed_is_one_value_and_changes_nothing_else(value):
    changed = change_settings(TEXT, {"study.contact": value, "nonsense": "1", "study.name": "x"})
    before, after = tomllib.loads(TEXT), tomllib.loads(changed)
    assert after["study"].pop("contact", "") == value
    assert after == before


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("design.participants_per_list", "0"),
        ("design.participants_per_list", "²"),
        ("design.participants_per_list", "9" * 30),
        ("recruitment.reward", "-1"),
        ("recruitment.reward", "1e3"),
        ("recruitment.median_minutes", "0"),
        ("recruitment.median_minutes", "nan"),
        ("study.title", "two\nlines"),
        ("study.title", "x" * 501),
    ],
)
def test_a_value_that_cannot_be_one_is_refused(name, value):
    with pytest.raises(StudyError, match=r"cannot be the value of .*The text is as it was"):
        change_settings(TEXT, {name: value})


@pytest.mark.parametrize(
    "text",
    [
        'study = { contact = "a" }\n',
        '[study]\n"contact" = "a"\n',
        'study.contact = "a"\n',
        '[study]\ncontact = "' + "#" * 90_000 + '"\n',
    ],
)
def test_a_text_that_a_form_cannot_change_is_left_to_the_editor(text):
    with pytest.raises(StudyError, match="the form cannot change"):
        set_value(text, "study", "contact", "b")


def test_only_settings_whose_table_is_there_are_shown():
    assert read_settings("no toml") is None
    pay = ["recruitment.description", "recruitment.reward", "recruitment.median_minutes"]
    assert list(read_settings("[design]\n")) == ["design.participants_per_list", *pay]
    assert read_settings("study = 3\nrecruitment = 3\n") == {}


def test_pay_is_added_to_a_study_without_it_all_at_once_or_not_at_all():
    text = "[study] # ours\nname = 'x'\n[[exclusion]]\nrule = 'y'\n"
    typed = {
        "recruitment.description": "Read sentences.",
        "recruitment.reward": "1.50",
        "recruitment.median_minutes": "7.5",
    }
    changed = change_settings(text, typed)
    assert changed.startswith(text)
    assert tomllib.loads(changed)["recruitment"] == {
        "description": "Read sentences.", "reward": "1.50", "median_minutes": 7.5,
    }  # fmt: skip
    assert describe_hourly_pay(changed) == "$12.00"
    assert change_settings(text, dict.fromkeys(typed, "")) == text
    with pytest.raises(StudyError, match="is empty, but other fields about pay are not"):
        change_settings(text, typed | {"recruitment.reward": ""})


def test_the_hourly_pay_is_that_at_the_median_time():
    assert describe_hourly_pay(TEXT) == "$12.00"  # 0.20 for one minute
    assert describe_hourly_pay('[recruitment]\nreward = "x"\nmedian_minutes = 1\n') == ""
    assert describe_hourly_pay("") == ""


@pytest.fixture
def editing(researcher, instance):
    """A researcher, what their study is called, and its text's file."""
    here = researcher(Role.RESEARCHER)
    assert here.post("/studies/copy", study="minimal", name="ours").status_code == 303
    [file] = instance.glob(f"studies/*/ours/{STUDY_FILE}")
    return here, f"ours ({file.parent.parent.name})", file


def test_the_form_shows_what_the_text_says_and_saves_into_it(editing):
    here, called, file = editing
    page = here.get(f"/studies/edit?study={called}").text
    assert 'name="recruitment.reward" value="0.20"' in page
    assert "the pay saved here is $12.00 an hour" in page
    seen = hash_text(file.read_text("utf-8"))
    form = {"study": called, "seen": seen, "recruitment.reward": "0.25", "study.contact": HOSTILE}
    saved = here.post("/studies/settings", **form)
    assert saved.status_code == 303
    page = here.client.get(saved.location).text
    assert "study.toml is saved." in page and "is $15.00 an hour" in page
    assert "<script>" not in page.partition("<main")[2]
    assert tomllib.loads(file.read_text("utf-8"))["study"]["contact"] == HOSTILE
    late = here.post("/studies/settings", **form | {"recruitment.reward": "9"})
    assert late.status_code == 409
    assert "Somebody else saved study.toml" in late.text and 'value="0.25"' in late.text
    wrong = here.post("/studies/settings", **form | {"recruitment.reward": "much"})
    assert (wrong.status_code, "an amount such as 1.50" in wrong.text) == (400, True)
    assert tomllib.loads(file.read_text("utf-8"))["recruitment"]["reward"] == "0.25"


def test_other_texts_have_no_form(editing):
    here, called, _ = editing
    page = here.get(f"/studies/edit?study={called}&text=texts/en/consent.md").text
    assert "Save the settings" not in page
