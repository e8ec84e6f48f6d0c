"""``parallax lm score``: several models, selections, interruptions and workers."""

from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from threading import Event

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from distributed import LocalCluster
from moto.server import ThreadedMotoServer
from pyarrow.fs import FileSelector, FileSystem

from analysis.commands.score import score
from analysis.data.facts import ScoreFacts
from analysis.data.load import load_scores
from analysis.errors import AnalysisError
from analysis.scores import file as score_file
from analysis.scores import shards
from analysis.scores.file import Scoring, write_score_file
from analysis.scores.scoring_inputs import find_materials
from analysis.scores.shards import ShardCache, score_shard
from experiment.materials.read import read_items
from experiment.materials.render import render
from experiment.tables.files import write_table
from experiment.tables.schemas import ITEMS
from lm.commands.train import train
from lm.errors import LmError
from lm.independent import Recomputed
from lm.registry import load_scorer
from lm.scorer import FastKernel
from lm.sharding import Loading, score_texts
from tests.analysis import small_run
from tests.lm.toy_models import TOY_MODELS


def model(folder: Path, name: str = "lstm") -> Path:
    TOY_MODELS[name][1](folder)
    return folder


@pytest.fixture
def materials(tmp_path: Path) -> Path:
    rows = [
        {**small_run.items()[0], "item_id": f"i-{n}", "good": f"the cat {w} sees", "bad": f"{w} a"}
        for n, w in enumerate(["cats", "sleeps", "zebra", "a", "the", "sees"])
    ]
    write_table(ITEMS, rows, tmp_path / "items.tsv")
    return tmp_path / "items.tsv"


def run(*arguments: object) -> str:
    result = CliRunner().invoke(score, list(map(str, arguments)), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def facts() -> ScoreFacts:
    return ScoreFacts(**small_run.score_facts())


def test_several_models_each_get_a_file_in_the_folder(materials, tmp_path):
    lstm, ngram = model(tmp_path / "lstm"), model(tmp_path / "ngram", "ngram")
    out = tmp_path / "scores"
    run(lstm, ngram, materials, "--out", out)
    assert sorted(path.name for path in out.iterdir()) == ["lstm.parquet", "ngram.parquet"]
    run(lstm, materials, "--out", tmp_path / "alone.parquet")
    assert (tmp_path / "alone.parquet").read_bytes() == (out / "lstm.parquet").read_bytes()


def test_several_models_cannot_share_a_file_or_a_name(materials, tmp_path):
    with pytest.raises(AnalysisError, match="2 models cannot share one file"):
        run(tmp_path / "a", tmp_path / "b", materials, "--out", tmp_path / "scores.parquet")
    with pytest.raises(AnalysisError, match=r"two models would both be written to a\.parquet"):
        run(tmp_path / "a", tmp_path / "x" / "a", materials, "--out", tmp_path / "scores")


def test_only_the_judged_items_are_scored(tmp_path):
    export = small_run.write_export(tmp_path / "export")
    more = [*small_run.items(), {**small_run.items()[0], "item_id": "never-seen"}]
    write_table(ITEMS, more, tmp_path / "items.tsv")
    out = tmp_path / "scores.parquet"
    run(model(tmp_path / "lstm"), tmp_path / "items.tsv", "--only-judged", export, "--out", out)
    found = load_scores(out)
    assert set(found.frame["item_id"]) == {"s-1", "s-2", "p-1", "p-2"}
    assert found.facts.selection.startswith("4 judged items")
    # The identity is that of all items, so that the scores still fit the run.
    assert found.facts.materials_hash == find_materials(str(tmp_path / "items.tsv")).hash


def test_a_judged_item_that_the_materials_lack_is_named(tmp_path):
    export = small_run.write_export(tmp_path / "export")
    write_table(ITEMS, small_run.items()[:3], tmp_path / "items.tsv")
    with pytest.raises(AnalysisError, match=r"1 judged item.* the first: p-2"):
        run(tmp_path, tmp_path / "items.tsv", "--only-judged", export, "--out", "s.parquet")


@pytest.mark.parametrize("fast", [False, True])
def test_after_an_interruption_nothing_is_scored_twice(materials, tmp_path, monkeypatch, fast):
    folder, out = str(model(tmp_path / "lstm")), tmp_path / "scores.parquet"
    scoring = Scoring(folder, Loading(fast), items_at_a_time=2)
    write_score_file(find_materials(str(materials)), scoring, facts(), tmp_path / "whole.parquet")
    asked = []

    def stumbling(model, texts, loading):
        if len(asked) == stop:
            raise KeyboardInterrupt
        asked.append((loading.fast, tuple(texts)))
        return score_texts(model, texts, loading)

    monkeypatch.setattr(shards, "score_texts", stumbling)
    for stop in (1, 2, -1):
        if stop < 0:
            write_score_file(find_materials(str(materials)), scoring, facts(), out)
            break
        with pytest.raises(KeyboardInterrupt):
            write_score_file(find_materials(str(materials)), scoring, facts(), out)
        assert not out.exists()
    assert out.read_bytes() == (tmp_path / "whole.parquet").read_bytes()
    assert len(asked) == len(set(asked))
    assert not list(tmp_path.glob(".*"))


def test_parts_of_other_scores_are_not_used(materials, tmp_path, monkeypatch):
    out = tmp_path / "scores.parquet"
    first, second = (str(model(tmp_path / name, name)) for name in ("lstm", "ngram"))

    def broken(*_args, **_named):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(score_file, "make_score_table", broken)
        write_score_file(find_materials(str(materials)), Scoring(first), facts(), out)
    other = ScoreFacts(**small_run.score_facts(model_hash="another"))
    write_score_file(find_materials(str(materials)), Scoring(second), other, out)
    run(second, materials, "--out", tmp_path / "alone.parquet")
    sums = [pq.read_table(p)["logprob_nats"] for p in (out, tmp_path / "alone.parquet")]
    assert sums[0].equals(sums[1])


def test_a_text_that_cannot_be_scored_is_named(materials, tmp_path):
    with pytest.raises(LmError, match=r'the text "a a" cannot be scored'):
        run(model(tmp_path / "fixed", "fixed"), materials, "--out", tmp_path / "s.parquet")


FASTER = FastKernel("a kernel", rounds=True, speedup=2.0, explicit_speedup=2.1)


def test_a_fast_mode_that_is_not_faster_is_declined_aloud(materials, tmp_path, monkeypatch):
    folder, out = model(tmp_path / "lstm"), tmp_path / "scores.parquet"
    slow = FastKernel("another kernel", rounds=False, speedup=1.5, explicit_speedup=0.1)
    monkeypatch.setattr("lm.rnn.scorer.measure_kernel", lambda _: slow)
    printed = run(folder, materials, "--fast", "--out", out)
    assert "--fast was not used, so scores are exact" in printed
    assert "another kernel ran, a float32 kernel" in printed
    assert load_scores(out).facts.certificate == ""
    run(folder, materials, "--out", tmp_path / "exact.parquet")
    tables = [pq.read_table(path) for path in (out, tmp_path / "exact.parquet")]
    assert tables[0].equals(tables[1])
    assert "already" in run(folder, materials, "--out", out)


def test_a_certified_fast_pass_decides_as_the_exact_one(materials, tmp_path, monkeypatch):
    folder = model(tmp_path / "lstm")
    monkeypatch.setattr("lm.rnn.scorer.measure_kernel", lambda _: FASTER)
    run(folder, materials, "--out", tmp_path / "exact.parquet")
    printed = run(folder, materials, "--fast", "--out", tmp_path / "fast.parquet")
    assert "First pass in bfloat16" in printed
    exact, fast = (load_scores(tmp_path / f"{name}.parquet") for name in ("exact", "fast"))
    assert fast.facts.certificate.startswith(
        "first pass in bfloat16 (kernel a kernel, 2.0 times as fast as float32 here), each token"
    )
    assert exact.facts.certificate == ""
    assert exact.frame["logprob_nats"].to_numpy() == pytest.approx(
        fast.frame["logprob_nats"].to_numpy(), abs=0.2
    )
    # Certified scores stand for exact ones only where they were asked for.
    assert "already" in run(folder, materials, "--fast", "--out", tmp_path / "fast.parquet")
    assert "already" in run(folder, materials, "--fast", "--out", tmp_path / "exact.parquet")
    assert "already" not in run(folder, materials, "--out", tmp_path / "fast.parquet")


def test_a_word_level_model_reads_no_full_stop_that_a_text_lacks(tmp_path):
    lines = ["the pilots wave loudly ."] * 6 + ["the pilots waves ."] * 3
    (tmp_path / "text.txt").write_text("\n".join(lines) + "\n")
    arguments = ["--type", "ngram", "--order", "2", "--text", str(tmp_path / "text.txt")]
    result = CliRunner().invoke(train, [*arguments, "--out", str(tmp_path / "m")])
    assert not result.exception, result.output
    (tmp_path / "items.csv").write_text("good,bad\nThe pilots wave,The pilots waves\n")
    said = run(tmp_path / "m", tmp_path / "items.csv", "--out", tmp_path / "o.parquet")
    assert "2 texts were changed: 'The pilots wave' became 'the pilots wave'" in said
    nats = load_scores(tmp_path / "o.parquet").frame["logprob_nats"].to_list()
    # As KenLM scores "the pilots wave" and "the pilots waves" without their ends.
    assert nats == pytest.approx([-0.928, -1.884], abs=1e-3)


def test_a_stream_scores_each_item_after_the_good_versions_before_it(materials, tmp_path):
    folder, out = model(tmp_path / "lstm"), tmp_path / "stream.parquet"
    assert "as one stream" in run(folder, materials, "--stream", "--out", out)
    found = load_scores(out)
    assert found.facts.reading.startswith("as one stream")
    scorer, rows = load_scorer(folder), list(read_items(materials))
    lower = render("split_lower_case_tokens")
    groups = [[lower(item.good), lower(item.bad)] for item in rows]
    scored, _ = scorer.score_stream(groups)
    expected = [float(one.logprobs_nats.sum()) for group in scored for one in group]
    assert found.frame["logprob_nats"].to_list() == pytest.approx(expected, abs=1e-5)
    assert "already" in run(folder, materials, "--stream", "--out", out)
    # Scores of sentences by themselves are other scores.
    assert "already" not in run(folder, materials, "--out", out)


@pytest.mark.parametrize("more", [["--fast"], ["--workers", "2"], ["--cluster", "tcp://a:1"]])
def test_a_stream_cannot_be_divided_or_rounded(materials, tmp_path, more):
    with pytest.raises(AnalysisError, match="one after the other"):
        run(tmp_path, materials, "--stream", *more, "--out", tmp_path / "s.parquet")


def test_workers_write_the_same_bytes_as_one_process(materials, tmp_path):
    folder = model(tmp_path / "lstm")
    for name, more in {"one": [], "two": ["--workers", 2]}.items():
        run(folder, materials, *more, "--out", tmp_path / f"{name}.parquet")
    with LocalCluster(
        n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None,
        host="127.0.0.1", protocol="tcp",
    ) as cluster:  # fmt: skip
        address = cluster.scheduler_address
        run(folder, materials, "--cluster", address, "--out", tmp_path / "cluster.parquet")
    one = (tmp_path / "one.parquet").read_bytes()
    assert (tmp_path / "two.parquet").read_bytes() == one
    assert (tmp_path / "cluster.parquet").read_bytes() == one


def test_workers_write_their_parts_and_send_back_counts(materials, tmp_path):
    folder = str(model(tmp_path / "lstm"))
    cache, sent = ShardCache(str(tmp_path)), []

    class Pool(ThreadPoolExecutor):
        def submit(self, task, *arguments):
            future = super().submit(task, *arguments)
            sent.append(future)
            return future

    with Pool(2) as pool:
        assert list(
            pool.map(
                partial(score_shard, cache, folder, Loading()), ["a", "b"], [["a"], ["a", "b"]]
            )
        ) == [1, 2]
        assert (cache.get("a").num_rows, cache.get("b").num_rows) == (1, 2)
        scoring = Scoring(folder, executor=pool, items_at_a_time=2)
        sent.clear()
        write_score_file(find_materials(str(materials)), scoring, facts(), tmp_path / "s.parquet")
    results = [future.result() for future in sent]
    counts = [result for result in results if not isinstance(result, Recomputed)]
    # Six items of two sentences, in three blocks of one part each.
    assert counts == [4, 4, 4]


class LazyPool(Executor):
    """A pool whose tasks run when their result is wanted.

    Attributes:
        blocks: The number of the block of each shard that was submitted.
        seen: That list, whenever a result was wanted.
    """

    def __init__(self) -> None:
        self.blocks, self.seen = [], []

    def submit(self, task, name, *texts):
        if texts:
            self.blocks.append(int(name.partition("-")[0]))

        def result(_timeout_s=None):
            if texts:
                self.seen.append(list(self.blocks))
            return task(name, *texts)

        future = Future()
        future.result = result
        return future


def test_a_slow_shard_leaves_the_other_workers_the_next_block_and_no_further_one(
    materials, tmp_path
):
    scoring = Scoring(str(model(tmp_path / "lstm")), items_at_a_time=2)
    wanted, pool = find_materials(str(materials)), LazyPool()
    write_score_file(wanted, replace(scoring, executor=pool), facts(), tmp_path / "pool.parquet")
    assert pool.seen == [[0, 1], [0, 1, 2], [0, 1, 2]]
    write_score_file(wanted, scoring, facts(), tmp_path / "here.parquet")
    assert (tmp_path / "pool.parquet").read_bytes() == (tmp_path / "here.parquet").read_bytes()


def test_wrong_scores_are_deleted_when_no_worker_writes_any_more(materials, tmp_path, monkeypatch):
    failed, steps = Event(), []

    def fail(*_arguments):
        failed.set()
        raise AnalysisError("wrong scores")

    def put_late(cache, name, table, put=ShardCache.put):
        if not name.startswith("00000"):
            failed.wait()
        put(cache, name, table)
        steps.append(name[:5])

    def forget(cache, forget=ShardCache.forget):
        steps.append("deleted")
        forget(cache)

    monkeypatch.setattr(score_file, "check_scores", fail)
    monkeypatch.setattr(ShardCache, "put", put_late)
    monkeypatch.setattr(ShardCache, "forget", forget)
    with ThreadPoolExecutor(2) as pool, pytest.raises(AnalysisError, match="wrong scores"):
        scoring = Scoring(str(model(tmp_path / "lstm")), executor=pool, items_at_a_time=2)
        write_score_file(find_materials(str(materials)), scoring, facts(), tmp_path / "s.parquet")
    assert steps == ["deleted", "00000", "00001", "deleted"]


def test_parts_in_a_bucket_outlive_the_command_and_go_with_success(
    materials, tmp_path, monkeypatch
):
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    stand_in = ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    stand_in.start()
    host, port = stand_in.get_host_and_port()
    query = f"?region=us-east-1&scheme=http&endpoint_override={host}:{port}"
    files, _ = FileSystem.from_uri(f"s3://lab{query}&allow_bucket_creation=true")
    files.create_dir("lab")
    scoring = Scoring(str(model(tmp_path / "lstm")), storage=f"s3://lab/parts{query}")
    wanted, out = find_materials(str(materials)), tmp_path / "scores.parquet"
    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(score_file, "make_score_table", interrupt)
        write_score_file(wanted, scoring, facts(), out)
    stored = [info.base_name for info in files.get_file_info(FileSelector("lab", recursive=True))]
    assert {"facts.json", "00000-shard-00000.parquet"} <= set(stored)
    with monkeypatch.context() as patched:
        patched.setattr(shards, "score_texts", interrupt)
        write_score_file(wanted, scoring, facts(), out)
    assert not files.get_file_info("lab/parts/.scores.parquet.parts/facts.json").is_file
    stand_in.stop()
    write_score_file(wanted, replace(scoring, storage=""), facts(), tmp_path / "here.parquet")
    assert out.read_bytes() == (tmp_path / "here.parquet").read_bytes()


def interrupt(*_args, **_named):
    raise KeyboardInterrupt


def test_storage_that_workers_cannot_write_is_named(materials, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(AnalysisError, match=r"the folder of shards cannot be written.*--shards"):
        run(
            model(tmp_path / "lstm"), materials, "--shards", tmp_path / "file", "--out", "s.parquet"
        )
    with pytest.raises(AnalysisError, match=r"a shard cannot be written.*--shards"):
        score_shard(
            ShardCache(str(tmp_path / "none")), str(tmp_path / "lstm"), Loading(), "a", ["a"]
        )
    with pytest.raises(AnalysisError, match=r"a shard that was written cannot be read.*--shards"):
        ShardCache(str(tmp_path)).get("a")
    with pytest.raises(AnalysisError, match=r"the folder of shards cannot be opened.*--shards"):
        ShardCache("nowhere://lab/parts").missing(["a"])
