"""What is said of a difference after correction agrees with the interval beside it."""

import pytest

from analysis.responses.reading import correction_in_words


@pytest.mark.parametrize(
    ("low", "high", "p_holm", "n", "said"),
    [
        (1, 9, 0.01, 5, "a significant difference after correction for the 5 contrasts"),
        (1, 9, 0.20, 5, "its own interval excludes zero, but after correction for the 5 "
                        "contrasts there is no significant difference"),
        (-1, 9, 0.20, 5, "no significant difference"),
        (1, 9, 0.01, 1, "a significant difference"),
    ],
)  # fmt: skip
def test_a_sentence_says_for_how_many_comparisons_a_difference_is_corrected(
    low, high, p_holm, n, said
):
    assert correction_in_words(low, high, p_holm, f"{n} contrasts", n) == said
