"""Whether what is read step by step has room on the narrowest screens."""

import unicodedata
from collections.abc import Iterator

from experiment.authoring.findings import Examined, StudyNote
from experiment.errors import ParallaxError
from experiment.responses.reading.maze import Maze
from experiment.responses.reading.reading import Read
from experiment.responses.registry import response_of

# The narrowest phone, and how many letters its page has room for in one line, as measured with the
# page's own style: a whole line, and half of one where two words stand side by side.
_NARROWEST_PX = 320
_IN_LINE, _IN_HALF = 23, 13


def widths(examined: Examined) -> Iterator[ParallaxError]:
    """Yield the widest word that a phone's screen has no room for in one line."""
    try:
        response = response_of(examined.study)
    except ParallaxError:
        # It is named with its own key.
        return
    widest, where, room, number = "", None, 0, 0
    for item in examined.items:
        own = response.of_item(item)
        if not isinstance(own, Read):
            continue
        fits = _IN_HALF if isinstance(own, Maze) else _IN_LINE
        for version in own.versions(item):
            for word in (word for step in own.steps(item, version) for word in step.text.split()):
                number += _columns(word) > fits
                if _columns(word) > max(fits, _columns(widest)):
                    widest, where, room = word, item, fits
    if where is not None:
        yield StudyNote(
            f'the word "{widest}" has {len(widest)} letters, and a phone of {_NARROWEST_PX} px has '
            f"room for about {room} in its place: there it is broken or runs over the edge"
            + (f" (so are {number - 1} others)" if number > 1 else ""),
            where=examined.place_of(where) or examined.at("response"),
            expected="shorter words, or participants at larger screens",
            remedy="Say so in the invitation; viewport_width_px in the responses tells who had one",
        )


def _columns(word: str) -> int:
    """Return a word's width in Latin letters: those of East Asian scripts are twice as wide."""
    return sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in word)
