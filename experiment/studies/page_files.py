"""Files of a study that its pages use: its own font, and translations of buttons and messages."""

import re
import string
from collections.abc import Mapping
from functools import lru_cache
from io import BytesIO

from babel.messages.pofile import PoFileError, read_po

from experiment.errors import StudyError, why_unread
from experiment.studies.study import Study

FONT_SUFFIX = ".woff2"
CATALOGUE_FILE = "messages.po"
_PERCENT = re.compile(r"%\((\w+)\)s")


def catalogue_name(language: str) -> str:
    """Return the path of a study's own translations within its folder."""
    return f"texts/{language}/{CATALOGUE_FILE}"


def own_messages(study: Study) -> Mapping[str, str]:
    """Return the study's own translations by English message; empty if there are none.

    Raises:
        StudyError: The catalogue cannot be read, or a translation has different placeholders.
    """
    name = catalogue_name(study.study.language)
    try:
        text = study.read(name)
    except FileNotFoundError:
        return {}
    except UnicodeDecodeError as error:
        raise _make_unreadable_error(str(study.folder / name), why_unread(error)) from error
    return read_messages(text, str(study.folder / name))


@lru_cache(maxsize=64)
def read_messages(text: str, location: str) -> Mapping[str, str]:
    """Return a catalogue's translations by English message; see ``own_messages``."""
    try:
        read = read_po(BytesIO(text.encode()), abort_invalid=True)
    except (PoFileError, ValueError) as error:
        raise _make_unreadable_error(location, str(error)) from error
    messages = {}
    for message in read:
        if not (isinstance(message.id, str) and message.id and isinstance(message.string, str)):
            continue
        if not message.string or message.fuzzy:
            continue
        if _find_placeholders(message.id) != _find_placeholders(message.string):
            raise StudyError(
                f"the translation “{message.string}” has different placeholders from its message",
                where=location,
                expected=f"the placeholders of “{message.id}”, written the same way",
            )
        messages[message.id] = message.string
    return messages


def _find_placeholders(text: str) -> set[str]:
    try:
        braces = {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}
    except ValueError:
        return {text}
    return braces | set(_PERCENT.findall(text))


def _make_unreadable_error(location: str, reason: str) -> StudyError:
    return StudyError(
        f"the study's own catalogue cannot be read: {reason}",
        where=location,
        expected="a gettext catalogue (.po) in UTF-8",
    )
