"""How Prolific's stand-in is started by a command."""

from marketplace.asked import Asked, Started
from marketplace.prolific import create_prolific
from marketplace.prolific.store import EXTENSION


def start(asked: Asked) -> Started:
    """Return the stand-in."""
    app = create_prolific(
        asked.folder,
        balance_minor=asked.balance,
        currency=asked.currency,
        token=asked.keys[0] if asked.keys else "",
        public=asked.public,
    )
    token = asked.keys[0] if asked.keys else "any"
    ways_in = (
        f"Researchers: {asked.url}/api/v1 with the header Authorization: Token {token}.",
        f"Participants: open {asked.url} and sign in with any ID of 24 digits 0-9a-f.",
    )
    return Started(app, ways_in, True, app.extensions[EXTENSION].engine.dispose)
