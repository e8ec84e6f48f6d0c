"""The predictions of the BabyLM evaluation, in the forms of its three years, have no scores."""

import gzip
import json

import pytest

from analysis.errors import AnalysisError
from analysis.readers.babylm_predictions import refuse_predictions

SUBTASK = {"predictions": [{"id": "hypernym_0", "pred": " She has a dog."}]}
BY_TASK = {"glue": {}, "blimp": {"a": SUBTASK, "b": SUBTASK}, "ewok": {"c": SUBTASK}}
BY_LINE = [{"task": "blimp", "sub_task": name, **SUBTASK} for name in "abc"]


@pytest.mark.parametrize(
    ("name", "text", "tasks"),
    [
        ("p.json.gz", json.dumps(BY_TASK), r"blimp \(2\), ewok \(1\)"),
        ("p.json", json.dumps(BY_TASK), r"blimp \(2\), ewok \(1\)"),
        ("p.json", "\n".join(map(json.dumps, BY_LINE)), r"blimp \(3\)"),
    ],
)
def test_predictions_are_refused_with_what_they_lack(tmp_path, name, text, tasks):
    content = text.encode()
    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith("gz") else content)
    said = rf"predictions of the BabyLM.*{tasks}.*Missing is the log-probability.*lm benchmark"
    with pytest.raises(AnalysisError, match=said):
        refuse_predictions(tmp_path / name)


@pytest.mark.parametrize("text", ["[1, 2]", '{"blimp": {"a": {"acc": 1}}}', "\x1f\x8b", "{"])
def test_other_files_are_read_on(tmp_path, text):
    (tmp_path / "p.json").write_bytes(text.encode("latin-1"))
    refuse_predictions(tmp_path / "p.json")
