"""The XML of the marketplace's protocol: questions to workers, and their answers."""

from collections.abc import Iterator
from xml.etree.ElementTree import Element, SubElement, tostring

import defusedxml
from defusedxml.ElementTree import ParseError, fromstring

from webapp.core.urls import is_secure
from webapp.errors import WebappError

LARGEST_QUESTION_BYTES = 65_535
LONGEST_FIELD = 1000
_LARGEST_ANSWER = 65_535
_SCHEMAS = "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas"
_NAMESPACE = f"{_SCHEMAS}/2006-07-14/ExternalQuestion.xsd"


def external_question(link: str, frame_height_px: int = 0) -> str:
    """Return the question that shows one of our pages in a frame.

    Args:
        link: The page's address.
        frame_height_px: The frame's height; 0 for the worker's whole window.

    Raises:
        WebappError: Workers' browsers would refuse to show the page, or the question is too long.
    """
    if not is_secure(link):
        raise WebappError(
            f'workers\' browsers refuse to show an unencrypted page in a frame: "{link}"',
            where="public_url",
            expected="an address that begins with https://",
            remedy="Put a web server with a certificate in front: docs/settings.md",
        )
    question = Element("ExternalQuestion", xmlns=_NAMESPACE)
    SubElement(question, "ExternalURL").text = link
    SubElement(question, "FrameHeight").text = str(frame_height_px)
    xml = tostring(question, encoding="unicode")
    if len(xml.encode()) > LARGEST_QUESTION_BYTES:
        raise WebappError(
            f"the link is too long for a question ({len(link)} characters)",
            where="public_url",
            expected=f"a question of at most {LARGEST_QUESTION_BYTES} bytes",
        )
    return xml


def answer_fields(xml: str) -> dict[str, str]:
    """Return the fields of a worker's submitted form.

    If a name occurs several times, the first value counts. Long values are cut.

    The worker's browser writes the answer, so invalid XML gives an empty result, never an error.
    """
    if len(xml) > _LARGEST_ANSWER:
        return {}
    try:
        root = fromstring(xml, forbid_dtd=True)
    except (ParseError, defusedxml.DefusedXmlException, ValueError):
        return {}
    fields = dict[str, str]()
    for name, text in _answers(root):
        fields.setdefault(name[:LONGEST_FIELD], text[:LONGEST_FIELD])
    return fields


def _answers(root: Element) -> Iterator[tuple[str, str]]:
    for answer in root:
        parts = {_local_name(part): part.text or "" for part in answer}
        if "QuestionIdentifier" in parts:
            yield parts["QuestionIdentifier"], parts.get("FreeText", "")


def _local_name(element: Element) -> str:
    return element.tag.rpartition("}")[2]
