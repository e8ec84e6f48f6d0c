"""The kinds of links, and who arrives by each."""

from webapp.database.models import Link

PARAMETER = "link"
MULTI, SINGLE, CODE = "multi", "single", "code"


def person_of(link: Link | None) -> str | None:
    """Return the id by which a person with this link is recognised again, if there is one."""
    return None if link is None or link.kind == MULTI else f"{PARAMETER}:{link.token}"


def is_of_link(person: str | None) -> bool:
    """Return whether no platform identifies somebody, but at most one of our links."""
    return person is None or person.startswith(f"{PARAMETER}:")
