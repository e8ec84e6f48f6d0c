"""Hugging Face models against a plain loop, one sentence and one token at a time."""

import json
import math
from pathlib import Path

import pytest
import torch
from huggingface_hub import constants
from tokenizers import Tokenizer
from tokenizers.decoders import ByteLevel as ByteLevelDecoder
from tokenizers.models import BPE, WordPiece
from tokenizers.pre_tokenizers import ByteLevel, Sequence, Split, Whitespace
from tokenizers.processors import TemplateProcessing
from tokenizers.trainers import BpeTrainer
from transformers import BertModel, GPT2Model, PreTrainedTokenizerFast

from lm.errors import LmError
from lm.huggingface.load import load_hf
from lm.huggingface.scorer import HfScorer
from lm.registry import load_scorer
from tests.lm.toy_models import save_hf, tiny_bert, tiny_gpt2, word_tokenizer

TEXT = ["the author laughs .", "the authors near the chefs laugh .", "naïve authors — laugh !"] * 3
REQUESTS = [
    ("", "the author laughs ."),
    ("", "the author laugh ."),
    ("the author", "laughs ."),
    ("the authors near the chefs", "laugh"),
    ("", "naïve chefs — laugh"),
    ("the author", "unheardof"),
]


@pytest.fixture(autouse=True)
def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)


def byte_pairs(**special: str) -> PreTrainedTokenizerFast:
    """A tokenizer as GPT-2's: pairs of bytes, the space part of the word after it."""
    tokenizer = Tokenizer(BPE())
    tokenizer.pre_tokenizer = ByteLevel(add_prefix_space=False)
    tokenizer.decoder = ByteLevelDecoder()
    alphabet = ByteLevel.alphabet()
    trainer = BpeTrainer(
        vocab_size=300,
        initial_alphabet=alphabet,
        special_tokens=[*special.values()],
        show_progress=False,
    )
    tokenizer.train_from_iterator(TEXT, trainer)
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, **special)


def word_pieces() -> PreTrainedTokenizerFast:
    """A tokenizer as BERT's: words in pieces, special tokens at both ends."""
    pieces = ["[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "auth", "##or", "##s", "laugh", "near"]
    pieces += ["chef", ".", "—", "naïve"]
    numbers = {piece: n for n, piece in enumerate(pieces)}
    tokenizer = Tokenizer(WordPiece(numbers, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 1), ("[SEP]", 2)]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, unk_token="[UNK]", mask_token="[MASK]", sep_token="[SEP]"
    )


@pytest.fixture(scope="module")
def causal(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("gpt2") / "tiny"
    tokenizer = byte_pairs(eos_token="<|endoftext|>")
    tiny_gpt2(len(tokenizer)).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def masked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bert") / "tiny"
    tokenizer = word_pieces()
    tiny_bert(len(tokenizer)).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def one_by_one(model: torch.nn.Module, ids: list[int], place: int, wanted: int) -> float:
    with torch.no_grad():
        logits = model(input_ids=torch.tensor([ids])).logits[0, place].double()
    return float(torch.log_softmax(logits, dim=0)[wanted])


@pytest.mark.parametrize(("context", "continuation"), REQUESTS)
def test_a_causal_model_says_what_a_plain_loop_reads(causal: Path, context: str, continuation: str):
    tokenizer = byte_pairs(eos_token="<|endoftext|>")
    model = tiny_gpt2(len(tokenizer))
    before = tokenizer(context)["input_ids"]
    own = tokenizer(f" {continuation}" if context else continuation)["input_ids"]
    expected, read = [], [tokenizer.eos_token_id, *before]
    for wanted in own:
        expected.append(one_by_one(model, read, -1, wanted))
        read.append(wanted)
    [scores] = load_hf(str(causal)).score([(context, continuation)])
    assert scores.logprobs_nats.tolist() == pytest.approx(expected, abs=1e-4)
    assert list(scores.tokens) == tokenizer.convert_ids_to_tokens(own)
    together = load_hf(str(causal)).score(REQUESTS)[REQUESTS.index((context, continuation))]
    assert together.logprobs_nats.tolist() == pytest.approx(expected, abs=1e-4)


def test_a_masked_model_hides_the_rest_of_a_word_but_not_the_words_after_it(masked: Path):
    tokenizer, model = word_pieces(), tiny_bert(14)
    pieces = ["[CLS]", "the", "auth", "##or", "##s", "laugh", ".", "[SEP]"]
    ids, hidden = tokenizer.convert_tokens_to_ids(pieces), tokenizer.mask_token_id
    expected = []
    for place, covered in [(2, [2, 3, 4]), (3, [3, 4]), (4, [4]), (5, [5]), (6, [6])]:
        read = [hidden if i in covered else id_ for i, id_ in enumerate(ids)]
        expected.append(one_by_one(model, read, place, ids[place]))
    scorer = load_hf(str(masked))
    [scores] = scorer.score([("the", "authors laugh .")])
    assert scores.tokens == tuple(pieces[2:-1])
    assert scores.logprobs_nats.tolist() == pytest.approx(expected, abs=1e-4)
    [_, among_others] = scorer.score([("", "the chef"), ("the", "authors laugh .")])
    assert among_others.logprobs_nats.tolist() == pytest.approx(expected, abs=1e-4)


def test_the_last_layer_reads_only_the_hidden_tokens(masked: Path):
    scorer = load_hf(str(masked))
    read = []
    head = scorer.model.get_output_embeddings()
    head.register_forward_hook(lambda _, inputs, output: read.append(output.shape[0]))
    [scores] = scorer.score([("", "the author laughs .")])
    # the auth ##or laugh ##s . - each once, as the only one of its row.
    assert len(scores.logprobs_nats) == sum(read) == 6


def test_a_masked_model_flags_what_it_does_not_know(masked: Path):
    [scores] = load_hf(str(masked)).score([("", "the zebra laughs")])
    assert scores.unknown.tolist() == [False, True, False, False]


@pytest.mark.parametrize("side", ["left", "right"])
def test_the_side_a_tokenizer_pads_on_changes_nothing(causal: Path, tmp_path: Path, side: str):
    tokenizer = byte_pairs(eos_token="<|endoftext|>")
    tokenizer.pad_token, tokenizer.padding_side = tokenizer.eos_token, side
    save_hf(tmp_path / "model", tiny_gpt2(len(tokenizer)), tokenizer)
    padded, plain = load_scorer(tmp_path / "model").score(REQUESTS), load_hf(str(causal))
    for one, other in zip(padded, plain.score(REQUESTS), strict=True):
        assert one.logprobs_nats.tolist() == other.logprobs_nats.tolist()


def test_texts_begin_with_the_tokenizers_own_beginning(causal: Path, tmp_path: Path):
    tokenizer = byte_pairs(bos_token="<s>", eos_token="</s>")
    save_hf(tmp_path / "model", tiny_gpt2(len(tokenizer)), tokenizer)
    scorer = load_scorer(tmp_path / "model")
    assert isinstance(scorer, HfScorer)
    assert scorer.encoder.beginning == tokenizer.bos_token_id
    assert load_hf(str(causal)).encoder.beginning == 0


def test_a_model_without_a_beginning_is_refused_until_one_is_named(tmp_path: Path):
    tokenizer = byte_pairs(pad_token="<pad>")
    save_hf(tmp_path / "model", tiny_gpt2(len(tokenizer)), tokenizer)
    with pytest.raises(LmError, match="neither a token for the beginning"):
        load_scorer(tmp_path / "model")
    path = tmp_path / "model" / "config.json"
    config = json.loads(path.read_text())
    path.write_text(json.dumps(config | {"beginning": "<pad>"}))
    [scores] = load_scorer(tmp_path / "model").score([("", "the")])
    assert math.isfinite(scores.logprobs_nats[0])
    path.write_text(json.dumps(config | {"beginning": "<nothing>"}))
    with pytest.raises(LmError, match='no token "<nothing>" that its texts could begin with'):
        load_scorer(tmp_path / "model")


def test_a_token_across_the_border_is_refused_with_the_item(tmp_path: Path):
    tokenizer = Tokenizer(BPE())
    # Pieces are sentences here, so that pairs grow across the spaces.
    tokenizer.pre_tokenizer = Sequence([Split("\n", "isolated")])
    trainer = BpeTrainer(vocab_size=99, special_tokens=["<s>"], show_progress=False)
    tokenizer.train_from_iterator(["the author laughs ."] * 9, trainer)
    whole = PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token="<s>")
    save_hf(tmp_path / "model", tiny_gpt2(len(whole)), whole)
    with pytest.raises(LmError, match=r'across the border .*"the author" and "laughs \."'):
        load_scorer(tmp_path / "model").score([("the author", "laughs .")])


def test_a_text_longer_than_the_window_is_refused(causal: Path):
    with pytest.raises(LmError, match="reads 32 tokens at most"):
        load_hf(str(causal)).score([("", "the authors " * 30)])


def test_words_from_the_config_name_the_model(causal: Path, tmp_path: Path):
    named = {"type": "hf", "model": str(causal), "name": "tiny", "trained_on": "nine sentences"}
    (tmp_path / "config.json").write_text(json.dumps(named))
    scorer = load_scorer(tmp_path)
    assert (scorer.name, scorer.trained_on) == ("tiny", "nine sentences")
    plain = load_scorer(f"hf:{causal}")
    assert plain.name == "tiny"
    assert str(causal) in plain.trained_on


def test_a_name_that_is_neither_here_nor_in_reach_is_refused():
    with pytest.raises(LmError, match="no usable Hugging Face model nobody/nothing here"):
        load_scorer("hf:nobody/nothing")


def test_a_folder_without_a_model_is_refused(tmp_path: Path):
    with pytest.raises(LmError, match="in this folder"):
        load_hf(str(tmp_path))


def test_a_folder_that_names_no_model_is_refused(tmp_path: Path):
    (tmp_path / "config.json").write_text('{"type": "hf"}')
    with pytest.raises(LmError, match='names no "model"'):
        load_scorer(tmp_path)


def test_a_model_without_its_head_is_refused(masked: Path, tmp_path: Path):
    model = tiny_bert(14).bert
    assert isinstance(model, BertModel)
    model.config.architectures = ["BertForMaskedLM"]
    model.save_pretrained(tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(
        json.dumps(config | {"architectures": ["BertForMaskedLM"]})
    )
    word_pieces().save_pretrained(tmp_path)
    with pytest.raises(LmError, match="would be random"):
        load_hf(str(tmp_path))


def test_a_network_that_is_no_language_model_is_refused(tmp_path: Path):
    model = tiny_gpt2(300).transformer
    assert isinstance(model, GPT2Model)
    model.save_pretrained(tmp_path)
    with pytest.raises(
        LmError, match=r"is a GPT2Model. Expected a causal \(...ForCausalLM, ...LMHeadModel\)"
    ):
        load_hf(str(tmp_path))


def test_another_models_tokenizer_is_refused(tmp_path: Path):
    tokenizer = word_tokenizer(masked=False)
    save_hf(tmp_path / "model", tiny_gpt2(len(tokenizer) - 1), tokenizer)
    with pytest.raises(LmError, match="belong to different models"):
        load_scorer(tmp_path / "model")


def test_a_mask_that_the_model_does_not_know_is_refused(tmp_path: Path):
    tokenizer = word_tokenizer(masked=False)
    model = tiny_bert(len(tokenizer))
    tokenizer.add_special_tokens({"mask_token": "<mask>"})
    save_hf(tmp_path / "model", model, tokenizer)
    with pytest.raises(LmError, match="mask token the number"):
        load_scorer(tmp_path / "model")


def test_a_masked_model_without_a_mask_is_refused(tmp_path: Path):
    tokenizer = word_tokenizer(masked=False)
    save_hf(tmp_path / "model", tiny_bert(len(tokenizer)), tokenizer)
    with pytest.raises(LmError, match="no mask token"):
        load_scorer(tmp_path / "model")
