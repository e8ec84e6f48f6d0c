"""The report: one self-contained HTML page without network access."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial

from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup

from analysis.figures.drawing import Drawing
from analysis.result import Comparison
from analysis.scores.metrics import METRICS
from analysis.tables.accuracy_table import Table
from analysis.tables.provenance import counted
from analysis.tables.section import Section
from analysis.tables.text import blocks, numbered_footnotes, spans, with_minus_signs
from experiment.exclusion.rules import reason, rule_in_words
from experiment.studies.design import Design
from experiment.studies.study import Study

# Tables with more columns are printed in a smaller font, to avoid rotated or empty pages.
_WIDE_COLUMNS = 11
# In SVG points; a wider figure fills the page.
_COLUMN_POINTS = 260


@dataclass(frozen=True, slots=True)
class PrintedSection:
    """The contents of one section.

    Attributes:
        title: The heading.
        anchor: The name in links.
        parts: Tables and figures in order; a figure follows its table.
    """

    title: str
    anchor: str
    parts: list[Table | Drawing]


def render_report(
    comparison: Comparison, svgs: Mapping[str, str], libraries: Mapping[str, str]
) -> str:
    """Return the report as HTML.

    Args:
        comparison: The comparison to report.
        svgs: SVG documents by the name of the drawing; drawings without an SVG are left out.
        libraries: The versions of the libraries used.
    """
    origin = comparison.provenance
    shared = shared_notes(comparison.tables)
    return _template().render(
        study=comparison.study,
        origin=origin,
        run=origin.run,
        flow=origin.flow,
        models=origin.models,
        metric=METRICS[origin.metric],
        rules=[rule.model_dump() for rule in comparison.study.exclusion],
        front=front_part(comparison, svgs),
        sections=sections(comparison, svgs),
        shared=shared,
        summary=[with_minus_signs(sentence) for sentence in comparison.summary],
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
        counted=counted,
        lists_in_words=lists_in_words,
        reason=reason,
        rule_in_words=partial(rule_in_words, titles=_titles(comparison.study)),
        blocks=blocks,
        spans=spans,
    )


@cache
def _template() -> Template:
    environment = Environment(
        loader=PackageLoader("analysis"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["minus"] = with_minus_signs
    return environment.get_template("report.html")


def _titles(study: Study) -> dict[str, str]:
    return {
        one.name: f"{one.group}: {one.title}" if one.group else one.title
        for one in study.constructions
    }


def front_part(comparison: Comparison, svgs: Mapping[str, str]) -> list[Table | Drawing]:
    """Return the table and the figure before the appendix: the first ones."""
    first = comparison.tables[0]
    return [first, *_drawn_from(first, comparison, svgs)]


def _drawn_from(
    table: Table, comparison: Comparison, svgs: Mapping[str, str]
) -> Iterator[Table | Drawing]:
    name = table.name.replace("table", "figure")
    yield from (one for one in comparison.drawings if one.name == name and name in svgs)


def sections(comparison: Comparison, svgs: Mapping[str, str]) -> list[PrintedSection]:
    """Return the non-empty sections of the appendix, in reading order."""
    parts: dict[Section, list[Table | Drawing]] = {section: [] for section in Section}
    placed = {one.name for one in front_part(comparison, svgs) if isinstance(one, Drawing)}
    for table in comparison.tables[1:]:
        drawn = list(_drawn_from(table, comparison, svgs))
        parts[table.section] += [table, *drawn]
        placed |= {one.name for one in drawn}
    for drawing in comparison.drawings:
        if drawing.name in svgs and drawing.name not in placed:
            parts[drawing.section].append(drawing)
    front = comparison.tables[0].section
    return [_section(section, held, section is front) for section, held in parts.items() if held]


def _section(section: Section, parts: list[Table | Drawing], is_more: bool) -> PrintedSection:
    words = re.sub(r"\W+", "-", section.lower()).strip("-")
    title = f"More on {section.lower()}" if is_more else section.value
    # A table may have the same name as its section.
    return PrintedSection(title, f"section-{words}", parts)


def shared_notes(tables: Sequence[Table]) -> list[str]:
    """Return the notes that occur under more than one table, so that they are printed once."""
    counts = Counter(note for table in tables for note in dict.fromkeys(table.notes))
    return [note for note, count in counts.items() if count > 1]


def _width_points(svg: str) -> float:
    width = re.search(r'<svg[^>]*\bwidth="([\d.]+)pt"', svg)
    return float(width[1]) if width else 0.0


def inline_svg(document: str, prefix: str) -> Markup:
    """Return an SVG document as an element of the page, with ids unique in the page.

    Args:
        document: The SVG written by matplotlib: trusted, not escaped.
        prefix: A prefix for each id, so that the ids of two drawings do not collide.
    """
    element = document[document.index("<svg") :]
    element = re.sub(r"<metadata>.*?</metadata>", "", element, flags=re.DOTALL)
    element = re.sub(r'\bid="', f'id="{prefix}-', element)
    element = re.sub(r'href="#', f'href="#{prefix}-', element)
    return Markup(re.sub(r"url\(#", f"url(#{prefix}-", element))


def lists_in_words(design: Design) -> str:
    """Return a sentence about the lists; quotas may make some of them smaller."""
    numbers = range(design.n_lists)
    trials, places = map(design.trials, numbers), map(design.places, numbers)
    return (
        f"The study has {counted(design.n_lists, 'list')} of {_span(sorted({*trials}), 'trial')} "
        f"with {_span(sorted({*places}), 'place')} each."
    )


def _span(numbers: Sequence[int], noun: str) -> str:
    before = f"{numbers[0]:,} to " if len(numbers) > 1 else ""
    return before + counted(numbers[-1], noun)
