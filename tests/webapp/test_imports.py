"""What every command and server waits for: the libraries that few of them need are not loaded."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SELDOM = ("alembic", "langcodes", "pandas", "torch", "scipy", "boto3", "pyarrow", "openpyxl")
ANALYSIS = ("torch", "pandas", "scipy", "matplotlib")


@pytest.fixture(scope="module")
def loaded(tmp_path_factory) -> dict[str, list[str]]:
    """Which of the libraries are loaded after each module is, one after the other."""
    looked_for = sorted({"flask", "psycopg", *SELDOM, *ANALYSIS})
    steps = ("webapp", "webapp.app", "wsgi")
    told = f"print(*(name for name in {looked_for} if name in sys.modules))"
    program = "\n".join(["import sys", *(f"import {step}; {told}" for step in steps)])
    environment = {**os.environ, "PARALLAX_INSTANCE": str(tmp_path_factory.mktemp("instance"))}
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT, env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return dict(zip(steps, map(str.split, done.stdout.splitlines()), strict=True))


def test_a_start_loads_no_library_that_few_commands_need(loaded):
    assert not {"flask", *SELDOM} & set(loaded["webapp"])
    assert {"flask", *SELDOM} & set(loaded["webapp.app"]) == {"flask"}


def test_the_app_imports_no_driver_before_its_requests_take_turns(loaded):
    assert "psycopg" not in loaded["webapp.app"]


def test_serving_needs_no_library_of_the_analysis(loaded):
    assert not set(ANALYSIS) & set(loaded["wsgi"])
