import random

import pytest


@pytest.fixture(scope="session")
def zipfian_sentences() -> list[list[str]]:
    """Sentences in which every count that discounts need occurs, at each order up to 3."""
    rng = random.Random(7)
    words = [f"w{rank}" for rank in range(1, 200)]
    weights = [1 / rank for rank in range(1, 200)]
    return [rng.choices(words, weights, k=rng.randint(1, 9)) for _ in range(300)]
