"""Header fields as browsers send them, and as nobody may."""

from http.client import HTTPException
from io import BytesIO

import pytest
from gevent.pywsgi import headers_factory

from webapp.server.gevent_worker import FieldLines, refuse_ambiguous


def read(text: bytes):
    headers = headers_factory(FieldLines(BytesIO(text)))
    refuse_ambiguous(headers)
    return headers


def test_fields_are_found_by_any_spelling_of_their_name():
    headers = read(
        b"Content-Type: application/json\r\nX-One:  a b \r\nCookie: a\nCookie: b\r\n\r\n"
    )
    assert headers.get("CONTENT-TYPE") == headers.typeheader == "application/json"
    assert headers.getheader("x-one").strip() == "a b"
    assert headers.get_all("cookie") == ["a", "b"]
    assert headers.get("x-two", "none") == "none"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        *(
            (text, "a line of the headers is no field")
            for text in (
                b"no colon\r\n",
                b"Host : a\r\n",
                b"Host: a\r\n goes on\r\n",
                b": empty\r\n",
                b"X: a\0b\r\n",
                b"X: a\rY: b\r\n",
                b"X: " + b"a" * 70_000 + b"\r\n",
            )
        ),
        (b"Content-Length: 3\r\nContent-Length: 4\r\n", "content-length is given twice"),
        (b"Host: a\r\nHost: b\r\n", "host is given twice"),
        (b"Content-Length: 1_0\r\n", "content-length is no number"),
        (b"Content-Length: +5\r\n", "content-length is no number"),
        (b"Content-Length: " + b"9" * 5_000 + b"\r\n", "content-length is no number"),
        (b"Transfer-Encoding: chunked\r\nTransfer-Encoding: x\r\n", "transfer-encoding is given"),
        (b"Transfer-Encoding: gzip, chunked\r\n", "is another one than chunked"),
        (b"Transfer-Encoding: chunked\r\nContent-Length: 3\r\n", "or beside a length"),
    ],
)
def test_what_could_be_read_in_two_ways_is_refused(text, told):
    with pytest.raises(ValueError, match=told):
        read(text + b"\r\n")


def test_more_headers_than_any_browser_sends_are_refused():
    with pytest.raises(HTTPException, match="more than 100 headers"):
        read(b"X: a\r\n" * 101 + b"\r\n")


def test_headers_that_end_too_early_are_no_request():
    for text in (b"Host: a\r\n", b"Host: a"):
        with pytest.raises(ValueError, match="they are cut short"):
            read(text)
