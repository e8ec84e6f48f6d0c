import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from matplotlib.figure import Figure

from analysis.figures.drawing import Drawing
from analysis.report.write import inline_svg, render_report
from analysis.tables.section import Section
from tests.analysis import small_run

SVG = '<?xml version="1.0"?>\n<svg xmlns="http://www.w3.org/2000/svg"><metadata>m</metadata><path id="a"/><use xlink:href="#a" clip-path="url(#a)"/></svg>'  # noqa: E501


VOID = {"meta", "br", "path", "use", "link", "img", "rect"}


class Page(HTMLParser):
    """Collects what a browser would load, every id, and whether elements close in order."""

    def __init__(self) -> None:
        super().__init__()
        self.loaded, self.ids, self.open, self.closed_wrongly = [], [], [], []

    def handle_starttag(self, tag, attrs):
        named = dict(attrs)
        self.loaded += [named[key] for key in ("src", "href", "xlink:href", "data") if key in named]
        self.ids += [named["id"]] if "id" in named else []
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag in VOID:
            return
        if not self.open or self.open.pop() != tag:
            self.closed_wrongly.append(tag)


@pytest.fixture(scope="module")
def pages(tmp_path_factory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("report")
    export = small_run.write_export(
        folder / "export", small_run.tables(simulated=True), small_run.facts(simulated=True)
    )
    scores = small_run.write_scores(folder / "s.parquet", trained_on="<a corpus>")
    found = small_run.compared(export, scores)
    drawings = tuple(
        Drawing(name, name, "Drawn.", section, Figure)
        for name, section in (
            ("figure_1", Section.ACCURACY),
            ("figure_2", Section.ACCURACY),
            ("x", Section.PEOPLE),
        )
    )
    drawn = {"figure_1": SVG, "figure_2": SVG, "x": SVG}
    found = replace(found, drawings=drawings)
    return {
        page: render_report(found, drawn, {"python": "3.99"}, page)
        for page in ("report", "methods", "checklist")
    }


@pytest.fixture(scope="module")
def html(pages) -> str:
    return pages["report"]


def parsed(html: str) -> Page:
    page = Page()
    page.feed(html)
    return page


def test_the_report_asks_the_network_for_nothing(html):
    beside = {"methods.html", "checklist.html"}
    assert all(target.startswith("#") or target in beside for target in parsed(html).loaded)
    assert not re.search(r"@import|<script|<link|<iframe", html)
    assert all(target.startswith("#") for target in re.findall(r"url\(([^)]*)\)", html))


def test_the_report_is_well_formed_and_its_ids_are_unique(html):
    page = parsed(html)
    assert not page.closed_wrongly
    assert not page.open
    assert len(page.ids) == len(set(page.ids))


def test_methods_and_the_checklist_are_linked_pages_of_their_own(pages):
    for page in ("methods", "checklist"):
        assert f'href="{page}.html"' in pages["report"]
        assert 'href="report.html"' in pages[page]
        assert not parsed(pages[page]).closed_wrongly and not parsed(pages[page]).open
    assert "<h2>Methods</h2>" in pages["methods"] and "0.1 Paper title" in pages["checklist"]
    assert "0.1 Paper title" not in pages["report"]


def test_the_report_holds_the_numbers_and_where_they_come_from(pages, html):
    text = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", html + pages["methods"]))
    for words in (
        "4recruited", "3consented", "3finished", "1excluded: too many errors", "2kept",
        "8 judgments on 4 items",
        "1 participant was excluded for too many errors "
        "(construction: Agreement: Simple &amp; short; errors allowed: 1)",
        "100 resamples, seed 1",
        "SIMULATED PARTICIPANTS: 2 of the 2",
        "Doe, J. (2026). A small study.",
        small_run.HASH,
        "launched 2026-03-01 09:00 UTC",
    ):  # fmt: skip
        assert words in text


def test_what_a_model_says_of_itself_is_escaped(html):
    assert "Trained on &lt;a corpus&gt;." in html
    assert "<a corpus>" not in html


def test_sections_stand_in_the_order_in_which_they_are_read(html):
    found = re.findall(r"<h2>(.*?)</h2>", html)
    assert found[:4] == ["At a glance", "Design and participants", "Results", "Appendix"]
    assert found[-3:] == ["Data", "Origin", "How to cite"]
    appendix = re.findall(r"<h3>(.*?)</h3>", html)
    assert appendix.index("People") < appendix.index("Supplement")


def test_the_comparisons_and_table_1_with_its_figure_stand_before_the_appendix(html):
    front = html[: html.index('<section id="appendix">')]
    assert re.findall(r'<figure class="\w+[^>]*id="([^"]+)"', front) == [
        "comparisons",
        "table_1",
        "drawing-figure_1",
    ]


def test_every_link_of_the_contents_leads_to_a_section(html):
    nav = html[html.index("<nav") : html.index("</nav>")]
    links = re.findall(r'href="#([^"]+)"', nav)
    assert links
    assert set(links) <= set(parsed(html).ids)
    words = re.findall(r"<a [^>]*>(.*?)</a>", nav)
    assert len(set(words)) == len(words)


def test_negative_numbers_have_a_minus_sign(html):
    text = re.sub(r"(?s)<style.*?</style>|<svg.*?</svg>|<[^>]+>", " ", html)
    assert re.search(r"\u2212\.?\d", text)
    assert not re.search(r"(?<![\w.-])-\.?\d", text)


def test_a_figure_follows_the_table_that_it_draws(html):
    places = [html.index(f'id="{name}"') for name in
              ("table_1", "drawing-figure_1", "table_2", "drawing-figure_2")]  # fmt: skip
    assert places == sorted(places)


def test_a_note_of_several_tables_is_printed_once(html):
    text = "no formula that we tried covers the true value"
    assert html.count(text) == 1


def test_the_findings_name_the_accuracies_and_where_judges_lie_apart(html):
    text = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", html))
    assert "articipants chose the expected version in" not in text
    assert (
        "Whether simulated participants choose the expected version more or less often than 5-gram "
        "is inconclusive, because there are too few judgments, participants or frames: simulated "
        "participants in 62.5% and 5-gram in 50.0% of the same judgments." in text
    )
    assert "On 1 of the 4 judged items 5-gram gave both versions the same score" in text
    why = "each has too few judgments, participants or frames."
    assert f"No construction has an interval: {why}" in text


def test_two_drawings_on_a_page_do_not_share_ids():
    drawing = str(inline_svg(SVG, "table_1"))
    assert drawing.startswith("<svg")
    assert "metadata" not in drawing
    assert 'id="table_1-a"' in drawing
    assert 'href="#table_1-a"' in drawing
    assert "url(#table_1-a)" in drawing
