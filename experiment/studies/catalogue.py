"""A study's own words for the pages' buttons and messages: a gettext catalogue among its texts."""

import re
import string
from collections.abc import Mapping
from functools import lru_cache
from io import BytesIO

from babel.messages.pofile import PoFileError, read_po

from experiment.errors import StudyError, why_unread
from experiment.studies.study import Study

CATALOGUE_FILE = "messages.po"
_PERCENT = re.compile(r"%\((\w+)\)s")


def own_messages(study: Study) -> Mapping[str, str]:
    """Return the study's own translations by their English messages; empty where it has none.

    Raises:
        StudyError: The catalogue cannot be read, or a translation has other places for values.
    """
    name = f"texts/{study.study.language}/{CATALOGUE_FILE}"
    try:
        text = study.read(name)
    except FileNotFoundError:
        return {}
    except UnicodeDecodeError as error:
        raise _unreadable(str(study.folder / name), why_unread(error)) from error
    return _messages(text, str(study.folder / name))


@lru_cache(maxsize=64)
def _messages(text: str, where: str) -> Mapping[str, str]:
    try:
        read = read_po(BytesIO(text.encode()), abort_invalid=True)
    except (PoFileError, ValueError) as error:
        raise _unreadable(where, str(error)) from error
    found = {}
    for message in read:
        if not (isinstance(message.id, str) and message.id and isinstance(message.string, str)):
            continue
        if not message.string or message.fuzzy:
            continue
        if _places(message.id) != _places(message.string):
            raise StudyError(
                f"the translation “{message.string}” has other placeholders than its message",
                where=where,
                expected=f"the placeholders of “{message.id}”, written the same way",
            )
        found[message.id] = message.string
    return found


def _places(text: str) -> set[str]:
    try:
        braces = {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}
    except ValueError:
        return {text}
    return braces | set(_PERCENT.findall(text))


def _unreadable(where: str, why: str) -> StudyError:
    return StudyError(
        f"the study's own catalogue cannot be read: {why}",
        where=where,
        expected="a gettext catalogue (.po) in UTF-8",
    )
