"""The study's texts as HTML."""

from functools import lru_cache

from markdown_it import MarkdownIt
from markupsafe import Markup, escape

from experiment.untrusted import MOST_CHARACTERS, is_too_marked


# A study's few texts are shown to everybody.
@lru_cache(maxsize=256)
def as_html(markdown: str) -> Markup:
    """Return a study's Markdown as HTML; HTML written in it is shown as text, not obeyed.

    A text with so many marks that everybody would wait for it is shown without its layout.
    """
    if is_too_marked(markdown):
        shown = escape(markdown[:MOST_CHARACTERS])
        return Markup("<p>{}</p>").format(shown.replace("\n", Markup("<br>\n")))
    return Markup(MarkdownIt("commonmark", {"html": False}).render(markdown))
