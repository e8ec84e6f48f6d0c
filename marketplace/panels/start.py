"""How the stand-ins of panels are started by a command."""

from marketplace.asked import Asked, Started
from marketplace.panels import create_panels


def start(asked: Asked) -> Started:
    """Return the stand-ins."""
    ways_in = (
        f"Researchers: list a study with a POST to {asked.url}/control/studies.",
        f"Participants: a POST to {asked.url}/people answers with their link.",
    )
    return Started(create_panels(), ways_in, False, lambda: None)
