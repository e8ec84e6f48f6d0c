import json
import sys
from pathlib import Path
from threading import Event

import pytest
from distributed import LocalCluster

from lm.errors import LmError
from lm.sharding import (
    HasFastMode,
    Loading,
    make_shards,
    score_texts,
    scorer_of,
    stream_reader_of,
    workers,
)
from tests.lm.toy_models import SENTENCES, TOY_MODELS


def model(folder: Path, name: str = "lstm") -> str:
    TOY_MODELS[name][1](folder)
    return str(folder)


def test_shards_hold_each_text_once_and_neighbours_together():
    texts = ["b a", "a b", "b", "a", "a b"]
    assert make_shards(texts, 2) == [[3, 1], [4, 2], [0]]
    assert make_shards([]) == []


def test_the_first_text_that_cannot_be_scored_is_named(tmp_path):
    folder = model(tmp_path / "model", "fixed")
    with pytest.raises(LmError, match='the text "zebra" cannot be scored'):
        score_texts(folder, [*SENTENCES, "zebra"])


def test_a_model_is_loaded_once_until_its_files_change(tmp_path):
    folder = model(tmp_path / "model", "ngram")
    one, other = Loading(identity="1"), Loading(identity="2")
    assert scorer_of(folder, one) is scorer_of(folder, one)
    assert scorer_of(folder, one) is not scorer_of(folder, other)


def test_a_model_without_a_fast_mode_says_so(tmp_path):
    assert isinstance(scorer_of(model(tmp_path / "lstm"), Loading(fast=True)), HasFastMode)
    with pytest.raises(LmError, match="has no fast mode"):
        scorer_of(model(tmp_path / "ngram", "ngram"), Loading(fast=True))


def test_a_model_that_cannot_carry_on_says_so(tmp_path):
    assert stream_reader_of(model(tmp_path / "lstm"), Loading())
    with pytest.raises(LmError, match="cannot read texts as a stream"):
        stream_reader_of(model(tmp_path / "ngram", "ngram"), Loading())


@pytest.mark.parametrize("name", ["lstm", "ngram"])
def test_a_device_that_is_not_there_or_not_for_the_model_is_refused(tmp_path, name):
    folder = model(tmp_path / name, name)
    assert scorer_of(folder, Loading(device="cpu"))
    with pytest.raises(LmError, match=r"no device .mps.|only compute on the CPU"):
        scorer_of(folder, Loading(device="mps"))


def test_a_cluster_that_is_not_there_is_named():
    with (
        pytest.raises(LmError, match=r"no Dask scheduler at tcp://127\.0\.0\.1:1 "),
        workers(cluster="tcp://127.0.0.1:1", timeout_s=1),
    ):
        pass


def test_a_cluster_without_its_library_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with (
        pytest.raises(
            LmError, match=r"scoring on a cluster needs Dask. Install it with `pip install"
        ),
        workers(cluster="tcp://127.0.0.1:1"),
    ):
        pass


def scores(found) -> str:
    return json.dumps([[list(one.tokens), one.logprobs_nats.tolist()] for one in found])


def test_two_workers_of_a_cluster_give_what_one_process_gives(tmp_path):
    folder = model(tmp_path / "model")
    portions = [[SENTENCES[n] for n in own] for own in make_shards(SENTENCES, 2)]
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


def test_a_cluster_without_workers_is_named():
    with (
        LocalCluster(
            n_workers=0, processes=False, dashboard_address=None, host="127.0.0.1", protocol="tcp"
        ) as cluster,
        pytest.raises(LmError, match=r"has no workers, so it would score nothing"),
        workers(cluster=cluster.scheduler_address, timeout_s=1),
    ):
        pass


ASKED, OVER = Event(), Event()


def score_for_long(_text: str) -> None:
    ASKED.set()
    OVER.wait()


def test_a_cluster_that_loses_its_workers_is_named_instead_of_waited_for():
    with (
        LocalCluster(
            n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None,
            host="127.0.0.1", protocol="tcp",
        ) as cluster,
        pytest.raises(LmError, match=r"has had no workers for 1 s, so the rest was not scored"),
        workers(cluster=cluster.scheduler_address, alone_s=1) as executor,
    ):  # fmt: skip
        assert executor is not None
        found = executor.map(score_for_long, SENTENCES)
        ASKED.wait()
        cluster.scale(0)
        try:
            list(found)
        finally:
            OVER.set()
