"""The pages show what benchmarks printed, to the letter."""

import re
import sys

import pytest

from benchmarks import figures


@pytest.mark.parametrize("page", figures.pages(), ids=lambda page: page.stem)
def test_a_page_shows_the_outputs_as_they_were_printed(page):
    text = page.read_text(encoding="utf-8")
    assert text.count("<!-- output: ") == len(figures.SHOWN.findall(text))
    assert figures.with_outputs(text) == text, "run: make figures"


def test_every_kept_output_names_its_command_its_version_and_its_day_and_is_shown():
    shown = "\n".join(page.read_text(encoding="utf-8") for page in figures.pages())
    source = r"Parallax \d+\.\d+\.\d+ at \w+( with changes)?, \d+ \w+ 20\d\d"
    heading = rf"\A(\$ |`)python (benchmarks/\w+\.py|parallax\.py|-m benchmarks\.\w+).*?{source}"
    for path in figures.RESULTS.iterdir():
        assert re.match(heading, path.read_text("utf-8"), re.DOTALL), path.name
        assert f"<!-- output: {path.name} -->" in shown, path.name


def test_a_command_is_kept_with_what_it_printed_and_a_failed_one_changes_nothing(tmp_path):
    path = tmp_path / "sum.txt"
    figures.keep(path, [sys.executable, "-c", "print(1 + 1)"], "a busy machine")
    first, second, *printed = path.read_text().splitlines()
    assert first.startswith("$ ") and first.endswith("-c 'print(1 + 1)'")
    assert second.startswith("# Parallax ") and second.endswith("; a busy machine")
    assert printed == ["2"]
    with pytest.raises(SystemExit):
        figures.keep(path, [sys.executable, "-c", "print(3); raise SystemExit(1)"], None)
    assert path.read_text().splitlines()[2:] == printed
