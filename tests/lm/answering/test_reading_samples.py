"""What a model wrote is read as a label only where it is one."""

import pytest

from lm.answering.messages import find_label, is_refusal


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("A", "A"),
        (" B.", "B"),
        ("(A)", "A"),
        ("**B**", "B"),
        ("Answer: B", "B"),
        ("Option A is better", "A"),
        ("B, because the verb agrees. A is wrong.", "B"),
        ("The better one is B.", "B"),
        ("<think>A? No, B.</think> B", "B"),
        ("A or B, who knows", "A"),
        ("It could be A or B", ""),
        ("There is A mistake", ""),
        ("Both", ""),
        ("", ""),
        ("a", ""),
    ],
)
def test_a_label_is_found_or_not(text: str, label: str):
    assert find_label(text, ("A", "B")) == label


@pytest.mark.parametrize(
    ("text", "refuses"),
    [
        ("I'm sorry, but I cannot help with that.", True),
        ("As an AI, I have no taste.", True),
        ("Je ne peux pas juger.", True),
        ("The first one sounds better.", False),
    ],
)
def test_a_refusal_is_told_from_a_failure(text: str, refuses: bool):
    assert is_refusal(text) == refuses
