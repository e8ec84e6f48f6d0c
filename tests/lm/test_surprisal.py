"""Word and region surprisal, against plain loops over the model's own tokens."""

import csv
import math
from pathlib import Path

import numpy as np
import pytest
import torch
from click.testing import CliRunner

from lm.commands.scoring import surprisal
from lm.errors import LmError
from lm.huggingface.load import load_hf
from lm.huggingface.scorer import HfScorer
from lm.registry import load_scorer
from lm.surprisal import surprisals
from tests.lm.huggingface.test_scorer import byte_pairs, word_pieces
from tests.lm.toy_models import TOY_MODELS, tiny_bert, tiny_gpt2

TEXT = "the authors near the chefs laugh ."


@pytest.fixture(scope="module")
def gpt2(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("gpt2") / "tiny"
    tokenizer = byte_pairs(eos_token="<|endoftext|>")
    tiny_gpt2(len(tokenizer)).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def logprobs(model: torch.nn.Module, ids: list[int]) -> np.ndarray:
    with torch.no_grad():
        return model(torch.tensor([ids])).logits[0, -1].double().log_softmax(0).numpy()


def test_a_word_has_the_probability_of_its_tokens_and_of_ending_there(gpt2: Path):
    tokenizer = byte_pairs(eos_token="<|endoftext|>")
    model = tiny_gpt2(len(tokenizer))
    names = tokenizer.convert_ids_to_tokens(list(range(len(tokenizer))))
    starts = [n for n, name in enumerate(names) if name[0] in "\u0120\u010a"]
    starts.append(tokenizer.eos_token_id)
    ids, expected, before = [tokenizer.eos_token_id], [], 0.0
    for place, word in enumerate(TEXT.split()):
        total = 0.0
        for token in tokenizer(f" {word}" if place else word)["input_ids"]:
            total += logprobs(model, ids)[token]
            ids.append(token)
        after = float(np.logaddexp.reduce(logprobs(model, ids)[starts]))
        expected.append(-(total + after - before))
        before = after
    [found] = surprisals(load_hf(str(gpt2)), [TEXT.split()])
    assert [piece.surprisal_nats for piece in found] == pytest.approx(expected, abs=1e-4)
    assert all(piece.corrected for piece in found)
    assert [piece.text for piece in found] == TEXT.split()


def test_uncorrected_words_are_sums_of_their_tokens(gpt2: Path):
    scorer = load_hf(str(gpt2))
    [found] = surprisals(scorer, [TEXT.split()], correct=False)
    [scores] = scorer.score([("", TEXT)])
    total = sum(piece.surprisal_nats for piece in found)
    assert total == pytest.approx(-scores.logprobs_nats.sum())
    assert sum(piece.n_tokens for piece in found) == len(scores.tokens)
    assert not any(piece.corrected for piece in found)


def test_the_correction_moves_probability_between_words_and_keeps_the_texts(gpt2: Path):
    scorer = load_hf(str(gpt2))
    [with_it], [without] = (
        surprisals(scorer, [TEXT.split()], correct=correct) for correct in (True, False)
    )
    mass = scorer.boundary_logprobs([TEXT])
    assert mass is not None
    pairs = zip(with_it, without, strict=True)
    difference = sum(a.surprisal_nats - b.surprisal_nats for a, b in pairs)
    assert difference == pytest.approx(-mass[0][-1], abs=1e-4)


def test_a_region_has_the_surprisal_of_its_words(gpt2: Path):
    scorer = load_hf(str(gpt2))
    [words] = surprisals(scorer, [TEXT.split()])
    [regions] = surprisals(scorer, [["the authors", "near the chefs", "laugh ."]])
    sums = [sum(w.surprisal_nats for w in words[a:b]) for a, b in ((0, 2), (2, 5), (5, 7))]
    assert [region.surprisal_nats for region in regions] == pytest.approx(sums, abs=1e-4)


def test_a_script_without_spaces_is_divided_by_a_segmentation(gpt2: Path):
    scorer = load_hf(str(gpt2))
    [found] = surprisals(scorer, [["作者", "笑"]], spaces=False)
    [scores] = scorer.score([("", "作者笑")])
    assert [piece.n_tokens for piece in found] == [6, 3]
    assert sum(p.surprisal_nats for p in found) == pytest.approx(-scores.logprobs_nats.sum())
    assert not found[0].corrected


def test_a_token_across_two_pieces_is_refused(gpt2: Path):
    with pytest.raises(LmError, match='lies across the end of "auth"'):
        surprisals(load_hf(str(gpt2)), [["the", "auth", "ors"]], spaces=False)


@pytest.mark.parametrize("name", ["ngram", "lstm", "unigram"])
def test_models_of_words_have_one_token_for_each(tmp_path: Path, name: str):
    TOY_MODELS[name][1](tmp_path / "model")
    scorer = load_scorer(tmp_path / "model")
    [found] = surprisals(scorer, [["the", "zebra", "sleeps ."]])
    [scores] = scorer.score([("", "the zebra sleeps .")])
    assert [piece.n_tokens for piece in found] == [1, 1, 2]
    assert [piece.n_unknown for piece in found] == [0, 1, 0]
    assert found[2].surprisal_nats == pytest.approx(-scores.logprobs_nats[2:].sum())


def bert(folder: Path) -> HfScorer:
    tokenizer = word_pieces()
    tiny_bert(len(tokenizer)).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return load_hf(str(folder))


def test_both_pseudo_log_likelihoods_hide_what_they_say(tmp_path: Path):
    scorer, tokenizer, model = bert(tmp_path), word_pieces(), tiny_bert(14)
    ids = tokenizer("the authors laugh .")["input_ids"]
    expected = []
    for place in (2, 3, 4):
        read = [tokenizer.mask_token_id if n == place else one for n, one in enumerate(ids)]
        with torch.no_grad():
            own = model(torch.tensor([read])).logits[0, place].double().log_softmax(0)
        expected.append(float(own[ids[place]]))
    scorer.encoder.pll = "original"
    [original] = surprisals(scorer, [["the", "authors", "laugh", "."]])
    assert original[1].surprisal_nats == pytest.approx(-sum(expected), abs=1e-4)
    scorer.encoder.pll = "within_word_l2r"
    [within] = surprisals(scorer, [["the", "authors", "laugh", "."]])
    assert within[1].surprisal_nats != pytest.approx(original[1].surprisal_nats)
    assert within[0].surprisal_nats == pytest.approx(original[0].surprisal_nats, abs=1e-4)


def run(*arguments: object) -> list[dict[str, str]]:
    result = CliRunner().invoke(surprisal, list(map(str, arguments)), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    out = Path(str(arguments[list(arguments).index("--out") + 1]))
    with out.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_the_command_writes_a_table_by_text_and_position(gpt2: Path, tmp_path: Path):
    (tmp_path / "texts.csv").write_text(f'item_id,text\ni-1,"{TEXT}"\ni-2,the author laughs .\n')
    model, out = f"hf:{gpt2}", tmp_path / "out.csv"
    bits = run(model, tmp_path / "texts.csv", "--out", out)
    assert [(row["text_id"], row["position"], row["text"]) for row in bits[6:9]] == [
        ("i-1", "7", "."), ("i-2", "1", "the"), ("i-2", "2", "author"),
    ]  # fmt: skip
    nats = run(model, tmp_path / "texts.csv", "--unit", "nats", "--out", out)
    in_nats = [float(row["surprisal_bits"]) * math.log(2) for row in bits]
    assert in_nats == pytest.approx([float(row["surprisal_nats"]) for row in nats], abs=1e-5)


def test_the_command_takes_lines_regions_and_segmentations(gpt2: Path, tmp_path: Path):
    (tmp_path / "texts.txt").write_text("the authors | near the chefs | laugh .\n\n")
    rows = run(f"hf:{gpt2}", tmp_path / "texts.txt", "--divider", "|", "--out", tmp_path / "o.csv")
    assert [row["text"] for row in rows] == ["the authors", "near the chefs", "laugh ."]
    assert {row["text_id"] for row in rows} == {"1"}
    (tmp_path / "texts.txt").write_text("作者/笑\n")
    options = ("--divider", "/", "--no-spaces", "--out", tmp_path / "o.csv")
    rows = run(f"hf:{gpt2}", tmp_path / "texts.txt", *options)
    assert [(row["text"], row["corrected"]) for row in rows] == [("作者", "false"), ("笑", "false")]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["texts.txt", "--out", "o.txt"], "is not the name of a table"),
        (["texts.txt", "--out", "o.csv", "--pll", "original"], "only masked models"),
        (["texts.csv", "--out", "o.csv"], "has the columns a, b. Expected text and one of"),
        (["none.txt", "--out", "o.csv"], "cannot read the texts"),
        (["gap.txt", "--out", "o.csv", "--divider", "|"], "text 1 has an empty region"),
    ],
)
def test_what_cannot_be_done_is_said(gpt2: Path, tmp_path: Path, monkeypatch, arguments, said):
    monkeypatch.chdir(tmp_path)
    Path("texts.txt").write_text("the\n")
    Path("texts.csv").write_text("a,b\n1,2\n")
    Path("gap.txt").write_text("the | | author\n")
    with pytest.raises(LmError, match=said):
        CliRunner().invoke(surprisal, [f"hf:{gpt2}", *arguments], catch_exceptions=False)
    assert not Path("o.csv").exists()
