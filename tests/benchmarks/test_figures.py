"""The pages show what benchmarks printed, to the letter, and nothing that no command measures."""

import re
import shlex
import sys
from pathlib import Path

import pytest

from benchmarks import figures
from benchmarks.figures import Figure

KNOWN = figures.registry()


@pytest.fixture
def results(tmp_path, monkeypatch) -> Path:
    monkeypatch.setattr(figures, "RESULTS", tmp_path / "results")
    return tmp_path / "results"


def figure(program: str, **fields: object) -> Figure:
    command = shlex.join(["python", "-c", program])
    return Figure("sum", "a sum", command, "docs/evidence.md", 1, "long", **fields)


@pytest.mark.parametrize("page", figures.pages(), ids=lambda page: page.stem)
def test_a_page_shows_the_results_as_they_were_printed(page):
    text = page.read_text(encoding="utf-8")
    assert len(re.findall("<!-- figures?: ", text)) == len(figures.SHOWN.findall(text))
    assert figures.with_figures(text, KNOWN) == text, "run: python benchmarks/figures.py"


def test_every_figure_is_shown_once_on_the_page_that_the_registry_names():
    shown = [
        (name, str(page.relative_to(figures.ROOT)))
        for page in figures.pages()
        for _, names, _ in figures.SHOWN.findall(page.read_text(encoding="utf-8"))
        for name in names.split()
    ]
    assert sorted(shown) == sorted((one.name, one.page) for one in KNOWN.values())
    assert {path.stem for path in figures.RESULTS.iterdir()} <= set(KNOWN)


def test_the_headline_figures_take_at_most_an_hour_and_every_program_is_there():
    assert {one.kind for one in KNOWN.values()} == set(figures.KINDS)
    assert sum(one.minutes for one in KNOWN.values() if one.kind == "headline") <= 60
    for one in KNOWN.values():
        program = re.match(r"python (?:-m )?(\S+)", one.command)[1]
        path = program if program.endswith(".py") else f"{program.replace('.', '/')}.py"
        assert (figures.ROOT / path).is_file(), one.command


def test_every_result_names_its_command_its_version_and_its_day():
    source = r"\A\$ python .*\n# Parallax \d+\.\d+\.\d+ at \w+( with changes)?, \d+ \w+ 20\d\d"
    for path in figures.RESULTS.glob("*.txt"):
        assert re.match(source, path.read_text("utf-8")), path.name


def test_a_result_is_kept_below_its_source_and_a_failure_leaves_it(results, capfd):
    assert figures.run(figure("print(1 + 1)")) == ""
    kept = (results / "sum.txt").read_text()
    command, source, printed = kept.splitlines()
    assert command == "$ python -c 'print(1 + 1)'" and printed == "2"
    assert re.fullmatch(r"# Parallax .*; \d+ s; load [\d.]+ on \d+ cores", source)
    failed = figure("print(3); raise SystemExit(4)")
    assert figures.run_all([failed]) == {"sum": "exit code 4; it printed:\n3\n"}
    assert (results / "sum.txt").read_text() == kept


def test_a_result_without_a_line_for_its_page_is_a_failure_and_leaves_the_earlier_one(results):
    assert figures.run(figure("print('lost 0')", only="^lost")) == ""
    [reason] = figures.run_all([figure("print('gone 0')", only="^lost")]).values()
    assert reason == "no line is like '^lost', which the page shows; it printed:\ngone 0\n"
    assert (results / "sum.txt").read_text().endswith("\nlost 0\n")


def test_every_kept_result_has_a_line_for_its_page():
    kept = [one for one in KNOWN.values() if one.result.exists()]
    cells = {one.name: figures.row(one).split(" | ")[1] for one in kept}
    assert [name for name, result in cells.items() if not result.strip()] == []


def test_a_command_that_takes_too_long_is_stopped(results, monkeypatch):
    monkeypatch.setattr(figures, "_AT_LEAST_S", 0)
    monkeypatch.setattr(figures, "_LONGEST", 0.001)
    assert "were expected" in figures.run(figure("import time; time.sleep(600)"))
    assert not results.exists()


def test_a_figure_without_its_prerequisite_is_left_out_and_named(results, capsys):
    assert figures.run_all([figure("print(1)", needs="build/nothing")]) == {}
    assert "left out: it needs build/nothing" in capsys.readouterr().out
    assert not results.exists()


def test_a_table_of_markdown_is_shown_as_one_and_anything_else_in_a_fence(results):
    results.mkdir()
    shown = figure("pass")
    shown.result.write_text("$ python x\n# Parallax 1\n| a |\n|---|\n")
    assert figures.shown(shown) == "`python x` (Parallax 1):\n\n| a |\n|---|\n"
    shown.result.write_text("$ python x\n# Parallax 1\n2\n")
    assert figures.shown(shown) == "```text\n$ python x\n# Parallax 1\n2\n```\n"


def test_a_page_may_show_some_lines_of_a_long_result_and_says_where_the_others_are(results):
    results.mkdir()
    shown = figure("pass", only="^all")
    shown.result.write_text("$ python x\n# Parallax 1\none 1\nall 2\n")
    source = "# Parallax 1; every line is in results/sum.txt"
    assert figures.shown(shown).replace(results.parent.name + "/", "") == (
        f"```text\n$ python x\n{source}\nall 2\n```\n"
    )


def test_several_figures_are_the_rows_of_one_table(results):
    results.mkdir()
    measured, unmeasured = (
        figure("pass", only="^.?.?(lost|stuck)"),
        Figure("b", "no sum", "y", "", 1, "long"),
    )
    (results / "sum.txt").write_text(
        "$ python x\n# Parallax 1 at c0ffee, 1 May 2026; 3 s\nlost   0\nsent 7\n| stuck | 2 |\n"
    )
    page = figures.with_figures(
        "<!-- figures: sum b -->\n<!-- /figures -->", {"sum": measured, "b": unmeasured}
    )
    assert page.splitlines()[4:6] == [
        "| a sum | lost 0; stuck, 2 | `python x` | c0ffee, 1 May 2026 |",
        "| no sum | not measured yet | `y` | |",
    ]


def test_equal_lines_of_different_parts_are_all_shown(results):
    results.mkdir()
    printed = "post:\nrows 0\nfile:\nrows 0\nrows 0\n"
    (results / "sum.txt").write_text(f"$ python x\n# Parallax 1 at c0ffee, 1 May 2026\n{printed}")
    assert "| post:; rows 0; file:; rows 0 |" in figures.row(figure("pass"))


def test_an_unknown_name_is_refused(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["figures.py", "nothing"])
    with pytest.raises(SystemExit):
        figures.main()
    assert "no figure is called nothing" in capsys.readouterr().err
