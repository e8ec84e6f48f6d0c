"""``parallax lm score`` gives a model each text with the white space and prefix of its file."""

import json
from pathlib import Path

import pandas as pd
import pytest
import torch
from click.testing import CliRunner
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

from analysis.commands.score import score
from analysis.data.load import read_score_facts
from lm.errors import LmError
from tests.lm.huggingface.toy_tokenizers import masked_model, trained

_SENTENCES = [
    "the bakers near the oven smile .",
    "Question : the baker smiles . Answer : the oven",
    "the pilot waves , the pilots wave .",
    "a nurse sings loudly",
] * 50
_TASK = """task: own_two_choices
dataset_path: json
dataset_kwargs: {data_files: {validation: d.jsonl}}
output_type: multiple_choice
validation_split: validation
doc_to_text: "Question: {{goal}}\\nAnswer:"
doc_to_target: label
doc_to_choice: "{{[sol1, sol2]}}"
"""


@pytest.fixture(scope="module")
def gpt2(tmp_path_factory) -> str:
    folder = tmp_path_factory.mktemp("gpt2")
    bpe = Tokenizer(models.BPE())
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bpe.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=330, special_tokens=["<s>", "</s>"], initial_alphabet=alphabet,
        show_progress=False,
    )  # fmt: skip
    bpe.train_from_iterator(_SENTENCES, trainer)
    torch.manual_seed(2)
    sizes = {"n_embd": 48, "n_layer": 2, "n_head": 4, "n_positions": 256}
    config = GPT2Config(
        vocab_size=bpe.get_vocab_size(), initializer_range=0.3, bos_token_id=0, eos_token_id=1,
        **sizes,
    )  # fmt: skip
    GPT2LMHeadModel(config).save_pretrained(folder)
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=bpe, bos_token="<s>", eos_token="</s>")
    tokenizer.save_pretrained(folder)
    return f"hf:{folder}"


def score_table(model: str, items: Path, *options: str) -> tuple[pd.DataFrame, str]:
    out = items.with_name("o.parquet")
    result = CliRunner().invoke(
        score, [model, str(items), "--out", str(out), *options], catch_exceptions=False
    )
    assert result.exit_code == 0, result.output
    return pd.read_parquet(out), result.output


def scored(model: str, items: Path) -> list[float]:
    return score_table(model, items)[0]["logprob_nats"].to_list()


def test_the_new_line_of_a_task_s_prompt_is_scored(gpt2, tmp_path):
    rows = [
        {"goal": "the pilot", "sol1": "wave.", "sol2": "waves.", "label": 1},
        {"goal": "a nurse", "sol1": "sings loudly.", "sol2": "sing loudly.", "label": 0},
    ]
    (tmp_path / "d.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n")
    (tmp_path / "task.yaml").write_text(_TASK)
    _, _, good, bad = scored(gpt2, tmp_path / "task.yaml")
    # As lm-evaluation-harness computes it; with a space instead of the new line it is 3.988.
    assert good - bad == pytest.approx(-1.991, abs=2e-3)


def test_a_prefix_is_scored_before_both_options(gpt2, tmp_path):
    rows = "item,prefix,good,bad\n1,the bakers near the oven,smile,smiles\n"
    (tmp_path / "items.csv").write_text(rows)
    table, said = score_table(gpt2, tmp_path / "items.csv")
    # The sums of log_softmax over the whole sentences' tokens after <s>; "smile" alone is -16.9.
    assert table["logprob_nats"].to_list() == pytest.approx([-49.047, -51.593], abs=2e-3)
    # The same sums over the last token, with the five of the prefix before it.
    assert table["choice_at"].to_list() == [5, 5]
    assert table["logprob_of_choice_nats"].to_list() == pytest.approx([-5.672, -8.219], abs=2e-3)
    assert "Of 2 texts the beginning is the item's context: logprob_of_choice_nats is the" in said


def test_a_special_token_that_a_text_contains_does_not_stop_a_masked_model(tmp_path):
    tokenizer = trained("unigram", pre_tokenizers.Metaspace(), ["not a dog", "the dog"] * 3, 40)
    masked_model(len(tokenizer)).save_pretrained(tmp_path / "m")
    tokenizer.save_pretrained(tmp_path / "m")
    rows = ["not a [SEP] dog,not a dog", "the [MASK] dog,the <mask> dog", "the [CLS] dog,the dog"]
    (tmp_path / "items.csv").write_text("\n".join(["good,bad", *rows]) + "\n")
    assert len(scored(f"hf:{tmp_path / 'm'}", tmp_path / "items.csv")) == 6


def test_chinese_and_japanese_follow_their_context_without_a_space(gpt2, tmp_path):
    rows = "\u732b\u5728,\u684c\u5b50\u4e0a,\u559c\u6b22\n\u79c1\u306f,\u732b\u304c,\u304c\u732b\n"
    (tmp_path / "items.csv").write_text(f"context,good,bad\n{rows}", "utf-8")
    table, said = score_table(gpt2, tmp_path / "items.csv")
    # Each character is three bytes, and this tokenizer has a token for each: 2 + 3, 2 + 2, ...
    assert table["n_tokens"].to_list() == [15, 12, 12, 12]
    assert table["choice_at"].to_list() == [6] * 4
    assert "the texts of 4 stand in the file as the model read them" in said


def test_rounded_weights_are_scored_checked_and_recorded(gpt2, tmp_path):
    items = tmp_path / "pairs.tsv"
    items.write_text("good\tbad\nthe pilot waves\tthe pilot wave\na nurse sings\ta nurse sing\n")
    exact, _ = score_table(gpt2, items)
    rounded, printed = score_table(gpt2, items, "--dtype", "bfloat16")
    assert read_score_facts(items.with_name("o.parquet")).weights == "bfloat16"
    assert "was loaded as bfloat16" in printed
    assert "computed again from their items' texts by a second implementation" in printed
    apart = (rounded["logprob_nats"] - exact["logprob_nats"]).abs() / exact["n_tokens"]
    assert 0 < apart.max() < 0.5
    again, printed = score_table(gpt2, items)
    assert "already holds" not in printed
    assert again["logprob_nats"].equals(exact["logprob_nats"])


def test_a_model_with_one_form_refuses_rounded_weights(tmp_path):
    (tmp_path / "pairs.tsv").write_text("good\tbad\nthe pilot waves\tthe pilot wave\n")
    fixed = tmp_path / "fixed"
    fixed.mkdir()
    (fixed / "config.json").write_text('{"type": "unigram"}')
    with pytest.raises(LmError, match=r"a single form. Leave --dtype"):
        score_table(str(fixed), tmp_path / "pairs.tsv", "--dtype", "bfloat16")
