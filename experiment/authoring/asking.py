"""What a table's items ask of participants: a choice of two, of several, or a rating."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from experiment.authoring.words import Words, languages_with_words, words_in
from experiment.materials.formats.columns import key_of
from experiment.materials.formats.read import Found
from experiment.records import Item, Variant
from experiment.trials.option_list import OptionList
from experiment.trials.prefix_completion import PrefixCompletion
from experiment.trials.rating import Rating
from experiment.trials.sentence_pair import SentencePair

# A scale's parameters, and under which headers tables bring them.
_SCALE: Mapping[str, tuple[str, ...]] = {
    "points": ("points", "scale", "scale_points", "n_points"),
    "lowest": ("lowest", "left_label", "left_comment", "left", "low_label"),
    "highest": ("highest", "right_label", "right_comment", "right", "high_label"),
}
_POINTS = 7


@dataclass(frozen=True, slots=True)
class Asking:
    """How a study's trials are presented, in the words of study.toml and of its texts.

    Attributes:
        presentation: The presentation's name.
        parameters: Its parameters, as ``trial.parameters`` has them.
        title: What the study is called where nobody gives it a name.
        task: What participants do, as the consent page says it, with ``{trials}``.
        result: What their answers tell, as the last page says it.
        words: The words of their language, or English ones.
        instructions: Which page of instructions suits it.
        answers: How many places an option can stand on; over so many participants each item is
            balanced.
        notes: What was decided, in sentences.
    """

    presentation: str
    parameters: Mapping[str, object]
    title: str
    task: str
    result: str
    words: Words
    instructions: str
    answers: int
    notes: tuple[str, ...] = ()

    @property
    def is_rating(self) -> bool:
        """Whether sentences are rated, so that no answer is right or wrong."""
        return self.presentation == Rating.name


def ask(found: Found, presentation: str, language: str) -> Asking:
    """Return how items are best presented, or as their author wants them to be.

    Items of one sentence are rated; where more than one text stands against the good one, all are
    options; where every item has a context, the options complete it; else both sentences are shown.

    Args:
        found: The items and what was read of them.
        presentation: The presentation that their author names; empty to derive it.
        language: The items' language, in which participants are asked where we have its words.
    """
    name, words = presentation or _derived(found), words_in(language)
    notes = _without_words(language) if words.language != _primary(language) else ()
    if name == Rating.name:
        asking = _rating(found, words)
    elif name == OptionList.name:
        asking = _options(found, words)
    elif name == PrefixCompletion.name:
        asking = _asking(name, "completion", words, "instructions_completion")
    else:
        asking = _asking(name, "pair", words, "instructions")
    return replace(asking, notes=(*asking.notes, *notes))


def _asking(name: str, kind: str, words: Words, instructions: str) -> Asking:
    asked = words.asked[kind]
    return Asking(name, {}, asked.title, asked.task, asked.result, words, instructions, 2)


def _primary(language: str) -> str:
    return language.lower().partition("-")[0]


def _without_words(language: str) -> tuple[str, ...]:
    return (
        "The texts, the title and the questions are in English, because there are none in "
        f"{language}, only in {', '.join(languages_with_words())}. Translate them; `parallax "
        "study check` lists what is still untranslated.",
    )


def _derived(found: Found) -> str:
    items = found.items
    if not any(item.alternative for item in items):
        return Rating.name
    if found.against:
        return OptionList.name
    if all(item.context for item in items):
        return PrefixCompletion.name
    return SentencePair.name


def _rating(found: Found, words: Words) -> Asking:
    given = dict(_scale(found.items))
    points = int(given.pop("points", _POINTS))
    asking = _asking(Rating.name, "rating", words, "instructions_rating")
    return replace(
        asking,
        parameters={
            "points": points,
            "lowest": words.lowest,
            "highest": words.highest,
            **given,
        },
        notes=(f"Each sentence is rated on a scale of {points} points.",),
    )


def _scale(items: Sequence[Item]) -> Iterable[tuple[str, str]]:
    """Yield what the items' own columns say of the scale, the same in every row."""
    for header, first in items[0].extra:
        if {dict(item.extra).get(header, "") for item in items} != {first} or not first:
            continue
        for parameter, names in _SCALE.items():
            is_number = first.isdecimal() and 2 <= int(first) <= 9
            if key_of(header) in names and (parameter != "points" or is_number):
                yield parameter, first


def _options(found: Found, words: Words) -> Asking:
    own = [
        str(name)
        for name in (Variant.BAD, Variant.DISTRACTOR)
        if any(item.version(name) for item in found.items)
    ]
    against = list(found.against) or own
    number = 1 + len(against)
    asking = _asking(OptionList.name, "options", words, "instructions_options")
    return replace(
        asking,
        parameters={"against": against},
        task=asking.task.replace("{options}", str(number)),
        answers=number,
        notes=(f"{number} options: good against {', '.join(against)}.",),
    )
