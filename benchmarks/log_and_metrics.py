"""What the log and the metrics for Prometheus cost a request, in microseconds of processor time.

Usage: python benchmarks/log_and_metrics.py [--requests 3000] [--rounds 7]

The same request, to a page that does nothing, is made with and without them, in turns; the least
time of each counts. The log is written to a file, the counts into the files that processes share.
"""

import argparse
import os
import sys
import tempfile
from pathlib import Path
from time import process_time

from flask import Flask
from structlog.contextvars import bind_contextvars
from werkzeug.test import EnvironBuilder

from webapp.core.logging import write_logs
from webapp.core.metrics import Metrics
from webapp.http.request_log import log_requests
from webapp.server.private_port import FOLDER_VARIABLE


def bare() -> Flask:
    app = Flask("bare")

    @app.post("/p/<token>/answers", endpoint="answers.save")
    def save(token: str) -> dict[str, int]:
        return {"saved": 1, "remaining": 2}

    return app


def watched(metrics: Metrics | None) -> Flask:
    app = Flask("watched")
    log_requests(app, metrics)

    @app.post("/p/<token>/answers", endpoint="answers.save")
    def save(token: str) -> dict[str, int]:
        bind_contextvars(participant="932yczs8s3u8")
        return {"saved": 1, "remaining": 2}

    return app


def cost_us(app: Flask, requests: int) -> float:
    environ = EnvironBuilder(path="/p/token/answers", method="POST", data=b"{}").get_environ()
    began = process_time()
    for _ in range(requests):
        for _part in app.wsgi_app(dict(environ), lambda *_: None):
            pass
    return (process_time() - began) / requests * 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--requests", type=int, default=3000)
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ[FOLDER_VARIABLE] = folder
        sys.stderr = (Path(folder) / "log").open("w", encoding="utf-8")
        write_logs("json", "info")
        apps = {"nothing": bare(), "log": watched(None), "log and metrics": watched(Metrics())}
        least = dict.fromkeys(apps, float("inf"))
        for _ in range(options.rounds):
            for name, app in apps.items():
                least[name] = min(least[name], cost_us(app, options.requests))
        sys.stderr.close()
        sys.stderr = sys.__stderr__
    print(f"a request to a page that does nothing  {least['nothing']:6.1f} us")
    for name in list(apps)[1:]:
        print(f"{'more with ' + name:37}  {least[name] - least['nothing']:6.1f} us")


if __name__ == "__main__":
    main()
