"""``parallax pool``: one analysis of a study in several languages or at several sites."""

import json
from dataclasses import replace
from pathlib import Path

import click

from analysis.errors import AnalysisError
from analysis.figures.drawing import FORMATS, Drawing, save_drawing
from analysis.pooled.effects import noun_of, pool_comparisons, summarise
from analysis.pooled.figure import pooled_figure
from analysis.pooled.reports import Report, read_reports
from analysis.pooled.sites import SITES, compare_sites, describe_sites, sites_table
from analysis.pooled.tables import (
    ACCURACIES,
    BY_REPORT,
    MEANS,
    REPORTS,
    accuracy_table,
    by_report_table,
    means_table,
    reports_table,
)
from analysis.report.table_page import render_table_page
from analysis.report.write import inline_svg
from analysis.tables.render import save_table
from analysis.tables.section import Section
from experiment.tables.atomic_write import atomic_folder
from experiment.version import code_version

PAGE, NUMBERS, _FIGURE = "pooled.html", "pooled.json", "effects"
_TABLES = (MEANS, BY_REPORT, SITES, ACCURACIES, REPORTS)
_WRITTEN = {
    PAGE,
    NUMBERS,
    *(f"{name}.{suffix}" for name in _TABLES for suffix in ("csv", "md", "tex", "txt")),
    *(f"{_FIGURE}.{suffix}" for suffix in FORMATS),
}


@click.command("pool")
@click.argument("reports", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--out", required=True, type=click.Path(path_type=Path), help="The folder to write.")
def command(reports: tuple[Path, ...], out: Path) -> None:
    """Pool the REPORTS of one study in several languages or at several sites.

    They are folders that `parallax compare` wrote, one for each language or site; each folder's
    name becomes the name of its language or site. The studies declare the same comparisons.
    """
    read = read_reports(reports)
    noun = noun_of(read)
    pooled, by_report, left_out = pool_comparisons(read)
    if pooled.empty:
        raise AnalysisError(
            "no comparison has an estimate in two reports",
            where=", ".join(str(report) for report in reports),
            expected="the same [[comparisons]], by name, in every study",
        )
    warning = _describe_simulated(read)
    by_site = compare_sites(read)
    sentences = [*summarise(pooled, by_report, noun), *describe_sites(pooled, by_site)]
    summary = [*([warning] if warning else []), *sentences, *left_out]
    origin = tuple(_describe_origin(read, warning))
    tables = [
        means_table(pooled, noun, origin),
        by_report_table(by_report, noun, origin),
        *([] if by_site.empty else [sites_table(by_site, origin)]),
        *filter(None, [accuracy_table(read, noun, origin)]),
        reports_table(read, origin),
    ]
    drawing = Drawing(
        _FIGURE, "Effects", f"Effects in each {noun} with 95% intervals: its own, as in its "
        f"report, and partially pooled; their mean, and a further {noun}'s effect.",
        Section.COMPARISONS,
        lambda: pooled_figure(pooled, by_report, noun=noun, simulated=bool(warning)),
    )  # fmt: skip
    with atomic_folder(out, _WRITTEN) as folder:
        for table in tables:
            save_table(table, folder)
        svg = save_drawing(drawing, folder)[0].read_text("utf-8")
        figure = (inline_svg(svg, _FIGURE), drawing.caption)
        *above, last = tables
        shown = [*(replace(table, origin=()) for table in above), last]
        page = render_table_page(_write_title(read, noun), shown, summary, [figure])
        (folder / PAGE).write_text(page, "utf-8", newline="\n")
        numbers = {
            "summary": summary,
            "origin": origin,
            "pooled": json.loads(pooled.to_json(orient="records", double_precision=10)),
            "by_site": json.loads(by_site.to_json(orient="records", double_precision=10)),
            "by_report": json.loads(by_report.to_json(orient="records", double_precision=10)),
        }
        text = json.dumps(numbers, indent=1, ensure_ascii=False) + "\n"
        (folder / NUMBERS).write_text(text, "utf-8", newline="\n")
    for sentence in summary:
        click.echo(sentence)
    click.echo(out / PAGE)


def _write_title(reports: list[Report], noun: str) -> str:
    languages = len({report.language for report in reports})
    if noun == "language" and languages < len(reports):
        return f"One study, {languages} languages, {len(reports)} sites"
    return f"One study, {len(reports)} {noun}s"


def _describe_simulated(reports: list[Report]) -> str:
    names = [report.name for report in reports if report.origin.simulated]
    return f"SIMULATED PARTICIPANTS in {', '.join(names)}." if names else ""


def _describe_origin(reports: list[Report], warning: str) -> list[str]:
    origin = [f"{report.name}: {report.origin.run.source}." for report in reports]
    return [*([warning] if warning else []), *origin, f"Code: {code_version()}."]
