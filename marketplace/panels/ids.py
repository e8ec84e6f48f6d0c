"""What panels call people, studies and visits, and how they put that into a study's link."""

import hashlib
from collections.abc import Mapping
from urllib.parse import urlencode

# An access code, which the researcher made and the panel hands out.
CODE = "code"
KINDS = ("person", "profile", "long", "upper", "number", "study", "visit", CODE)


def ids_of(study: str, person: str, visit: int) -> dict[str, str]:
    """Return what panels call a person, a study and a visit; the same person always the same."""
    of_person = hashlib.sha256(f"{study} {person}".encode()).hexdigest()
    return {
        "person": of_person[:24],
        "profile": of_person[24:48],
        "long": of_person[:32],
        "upper": of_person[:32].upper(),
        "number": str(int(of_person[:12], 16)),
        "study": hashlib.sha256(study.encode()).hexdigest()[:24],
        "visit": hashlib.sha256(f"{study} {person} {visit}".encode()).hexdigest()[:24],
    }


def filled_link(
    link: str, ids: Mapping[str, str], added: Mapping[str, str], replaced: Mapping[str, str]
) -> str:
    """Return the link by which a person comes.

    Args:
        link: As the researcher pasted it.
        ids: Kind of id -> the id.
        added: Argument that the panel adds -> kind of id.
        replaced: Text in the link that the panel replaces -> kind of id.
    """
    for placeholder, kind in replaced.items():
        link = link.replace(placeholder, ids[kind])
    if not added:
        return link
    arguments = urlencode({name: ids[kind] for name, kind in added.items()})
    return f"{link}{'&' if '?' in link else '?'}{arguments}"
