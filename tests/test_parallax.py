"""The shell's door: the main job, and errors as one paragraph with exit code 2."""

import gc
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from parallax import main
from tests.patience import PATIENCE_S

ROOT = Path(__file__).parent.parent


def parallax(*arguments: str, instance: Path) -> subprocess.CompletedProcess[str]:
    # Each of a server's processes reads the application anew: one will do.
    own = {"PARALLAX_INSTANCE": str(instance), "PARALLAX_WORKERS": "1"}
    environment = {**os.environ, **own}
    return subprocess.run(
        [sys.executable, "-m", "parallax", *arguments],
        cwd=ROOT, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.fixture(scope="module")
def main_job(tmp_path_factory: pytest.TempPathFactory):
    instance = tmp_path_factory.mktemp("instance")
    return instance, parallax("demo", "minimal", "--port", "0", instance=instance)


def test_the_main_job_ends_with_the_table_the_report_and_what_to_do_next(main_job):
    instance, done = main_job
    assert done.returncode == 0, done.stderr
    assert "Table 1" in done.stdout
    assert "SIMULATED PARTICIPANTS" in done.stdout
    (report,) = instance.glob("studies/minimal-*/report/report.html")
    assert str(report) in done.stdout
    assert "parallax demo minimal --keep" in done.stdout
    assert "parallax stop" in done.stdout
    n_commands = len(re.findall(r"^\$ parallax ", done.stdout, re.MULTILINE))
    assert len(re.findall(r"^\(\d+\.\d s\)$", done.stdout, re.MULTILINE)) == n_commands > 5


def test_the_main_job_leaves_no_server_running(main_job):
    instance, _ = main_job
    stopped = parallax("stop", instance=instance)
    assert stopped.returncode == 2
    assert "no server is running in the background" in stopped.stderr


def test_a_second_call_reuses_everything_and_keep_leaves_the_server_on_with_a_link(main_job):
    import httpx

    instance, first = main_job
    kept = parallax("demo", "minimal", "--port", "0", "--keep", instance=instance)
    try:
        assert kept.returncode == 0, kept.stderr
        assert re.findall(r"\$ parallax \w+", kept.stdout) == [
            "$ parallax serve",
            "$ parallax launch",
        ]
        table = kept.stdout[kept.stdout.index("Table 1") :]
        assert table.partition("\n\n/")[0] in first.stdout
        link = kept.stdout.partition("To try it yourself: ")[2].split()[0]
        page = httpx.get(link, trust_env=False, timeout=PATIENCE_S)
        assert page.status_code == 200
        assert "SIMULATED" not in page.text.upper()
        # The link is for whoever gave the command; participants still have none.
        assert "There is no link for participants yet" in kept.stdout
    finally:
        assert parallax("stop", instance=instance).returncode == 0


def test_items_and_rows_that_stay_start_no_search_for_garbage(monkeypatch: pytest.MonkeyPatch):
    searches: list[str] = []

    def note(phase: str, _: dict[str, int]) -> None:
        searches.append(phase)

    def make_many() -> None:
        gc.collect(0)
        gc.callbacks.append(note)
        rows = [[number] for number in range(40_000)]
        gc.callbacks.remove(note)
        assert len(rows) == 40_000

    monkeypatch.setattr("parallax.cli", make_many)
    before = gc.get_threshold()
    gc.set_threshold(700, 10, 10)
    try:
        main()
    finally:
        gc.set_threshold(*before)
    assert not searches


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["demo", "marvin_linzen_2019"], 'Did you mean "marvin_linzen_2018"?'),
        (["lists", "build", "no/such/folder", "--seed", "1", "--out", "x"], "there is no study"),
        (["export", "nowhere"], "there is no installation here, and nothing was made"),
        (["lm", "score", "nowhere", "minimal", "--out", "s.parquet"], "nowhere"),
        (["compare", "--run", "nowhere", "--scores", "s.parquet", "--out", "x"], "nowhere"),
        (["materials", "check", "nowhere.csv"], "nowhere.csv"),
    ],
)
def test_what_a_user_can_mend_is_one_paragraph_and_exit_code_2(
    arguments: list[str],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    monkeypatch.setenv("PARALLAX_INSTANCE", str(tmp_path))
    monkeypatch.setattr(sys, "argv", ["parallax", *arguments])
    with pytest.raises(SystemExit) as refused:
        main()
    assert refused.value.code == 2
    printed = capsys.readouterr().err
    assert said in printed
    assert len(printed.strip().splitlines()) == 1


def test_a_read_only_instance_folder_is_refused(tmp_path: Path):
    (tmp_path / "file").write_text("not a folder")
    refused = parallax("runs", instance=tmp_path / "file" / "instance")
    assert refused.returncode == 2
    assert "the instance folder cannot be used" in refused.stderr
    assert "Traceback" not in refused.stderr


def test_help_lists_every_command(tmp_path: Path):
    helped = parallax("--help", instance=tmp_path)
    assert helped.returncode == 0
    assert all(
        f"\n  {name} " in helped.stdout for name in ("lists", "serve", "compare", "study", "demo")
    )
