"""Send thousands of prompts over HTTP despite kills, cut connections and a change of model.

python -m benchmarks.takers_campaign [--sessions 8] [--kills 10] [--forgetful]

`parallax take` calls a stand-in server that cuts off every third answer, and is killed (SIGKILL)
after random times. Once, the server switches to another model, and then back. The same command is
repeated until it completes, even if all retries of an answer were cut off. Each session is run in
three contexts, with three sets of labels and in both orders. With --forgetful the server ignores
the key that identifies a repeated call, so that calls in progress at a kill are billed again.
"""

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread

import pandas as pd

from experiment.studies.load import load_study
from lm.answering.answerer import Tier
from lm.answering.stand_in import Fault, ServedModel, StandIn
from lm.registry import load_scorer

PRICE_IN, PRICE_OUT = 1.0, 2.0
_MOST_TIMES = 20


@dataclass(frozen=True)
class Campaign:
    """What happened.

    Attributes:
        prompts: The prompts of the take.
        lost: Those without a row in its tables.
        paid: How many of them the server answered and counted as paid.
        paid_again: How many of these were counted more than once.
        calls: All calls that reached the server, probes and cut answers among them.
        kills: How often the command was killed.
        given: How often it was given in all.
        refused_other_model: Whether the command stopped while the server was another model.
        spent: What the take's ledger says that calls cost.
        billed: What the server's own count of tokens comes to.
    """

    prompts: int
    lost: int
    paid: int
    paid_again: int
    calls: int
    kills: int
    given: int
    refused_other_model: bool
    spent: float
    billed: float


def run(
    model: Path,
    folder: Path,
    *,
    study: str,
    sessions: int,
    kills: int,
    seconds: tuple[float, float],
    honours_keys: bool = True,
    seed: int = 1,
    contexts: tuple[str, ...] = ("zero_shot",),
    concurrency: int = 4,
) -> Campaign:
    """Run a campaign and return what happened.

    Args:
        model: The model that is served.
        folder: Where the take is written.
        study: The study whose sessions are taken.
        sessions: How many.
        kills: How often the command is killed.
        seconds: Between which times after the first new answer a kill falls.
        honours_keys: Whether the server knows a repeated call by its key.
        seed: What the times are drawn by.
        contexts: What stands before each trial.
        concurrency: How many calls are under way at once.
    """
    rng = random.Random(seed)
    server = StandIn(ServedModel(load_scorer(model)), "m", Tier.NEXT, frozenset({Fault.CUT}))
    server.honours_keys = honours_keys
    thread = Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        command = _command(server, study, sessions, folder)
        command += [word for context in contexts for word in ("--context", context)]
        command += ["--concurrency", str(concurrency)]
        for _ in range(kills):
            _killed(command, server, rng.uniform(*seconds))
        server.another_model = True
        stopped = subprocess.run(command, capture_output=True, text=True, check=False)
        server.another_model = False
        given = kills + 1 + _until_it_ends(command)
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
    refused = stopped.returncode != 0 and "model" in stopped.stderr
    return _counted(server, folder, kills, given, refused)


def _until_it_ends(command: list[str]) -> int:
    """Give a command until it succeeds, and return how often that was."""
    for number in range(1, _MOST_TIMES + 1):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if not done.returncode:
            return number
    raise RuntimeError(done.stderr)


def _command(server: StandIn, study: str, sessions: int, folder: Path) -> list[str]:
    words = [sys.executable, "-m", "parallax", "take", study, "--reading", "forced_choice"]
    words += ["--model", f"api:{server.url}#m", "--sessions", str(sessions), "--out", str(folder)]
    prices = {"price-in": PRICE_IN, "price-out": PRICE_OUT, "cap": 1e6}
    return words + [word for name, value in prices.items() for word in (f"--{name}", str(value))]


def _killed(command: list[str], server: StandIn, seconds: float) -> None:
    """Kill the command so long after the server answered something new."""
    before = server.billed.total()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as taking:
        while server.billed.total() < before + 4 and taking.poll() is None:
            time.sleep(0.01)
        time.sleep(seconds)
        taking.send_signal(signal.SIGKILL)


def _counted(server: StandIn, folder: Path, kills: int, given: int, refused: bool) -> Campaign:
    asked = pd.read_parquet(folder / "forced_choice" / "asked.parquet")
    prompts = pd.read_parquet(folder / "forced_choice" / "prompts.parquet")
    trials = pd.read_parquet(folder / "forced_choice" / "trials.parquet")
    wanted = set(prompts["prompt"])
    bodies = [(json.loads(body), n) for body, n in server.billed.items()]
    paid = [n for body, n in bodies if body.get("prompt") in wanted]
    tokens = sum(n * len(str(body.get("prompt") or body).split()) for body, n in bodies)
    manifest = json.loads((folder / "take.json").read_text())
    return Campaign(
        prompts=len(trials),
        lost=len(trials) - int(asked["logprobs_nats"].str.contains(r"\d").sum()),
        paid=len(paid),
        paid_again=sum(n > 1 for n in paid),
        calls=server.calls,
        kills=kills,
        given=given,
        refused_other_model=refused,
        spent=manifest["spent"],
        billed=(tokens * PRICE_IN + server.billed.total() * PRICE_OUT) / 1e6,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--study", default="marvin_linzen_2018")
    parser.add_argument("--sessions", type=int, default=8)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--forgetful", action="store_true", help="the server knows no keys")
    chosen = parser.parse_args()
    # Many small processes and threads of one: more of PyTorch's would wait for each other.
    os.environ["OMP_NUM_THREADS"] = "1"
    with TemporaryDirectory() as folder:
        model, text = Path(folder) / "model", Path(folder) / "text.txt"
        study = load_study(chosen.study)
        parallax = [sys.executable, "-m", "parallax", "lm"]
        text_of = ["text", study.name, "--prompts", "--sentences", "2000", "--out", str(text)]
        trained = ["train", "--type", "ngram", "--order", "3", "--data", str(text)]
        for words in (text_of, [*trained, "--out", str(model)]):
            subprocess.run([*parallax, *words], check=True, capture_output=True)
        found = run(
            model,
            Path(folder) / "take",
            study=study.name,
            sessions=chosen.sessions,
            kills=chosen.kills,
            seconds=(1.0, 8.0),
            honours_keys=not chosen.forgetful,
            contexts=("zero_shot", "instructions", "practice"),
            concurrency=32,
        )
    print(f"{found.prompts:,} prompts, {found.calls:,} calls", end="; ")
    print(f"the command was given {found.given} times and killed {found.kills} of them")
    print(f"lost: {found.lost}; paid: {found.paid:,} different prompts")
    print(f"paid more than once: {found.paid_again}")
    print(f"stopped while the server was another model: {found.refused_other_model}")
    print(f"the ledger says {found.spent:.6f}, the server's own count comes to {found.billed:.6f}")


if __name__ == "__main__":
    main()
