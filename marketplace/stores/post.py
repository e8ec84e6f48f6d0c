"""A place that takes a POST: each body becomes a file."""

import itertools
from pathlib import Path

from flask import Blueprint, Response, request

from marketplace.stores.cors import open_to_all
from marketplace.stores.faults import Faults, after, before


def post_store(folder: Path, faults: Faults) -> Blueprint:
    """Return the store; it answers 204 when the file is written."""
    store = Blueprint("post_store", __name__)
    open_to_all(store)
    numbers = itertools.count(1)

    @store.post("/keep")
    def keep() -> Response:
        """Keep a body."""
        kind = faults.next()
        if (failed := before(kind)) is not None:
            return failed
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{next(numbers):06}.json").write_bytes(request.get_data())
        return after(kind, Response(status=204))

    return store
