"""A worker's submitted fields as the service's answer XML."""

import re
from collections.abc import Iterable
from xml.etree.ElementTree import Element, SubElement, tostring

LONGEST_CHARS = 65_535
_SCHEMA = (
    "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2005-10-01"
    "/QuestionFormAnswers.xsd"
)
# What XML 1.0 cannot hold in any form.
_UNWRITABLE = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def answer_xml(fields: Iterable[tuple[str, str]]) -> str:
    """Return the XML of the fields, in their order, a name once for each of its values.

    Whatever workers send, the XML is well-formed: characters it cannot hold are replaced.
    """
    root = Element("QuestionFormAnswers", xmlns=_SCHEMA)
    for name, value in fields:
        answer = SubElement(root, "Answer")
        SubElement(answer, "QuestionIdentifier").text = _writable(name)
        SubElement(answer, "FreeText").text = _writable(value)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(root, encoding="unicode")


def _writable(text: str) -> str:
    return _UNWRITABLE.sub("\ufffd", text)
