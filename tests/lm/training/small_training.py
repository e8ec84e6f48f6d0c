"""A small corpus and a small training, for the tests of everything that trains."""

from collections.abc import Callable
from pathlib import Path

import torch

from lm.corpora.folder import CorpusChoices, prepare
from lm.devices import Processes
from lm.training.loop import Trainer
from lm.training.plan import TrainingPlan, read_tag_data
from lm.training.run import CheckpointWriter, finish_training, start_or_resume
from lm.training.settings import TrainingSettings

NOUNS = (("cat", "cats"), ("dog", "dogs"), ("author", "authors"))
SETTINGS = TrainingSettings(
    hidden=12, embedding=12, layers=2, dropout=0.2, batch=4, steps=6, lr=5.0, epochs=3
)


def never() -> bool:
    return False


def write_corpus(folder: Path) -> Path:
    """Write 240 sentences of twelve kinds as train.txt and valid.txt, and tagged ones."""
    lines, tagged = [], []
    for number in range(240):
        noun = NOUNS[number % 3][number // 3 % 2]
        verb = ("sleeps", "sleep")[number // 3 % 2]
        lines.append(f"the {noun} often {verb} ." if number % 2 else f"the {noun} {verb} .")
        tagged.append(f"the\tdet\n{noun}\tnoun\n{verb}\tverb\n.\tend\n\n")
    for sub, texts, end in (("words", lines, "\n"), ("tags", tagged, "")):
        (folder / sub).mkdir(parents=True)
        (folder / sub / "train.txt").write_text(end.join(texts[:200]) + end)
        (folder / sub / "valid.txt").write_text(end.join(texts[200:]) + end)
    return folder


def plan(data: Path, out: Path, **changes: object) -> TrainingPlan:
    settings = SETTINGS.changed(**changes)
    corpus = prepare(data / "words", CorpusChoices(), data / "cache")
    tags = read_tag_data(data / "tags", corpus) if settings.type == "multitask" else None
    return TrainingPlan(settings, corpus, tags, "", out)


def trainer(
    planned: TrainingPlan,
    resume: bool = False,
    stop: Callable[[], bool] = never,
    due: Callable[[], bool] = never,
) -> Trainer:
    alone = Processes()
    writer = CheckpointWriter(planned, alone, lambda *_: None, lambda _: None, due, stop)
    return start_or_resume(planned, writer, torch.device("cpu"), alone, resume)


def train_whole(planned: TrainingPlan, resume: bool = False) -> Trainer:
    training = trainer(planned, resume)
    assert training.run()
    finish_training(planned, training.progress)
    return training


def after(n: int) -> Callable[[], bool]:
    """Return what says yes when it is asked for the nth time and ever after."""
    asked = 0

    def yes() -> bool:
        nonlocal asked
        asked += 1
        return asked >= n

    return yes
