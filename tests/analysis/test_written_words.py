"""What a comparison prints, word for word; `--force-regen` writes it anew, to be read again."""

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from analysis.compare import compare
from analysis.findings.finding import ComparisonOptions
from experiment.version import code_version
from tests.analysis import small_run

# Every judge another number: two columns exchanged are two numbers exchanged.
PUBLISHED = """table,construction,condition,judge,accuracy,source,note
table_1,simple,,people,0.96,"Doe (2025), Table 1",
table_1,simple,,rnn,0.94,"Doe (2025), Table 1",
table_1,simple,,multitask,0.91,"Doe (2025), Table 1",A misprint
table_1,simple,,ngram,0.79,"Doe (2025), Table 1",
table_1,polarity,,people,0.81,"Doe (2025), Table 1",
table_1,polarity,,rnn,0.41,"Doe (2025), Table 1",
table_1,polarity,,multitask,0.73,"Doe (2025), Table 1",
table_1,polarity,,ngram,0.6,"Doe (2025), Table 1",
table_2,simple,singular,people,0.95,"Doe (2025), Table 2",
table_2,simple,singular,rnn,0.83,"Doe (2025), Table 2",The supplement gives 0.82
table_2,simple,singular,multitask,0.77,"Doe (2025), Table 2",
"""
# The other model errs on other items, and is right on the one that nobody judged.
OF_RNN = {
    "s-1": (-2.0, -1.0, None),
    "s-2": (-3.0, -2.0, None),
    "p-1": (-1.0, -2.0, -1.5),
    "p-2": (-2.0, -3.0, -1.0),
    "s-9": (-3.0, -4.0, None),
}
PRINTED = [
    f"{table}.{suffix}"
    for table in ("table_1", "table_2")
    for suffix in ("csv", "md", "tex", "txt")
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("comparison")
    export = small_run.write_export(place / "export")
    (export / "study" / "published.csv").write_text(PUBLISHED)
    ngram = small_run.write_scores(place / "ngram.parquet")
    rnn = small_run.write_scores(
        place / "rnn.parquet", small_run.score_rows(OF_RNN, more=()), model="RNN of ours"
    )
    compare(export, [ngram, rnn], place / "out", ComparisonOptions(resamples=100))
    return place / "out"


@pytest.mark.parametrize("name", PRINTED)
def test_tables_1_and_2_are_printed_as_reviewed(name: str, folder: Path, file_regression):
    printed = (folder / "tables" / name).read_text("utf-8").replace(code_version(), "0.1.0+ghere")
    path = Path(name)
    file_regression.check(
        printed, basename=path.stem, extension=path.suffix, encoding="utf-8", newline="\n"
    )


def test_a_comparison_writes_the_files_that_were_reviewed(folder: Path, file_regression):
    names = sorted(
        path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()
    )
    file_regression.check("\n".join(names) + "\n", basename="files", newline="\n")


class Outline(HTMLParser):
    """Collects headings and captions in their order, a line each."""

    LEVELS = ("h1", "h2", "h3", "figcaption")

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []
        self.level = ""

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag in self.LEVELS:
            self.level = tag
            self.lines.append("")

    def handle_endtag(self, tag: str) -> None:
        if tag == self.level:
            indent = "  " * self.LEVELS.index(tag)
            self.lines[-1] = indent + re.sub(r"\s+", " ", self.lines[-1]).strip()
            self.level = ""

    def handle_data(self, data: str) -> None:
        if self.level:
            self.lines[-1] += data


def test_the_report_has_the_headings_and_captions_that_were_reviewed(folder: Path, file_regression):
    outline = Outline()
    outline.feed((folder / "report.html").read_text("utf-8"))
    file_regression.check(
        "\n".join(outline.lines) + "\n", basename="report_outline", encoding="utf-8", newline="\n"
    )
