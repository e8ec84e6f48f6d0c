"""Encodings in which Excel writes text that is not Unicode; they depend on its language."""

import re
from collections.abc import Mapping
from types import MappingProxyType

# What Windows calls its ANSI code pages, by languages; every other language has the first.
_WESTERN = "cp1252"
_CODE_PAGES: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(["bs", "cs", "hr", "hu", "pl", "ro", "sk", "sl", "sq"], "cp1250"),
        **dict.fromkeys(["be", "bg", "kk", "mk", "ru", "sr", "uk"], "cp1251"),
        "el": "cp1253",
        **dict.fromkeys(["az", "tr", "uz"], "cp1254"),
        **dict.fromkeys(["he", "yi"], "cp1255"),
        **dict.fromkeys(["ar", "fa", "ur"], "cp1256"),
        **dict.fromkeys(["et", "lt", "lv"], "cp1257"),
        "vi": "cp1258",
        "th": "cp874",
        "ja": "cp932",
        "zh": "gb18030",
        "ko": "cp949",
    }
)
_TRADITIONAL = ("zh-hant", "zh-tw", "zh-hk")
# Signs that stand in no word: who sees them there reads letters of another code page.
_NO_LETTERS = "ƒ‡†\u02c6‰¤¦¨¬¯±¹²³¶\u00b8¼½¾\u00d7÷"
_LOST = re.compile(rf"\w*[^\W\d_][{_NO_LETTERS}]\w*|\w*[{_NO_LETTERS}][^\W\d_]\w*")
_ACCENTED = re.compile(r"\w*[^\W\d_\x00-\x7f]\w*")


def code_page(language: str) -> str:
    """Return the encoding of Excel's CSV files on computers of a language (a tag of BCP 47)."""
    tag = language.lower()
    if tag.startswith(_TRADITIONAL):
        return "cp950"
    return _CODE_PAGES.get(tag.partition("-")[0], _WESTERN)


def lost_word(text: str) -> str:
    """Return a word that shows that a text is of another code page; empty where none does."""
    found = _LOST.search(text)
    return found[0] if found else ""


def telling_word(text: str) -> str:
    """Return the first word by which a reader sees whether letters are right; it may be empty."""
    found = _ACCENTED.search(text)
    return found[0] if found else ""
