"""The sources of a treebank's sentences, from the draft to the study of approved items."""

from pathlib import Path

from click import Command
from click.testing import CliRunner

from analysis.natives.command import natives
from experiment.authoring.new import new_study
from experiment.commands.lists import lists
from experiment.commands.treebank import treebank
from experiment.materials.read import read_items
from tests.experiment.materials.treebank.treebanks import SAMPLE


def call(command: Command, *arguments: str | Path) -> str:
    result = CliRunner().invoke(command, [*map(str, arguments)], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def test_the_study_of_approved_items_and_its_lists_keep_the_sources(tmp_path: Path):
    draft, approved, final = tmp_path / "draft", tmp_path / "approved.tsv", tmp_path / "final"
    call(treebank, "study", SAMPLE, "--language", "it", "--each", "3", "--out", draft,
         "--licence", "CC BY-SA 4.0")  # fmt: skip
    sources = (draft / "SOURCES.md").read_text("utf-8")
    assert f"| {SAMPLE.name} | treebank | CC BY-SA 4.0 |" in sources
    tables = []
    for name in ("AB", "CD"):
        rows = ["sentence,verdict,better,reviewer"]
        for item in read_items(draft / "items.tsv"):
            rows += [f'"{item.good}",right,,{name}', f'"{item.bad}",wrong,,{name}']
        tables.append(tmp_path / f"{name}.csv")
        tables[-1].write_text("\n".join(rows), "utf-8")
    call(natives, "approve", draft / "items.tsv", *tables, "--rendering", "as_written",
         "--out", approved)  # fmt: skip
    new_study(final, approved, language="it", headers={})
    call(lists, "build", final, "--seed", "1", "--out", tmp_path / "lists")
    for folder in (final, tmp_path / "lists"):
        assert (folder / "SOURCES.md").read_text("utf-8") == sources
