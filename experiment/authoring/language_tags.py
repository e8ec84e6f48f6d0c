"""What a language tag (BCP 47) says; its library reads its tables only where somebody asks."""

from types import ModuleType


def is_tag(language: str) -> bool:
    """Return whether a text is a language tag whose parts are registered."""
    return bool(_langcodes().tag_is_valid(language))


def usual_tag(language: str) -> str:
    """Return the tag of a valid one in its usual form: "pt-br" becomes "pt-BR"."""
    return str(_langcodes().standardize_tag(language))


def script_of(language: str) -> str:
    """Return the likely script of a language as four letters (ISO 15924), such as "Latn".

    Raises:
        ValueError: It is not a language tag.
    """
    return _langcodes().get(language).maximize().script or ""


def _langcodes() -> ModuleType:
    # Its tables take a tenth of a second, for which every command and server would wait.
    import langcodes

    return langcodes
