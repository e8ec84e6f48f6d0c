"""Scores are never those of another model: whatever of a model is replaced, it is scored again."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as parquet
import pytest
from click.testing import CliRunner
from safetensors.torch import load_file, save_file

from analysis.commands.score import score
from experiment.tables.files import write_table
from experiment.tables.schemas import ITEMS
from lm.errors import LmError
from lm.huggingface.load import load_hf
from lm.model_folder import model_identity
from lm.registry import load_scorer
from tests.analysis import small_run
from tests.lm.toy_models import causal_folder, unigram_folder


def weights(change: Callable[[dict], None]) -> Callable[[Path], None]:
    def made(folder: Path) -> None:
        tensors = load_file(folder / "weights" / "model.safetensors")
        change(tensors)
        save_file(tensors, folder / "weights" / "model.safetensors", {"format": "pt"})

    return made


def shifted(name: str, by: float) -> Callable[[dict], None]:
    def change(tensors: dict) -> None:
        tensors[name] = tensors[name] + by

    return change


def setting(path: str, key: str, value: object) -> Callable[[Path], None]:
    def made(folder: Path) -> None:
        file = folder / path
        found = json.loads(file.read_text())
        found[key] = value
        file.write_text(json.dumps(found))

    return made


def words_exchanged(one: str, other: str) -> Callable[[Path], None]:
    def made(folder: Path) -> None:
        file = folder / "weights" / "tokenizer.json"
        found = json.loads(file.read_text())
        words = found["model"]["vocab"]
        words[one], words[other] = words[other], words[one]
        file.write_text(json.dumps(found))

    return made


LAYERS = [f"transformer.h.{n}.{part}" for n in (0, 1) for part in (
    "attn.c_attn.weight", "attn.c_attn.bias", "attn.c_proj.weight", "mlp.c_fc.weight",
    "mlp.c_fc.bias", "mlp.c_proj.weight", "ln_1.weight", "ln_2.bias")]  # fmt: skip
SUBSTITUTIONS: dict[str, Callable[[Path], None]] = {
    **{name: weights(shifted(name, 0.25)) for name in LAYERS},
    "words": weights(shifted("transformer.wte.weight", 0.01)),
    "places": weights(shifted("transformer.wpe.weight", 0.01)),
    "last layer": weights(shifted("transformer.ln_f.weight", 0.5)),
    "activation": setting("weights/config.json", "activation_function", "relu"),
    "epsilon": setting("weights/config.json", "layer_norm_epsilon", 0.1),
    "heads": setting("weights/config.json", "n_head", 4),
    "beginning": setting("config.json", "beginning", "the"),
    "two words": words_exchanged("cat", "cats"),
    "two other words": words_exchanged("sleep", "sleeps"),
}


def test_there_are_25_substitutions_and_each_is_another_model(tmp_path):
    causal_folder(tmp_path / "model")
    original = model_identity(str(tmp_path / "model"))
    assert len(SUBSTITUTIONS) == 25
    seen = {original}
    for number, change in enumerate(SUBSTITUTIONS.values()):
        folder = tmp_path / str(number)
        shutil.copytree(tmp_path / "model", folder)
        assert model_identity(str(folder)) == original
        change(folder)
        seen.add(model_identity(str(folder)))
    assert len(seen) == 26


def test_other_weights_under_the_old_date_are_another_model(tmp_path):
    causal_folder(tmp_path / "model")
    original = model_identity(str(tmp_path / "model"))
    file = tmp_path / "model" / "weights" / "model.safetensors"
    dated = file.stat()
    SUBSTITUTIONS["words"](tmp_path / "model")
    os.utime(file, ns=(dated.st_atime_ns, dated.st_mtime_ns))
    assert model_identity(str(tmp_path / "model")) != original


def test_weights_to_which_a_link_leads_are_another_model_when_it_leads_elsewhere(tmp_path):
    causal_folder(tmp_path / "model")
    shutil.copytree(tmp_path / "model", tmp_path / "other")
    SUBSTITUTIONS["words"](tmp_path / "other")
    file = tmp_path / "model" / "weights" / "model.safetensors"
    file.rename(tmp_path / "first.safetensors")
    file.symlink_to(tmp_path / "first.safetensors")
    original = model_identity(str(tmp_path / "model"))
    file.unlink()
    file.symlink_to(tmp_path / "other" / "weights" / "model.safetensors")
    assert model_identity(str(tmp_path / "model")) != original


def test_what_a_killed_command_left_of_another_model_s_scores_is_not_used(tmp_path, monkeypatch):
    causal_folder(tmp_path / "model")
    write_table(ITEMS, small_run.items(), tmp_path / "items.csv")

    def scores(name: str) -> list[float]:
        out = tmp_path / name
        command = [str(tmp_path / "model"), str(tmp_path / "items.csv"), "--out", str(out)]
        CliRunner().invoke(score, command, catch_exceptions=False)
        return parquet.read_table(out)["logprob_nats"].to_pylist()

    # A killed command leaves parts of the scores, and no file of them.
    with monkeypatch.context() as killed:
        killed.setattr("analysis.scores.shards.ShardCache.forget", lambda _: None)
        before = scores("scores.parquet")
    (tmp_path / "scores.parquet").unlink()
    SUBSTITUTIONS["words"](tmp_path / "model")
    assert scores("scores.parquet") == scores("fresh.parquet") != before


@pytest.mark.parametrize("name", ["words", "beginning", "two words"])
def test_a_folder_that_points_to_another_is_scored_again_when_that_changes(name, tmp_path):
    causal_folder(tmp_path / "model")
    pointer = tmp_path / "pointer"
    pointer.mkdir()
    config = {"type": "hf", "model": "../model/weights", "name": "toy", "trained_on": "x"}
    (pointer / "config.json").write_text(json.dumps(config))
    write_table(ITEMS, small_run.items(), tmp_path / "items.csv")
    command = [str(pointer), str(tmp_path / "items.csv"), "--out", str(tmp_path / "s.parquet")]
    assert "scored by toy" in CliRunner().invoke(score, command, catch_exceptions=False).output
    again = CliRunner().invoke(score, command, catch_exceptions=False).output
    assert "already holds these scores" in again
    SUBSTITUTIONS[name](tmp_path / "model" if name != "beginning" else pointer)
    after = CliRunner().invoke(score, command, catch_exceptions=False).output
    assert "scored by toy" in after
    assert "toy reads every text after the token" in after


def test_a_counting_model_is_known_by_its_files(tmp_path):
    unigram_folder(tmp_path / "one")
    before = model_identity(str(tmp_path / "one"))
    (tmp_path / "one" / "note.txt").write_text("changed")
    assert model_identity(str(tmp_path / "one")) != before


def test_layers_that_the_configuration_lacks_are_refused(tmp_path):
    causal_folder(tmp_path)
    setting("weights/config.json", "n_layer", 1)(tmp_path)
    with pytest.raises(LmError, match=r"weights of layers that its config\.json does not have"):
        load_hf(str(tmp_path / "weights"))


def test_an_adapter_is_not_left_out_silently(tmp_path):
    causal_folder(tmp_path)
    (tmp_path / "weights" / "adapter_config.json").write_text("{}")
    with pytest.raises(LmError, match="holds an adapter"):
        load_hf(str(tmp_path / "weights"))


def test_an_adapter_in_a_folder_that_points_to_a_model_is_not_left_out_silently(tmp_path):
    causal_folder(tmp_path)
    (tmp_path / "adapter_config.json").write_text("{}")
    with pytest.raises(LmError, match="holds an adapter"):
        load_scorer(str(tmp_path))


def test_a_chat_template_that_is_not_used_and_the_beginning_are_said(tmp_path):
    causal_folder(tmp_path)
    template = "{% for m in messages %}{{ m.content }}{% endfor %}"
    setting("weights/tokenizer_config.json", "chat_template", template)(tmp_path)
    scorer = load_scorer(str(tmp_path))
    begun, chat = scorer.notes
    first = scorer.encoder.tokenizer.convert_ids_to_tokens([scorer.encoder.beginning])[0]
    assert begun.endswith(f"reads every text after the token {first}.")
    assert "has a chat template, which was not used" in chat


def test_code_of_others_is_never_run(tmp_path, monkeypatch):
    causal_folder(tmp_path)
    folder = tmp_path / "weights"
    setting("weights/config.json", "model_type", "own")(tmp_path)
    own = {"AutoConfig": "own.Config", "AutoModelForCausalLM": "own.Model"}
    setting("weights/config.json", "auto_map", own)(tmp_path)
    ran = tmp_path / "ran"
    (folder / "own.py").write_text(f"open({str(ran)!r}, 'w').write('yes')\nclass Config: pass\n")
    monkeypatch.setattr("builtins.input", lambda *_: "y")
    with pytest.raises(LmError, match="no usable Hugging Face model"):
        load_hf(str(folder))
    assert not ran.exists()
