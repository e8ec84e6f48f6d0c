"""Publishing and steering from the shell, and simulated workers through the marketplace."""

import shutil

import pytest
from click.testing import CliRunner

import parallax
from experiment.studies.load import STUDIES_FOLDER
from webapp.commands import recruitment
from webapp.errors import RunError, WebappError
from webapp.recruiters.platform import PlatformError, PlatformUnreachable
from webapp.recruitment.poll import PollResult

pytestmark = pytest.mark.one_database


@pytest.fixture
def shell(instance):
    """Return a function that runs a command and gives what it printed; errors are raised."""
    runner = CliRunner(env={"PARALLAX_INSTANCE": str(instance)})

    def run(*arguments: str, typed: str = "") -> str:
        return runner.invoke(parallax.cli, arguments, input=typed, catch_exceptions=False).output

    return run


def test_the_cost_is_shown_and_asked_for_before_anything_is_published(shell, run, platform):
    before = platform.balance_minor()
    shown = shell("publish", run.ref, typed="n\n")
    assert "$1.60" in shown and "$0.32" in shown and "$1.92" in shown and "$12.00" in shown
    assert "Publish this?" in shown and "Aborted" in shown
    assert "places to fill                 8" in shell("publish", run.ref, typed="n\n")
    assert platform.balance_minor() == before


def test_a_dry_run_prints_every_request_and_makes_none(shell, run, platform):
    before = platform.balance_minor()
    shown = shell("publish", run.ref, "--dry-run")
    assert "CreateQualificationType {" in shown
    assert '"QualificationTypeId": "(the id of the qualification)"' in shown
    assert "CreateHITType {" in shown and '"Reward": "0.20"' in shown
    assert "CreateHITWithHITType {" in shown and '"MaxAssignments": 8' in shown
    assert f"/run/{run.ref}</ExternalURL>" in shown
    assert "places to fill                 8" in shell("publish", run.ref, "--dry-run")
    assert platform.balance_minor() == before


def test_a_run_is_published_seen_paused_and_resumed(shell, run):
    assert "8 places" in shell("publish", run.ref, "--yes")
    assert "offered or being worked on" in shell("publish", run.ref, "--yes")
    assert "8       8     0        0          0" in shell("recruitment", "status", run.ref)
    assert "1 offers have ended" in shell("recruitment", "pause", run.ref)
    assert "  over" in shell("recruitment", "status", run.ref)
    again = shell("publish", run.ref, "--yes")
    assert "offers to open again" in again and "$1.92" in again
    assert "1 offers can be found until" in shell("recruitment", "extend", run.ref, "--hours", "9")
    assert "0 newly submitted" in shell("recruitment", "poll", run.ref)


def test_polling_again_and_again_outlives_a_fault_of_the_platform(shell, run, monkeypatch):
    news, rests = recruitment.poll_run, iter([True, True, False])

    def faulty_the_second_time(*arguments: object) -> PollResult:
        calls.append(len(calls))
        if calls[-1] == 1:
            raise PlatformUnreachable("received too many requests")
        return news(*arguments)

    def rest(_seconds: int) -> None:
        if not next(rests):
            raise KeyboardInterrupt

    calls: list[int] = []
    shell("publish", run.ref, "--yes")
    monkeypatch.setattr(recruitment, "poll_run", faulty_the_second_time)
    monkeypatch.setattr(recruitment.time, "sleep", rest)
    shown = shell("recruitment", "poll", run.ref, "--every", "60")
    assert calls == [0, 1, 2]
    assert "received too many requests" in shown and shown.count("0 newly submitted") == 2


def test_too_small_a_balance_is_refused_before_anything_is_published(shell, run, control):
    control("deposit", cents=-999_900)
    with pytest.raises(RunError, match=r"balance of \$1.00 is too small.*\$1.92"):
        shell("publish", run.ref, "--yes")
    assert "places to fill                 8" in shell("publish", run.ref, "--dry-run")


def test_a_study_that_says_no_terms_is_not_published(shell, tmp_path):
    study = tmp_path / "minimal"
    shutil.copytree(STUDIES_FOLDER / "minimal", study)
    text = (study / "study.toml").read_text("utf-8")
    start, end = text.index("[recruitment]"), text.index("# The rows of the results")
    (study / "study.toml").write_text(text[:start] + text[end:], encoding="utf-8")
    shown = shell("launch", str(study), "--seed", "1", "--recruiter", "mturk")
    ref = shown.split("Run ")[1].split()[0]
    with pytest.raises(RunError, match=r"a table \[recruitment\]"):
        shell("publish", ref, "--yes")


def test_a_run_without_a_platform_is_not_published(shell):
    shown = shell("launch", "minimal", "--seed", "1")
    with pytest.raises(RunError, match="neither publishes runs"):
        shell("publish", shown.split("Run ")[1].split()[0])


def test_what_was_not_published_cannot_be_steered(shell, run):
    with pytest.raises(RunError, match="parallax publish"):
        shell("recruitment", "status", run.ref)


def test_simulated_workers_are_kept_from_real_platforms(shell, monkeypatch):
    shown = shell("launch", "minimal", "--seed", "1", "--recruiter", "mturk", "--simulated")
    assert "Simulated participants come to" in shown
    monkeypatch.setenv("PARALLAX_MTURK_ENDPOINT", "sandbox")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    with pytest.raises(RunError, match="is for people"):
        shell("publish", shown.split("Run ")[1].split()[0], "--yes")


def test_live_is_refused_without_the_flag_and_http_with_it(shell, run, monkeypatch):
    monkeypatch.setenv("PARALLAX_MTURK_ENDPOINT", "live")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    with pytest.raises(WebappError, match="30 September 2026"):
        shell("publish", run.ref, "--yes")
    with pytest.raises(RunError, match="https://"):
        shell("publish", run.ref, "--yes", "--live")


def test_without_credentials_nothing_is_published(shell, run, monkeypatch, tmp_path):
    monkeypatch.setenv("PARALLAX_MTURK_ENDPOINT", "sandbox")
    monkeypatch.setenv("PARALLAX_PUBLIC_URL", "https://study.example")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    for name in ("AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE"):
        monkeypatch.setenv(name, str(tmp_path / "nothing"))
    with pytest.raises(PlatformError, match="AWS_ACCESS_KEY_ID"):
        shell("publish", run.ref, "--yes")
