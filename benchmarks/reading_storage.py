"""Two ways to store the times of words: a text of JSON in the answer's row, or a row for each word.

Usage: python benchmarks/reading_storage.py [--trials 100000] [--words 12]
"""

import argparse
import json
import random
import sqlite3
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

_ANSWER = "insert into answer values (?, ?, ?)"
_STEP = "insert into step (answer_id, step, onset_ms, rt_ms, source, uncertainty_ms) values (?, ?, ?, ?, ?, ?)"  # noqa: E501


def timed(name: str, act: Callable[[], object]) -> None:
    """Print how much processor time something takes."""
    begun = time.process_time()
    act()
    print(f"{name:<44} {time.process_time() - begun:6.2f} s")


def main() -> None:
    """Write and read both, on SQLite."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=100_000)
    parser.add_argument("--words", type=int, default=12)
    asked = parser.parse_args()
    rng = random.Random(1)
    times = [[round(rng.lognormvariate(5.9, 0.3), 1) for _ in range(asked.words)]
             for _ in range(asked.trials)]  # fmt: skip
    onsets = [round(400.0 * k, 1) for k in range(asked.words)]
    with tempfile.TemporaryDirectory() as folder:
        one, several = (sqlite3.connect(Path(folder) / name) for name in ("one.db", "several.db"))
        one.execute("create table answer (id integer primary key, uuid text, steps text)")
        several.execute("create table answer (id integer primary key, uuid text, steps text)")
        several.execute(
            "create table step (id integer primary key, answer_id integer, step integer, "
            "onset_ms real, rt_ms real, source text, uncertainty_ms real, unique (answer_id, step))"
        )

        def write_one() -> None:
            for number, own in enumerate(times):
                steps = {"onset_ms": onsets, "rt_ms": own, "sources": "p" * asked.words,
                         "uncertainty_ms": [4.0] * asked.words}  # fmt: skip
                one.execute(_ANSWER, (number, "x" * 36, json.dumps(steps, separators=(",", ":"))))
            one.commit()

        def write_several() -> None:
            for number, own in enumerate(times):
                several.execute(_ANSWER, (number, "x" * 36, None))
                several.executemany(
                    _STEP,
                    [(number, k, onsets[k], ms, "p", 4.0) for k, ms in enumerate(own)],
                )
            several.commit()

        def read_one() -> None:
            for _, text in one.execute("select id, steps from answer order by id"):
                for ms in json.loads(text)["rt_ms"]:
                    float(ms)

        def read_several() -> None:
            for row in several.execute(
                "select answer_id, rt_ms from step order by answer_id, step"
            ):
                float(row[1])

        print(f"{asked.trials:,} trials of {asked.words} words, SQLite, processor time")
        timed("one text of JSON: write", write_one)
        timed("a row for each word: write", write_several)
        timed("one text of JSON: read every time", read_one)
        timed("a row for each word: read every time", read_several)
        for name in ("one.db", "several.db"):
            size = (Path(folder) / name).stat().st_size
            print(f"{name:<44} {size / asked.trials:6.0f} bytes a trial")


if __name__ == "__main__":
    main()
