"""The untrained models of the speed table: an LSTM and a small Llama that know the words."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Protocol

import torch
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import WhitespaceSplit
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from lm.corpora.vocab import STREAM_WORDS, vocabulary_by_frequency, write_vocabulary
from lm.registry import load_scorer
from lm.rnn.folder import VOCABULARY, WEIGHTS, load_network, save_weights
from lm.rnn.network import NetworkShape, build_network
from lm.scorer import Scorer

Way = list[tuple[str, tuple[str, ...]]]


class Timed(Protocol):
    """A model that reads requests together, or a way's prompts one after the other."""

    name: str

    def together(self, requests: list[tuple[str, str]]) -> list[float]:
        """Return each request's log-probability in nats."""
        ...

    def cached(self, way: Way) -> list[float]:
        """Return the same of each answer to each prompt, of which each begins the next."""
        ...


def _words(prompts: Iterable[str]) -> list[str]:
    return sorted({word for prompt in prompts for word in prompt.split()})


def _scored(scorer: Scorer, requests: list[tuple[str, str]]) -> list[float]:
    return [float(one.logprobs_nats.sum()) for one in scorer.score(requests)]


class Lstm:
    """Two layers of 200 units."""

    name = "LSTM, 2 layers of 200"

    def __init__(self, folder: Path, prompts: Iterable[str]) -> None:
        folder.mkdir()
        words = dict.fromkeys(_words(prompts), 1)
        vocabulary = vocabulary_by_frequency(words, min_count=0, special=STREAM_WORDS)
        torch.manual_seed(1)
        sizes = {"embedding_size": 200, "hidden_size": 200, "layers": 2}
        shape = {"kind": "lstm", "vocabulary_size": len(vocabulary.words), **sizes}
        network = build_network(NetworkShape.from_config(shape))
        save_weights(network, folder / WEIGHTS)
        write_vocabulary(folder / VOCABULARY, vocabulary)
        config = {"type": "recurrent", "network": network.shape.to_config(), "name": "lstm"}
        (folder / "config.json").write_text(json.dumps({**config, "trained_on": "nothing"}))
        self._scorer, self._trained = load_scorer(folder), load_network(folder)

    def together(self, requests: list[tuple[str, str]]) -> list[float]:
        """See ``Timed``."""
        return _scored(self._scorer, requests)

    def cached(self, way: Way) -> list[float]:
        """See ``Timed``."""
        network, vocabulary = self._trained.network, self._trained.vocabulary
        state, read, found = network.initial_state(1), 0, list[float]()
        for prompt, answers in way:
            ids = [vocabulary.begin, *(vocabulary[word] for word in prompt.split())]
            hidden, state = network(torch.tensor(ids[read:])[:, None], state)
            read = len(ids)
            logprobs = network.decoder(hidden[-1, 0]).log_softmax(-1)
            found += [float(logprobs[vocabulary[answer]]) for answer in answers]
        return found


class Llama:
    """Four layers of 256 units."""

    name = "Llama (Hugging Face), 4 layers of 256"

    def __init__(self, folder: Path, prompts: Iterable[str]) -> None:
        words = {word: n for n, word in enumerate(["<unk>", "</s>", *_words(prompts)])}
        tokenizer = Tokenizer(WordLevel(words, unk_token="<unk>"))
        tokenizer.pre_tokenizer = WhitespaceSplit()
        PreTrainedTokenizerFast(
            tokenizer_object=tokenizer, unk_token="<unk>", eos_token="</s>", model_max_length=8192
        ).save_pretrained(folder)
        torch.manual_seed(1)
        config = LlamaConfig(
            vocab_size=len(words),
            hidden_size=256,
            intermediate_size=1024,
            num_hidden_layers=4,
            num_attention_heads=4,
            max_position_embeddings=8192,
            bos_token_id=1,
            eos_token_id=1,
        )
        LlamaForCausalLM(config).save_pretrained(folder)
        self._numbers, self._scorer = words, load_scorer(f"hf:{folder}", "cpu")

    def together(self, requests: list[tuple[str, str]]) -> list[float]:
        """See ``Timed``."""
        return _scored(self._scorer, requests)

    def cached(self, way: Way) -> list[float]:
        """See ``Timed``."""
        model, past, read, found = self._scorer.model, None, 0, list[float]()
        for prompt, answers in way:
            ids = [1, *(self._numbers[word] for word in prompt.split())]
            new = torch.tensor([ids[read:]])
            out = model(input_ids=new, past_key_values=past, use_cache=True, logits_to_keep=1)
            past, read = out.past_key_values, len(ids)
            logprobs = out.logits[0, -1].log_softmax(-1)
            found += [float(logprobs[self._numbers[answer]]) for answer in answers]
        return found


KINDS: tuple[type[Timed], ...] = (Lstm, Llama)
