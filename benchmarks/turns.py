"""How processes share the right to write to SQLite: turns of each, and how long they wait.

Usage: python benchmarks/turns.py [--processes 4] [--threads 4] [--seconds 5] [--hold 0.002]

Each process has threads that write again and again without a pause, the hardest case: one busy
process could keep the others out. A thread holds the right for --hold seconds, in which it works.
"""

import argparse
import multiprocessing
import tempfile
import threading
import time
from pathlib import Path
from statistics import median

from webapp.database.write_lock import WriteLock


def write(path: Path, n_threads: int, seconds: float, hold_s: float, into: object) -> None:
    """Be a process that writes; put how long each of its turns was waited for."""
    lock, waits = WriteLock(path), list[float]()
    until = time.monotonic() + seconds

    def again_and_again() -> None:
        while (asked := time.monotonic()) < until:
            if not lock.acquire():
                continue
            begun = time.monotonic()
            waits.append(begun - asked)
            while time.monotonic() - begun < hold_s:
                pass
            lock.release()

    threads = [threading.Thread(target=again_and_again) for _ in range(n_threads)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    into.put(waits)  # type: ignore[attr-defined]


def measure(n_processes: int, n_threads: int, seconds: float, hold_s: float) -> list[list[float]]:
    """Return each process's waits, in seconds."""
    # Copies of this process: a new interpreter reads for longer than a short run writes.
    context = multiprocessing.get_context("fork")
    into = context.Queue()
    with tempfile.TemporaryDirectory() as folder:
        asked = (Path(folder) / "turn", n_threads, seconds, hold_s, into)
        processes = [context.Process(target=write, args=asked) for _ in range(n_processes)]
        for process in processes:
            process.start()
        waits = [into.get() for _ in processes]
        for process in processes:
            process.join()
    return waits


def main() -> None:
    """Print a line for each process."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--processes", type=int, default=4)
    parser.add_argument("--threads", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--hold", type=float, default=0.002, metavar="SECONDS")
    options = parser.parse_args()
    waits = measure(options.processes, options.threads, options.seconds, options.hold)
    print(f"{'turns':>8}{'median wait ms':>16}{'longest wait ms':>17}")
    for each in sorted(waits, key=len):
        middle, longest = (1000 * median(each), 1000 * max(each)) if each else (0.0, 0.0)
        print(f"{len(each):>8,}{middle:>16.1f}{longest:>17.1f}")
    turns = [len(each) for each in waits]
    print(f"most turns / fewest turns: {max(turns) / max(1, min(turns)):.2f}")


if __name__ == "__main__":
    main()
