"""Names that differ by a slip, and words that differ by their inflection."""

import pytest

from experiment.authoring.lint.cells import _are_inflected


@pytest.mark.parametrize(
    ("name", "other", "inflected"),
    [
        ("sings", "sing", True), ("Sing", "sings", True), ("bake", "baked", True),
        ("mathc", "match", False), ("mismatch", "mizmatch", False), ("math", "match", False),
    ],
)  # fmt: skip
def test_words_that_differ_in_their_last_letter_alone_are_inflected(name, other, inflected):
    assert _are_inflected(name, other) == inflected
