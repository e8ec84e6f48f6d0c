"""More than a hundred mistakes in a study folder: each is named, with its place, before launch."""

import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from experiment.authoring.check import check_folder, require_sound
from experiment.authoring.findings import StudyNote
from experiment.commands.study import check
from experiment.errors import ParallaxError
from experiment.studies.load import load_study
from tests.experiment.authoring.mistakes import MISTAKES, TOML, Mistake
from tests.experiment.authoring.whole_study import write_whole_study

LONGEST_PARAGRAPH = 700


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> Path:
    return write_whole_study(tmp_path_factory.mktemp("studies") / "whole")


@pytest.fixture
def folder(whole, tmp_path) -> Path:
    return shutil.copytree(whole, tmp_path / "whole")


def spoil(folder: Path, mistake: Mistake) -> None:
    path = folder / mistake.file
    if not mistake.old:
        path.unlink() if mistake.new == "-" else path.write_text(mistake.new, encoding="utf-8")
        return
    text = path.read_text(encoding="utf-8")
    assert mistake.old in text
    # The first place alone, but in a table whose delimiter is wrong throughout.
    times = -1 if mistake.old == "\t" else 1
    spoilt = text.replace(mistake.old, mistake.new, times)
    path.write_bytes(spoilt.encode("utf-8", "surrogateescape"))


def test_the_whole_study_has_no_mistake(folder):
    report = check_folder(str(folder), 1)
    assert (report.errors, report.notes) == ((), ())
    assert require_sound(load_study(str(folder)), 1) == report.built


def test_there_are_more_than_a_hundred_mistakes():
    assert len(MISTAKES) >= 199


@pytest.mark.parametrize("mistake", MISTAKES.values(), ids=MISTAKES)
def test_each_mistake_is_named_before_launch(folder, mistake):
    spoil(folder, mistake)
    report = check_folder(str(folder), 1)
    found = report.notes if mistake.note else report.errors
    named = [each for each in found if mistake.message in str(each)]
    assert named, [str(each) for each in (*report.errors, *report.notes)]
    assert len({each.where for each in named}) == len(named), "one mistake, named twice"
    assert any(mistake.place in each.where for each in named), [each.where for each in named]
    for each in (*report.errors, *report.notes):
        paragraph = str(each)
        assert "\n" not in paragraph
        assert len(paragraph) < LONGEST_PARAGRAPH
        assert "{'" not in paragraph, "a dump of the table"
        assert each.expected or each.remedy or isinstance(each, StudyNote) or each.where
    assert bool(report.errors) != mistake.note


@pytest.mark.parametrize("mistake", [m for m in MISTAKES.values() if not m.note],
                         ids=[name for name, m in MISTAKES.items() if not m.note])  # fmt: skip
def test_no_mistake_passes_a_launch(folder, mistake):
    spoil(folder, mistake)
    with pytest.raises(ParallaxError):
        require_sound(load_study(str(folder)), 1)


@pytest.mark.parametrize(
    "file", [TOML, "items.tsv", "published.csv", "practice.toml", "texts/en/consent.md"]
)
def test_a_folder_in_place_of_a_file_is_named(folder, file):
    (folder / file).unlink()
    (folder / file).mkdir()
    assert check_folder(str(folder), 1).errors


def test_several_mistakes_are_named_at_once(folder):
    for name in ("an unknown responder", "an answer twice", "a country that is none",
                 "an id twice", "a published accuracy in percent"):  # fmt: skip
        spoil(folder, MISTAKES[name])
    done = CliRunner().invoke(check, [str(folder)])
    for words in ("guesing", "more than once", "UK", "occurs twice", "not a proportion"):
        assert words in done.output
    assert "5. error: " in done.output


def test_launching_names_the_first_and_how_many_more(folder):
    for name in ("an unknown responder", "an answer twice"):
        spoil(folder, MISTAKES[name])
    with pytest.raises(ParallaxError, match=r"names this and 1 more"):
        require_sound(load_study(str(folder)), 1)
