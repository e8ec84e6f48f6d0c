"""Whether a signed text can be divided among a link's parameters in another way.

``{who}{project}`` is the same text for w1 and p1 as for w1p and 1. Whoever has one link of the
panel could then make another one, for a second person, with the same signature.
"""

import re
from collections.abc import Iterator, Mapping

from experiment.panels.signing import PATH, URL
from experiment.panels.table import PanelTable
from experiment.panels.templates import names_in
from experiment.untrusted import is_whole

_NAME = re.compile(r"\{([\w-]+)\}")
_AROUND = ("", "a", "A", "1")


def of_one_person(panel: PanelTable, signed: str, where: str) -> Iterator[str]:
    """Yield why the signature of one link could be that of another person's, too."""
    if {URL, PATH}.isdisjoint(names_in(signed)) and not set(panel.person) <= {*names_in(signed)}:
        yield f"each parameter of person in signed of {where}, or {{url}} or {{path}}"
    patterns = {name: each.pattern for name, each in panel.parameters.items()}
    for left, right in divided_elsewhere(signed, patterns):
        yield (
            f"a text between {{{left}}} and {{{right}}} in signed of {where} that their patterns"
            " do not allow in a value, or a pattern of one length for one of them: the same"
            " signature would be good for another person"
        )


def divided_elsewhere(signed: str, patterns: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the pairs of parameters between which a signed text can be divided elsewhere.

    Args:
        signed: The template of the text that is signed.
        patterns: The patterns of the link's parameters. Every other name stands for a text that
            no link can change.
    """
    last, after, gap = "", "", ""
    pieces = _NAME.split(signed)
    for name, literal in zip(pieces[1::2], pieces[2::2], strict=True):
        if name not in patterns:
            last = ""
        elif not _has_one_length(patterns[name]):
            if last and _may_hold(patterns[last], after) and _may_hold(patterns[name], gap):
                yield last, name
            last, after = name, literal
        gap = literal


def _has_one_length(pattern: str) -> bool:
    try:
        # Looking back is possible by one length alone.
        re.compile(f"(?<={pattern})")
    except re.error:
        return False
    return True


def _may_hold(pattern: str, text: str) -> bool:
    return not text or any(is_whole(pattern, f"{side}{text}{side}") for side in _AROUND)
