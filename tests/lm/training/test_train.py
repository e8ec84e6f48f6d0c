"""The training loop: what it learns, and that stopping loses nothing."""

import csv
import math
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from lm.devices import choose_device
from lm.errors import LmError
from lm.model_folder import read_config, write_config
from lm.rnn.folder import load_network
from lm.training.checkpoint import load_checkpoint
from lm.training.run import is_finished
from lm.training.settings import get_preset
from tests.lm.training.small_training import after, plan, train_whole, trainer, write_corpus

VARIANTS = ({}, {"type": "srn"}, {"type": "windowed"}, {"type": "multitask"}, {"softmax": "tied"})


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return write_corpus(tmp_path / "data")


def metrics(folder: Path) -> list[dict[str, str]]:
    with (folder / "metrics.csv").open() as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        del row["seconds"], row["tokens_per_second"]
    return rows


@pytest.mark.parametrize("changes", VARIANTS, ids=str)
def test_a_model_learns(data: Path, tmp_path: Path, changes: dict[str, object]):
    planned = plan(data, tmp_path / "model", **changes)
    train_whole(planned)
    rows = metrics(planned.out)
    assert [row["epoch"] for row in rows] == ["1", "2", "3"]
    losses = [float(row["valid_loss_nats"]) for row in rows]
    assert losses[-1] < losses[0] < math.log(len(planned.corpus.vocabulary.words))
    assert read_config(planned.out)["best_epoch"] == 1 + losses.index(min(losses))
    assert load_network(planned.out).vocabulary.words == planned.corpus.vocabulary.words
    assert not (planned.out / "checkpoint.safetensors").exists()


@pytest.mark.parametrize(
    ("changes", "n"),
    [
        ({}, 5),
        ({}, 60),
        ({"optimizer": "adam", "lr": 0.01}, 60),
        ({"type": "multitask"}, 60),
        ({"type": "windowed"}, 60),
    ],
    ids=str,
)
def test_a_resumed_training_is_bit_identical(
    data: Path, tmp_path: Path, changes: dict[str, object], n: int
):
    both = (plan(data, tmp_path / name, epochs=2, **changes) for name in ("whole", "parts"))
    whole, parts = both
    train_whole(whole)
    assert not trainer(parts, stop=after(n)).run()
    train_whole(parts, resume=True)
    weights = [(planned.out / "weights.safetensors").read_bytes() for planned in (whole, parts)]
    assert weights[0] == weights[1]
    assert metrics(whole.out) == metrics(parts.out)


def test_a_checkpoint_within_an_epoch_changes_nothing(data: Path, tmp_path: Path):
    whole, often = (plan(data, tmp_path / name, epochs=1) for name in ("whole", "often"))
    train_whole(whole)
    assert trainer(often, due=lambda: True).run()
    assert (whole.out / "weights.safetensors").read_bytes() == (
        often.out / "weights.safetensors"
    ).read_bytes()


def test_the_learning_rate_falls_when_nothing_improves(data: Path, tmp_path: Path):
    planned = plan(data, tmp_path / "model", lr=1e-9, epochs=4, anneal=4.0)
    training = trainer(planned)
    assert training.run()
    rates = [row["lr"] for row in training.progress.rows]
    losses = [row["valid_loss_nats"] for row in training.progress.rows]
    for number in range(1, 4):
        improved = losses[number - 1] < min(losses[: number - 1], default=math.inf)
        assert rates[number] == pytest.approx(rates[number - 1] / (1 if improved else 4))
    assert rates[-1] < rates[0]


def test_patience_ends_a_training_early(data: Path, tmp_path: Path):
    training = trainer(plan(data, tmp_path / "model", lr=1e-9, epochs=9, patience=1))
    assert training.run()
    assert len(training.progress.rows) < 9


def test_multitask_keeps_the_epoch_of_the_least_combined_loss(data: Path, tmp_path: Path):
    training = train_whole(plan(data, tmp_path / "model", type="multitask"))
    rows = training.progress.rows
    combined = [row["valid_loss_nats"] + row["valid_tag_loss_nats"] for row in rows]
    assert training.progress.best == min(combined)
    assert rows[-1]["valid_tag_loss_nats"] < rows[0]["valid_tag_loss_nats"]


def test_a_loss_that_is_no_number_stops_and_keeps_what_was_good(data: Path, tmp_path: Path):
    planned = plan(data, tmp_path / "model")
    assert not trainer(planned, stop=after(60)).run()
    kept = {path: path.read_bytes() for path in planned.out.glob("*.safetensors")}
    assert len(kept) == 2
    training = trainer(planned, resume=True)
    with torch.no_grad():
        training.objective.network.decoder.bias.fill_(math.nan)
    with pytest.raises(LmError, match=r"no longer a number in epoch 2.*smaller `--lr`"):
        training.run()
    assert {path: path.read_bytes() for path in kept} == kept
    gentler = replace(planned, settings=planned.settings.changed(lr=1.0))
    assert trainer(gentler, resume=True).progress.lr == 1.0


def test_an_unfinished_training_is_not_begun_anew_unasked(data: Path, tmp_path: Path):
    planned = plan(data, tmp_path / "model")
    trainer(planned, stop=after(5)).run()
    with pytest.raises(LmError, match=r"holds an unfinished training. Add `--resume` to cont"):
        trainer(planned)
    other = plan(data, tmp_path / "model", hidden=13, embedding=13)
    with pytest.raises(LmError, match="hidden, embedding differ"):
        trainer(other, resume=True)
    (data / "words" / "vocab.txt").write_text("<unk>\n<eos>\nthe\n")
    with pytest.raises(LmError, match="corpus, vocabulary differ"):
        trainer(plan(data, tmp_path / "model"), resume=True)


def test_a_finished_model_is_never_written_over(data: Path, tmp_path: Path):
    train_whole(plan(data, tmp_path / "model", epochs=1))
    with pytest.raises(LmError, match="finished model with other settings"):
        trainer(plan(data, tmp_path / "model", epochs=2))


def test_a_damaged_checkpoint_is_named(data: Path, tmp_path: Path):
    planned = plan(data, tmp_path / "model")
    trainer(planned, stop=after(5)).run()
    path = planned.out / "checkpoint.safetensors"
    assert load_checkpoint(path).progress.window == 5
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(LmError, match="cannot read the checkpoint"):
        trainer(planned, resume=True)


def test_a_vocabulary_of_another_model_is_refused(data: Path, tmp_path: Path):
    planned = plan(data, tmp_path / "model", epochs=1)
    train_whole(planned)
    words = (planned.out / "vocab.txt").read_text().splitlines()
    (planned.out / "vocab.txt").write_text("\n".join([*words[:-2], words[-1], words[-2]]))
    with pytest.raises(LmError, match="not the vocabulary that the weights were trained with"):
        load_network(planned.out)


def shuffle_tags(data: Path) -> None:
    """Give the sentences of each tagged text their words in another order, their tags as before."""
    path = data / "tags" / "train.txt"
    sentences = path.read_text().split("\n\n")
    path.write_text("\n\n".join([*sentences[1:-1], sentences[0], ""]))


def test_other_supertags_are_another_training(data: Path, tmp_path: Path):
    finished = plan(data, tmp_path / "finished", type="multitask", epochs=1)
    train_whole(finished)
    stopped = plan(data, tmp_path / "stopped", type="multitask")
    assert not trainer(stopped, stop=after(5)).run()
    assert is_finished(finished)
    shuffle_tags(data)
    assert not is_finished(plan(data, finished.out, type="multitask", epochs=1))
    with pytest.raises(LmError, match="belongs to another training: supertags differ"):
        trainer(plan(data, stopped.out, type="multitask"), resume=True)


def test_a_model_from_before_supertags_were_hashed_is_still_finished(data: Path, tmp_path: Path):
    planned = plan(data, tmp_path / "model", type="multitask", epochs=1)
    train_whole(planned)
    config = read_config(planned.out)
    del config["tags_sha256"]
    write_config(planned.out, config)
    assert is_finished(planned)


def test_a_setting_that_is_none_or_of_another_type_is_refused():
    with pytest.raises(LmError, match=r'there is no setting "hiden". The settings are: .*"hidden"'):
        get_preset("demo_lstm").changed(hiden=3)
    with pytest.raises(LmError, match=r'"hidden" cannot be 2.5. Expected something like'):
        get_preset("demo_lstm").changed(hidden=2.5)


def test_a_device_that_is_not_there_is_refused():
    with pytest.raises(LmError, match=r'this machine has no device "mps". Use `--device auto`'):
        choose_device("mps")
