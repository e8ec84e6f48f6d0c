"""Our look-up agrees with KenLM's on one ARPA file, and with numbers that KenLM once gave."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from lm.errors import LmError
from lm.registry import load_scorer
from tests.prerequisites import KENLM

GOLDEN = Path(__file__).with_name("kenlm_scores.json")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("models")


def model(folder: Path, type_: str) -> Path:
    path = folder / type_
    path.mkdir()
    (path / "model.arpa").write_bytes(GOLDEN.with_name("kenlm_scores.arpa").read_bytes())
    (path / "config.json").write_text(json.dumps({"type": type_}))
    return path


def golden() -> tuple[list[tuple[str, str]], list[dict[str, list[float]]]]:
    entries = json.loads(GOLDEN.read_text())
    return [(entry["context"], entry["text"]) for entry in entries], entries


@pytest.mark.parametrize("type_", ["ngram", "kenlm"])
def test_the_scores_are_those_that_kenlm_gave(tmp_path: Path, type_: str):
    if type_ == "kenlm":
        KENLM.require()
    requests, entries = golden()
    scored = load_scorer(model(tmp_path, type_)).score(requests)
    for scores, entry in zip(scored, entries, strict=True):
        assert scores.logprobs_nats.tolist() == pytest.approx(entry["logprobs_nats"], abs=1e-5)
        assert scores.unknown.tolist() == entry["unknown"]


def test_both_readers_agree_on_contexts_seen_and_unseen(tmp_path: Path):
    KENLM.require()
    rng = np.random.default_rng(4)
    words = [f"w{n}" for n in range(1, 40)] + ["</s>", "<unk>", "<s>", "never"]
    requests = [
        (" ".join(rng.choice(words, rng.integers(0, 5))), " ".join(rng.choice(words, 6)))
        for _ in range(500)
    ]
    ours = load_scorer(model(tmp_path, "ngram")).score(requests)
    theirs = load_scorer(model(tmp_path, "kenlm")).score(requests)
    for one, other in zip(ours, theirs, strict=True):
        assert one.tokens == other.tokens
        assert one.unknown.tolist() == other.unknown.tolist()
        assert one.logprobs_nats.tolist() == pytest.approx(other.logprobs_nats.tolist(), abs=1e-5)


def test_a_folder_without_a_model_is_refused(tmp_path: Path):
    (tmp_path / "config.json").write_text('{"type": "kenlm"}')
    with pytest.raises(LmError, match=r"holds none of model\.binary"):
        load_scorer(tmp_path)


def test_without_kenlm_the_remedy_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "kenlm", None)
    with pytest.raises(LmError, match='write "type": "ngram"'):
        load_scorer(model(tmp_path, "kenlm"))


def test_a_damaged_model_is_refused(tmp_path: Path):
    KENLM.require()
    folder = model(tmp_path, "kenlm")
    (folder / "model.arpa").write_text("nothing")
    with pytest.raises(LmError, match="KenLM cannot read"):
        load_scorer(folder)
