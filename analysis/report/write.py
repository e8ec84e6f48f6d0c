"""Write a comparison as a folder with the report's page, complete or not at all."""

import json
import platform
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache, partial
from importlib.metadata import version
from pathlib import Path

import pandas as pd
from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup

from analysis.figures.drawing import Drawing, save_drawing
from analysis.findings.contrasts import label_in_words
from analysis.findings.finding import Comparison
from analysis.report.answered_once import leave_out_answered
from analysis.report.design_words import (
    describe_lists,
    describe_reason,
    fill_in,
    name_participants,
)
from analysis.scores.metrics import METRICS
from analysis.tables.accuracy_table import Table
from analysis.tables.provenance import ModelFacts, count_noun
from analysis.tables.render import save_table
from analysis.tables.section import Section
from analysis.tables.text import group_headings, make_blocks, number_footnotes, replace_minus_signs
from experiment.exclusion.rules import rule_in_words
from experiment.studies.study import Study
from experiment.tables.atomic_write import atomic_folder

# Tables with more columns are printed in a smaller font, to avoid rotated or empty pages.
_WIDE_COLUMNS = 11
# In SVG points; a wider figure fills the page.
_COLUMN_POINTS = 260
# How the names of tables end whose rows are contrasts of a design.
_DESIGN_MODELS = ("design_model", "rating_model", "yes_no_model", "reading_model")
_CONTRAST_TABLES = ("_effects", *_DESIGN_MODELS)
# The figures of a design's cells, which the report shows with the primary comparisons.
_DESIGN_FIGURES = ("design", "ratings", "yes_no_design", "reading_times")


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
    comparison: Comparison,
    svgs: Mapping[str, str],
    libraries: Mapping[str, str],
    page: str = "report",
) -> str:
    """Return the report, or a page that it links to, as HTML.

    Args:
        comparison: The comparison to report.
        svgs: SVG documents by the name of the drawing; drawings without an SVG are left out.
        libraries: The versions of the libraries used.
        page: ``report``, ``methods`` or ``checklist``.
    """
    comparison, origin = leave_out_answered(comparison), comparison.provenance
    shared = find_shared_notes(comparison.tables)
    return _load_template().render(
        page=page,
        checklist=_choose_checklist(comparison),
        study=comparison.study,
        origin=origin,
        run=origin.run,
        flow=origin.flow,
        models=origin.models,
        metric=METRICS[origin.metric],
        rules=[rule.model_dump() for rule in comparison.study.exclusion],
        front=choose_front_part(comparison, svgs),
        sections=make_sections(comparison, svgs),
        shared=shared,
        summary=[
            replace_minus_signs(name_participants(sentence, comparison.study, origin.flow))
            for sentence in comparison.summary
        ],
        left_out=comparison.left_out,
        libraries=libraries,
        svgs={name: inline_svg(svg, name) for name, svg in svgs.items()},
        is_table=lambda part: isinstance(part, Table),
        is_wide=lambda table: len(table.columns) > _WIDE_COLUMNS,
        fills_page=lambda name: _svg_width(svgs[name]) > _COLUMN_POINTS,
        notes=lambda table: [
            *(note for note in table.notes if note not in shared),
            *number_footnotes(table),
        ],
        counted=count_noun,
        lists_in_words=describe_lists,
        shown=fill_in(origin.asked.shown, comparison.study),
        task=fill_in(origin.asked.task, comparison.study),
        reason=partial(describe_reason, comparison.study),
        rule_in_words=partial(rule_in_words, titles=_construction_titles(comparison.study)),
        blocks=make_blocks,
        label_in_words=_label_in_words,
        spans=group_headings,
    )


@cache
def _load_template() -> Template:
    environment = Environment(
        loader=PackageLoader("analysis"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["minus"] = replace_minus_signs
    return environment.get_template("report.html")


def _construction_titles(study: Study) -> dict[str, str]:
    return {
        construction.name: f"{construction.group}: {construction.title}"
        if construction.group
        else construction.title
        for construction in study.constructions
    }


def choose_front_part(comparison: Comparison, svgs: Mapping[str, str]) -> list[Table | Drawing]:
    """Return what comes before the appendix.

    The primary comparisons with the design's figure, its cells, the first other table, its model.
    """
    parts: list[Table | Drawing] = []
    for table in _choose_front_tables(comparison):
        parts.append(table)
        if table.section is Section.COMPARISONS:
            drawings = (drawing for drawing in comparison.drawings if drawing.name in svgs)
            parts += (drawing for drawing in drawings if drawing.name in _DESIGN_FIGURES)
        else:
            figures = _figures_of_table(table, comparison, svgs)
            parts += [figure for figure in figures if figure not in parts]
    return parts


def _choose_front_tables(comparison: Comparison) -> list[Table]:
    primary = [table for table in comparison.tables if table.name == "comparisons"]
    further_tables = [
        table for table in comparison.tables if table.section is not Section.COMPARISONS
    ]
    cells = [table for table in further_tables if table.name == "design_cells"]
    models = [table for table in further_tables if table.name in _DESIGN_MODELS]
    front = (*primary, *cells, *further_tables[:1], *models)
    return list({table.name: table for table in front}.values())


def _choose_checklist(comparison: Comparison) -> list[Table]:
    """Return the checklist's tables, which get a page of their own: they exceed the results."""
    return [table for table in comparison.tables if table.section is Section.BASELINE]


def _label_in_words(table: Table, label: str) -> str:
    """Return a row's label for readers; programs find rows of differences by their notation."""
    return label_in_words(label) if table.name.endswith(_CONTRAST_TABLES) else label


def _figures_of_table(
    table: Table, comparison: Comparison, svgs: Mapping[str, str]
) -> Iterator[Table | Drawing]:
    name = table.name.replace("table", "figure")
    yield from (drawing for drawing in comparison.drawings if drawing.name == name and name in svgs)


def make_sections(comparison: Comparison, svgs: Mapping[str, str]) -> list[PrintedSection]:
    """Return the non-empty sections of the appendix, in reading order."""
    parts: dict[Section, list[Table | Drawing]] = {section: [] for section in Section}
    front = choose_front_part(comparison, svgs)
    placed = {part.name for part in front if isinstance(part, Drawing)}
    printed = {part.name for part in front if isinstance(part, Table)}
    for table in comparison.tables:
        if table.name in printed or table.section is Section.BASELINE:
            continue
        drawn = list(_figures_of_table(table, comparison, svgs))
        parts[table.section] += [table, *drawn]
        placed |= {svg.name for svg in drawn}
    for drawing in comparison.drawings:
        if drawing.name in svgs and drawing.name not in placed:
            parts[drawing.section].append(drawing)
    in_front = {part.section for part in front}
    return [
        _make_section(section, section_parts, section in in_front)
        for section, section_parts in parts.items()
        if section_parts
    ]


def _make_section(section: Section, parts: list[Table | Drawing], is_more: bool) -> PrintedSection:
    words = re.sub(r"\W+", "-", section.lower()).strip("-")
    title = f"More on {section.lower()}" if is_more else section.value
    # A table may have the same name as its section.
    return PrintedSection(title, f"section-{words}", parts)


def find_shared_notes(tables: Sequence[Table]) -> list[str]:
    """Return the notes that occur under more than one table, so that they are printed once."""
    counts = Counter(note for table in tables for note in dict.fromkeys(table.notes))
    return [note for note, count in counts.items() if count > 1]


def _svg_width(svg: str) -> float:
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


RESULTS = "results.json"
REPORT = "report.html"
METHODS, CHECKLIST = "methods", "checklist"
README = "README.md"
TABLES, FIGURES = "tables", "figures"
_FOLDERS = {
    "mixed_model": "holds the choices, and scripts that fit the model again in R.",
    **dict.fromkeys(
        ("design_model", "rating_model", "yes_no_model", "reading_model"),
        "holds the answers, and scripts that fit the mixed model of the design again in R.",
    ),
    "human_baseline": "holds the checklist for human baselines, and the items side by side.",
}


def find_earlier_results(folder: Path) -> set[str]:
    """Return the names of files and folders that an earlier comparison left in a folder.

    A subfolder with any other file contains user data and is not included.
    """
    try:
        files = set(json.loads((folder / RESULTS).read_text("utf-8"))["files"])
    except (OSError, ValueError, KeyError, TypeError):
        return set()
    present_files = {path.relative_to(folder) for path in folder.rglob("*") if path.is_file()}
    unrelated = {path.parts[0] for path in present_files if path.as_posix() not in files}
    return {Path(name).parts[0] for name in files} - unrelated


def write_comparison(
    comparison: Comparison, folder: Path, *, figures: bool = True
) -> tuple[Path, ...]:
    """Write tables, figures, report and results, replacing an earlier comparison.

    Args:
        comparison: The comparison to write.
        folder: The folder to write.
        figures: Whether to draw figures, the slowest part.

    Returns:
        The files, the report first.

    Raises:
        WritingError: The folder contains other files, or cannot be written.
    """
    with atomic_folder(folder, find_earlier_results(folder)) as temporary:
        names = _write_files(comparison, temporary, figures=figures)
    return tuple(folder / name for name in names)


def _write_files(comparison: Comparison, folder: Path, *, figures: bool) -> list[str]:
    paths, drawn = [folder / REPORT], {}
    (folder / TABLES).mkdir()
    for table in comparison.tables:
        paths += save_table(table, folder / TABLES)
    drawings = comparison.drawings if figures else ()
    if drawings:
        (folder / FIGURES).mkdir()
    for drawing in drawings:
        saved = save_drawing(drawing, folder / FIGURES)
        drawn[drawing.name] = saved[0].read_text("utf-8")
        paths += saved
    for name, write in comparison.folders.items():
        (folder / name).mkdir()
        paths += write(folder / name)
    linked = (METHODS, *([CHECKLIST] if _choose_checklist(comparison) else []))
    for page in ("report", *linked):
        html = render_report(comparison, drawn, library_versions(), page)
        (folder / f"{page}.html").write_text(html, "utf-8", newline="\n")
    paths += [folder / f"{page}.html" for page in linked]
    (folder / README).write_text(_make_readme(comparison, drawings), "utf-8", newline="\n")
    paths += [folder / README, folder / RESULTS]
    names = [path.relative_to(folder).as_posix() for path in paths]
    (folder / RESULTS).write_text(_results_json(comparison, names), "utf-8", newline="\n")
    return names


def _make_readme(comparison: Comparison, drawings: Sequence[Drawing]) -> str:
    """Return a description of each file in the folder."""
    run = comparison.provenance.run
    lines = [
        f"# People and models: {comparison.study.study.title}",
        "",
        f"The judgments of {run.source}. {comparison.provenance.warning}",
        "",
        f"- `{REPORT}`: the results on one page; begin here. It links to `{METHODS}.html` and, "
        f"where there is one, `{CHECKLIST}.html`.",
        f"- `{RESULTS}`: every number and its origin, for programs.",
        "",
        f"## Tables (`{TABLES}/`, each as .csv, .md, .tex and .txt)",
        "",
        *(
            f"- `{table.name}`: {table.title}. {_take_first_sentence(table.caption)}"
            for table in comparison.tables
        ),
    ]
    if drawings:
        lines += ["", f"## Figures (`{FIGURES}/`, each as .svg, .pdf and .png)", ""]
        lines += [f"- `{drawing.name}`: {drawing.title}." for drawing in drawings]
    for name in comparison.folders:
        lines += ["", f"`{name}/` {_FOLDERS[name]}"]
    lines += ["", "In a paper, `.tex` needs the package booktabs and pdfLaTeX or newer."]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _take_first_sentence(text: str) -> str:
    """Return the first sentence of a caption."""
    return text.split(". ")[0].rstrip(".") + "."


def _results_json(comparison: Comparison, files: list[str]) -> str:
    """Return all numbers and their origin as JSON; ``files`` lists the written files."""
    origin = comparison.provenance
    content = {
        "provenance": {
            "simulated": origin.simulated,
            "language": comparison.study.study.language,
            "run": origin.run.model_dump(mode="json"),
            "participants": asdict(origin.flow),
            "n_judgments": origin.n_judgments,
            "n_items": origin.n_items,
            "models": [_model_entry(model) for model in origin.models],
            "metric": origin.metric,
            "resamples": origin.resamples,
            "seed": origin.seed,
            "code_version": origin.code_version,
            "libraries": library_versions(),
        },
        "accuracy": {
            "by_construction": _frame_records(comparison.by_construction),
            "by_condition": _frame_records(comparison.by_condition),
        },
        "tables": {table.name: _frame_records(table.frame) for table in comparison.tables},
        "statistics": {
            name: _frame_records(frame) for name, frame in comparison.statistics.items()
        },
        "left_out": comparison.left_out,
        "files": files,
    }
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def _model_entry(model: ModelFacts) -> dict[str, object]:
    counts = {"n_items": model.n_items, "n_ties": model.n_ties, "n_unknown": model.n_unknown}
    return model.facts.model_dump() | counts


def _frame_records(frame: pd.DataFrame) -> object:
    return json.loads(frame.to_json(orient="records", double_precision=10))


@cache
def library_versions() -> dict[str, str]:
    """Return the versions of Python and of the libraries used."""
    names = ("numpy", "pandas", "scipy", "statsmodels", "pyarrow", "matplotlib")
    return {"python": platform.python_version()} | {name: version(name) for name in names}
