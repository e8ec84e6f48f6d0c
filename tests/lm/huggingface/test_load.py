"""In which form a model is loaded: precision, quantised weights, devices, memory, long texts."""

import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from transformers import modeling_utils

from lm import weights
from lm.errors import LmError
from lm.huggingface import load
from lm.huggingface.encoding import Row, count_context_tokens, windows
from lm.huggingface.scorer import HfScorer
from lm.registry import load_scorer
from lm.weights import Dtype, Weights, bytes_needed, n_weights, refuse_too_large
from tests.lm.toy_models import causal_folder, masked_folder, ngram_folder, recurrent

TEXT = "the cat sees the cats"
GIB = 2**30


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models") / "hf"
    causal_folder(folder)
    return folder


def test_weights_are_of_the_precision_that_is_named(model: Path):
    half = load_scorer(model, "cpu", how=Weights(dtype="bfloat16"))
    assert isinstance(half, HfScorer)
    assert {one.dtype for one in half.model.parameters()} == {torch.bfloat16}
    [rounded] = half.score([("", TEXT)])
    assert "not float32" in half.packing_fault
    [exact] = load_scorer(model, "cpu").score([("", TEXT)])
    distance = np.abs(rounded.logprobs_nats - exact.logprobs_nats)
    assert 0 < distance.max() < 0.3
    assert any("loaded as bfloat16" in note for note in half.notes)


@pytest.mark.parametrize(("dtype", "alone"), [("float32", False), ("bfloat16", True)])
def test_weights_that_are_converted_are_read_one_by_one(
    model: Path, monkeypatch: pytest.MonkeyPatch, dtype: Dtype, alone: bool
):
    opened, backends = modeling_utils.safe_open, list[object]()

    def watching(*arguments: object, **options: object) -> object:
        backends.append(options.get("backend"))
        return opened(*arguments, **options)

    monkeypatch.setattr(modeling_utils, "safe_open", watching)
    loaded = load_scorer(model, "cpu", how=Weights(dtype)).model.state_dict()
    assert backends and {one == "pread" for one in backends} == {alone}
    assert modeling_utils.safe_open is watching
    [file] = model.rglob("*.safetensors")
    for name, stored in load_file(file).items():
        assert torch.equal(loaded[name], stored.to(getattr(torch, dtype)))


def test_quantised_weights_are_refused_on_a_processor_in_a_paragraph(model: Path):
    with pytest.raises(LmError, match=r"--bits 4 needs a CUDA device.*--dtype bfloat16"):
        load_scorer(model, "cpu", how=Weights(bits=4))


def test_a_library_that_is_missing_is_named(model: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "accelerate", None)
    with pytest.raises(LmError, match="library accelerate, which is not installed"):
        load_scorer(model, "cpu", how=Weights(device_map="auto"))
    monkeypatch.setitem(sys.modules, "bitsandbytes", None)
    with pytest.raises(LmError, match="library bitsandbytes, which is not installed"):
        load._choose_loading_options(Weights(bits=8), torch.device("cuda"))


@pytest.mark.parametrize("write", [ngram_folder, recurrent()])
def test_other_models_have_one_form(write, tmp_path: Path):
    write(tmp_path / "model")
    with pytest.raises(LmError, match="has a single form"):
        load_scorer(tmp_path / "model", how=Weights(dtype="bfloat16"))


def test_a_model_that_does_not_fit_is_refused_before_it_is_read(
    model: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(load, "available_bytes", lambda: 1000)
    with pytest.raises(LmError, match=r"Nothing was loaded\. No form of it fits"):
        load_scorer(model, "cpu")


def test_what_would_fit_is_said():
    with pytest.raises(
        LmError, match=r"29\.8 GiB .* 20\.0 GiB are free.* --dtype bfloat16"
    ) as said:
        refuse_too_large("m", 7_270_000_000, Weights(), 20 * GIB, cuda=False)
    assert "--bits" not in str(said.value)
    with pytest.raises(LmError, match=r"with --bits 4 \(4\.8 GiB\)\."):
        refuse_too_large("m", 7_270_000_000, Weights(), 6 * GIB, cuda=True)
    refuse_too_large("m", 7_270_000_000, Weights(dtype="bfloat16"), 20 * GIB, cuda=False)


def test_weights_are_counted_without_reading_them(model: Path):
    parameters = load_scorer(model).model.state_dict()
    n = n_weights(model / "weights")
    own = {tensor.data_ptr(): tensor.numel() for tensor in parameters.values()}
    assert n == sum(own.values())
    assert bytes_needed(n, Weights()) > bytes_needed(n, Weights(dtype="float16"))


def test_this_machine_says_how_much_memory_it_has():
    assert 0 < weights.available_bytes() < 2**50


@pytest.mark.parametrize(
    ("n", "window", "n_context"), [(7, 8, 1), (40, 8, 1), (41, 9, 20), (9, 8, 3)]
)
def test_windows_ask_every_token_once_after_enough_others(n: int, window: int, n_context: int):
    ids = tuple(range(100, 100 + n))
    row = Row(ids, tuple(range(n_context - 1, n)), tuple(range(101 + n_context - 1, 101 + n)))
    found = list(windows(row, window, 100))
    assert [one for part in found for one in part.wanted] == list(row.wanted)
    for part in found:
        assert part.ids[0] == 100 and len(part.ids) < window
        for place, wanted in zip(part.places, part.wanted, strict=True):
            # What is read last is the token before the one that is asked for.
            assert part.ids[place] in (wanted - 1, 100)
            assert place >= min(count_context_tokens(window), wanted - 101)
    assert (len(found) == 1) == (n < window)


def test_long_texts_are_read_in_windows_where_that_is_asked_for(model: Path):
    text = " ".join(["the cat sees the cats ."] * 12)
    with pytest.raises(LmError, match="reads 32 tokens at most"):
        load_scorer(model).score([("", text)])
    sliding = load_scorer(model, how=Weights(long_texts="slide"))
    [scores] = sliding.score([("", text)])
    assert len(scores.logprobs_nats) == 72
    short = " ".join(text.split()[:31])
    [alone] = sliding.score([("", short)])
    assert scores.logprobs_nats[:31] == pytest.approx(alone.logprobs_nats, abs=1e-4)
    assert any("several windows" in note for note in sliding.notes)
    sliding.packing = False
    [plain] = sliding.score([("", text)])
    assert plain.logprobs_nats == pytest.approx(scores.logprobs_nats, abs=1e-4)


def test_masked_models_do_not_slide(tmp_path: Path):
    masked_folder(tmp_path / "model")
    sliding = load_scorer(tmp_path / "model", how=Weights(long_texts="slide"))
    with pytest.raises(LmError, match="reads 32 tokens at most"):
        sliding.score([("", "the cat " * 40)])
