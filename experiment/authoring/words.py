"""A new study's default texts by language, and what its items ask of participants."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType

import experiment.responses
from experiment.materials.formats.read import Found
from experiment.responses.base import ResponseType
from experiment.responses.registry import RESPONSE_TYPES, load_response, response_class

TEXTS = Path(__file__).parent / "texts"
# Each type of response has its words, and its page of instructions, in its own folder.
_RESPONSES = Path(experiment.responses.__file__).parent
_ENGLISH = "en"
_FILE = "words.toml"


@dataclass(frozen=True, slots=True)
class Asked:
    """What one way of asking is called.

    Attributes:
        title: The question above each trial.
        task: What participants do, as the consent page says it, with ``{trials}``.
        result: What their answers tell, as the last page says it.
    """

    title: str
    task: str
    result: str


@dataclass(frozen=True, slots=True)
class Words:
    """A language's words.

    Attributes:
        language: The language that they are in, and whose folder has the pages' texts.
        native_language: The question for it.
        comment: The question for whatever participants want to say.
        lowest: What stands at the low end of a scale.
        highest: What stands at its high end.
        offer: How the task is described to a platform, with ``{task}``.
        asked: The words of each way of asking, by the heading that a type of response names.
    """

    language: str
    native_language: str
    comment: str
    lowest: str
    highest: str
    offer: str
    asked: Mapping[str, Asked]

    @property
    def labels(self) -> frozenset[str]:
        """The questions that every new study asks."""
        return frozenset({self.native_language, self.comment})

    @property
    def titles(self) -> frozenset[str]:
        """What new studies are called."""
        return frozenset(asked.title for asked in self.asked.values())

    def page(self, name: str) -> str:
        """Return the Markdown of a page, with ``{task}``, ``{result}`` and ``{minutes}``."""
        of_every_study = TEXTS / self.language / f"{name}.md"
        of_a_type = _RESPONSES.glob(f"*/texts/{self.language}/{name}.md")
        return next(of_a_type, of_every_study).read_text(encoding="utf-8")


def languages_with_words() -> list[str]:
    """Return the languages in which a new study is ready to be read by participants."""
    return sorted(path.parent.name for path in TEXTS.glob(f"*/{_FILE}"))


def words_in(language: str) -> Words:
    """Return the words of a language, or English ones where there are none.

    Args:
        language: A tag of BCP 47; of "de-AT" the words of "de" are taken.
    """
    primary = language.lower().partition("-")[0]
    return _read(primary if primary in languages_with_words() else _ENGLISH)


@cache
def _read(language: str) -> Words:
    keys = tomllib.loads((TEXTS / language / _FILE).read_text(encoding="utf-8"))
    of_types = [
        tomllib.loads(path.read_text(encoding="utf-8"))
        for path in sorted(_RESPONSES.glob(f"*/{_FILE}"))
    ]
    asked = {
        name: Asked(**by_language[language])
        for words in of_types
        for name, by_language in words.items()
    }
    return Words(language=language, asked=asked, **keys)


def is_tag(language: str) -> bool:
    """Return whether a text is a language tag whose parts are registered."""
    return bool(_langcodes().tag_is_valid(language))


def usual_tag(language: str) -> str:
    """Return the tag of a valid one in its usual form: "pt-br" becomes "pt-BR"."""
    return str(_langcodes().standardize_tag(language))


def script_of(language: str) -> str:
    """Return the likely script of a language as four letters (ISO 15924), such as "Latn".

    Raises:
        ValueError: It is not a language tag.
    """
    return _langcodes().get(language).maximize().script or ""


def _langcodes() -> ModuleType:
    # Its tables take a tenth of a second, for which every command and server would wait.
    import langcodes

    return langcodes


@dataclass(frozen=True, slots=True)
class Asking:
    """What a study's trials ask for, in the words of study.toml and of its texts.

    Attributes:
        name: The type of response, as study.toml names it.
        response: The type itself.
        parameters: Its parameters, as ``trial.parameters`` has them.
        title: What the study is called where nobody gives it a name.
        task: What participants do, as the consent page says it, with ``{trials}``.
        result: What their answers tell, as the last page says it.
        words: The words of their language, or English ones.
        notes: What was decided, in sentences.
    """

    name: str
    response: ResponseType
    parameters: dict[str, object]
    title: str
    task: str
    result: str
    words: Words
    notes: tuple[str, ...] = ()


def ask(found: Found, name: str, language: str) -> Asking:
    """Return what items are best asked for, or what their author wants to ask.

    Items of one sentence are rated; where more than one text stands against the good one, all are
    options; where every item has a context, the options complete it; else both sentences are shown.

    Args:
        found: The items and what was read of them.
        name: The type of response that their author names; empty to derive it.
        language: The items' language, in which participants are asked where we have its words.
    """
    name, words = name or _derived(found), words_in(language)
    ends = (words.lowest, words.highest)
    parameters, note = response_class(name).proposed(found.items, found.against, ends)
    response = load_response(name, parameters)
    asked = words.asked[response.asked]
    without = words.language != _primary(language)
    return Asking(
        name=name,
        response=response,
        parameters=parameters,
        title=asked.title,
        task=asked.task.replace("{options}", str(response.n_answers)),
        result=asked.result,
        words=words,
        notes=(*filter(None, [note]), *(_without_words(language) if without else ())),
    )


def _derived(found: Found) -> str:
    return next(
        name
        for name in RESPONSE_TYPES.built_in
        if response_class(name).suits(found.items, found.against)
    )


def _primary(language: str) -> str:
    return language.lower().partition("-")[0]


def _without_words(language: str) -> tuple[str, ...]:
    return (
        "The texts, the title and the questions are in English, because there are none in "
        f"{language}, only in {', '.join(languages_with_words())}. Translate them; `parallax "
        "study check` lists what is still untranslated.",
    )
