"""Each command of docs/narrated_imports.md is run, and prints what the page says it prints."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.documentation.examples import ROOT, named_blocks

PAGE = (ROOT / "docs" / "narrated_imports.md").read_text("utf-8")
BLOCKS = {name: text for name, text in named_blocks(PAGE).items() if name.startswith("import-")}


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    made = tmp_path_factory.mktemp("imports") / "files"
    shutil.copytree(ROOT / "docs" / "examples" / "imports", made)
    return made


def output_of(command: str, folder: Path) -> str:
    arguments = [sys.executable, "-m", "parallax", *command.split()[1:]]
    found = subprocess.run(arguments, cwd=folder, check=False, capture_output=True, text=True)
    assert "Traceback" not in found.stderr
    return " ".join((found.stdout + found.stderr).split())


@pytest.mark.parametrize("name", BLOCKS)
def test_the_commands_of_the_page_print_what_it_says(name: str, folder: Path):
    output = ""
    for line in BLOCKS[name].splitlines():
        if line.startswith("$ "):
            output = output_of(line[2:], folder)
        else:
            assert " ".join(line.split()) in output


def test_the_page_shows_the_mapping_that_is_used():
    assert f"```toml\n{(ROOT / 'docs/examples/imports/batch.toml').read_text()}```" in PAGE
