"""Whether the font that is to travel with a study's trials can."""

from collections.abc import Iterator

from experiment.authoring.findings import Examined, StudyNote
from experiment.authoring.language_tags import is_tag, script_of
from experiment.errors import ParallaxError, StudyError
from experiment.studies.files import FONT_SUFFIX

_SIGNATURE = b"wOF2"
# It lies in the page itself, and every participant gets it.
_MOST_BYTES = 300_000
# The scripts that travel with the page (webapp/static/noto-sans.css), by ISO 15924.
_NOTO = ("Latn", "Cyrl", "Grek", "Hebr", "Arab")


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
