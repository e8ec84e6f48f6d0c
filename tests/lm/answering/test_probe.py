"""What a server's own answers say of it, without a server."""

from typing import Any

import pytest

from lm.answering.answerer import Tier
from lm.answering.replies import ServerReply, parse_reply
from lm.answering.server import find_tier
from lm.errors import LmError


def answers(content: str | None) -> Any:
    """Return a server that echoes each text as one token and writes this."""

    def post(path: str, prompt: str = "", **_: object) -> ServerReply:
        if path == "completions":
            logprobs = {"tokens": [prompt], "token_logprobs": [None]}
            return parse_reply({"choices": [{"logprobs": logprobs}]})
        return parse_reply({"choices": [{"message": {"content": content}}]})

    return post


def test_a_server_that_writes_nothing_is_refused():
    with pytest.raises(LmError, match=r"the server writes nothing\. Expected a text as content"):
        find_tier(answers(None), chat=True)


def test_a_text_echoed_as_one_token_has_no_log_probabilities_of_words():
    tier, why = find_tier(answers("1"))
    assert tier is Tier.SAMPLES
    assert "the server gave fewer log-probabilities than the text has words" in why
    assert "the server named no alternatives for the next token" in why
