"""Thoughts are found wherever a server puts them, and tokens that nobody tells are not made up."""

import pytest

from lm.answering.messages import Thought, find_thought, total_thinking_tokens
from lm.answering.replies import ServerReply, parse_reply


def answer(message: dict[str, object], details: object = None) -> ServerReply:
    usage = {"completion_tokens_details": details}
    return parse_reply({"choices": [{"message": message}], "usage": usage})


@pytest.mark.parametrize(
    ("given", "found"),
    [
        (answer({"content": "A"}), Thought("", 0)),
        (answer({"content": "A"}, {"reasoning_tokens": 7}), Thought("", 7)),
        (answer({"content": "A"}, {"reasoning_tokens": "7"}), Thought("", 0)),
        (answer({"content": "A"}, [7]), Thought("", 0)),
        (answer({"content": "A", "reasoning_content": "hm"}), Thought("hm", None)),
        (answer({"content": "A", "reasoning": "hm"}, {"reasoning_tokens": 1}), Thought("hm", 1)),
        (answer({"content": "<think>\nhm\n</think>\nA"}), Thought("hm", None)),
        (answer({"content": "<think>never ends"}), Thought("never ends", None)),
        (parse_reply({"choices": [{}], "usage": 3}), Thought("", 0)),
    ],
)
def test_a_thought_is_found(given: ServerReply, found: Thought):
    assert find_thought(given) == found


def test_hidden_tokens_are_added_where_all_are_known():
    assert total_thinking_tokens([Thought("", 3), Thought("a", 4)]) == 7
    assert total_thinking_tokens([Thought("", 3), Thought("a", None)]) is None
