"""What a table's items ask of participants, as a type of response says it."""

from dataclasses import dataclass

from experiment.authoring.words import Words, languages_with_words, words_in
from experiment.materials.formats.read import Found
from experiment.responses.base import ResponseType
from experiment.responses.registry import RESPONSE_TYPES, load_response, response_class


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
