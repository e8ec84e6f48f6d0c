"""Pictures in texts: as Markdown writes them, with their bytes in the address."""

import re

# What the page shows as a picture: webapp/static/picture.js has the same.
PICTURE = re.compile(r"!\[([^\]]*)\]\((data:image/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/=]+)\)")
# Whatever looks like a picture, also one that no page can show.
LIKE_A_PICTURE = re.compile(r"!\[[^\]]*\]\([^)]*\)")


def described(text: str) -> str:
    """Return a text with the words that stand for each of its pictures in their place."""
    return PICTURE.sub(r"\1", text)
