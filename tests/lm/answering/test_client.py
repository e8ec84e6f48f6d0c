"""What is said of a server that gives no answer."""

import httpx
import pytest

from lm.answering.budget import Budget
from lm.answering.client import Client
from lm.answering.spec import ServerModel, Terms
from lm.errors import LmError


@pytest.mark.parametrize(
    ("happens", "said"),
    [
        (httpx.ReadTimeout("timed out"), "nothing came for 600 seconds"),
        (httpx.ConnectError("[Errno 111] refused"), "nothing listens at that address, or its name"),
        (httpx.UnsupportedProtocol("no scheme"), "does not begin with http:// or https://"),
        (httpx.RemoteProtocolError("peer closed"), "the connection broke before the answer was"),
        (httpx.Response(200, text='{"choices": ['), "the answer is not a JSON object, or was cut"),
        (httpx.Response(200, text="[]"), "the answer is not a JSON object"),
        (httpx.DecodingError("bad gzip"), "the connection broke before the answer was"),
        (httpx.Response(404, text="no such model"), "status 404: no such model"),
    ],
)
def test_no_answer_is_told_in_words(
    monkeypatch: pytest.MonkeyPatch, happens: httpx.Response | Exception, said: str
):
    def post(*_: object, **__: object) -> httpx.Response:
        if isinstance(happens, Exception):
            raise happens
        return happens

    monkeypatch.setattr(httpx.Client, "post", post)
    free = Budget(Terms(price_in=0.0, price_out=0.0))
    client = Client(ServerModel("http://127.0.0.1:9/v1", "toy"), free, wait=lambda _: None)
    with pytest.raises(LmError) as error:
        client.post("completions", 0.0, prompt="The")
    assert said in str(error.value)
    assert "Errno" not in str(error.value)
    assert type(happens).__name__ not in str(error.value)
