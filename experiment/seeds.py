"""Seeded random generators; every random draw uses a generator from this module."""

import hashlib
import random


def derive_seed(run_seed: int, purpose: str, *key: str | int) -> int:
    """Return a 64-bit seed that depends only on the run's seed, the purpose and the key."""
    text = "\x1f".join([str(run_seed), purpose, *map(str, key)])
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


def generator(run_seed: int, purpose: str, *key: str | int) -> random.Random:
    """Return a fresh generator for one purpose, e.g. ``generator(seed, "order", list_, place)``.

    Two calls with the same arguments draw the same numbers; two purposes never share a stream.
    """
    return random.Random(derive_seed(run_seed, purpose, *key))
