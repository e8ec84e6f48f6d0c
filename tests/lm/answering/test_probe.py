"""What a server's own answers say of it, without a server."""

import re
from typing import Any

import pytest

from lm.answering.answerer import Tier
from lm.answering.replies import NoReplyError, ServerReply, parse_reply
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
    with pytest.raises(LmError, match=r"the server returned no text\. Expected a text as content"):
        find_tier(answers(None), chat=True)


def test_a_text_echoed_as_one_token_has_no_log_probabilities_of_words():
    tier, why = find_tier(answers("1"))
    assert tier is Tier.SAMPLES
    assert "the server gave fewer log-probabilities than the text has words" in why
    assert "the server named no alternatives for the next token" in why


def failing(n_failures: int, *, is_refusal: bool) -> Any:
    """Return a server that gives probabilities of texts, but no reply to its first calls."""
    calls = []

    def post(path: str, prompt: str = "", **_: object) -> ServerReply:
        calls.append(path)
        if len(calls) <= n_failures:
            raise NoReplyError("status 503: starting", is_refusal=is_refusal)
        if path != "completions":
            return parse_reply({"choices": [{"message": {"content": "1"}}]})
        tokens = re.findall(r"\s*\S+", prompt)
        logprobs = {"tokens": tokens, "token_logprobs": [None, *[-1.0] * (len(tokens) - 1)]}
        return parse_reply({"choices": [{"logprobs": logprobs}]})

    return post


@pytest.mark.parametrize("n_failures", [0, 1, 2])
def test_a_server_that_fails_while_it_starts_keeps_its_tier(n_failures):
    assert find_tier(failing(n_failures, is_refusal=False)) == (Tier.TEXT, "")


def test_a_server_that_refuses_a_call_has_a_lower_tier_and_one_that_stays_down_is_refused():
    tier, why = find_tier(failing(2, is_refusal=True))
    assert (tier, why) == (Tier.SAMPLES, "status 503: starting; status 503: starting")
    with pytest.raises(NoReplyError):
        find_tier(failing(9, is_refusal=False))


def test_a_server_that_names_one_alternative_gives_no_probabilities_of_the_next_token():
    def post(path: str, prompt: str = "", **_: object) -> ServerReply:
        if path != "completions":
            return parse_reply({"choices": [{"message": {"content": "1"}}]})
        logprobs = {"tokens": [" 5"], "token_logprobs": [-0.1], "top_logprobs": [{" 5": -0.1}]}
        return parse_reply({"choices": [{"text": " 5", "logprobs": logprobs}]})

    tier, why = find_tier(post)
    assert tier is Tier.SAMPLES
    assert "it names a single alternative for the next token" in why
