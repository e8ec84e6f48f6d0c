"""Vectors of texts by an encoder, compared with padded means of the library's own model."""

import json

import pytest
import torch
from tokenizers import pre_tokenizers
from transformers import BertForMaskedLM, T5Config

from analysis.typed.embeddings import read_embedding
from lm.errors import LmError
from lm.huggingface.encoder import Encoder
from tests.lm.huggingface.toy_tokenizers import masked_model, trained

TEXTS = ["cat", "the cat sleeps", "dog", "cat \N{SNOWMAN}", "dog " * 200]


@pytest.fixture
def folder(tmp_path):
    words = pre_tokenizers.Whitespace()
    tokenizer = trained("words", words, ["the cat sleeps", "a dog"], 20)
    tokenizer.save_pretrained(tmp_path)
    masked_model(len(tokenizer)).save_pretrained(tmp_path)
    return tmp_path


def test_a_vector_is_the_mean_of_the_last_layer_over_the_tokens(folder):
    encoder = Encoder(folder)
    vectors = encoder.embed(TEXTS)
    model = BertForMaskedLM.from_pretrained(folder).bert.eval()
    tokenizer = encoder._tokenizer
    rows = [tokenizer(text)["input_ids"] for text in TEXTS[:3]]
    longest = max(map(len, rows))
    mask = torch.tensor([[1] * len(row) + [0] * (longest - len(row)) for row in rows])
    tokens = torch.tensor([row + [0] * (longest - len(row)) for row in rows])
    with torch.inference_mode():
        states = model(input_ids=tokens, attention_mask=mask).last_hidden_state
    means = (states * mask[:, :, None]).sum(1) / mask.sum(1, keepdim=True)
    assert torch.tensor(vectors[:3]).float().numpy() == pytest.approx(means.numpy(), abs=1e-5)
    # A text with an unknown token, or too long, has none.
    assert (vectors[3:] != vectors[3:]).all()


def test_an_embedding_scales_the_encoders_vectors(folder):
    embedding = read_embedding(folder)
    assert embedding.kind == "mean over the tokens of a BertModel"
    assert (embedding.embed(["cat", "dog"]) ** 2).sum(1) == pytest.approx([1, 1])


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        (
            "1_Pooling/config.json",
            {"pooling_mode_cls_token": True},
            r"makes its vectors in another way \(pooling_mode_cls_token",
        ),
        (
            "modules.json",
            [{"type": "sentence_transformers.models.Dense"}],
            r"vectors in another way \(Dense",
        ),
        ("config.json", T5Config().to_dict(), "is an encoder-decoder model"),
    ],
)
def test_models_with_other_vectors_are_refused(folder, file, content, message):
    (folder / file).parent.mkdir(exist_ok=True)
    (folder / file).write_text(json.dumps(content))
    with pytest.raises(LmError, match=message):
        Encoder(folder)


def test_random_weights_and_folders_without_a_model_are_refused(folder, tmp_path):
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"num_hidden_layers": 2}))
    with pytest.raises(LmError, match=r"lacks 16 weights of a BertModel, .*they would be random"):
        Encoder(folder)
    (tmp_path / "empty").mkdir()
    with pytest.raises(LmError, match="there is no usable Hugging Face model"):
        Encoder(tmp_path / "empty")
    (folder / "modules.json").write_text("[")
    with pytest.raises(LmError, match="Expected the JSON of sentence-transformers"):
        Encoder(folder)
