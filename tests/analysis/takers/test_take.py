"""A whole take: what it writes, that it continues where it stopped, and what it refuses."""

import csv
import fcntl
import json
import shutil
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from analysis.comparison import compare
from analysis.data.load import load_run
from analysis.errors import AnalysisError
from analysis.findings.finding import ComparisonOptions
from analysis.takers.answers import read_manifest
from analysis.takers.plan import Factors
from analysis.takers.run import Request, run_take
from analysis.takers.taking import take_sessions
from experiment.design.audit.sessions import compose_all
from experiment.errors import ParallaxError
from experiment.studies.load import find_study
from experiment.tables.atomic_write import WritingError
from experiment.takers.prompt import Context
from lm.answering.answerer import LocalAnswerer, Tier
from lm.errors import LmError
from tests.analysis.takers.sessions import BOTH, knowing, planned
from tests.lm.toy_models import causal_folder, ngram_folder

NOW = datetime(2026, 11, 24, 9, tzinfo=UTC)
ANSWERED = ("participants", "trials", "responses")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models") / "ngram"
    ngram_folder(folder)
    return folder


@pytest.fixture
def request_(model: Path, tmp_path: Path) -> Request:
    return Request(
        study="minimal",
        model=str(model),
        readings=("sentence", "forced_choice"),
        factors=Factors((Context.ZERO_SHOT,), ("numbers", "letters", "late_letters"), BOTH),
        n_sessions=3,
        seed=1,
        sampled=False,
        device="auto",
        out=tmp_path / "takers",
    )


def done(request: Request, now: datetime = NOW) -> list[str]:
    return list(run_take(request, now))


def rows(folder: Path, table: str) -> list[dict[str, str]]:
    with (folder / f"{table}.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def files(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and "replies" not in path.name
    }


def test_each_reading_is_an_export_whose_every_row_says_that_a_model_answered(request_: Request):
    done(request_)
    for name, n in (("sentence", 3), ("forced_choice", 3 * 3 * 2)):
        folder = request_.out / name
        for table in (*ANSWERED, "readings", "asked"):
            assert {row["judge"] for row in rows(folder, table)} == {"model"}
        assert len(rows(folder, "participants")) == n
        assert len(rows(folder, "trials")) == len(rows(folder, "responses")) == n * 8
        described = json.loads((folder / "datapackage.json").read_text())["parallax"]
        assert described["judge"] == "model" and described["tier"] == "text"


def test_every_prompt_is_kept_byte_for_byte_under_its_hash(request_: Request):
    done(request_)
    folder = request_.out / "forced_choice"
    prompts = {row["prompt_sha256"]: row["prompt"] for row in rows(folder, "prompts")}
    asked = rows(folder, "asked")
    assert {row["prompt_sha256"] for row in asked} == set(prompts)
    assert all(prompt.endswith("Answer:") for prompt in prompts.values())
    assert all(len(json.loads(row["logprobs_nats"])) == 2 for row in asked)


def test_sessions_are_those_of_the_people_with_the_same_list_and_place():
    plan = planned(n_sessions=8, seed=5)
    people = compose_all(plan.source.study, plan.source.built).sessions
    expected = {(one.list_, one.place): one.trials for one in people}
    taken = {
        (one.list_, one.place): tuple(trial.trial for trial in one.trials) for one in plan.sessions
    }
    assert taken == expected


def test_the_same_take_gives_the_same_bytes(request_: Request, tmp_path: Path):
    done(request_)
    done(replace(request_, out=tmp_path / "again"))
    assert files(request_.out) == files(tmp_path / "again")


def test_an_interrupted_take_goes_on_and_asks_nothing_twice(
    request_: Request, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    done(replace(request_, out=tmp_path / "whole"))
    asked: list[int] = []
    reply = LocalAnswerer.reply

    def dying(self, questions):
        if len(asked) == 1:
            raise KeyboardInterrupt
        asked.append(len(questions))
        return reply(self, questions)

    monkeypatch.setattr(LocalAnswerer, "reply", dying)
    with pytest.raises(KeyboardInterrupt):
        done(request_)
    assert not (request_.out / "forced_choice").exists()
    with pytest.raises(AnalysisError, match="the model's sessions are not complete"):
        read_manifest(request_.out)
    counted: list[int] = []

    def counting(self, questions):
        counted.append(len(questions))
        return reply(self, questions)

    monkeypatch.setattr(LocalAnswerer, "reply", counting)
    done(request_, datetime(2027, 1, 1, tzinfo=UTC))
    n_prompts = len(rows(request_.out / "forced_choice", "prompts"))
    assert sum(counted) == n_prompts
    assert files(request_.out) == files(tmp_path / "whole")
    counted.clear()
    assert done(request_) == [f"{request_.out} already holds this take"]
    assert not counted


def test_a_take_started_twice_is_refused(request_: Request):
    request_.out.mkdir()
    with (request_.out / "take.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(AnalysisError, match="another `parallax take` is writing this folder"):
            done(request_)
    assert [path.name for path in request_.out.iterdir()] == ["take.lock"]


def test_materials_that_changed_since_the_take_began_are_refused(request_: Request, tmp_path: Path):
    study = tmp_path / "minimal"
    shutil.copytree(find_study("minimal"), study)
    own = replace(request_, study=str(study))
    done(own)
    before = files(own.out)
    grammar = study / "grammar.toml"
    grammar.write_text(grammar.read_text().replace("child", "banker"))
    with pytest.raises(
        AnalysisError, match="differ from these in: the materials, the study's files"
    ):
        done(own)
    assert files(own.out) == before


def test_another_model_in_the_same_folder_is_refused(request_: Request, tmp_path: Path):
    done(request_)
    other = tmp_path / "hf"
    causal_folder(other)
    with pytest.raises(AnalysisError, match="differ from these in: model, the model"):
        done(replace(request_, model=str(other)))


def test_a_folder_of_somebody_else_is_left_alone(request_: Request):
    request_.out.mkdir()
    (request_.out / "thesis.txt").write_text("mine")
    with pytest.raises(WritingError, match=r"would remove thesis\.txt"):
        done(request_)
    assert [path.name for path in request_.out.iterdir()] == ["thesis.txt"]


def test_a_window_too_small_for_the_session_so_far_is_refused_before_anything_is_written(
    request_: Request, tmp_path: Path
):
    small = tmp_path / "hf"
    causal_folder(small)
    factors = replace(request_.factors, contexts=(Context.HISTORY,))
    with pytest.raises(LmError, match="reads 32 tokens at most"):
        done(replace(request_, model=str(small), factors=factors))
    assert not request_.out.exists()


def test_a_study_in_a_language_without_words_is_refused(request_: Request, tmp_path: Path):
    study = tmp_path / "minimal"
    shutil.copytree(find_study("minimal"), study)
    (study / "texts" / "en").rename(study / "texts" / "eo")
    file = study / "study.toml"
    file.write_text(file.read_text().replace('language = "en"', 'language = "eo"'))
    with pytest.raises(ParallaxError, match='no words in the language "eo"'):
        done(replace(request_, study=str(study)))
    assert not request_.out.exists()


def test_prompts_hold_the_models_own_answers_in_their_order():
    plan = planned(contexts=[Context.HISTORY], labels=("letters",), orders=(False,))
    [reading] = plan.readings
    for sitting in take_sessions(plan, reading, knowing(plan)):
        shown = plan.situation(sitting.session.list_, sitting.way, []).instructions
        said = []
        for read in sitting.read:
            [ask] = read.asks
            assert ask.prompt.startswith(shown)
            answers = [line for line in ask.prompt.splitlines() if line.startswith("Answer:")]
            assert answers[:-1] == said
            assert read.given is not None
            said.append(f"Answer: {'AB'[read.trial.answers.index(read.given)]}")


def test_answers_are_drawn_by_their_probability_and_by_the_seed():
    plan = planned(labels=("letters",), orders=(False,), n_sessions=60, sampled=True)
    first, again = (
        [
            read
            for one in take_sessions(plan, plan.readings[0], knowing(plan, 1.0))
            for read in one.read
        ]
        for _ in range(2)
    )
    assert [read.given for read in first] == [read.given for read in again]
    correct_answer = plan.screens.response.correct_answer
    right = sum(read.given == correct_answer(read.trial.arrangement) for read in first)
    # 480 draws at 1 / (1 + exp(-1)) = .731: four standard errors are .081.
    assert right / len(first) == pytest.approx(0.731, abs=0.081)
    assert {round(read.p_good or 0, 3) for read in first} == {0.731}


def test_people_and_models_cannot_be_mixed_by_appending_rows(request_: Request):
    """What somebody might do by hand: one table below the other, whichever columns it has."""
    done(request_)
    for table in ANSWERED:
        folder = request_.out / "sentence"
        mixed = request_.out.parent / f"mixed-{table}"
        shutil.copytree(folder, mixed)
        path = mixed / f"{table}.csv"
        first = path.read_text().splitlines()
        path.write_text("\n".join([*first[:-1], first[-1].replace("model", "person")]) + "\n")
        (mixed / f"{table}.parquet").unlink()
        with pytest.raises(ParallaxError, match=r"mixes judges|holds a language model's"):
            load_run(mixed)
        with pytest.raises(ParallaxError, match="mixes judges"):
            load_run(mixed, models=True)


def test_a_takers_folder_is_compared_only_where_it_is_asked_for(request_: Request):
    done(request_)
    with pytest.raises(AnalysisError, match="holds a language model's answers"):
        load_run(request_.out / "sentence")
    run = load_run(request_.out / "sentence", models=True)
    run.verdicts["kept"] = [True for _ in range(len(run.verdicts))]
    found = compare(run, [], ComparisonOptions(resamples=100), code_version="v9")
    assert found.provenance.run.simulated


def test_an_unfinished_manifest_is_no_manifest(tmp_path: Path):
    with pytest.raises(AnalysisError, match=r"holds no take\.json"):
        read_manifest(tmp_path)


def test_a_reading_that_the_tier_cannot_give_is_refused(
    request_: Request, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(LocalAnswerer, "tier", Tier.SAMPLES)
    with pytest.raises(AnalysisError, match="need log-probabilities of a given text"):
        done(request_)
    assert not request_.out.exists()
