"""What an answer may be and who may send it: one table for everything that records answers.

``test_answer_rules.py`` sends each case to the server and hands the bodies to the import of
sessions that were taken without a server. What each expects is written here by hand.
"""

from dataclasses import dataclass, field
from typing import Any

UUID = "7b0a9f5e-0a43-4f6b-9a52-6a4c2d1f3e44"
ANSWER: dict[str, Any] = {
    "uuid": UUID, "position": 2, "side": "first", "rt_ms": 812.5, "input_method": "key",
    "client_time": "2026-03-01T09:00:01.500Z",
}  # fmt: skip


@dataclass(frozen=True)
class Case:
    """An answer to trial 2 of 8, sent after one to trial 1.

    Attributes:
        name: What is special about it.
        status: The server's status.
        code: The name of the refusal; empty where the answer is acknowledged, or refused with a
            page: no answer's address was meant then.
        body: Fields that replace the plain answer's, or the body itself. None leaves one out.
        headers: What the request carries beside it.
        token: What stands for the participant's token in the address, which is at ``{}``.
        method: The request's.
        late: Whether it comes after the link has expired.
        ending: How the session has ended before: by which address, with which form.
        imported: What the import of sessions without a server says of such an answer; empty where
            it takes the answer, None where the case is not about the body.
        logged: Whether it is one of the requests that are logged and counted.
    """

    name: str
    status: int = 200
    code: str = ""
    body: dict[str, Any] | bytes = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)
    token: str = "{}"
    method: str = "POST"
    late: bool = False
    ending: tuple[str, dict[str, str]] | None = None
    imported: str | None = None
    logged: bool = True

    @property
    def sent(self) -> dict[str, Any]:
        """The answer's fields, where the body is an answer."""
        assert isinstance(self.body, dict)
        return {name: value for name, value in (ANSWER | self.body).items() if value is not None}


_HOST = "study.example"  # the host of the tests' ``public_url``
_BAD = "What was sent cannot be read"
_WITHDRAWN = ("withdraw", {"wish": "keep"})

CASES = (
    Case("plain", imported=""),
    # Hosts.
    Case("the public host", headers={"Host": _HOST}),
    Case("this machine's own name", headers={"Host": "localhost"}),
    Case("another host", 400, headers={"Host": "elsewhere.example"}),
    Case("a host that begins as ours", 400, headers={"Host": f"{_HOST}.evil.com"}),
    Case("a host that ends as ours", 400, headers={"Host": f"evil{_HOST}"}),
    Case("what is no host", 400, headers={"Host": "study.example/evil"}, logged=False),
    Case("a label of 64 letters", 400, headers={"Host": "a" * 64 + ".example"}, logged=False),
    # Origins.
    Case("the page's own fetch", headers={"Sec-Fetch-Site": "same-origin"}),
    Case("the address bar", headers={"Sec-Fetch-Site": "none"}),
    Case("another site's fetch", 403, "another_site", headers={"Sec-Fetch-Site": "cross-site"}),
    Case("a sister site's fetch", 403, "another_site", headers={"Sec-Fetch-Site": "same-site"}),
    Case("an unknown kind of site", 403, "another_site", headers={"Sec-Fetch-Site": "SAME-ORIGIN"}),
    Case("our origin", headers={"Origin": f"http://{_HOST}", "Host": _HOST}),
    Case("an origin without a name", headers={"Origin": "null"}),
    Case("another origin", 403, "another_site", headers={"Origin": "https://elsewhere.example"}),
    Case("our name as a user's", 403, "another_site", headers={"Origin": f"http://{_HOST}@evil"}),
    Case("a bracket that does not close", 403, "another_site", headers={"Origin": "http://[::1"}),
    Case(
        "the browser's word before the origin's", 403, "another_site",
        headers={"Sec-Fetch-Site": "cross-site", "Origin": f"http://{_HOST}", "Host": _HOST},
    ),
    # Tokens.
    Case("a forged signature", 401, "bad_token", token="{}x"),
    Case("no signature", 401, "bad_token", token="abcdefgh2345"),
    Case("a NUL in the token", 401, "bad_token", token="{}%00"),
    Case("an expired link", 401, "expired_token", late=True),
    # Lengths.
    Case("12,288 bytes", body=b"%b" + b" " * 12_288),
    Case("12,289 bytes", 413, "request_entity_too_large", body=b" " * 12_289),
    # Bodies.
    Case("the same answer again", body={"position": 1, "uuid": "{first}"}, imported=""),
    Case("a resend of another answer", body={"position": 1}, imported=""),
    Case("no JSON", 400, "malformed_answer", body=b"{"),
    Case("an empty body", 400, "malformed_answer", body=b""),
    Case("a list", 400, "malformed_answer", body=b"[1]"),
    Case("bytes that are no text", 400, "malformed_answer", body=b"\xff\xfe"),
    Case("no identity", 400, "malformed_answer", body={"uuid": None}, imported=_BAD),
    Case("two answers in one", 400, "malformed_answer", body={"rating": 3},
         imported="give either side or rating"),
    Case("no answer", 400, "malformed_answer", body={"side": None},
         imported="give either side or rating"),
    Case("a side that is none", 400, "malformed_answer", body={"side": "left"}, imported=_BAD),
    Case("a position of 0", 400, "malformed_answer", body={"position": 0}, imported=_BAD),
    Case("no way of choosing", 400, "malformed_answer", body={"input_method": None}, imported=_BAD),
    Case("a trial that is not there", 404, "unknown_position", body={"position": 9},
         imported="has no trial 9"),
    Case("an answer of another type", 400, "impossible_answer", body={"side": None, "rating": 3},
         imported="Trial 2 cannot be answered like this"),
    Case("an option that is not offered", 400, "impossible_answer", body={"side": "third"},
         imported="Trial 2 cannot be answered like this"),
    # States.
    Case("after a withdrawal", 409, "wrong_state", ending=_WITHDRAWN),
    # Methods.
    *(Case(f"by {method}", 405, method=method)
      for method in ("GET", "PUT", "PATCH", "DELETE")),
)  # fmt: skip
