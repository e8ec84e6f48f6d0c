"""The command, and the script of the page that describes it."""

import os
import re
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from click.testing import CliRunner

import parallax
from marketplace.errors import MarketplaceError
from marketplace.storage import open_folder
from tests.patience import PATIENCE_S

ROOT = Path(__file__).parents[2]


def test_nothing_but_a_loopback_address_is_taken_unasked(tmp_path):
    for host in ("0.0.0.0", "192.168.1.5", "::", "example.org"):
        result = CliRunner().invoke(
            parallax.cli, ["marketplace", "--host", host, "--folder", str(tmp_path / "m")]
        )
        assert result.exit_code == 2
        assert "--public" in result.output
    assert not (tmp_path / "m").exists()


def test_a_folder_that_cannot_be_written_to_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(MarketplaceError) as caught:
        open_folder(tmp_path)
    assert str(caught.value) == (
        f"{tmp_path}: the folder of the marketplace's state cannot be used: it is read-only."
        " Expected a folder this user may write to. Give another folder with --folder."
    )


def test_a_balance_is_money():
    for balance in ("ten", "-1", "1.505", "1e3", "NaN"):
        result = CliRunner().invoke(parallax.cli, ["marketplace", "--balance", balance])
        assert result.exit_code == 2
        assert "is not an amount of money" in result.output


@pytest.mark.parametrize(
    ("platform", "how"),
    [
        ("mturk", "endpoint_url='{url}'"),
        ("prolific", "{url}/api/v1 with the header Authorization: Token any"),
    ],
)
def test_the_command_answers_says_how_to_use_it_and_ends(tmp_path, platform, how):
    command = [sys.executable, "-m", "parallax", "marketplace", "--platform", platform]
    command += ["--port", "0", "--balance", "12.50"]
    with subprocess.Popen(
        [*command, "--folder", str(tmp_path / "m")], cwd=ROOT, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        try:
            lines = [process.stdout.readline() for _ in range(4)]
            url = re.search(r"http://127\.0\.0\.1:\d+", lines[0])[0]
            assert how.format(url=url) in lines[1]
            assert "sign in" in "".join(lines)
            assert "Sign in" in httpx.get(url, trust_env=False, timeout=PATIENCE_S).text
        finally:
            process.terminate()
        assert process.wait(timeout=PATIENCE_S) == 0
        assert "Traceback" not in process.stderr.read()


def test_the_pages_script_publishes_approves_and_pays_a_bonus(market, capsys):
    page = (ROOT / "docs" / "marketplace.md").read_text(encoding="utf-8")
    script = re.search(r"```python\n(.*?)```", page, re.DOTALL)[1]
    script = script.replace("http://127.0.0.1:8100", market.url)
    publish, review = script.split("pages = ")
    names: dict[str, object] = {}
    exec(publish, names)
    assert capsys.readouterr().out == "Assignable 9998.20\n"
    worker = market.worker()
    worker.work(names["hit"])
    exec(f"pages = {review}", names)
    assert worker.facts("/work")["earned_cents"] == 60
