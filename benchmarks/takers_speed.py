"""How much faster prompts are that share their beginnings, than one call for each prompt.

python -m benchmarks.takers_speed
"""

import argparse
import json
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import torch

from experiment.authoring.check import require_sound
from experiment.materials.render import sentence_case, split_lower_case_tokens
from experiment.studies.load import load_study
from experiment.takers.labels import LABEL_SETS
from experiment.takers.prompt import Context, Prompter, Way, instructions_of
from experiment.takers.readings.base import Situation
from experiment.takers.readings.forced_choice import ForcedChoice
from experiment.takers.session import Screens, taker_sessions
from lm.corpora.vocab import STREAM_WORDS, vocabulary_by_frequency, write_vocabulary
from lm.registry import load_scorer
from lm.rnn.folder import VOCABULARY, WEIGHTS, save_weights
from lm.rnn.network import NetworkShape, build_network
from lm.scorer import Scorer

_SIZES = {"embedding_size": 200, "hidden_size": 200, "layers": 2}
# Prompts that are also run one by one, spread over the session.
_EVERY = 38


def prompts(named: str) -> list[tuple[str, str]]:
    """Return what a study's session asks: both orders, three sets of labels, its history."""
    study = load_study(named)
    screens = Screens(study, sentence_case, sentence_case)
    [session] = taker_sessions(study, require_sound(study, 1), screens, 1)
    prompter, reading, found = Prompter(study, screens), ForcedChoice(), list[tuple[str, str]]()
    answered = [(trial, screens.response.faultless(trial.arrangement)) for trial in session.trials]
    for labels in LABEL_SETS:
        for swapped in (False, True):
            way = Way(Context.HISTORY, labels, swapped)
            for index, trial in enumerate(session.trials):
                situation = Situation(way, prompter, instructions_of(study), answered[:index])
                [ask] = reading.asks(trial, situation)
                prompt = split_lower_case_tokens(ask.prompt)
                found += [(prompt, split_lower_case_tokens(answer)) for answer in ask.answers]
    return found


def model(folder: Path, asked: list[tuple[str, str]]) -> Scorer:
    """Return an untrained LSTM that knows every word of the prompts."""
    words = {word: 1 for pair in asked for text in pair for word in text.split()}
    vocabulary = vocabulary_by_frequency(words, min_count=0, special=STREAM_WORDS)
    torch.manual_seed(1)
    shape = {"kind": "lstm", "vocabulary_size": len(vocabulary.words), **_SIZES}
    network = build_network(NetworkShape.from_config(shape))
    save_weights(network, folder / WEIGHTS)
    write_vocabulary(folder / VOCABULARY, vocabulary)
    config = {"type": "recurrent", "network": network.shape.to_config(), "name": "lstm"}
    (folder / "config.json").write_text(json.dumps({**config, "trained_on": "nothing"}))
    return load_scorer(folder)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--study", default="marvin_linzen_2018")
    asked = prompts(parser.parse_args().study)
    n_prompts = len({prompt for prompt, _ in asked})
    with TemporaryDirectory() as folder:
        scorer = model(Path(folder), asked)
        started = time.perf_counter()
        together = scorer.score(asked)
        shared_s = time.perf_counter() - started
        some = [range(start, start + 2) for start in range(0, len(asked), 2 * _EVERY)]
        started = time.perf_counter()
        alone = [scorer.score([asked[place] for place in pair]) for pair in some]
        alone_s = (time.perf_counter() - started) * (len(asked) / 2) / len(some)
    worst = max(
        abs(float(together[place].logprobs_nats.sum() - one.logprobs_nats.sum()))
        for pair, own in zip(some, alone, strict=True)
        for place, one in zip(pair, own, strict=True)
    )
    n_tokens = sum(len(prompt.split()) for prompt in {prompt for prompt, _ in asked})
    print(f"{n_prompts} prompts, {n_tokens:,} tokens when each is read from its first token")
    print(f"together: {shared_s:.2f} s; one call per prompt: {alone_s:.1f} s, from {len(some)}")
    print(f"factor {alone_s / shared_s:.1f}; largest difference {worst:.1e} nats")


if __name__ == "__main__":
    main()
