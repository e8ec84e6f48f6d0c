"""An answer as the participants' page sends it."""

import json
from datetime import UTC, datetime
from random import Random
from uuid import UUID


def new_uuid(rng: Random) -> str:
    """Return a version 4 UUID that the seed decides."""
    return str(UUID(int=rng.getrandbits(128), version=4))


def answer(position: int, uuid: str, side: str) -> bytes:
    """Return the body of one answer."""
    now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return json.dumps(
        {
            "uuid": uuid,
            "position": position,
            "side": side,
            "rt_ms": 1234.5,
            "input_method": "key",
            "client_time": now,
            "viewport_width_px": 1280,
            "viewport_height_px": 720,
            "was_hidden": False,
            "lost_focus": False,
        },
        separators=(",", ":"),
    ).encode()
