"""What a server bills is at most what the ledger says, and the ledger at most the cap."""

import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from itertools import count
from pathlib import Path
from threading import Thread

import pytest

from lm.answering.answerer import Question, Tier
from lm.answering.budget import Budget
from lm.answering.client import Client
from lm.answering.server import ServerAnswerer
from lm.answering.spec import ServerModel, Terms
from lm.errors import LmError
from tests.lm.answering.strange_server import (
    ORDINARY,
    PRICE_IN,
    PRICE_OUT,
    TIMEOUT_S,
    Behaviour,
    StrangeServer,
    strange_server,
)
from tests.programs.start import GIVEN

CUT = Behaviour(cuts=True)
BEHAVIOURS: dict[str, Sequence[Behaviour]] = {
    "bills every 200 and cuts the first five off": [CUT] * 5 + [ORDINARY],
    "bills what it cuts off, always": [CUT],
    "hangs and bills": [Behaviour(hangs=True), ORDINARY],
    "hangs and does not bill": [Behaviour(hangs=True, bills=False), ORDINARY],
    "bills its failures": [
        Behaviour(500),
        Behaviour(502),
        Behaviour(503),
        Behaviour(504),
        ORDINARY,
    ],
    "does not bill its failures": [Behaviour(500, bills=False), ORDINARY],
    "bills requests that it says timed out": [Behaviour(408), ORDINARY],
    "bills what is no JSON": [Behaviour(body="<html>"), ORDINARY],
    "bills what is no object": [Behaviour(body="[1, 2]"), ORDINARY],
    "bills what nests too deep": [Behaviour(body="[" * 100_000), ORDINARY],
    "does not say what it bills": [Behaviour(usage=None)],
    "says null": [Behaviour(usage={"prompt_tokens": None, "completion_tokens": None})],
    "says a half": [Behaviour(usage={"prompt_tokens": 3})],
    "says text": [Behaviour(usage={"prompt_tokens": "3", "completion_tokens": True})],
    "says less than nothing": [Behaviour(usage={"prompt_tokens": -900, "completion_tokens": 1})],
    "says a list": [Behaviour(usage=[3, 4])],
    "redirects and bills": [ORDINARY] * 3 + [Behaviour(302)],
}


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(Client.__init__, "__defaults__", ("", lambda _: None, 60.0))


def terms(cap: float) -> Terms:
    return Terms(price_in=PRICE_IN, price_out=PRICE_OUT, cap=cap, concurrency=4)


def ask_until_the_cap(server: StrangeServer, cap: float, ledger: Path | None = None) -> float:
    """Ask until the take stops for good, and return what its ledger says."""
    budget = Budget(terms(cap), ledger)
    hangs = any(behaviour.hangs for behaviour in server.script)
    client = Client(
        ServerModel(server.url, "toy"),
        budget,
        wait=lambda _: None,
        timeout_s=TIMEOUT_S if hangs else 60.0,
    )
    failures = 0
    for number in count():
        prompt = f"Which of both sentences is the better one? {number}"
        try:
            client.post("completions", budget.worst_cost(prompt, 8), prompt=prompt, max_tokens=8)
        except LmError as error:
            failures += 1
            if "the cap of" in str(error) or failures > 3:
                break
    return budget.spent


@pytest.mark.parametrize("behaviour", BEHAVIOURS)
def test_the_bill_is_at_most_the_ledger_and_the_ledger_at_most_the_cap(behaviour: str):
    with strange_server(BEHAVIOURS[behaviour], endless=True) as server:
        spent = ask_until_the_cap(server, cap := 0.006)
        assert 0 < server.bill <= spent * (1 + 1e-9)
        assert spent <= cap


def test_an_attempt_whose_reply_names_its_cost_counts_as_much():
    # 44 bytes and 8 tokens of an answer, at 3 and 15 a million; one byte more is set aside.
    prompt = "Which of both sentences is the better one? 0"
    budget = Budget(terms(1.0))
    assert budget.worst_cost(prompt, 8) == pytest.approx(45 * 3e-6 + 8 * 15e-6)
    with strange_server([CUT, CUT, ORDINARY]) as server:
        client = Client(ServerModel(server.url, "toy"), budget)
        client.post("completions", budget.worst_cost(prompt, 8), prompt=prompt, max_tokens=8)
        assert server.bill == pytest.approx(3 * (44 * 3e-6 + 8 * 15e-6))
    assert budget.spent == pytest.approx(2 * 255e-6 + 252e-6)


@pytest.mark.parametrize("status", [400, 401, 404, 409, 429])
def test_a_refusal_before_the_model_read_anything_costs_nothing(status: int):
    with strange_server([Behaviour(status, bills=False)], endless=True) as server:
        assert ask_until_the_cap(server, 0.01) == 0.0


def test_what_never_went_out_costs_nothing():
    budget = Budget(terms(1.0))
    client = Client(ServerModel("http://127.0.0.1:9/v1", "toy"), budget)
    with pytest.raises(LmError, match="nothing listens"):
        client.post("completions", budget.worst_cost("The", 8), prompt="The", max_tokens=8)
    assert budget.spent == 0.0


def test_a_refusal_that_names_its_cost_costs_as_much():
    body = '{"error": "no", "usage": {"prompt_tokens": 10, "completion_tokens": 2}}'
    budget = Budget(terms(1.0))
    with strange_server([Behaviour(400, body=body)]) as server:
        client = Client(ServerModel(server.url, "toy"), budget)
        with pytest.raises(LmError, match="status 400"):
            client.post("completions", budget.worst_cost("The", 8), prompt="The", max_tokens=8)
    assert budget.spent == pytest.approx(10 * 3e-6 + 2 * 15e-6)


def test_thoughts_that_are_in_the_total_alone_are_paid():
    budget = Budget(terms(1.0))
    usage = {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 20}
    budget.settle(budget.reserve(0.5), usage)
    assert budget.spent == pytest.approx(10 * 3e-6 + 10 * 15e-6)


def test_a_prompt_of_the_servers_own_is_set_aside_once_it_is_known():
    with strange_server([], Behaviour(overhead=500)) as server:
        first = Budget(terms(1.0))
        excess = 499 * 3e-6  # One token more than the prompt's bytes was set aside.
        client = Client(ServerModel(server.url, "toy"), first)
        client.post("completions", first.worst_cost("The", 8), prompt="The", max_tokens=8)
        first.reserve(0.5)
        assert first.spent == pytest.approx((503 * 3e-6 + 8 * 15e-6) + 0.5 + excess)
        before = server.bill
        spent = ask_until_the_cap(server, cap := 0.02)
        assert server.bill - before <= spent * (1 + 1e-9) <= cap * (1 + 1e-9)


@pytest.mark.parametrize(
    "amounts",
    [
        {"price_in": -1.0},
        {"price_out": float("nan")},
        {"cap": float("nan")},
        {"cap": -0.5},
        {"price_in": float("inf")},
    ],
)
def test_what_is_no_amount_is_refused(amounts: dict[str, float]):
    with pytest.raises(LmError, match="is not an amount of money"):
        Budget(Terms(**{"price_in": 1.0, "price_out": 1.0, "cap": 1.0, **amounts}))


def test_two_takes_that_share_a_ledger_share_the_cap(tmp_path: Path):
    """Each has connections of its own, as two commands have."""
    cap, ledger = 0.02, tmp_path / "out" / "replies.sqlite"
    with strange_server([CUT, ORDINARY, Behaviour(500)], endless=True) as server:
        takes = [
            Thread(target=ask_until_the_cap, args=(server, cap, ledger), daemon=True)
            for _ in range(2)
        ]
        for take in takes:
            take.start()
        for take in takes:
            take.join()
        spent = Budget(terms(cap), ledger).spent
        assert 0 < server.bill <= spent * (1 + 1e-9)
        assert 0.9 * cap < spent <= cap


def test_the_probe_is_in_the_ledger_from_its_first_call(tmp_path: Path):
    ledger = tmp_path / "replies.sqlite"
    with strange_server([]) as server:
        answerer = ServerAnswerer(ServerModel(server.url, "toy"), terms(1.0), ledger)
        assert answerer.tier is Tier.NEXT
        assert server.bill <= Budget(terms(1.0), ledger).spent <= server.bill + 0.01


def test_a_reservation_without_a_reply_stays_at_its_worst_when_the_take_goes_on(tmp_path: Path):
    ledger = tmp_path / "replies.sqlite"
    with strange_server([]) as server:
        before = Budget(terms(1.0), ledger)
        before.reserve(0.99)
        resumed = ServerAnswerer(ServerModel(server.url, "toy"), terms(1.0), ledger)
        with suppress(LmError):
            for number in range(200):
                resumed.reply([Question(f"Which is better? {number}", ("1", "2"))])
        assert 0.999 < resumed.budget.spent <= 1.0
        assert server.bill <= resumed.budget.spent - 0.99 + 1e-9


def test_a_file_that_keeps_no_costs_is_named(tmp_path: Path):
    path = tmp_path / "replies.sqlite"
    path.write_text("the costs of 2025, in a spreadsheet's own words" * 30)
    with pytest.raises(
        LmError, match=r"replies.sqlite: the costs of calls cannot be kept there \(f"
    ):
        Budget(terms(1.0), path).reserve(0.5)


_TAKE = """
import lm.answering.client as client
client._FIRST_WAIT_S = client._LONGEST_WAIT_S = 0.01
client.Client.__init__.__defaults__ = ("", client.time.sleep, {timeout})
from parallax import main
main()
"""


def test_killed_takes_that_go_on_stay_below_the_cap(tmp_path: Path):
    script = [CUT, ORDINARY, ORDINARY, Behaviour(500), ORDINARY, Behaviour(hangs=True), ORDINARY]
    cap, ledger = 0.4, tmp_path / "out" / "replies.sqlite"
    with strange_server(script, endless=True) as server:
        command = [sys.executable, GIVEN, _TAKE.format(timeout=TIMEOUT_S), "take", "minimal"]
        command += ["--model", f"api:{server.url}#toy", "--reading", "forced_choice"]
        command += ["--labels", "numbers", "--sessions", "1", "--out", str(tmp_path / "out")]
        command += ["--price-in", str(PRICE_IN), "--price-out", str(PRICE_OUT), "--cap", str(cap)]
        for n_calls in (2, 9):
            _killed_after(server, command, n_calls)
            assert server.bill <= Budget(terms(cap), ledger).spent * (1 + 1e-9)
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        spent = Budget(terms(cap), ledger).spent
        assert 0 < server.bill <= spent * (1 + 1e-9) <= cap * (1 + 1e-9)
    assert done.returncode == 0, done.stderr
    assert f"calls cost {spent:.6g}" in done.stdout


def _killed_after(server: StrangeServer, command: list[str], n_calls: int) -> None:
    until = server.calls + n_calls
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as taking:
        while server.calls < until and taking.poll() is None:
            time.sleep(0.005)
        taking.send_signal(signal.SIGKILL)
        taking.wait()
    # What was under way is billed when the server has read it.
    time.sleep(0.05)
