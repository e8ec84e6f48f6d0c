"""The report: one HTML page that holds everything and asks the network for nothing."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from analysis.comparison import Comparison
from analysis.figures.drawing import Drawing
from analysis.scores.metrics import METRICS
from analysis.side_by_side import Table
from analysis.statistics.accuracy import JUDGED, PEOPLE
from analysis.typeset import blocks, numbered_footnotes, spans

PARTICIPANTS, ACCURACY, SUPPLEMENT = "Participants", "Accuracy", "Supplement"
# The order in which a reader asks; sections that no table or figure names are left out.
_SECTIONS = (
    PARTICIPANTS,
    ACCURACY,
    "Are the errors the same errors?",
    "Mixed model",
    "People",
    "Exclusions",
    "Words",
    "Word by word",
    "Models' metrics",
)
# Tables of more columns are printed on a sheet turned on its side.
_WIDE_COLUMNS = 11
# SVG measures in points; a figure wider than this fills the page.
_COLUMN_POINTS = 260
_GAPS_NAMED = 3


@dataclass(frozen=True, slots=True)
class Section:
    """What stands under one heading.

    Attributes:
        title: The heading.
        anchor: Its name in links.
        parts: Tables and drawn figures in order; a figure follows the table that it draws.
    """

    title: str
    anchor: str
    parts: list[Table | Drawing]


def render_report(
    comparison: Comparison, svgs: Mapping[str, str], libraries: Mapping[str, str]
) -> str:
    """Return the report as HTML.

    Args:
        comparison: What to report.
        svgs: SVG documents by the name of the drawing; drawings without one are left out.
        libraries: The versions of what computed.
    """
    environment = Environment(
        loader=PackageLoader("analysis"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    origin = comparison.provenance
    shared = shared_notes(comparison.tables)
    return environment.get_template("report.html").render(
        study=comparison.study,
        origin=origin,
        run=origin.run,
        flow=origin.flow,
        models=origin.models,
        metric=METRICS[origin.metric],
        rules=[rule.model_dump() for rule in comparison.study.exclusion],
        sections=sections(comparison, svgs),
        drawings=[drawing for drawing in comparison.drawings if drawing.name in svgs],
        shared=shared,
        findings=findings(comparison),
        left_out=comparison.left_out,
        libraries=libraries,
        svgs={name: inline_svg(svg, name) for name, svg in svgs.items()},
        is_table=lambda part: isinstance(part, Table),
        is_wide=lambda table: len(table.columns) > _WIDE_COLUMNS,
        fills_page=lambda name: _width_points(svgs[name]) > _COLUMN_POINTS,
        notes=lambda table: [
            *(note for note in table.notes if note not in shared),
            *numbered_footnotes(table),
        ],
        blocks=blocks,
        spans=spans,
    )


def sections(comparison: Comparison, svgs: Mapping[str, str]) -> list[Section]:
    """Return the sections that hold something, in the order in which they are read."""
    drawings = [drawing for drawing in comparison.drawings if drawing.name in svgs]
    parts: dict[str, list[Table | Drawing]] = {title: [] for title in _SECTIONS}
    for table in comparison.tables:
        here = parts.setdefault(table.section, [])
        here.append(table)
        here += [one for one in drawings if one.name == table.name.replace("table", "figure")]
    for drawing in drawings:
        here = parts.setdefault(drawing.section, [])
        if drawing not in here:
            here.append(drawing)
    order = [title for title in parts if title != SUPPLEMENT] + [SUPPLEMENT]
    return [
        Section(title, re.sub(r"\W+", "-", title.lower()).strip("-"), parts[title])
        for title in order
        if parts.get(title) and title != PARTICIPANTS
    ]


def shared_notes(tables: Sequence[Table]) -> list[str]:
    """Return the notes that stand under more than one table: they are printed once."""
    counts = Counter(note for table in tables for note in dict.fromkeys(table.notes))
    return [note for note, count in counts.items() if count > 1]


def findings(comparison: Comparison) -> list[str]:
    """Return what a reader wants to know first, in sentences filled in from the run."""
    rows = comparison.by_construction
    on_judged = rows[rows["items"] == JUDGED]
    people = on_judged[on_judged["judge"] == PEOPLE].set_index("construction")
    titles = {one.name: one.title for one in comparison.study.constructions}
    groups = {one.name: one.group for one in comparison.study.constructions}
    overall = (people["accuracy"] * people["n_judgments"]).sum() / people["n_judgments"].sum()
    found = [f"People chose the expected version in {overall:.1%} of all judgments."]
    for model, own in on_judged[on_judged["is_model"]].groupby("judge", sort=False):
        of_model = own.set_index("construction")
        weighted = (of_model["accuracy"] * of_model["n_items"]).sum() / of_model["n_items"].sum()
        gaps = (people["accuracy"] - of_model["accuracy"]).dropna().sort_values(ascending=False)
        named = [
            f"{groups[name]}: {titles[name]} ({people['accuracy'][name]:.2f} and "
            f"{of_model['accuracy'][name]:.2f})".removeprefix(": ")
            for name in gaps.index[:_GAPS_NAMED]
        ]
        found.append(
            f"{model} gave it the higher score on {weighted:.1%} of the judged items. People and "
            f"{model} lie furthest apart on {'; '.join(named)}."
        )
    return found


def _width_points(svg: str) -> float:
    width = re.search(r'<svg[^>]*\bwidth="([\d.]+)pt"', svg)
    return float(width[1]) if width else 0.0


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
