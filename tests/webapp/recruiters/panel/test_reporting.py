"""What a panel's server answers decides whether a report arrived, whatever the answer is."""

import pytest

from experiment.panels.table import Report
from webapp.recruiters.panel.reporting import _judge_answer
from webapp.recruiters.platform import PlatformError, PlatformUnreachable

pytestmark = pytest.mark.one_database
REPORT = Report.model_validate({"address": "https://panel.example/", "done": "stored"})


def test_an_answer_nested_too_deep_to_be_read_is_incomplete():
    with pytest.raises(PlatformUnreachable, match="incomplete"):
        _judge_answer(REPORT, 200, "[" * 60_000)
    with pytest.raises(PlatformError, match="200 \\[\\]"):
        _judge_answer(REPORT, 200, "[]")
    assert _judge_answer(REPORT, 200, "it is stored") == "200 it is stored"
