"""A server's failure is tried again, and then stops a take; it is never a model's answer."""

import random
from typing import Any

import httpx
import pytest

from lm.answering.budget import Budget
from lm.answering.client import Client
from lm.answering.replies import (
    UnusableReplyError,
    align_echoed_tokens,
    find_alternatives,
    find_written_text,
    join_stream,
    parse_reply,
)
from lm.answering.spec import ServerModel, Terms
from lm.errors import LmError
from tests.lm.answering.faulty_replies import answerer_of, is_close, make_case
from tests.patience import PATIENCE_S


@pytest.mark.parametrize("seed", range(25))
def test_a_question_comes_to_its_value_or_stops(seed: int):
    case = make_case(random.Random(seed))
    answerer = answerer_of(case)
    if case.truth is None:
        with pytest.raises(UnusableReplyError, match="The answers so far are kept"):
            answerer.reply([case.question])
    else:
        [reply] = answerer.reply([case.question])
        assert is_close(reply.logprobs_nats, case.truth)


@pytest.mark.parametrize(
    ("payload", "said"),
    [
        ({"error": {"message": "busy"}}, 'the server says: {"message": "busy"}'),
        ({"choices": [None]}, "the reply is not as expected: choices.0: "),
        ({"choices": []}, "the reply is not as expected: choices: "),
        ({"choices": [{"finish_reason": "error"}]}, "the server says that it ended with an error"),
        (
            {"choices": [{"logprobs": {"top_logprobs": [{"A": 3.0}]}}]},
            "a log-probability cannot be 3",
        ),
    ],
)
def test_what_is_wrong_is_told(payload: object, said: str):
    with pytest.raises(UnusableReplyError) as error:
        parse_reply(payload)
    assert said in str(error.value)


def test_alternatives_that_sum_to_more_than_one_are_no_probabilities():
    logprobs = {"top_logprobs": [{"A": -0.1, "B": -0.1}]}
    with pytest.raises(UnusableReplyError, match=r"probabilities sum to 1\.81"):
        find_alternatives(parse_reply({"choices": [{"logprobs": logprobs}]}))


@pytest.mark.parametrize(
    ("message", "reason", "text"),
    [
        ({"content": "B"}, "stop", "B"),
        ({"content": [{"type": "text", "text": "I say "}, {"text": "B"}]}, "stop", "I say B"),
        ({"content": None, "refusal": "I'm sorry."}, "stop", "I'm sorry."),
        ({"content": None}, "length", ""),
        ({"content": None, "reasoning_content": "hm"}, "stop", ""),
        ({"content": None}, "content_filter", "I'm sorry, I cannot answer."),
    ],
)
def test_the_written_text_is_found(message: dict[str, Any], reason: str, text: str):
    choice = {"message": message, "finish_reason": reason}
    assert find_written_text(parse_reply({"choices": [choice]})) == text


def echo(tokens: list[str], values: list[float | None]) -> Any:
    logprobs = {"tokens": tokens, "token_logprobs": values}
    return parse_reply({"choices": [{"logprobs": logprobs}]})


@pytest.mark.parametrize(
    ("tokens", "values", "aligned"),
    [
        (["the", " cat", " x"], [None, -1.0, -2.0], [(0, None), (3, -1.0)]),
        (["<s>", "the", " cat", " x"], [None, -3.0, -1.0, -2.0], [(0, -3.0), (3, -1.0)]),
        (["<|begin_of_text|>", "the", " cat"], [None, -3.0, -1.0], [(0, -3.0), (3, -1.0)]),
        (["", "the", "cat", "x"], [None, -3.0, -1.0, -2.0], [(0, -3.0), (3, -1.0)]),
        (["\u2581the", "\u2581c", "at"], [None, -1.0, -0.5], [(0, None), (3, -1.0), (5, -0.5)]),
    ],
)
def test_echoed_tokens_are_aligned_in_whatever_way_they_are_decoded(
    tokens: list[str], values: list[float | None], aligned: list[tuple[int, float | None]]
):
    assert align_echoed_tokens(echo(tokens, values), "the cat") == aligned


@pytest.mark.parametrize(
    "parts", [["<0xC3>", "<0xA9>"], ["\ufffd", "\ufffd"], [" \ufffd", "\ufffd"]]
)
def test_parts_of_a_character_are_joined(parts: list[str]):
    space = [] if parts[0][0] == " " else [" "]
    tokens, values = ["a", *space, *parts, "t", " x"], [None, *([-0.5] * len(space))]
    aligned = align_echoed_tokens(echo(tokens, [*values, -1.0, -2.0, -4.0, -8.0]), "a \u00e9t")
    start = 2 if space else 1
    assert aligned[-2:] == [(start, -3.0), (3, -4.0)]
    at_end = align_echoed_tokens(echo(["a", *parts, " x"], [None, -1.0, -2.0, -8.0]), "a\u00e9")
    assert at_end == [(0, None), (1, -3.0)] or parts[0][0] == " "


@pytest.mark.parametrize(
    ("tokens", "values", "said"),
    [
        (["the", " dog"], [None, -1.0], 'of another text \\("the dog"\\) than it was asked about'),
        (["the"], [None], "of another text"),
        (["the", " cat"], [None, None], "gave no log-probability for a token"),
        (["the", " cat"], [None], 'gave no log-probabilities of the text "the cat"'),
        ([" x"], [-1.0], "of another text"),
    ],
)
def test_an_echo_of_another_text_is_refused(
    tokens: list[str], values: list[float | None], said: str
):
    with pytest.raises(UnusableReplyError, match=said):
        align_echoed_tokens(echo(tokens, values), "the cat")


STREAM = (
    'data: {"model": "toy", "choices": [{"delta": {"role": "assistant", "content": "I say"}}]}\n\n'
    ": a comment\n\n"
    'data: {"choices": [{"delta": {"content": " B"}, "finish_reason": null}]}\n\n'
    'data: {"choices": [{"delta": {}, "finish_reason": "stop"}]}\n\n'
    'data: {"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 2}}\n\n'
    "data: [DONE]\n\n"
)


def test_a_stream_adds_up_to_one_reply():
    reply = parse_reply(join_stream(STREAM))
    assert (find_written_text(reply), reply.model) == ("I say B", "toy")
    assert reply.usage == {"prompt_tokens": 3, "completion_tokens": 2}
    parts = [
        '{"text": "the", "logprobs": {"tokens": ["the"], "token_logprobs": [null]}}',
        '{"text": " cat", "logprobs": {"tokens": [" cat"], "token_logprobs": [-1.0]}}',
    ]
    stream = "".join(f'data: {{"choices": [{part}]}}\n\n' for part in parts) + "data: [DONE]\n"
    assert align_echoed_tokens(parse_reply(join_stream(stream)), "the cat") == [
        (0, None),
        (3, -1.0),
    ]


@pytest.mark.parametrize("n_lines", range(3))
def test_a_stream_that_breaks_off_is_no_reply(n_lines: int):
    assert join_stream("\n\n".join(STREAM.split("\n\n")[:n_lines])) is None


@pytest.mark.parametrize("event", ['{"error": "busy"}', '{"choices": [null]}', "7", "null"])
def test_a_fault_in_a_stream_is_a_fault_of_its_reply(event: str):
    with pytest.raises(UnusableReplyError):
        parse_reply(join_stream(f"data: {event}\n\n{STREAM}"))


def test_a_server_that_only_streams_is_asked_for_streams():
    asked = []

    def send(request: httpx.Request) -> httpx.Response:
        asked.append(b'"stream":true' in request.content.replace(b" ", b""))
        if not asked[-1]:
            return httpx.Response(400, json={"error": {"message": "only stream=true is served"}})
        return httpx.Response(200, text=STREAM, headers={"content-type": "text/event-stream"})

    budget = Budget(Terms(price_in=0.0, price_out=0.0))
    client = Client(ServerModel("http://server/v1", "toy"), budget, wait=lambda _: None)
    client._http = httpx.Client(transport=httpx.MockTransport(send), timeout=PATIENCE_S)
    for _ in range(2):
        assert find_written_text(client.post("chat/completions", 0.0, messages=[])) == "I say B"
    assert asked == [False, True, True]


@pytest.mark.parametrize("varying", [False, True])
def test_another_model_stops_whatever_happens_to_fingerprints(varying: bool):
    names = iter(["toy", "toy2"])

    def send(_: httpx.Request) -> httpx.Response:
        body = {"model": next(names), "system_fingerprint": "one", "choices": [{}]}
        return httpx.Response(200, json=body)

    budget = Budget(Terms(price_in=0.0, price_out=0.0))
    client = Client(ServerModel("http://server/v1", "toy"), budget, varying=varying)
    client._http = httpx.Client(transport=httpx.MockTransport(send), timeout=PATIENCE_S)
    client.post("completions", 0.0)
    with pytest.raises(LmError, match='it was "toy" and is "toy2"') as error:
        client.post("completions", 0.0)
    assert "continue when the server answers with the first model again" in str(error.value)
    assert "--fingerprints" not in str(error.value)


@pytest.mark.parametrize("varying", [False, True])
def test_a_changing_fingerprint_stops_unless_it_is_only_recorded(varying: bool):
    fingerprints = iter(["one", "two", "one"])

    def send(_: httpx.Request) -> httpx.Response:
        body = {"model": "toy", "system_fingerprint": next(fingerprints), "choices": [{}]}
        return httpx.Response(200, json=body)

    budget = Budget(Terms(price_in=0.0, price_out=0.0))
    client = Client(ServerModel("http://server/v1", "toy"), budget, varying=varying)
    client._http = httpx.Client(transport=httpx.MockTransport(send), timeout=PATIENCE_S)
    client.post("completions", 0.0)
    if varying:
        replies = [client.post("completions", 0.0) for _ in range(2)]
        assert [reply.fingerprint for reply in replies] == ["toy two", "toy one"]
        assert client.fingerprint == "toy"
    else:
        with pytest.raises(LmError, match="with --fingerprints record if copies of one model"):
            client.post("completions", 0.0)
