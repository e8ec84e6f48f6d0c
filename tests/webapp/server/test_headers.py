"""Header fields as browsers send them, and as nobody may."""

from io import BytesIO

import pytest

from webapp.server.gevent_worker import _Handler
from webapp.server.headers import Headers


def read(text: bytes) -> Headers:
    return Headers(BytesIO(text + b"\r\n"))


def test_fields_are_found_by_any_spelling_of_their_name():
    headers = read(b"Content-Type: application/json\r\nX-One:  a b \r\n")
    assert headers.get("CONTENT-TYPE") == headers.typeheader == "application/json"
    assert headers.getheader("x-one") == "a b"
    assert headers.get("x-two", "none") == "none"


def test_gevent_gets_every_field_as_a_line():
    headers = read(b"Host: a\r\nCookie: a\r\nCookie: b\r\n")
    assert list(headers.headers) == ["host: a\r\n", "cookie: a\r\n", "cookie: b\r\n"]


def test_a_field_can_be_forgotten():
    headers = read(b"Content-Length: 3\r\nHost: a\r\n")
    del headers["Content-Length"]
    assert headers.get("content-length") is None


@pytest.mark.parametrize(
    ("text", "told"),
    [
        *(
            (text, "a header line is not a field")
            for text in (
                b"no colon\r\n",
                b"Host : a\r\n",
                b"Host: a\r\n goes on\r\n",
                b": empty\r\n",
                b"X: a\0b\r\n",
                b"X: a\rY: b\r\n",
            )
        ),
        (b"Content-Length: 3\r\nContent-Length: 4\r\n", "content-length is given twice"),
        (b"Host: a\r\nHost: b\r\n", "host is given twice"),
        (b"Content-Length: 1_0\r\n", "content-length is not a number"),
        (b"Content-Length: +5\r\n", "content-length is not a number"),
        (b"Content-Length: " + b"9" * 5_000 + b"\r\n", "content-length is not a number"),
        (b"Transfer-Encoding: chunked\r\nTransfer-Encoding: x\r\n", "transfer-encoding is given"),
        (b"Transfer-Encoding: gzip, chunked\r\n", "transfer-encoding is not chunked"),
        (b"Transfer-Encoding: chunked\r\nContent-Length: 3\r\n", "combined with a length"),
        (b"X: a\r\n" * 101, "there are too many headers"),
        (b"X: " + b"a" * 70_000 + b"\r\n", "a header line is too long"),
    ],
)
def test_what_could_be_read_in_two_ways_is_refused(text, told):
    with pytest.raises(ValueError, match=told):
        read(text)


def test_headers_that_end_too_early_are_no_request():
    for text in (b"Host: a\r\n", b"Host: a"):
        with pytest.raises(ValueError, match="the headers are truncated"):
            Headers(BytesIO(text))


def test_headers_whose_sender_goes_away_are_no_request():
    class Gone(BytesIO):
        def readline(self, *_):
            raise ConnectionResetError

    with pytest.raises(ValueError, match="the headers are incomplete"):
        _Handler.MessageClass(None, Gone())
