"""Whether a trial can be shown and answered: its font, its width, its deadline."""

import unicodedata
from collections.abc import Iterator

from experiment.authoring.findings import Examined
from experiment.authoring.words import is_tag, script_of
from experiment.errors import ParallaxError, StudyError, StudyNote
from experiment.responses.base import ResponseType
from experiment.responses.registry import response_of
from experiment.studies.files import FONT_SUFFIX

_SIGNATURE = b"wOF2"
# It lies in the page itself, and every participant gets it.
_MOST_BYTES = 300_000
# The scripts that travel with the page (webapp/static/noto-sans.css), by ISO 15924.
_NOTO = ("Latn", "Cyrl", "Grek", "Hebr", "Arab")
# The narrowest phone.
_NARROWEST_PX = 320


def font(examined: Examined) -> Iterator[ParallaxError]:
    """Yield a font that is missing, is none or is too large, and one that lacks the letters."""
    study, where = examined.study, examined.at("trial", "font")
    name, language = study.trial.font, study.study.language
    if name == "noto" and is_tag(language) and script_of(language) not in _NOTO:
        yield StudyNote(
            f'the font "noto" has no letters of the language "{language}": there the '
            "device's own font stands",
            where=where,
            expected="a .woff2 file with the study's own characters, such as pyftsubset makes",
        )
    if not name.endswith(FONT_SUFFIX):
        return
    try:
        content = study.read_bytes(name)
    except OSError:
        yield StudyError(
            f'there is no file "{name}"', where=where, expected="a file in the study's folder"
        )
        return
    if not content.startswith(_SIGNATURE):
        yield StudyError(
            f'the file "{name}" is no WOFF2 font', where=where, expected="a font in WOFF2"
        )
    elif len(content) > _MOST_BYTES:
        yield StudyError(
            f'the font "{name}" has {len(content):,} bytes, which every participant gets',
            where=where,
            expected=f"at most {_MOST_BYTES:,}",
            remedy="Leave in it the characters that the study shows (pyftsubset)",
        )


def widths(examined: Examined) -> Iterator[ParallaxError]:
    """Yield the widest word that a phone's screen has no room for in one line."""
    try:
        response = response_of(examined.study)
    except ParallaxError:
        # It is named with its own key.
        return
    widest, where, room, number = "", None, 0, 0
    for item in examined.items:
        of_item = response.of_item(item)
        if (fits := of_item.letters_in_place) is None:
            continue
        for word in of_item.unbroken_words(item):
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


def deadlines(examined: Examined) -> Iterator[ParallaxError]:
    """Yield deadlines that nobody can keep or that nobody knows."""
    study = examined.study
    try:
        response = response_of(study)
    except ParallaxError:
        # It is named with its own key.
        return
    tasks = response.types or {"": response}
    with_one = {name: one for name, one in tasks.items() if one.deadline_ms is not None}
    if response.types and response.deadline_ms is not None:
        yield StudyError(
            "the deadline is of the whole session, but each of its tasks has one of its own, or "
            "none",
            where=examined.at("trial", "parameters", "deadline_ms"),
            expected="deadline_ms below [trial.parameters.tasks.NAME]",
        )
    for name, one in with_one.items():
        yield from _too_early(examined, name, one)
    if with_one and not study.trial.practice:
        yield StudyNote(
            "participants meet the deadline without practice: only practice trials say that an "
            "answer was late",
            where=_where(examined, next(iter(with_one))),
            expected="practice trials (docs/studies.md)",
        )


def _too_early(examined: Examined, task: str, one: ResponseType) -> Iterator[ParallaxError]:
    lockout = examined.study.trial.lockout_ms
    if one.deadline_ms is not None and one.deadline_ms <= lockout:
        yield StudyError(
            f"the deadline is after {one.deadline_ms} ms, but no press counts in the first "
            f"{lockout} ms",
            where=_where(examined, task),
            expected=f"more than {lockout}",
            remedy="Raise deadline_ms, or lower lockout_ms below [trial]",
        )


def _where(examined: Examined, task: str) -> str:
    inner = ("tasks", task) if task else ()
    return examined.at("trial", "parameters", *inner, "deadline_ms")
