"""Write training text of prompts with right answers, for word-level models."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from random import Random

from tqdm import tqdm

from experiment.authoring.check import require_sound
from experiment.materials.read import load_items
from experiment.materials.render import render, split_lower_case_tokens, split_tokens
from experiment.records import Item
from experiment.seeds import generator
from experiment.studies.study import Study
from experiment.takers.lessons import Lessons
from experiment.takers.prompt import Prompter
from experiment.takers.readings.base import Reading
from experiment.takers.readings.registry import READINGS, load_reading
from experiment.takers.session import Screens
from lm.text.generated import write_described

# The shares of lines that are right sentences without a prompt, and one-word verdicts.
_SENTENCES, _VERDICTS = 0.2, 0.6
# Weights of readings; others have weight three. Ratings have the longest prompts.
_TIMES = {"rating": 1}
# The maximum per condition, since some conditions have far more items than others.
_MOST_ITEMS = 1_500


def write_lessons(path: Path, study: Study, n: int, seed: int, lists_seed: int) -> str:
    """Write ``n`` lines, and return a description of them.

    Args:
        path: The file to write.
        study: The study.
        n: The number of lines.
        seed: The random seed.
        lists_seed: The seed of the lists; sentences of their items are excluded.

    Raises:
        ParallaxError: The study is invalid, has too few items outside its lists, or has no right
            answers.
        LmError: The file cannot be written.
    """
    rng = generator(seed, "lessons")
    items = _items(study, lists_seed, rng)
    lines = tqdm(
        islice(_lines(study, items, rng), n),
        desc="Writing",
        total=n,
        unit=" lines",
        disable=None,
    )
    words = (
        f'prompts with right answers about items of "{study.name}" that are in none of its lists '
        f"({n:,} lines, seed {seed}; {100 * _SENTENCES:.0f}% are sentences alone, "
        f"{100 * _VERDICTS:.0f}% verdicts of yes or no)"
    )
    about = {"description": words, "study": study.name, "lines": n, "seed": seed}
    write_described(path, lines, lambda sha256: {**about, "text_sha256": sha256})
    return words


def _items(study: Study, lists_seed: int, rng: Random) -> list[Item]:
    """Return items of every condition that share no sentence with any list."""
    lists = require_sound(study, lists_seed).lists
    listed = {text for entries in lists for entry in entries for text in _texts(entry.item)}
    of_condition: dict[tuple[str, str], list[Item]] = {}
    for item in load_items(study):
        if not listed & _texts(item):
            of_condition.setdefault((item.construction, item.condition), []).append(item)
    return [
        item
        for items in of_condition.values()
        for item in (rng.sample(items, _MOST_ITEMS) if len(items) > _MOST_ITEMS else items)
    ]


def _texts(item: Item) -> set[str]:
    texts = (item.good, item.bad, item.distractor)
    return {f"{item.context} {text}".strip() for text in texts if text}


def _lines(study: Study, items: list[Item], rng: Random) -> Iterator[str]:
    to_model = render(study.materials.given_to_models)
    screens = Screens(study, render(study.materials.shown_to_people), to_model)
    lessons = Lessons(screens, Prompter(study, screens), _prompted(), items, rng)
    verdicts, prompts = lessons.verdicts(), lessons.draw()
    cased = to_model("A") != to_model("a")
    write = split_tokens if cased else split_lower_case_tokens
    while True:
        drawn = rng.random()
        if drawn < _SENTENCES:
            item = rng.choice(items)
            yield to_model(f"{item.context} {item.good}".strip())
        else:
            lesson = next(verdicts if drawn < _SENTENCES + _VERDICTS else prompts)
            yield f"{write(lesson.ask.prompt)} {write(lesson.answer)}"


def _prompted() -> list[Reading]:
    found = [load_reading(name) for name in READINGS.built_in]
    return [
        reading for reading in found if reading.prompted for _ in range(_TIMES.get(reading.name, 3))
    ]
