"""Options that contradict each other are refused before anything is opened."""

import pytest
from click.testing import CliRunner

import parallax

WRONG = {
    "compensate RUN": "Give either PARTICIPANT or --worker, not both.",
    "compensate RUN ann --worker W": "Give either PARTICIPANT or --worker, not both.",
    "compensate RUN ann --withdraw --amount 1": "--withdraw takes an offer back and cannot be",
    "compensate RUN ann --amount 1": "Give --amount and a --reason of 1 to",
    "approve RUN --undo-rejection": "--undo-rejection needs --only WHO, which says whose rejection",
    "settle RUN 7": "Give either --paid or --not-paid.",
}


@pytest.mark.parametrize("line", WRONG)
def test_options_that_contradict_each_other_are_a_usage_error(line, tmp_path):
    (tmp_path / "parallax.sqlite3").touch()
    words = [*line.split(), "--instance", str(tmp_path)]
    done = CliRunner().invoke(parallax.cli, words)
    assert done.exit_code == 2 and WRONG[line] in " ".join(done.output.split())
    assert [file.name for file in tmp_path.iterdir()] == ["parallax.sqlite3"]


@pytest.mark.parametrize("command", [
    ("users", "owner-link"), ("users", "list"), ("runs",), ("close", "r1"),
    ("db", "backup", "file"), ("approve", "r1"), ("forget", "A1", "--yes"),
    ("keys", "list"), ("projects", "list"),
])  # fmt: skip
def test_a_mistyped_folder_is_refused_and_nothing_is_made_there(tmp_path, command):
    missing = tmp_path / "instnace"
    result = CliRunner().invoke(parallax.cli, [*command, "--instance", str(missing)])
    assert str(result.exception) == (
        f"{missing}: there is no installation here, and nothing was made. Expected the database"
        f" {missing}/parallax.sqlite3. Name the installation's folder with --instance or"
        " PARALLAX_INSTANCE; parallax launch STUDY, parallax serve and parallax users add create"
        " one."
    )
    assert not missing.exists()
