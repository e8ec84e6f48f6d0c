"""The ExternalQuestion of a HIT, the addresses of a worker's frame, and answers as XML."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlencode, urlsplit
from xml.etree.ElementTree import Element, SubElement, tostring

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import ParseError, fromstring

from marketplace.mturk.errors import WorkerRefusedError
from marketplace.serving import is_secure

LARGEST_QUESTION_BYTES = 65_535
PREVIEW_ID = "ASSIGNMENT_ID_NOT_AVAILABLE"
_SCHEMA = (
    "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2006-07-14"
    "/ExternalQuestion.xsd"
)
_TALLEST_PX = 10_000
# Python refuses to read numbers of thousands of digits.
_MOST_DIGITS = 9
LONGEST_ANSWER_CHARS = 65_535
_ANSWERS_SCHEMA = (
    "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2005-10-01"
    "/QuestionFormAnswers.xsd"
)
# Characters that XML 1.0 cannot represent at all.
_UNWRITABLE = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class QuestionError(ValueError):
    """The question cannot be shown to workers; the message gives the reason."""


@dataclass(frozen=True, slots=True)
class Question:
    """A page of the requester's that workers see in a frame.

    Attributes:
        url: Its address.
        height_px: The frame's height; 0 fits it to the window.
    """

    url: str
    height_px: int

    @property
    def origin(self) -> str:
        """The page's origin, as a content security policy names it."""
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.netloc}"

    def address(self, **parameters: str) -> str:
        """Return the page's address with more query parameters."""
        parts = urlsplit(self.url)
        query = [*parse_qsl(parts.query, keep_blank_values=True), *parameters.items()]
        return parts._replace(query=urlencode(query)).geturl()


def read_question(xml: str) -> Question:
    """Return the question in a requester's XML.

    Raises:
        QuestionError: The XML is too long or no ExternalQuestion, or the address is unsafe.
    """
    if len(xml.encode("utf-8", "surrogatepass")) > LARGEST_QUESTION_BYTES:
        raise QuestionError(f"the question must not be larger than {LARGEST_QUESTION_BYTES} bytes")
    try:
        root = fromstring(xml, forbid_dtd=True)
    except (ParseError, DefusedXmlException, ValueError) as error:
        raise QuestionError(f"there was an error parsing the XML question data: {error}") from error
    if root.tag != f"{{{_SCHEMA}}}ExternalQuestion":
        raise QuestionError(f"expected an ExternalQuestion of the schema {_SCHEMA}")
    url, height = (root.findtext(f"{{{_SCHEMA}}}{name}") for name in ("ExternalURL", "FrameHeight"))
    if url is None or height is None:
        raise QuestionError("ExternalURL and FrameHeight are both required")
    height = height.strip()
    if not height.isdecimal() or len(height) > _MOST_DIGITS or int(height) > _TALLEST_PX:
        raise QuestionError(f"FrameHeight must be a number of pixels up to {_TALLEST_PX}")
    return Question(_check_url(url.strip()), int(height))


def _check_url(url: str) -> str:
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
        port_is_sound = parts.port is None or parts.port > 0
    except ValueError:
        host, port_is_sound = "", False
    if not host or not port_is_sound or any(char in url for char in " \t\r\n\"'<>;"):
        raise QuestionError("ExternalURL is not an address")
    # As browsers do, treat this machine's own pages as secure without https.
    if parts.scheme not in ("http", "https") or not is_secure(url):
        raise QuestionError("ExternalURL must begin with https:// (http:// only on this machine)")
    return url


def answer_xml(fields: Iterable[tuple[str, str]]) -> str:
    """Return the XML of the fields in their order; a field's name is repeated for each value.

    The XML is always well-formed: characters that XML cannot represent are replaced.

    Raises:
        WorkerRefusedError: The XML is longer than the service accepts.
    """
    root = Element("QuestionFormAnswers", xmlns=_ANSWERS_SCHEMA)
    for name, value in fields:
        answer = SubElement(root, "Answer")
        SubElement(answer, "QuestionIdentifier").text = _replace_unwritable(name)
        SubElement(answer, "FreeText").text = _replace_unwritable(value)
    xml = '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(root, encoding="unicode")
    if len(xml) > LONGEST_ANSWER_CHARS:
        raise WorkerRefusedError("too_long", "What was submitted is too long.", status=413)
    return xml


def _replace_unwritable(text: str) -> str:
    return _UNWRITABLE.sub("\ufffd", text)
