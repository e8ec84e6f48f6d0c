"""An authenticator app, written by RFC 6238 and 4226 without our library."""

import base64
import hashlib
import hmac
import re
import struct
from datetime import datetime


def code_of(secret: str, at: float, digits: int = 6) -> str:
    """Return the code that an app shows at a time."""
    counter = struct.pack(">Q", int(at) // 30)
    digest = hmac.new(base64.b32decode(secret), counter, hashlib.sha1).digest()
    begin = digest[-1] & 15
    number = struct.unpack(">I", digest[begin : begin + 4])[0] & 0x7FFFFFFF
    return str(number % 10**digits).zfill(digits)


class App:
    """What somebody scanned the picture with."""

    def __init__(self, here, password: str) -> None:
        began = here.post("/second-factor/begin", password=password)
        assert began.status_code == 303, began.text
        page = here.get("/second-factor").text
        self.page = page
        self.secret = re.search(r"Key: <code>([A-Z2-7 ]+)</code>", page)[1].replace(" ", "")

    def code(self, now: datetime) -> str:
        return code_of(self.secret, now.timestamp())
