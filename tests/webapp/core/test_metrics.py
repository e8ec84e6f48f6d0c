"""A full disk must not end a process that counts."""

import errno
import os
import subprocess
import sys

import pytest

from webapp.core import metrics
from webapp.core.metrics import FOLDER_VARIABLE, reserve_metrics_space

COUNTING = """
import os, sys
from webapp.core.metrics import Metrics
counts = Metrics()
for n in range(300):
    counts.count_request(f"an.endpoint.of.ours.{n % 60}", 200 + n % 5, 0.01)
sizes = [(e.name, e.stat().st_size, e.stat().st_blocks * 512) for e in os.scandir(sys.argv[1])]
assert len(sizes) == 2 and all(blocks >= size == 1 << 20 for _, size, blocks in sizes), sizes
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector
registry = CollectorRegistry()
MultiProcessCollector(registry)
assert generate_latest(registry).decode().count("parallax_requests_total{") == 60
"""


def test_the_room_for_all_counts_is_taken_before_the_first(tmp_path):
    subprocess.run(
        [sys.executable, "-c", COUNTING, str(tmp_path)],
        env={**os.environ, FOLDER_VARIABLE: str(tmp_path)},
        check=True,
    )


def test_without_room_a_process_counts_in_its_memory_and_says_so(tmp_path, monkeypatch, caplog):
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    monkeypatch.setattr(metrics.os, "posix_fallocate", full)
    assert reserve_metrics_space() is False
    assert FOLDER_VARIABLE not in os.environ and list(tmp_path.iterdir()) == []
    assert "there is no space for the metrics files (No space left on device)" in caplog.text


@pytest.mark.parametrize("given", [False])
def test_a_process_without_a_folder_asks_for_no_room(monkeypatch, given):
    monkeypatch.delenv(FOLDER_VARIABLE, raising=False)
    assert reserve_metrics_space() is given
