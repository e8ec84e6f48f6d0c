"""What somebody's items ask of people: which of two, which of several, or how natural each is."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

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
_TITLES = {
    "pair": "Which sentence sounds better?",
    "completion": "How does the sentence go on?",
    "rating": "How natural does this sentence sound?",
    "options": "Which sounds best?",
}
# What studies in other languages should not be left with.
ENGLISH_TITLES = frozenset(_TITLES.values())
_ENDS = {"lowest": "not at all natural", "highest": "perfectly natural"}


@dataclass(frozen=True, slots=True)
class Asking:
    """How a study's trials are presented, in the words of study.toml and of its texts.

    Attributes:
        presentation: The presentation's name.
        parameters: Its parameters, as ``trial.parameters`` has them.
        title: What the study is called where nobody gives it a name.
        task: What participants do, as the consent page says it, with ``{trials}``.
        result: What their answers tell, as the last page says it.
        instructions: Which page of instructions suits it.
        answers: How many places an option can stand on; over so many participants each item is
            balanced.
        told: What was decided, in sentences.
    """

    presentation: str
    parameters: Mapping[str, object]
    title: str
    task: str
    result: str
    instructions: str
    answers: int
    told: tuple[str, ...] = ()

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
        language: The items' language: the words at a scale's ends are known in English alone.
    """
    name = presentation or _derived(found)
    if name == Rating.name:
        return _rating(found, language)
    if name == OptionList.name:
        return _options(found)
    if name == PrefixCompletion.name:
        return Asking(
            name,
            {},
            _TITLES["completion"],
            "to read {trials} beginnings of sentences, one at a time, and to choose the better of "
            "two ways to go on",
            _PREFERRED.format("Of each two"),
            "instructions_completion",
            2,
        )
    return Asking(
        name,
        {},
        _TITLES["pair"],
        "to read {trials} pairs of sentences, one pair at a time, and to choose the better "
        "sentence of each",
        _PREFERRED.format("In each pair"),
        "instructions",
        2,
    )


_PREFERRED = "{} we expected most people to prefer one;\nyour choices tell us whether they do"


def _derived(found: Found) -> str:
    items = found.items
    if not any(item.alternative for item in items):
        return Rating.name
    if found.against:
        return OptionList.name
    if all(item.context for item in items):
        return PrefixCompletion.name
    return SentencePair.name


def _rating(found: Found, language: str) -> Asking:
    ends = _ENDS if language.split("-")[0] == "en" else dict.fromkeys(_ENDS, "")
    given = dict(_scale(found.items))
    points = int(given.pop("points", _POINTS))
    parameters = {"points": points} | ends | given
    return Asking(
        Rating.name,
        parameters,
        _TITLES["rating"],
        "to read {trials} sentences, one at a time, and to rate how natural each sounds",
        "Some of the sentences sound natural to most people\nand others less so; your ratings "
        "tell us which",
        "instructions_rating",
        2,
        (f"Each sentence is rated on a scale of {points} points.",),
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


def _options(found: Found) -> Asking:
    own = [
        str(name)
        for name in (Variant.BAD, Variant.DISTRACTOR)
        if any(item.version(name) for item in found.items)
    ]
    against = list(found.against) or own
    number = 1 + len(against)
    return Asking(
        OptionList.name,
        {"against": against},
        _TITLES["options"],
        f"to choose the best of {number} options, {{trials}} times",
        _PREFERRED.format("Each time"),
        "instructions_options",
        number,
        (f"{number} options: good against {', '.join(against)}.",),
    )
