"""Encoder-decoders, models of images and text, and tokenizers of another size than the model."""

from pathlib import Path

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import WhitespaceSplit
from tokenizers.processors import TemplateProcessing
from transformers import (
    BartConfig,
    BartForConditionalGeneration,
    ByT5Tokenizer,
    CamembertConfig,
    CamembertForMaskedLM,
    CLIPVisionConfig,
    LlamaConfig,
    LlavaConfig,
    LlavaForConditionalGeneration,
    LongformerConfig,
    LongformerForMaskedLM,
    MPNetConfig,
    MPNetForMaskedLM,
    PreTrainedTokenizerFast,
    RobertaConfig,
    RobertaForMaskedLM,
    T5Config,
    T5ForConditionalGeneration,
)

from lm.errors import LmError
from lm.huggingface.encoding import TextEncoder
from lm.huggingface.independent import logprobs_again
from lm.huggingface.load import load_hf
from lm.huggingface.scorer import HfScorer
from lm.huggingface.seq2seq import Seq2SeqScorer
from lm.registry import load_scorer
from tests.lm.toy_models import save_hf, tiny_gpt2, word_tokenizer

WORDS = ["<pad>", "</s>", "<unk>", "<s>", "the", "cat", "cats", "sleeps", "sleep", "sees", ".", "a"]
SIZES = {"d_model": 16, "vocab_size": len(WORDS)}
TEXTS = ["the cat sleeps .", "the cats sleep .", "a cat"]


def tokenizer(template: str) -> PreTrainedTokenizerFast:
    made = Tokenizer(WordLevel({word: n for n, word in enumerate(WORDS)}, unk_token="<unk>"))
    made.pre_tokenizer = WhitespaceSplit()
    special = [(word, WORDS.index(word)) for word in ("<s>", "</s>") if word in template]
    made.post_processor = TemplateProcessing(single=template, special_tokens=special)
    return PreTrainedTokenizerFast(
        tokenizer_object=made,
        unk_token="<unk>",
        eos_token="</s>",
        pad_token="<pad>",
        bos_token="<s>",
        model_max_length=32,
    )


def t5(folder: Path, **more: int) -> None:
    torch.manual_seed(1)
    config = T5Config(
        **{**SIZES, **more}, d_kv=8, d_ff=32, num_layers=2, num_heads=2, decoder_start_token_id=0,
        pad_token_id=0, eos_token_id=1, initializer_factor=2.0,
    )  # fmt: skip
    T5ForConditionalGeneration(config).eval().save_pretrained(folder)
    tokenizer("$A </s>").save_pretrained(folder)


def bart(folder: Path) -> None:
    torch.manual_seed(1)
    config = BartConfig(
        **SIZES, encoder_layers=1, decoder_layers=2, encoder_attention_heads=2,
        decoder_attention_heads=2, encoder_ffn_dim=32, decoder_ffn_dim=32,
        max_position_embeddings=40, bos_token_id=3, eos_token_id=1, pad_token_id=0,
        decoder_start_token_id=1, forced_eos_token_id=1, init_std=0.8,
    )  # fmt: skip
    BartForConditionalGeneration(config).eval().save_pretrained(folder)
    tokenizer("<s> $A </s>").save_pretrained(folder)


def llava(folder: Path) -> None:
    torch.manual_seed(1)
    text = LlamaConfig(
        vocab_size=len(WORDS), hidden_size=16, intermediate_size=32, num_hidden_layers=2,
        num_attention_heads=2, max_position_embeddings=64, initializer_range=0.8,
        bos_token_id=3, eos_token_id=1, pad_token_id=0,
    )  # fmt: skip
    vision = CLIPVisionConfig(
        hidden_size=8, intermediate_size=16, num_hidden_layers=1, num_attention_heads=2,
        image_size=8, patch_size=4, projection_dim=8,
    )  # fmt: skip
    config = LlavaConfig(vision_config=vision, text_config=text, image_token_index=2)
    LlavaForConditionalGeneration(config).eval().save_pretrained(folder)
    tokenizer("$A").save_pretrained(folder)


ENCODER_DECODERS = {"t5": t5, "bart": bart}


@pytest.fixture(params=ENCODER_DECODERS)
def encoder_decoder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    ENCODER_DECODERS[request.param](tmp_path / "model")
    return tmp_path / "model"


def test_an_encoder_decoder_says_the_completion_given_the_prefix(encoder_decoder: Path):
    scorer = load_hf(str(encoder_decoder), device="cpu")
    assert isinstance(scorer, Seq2SeqScorer)
    model, own = scorer.model, tokenizer("$A")
    [scores] = scorer.score([("the cat", "sees the cats")])
    read = torch.tensor([scorer._tokenizer("the cat")["input_ids"]])
    begin = [1, 3] if "bart" in type(model).__name__.lower() else [0]
    wanted = own("sees the cats")["input_ids"]
    decoded, expected = list(begin), []
    for token in wanted:
        read_so_far = torch.tensor([decoded])
        logits = model(input_ids=read, decoder_input_ids=read_so_far).logits[0, -1].detach()
        expected.append(float(torch.log_softmax(logits, -1)[token]))
        decoded.append(token)
    assert scores.logprobs_nats == pytest.approx(expected, abs=1e-4)
    assert scores.tokens == ("sees", "the", "cats")
    [other] = scorer.score([("the cats", "sees the cats")])
    assert abs(float(other.logprobs_nats.sum() - scores.logprobs_nats.sum())) > 1e-3


def test_an_encoder_decoder_does_not_depend_on_what_is_asked_beside_it(encoder_decoder: Path):
    scorer = load_hf(str(encoder_decoder), device="cpu")
    asked = [("", text) for text in TEXTS] + [("the cat", "sleeps ."), ("a", "cat sees")]
    together = scorer.score(asked)
    for request, one in zip(asked, together, strict=True):
        [alone] = scorer.score([request])
        assert alone.logprobs_nats == pytest.approx(one.logprobs_nats, abs=1e-5)


@pytest.mark.parametrize("write", [t5, bart, llava])
def test_the_second_implementation_agrees(write, tmp_path: Path):
    write(tmp_path / "model")
    scores = load_scorer(f"hf:{tmp_path / 'model'}").score([("", text) for text in TEXTS])
    again = logprobs_again(str(tmp_path / "model"), TEXTS)
    for one, other in zip(scores, again, strict=True):
        assert one.logprobs_nats == pytest.approx(other, abs=1e-4)


def test_an_encoder_decoder_refuses_what_is_too_long(encoder_decoder: Path):
    with pytest.raises(LmError, match="reads 32 tokens at most"):
        load_hf(str(encoder_decoder)).score([("the cat " * 20, "sleeps")])


def test_an_encoder_decoder_that_reads_bytes_is_refused_for_its_tokenizer(tmp_path: Path):
    t5(tmp_path / "model", vocab_size=384)
    for file in (tmp_path / "model").glob("token*"):
        file.unlink()
    ByT5Tokenizer().save_pretrained(tmp_path / "model")
    with pytest.raises(LmError, match=r"does not report the positions of its tokens .*\(ByT5\)"):
        load_hf(str(tmp_path / "model"))


def test_an_encoder_decoder_that_does_not_say_how_its_decoder_begins_is_refused(tmp_path: Path):
    t5(tmp_path / "model")
    config = tmp_path / "model" / "config.json"
    config.write_text(config.read_text().replace('"decoder_start_token_id": 0,', ""))
    with pytest.raises(LmError, match=r"model has no decoder_start_token_id in its config\.json"):
        load_hf(str(tmp_path / "model"))


def test_a_model_of_images_and_text_is_read_by_its_text_alone(tmp_path: Path):
    llava(tmp_path / "model")
    scorer = load_hf(str(tmp_path / "model"), device="cpu")
    whole = LlavaForConditionalGeneration.from_pretrained(tmp_path / "model").eval()
    [scores] = scorer.score([("", TEXTS[0])])
    ids = [3, *tokenizer("$A")(TEXTS[0])["input_ids"]]
    with torch.inference_mode():
        hidden = whole.model.language_model(torch.tensor([ids])).last_hidden_state
        said = torch.log_softmax(whole.lm_head(hidden)[0], -1).numpy()
    expected = [said[n, token] for n, token in enumerate(ids[1:])]
    assert scores.logprobs_nats == pytest.approx(np.array(expected), abs=1e-4)


def test_a_tokenizer_may_have_tokens_that_the_model_lacks_until_a_text_has_one(tmp_path: Path):
    larger = tokenizer("$A")
    larger.add_tokens(["zebra", "yak"])
    save_hf(tmp_path / "model", tiny_gpt2(len(WORDS)), larger)
    scorer = load_scorer(tmp_path / "model")
    assert np.isfinite(scorer.score([("", "the cat sleeps .")])[0].logprobs_nats).all()
    with pytest.raises(LmError, match='the tokenizer\'s token "zebra", but the model knows 12'):
        scorer.score([("", "the zebra sleeps .")])


def test_a_tokenizer_may_have_fewer_tokens_than_the_model(tmp_path: Path):
    save_hf(tmp_path / "model", tiny_gpt2(len(WORDS) + 52), tokenizer("$A"))
    [scores] = load_scorer(tmp_path / "model").score([("", "the cat sleeps .")])
    assert np.isfinite(scores.logprobs_nats).all() and len(scores.tokens) == 4


@pytest.mark.parametrize(
    ("make", "config"),
    [(CamembertForMaskedLM, CamembertConfig), (MPNetForMaskedLM, MPNetConfig),
     (LongformerForMaskedLM, LongformerConfig), (RobertaForMaskedLM, RobertaConfig)],
)  # fmt: skip
def test_positions_that_begin_after_the_padding_tokens_number_shorten_the_window(
    tmp_path: Path, make, config
):
    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    torch.manual_seed(1)
    known = word_tokenizer(masked=True)
    known.model_max_length = 512
    more = {"attention_window": 4} if config is LongformerConfig else {}
    save_hf(
        tmp_path / "model",
        make(config(vocab_size=len(known), intermediate_size=16, max_position_embeddings=34,
                    pad_token_id=1, bos_token_id=0, eos_token_id=2, **sizes, **more)),
        known,
    )  # fmt: skip
    # 34 positions less the two that no token has: position 0, and that of padding.
    assert load_scorer(tmp_path / "model").encoder.window == 32


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda model: model.transformer.wte.weight.data[1].fill_(float("nan")),
         r"m gives scores that are not finite numbers: "
         r"its weights transformer\.wte\.weight hold NaN"),
        (lambda model: model.half().transformer.ln_f.weight.data.fill_(60_000.0),
         r"the greatest of float16\. Load it with --dtype bfloat16"),
    ],
)  # fmt: skip
def test_scores_that_are_no_numbers_are_refused_with_their_reason(spoil, message):
    model = tiny_gpt2(len(WORDS))
    spoil(model)
    encoder = TextEncoder(tokenizer("$A"), window=32, masked=False, name="m")
    with pytest.raises(LmError, match=message):
        HfScorer(model, encoder, name="m", trained_on="x")
