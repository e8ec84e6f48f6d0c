"""What tests need is got where it can be; what is absent is said, and what it cost is counted."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import prerequisites

ROOT = Path(__file__).parent.parent
RUN_TESTS = str(ROOT / "tests" / "programs" / "run_tests.py")
THREE_TESTS = """
import pytest
from tests.prerequisites import CHROMIUM

@pytest.mark.parametrize("number", range(2))
def test_of_the_browser(number):
    CHROMIUM.require()

def test_of_data():
    pytest.skip("published data are elsewhere")

def test_of_nothing_else():
    pass
"""


@pytest.fixture
def bare(tmp_path: Path) -> dict[str, str]:
    """The environment of a machine without a browser, and without a way to get one."""
    nowhere = dict.fromkeys(("PATH", "PLAYWRIGHT_BROWSERS_PATH"), str(tmp_path))
    no_web = {"PLAYWRIGHT_DOWNLOAD_HOST": "http://127.0.0.1:9"}
    # Reading the plugins that are installed would take as long as all else.
    plain = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    return {**os.environ, **nowhere, **no_web, **plain, "CHROMIUM_PATH": "", "PYTEST_ADDOPTS": ""}


def run(environment: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)


def run_tests(folder: Path, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    (folder / "test_three.py").write_text(THREE_TESTS)
    (folder / "pytest.ini").write_text("[pytest]\n")
    return run(
        environment, RUN_TESTS, "-p", "tests.conftest", "--rootdir", str(folder), str(folder)
    )


def test_what_is_absent_is_said_first_and_last_with_the_number_of_tests_it_cost(tmp_path, bare):
    done = run_tests(tmp_path, {**bare, "CI": ""})
    assert done.returncode == 0, done.stdout + done.stderr
    first, _, last = done.stdout.partition("test_three.py")
    assert "ABSENT: Chromium is not installed" in first
    assert "3 tests were skipped" in last
    assert "    2  Chromium is not installed" in last
    assert "    1  published data are elsewhere" in last
    assert last.count("  test_three.py") == 2


def test_on_ci_a_test_skipped_for_what_can_be_installed_fails_the_run(tmp_path, bare):
    done = run_tests(tmp_path, {**bare, "CI": "true"})
    assert done.returncode == pytest.ExitCode.TESTS_FAILED
    assert "CI=true, so this is a failure: Chromium is not installed" in done.stdout
    assert "failure: published data" not in done.stdout


def test_what_failed_is_repeated_alone_unless_the_run_is_refused_for_its_skips(tmp_path, bare):
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    once = "import pathlib\ndef test_that_fails_once():\n    was = pathlib.Path('was')\n"
    once += "    before = was.exists()\n    was.touch()\n    assert before\n"
    (tmp_path / "test_once.py").write_text(once)
    common = ("-p", "tests.conftest", "--rootdir", str(tmp_path), str(tmp_path))
    again = (*common, "--last-failed", "--last-failed-no-failures=none")
    environment = {**bare, "CI": "true"}

    def both() -> list[int]:
        (tmp_path / "was").unlink(missing_ok=True)
        command = [sys.executable, RUN_TESTS]
        return [
            subprocess.run([*command, *asked], cwd=tmp_path, env=environment).returncode
            for asked in (common, again)
        ]

    assert both() == [pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.OK]
    (tmp_path / "test_three.py").write_text(THREE_TESTS)
    assert both() == [pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.NO_TESTS_COLLECTED]


def test_what_cannot_be_had_is_named_and_stops_nothing(bare):
    done = run(bare, "-m", "tests.prerequisites")
    assert done.returncode == 0, done.stderr
    assert "playwright install chromium' failed: Error" in done.stdout
    assert "Chromium: ABSENT" in done.stdout
    # What is not fetched is said too, with the way to get it.
    by_hand = "pdfLaTeX: ABSENT, the tests that need it are skipped (apt-get install texlive"
    assert by_hand in done.stdout
    assert "texlive" not in done.stdout.partition("Chromium: ABSENT")[0]


def test_a_skip_promises_no_fetching_where_nothing_is_fetched():
    assert "make test tries to get it" in prerequisites.POSTGRESQL.absent
    assert prerequisites.LATEX.absent == (
        "pdfLaTeX is not installed (apt-get install texlive-latex-recommended)"
    )


def test_what_is_there_is_left_alone(tmp_path):
    browser = tmp_path / "chromium"
    browser.touch()
    done = run({**os.environ, "CHROMIUM_PATH": str(browser)}, "-m", "tests.prerequisites")
    assert f"Chromium: {browser}" in done.stdout
    assert "environment ..." not in done.stdout


def test_a_node_comes_with_playwright(bare, monkeypatch):
    monkeypatch.setenv("PATH", bare["PATH"])
    found = prerequisites.NODE.require()
    version = subprocess.run([found, "--version"], capture_output=True, text=True, check=True)
    assert version.stdout.startswith("v")


def test_r_with_lme4_is_got_where_there_is_root_without_what_it_recommends(monkeypatch):
    commands: list[list[str]] = []
    monkeypatch.setattr(prerequisites.os, "geteuid", lambda: 0)
    monkeypatch.setattr(prerequisites.shutil, "which", lambda _: "apt-get")
    monkeypatch.setattr(prerequisites, "_try", lambda command, _: commands.append(command))
    prerequisites.get([prerequisites.LME4, prerequisites.NGINX])
    assert commands[1:] == [
        ["apt-get", "install", "-y", "-qq", "--no-install-recommends", "r-cran-lme4"],
        ["apt-get", "install", "-y", "-qq", "nginx"],
    ]
    assert prerequisites.LME4 in prerequisites.WISHED
