"""A page, one file, on which a native speaker says of each sentence whether it is right."""

import random
import tomllib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.resources import files

from babel import Locale
from jinja2 import Environment, PackageLoader, StrictUndefined

from experiment.records import Item

_ENGLISH, _IDENTITY_DIGITS = "en", 12
# Columns of items that say where a sentence comes from, and which rule it is about.
_SOURCES = ("source", "sent_id", "origin", "rule", "licence")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence to be checked.

    Attributes:
        text: The sentence as participants read it.
        source: Its template and its source, but not whether it should be right.
    """

    text: str
    source: str


def versions_of(item: Item, rendering: Callable[[str], str]) -> dict[str, str]:
    """Return an item's versions as participants read them, the expected one first."""
    return {name: rendering(item.after_context(text)) for name, text in item.versions().items()}


def choose_items(items: Sequence[Item], each: int | None, rng: random.Random) -> list[Item]:
    """Return all items, or some frames of each template, drawn at random, in their order."""
    if each is None:
        return list(items)
    frames: dict[str, dict[str, None]] = {}
    for item in items:
        frames.setdefault(item.template, {})[item.frame] = None
    chosen = {
        (template, frame)
        for template, of_template in frames.items()
        for frame in rng.sample(list(of_template), min(each, len(of_template)))
    }
    return [item for item in items if (item.template, item.frame) in chosen]


def list_sentences(
    items: Iterable[Item], rendering: Callable[[str], str], rng: random.Random
) -> list[Sentence]:
    """Return each different sentence of the items once, in random order."""
    sources: dict[str, str] = {}
    for item in items:
        own = dict(item.extra)
        # Not the condition: its name can say what is wrong.
        parts = (item.template, *(own.get(name, "") for name in _SOURCES))
        for text in versions_of(item, rendering).values():
            sources.setdefault(text, ", ".join(dict.fromkeys(filter(None, parts))))
    sentences = [Sentence(text, source) for text, source in sources.items()]
    rng.shuffle(sentences)
    return sentences


def write_page(sentences: Sequence[Sentence], language: str) -> str:
    """Return the page, with its words in the language if they are known, or else in English."""
    language_of_words = language if has_words(language) else _ENGLISH
    digest = sha256("\n".join(sorted(sentence.text for sentence in sentences)).encode("utf-8"))
    environment = Environment(
        loader=PackageLoader("analysis.natives", "."), autoescape=True, undefined=StrictUndefined
    )
    return environment.get_template("page.html").render(
        language=language,
        language_of_words=language_of_words,
        direction_of_words=Locale.parse(_base_of(language_of_words)).text_direction,
        words=_read_words()[_base_of(language_of_words)],
        sentences=sentences,
        identity=digest.hexdigest()[:_IDENTITY_DIGITS],
    )


def has_words(language: str) -> bool:
    """Return whether the page has words in a language, named by a BCP 47 tag."""
    return _base_of(language) in _read_words()


def _base_of(language: str) -> str:
    return language.partition("-")[0].lower()


@cache
def _read_words() -> dict[str, dict[str, str]]:
    return tomllib.loads(files("analysis.natives").joinpath("words.toml").read_text("utf-8"))
