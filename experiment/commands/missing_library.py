"""A command whose library is not installed ends as a paragraph that names the extra."""

import re

from experiment.errors import ParallaxError

_DISTRIBUTION = "parallax-experiments"
_OPTIONAL = re.compile(r"(?P<library>[\w.-]+).*;.*\bextra == ['\"](?P<extra>[\w-]+)['\"]")
# Extras for those who change Parallax, not for those who use it.
_DEVELOPERS = {"dev", "docs"}


def extras() -> dict[str, str]:
    """Each library that only an extra brings, with that extra; both as pyproject.toml has them."""
    # Only where something failed: --help must stay quick.
    from importlib.metadata import requires

    found = filter(None, map(_OPTIONAL.match, requires(_DISTRIBUTION) or []))
    pairs = [(each["library"].lower(), each["extra"]) for each in found]
    return {
        library: extra
        for library, extra in reversed(pairs)
        if extra not in _DEVELOPERS and library != _DISTRIBUTION
    }


def missing_library(error: ModuleNotFoundError) -> ParallaxError | None:
    """The paragraph for a library that an extra brings.

    Args:
        error: What an import raised.

    Returns:
        The error to show, or None if no extra brings what is missing.
    """
    library = (error.name or "").partition(".")[0]
    extra = extras().get(library.lower().replace("_", "-"))
    if extra is None:
        return None
    return ParallaxError(
        f"this command needs a library that is not installed: {library}",
        remedy=f"Install it with: pip install '{_DISTRIBUTION}[{extra}]'",
    )
