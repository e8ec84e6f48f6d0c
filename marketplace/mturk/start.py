"""How the local Mechanical Turk is started by a command."""

from marketplace.asked import Asked, Started
from marketplace.mturk import create_marketplace
from marketplace.mturk.store import EXTENSION


def start(asked: Asked) -> Started:
    """Return the marketplace; it has dollars only."""
    app = create_marketplace(
        asked.folder, balance_cents=asked.balance, key_ids=asked.keys, public=asked.public
    )
    key = asked.keys[0] if asked.keys else "any"
    ways_in = (
        f"Requesters: boto3.client('mturk', endpoint_url='{asked.url}',",
        f"    region_name='us-east-1', aws_access_key_id='{key}', aws_secret_access_key='any')",
        f"Workers: open {asked.url} and sign in with any ID like A1WORKER.",
    )
    return Started(app, ways_in, True, app.extensions[EXTENSION].engine.dispose)
