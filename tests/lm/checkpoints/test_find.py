"""Checkpoints in folders and as revisions, their tokens, and what is refused."""

import json
from pathlib import Path

import huggingface_hub
import pytest
import torch

from lm.checkpoints.find import find_in_folder, find_revisions, refuse_half_written
from lm.errors import LmError
from lm.model_folder import split_revision
from tests.lm.toy_models import recurrent


def write_own(root: Path, seen: dict[str, int]) -> Path:
    """Write a training of ours with its checkpoints."""
    (root / "checkpoints").mkdir(parents=True)
    for name, tokens in seen.items():
        folder = root / "checkpoints" / name
        recurrent()(folder)
        config = json.loads((folder / "config.json").read_text())
        further = {"name": "LSTM", "tokens_seen": tokens, "training": {"seed": 3}}
        (folder / "config.json").write_text(json.dumps(config | further))
    return root


def write_hf(root: Path, steps: dict[int, dict[str, object]]) -> Path:
    """Write folders as the Trainer of Hugging Face does, with weights of no number."""
    for step, state in steps.items():
        folder = root / f"checkpoint-{step}"
        folder.mkdir(parents=True)
        (folder / "config.json").write_text("{}")
        (folder / "trainer_state.json").write_text(json.dumps(state))
        (folder / "model.safetensors").write_bytes((2).to_bytes(8, "little") + b"{}")
    return root


def test_checkpoints_of_ours_are_ordered_by_the_tokens_in_their_files(tmp_path: Path):
    root = write_own(tmp_path / "model", {"step16": 1600, "step2": 200, "step0": 0})
    (root / "checkpoints" / "notes").mkdir()
    trained = find_in_folder(str(root))
    assert (trained.name, trained.seed, trained.label) == ("LSTM", "3", "LSTM, seed 3")
    assert [(c.name, c.tokens_seen) for c in trained.checkpoints] == [
        ("step0", 0),
        ("step2", 200),
        ("step16", 1600),
    ]


def test_tokens_of_hugging_face_folders_are_counted_or_computed(tmp_path: Path):
    counted = write_hf(
        tmp_path / "gpt-seed2",
        {500: {"num_input_tokens_seen": 512_000}, 9: {"num_input_tokens_seen": 9_216}},
    )
    trained = find_in_folder(f"hf:{counted}")
    assert (trained.name, trained.seed) == ("gpt", "2")
    assert [c.tokens_seen for c in trained.checkpoints] == [9_216, 512_000]
    assert trained.checkpoints[0].model == f"hf:{counted}/checkpoint-9"
    uncounted = write_hf(tmp_path / "other", {500: {"num_input_tokens_seen": 0}, 1000: {}})
    by_step = find_in_folder(f"hf:{uncounted}", tokens_per_step=10)
    assert [c.tokens_seen for c in by_step.checkpoints] == [5_000, 10_000]
    with pytest.raises(LmError, match="has seen is not known"):
        find_in_folder(f"hf:{uncounted}")


def test_a_damaged_state_of_the_trainer_is_named(tmp_path: Path):
    root = write_hf(tmp_path / "gpt", {5: {}, 6: {}})
    for damaged in ("{", "[]"):
        (root / "checkpoint-6" / "trainer_state.json").write_text(damaged)
        with pytest.raises(LmError, match=r"trainer_state\.json is not a JSON object .* Remove"):
            find_in_folder(f"hf:{root}", 7)


def test_one_checkpoint_is_no_course(tmp_path: Path):
    root = write_own(tmp_path / "model", {"step2": 200})
    with pytest.raises(LmError, match=r"only step2 was found\. Expected two or more checkpoints"):
        find_in_folder(str(root))
    with pytest.raises(LmError, match=r"nothing .*no checkpoint was found"):
        find_in_folder(str(tmp_path / "nothing"))
    twice = write_own(tmp_path / "twice", {"step2": 200, "step4": 200})
    with pytest.raises(LmError, match="step2 and step4 have both seen 200 tokens"):
        find_in_folder(str(twice))


def test_a_half_written_checkpoint_is_named(tmp_path: Path):
    root = write_own(tmp_path / "model", {"step2": 200, "step4": 400})
    weights = root / "checkpoints" / "step4" / "weights.safetensors"
    weights.write_bytes(weights.read_bytes()[:-40])
    with pytest.raises(LmError, match=r"step4 is half-written: weights.safetensors cannot be read"):
        find_in_folder(str(root))
    weights.unlink()
    with pytest.raises(LmError, match="step4 is half-written: its weights are missing"):
        find_in_folder(str(root))
    (weights.parent / "config.json").unlink()
    recurrent()(tmp_path / "whole")
    refuse_half_written(tmp_path / "whole")
    index = {"weight_map": {"a": "weights.safetensors", "b": "model-00002-of-00002.safetensors"}}
    (tmp_path / "whole" / "model.safetensors.index.json").write_text(json.dumps(index))
    with pytest.raises(LmError, match=r"model-00002-of-00002\.safetensors is missing"):
        refuse_half_written(tmp_path / "whole")
    (tmp_path / "whole" / "model.safetensors.index.json").write_text('{"weight')
    with pytest.raises(LmError, match=r"half-written: model\.safetensors\.index\.json cannot be"):
        refuse_half_written(tmp_path / "whole")


def test_weights_of_pytorch_that_are_too_short_are_named(tmp_path: Path):
    root = write_hf(tmp_path / "gpt", {5: {}, 6: {}})
    (root / "checkpoint-6" / "model.safetensors").unlink()
    weights = root / "checkpoint-6" / "pytorch_model.bin"
    torch.save({"a": torch.zeros(9)}, weights)
    assert len(find_in_folder(f"hf:{root}", 7).checkpoints) == 2
    weights.write_bytes(weights.read_bytes()[:-40])
    with pytest.raises(LmError, match=r"checkpoint-6 is half-written: pytorch_model.bin is too"):
        find_in_folder(f"hf:{root}", 7)


def test_pythia_has_154_revisions_of_two_million_tokens_a_step():
    trained = find_revisions("hf:EleutherAI/pythia-14m-seed1", ["all"])
    names = [c.name for c in trained.checkpoints]
    assert len(names) == 154
    assert names[:3] + names[10:13] == ["step0", "step1", "step2", "step512", "step1000",
                                        "step2000"]  # fmt: skip
    assert (trained.label, trained.checkpoints[-1].tokens_seen) == (
        "pythia-14m, seed 1",
        143_000 * 2_097_152,
    )
    assert trained.checkpoints[1].model == "hf:EleutherAI/pythia-14m-seed1@step1"


@pytest.fixture
def no_hub(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> str:
        # The library's transport raises errors that are no OSError.
        raise RuntimeError("the hub cannot be reached")

    monkeypatch.setattr(huggingface_hub, "hf_hub_download", fail)
    monkeypatch.setattr(huggingface_hub.HfApi, "list_repo_refs", fail)


@pytest.mark.usefixtures("no_hub")
def test_a_revision_that_does_not_exist_is_named(tmp_path: Path):
    with pytest.raises(LmError, match='has no revision "step7"'):
        find_revisions("hf:EleutherAI/pythia-14m", ["step7", "step8"])
    with pytest.raises(LmError, match="branches of someone/model cannot be listed"):
        find_revisions("hf:someone/model", ["all"])
    with pytest.raises(LmError, match="are those of a Hugging Face repository"):
        find_revisions(str(tmp_path), ["step1"])


def test_tokens_in_a_revisions_name_need_no_step(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(huggingface_hub, "hf_hub_download", lambda *_, **__: "config.json")
    names = ["step1000-tokens4B", "stage1-step500-tokens2B"]
    trained = find_revisions("hf:allenai/OLMo-1B", names)
    assert [c.tokens_seen for c in trained.checkpoints] == [2 * 10**9, 4 * 10**9]
    with pytest.raises(LmError, match='"main" does not name its step'):
        find_revisions("hf:allenai/OLMo-1B", ["main", "step2"], 10)


def test_a_revision_follows_the_name_unless_that_is_a_folder(tmp_path: Path):
    assert split_revision("some/model@step1") == ("some/model", "step1")
    assert split_revision("some/model") == ("some/model", None)
    folder = tmp_path / "a@b"
    folder.mkdir()
    assert split_revision(str(folder)) == (str(folder), None)
