"""The check of the font in which participants read the trials."""

from collections.abc import Iterator

from experiment.authoring.examined import Examined
from experiment.authoring.words import is_tag, script_of
from experiment.errors import ParallaxError, StudyError, StudyNote
from experiment.studies.page_files import FONT_SUFFIX

_WOFF2_SIGNATURE = b"wOF2"
# The font is part of the page that every participant loads.
_LARGEST_FONT_BYTES = 300_000
# The scripts of the font that comes with the page (webapp/static/noto-sans.css), by ISO 15924.
_NOTO_SCRIPTS = ("Latn", "Cyrl", "Grek", "Hebr", "Arab")
# The scripts of which Windows, macOS, iOS and Android have fonts.
_SYSTEM_SCRIPTS = (
    *_NOTO_SCRIPTS, "Armn", "Beng", "Deva", "Ethi", "Geor", "Gujr", "Guru", "Hans", "Hant", "Jpan",
    "Khmr", "Knda", "Kore", "Laoo", "Mlym", "Mymr", "Orya", "Sinh", "Taml", "Telu", "Thai", "Tibt",
)  # fmt: skip


def check_font(examined: Examined) -> Iterator[ParallaxError]:
    """Report a font that is missing, invalid or too large, or lacks the language's letters."""
    study, location = examined.study, examined.at("trial", "font")
    name, language = study.trial.font, study.study.language
    if name == "noto" and is_tag(language) and script_of(language) not in _NOTO_SCRIPTS:
        yield StudyNote(
            f'the font "noto" has no letters of the language "{language}": pages show '
            "that language in the device's own font",
            where=location,
            expected="a .woff2 file with the study's own characters, such as pyftsubset makes",
        )
    elif name == "system" and is_tag(language) and script_of(language) not in _SYSTEM_SCRIPTS:
        yield StudyNote(
            f'not every device has a font for the letters of the language "{language}": '
            "participants without one see boxes",
            where=location,
            expected="a .woff2 file with the study's own characters, such as pyftsubset makes",
        )
    if not name.endswith(FONT_SUFFIX):
        return
    try:
        content = study.read_bytes(name)
    except OSError:
        yield StudyError(
            f'there is no file "{name}"', where=location, expected="a file in the study's folder"
        )
        return
    if not content.startswith(_WOFF2_SIGNATURE):
        yield StudyError(
            f'the file "{name}" is not a WOFF2 font', where=location, expected="a font in WOFF2"
        )
    elif len(content) > _LARGEST_FONT_BYTES:
        yield StudyError(
            f'the font "{name}" has {len(content):,} bytes, which every participant downloads',
            where=location,
            expected=f"at most {_LARGEST_FONT_BYTES:,}",
            remedy="Reduce it to the characters that the study shows (pyftsubset)",
        )
