"""What ``parallax marketplace --platform stores`` starts."""

from marketplace.asked import Asked, Started
from marketplace.stores import create_stores


def start(asked: Asked) -> Started:
    """Return the stand-ins of stores, and where each is found."""
    sites = asked.folder / "sites"
    sites.mkdir(parents=True, exist_ok=True)
    app = create_stores(asked.folder)
    ways_in = (
        f"Static studies below {sites}: {asked.url}/sites/NAME/",
        f"--store post --url {asked.url}/keep",
        f"--store datapipe --url {asked.url}/datapipe --experiment any",
        f"JATOS: a POST of a study archive to {asked.url}/jatos/archives answers with its link.",
    )
    return Started(app, ways_in, True, lambda: None)
