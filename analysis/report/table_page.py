"""A page of sentences, figures and tables that needs no study's report around it."""

from collections.abc import Sequence

from markdown_it import MarkdownIt
from markupsafe import Markup, escape

from analysis.tables.accuracy_table import Table
from analysis.tables.render import to_markdown

_HTML = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>{title}</title>
<meta name="viewport" content="width=device-width">
<style>body {{ font: 16px/1.5 system-ui, sans-serif; color: #1a1a1a; max-width: 72rem;
margin: 2rem auto; padding: 0 1rem; }} table {{ border-collapse: collapse; font-size: .86rem;
font-variant-numeric: tabular-nums; display: block; overflow-x: auto; margin: 1rem 0; }}
td, th {{ padding: .25rem .5rem; border-bottom: 1px solid #ccc; text-align: right;
vertical-align: bottom; }} td {{ white-space: nowrap; }} th {{ font-weight: 600; }}
td:first-child, th:first-child {{ text-align: left; }} ul {{ color: #444; font-size: .86rem;
padding-left: 1.2rem; max-width: 60rem; }} li {{ overflow-wrap: anywhere; }}
ul.summary {{ color: inherit; font-size: 1rem; }} svg {{ max-width: 100%; height: auto; }}
figure {{ margin: 1.5rem 0; }} figcaption {{ max-width: 60rem; }}</style>
<h1>{title}</h1>
{body}
</html>
"""


def render_table_page(
    title: str,
    tables: Sequence[Table],
    summary: Sequence[str] = (),
    figures: Sequence[tuple[Markup, str]] = (),
) -> str:
    """Return the page.

    Args:
        title: Its heading.
        tables: The tables, in order.
        summary: The main results, in sentences.
        figures: SVG elements with their captions, printed before the tables.
    """
    markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
    sentences = "".join(f"<li>{escape(sentence)}</li>\n" for sentence in summary)
    parts = [f'<ul class="summary">\n{sentences}</ul>'] if summary else []
    parts += [
        f"<figure>{svg}<figcaption>{escape(caption)}</figcaption></figure>"
        for svg, caption in figures
    ]
    parts += [markdown.render(to_markdown(table)) for table in tables]
    return _HTML.format(title=escape(title), body="\n".join(parts))
