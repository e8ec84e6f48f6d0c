"""The study's texts as HTML."""

from functools import lru_cache

from markdown_it import MarkdownIt
from markupsafe import Markup


# A study's few texts are shown to everybody.
@lru_cache(maxsize=256)
def as_html(markdown: str) -> Markup:
    """Return a study's Markdown as HTML; HTML written in it is shown as text, not obeyed."""
    return Markup(MarkdownIt("commonmark", {"html": False}).render(markdown))
