"""Servers over real HTTP: in every tier, with every planted fault, without a cent too many."""

import csv
import json
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from threading import Thread

import pytest
import torch

from analysis.takers.lesson_text import write_lessons
from analysis.takers.plan import Factors
from analysis.takers.run import Request, run_take
from experiment.errors import ParallaxError
from experiment.studies.load import load_study
from experiment.takers.prompt import Context
from lm.answering.answerer import Question, Tier
from lm.answering.client import Client
from lm.answering.server import ServerAnswerer
from lm.answering.spec import ServerModel, Terms, parse_server
from lm.answering.stand_in import THOUGHT, Fault, ServedModel, StandIn
from lm.corpora.vocab import STREAM_WORDS, vocabulary_by_frequency, write_vocabulary
from lm.errors import LmError
from lm.registry import load_scorer
from lm.rnn.folder import VOCABULARY, WEIGHTS, save_weights
from lm.rnn.network import NetworkShape, build_network
from tests.lm.toy_models import ngram_folder

NOW = datetime(2026, 11, 24, 9, tzinfo=UTC)
OWN = Terms(price_in=0.0, price_out=0.0)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("served") / "ngram"
    ngram_folder(folder)
    return folder


@contextmanager
def serving(model: Path, tier: Tier = Tier.TEXT, *faults: Fault) -> Iterator[StandIn]:
    served = ServedModel(load_scorer(model))
    with StandIn(served, "toy", tier, frozenset(faults)) as server:
        thread = Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(Client.__init__, "__defaults__", ("", lambda _: None, 60.0))


def answerer(server: StandIn, terms: Terms = OWN) -> ServerAnswerer:
    return ServerAnswerer(ServerModel(server.url, "toy"), terms)


def request_(model: str, out: Path, *readings: str, terms: Terms = OWN) -> Request:
    return Request(
        study="minimal",
        model=model,
        readings=readings or ("forced_choice",),
        factors=Factors((Context.ZERO_SHOT,), ("numbers",), (False, True)),
        n_sessions=1,
        seed=1,
        sampled=False,
        device="auto",
        out=out,
        terms=terms,
    )


def rows(folder: Path, table: str) -> list[dict[str, str]]:
    with (folder / f"{table}.csv").open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("tier", Tier)
def test_the_probe_finds_the_tier(model: Path, tier: Tier):
    with serving(model, tier) as server:
        assert answerer(server).tier is tier


@pytest.mark.parametrize(
    ("fault", "tier"),
    [
        (Fault.ECHO_IGNORED, Tier.NEXT),
        (Fault.TRUNCATED_ALTERNATIVES, Tier.TEXT),
        (Fault.RATE_LIMIT, Tier.TEXT),
        (Fault.CUT, Tier.TEXT),
    ],
)
def test_the_probe_is_not_taken_in(model: Path, fault: Fault, tier: Tier):
    with serving(model, Tier.TEXT, fault) as server:
        found = answerer(server)
        assert found.tier is tier
        assert bool(found.tier_note) == (tier is not Tier.TEXT)


def test_a_server_gives_the_very_choices_of_the_model_in_process(model: Path, tmp_path: Path):
    list(run_take(request_(str(model), tmp_path / "local"), NOW))
    with serving(model) as server:
        list(run_take(request_(f"api:{server.url}#toy", tmp_path / "served"), NOW))
    local, served = (
        [row["logprobs_nats"] for row in rows(tmp_path / name / "forced_choice", "asked")]
        for name in ("local", "served")
    )
    assert [json.loads(one) for one in served] == [
        pytest.approx(json.loads(one), abs=1e-9) for one in local
    ]
    chosen = [
        [row["chosen_side"] for row in rows(tmp_path / name / "forced_choice", "responses")]
        for name in ("local", "served")
    ]
    assert chosen[0] == chosen[1]


def test_alternatives_are_the_labels_probabilities(model: Path):
    question = Question("the cat", ("1", "A"))
    with serving(model) as text, serving(model, Tier.NEXT) as next_:
        [one], [other] = answerer(text).reply([question]), answerer(next_).reply([question])
    assert one.logprobs_nats == pytest.approx(other.logprobs_nats, abs=1e-9)


def test_a_label_that_is_not_among_the_alternatives_is_unknown(model: Path):
    with serving(model, Tier.NEXT, Fault.TRUNCATED_ALTERNATIVES) as server:
        found = answerer(server)
        assert found.tier is Tier.SAMPLES, "one alternative is no choice"


def test_samples_are_counted_and_what_is_no_answer_has_its_own_columns(model: Path, tmp_path: Path):
    terms = replace(OWN, samples=5)
    with serving(model, Tier.SAMPLES) as server:
        question = Question("the cat", ("1", "2"), seed=3)
        [reply] = answerer(server, terms).reply([question])
        assert [reply] == answerer(server, terms).reply([question])
        assert len(reply.texts) == 5
        assert reply.read_by == tuple(
            "alone" if text in ("1", "2") else "none" for text in reply.texts
        )
    with serving(model, Tier.SAMPLES, Fault.REFUSES) as server:
        list(run_take(request_(f"api:{server.url}#toy", tmp_path / "out", terms=terms), NOW))
    read = rows(tmp_path / "out" / "forced_choice", "readings")
    assert {row["outcome"] for row in read} == {"refused"}
    assert rows(tmp_path / "out" / "forced_choice", "responses") == []
    asked = rows(tmp_path / "out" / "forced_choice", "asked")
    assert all("I cannot judge" in row["raw"] for row in asked)


def test_a_chat_may_think_first_which_is_counted_stored_and_a_factor(model: Path, tmp_path: Path):
    terms = replace(OWN, samples=3)
    own = request_("", tmp_path / "out", terms=terms)
    factors = replace(own.factors, thinking=(False, True), thought_tokens=9)
    with serving(model, Tier.TEXT) as server:
        named = replace(own, model=f"api:{server.url}#toy", factors=factors)
        with pytest.raises(LmError, match="in chats only"):
            list(run_take(named, NOW))
        list(run_take(replace(named, chat=True), NOW))
    folder = tmp_path / "out" / "forced_choice"
    sittings = {row["participant"]: row["thinking"] for row in rows(folder, "participants")}
    assert sorted(sittings.values()) == ["no", "no", "yes", "yes"]
    for row in rows(folder, "asked"):
        thinks = sittings[row["participant"]] == "yes"
        n_words = len(THOUGHT.split())
        assert row["hidden_tokens"] == (str(3 * n_words) if thinks else "0")
        assert row["thoughts"] == (json.dumps([THOUGHT] * 3) if thinks else "")
    seeds = [int(row["seed"]) for row in rows(folder, "asked")]
    assert len(set(seeds)) == len(seeds) and max(seeds) < 2**31
    described = json.loads((tmp_path / "out" / "take.json").read_text())
    assert described["tier"] == "samples" and described["thought_tokens"] == 9
    assert (described["temperature"], described["samples"], described["seed"]) == (1.0, 3, 1)


def test_a_server_is_told_the_effort_in_its_own_word_and_it_is_written_down(
    model: Path, tmp_path: Path
):
    own = request_("", tmp_path / "out", terms=replace(OWN, samples=1, effort="low"))
    factors = replace(own.factors, thinking=(False, True), thought_tokens=9)
    with serving(model, Tier.TEXT) as server:
        named = replace(own, model=f"api:{server.url}#toy", chat=True)
        with pytest.raises(LmError, match='reasoning effort "low" is sent to servers that'):
            list(run_take(named, NOW))
        assert not (tmp_path / "out").exists()
        list(run_take(replace(named, factors=factors), NOW))
        asked = [json.loads(body) for body in server.billed]
    assert all("max_tokens" not in body and "chat_template_kwargs" not in body for body in asked)
    told = Counter((body.get("reasoning_effort"), body["max_completion_tokens"]) for body in asked)
    n_prompts = len(rows(tmp_path / "out" / "forced_choice", "asked")) // 2
    assert told["none", OWN.max_tokens] == told["low", OWN.max_tokens + 9] == n_prompts
    described = json.loads((tmp_path / "out" / "take.json").read_text())
    assert described["reasoning_effort"] == "low"


# What an answer is, whoever gave it; the model's name and the time differ.
ANSWERS = {
    "responses": ("participant", "position", "item_id", "chosen_side", "chose_good"),
    "readings": ("participant", "position", "item_id", "outcome"),
    "asked": ("participant", "position", "ask", "prompt_sha256", "answers", "logprobs_nats"),
    "verdicts": ("participant", "kept", "rule", "evidence"),
}


@pytest.fixture
def random_network(tmp_path: Path) -> Path:
    """A recurrent network with random weights that knows every word of the study's prompts."""
    folder = tmp_path / "model"
    folder.mkdir()
    write_lessons(folder / "text.txt", load_study("minimal"), 600, 1, 1)
    words = dict.fromkeys((folder / "text.txt").read_text("utf-8").split(), 1)
    vocabulary = vocabulary_by_frequency(words, min_count=0, special=STREAM_WORDS)
    torch.manual_seed(1)
    sizes = {"embedding_size": 24, "hidden_size": 24, "layers": 1}
    shape = {"kind": "lstm", "vocabulary_size": len(vocabulary.words), **sizes}
    network = build_network(NetworkShape.from_config(shape))
    save_weights(network, folder / WEIGHTS)
    write_vocabulary(folder / VOCABULARY, vocabulary)
    config = {"type": "recurrent", "network": network.shape.to_config(), "name": "random"}
    (folder / "config.json").write_text(json.dumps({**config, "trained_on": "nothing"}))
    return folder


def test_a_take_in_process_and_one_over_http_are_the_same_row_for_row(
    random_network: Path, tmp_path: Path
):
    factors = Factors((Context.ZERO_SHOT,), ("numbers", "letters", "late_letters"), (False, True))
    with serving(random_network) as server:
        for model, out in ((str(random_network), "here"), (f"api:{server.url}#toy", "there")):
            own = request_(model, tmp_path / out)
            list(run_take(replace(own, factors=factors, n_sessions=1), NOW))
    n_rows = 0
    for table, columns in ANSWERS.items():
        here, there = (
            [[row[column] for column in columns] for row in rows(folder / "forced_choice", table)]
            for folder in (tmp_path / "here", tmp_path / "there")
        )
        assert here == there
        n_rows += len(here)
    assert n_rows > 125


def test_answers_cut_by_the_limit_of_tokens_are_counted_as_such(model: Path):
    with serving(model, Tier.SAMPLES) as server:
        found = answerer(server, replace(OWN, samples=20, max_tokens=1))
        [reply] = found.reply([Question("the cat sleeps .", ("1", "2"))])
    assert "cut" in reply.read_by and len(reply.read_by) == 20


def test_a_reading_beyond_the_tier_is_refused_and_nothing_is_written(model: Path, tmp_path: Path):
    with serving(model, Tier.NEXT) as server:
        request = request_(f"api:{server.url}#toy", tmp_path / "out", "sentence")
        with pytest.raises(ParallaxError, match="but it gives only log-probabilities of the next"):
            list(run_take(request, NOW))
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("fault", [Fault.RATE_LIMIT, Fault.CUT])
def test_what_passes_is_asked_again_and_paid_once(model: Path, tmp_path: Path, fault: Fault):
    with serving(model, Tier.TEXT, fault) as server:
        list(run_take(request_(f"api:{server.url}#toy", tmp_path / "out"), NOW))
        assert server.calls > server.billed.total()
        n_prompts = len(rows(tmp_path / "out" / "forced_choice", "prompts"))
        # Two answers to each prompt; two probes of two texts, before and after.
        assert server.billed.total() == 2 * n_prompts + 4
        assert set(server.billed.values()) == {1}


@pytest.mark.parametrize("fault", [Fault.MISSING_LOGPROBS, Fault.STALE_LOGPROBS])
def test_log_probabilities_that_are_missing_or_of_another_text_are_asked_for_again(
    model: Path, tmp_path: Path, fault: Fault, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("lm.answering.client._FIRST_WAIT_S", 0.0)
    # With one call at a time, what is asked again after a third call is never a third call.
    terms = replace(OWN, concurrency=1)
    for name, faults in (("sound", ()), ("faulty", (fault,))):
        with serving(model, Tier.TEXT, *faults) as server:
            list(run_take(request_(f"api:{server.url}#toy", tmp_path / name, terms=terms), NOW))
    weights = [
        [json.loads(row["weights"]) for row in rows(tmp_path / name / "forced_choice", "readings")]
        for name in ("sound", "faulty")
    ]
    assert weights[0] == weights[1]


def test_log_probabilities_that_are_always_missing_stop_a_take(model: Path):
    with serving(model, Tier.TEXT) as server:
        asked = answerer(server)
        server.tier = Tier.SAMPLES
        asked.client._wait = lambda _: None
        with pytest.raises(LmError, match=r"gave no log-probabilities of the text .* are kept"):
            asked.reply([Question("the cat", ("1", "2"))])


def test_a_model_that_changes_in_mid_run_is_noticed(model: Path, tmp_path: Path):
    with serving(model, Tier.TEXT, Fault.MODEL_CHANGED) as server:
        request = request_(f"api:{server.url}#toy", tmp_path / "out")
        with pytest.raises(LmError, match="the model has changed in mid-run"):
            list(run_take(request, NOW))
        assert not (tmp_path / "out" / "forced_choice").exists()
        with pytest.raises(ParallaxError, match="differ from these in: the model"):
            list(run_take(request, NOW))


@pytest.mark.parametrize("terms", [Terms(), Terms(price_in=1.0)])
def test_unknown_prices_are_refused(model: Path, terms: Terms):
    with serving(model) as server:
        with pytest.raises(LmError, match="could cost any amount"):
            answerer(server, terms)
        assert server.calls == 0


def test_prices_without_a_cap_are_refused(model: Path):
    with serving(model) as server, pytest.raises(LmError, match="no cap on their total"):
        answerer(server, Terms(price_in=1.0, price_out=1.0))


def test_a_cap_below_the_estimate_is_refused_before_the_first_trial(model: Path, tmp_path: Path):
    with serving(model) as server:
        terms = Terms(price_in=1.0, price_out=1.0, cap=0.0006)
        request = request_(f"api:{server.url}#toy", tmp_path / "out", terms=terms)
        with pytest.raises(LmError, match="all calls together can cost up to"):
            list(run_take(request, NOW))
        assert server.calls == 2
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["replies.sqlite"]


def test_no_call_is_made_that_could_pass_the_cap(model: Path):
    with serving(model) as server:
        found = answerer(server, Terms(price_in=1000.0, price_out=1000.0, cap=1.0))
        with pytest.raises(LmError, match="the cap of 1 is reached"):
            for number in range(1000):
                found.reply([Question(f"the cat {number}", ("1", "2"))])
        assert found.budget.spent + found.budget.worst_cost("the cat 100 1", 1) > 0.9 * 1.0
        assert found.budget.spent <= 1.0
        calls = server.calls
        with pytest.raises(LmError):
            found.reply([Question("the cat sleeps and sleeps and sleeps" * 30, ("1", "2"))])
        assert server.calls == calls


def test_a_server_that_does_not_answer_is_named():
    with pytest.raises(LmError, match=r"127\.0\.0\.1:9/v1/.* gives no answer"):
        ServerAnswerer(ServerModel("http://127.0.0.1:9/v1", "toy"), OWN)


@pytest.mark.parametrize("named", ["api:", "api:http://x/v1", "api:ftp://x#m", "api:#m"])
def test_a_server_that_is_not_named_as_one_is_refused(named: str):
    with pytest.raises(LmError, match="Expected api:URL#MODEL"):
        parse_server(named)
