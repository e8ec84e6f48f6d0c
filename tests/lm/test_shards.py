import json
from pathlib import Path

import pytest
from distributed import LocalCluster

from lm.errors import LmError
from lm.scoring.shards import HasFastMode, score_texts, scorer_of, shards, workers
from tests.lm.toy_models import SENTENCES, TOY_MODELS


def model(folder: Path, name: str = "lstm") -> str:
    TOY_MODELS[name][1](folder)
    return str(folder)


def test_shards_hold_each_text_once_and_neighbours_together():
    texts = ["b a", "a b", "b", "a", "a b"]
    assert shards(texts, 2) == [[3, 1], [4, 2], [0]]
    assert shards([]) == []


def test_the_first_text_that_cannot_be_scored_is_named(tmp_path):
    folder = model(tmp_path / "model", "fixed")
    with pytest.raises(LmError, match='the text "zebra" cannot be scored'):
        score_texts(folder, [*SENTENCES, "zebra"])


def test_a_model_is_loaded_once_until_its_files_change(tmp_path):
    folder = model(tmp_path / "model", "ngram")
    assert scorer_of(folder, identity="1") is scorer_of(folder, identity="1")
    assert scorer_of(folder, identity="1") is not scorer_of(folder, identity="2")


def test_a_model_without_a_fast_mode_says_so(tmp_path):
    assert isinstance(scorer_of(model(tmp_path / "lstm"), fast=True), HasFastMode)
    with pytest.raises(LmError, match="has no fast mode"):
        scorer_of(model(tmp_path / "ngram", "ngram"), fast=True)


def test_a_cluster_that_is_not_there_is_named():
    with (
        pytest.raises(LmError, match=r"no Dask scheduler at tcp://127\.0\.0\.1:1 "),
        workers(cluster="tcp://127.0.0.1:1", timeout_s=1),
    ):
        pass


def scores(found) -> str:
    return json.dumps([[list(one.tokens), one.logprobs_nats.tolist()] for one in found])


def test_two_workers_of_a_cluster_give_what_one_process_gives(tmp_path):
    folder = model(tmp_path / "model")
    portions = [[SENTENCES[n] for n in own] for own in shards(SENTENCES, 2)]
    here = [scores(score_texts(folder, portion)) for portion in portions]
    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None,
            host="127.0.0.1", protocol="tcp",
        ) as cluster,
        workers(cluster=cluster.scheduler_address) as executor,
    ):  # fmt: skip
        assert executor is not None
        there = [scores(own) for own in executor.map(score_texts, [folder] * 2, portions)]
    assert there == here
