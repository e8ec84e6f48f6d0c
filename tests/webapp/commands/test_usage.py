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
    words = [*line.split(), "--instance", str(tmp_path / "none")]
    done = CliRunner().invoke(parallax.cli, words)
    assert done.exit_code == 2 and WRONG[line] in " ".join(done.output.split())
    assert not list(tmp_path.iterdir())
