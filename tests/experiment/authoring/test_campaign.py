"""More than a hundred mistakes in a study folder: each is named, with its place, before launch."""

import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from experiment.authoring import check as checking
from experiment.authoring.check import check_folder, check_study, require_sound
from experiment.commands.study import check
from experiment.errors import ParallaxError, StudyNote
from experiment.studies.load import load_study
from tests.experiment.authoring.mistakes import MISTAKES, TOML, Mistake
from tests.experiment.authoring.whole_study import write_whole_study
from tests.experiment.design.small_studies import DESIGNS

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
    [told] = report.notes
    assert report.errors == () and "while the run is blind" in str(told)
    assert require_sound(load_study(str(folder)), 1).built == report.built


def test_there_are_more_than_a_hundred_mistakes():
    assert len(MISTAKES) >= 199


@pytest.mark.parametrize("mistake", MISTAKES.values(), ids=MISTAKES)
def test_each_mistake_is_named_before_launch_and_passes_none(folder, mistake, monkeypatch):
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
    if not mistake.note:
        # A launch asks the same checks: they are not made again.
        monkeypatch.setattr(checking, "check_study", lambda *_, **__: report)
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


@pytest.mark.parametrize("name", ["practice.toml", "published.csv"])
def test_a_folder_in_the_place_of_a_file_is_named_once(folder, name):
    (folder / name).unlink()
    (folder / name).mkdir()
    [error] = check_folder(str(folder), 1).errors
    assert "cannot be read" in str(error) and "Is a directory" in str(error)
    assert str(error).count(name) == 1 and "Errno" not in str(error)


def test_a_file_that_one_may_not_read_is_named(folder, monkeypatch):
    def refused(self, *_args, **_options):
        raise PermissionError(13, "Permission denied", str(self))

    study = load_study(str(folder))
    monkeypatch.setattr(Path, "open", refused)
    said = "\n".join(map(str, check_study(study, 1).errors))
    told = (
        "items.tsv: a file cannot be read (Permission denied). Expected a file that you may read."
    )
    assert told in said


def test_a_language_that_is_none_is_named_though_its_texts_are_there(folder):
    shutil.copytree(folder / "texts" / "en", folder / "texts" / "qq")
    spoil(folder, Mistake(TOML, 'language = "en"', 'language = "qq"', "", ""))
    said = "\n".join(map(str, check_folder(str(folder), 1).errors))
    assert 'line 7, study.language: "qq" is not a language tag. Expected a tag of BCP 47' in said


class Sleeper:
    """A responder that does nothing."""


class Chooser(Sleeper):
    """A responder that rates nothing."""

    def choose(self) -> None: ...


@pytest.mark.parametrize(
    ("name", "response", "stops", "told"),
    [
        # No participant meets a responder that is not there: a note.
        ("Sleeper", "sentence_pair", False, "it lacks choose"),
        ("Nobody", "sentence_pair", False, "cannot be imported"),
        ("Chooser", "rating", True, 'the simulated responder "{}" cannot answer trials of the'),
    ],
)
def test_a_responder_that_cannot_answer_is_named(folder, name, response, stops, told):
    own = f"{__name__}:{name}"
    spoil(folder, Mistake(TOML, "guessing = 0.1", f'"{own}" = 0.1', "", ""))
    spoil(folder, Mistake(TOML, "sentence_pair", response, "", ""))
    report = check_folder(str(folder), 1)
    said = [str(each) for each in (report.errors if stops else report.notes)]
    assert [each for each in said if told.format(own) in each and "line 63, simulation.mix" in each]
    assert stops or not report.errors


def test_a_column_of_lists_that_names_more_than_there_are_is_named(tmp_path):
    study = Path(shutil.copytree(DESIGNS / "given_groups", tmp_path / "given_groups"))
    spoil(study, Mistake(TOML, "lists = 2", "lists = 3", "", ""))
    said = "\n".join(map(str, check_folder(str(study), 1).errors))
    assert (
        "Expected 3 lists, as design.lists says. Set design.lists to 2, or correct the col" in said
    )
