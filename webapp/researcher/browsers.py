"""How the list of a user's sessions names a browser."""

from flask import request

_FAMILIES = ("Firefox", "Edg", "OPR", "Chrome", "Safari")


def browser_family() -> str:
    """Return the family of the browser that asks."""
    said = request.user_agent.string
    family = next((family for family in _FAMILIES if family in said), "another browser")
    return {"Edg": "Edge", "OPR": "Opera"}.get(family, family)
