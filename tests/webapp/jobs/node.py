"""A process that looks after an installation's queue, and writes down what it claims and does.

Usage: python node.py INSTANCE NOTES EVERY_S [die]
"""

import os
import signal
import sys
from pathlib import Path

from webapp import create_app
from webapp.jobs.periodic_queue import PeriodicJob, open_queue, serve_queue
from webapp.services import Services


def main(instance: str, notes: str, every_s: str, *die: str) -> None:
    app = create_app(Path(instance))
    services: Services = app.extensions["parallax"]

    def note(what: str) -> None:
        with Path(notes).open("a", encoding="utf-8") as file:
            file.write(f"{what} {os.getpid()}\n")

    def work(services: Services) -> None:
        note("did it")
        if die:
            os.kill(os.getpid(), signal.SIGKILL)

    queue = open_queue(
        services, Path(app.instance_path), jobs={"job": PeriodicJob(int(every_s), work)}
    )
    put = queue.storage.put_if_empty

    def put_and_note(key: str, value: bytes) -> bool:
        claimed: bool = put(key, value)
        if claimed:
            note(key)
        return claimed

    queue.storage.put_if_empty = put_and_note
    serve_queue(queue, check_s=1)


main(*sys.argv[1:])
