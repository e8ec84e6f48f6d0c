"""What servers of models that behave strangely are billed, and how their replies are read.

Usage: python benchmarks/strange_servers.py [--replies 20000] [--seed 1]

The first table has a row for each behaviour of a server that bills: calls are made until the cap
of a take is reached, or the take stops. The bill must not exceed the ledger, or the ledger the cap.
The second table has questions whose replies have planted faults: each ends with the right value or
stops the take. The third has phrasings of sampled answers with the label that a person reads.
"""

import argparse
import random
import ssl
import sys
import warnings
from collections import Counter
from functools import cache
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))
from analysis.statistics.resample import wilson_interval
from lm.answering.client import Client
from lm.answering.labels import UNREADABLE
from lm.answering.replies import UnusableReplyError
from tests.lm.answering.faulty_replies import answerer_of, is_close, make_case
from tests.lm.answering.phrasings import phrasings
from tests.lm.answering.strange_server import strange_server
from tests.lm.answering.test_budget import BEHAVIOURS, ask_until_the_cap

CAP = 0.006
RIGHT, STOPPED, WRONG, ERROR = "right value", "take stopped", "WRONG", "other error"


def bill_behaviours() -> bool:
    """Print what each behaviour cost; return whether ledger and cap held."""
    # Seven waits of up to a minute would follow each failed call.
    Client.__init__.__defaults__ = ("", lambda _: None, 60.0)
    print("| The server | Calls | Billed | Ledger | Cap |")
    print("|---|---:|---:|---:|---:|")
    held = True
    for behaviour, script in BEHAVIOURS.items():
        with strange_server(script, endless=True) as server:
            spent = ask_until_the_cap(server, CAP)
            bill = server.bill
        held &= bill <= spent * (1 + 1e-9) and spent <= CAP
        print(f"| {behaviour} | {server.calls} | {bill:.6f} | {spent:.6f} | {CAP:.3f} |")
    return held


def answer(seed: int) -> str:
    """Return how a question ended whose replies have planted faults."""
    case = make_case(random.Random(seed))
    try:
        [reply] = answerer_of(case).reply([case.question])
    except UnusableReplyError:
        return STOPPED if case.truth is None else WRONG
    # Whatever else happens is counted, and named by its kind.
    except Exception as error:
        return f"{ERROR} {type(error).__name__}"
    is_right = case.truth is not None and is_close(reply.logprobs_nats, case.truth)
    return RIGHT if is_right else WRONG


def read_faulty_replies(n: int, first: int) -> bool:
    """Print how questions ended; return whether all ended as they must."""
    ends = Counter(answer(first + number) for number in range(n))
    print("\n| Questions with faulty replies | right value | take stopped | wrong | other errors |")
    print("|---:|---:|---:|---:|---:|")
    others = n - ends[RIGHT] - ends[STOPPED] - ends[WRONG]
    print(f"| {n:,} | {ends[RIGHT]:,} | {ends[STOPPED]:,} | {ends[WRONG]} | {others} |")
    return ends[RIGHT] + ends[STOPPED] == n


def read_phrasings() -> bool:
    """Print how phrasings were read; return whether none was misread."""
    print("\n| Phrasings | read by people | misread | needlessly unreadable |")
    print("|---|---:|---:|---:|")
    n_misread = 0
    for half in ("seen", "held"):
        pairs = [(phrasing.value, phrasing.read().label) for phrasing in phrasings(half)]
        readable = [label for value, label in pairs if value not in UNREADABLE]
        misread = sum(bool(label) and label != value for value, label in pairs)
        unread = sum(not label for label in readable)
        most = 100 * wilson_interval(misread, len(pairs)).high
        print(
            f"| {half}: {len(pairs)} | {len(readable)} | {misread} (at most {most:.1f} %) | "
            f"{unread} ({100 * unread / len(readable):.1f} %) |"
        )
        n_misread += misread
    return n_misread == 0


def main() -> None:
    """Print the tables; the exit status is 1 if a bill, a value or a label is wrong."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--replies", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1, help="the first question's")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    # Every question has a client of its own, and none of them uses the certificates.
    ssl.create_default_context = cache(ssl.create_default_context)
    results = [bill_behaviours(), read_faulty_replies(options.replies, options.seed)]
    sys.exit(0 if all([*results, read_phrasings()]) else 1)


if __name__ == "__main__":
    main()
