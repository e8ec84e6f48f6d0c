"""The elements of a consent: recognised in every language, and named where they are missing."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from experiment.authoring import consent
from experiment.authoring.check import check_folder, require_sound
from experiment.authoring.consent import consent_elements
from experiment.commands import study as commands
from experiment.studies.load import STUDIES_FOLDER, load_study

TRANSLATIONS = Path("webapp/translations")
# 45 CFR 46.116(b) (1) to (8) and (c), and what Article 13 (1) and (2) GDPR adds.
ELEMENTS = {
    "research", "purpose", "procedure", "duration", "risks", "benefits", "confidentiality",
    "recipients", "voluntary", "no_penalty", "later_use", "questions", "rights", "injury", "age",
    "payment", "controller", "data_protection", "legal_basis", "retention", "complaint",
}  # fmt: skip
SHIPPED = sorted(
    str(path.parent)
    for pattern in ("experiment/studies/*/study.toml", "docs/examples/*/study.toml")
    for path in Path().glob(pattern)
)

Written = Callable[..., Path]


@pytest.fixture
def written(tmp_path: Path) -> Written:
    def write(text: str, language: str = "en", toml: str = "") -> Path:
        folder = Path(shutil.copytree(STUDIES_FOLDER / "minimal", tmp_path / "minimal"))
        if language != "en":
            shutil.move(folder / "texts/en", folder / "texts" / language)
        (folder / "texts" / language / "consent.md").write_text(text)
        path = folder / "study.toml"
        keys = path.read_text().replace('language = "en"', f'language = "{language}"')
        path.write_text(f"{keys}\n{toml}")
        return folder

    return write


def missing(folder: Path) -> set[str]:
    elements = consent_elements(load_study(str(folder)))
    return {element.name for element in elements if not element.passage}


@pytest.mark.parametrize("folder", [*SHIPPED, "docs/humanness", "docs/word_test"])
def test_every_shipped_study_has_every_element_in_its_own_words(folder: str) -> None:
    elements = consent_elements(load_study(folder))
    assert {element.name for element in elements} == ELEMENTS
    assert {element.name for element in elements if not element.in_text} == {"complaint"}


@pytest.mark.parametrize("language", ["de", "es", "fr", "it", "pt"])
def test_a_new_study_has_every_element(
    language: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = Path("docs/examples/tables/sentence_pair.csv").absolute()
    monkeypatch.chdir(tmp_path)
    arguments = ["mine", "--from", str(table), "--language", language]
    assert CliRunner().invoke(commands.new, arguments).exit_code == 0
    assert check_folder("mine", 1).notes == ()
    assert not missing(tmp_path / "mine")


def test_every_language_of_the_participants_pages_has_words_for_every_element() -> None:
    languages = {path.parent.parent.name for path in TRANSLATIONS.glob("*/LC_MESSAGES/*.po")}
    tables = consent._load_words_by_language()
    assert set(tables) == languages | {"en"}
    assert all(set(table) == ELEMENTS for table in tables.values())
    assert len(languages) == 9


@pytest.mark.parametrize("language", sorted(consent._load_words_by_language()))
def test_the_sample_headings_of_a_language_are_recognised(language: str, written: Written) -> None:
    headings = [words[0] for words in consent._load_words_by_language()[language].values()]
    assert not missing(written("\n\n".join(f"## {heading}" for heading in headings), language))


def test_the_check_names_what_is_missing_and_the_study_can_be_launched(written: Written) -> None:
    folder = written("We ask you to read. It takes two minutes. Taking part is voluntary.")
    report = check_folder(str(folder), 1)
    [note] = [str(note) for note in report.notes if "the consent text seems to lack" in str(note)]
    assert not report.errors
    assert "texts/en/consent.md: the consent text seems to lack 17 of the 21 elements" in note
    assert 'risks ("Risks")' in note and 'what is paid ("Payment")' in note
    assert 'that declining or stopping has no penalty ("No penalty")' in note
    assert "your ethics board decides" in note


def test_keys_of_study_toml_that_the_page_shows_count(written: Written) -> None:
    toml = '[privacy]\nkeep_identifying_days = 30\nlegal_basis = "Article 6(1)(e) GDPR"\n'
    text = "Taking part is voluntary."
    assert ELEMENTS - missing(written(text, toml=toml)) == {
        "voluntary", "retention", "legal_basis", "complaint",
    }  # fmt: skip


def test_questions_about_oneself_are_not_a_contact(written: Written) -> None:
    assert "questions" in missing(written("A few questions about yourself follow."))


@pytest.mark.parametrize("text", ["A text.", "# Welcome\n\nPress the button.\n"])
def test_a_consent_without_any_element_is_refused(text: str, written: Written) -> None:
    [error] = check_folder(str(written(text)), 1).errors
    assert "the consent has none of the elements that participants must read" in str(error)
    assert "`parallax study new` writes such a text" in str(error)


def test_a_run_whose_people_agreed_to_such_a_text_can_still_be_read(written: Written) -> None:
    assert require_sound(load_study(str(written("A text."))), 1, launched=True).built.lists


def test_a_language_without_words_is_said_and_its_headings_can_be_named(written: Written) -> None:
    folder = written("# Gevaren\n\nGeen gevaar.\n", "nl")
    [note] = [str(note) for note in check_folder(str(folder), 1).notes if "consent" in str(note)]
    assert "the elements of the consent cannot be recognised in nl" in note
    toml = (folder / "study.toml").read_text()
    (folder / "study.toml").write_text(f'{toml}\n[consent]\nheadings = {{ risks = "Gevaren" }}\n')
    assert ELEMENTS - missing(folder) == {"risks", "complaint"}


def test_an_unknown_element_is_named(written: Written) -> None:
    folder = written("It is voluntary.", toml='[consent]\nheadings = { risk = "Dangers" }\n')
    [error] = check_folder(str(folder), 1).errors
    assert 'there is no element of a consent "risk"' in str(error) and "risks" in str(error)


def test_show_lists_each_element_beside_its_passage(written: Written) -> None:
    folder = written("**Risks.** None that we know.\n\n**Benefits.** You help.\n")
    shown = CliRunner().invoke(commands.show, [str(folder)]).output
    assert "3 of 21 elements of a consent (your ethics board decides)" in shown
    assert 'risks                                        "Risks. None that we know."' in shown
    assert "what is paid                                 MISSING" in shown
    assert "that the page would show below: contact, institution, ethics" in shown


def test_a_text_of_very_many_sentences_takes_no_more_memory_than_its_excerpts() -> None:
    passages = consent._split_into_passages("We store. " * 20_000)
    assert len(passages) == 20_000
    assert max(len(excerpt) for _, excerpt in passages) <= len(" ...") + consent._LONGEST_EXCERPT
    assert passages[0][1] == ("We store. " * 8).strip() + " ..."


@pytest.mark.parametrize(
    ("sentence", "says_age"),
    [
        ("You read 16 sentences, which takes 18 minutes.", False),
        ("There are 18 questions, and you are asked for at least 16 answers.", False),
        ("You must be at least 18 years old.", True),
        ("You should be 18 or older.", True),
        ("Nobody takes part who is not over 16.", True),
    ],
)
def test_a_number_of_sentences_is_no_age(written: Written, sentence: str, says_age: bool) -> None:
    assert ("age" in missing(written(sentence))) is not says_age


_TASK = (
    "We ask you to read {} pairs of sentences, one pair at a time, and to choose the better "
    "sentence of each. A few questions about yourself follow."
)
_QUESTION = """\
[[questionnaire]]
name = "native_language"
label = "What is your native language?"
type = "text"
required = true
"""


@pytest.mark.parametrize(
    ("text", "toml", "problems"),
    [
        ("**How long.** It takes about 1 minutes.", {}, []),
        ("**How long.** It takes about 6 minutes.", {}, ["the median time is 1 minute"]),
        ("It takes about 6 minutes.", {"median_minutes = 1": "median_minutes = 5.5"}, []),
        ("It takes about 6 minutes, or less.", {}, []),
        (_TASK.format(8), {}, []),
        (_TASK.format(12), {}, ["a list has 8 trials"]),
        (_TASK.format(8), {_QUESTION: ""}, ["the study asks none"]),
        (
            "It is voluntary.",
            {"You will see pairs": _TASK.format(9) + " You"},
            ["a list has 8 trials"],
        ),
    ],
)
def test_generated_sentences_that_the_settings_contradict_are_named(
    written: Written, text: str, toml: dict[str, str], problems: list[str]
) -> None:
    """The study has lists of 8 trials, a median of a minute, and a questionnaire."""
    folder = written(text)
    path = folder / "study.toml"
    for before, after in toml.items():
        path.write_text(path.read_text().replace(before, after))
    notes = [str(note.problem) for note in check_folder(str(folder), 1).notes]
    told = [note.rpartition(": ")[2] for note in notes if "is not true any more" in note]
    assert told == problems
