"""The report: one HTML page that holds everything and asks the network for nothing."""

import re
from collections.abc import Mapping

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from analysis.comparison import Comparison
from analysis.typeset import blocks, spans


def render_report(comparison: Comparison, drawings: Mapping[str, str]) -> str:
    """Return the report as HTML.

    Args:
        comparison: What to report.
        drawings: SVG documents by the name of the table they draw.
    """
    environment = Environment(
        loader=PackageLoader("analysis"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("report.html").render(
        study=comparison.study,
        origin=comparison.provenance,
        run=comparison.provenance.run,
        flow=comparison.provenance.flow,
        models=comparison.provenance.models,
        rules=[rule.model_dump() for rule in comparison.study.exclusion],
        tables=comparison.tables,
        drawings={name: inline_svg(svg, name) for name, svg in drawings.items()},
        blocks=blocks,
        spans=spans,
    )


def inline_svg(document: str, prefix: str) -> Markup:
    """Return an SVG document as an element of a page, its ids made the page's only ones.

    Args:
        document: The SVG as matplotlib wrote it: trusted, not escaped.
        prefix: What to put before each id, so that two drawings of one page do not collide.
    """
    element = document[document.index("<svg") :]
    element = re.sub(r"<metadata>.*?</metadata>", "", element, flags=re.DOTALL)
    element = re.sub(r'\bid="', f'id="{prefix}-', element)
    element = re.sub(r'href="#', f'href="#{prefix}-', element)
    return Markup(re.sub(r"url\(#", f"url(#{prefix}-", element))
