"""Score sentences with the program published with Marvin & Linzen (2018) itself.

Its ``word-language-model/main.py`` runs as it is, for ``benchmarks/scoring.py``, in the Python of a
virtual environment that has dill and progress. As a script, in that Python, this file writes the
dictionary and the model that the program reads: ``scoring_original.py PROGRAM PLACE``.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import torch

DICTIONARY, MODEL, WEIGHTS, WORDS = "lm.bin", "model.pt", "weights.pt", "words.txt"
SIZES = (60, 300)
# PyTorch is told that the program's own pickles may be read, for which it knows no argument.
TRUSTING = {"TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD": "1", "PYTHONDONTWRITEBYTECODE": "1"}
# What the layers of ``lm.rnn.network`` are called there.
NAMES = {"embedding": "encoder", "recurrence": "rnn", "decoder": "decoder"}
Surprisals = dict[str, list[float]]


def original(
    clone: Path,
    python: str,
    words: Sequence[str],
    weights: Mapping[str, torch.Tensor],
    texts: Sequence[str],
) -> tuple[float, Surprisals]:
    """Have the program score two numbers of sentences, drawn evenly.

    Args:
        clone: A clone of the program's repository.
        python: The Python to run it.
        words: The vocabulary.
        weights: The state of an LSTM of ``lm.rnn.network`` with a full softmax.
        texts: Different sentences, more than the larger of ``SIZES``.

    Returns:
        Its sentences per second without its start, which both runs share, and the surprisals
        in nats of the words of the sentences of the larger run.
    """
    program = clone.absolute() / "word-language-model"
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / WORDS).write_text("\n".join(words))
        torch.save(
            {".".join([NAMES[name.split(".")[0]], *name.split(".")[1:]]): tensor
             for name, tensor in weights.items()},
            place / WEIGHTS,
        )  # fmt: skip
        subprocess.run([python, __file__, str(program), folder], check=True)
        drawn = [texts[:: len(texts) // size][:size] for size in SIZES]
        (few_s, _), (many_s, lines) = (run(python, program, place, own) for own in drawn)
    found: Surprisals = {text: [] for text in drawn[1]}
    for line in lines:
        _, sentence, _, _, surprisal, _ = line.split()
        found[drawn[1][int(sentence)]].append(float(surprisal))
    return (SIZES[1] - SIZES[0]) / (many_s - few_s), found


def run(python: str, program: Path, place: Path, texts: Sequence[str]) -> tuple[float, list[str]]:
    """Return the seconds that the program takes, and its line for each word."""
    (place / "test.txt").write_text("".join(f"{text}\n" for text in texts))
    command = [python, "main.py", "--test", "--words", "--lm_data", str(place),
               "--save", str(place / MODEL), "--save_lm_data", str(place / DICTIONARY)]  # fmt: skip
    threads = {"OMP_NUM_THREADS": str(torch.get_num_threads())}
    started = time.perf_counter()
    done = subprocess.run(
        command,
        cwd=program,
        env=os.environ | TRUSTING | threads,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        check=True,
    )
    seconds = time.perf_counter() - started
    # Below the columns' names and an empty line, above the mean loss between two rules of signs.
    return seconds, done.stdout.splitlines()[2:-3]


def prepare(program: Path, place: Path) -> None:
    """Write the dictionary and the model as the program would have, from words and weights."""
    sys.path.insert(0, str(program))
    import data
    import dill
    import model

    dictionary = data.Dictionary()
    for word in (place / WORDS).read_text().split("\n"):
        dictionary.add_word(word)
    torch.save(dictionary, place / DICTIONARY, pickle_module=dill)
    weights = torch.load(place / WEIGHTS)
    n_words, size = weights["encoder.weight"].shape
    network = model.RNNModel("LSTM", n_words, size, weights["decoder.weight"].shape[1], 2)
    network.load_state_dict(weights)
    torch.save(network, place / MODEL)


if __name__ == "__main__":
    prepare(Path(sys.argv[1]), Path(sys.argv[2]))
