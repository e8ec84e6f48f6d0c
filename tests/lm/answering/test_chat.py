"""Prompts in a model's own chat template: one beginning, an answer behind it, and thoughts."""

from pathlib import Path

import pytest
import torch
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Sequence, Split, WhitespaceSplit
from tokenizers.processors import TemplateProcessing
from transformers import PreTrainedTokenizerFast

from lm.answering.answerer import Question
from lm.errors import LmError
from lm.huggingface.chat import ChatAnswerer
from lm.huggingface.load import load_hf
from tests.lm.toy_models import tiny_gpt2

SPECIAL = ["<s>", "</s>", "<unk>", "<user>", "<model>", "<think>", "</think>"]
WORDS = [*SPECIAL, "the", "cat", "cats", "sleeps", "sleep", "A", "B", "or", "?", "Answer:"]
TEMPLATE = (
    "<s>{% for m in messages %} <user> {{ m.content }}{% endfor %}"
    "{% if add_generation_prompt %} <model>{% if enable_thinking %} <think>{% endif %}{% endif %}"
)
PROMPT = "the cat sleeps or the cat sleep ? Answer:"


def model(folder: Path, template: str = TEMPLATE) -> Path:
    made = Tokenizer(WordLevel({word: n for n, word in enumerate(WORDS)}, unk_token="<unk>"))
    made.pre_tokenizer = Sequence([WhitespaceSplit(), Split("\n", "removed")])
    # A tokenizer that puts the beginning before every text by itself, as Llama's does.
    made.post_processor = TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 0)])
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=made, bos_token="<s>", eos_token="</s>", unk_token="<unk>",
        model_max_length=32,
    )  # fmt: skip
    tokenizer.chat_template = template
    tiny_gpt2(len(WORDS)).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture
def chat(tmp_path: Path) -> ChatAnswerer:
    return ChatAnswerer(load_hf(str(model(tmp_path / "m")), device="cpu"), "one")


def expected(words: list[str], answer: str) -> float:
    ids = torch.tensor([[WORDS.index(word) for word in words]])
    with torch.inference_mode():
        logits = tiny_gpt2(len(WORDS))(ids).logits[0, -1]
    return float(torch.log_softmax(logits, -1)[WORDS.index(answer)])


def test_an_answer_is_read_right_behind_the_template_which_begins_once(chat: ChatAnswerer):
    [reply] = chat.reply([Question(PROMPT, ("A", "B"))])
    words = ["<s>", "<user>", *PROMPT.split(), "<model>"]
    assert reply.logprobs_nats == pytest.approx(
        [expected(words, answer) for answer in ("A", "B")], abs=1e-4
    )
    assert reply.n_hidden == 0 and reply.thoughts == ()
    encoded = chat._model.encoder.encode_rendered(chat._chat.render(PROMPT), "A")
    assert encoded.ids.count(WORDS.index("<s>")) == 1


def test_a_thought_stands_before_the_answer_and_is_counted(chat: ChatAnswerer):
    first, again = (chat.reply([Question(PROMPT, ("A", "B"), thinking=4)])[0] for _ in range(2))
    assert first == again
    assert first.n_hidden is not None and 1 <= first.n_hidden <= 4
    [thought] = first.thoughts
    words = ["<s>", "<user>", *PROMPT.split(), "<model>", "<think>", *thought.split(), "</think>"]
    assert first.logprobs_nats == pytest.approx(
        [expected(words, answer) for answer in ("A", "B")], abs=1e-4
    )
    [at_once] = chat.reply([Question(PROMPT, ("A", "B"))])
    assert at_once.logprobs_nats != first.logprobs_nats


def test_texts_without_a_prompt_are_scored_as_they_are(chat: ChatAnswerer):
    replies = chat.reply(
        [Question("", ("the cat",)), Question(PROMPT, ("A",)), Question("", ("A",))]
    )
    [plain] = chat._model.score([("", "the cat")])
    assert replies[0].logprobs_nats == (pytest.approx(float(plain.logprobs_nats.sum())),)
    assert len(replies) == 3


def test_a_thought_that_could_pass_the_window_is_refused_before(chat: ChatAnswerer):
    chat.refuse_too_long([Question(PROMPT, ("A",), thinking=8)])
    with pytest.raises(LmError, match="reads 32 tokens at most"):
        chat.refuse_too_long([Question(PROMPT, ("A",), thinking=30)])


def test_a_template_without_thoughts_cannot_think(tmp_path: Path):
    plain = model(tmp_path / "m", "<s>{% for m in messages %} <user> {{ m.content }}{% endfor %}")
    found = ChatAnswerer(load_hf(str(plain), device="cpu"), "one")
    with pytest.raises(LmError, match="no place for thoughts"):
        found.refuse_too_long([Question(PROMPT, ("A",), thinking=1)])


def test_a_model_without_a_template_is_no_chat(tmp_path: Path):
    folder = model(tmp_path / "m")
    (folder / "chat_template.jinja").unlink()
    with pytest.raises(LmError, match="has no chat template, so prompts cannot be a chat's"):
        ChatAnswerer(load_hf(str(folder), device="cpu"), "one")
