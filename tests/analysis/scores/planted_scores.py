"""Plant errors in the scoring code: does the check in every run stop the run?

``python -m tests.analysis.scores.planted_scores`` writes small models and 400 items, plants one
error at a time in the scoring code, runs the command ``parallax lm score``, and prints the
outcome:

stopped   the command ended with an error and wrote nothing
MISSED    a score file was written

Each error changes the user's results. The command fails if fewer than 19 of 20 errors are
stopped, or if a run without any error is stopped. The errors were written down before any of them
was tried.
"""

import itertools
import json
import random
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, cast
from unittest.mock import patch

import numpy as np
import torch
from click.testing import CliRunner
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from transformers import (
    BertConfig,
    BertForMaskedLM,
    GPT2Config,
    GPT2LMHeadModel,
    PreTrainedTokenizerFast,
)

from analysis.commands.score import score
from analysis.scores import materials
from lm.corpora.text import count_words, encode
from lm.corpora.vocab import STREAM_WORDS, vocabulary_by_frequency, write_vocabulary
from lm.huggingface import encoding, load
from lm.huggingface.encoding import TextEncoder
from lm.huggingface.scorer import HfScorer
from lm.ngram import model as ngram
from lm.ngram.counts import count_ngrams
from lm.ngram.estimate import estimate
from lm.ngram.table import NgramTable
from lm.rnn import scorer as rnn
from lm.rnn.folder import VOCABULARY, WEIGHTS, save_weights
from lm.rnn.network import NetworkShape, build_network
from lm.rnn.steps import DeduplicatedStep
from lm.scorer import TokenScores
from lm.scoring.tree_packing import CheckedPacking
from lm.sharding import scorer_of

N_ITEMS = 400
_WHO = ("author", "senator", "pilot", "surgeon", "farmer", "manager", "customer", "officer",
        "teacher", "consultant")  # fmt: skip
_NEAR = ("guard", "chef", "architect", "skater", "dancer", "minister", "driver", "assistant",
         "executive", "parent")  # fmt: skip
_DOES = (("laughs", "laugh"), ("swims", "swim"), ("smiles", "smile"), ("is tall", "are tall"))


def sentences() -> list[tuple[str, str]]:
    """Return the good and the bad sentence of each item."""
    every = itertools.product(_WHO, _NEAR, _DOES)
    return [
        (f"The {who} near the {other}s {good}.", f"The {who} near the {other}s {bad}.")
        for who, other, (good, bad) in every
    ][:N_ITEMS]


def write_items(path: Path) -> None:
    """Write the items as a table."""
    rows = [f"i-{n}\tagreement\t{one}\t{two}" for n, (one, two) in enumerate(sentences())]
    path.write_text("\n".join(["item_id\tconstruction\tgood\tbad", *rows]) + "\n")


def tokenizer() -> PreTrainedTokenizerFast:
    """Return a byte-level tokenizer trained on the items, whose words have several tokens."""
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    special = ["<s>", "</s>", "<mask>", "<unk>"]
    trainer = trainers.BpeTrainer(
        vocab_size=340,
        special_tokens=special,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    made.train_from_iterator([text for pair in sentences() for text in pair], trainer)
    made.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 1)]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=made, bos_token="<s>", eos_token="</s>", mask_token="<mask>",
        unk_token="<unk>", model_max_length=64,
    )  # fmt: skip


def write_causal(folder: Path) -> None:
    """Write a small causal transformer."""
    own = tokenizer()
    torch.manual_seed(1)
    sizes = {"n_embd": 32, "n_layer": 2, "n_head": 2, "n_positions": 64}
    shape = GPT2Config(vocab_size=len(own), initializer_range=0.3, bos_token_id=0, eos_token_id=1,
                       **sizes)  # fmt: skip
    _save(folder, GPT2LMHeadModel(shape), own)


def write_masked(folder: Path) -> None:
    """Write a small masked transformer."""
    own = tokenizer()
    torch.manual_seed(1)
    sizes = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2,
             "intermediate_size": 64, "max_position_embeddings": 64}  # fmt: skip
    _save(
        folder,
        BertForMaskedLM(BertConfig(vocab_size=len(own), initializer_range=0.3, **sizes)),
        own,
    )


def _save(folder: Path, model: Any, own: PreTrainedTokenizerFast) -> None:
    model.save_pretrained(folder / "weights")
    own.save_pretrained(folder / "weights")
    (folder / "config.json").write_text(
        json.dumps({"type": "hf", "model": "./weights", "name": folder.name})
    )


def _words() -> list[list[str]]:
    return [text.lower().replace(".", " .").split() for pair in sentences() for text in pair]


def write_lstm(folder: Path) -> None:
    """Write a small recurrent network."""
    vocabulary = vocabulary_by_frequency(count_words(_words()), special=STREAM_WORDS)
    shape = {"kind": "lstm", "vocabulary_size": len(vocabulary.words), "embedding_size": 16,
             "hidden_size": 16, "layers": 2}  # fmt: skip
    torch.manual_seed(1)
    network = build_network(NetworkShape.from_config(shape))
    with torch.no_grad():
        for weights in network.parameters():
            weights.mul_(3)
    folder.mkdir()
    save_weights(network, folder / WEIGHTS)
    write_vocabulary(folder / VOCABULARY, vocabulary)
    (folder / "config.json").write_text(
        json.dumps({"type": "recurrent", "network": network.shape.to_config()})
    )


def write_ngram(folder: Path) -> None:
    """Write a trigram model, estimated from half of the items' sentences."""
    vocabulary = vocabulary_by_frequency(count_words(_words()))
    counted = list(count_ngrams(encode(_words()[::3], vocabulary), vocabulary, 3))
    ngram.save(folder, estimate(counted, vocabulary).table, {"name": "trigram"})


MODELS: dict[str, Callable[[Path], None]] = {
    "causal": write_causal,
    "masked": write_masked,
    "lstm": write_lstm,
    "ngram": write_ngram,
}


@dataclass(frozen=True, slots=True)
class Error:
    """One error: which model it is planted in, and what plants it."""

    model: str
    plant: Callable[[], AbstractContextManager[Any]]


def _scores(change: Callable[[int, TokenScores], TokenScores]) -> AbstractContextManager[Any]:
    """Change what a transformer's scorer says of the n-th text that it is asked about."""
    right = HfScorer.score

    def wrong(self: HfScorer, requests: Sequence[tuple[str, str]]) -> list[TokenScores]:
        return [change(n, one) for n, one in enumerate(right(self, requests))]

    return patch.object(HfScorer, "score", wrong)


def _times(one: TokenScores, factor: float) -> TokenScores:
    return replace(one, logprobs_nats=one.logprobs_nats * factor)


def _some_off(n: int, one: TokenScores) -> TokenScores:
    if random.Random(n).random() >= 0.01:
        return one
    found = one.logprobs_nats.copy()
    found[-1] -= 2.0
    return replace(one, logprobs_nats=found)


def _exchanged() -> AbstractContextManager[Any]:
    right = HfScorer.score

    def wrong(self: HfScorer, requests: Sequence[tuple[str, str]]) -> list[TokenScores]:
        found = right(self, requests)
        for n in range(0, len(found) - 1, 50):
            found[n], found[n + 1] = found[n + 1], found[n]
        return found

    return patch.object(HfScorer, "score", wrong)


def _texts(change: Callable[[str], str]) -> AbstractContextManager[Any]:
    """Let a transformer's scorer read another text than it is given."""
    right = TextEncoder.encode

    def wrong(self: TextEncoder, context: str, continuation: str) -> encoding.Encoded:
        return right(self, context, change(continuation))

    return patch.object(TextEncoder, "encode", wrong)


def _encoded(change: Callable[[encoding.Encoded], encoding.Encoded]) -> AbstractContextManager[Any]:
    right = TextEncoder.encode

    def wrong(self: TextEncoder, context: str, continuation: str) -> encoding.Encoded:
        return change(right(self, context, continuation))

    return patch.object(TextEncoder, "encode", wrong)


def _rows(change: Callable[[list[encoding.Row], encoding.Encoded], list[encoding.Row]]) -> Any:
    right = TextEncoder.rows

    def wrong(self: TextEncoder, one: encoding.Encoded) -> list[encoding.Row]:
        return change(right(self, one), one)

    return patch.object(TextEncoder, "rows", wrong)


def _not_hidden(rows: list[encoding.Row], one: encoding.Encoded) -> list[encoding.Row]:
    return [
        replace(row, ids=tuple(one.ids[n] if n == row.places[0] else i
                               for n, i in enumerate(row.ids)))
        for row in rows
    ]  # fmt: skip


def _right_hidden(rows: list[encoding.Row], one: encoding.Encoded) -> list[encoding.Row]:
    hidden = rows[0].ids[rows[0].places[0]]
    return [
        replace(row, ids=tuple(hidden if n >= row.places[0] and n in one.scored else i
                               for n, i in enumerate(one.ids)))
        for row in rows
    ]  # fmt: skip


def _without_ends(rows: list[encoding.Row], one: encoding.Encoded) -> list[encoding.Row]:
    return [replace(row, ids=row.ids[:-1]) for row in rows]


def _own_place(rows: list[encoding.Row], one: encoding.Encoded) -> list[encoding.Row]:
    return [replace(row, places=tuple(max(0, p - 1) for p in row.places)) for row in rows]


def _loaded(change: Callable[[HfScorer], None]) -> AbstractContextManager[Any]:
    right = load.load_hf

    def wrong(*given: Any, **named: Any) -> HfScorer:
        found = cast(HfScorer, right(*given, **named))
        found.packing = False
        change(found)
        return found

    return patch.object(load, "load_hf", wrong)


def _begin_with(scorer: HfScorer) -> None:
    scorer.encoder.beginning = 1


def _rounded(scorer: HfScorer) -> None:
    scorer.model.to(torch.float16).to(torch.float32)


def _training(scorer: HfScorer) -> None:
    scorer.model.train()


def _shallow(scorer: HfScorer) -> None:
    scorer.model.transformer.h = scorer.model.transformer.h[:1]


def _later_tokens_only(scorer: HfScorer) -> None:
    scorer.encoder.pll = "original"


@contextmanager
def _answers_early() -> Iterator[None]:
    # Texts that are packed are read at places of their own.
    with _loaded(lambda _: None), _rows(_own_place):
        yield


@contextmanager
def _packed_wrongly() -> Iterator[None]:
    with (
        patch.object(CheckedPacking, "_describe_difference", lambda *_: ""),
        patch(
            "lm.scoring.tree_packing.ancestors", lambda parents: np.eye(len(parents), dtype=bool)
        ),
    ):
        yield


def _table(change: Callable[[dict[str, Any]], dict[str, Any]]) -> AbstractContextManager[Any]:
    """Change the columns of the score table after they are made."""
    right = materials.make_score_table

    def wrong(*given: Any) -> Any:
        table = right(*given)
        return type(table).from_pydict(change(table.to_pydict()), schema=table.schema)

    return patch("analysis.scores.file.make_score_table", wrong)


_OF_SCORES = ("logprob_nats", "n_tokens", "n_unknown", "token_logprobs_nats", "token_unknown",
              "difference_at", "logprob_from_difference_nats")  # fmt: skip


def _rolled(columns: dict[str, Any]) -> dict[str, Any]:
    return {k: v[2:] + v[:2] if k in _OF_SCORES else v for k, v in columns.items()}


def _reversed(columns: dict[str, Any]) -> dict[str, Any]:
    swap = [n ^ 1 for n in range(len(columns["variant"]))]
    return {k: [v[n] for n in swap] if k in _OF_SCORES else v for k, v in columns.items()}


def _means(columns: dict[str, Any]) -> dict[str, Any]:
    sums = [v / n for v, n in zip(columns["logprob_nats"], columns["n_tokens"], strict=True)]
    return {**columns, "logprob_nats": sums}


def _lost(columns: dict[str, Any]) -> dict[str, Any]:
    return {name: values[:-2] for name, values in columns.items()}


def _read_texts(change: Callable[[str], str]) -> AbstractContextManager[Any]:
    right = materials.collect_sentences

    def wrong(items: Any, render: Callable[[str], str], **named: Any) -> Any:
        return right(items, lambda text: change(render(text)), **named)

    return patch("analysis.scores.file.collect_sentences", wrong)


def _step_off() -> AbstractContextManager[Any]:
    right = DeduplicatedStep._step

    def wrong(self: Any, state: Any, parents: Any, tokens: Any, after: Any) -> None:
        right(self, state, parents, tokens, after)
        after[0].mul_(1.01)

    return patch.object(DeduplicatedStep, "_step", wrong)


def _words_off(name: str) -> AbstractContextManager[Any]:
    right = rnn.RecurrentScorer._number_tokens

    def wrong(self: Any, tokens: Sequence[str]) -> list[int]:
        return right(self, ["</s>" if token == name else token for token in tokens])

    return patch.object(rnn.RecurrentScorer, "_number_tokens", wrong)


def _ngram(change: Callable[[Any], Any]) -> AbstractContextManager[Any]:
    right = NgramTable.logprobs_log10

    def wrong(self: NgramTable, text: Any, begin: int) -> Any:
        return change(right(self, text, begin))

    return patch.object(NgramTable, "logprobs_log10", wrong)


def _without_beginning() -> AbstractContextManager[Any]:
    right = NgramTable.logprobs_log10

    def wrong(self: NgramTable, text: Any, begin: int) -> Any:
        changed = np.where(text == begin, text[1], text)
        return right(self, changed, begin)

    return patch.object(NgramTable, "logprobs_log10", wrong)


def _first_word_twice(one: encoding.Encoded) -> encoding.Encoded:
    shifted = tuple(place + 1 for place in one.scored)
    return replace(
        one, ids=(one.ids[0], *one.ids), scored=shifted, words=(None, *one.words), ends=one.ends
    )


def _last_left_out(one: encoding.Encoded) -> encoding.Encoded:
    return replace(one, scored=one.scored[:-1], ends=one.ends[:-1])


ERRORS: dict[str, Error] = {
    "another token at the beginning": Error("causal", partial(_loaded, _begin_with)),
    "the beginning twice": Error("causal", partial(_encoded, _first_word_twice)),
    "the last token left out": Error("causal", partial(_encoded, _last_left_out)),
    "texts in small letters": Error("causal", partial(_texts, str.lower)),
    "texts without the last mark": Error("causal", partial(_texts, lambda text: text.rstrip("."))),
    "a space before each text": Error("causal", partial(_texts, lambda text: f" {text}")),
    "answers read one place too early": Error("causal", _answers_early),
    "one sentence in a hundred off by 2 nats": Error("causal", partial(_scores, _some_off)),
    "one sentence in fifty with another's scores": Error("causal", _exchanged),
    "logarithms to base 2": Error("causal", partial(_scores, lambda _, x: _times(x, 1.4427))),
    "a temperature of 1.05": Error("causal", partial(_scores, lambda _, x: _times(x, 1 / 1.05))),
    "weights rounded to 16 bits": Error("causal", partial(_loaded, _rounded)),
    "dropout left on": Error("causal", partial(_loaded, _training)),
    "a layer left out": Error("causal", partial(_loaded, _shallow)),
    "packed without what stands before": Error("causal", _packed_wrongly),
    "rows of the next item": Error("causal", partial(_table, _rolled)),
    "good and bad exchanged": Error("causal", partial(_table, _reversed)),
    "means in place of sums": Error("causal", partial(_table, _means)),
    "the last item lost": Error("causal", partial(_table, _lost)),
    "another rendering": Error("causal", partial(_read_texts, str.upper)),
    "a token not hidden": Error("masked", partial(_rows, _not_hidden)),
    "everything to the right hidden": Error("masked", partial(_rows, _right_hidden)),
    "only the token itself hidden": Error("masked", partial(_loaded, _later_tokens_only)),
    "the token at the end missing": Error("masked", partial(_rows, _without_ends)),
    "states one hundredth too large": Error("lstm", _step_off),
    "a word taken for the end": Error("lstm", partial(_words_off, "near")),
    "log10 taken for nats": Error("ngram", partial(_ngram, lambda found: found / 2.302585)),
    "no beginning of the sentence": Error("ngram", _without_beginning),
}


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one error: its model and name, whether the run stopped, and what it said."""

    model: str
    error: str
    stopped: bool
    said: str


def outcomes(names: Sequence[str] = tuple(ERRORS)) -> Iterator[Outcome]:
    """Yield what becomes of runs with each error, and of one without any for each model."""
    with tempfile.TemporaryDirectory() as folder:
        items = Path(folder) / "items.tsv"
        write_items(items)
        for model in dict.fromkeys(ERRORS[name].model for name in names):
            MODELS[model](Path(folder) / model)
            yield _run(Path(folder), model, "")
        for name in names:
            yield _run(Path(folder), ERRORS[name].model, name)


def _run(folder: Path, model: str, name: str) -> Outcome:
    out = folder / "scores.parquet"
    scorer_of.cache_clear()
    with ExitStack() as planted:
        if name:
            planted.enter_context(ERRORS[name].plant())
        given = [str(folder / model), str(folder / "items.tsv"), "--out", str(out)]
        result = CliRunner().invoke(score, given)
    stopped = not out.exists()
    out.unlink(missing_ok=True)
    said = str(result.exception or result.output.strip().splitlines()[-1])
    return Outcome(model, name, stopped, said.replace(str(folder), ""))


def main() -> None:
    """Print what became of each error."""
    # Models so small are slowed down by more than one thread.
    torch.set_num_threads(1)
    found = list(outcomes())
    for one in found:
        if one.error:
            print(f"{'stopped' if one.stopped else 'MISSED ':8} {one.model:7} {one.error}")
        else:
            print(f"{'STOPPED' if one.stopped else 'passed':8} {one.model:7} without any error")
    planted = [one for one in found if one.error]
    stopped = sum(one.stopped for one in planted)
    print(f"{stopped} of {len(planted)} planted errors stopped their run")
    false = any(one.stopped for one in found if not one.error)
    if false or stopped < len(planted) * 19 / 20:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
