"""What would keep a server busy is refused before the launch."""

import base64

import pytest

from experiment.authoring.check import check_folder
from tests.experiment.authoring.test_rule_checks import write_whole_study

PANEL = """
[panel]
person = ["who"]

[panel.parameters.who]
pattern = '%s'

[panel.endings.completed]
address = "https://panel.example/end?who={who}"
"""


@pytest.fixture
def folder(tmp_path):
    return write_whole_study(tmp_path / "whole")


@pytest.mark.parametrize("pattern", [r"(\w)\1", "(?=a)\\w+", "a{1,2000}"])
def test_a_pattern_that_needs_trial_and_error_is_refused_with_its_place(folder, pattern):
    path = folder / "study.toml"
    text = path.read_text("utf-8").partition("[panel]")[0]
    path.write_text(text + PANEL % pattern, encoding="utf-8")
    [error] = check_folder(str(folder), 1).errors
    assert "keep the server busy" in str(error)
    assert "pattern" in error.where
    path.write_text(text + PANEL % "(a+)+b", encoding="utf-8")
    assert check_folder(str(folder), 1).errors == ()


def test_a_text_with_more_marks_than_pages_show_is_refused(folder):
    text = next(folder.glob("texts/*/consent.md"))
    text.write_text("_a" * 50_000, encoding="utf-8")
    error, without_elements = check_folder(str(folder), 1).errors
    assert "consent" in str(without_elements)
    assert (
        'the text "consent" is too long, or has too many lines and Markdown marks. Expected at'
        " most 100,000 characters, and 2,000 lines, stars, brackets and other marks together; pages"
        " show a longer text without formatting."
    ) in str(error)
    assert "2,000 lines, stars" in str(error)


def test_a_text_with_a_picture_that_no_page_shows_is_refused(folder):
    text = next(folder.glob("texts/*/instructions.md"))
    immense = base64.b64encode(b"GIF89a\xff\xff\xff\xff;").decode()
    picture = f"\n\n![a map](data:image/gif;base64,{immense})\n"
    text.write_text(text.read_text("utf-8") + picture, encoding="utf-8")
    [error] = check_folder(str(folder), 1).errors
    assert (
        'the text "instructions" has a picture that has 65,535 by 65,535 pixels. Expected a PNG,'
        " JPEG, GIF or WebP of at most 4,096 pixels on each side, named as what it is."
    ) in str(error)


def test_a_key_of_50_000_parts_is_refused_unread(folder):
    (folder / "study.toml").write_text("a." * 50_000 + "a = 1", encoding="utf-8")
    [error] = check_folder(str(folder), 1).errors
    assert "a line has too many dots" in str(error)
