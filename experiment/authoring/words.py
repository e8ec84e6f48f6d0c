"""A new study's default texts by language, and the task that suits its items."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType

import experiment.responses
from experiment.materials.formats.read import FileContents
from experiment.responses.base import ResponseType
from experiment.responses.registry import RESPONSE_TYPES, load_response, response_class

TEXTS = Path(__file__).parent / "texts"
# Each response type has its words and its instructions page in its own folder.
_RESPONSES = Path(experiment.responses.__file__).parent
_ENGLISH = "en"
_FILE = "words.toml"


@dataclass(frozen=True, slots=True)
class TaskWords:
    """The words for one task.

    Attributes:
        title: The question above each trial.
        task: The participants' task for the consent page, with ``{trials}``.
        result: The use of the answers, for the last page.
    """

    title: str
    task: str
    result: str


@dataclass(frozen=True, slots=True)
class Words:
    """A language's default words.

    Attributes:
        language: The language of the words and of the pages' folder.
        native_language: The question about the native language.
        comment: The question for a free comment.
        lowest: The label of a scale's low end.
        highest: The label of a scale's high end.
        offer: The description of the task on a platform, with ``{task}``.
        asked: The words for each task, by the heading that a response type names.
    """

    language: str
    native_language: str
    comment: str
    lowest: str
    highest: str
    offer: str
    asked: Mapping[str, TaskWords]

    @property
    def labels(self) -> frozenset[str]:
        """The labels of the questions in every new study."""
        return frozenset({self.native_language, self.comment})

    @property
    def titles(self) -> frozenset[str]:
        """The default titles of new studies."""
        return frozenset(kind.title for kind in self.asked.values())

    def page(self, name: str) -> str:
        """Return the Markdown of a page, with ``{task}``, ``{result}`` and ``{minutes}``."""
        of_every_study = TEXTS / self.language / f"{name}.md"
        of_a_type = _RESPONSES.glob(f"*/texts/{self.language}/{name}.md")
        return next(of_a_type, of_every_study).read_text(encoding="utf-8")


def languages_with_words() -> list[str]:
    """Return the languages that have default texts for participants."""
    return sorted(path.parent.name for path in TEXTS.glob(f"*/{_FILE}"))


def words_in(language: str) -> Words:
    """Return a language's default words, or the English ones if there are none.

    Args:
        language: A tag of BCP 47; "de-AT" gets the words of "de".
    """
    primary = language.lower().partition("-")[0]
    return _read_words(primary if primary in languages_with_words() else _ENGLISH)


@cache
def _read_words(language: str) -> Words:
    keys = tomllib.loads((TEXTS / language / _FILE).read_text(encoding="utf-8"))
    of_types = [
        tomllib.loads(path.read_text(encoding="utf-8"))
        for path in sorted(_RESPONSES.glob(f"*/{_FILE}"))
    ]
    kinds = {
        name: TaskWords(**by_language[language])
        for words in of_types
        for name, by_language in words.items()
    }
    return Words(language=language, asked=kinds, **keys)


def is_tag(language: str) -> bool:
    """Return whether a text is a language tag with registered parts."""
    return bool(_langcodes().tag_is_valid(language))


def usual_tag(language: str) -> str:
    """Return a valid tag in its usual form: "pt-br" becomes "pt-BR"."""
    return str(_langcodes().standardize_tag(language))


def script_of(language: str) -> str:
    """Return the likely script of a language as four letters (ISO 15924), such as "Latn".

    Raises:
        ValueError: The text is not a language tag.
    """
    return _langcodes().get(language).maximize().script or ""


def _langcodes() -> ModuleType:
    # langcodes' tables take a tenth of a second to load, which most commands and servers do not
    # need.
    import langcodes

    return langcodes


@dataclass(frozen=True, slots=True)
class StudyTask:
    """The task of a study's trials, with its words for study.toml and for the texts.

    Attributes:
        name: The response type's name in study.toml.
        response: The response type.
        parameters: The type's parameters in ``trial.parameters``.
        title: The default title of the study.
        task: The participants' task for the consent page, with ``{trials}``.
        result: The use of the answers, for the last page.
        words: The default words of the items' language, or the English ones.
        instructions: The name of the instructions page.
        notes: The decisions, as sentences.
    """

    name: str
    response: ResponseType
    parameters: dict[str, object]
    title: str
    task: str
    result: str
    words: Words
    instructions: str
    notes: tuple[str, ...] = ()


def choose_task(materials: FileContents, name: str, language: str) -> StudyTask:
    """Return the task that suits the items, or the task that their author chose.

    Items of another program's file get the response type that it asks for. Single sentences are
    rated. If an item has several alternatives to the good version, all are options. If every item
    has a context, the options complete it. Otherwise both sentences are shown.

    Args:
        materials: The items and the rest of their file.
        name: The response type that the author chose; empty to derive it.
        language: The items' language, used for the words if they exist in it.
    """
    name = name or materials.response or _derive_response_type(materials)
    words = words_in(language)
    ends = (words.lowest, words.highest)
    parameters, note = response_class(name).propose_parameters(
        materials.items, materials.against, ends
    )
    response = load_response(name, parameters)
    heading, instructions = response.asked_about(materials.items)
    kind = words.asked[heading]
    without = words.language != _get_primary_language(language)
    return StudyTask(
        name=name,
        response=response,
        parameters=parameters,
        title=kind.title,
        task=kind.task.replace("{options}", str(response.n_answers)),
        result=kind.result,
        words=words,
        instructions=instructions,
        notes=(*filter(None, [note]), *(_note_missing_words(language) if without else ())),
    )


def _derive_response_type(materials: FileContents) -> str:
    return next(
        name
        for name in RESPONSE_TYPES.built_in
        if response_class(name).suits(materials.items, materials.against)
    )


def _get_primary_language(language: str) -> str:
    return language.lower().partition("-")[0]


def _note_missing_words(language: str) -> tuple[str, ...]:
    return (
        "The texts, the title and the questions are in English, because there are none in "
        f"{language}, only in {', '.join(languages_with_words())}. Translate them; `parallax "
        "study check` lists what is still untranslated. `parallax study texts` writes the pages' "
        "buttons as a table for a native speaker.",
    )
