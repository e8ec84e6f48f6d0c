"""Build the requests to Mechanical Turk, and the XML of its questions and answers."""

from collections.abc import Iterator
from decimal import Decimal
from typing import Any
from xml.etree.ElementTree import Element, SubElement, tostring

import defusedxml
from defusedxml.ElementTree import ParseError, fromstring

from experiment.money import write_amount
from webapp.core.addresses import is_secure
from webapp.errors import WebappError
from webapp.recruiters.mturk.settings import LIVE
from webapp.recruiters.platform import Audience, Offer, PlatformError, Task

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
            remedy="Run Parallax behind a web server with a certificate: docs/settings.md",
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
    for name, text in _parse_answers(root):
        fields.setdefault(name[:LONGEST_FIELD], text[:LONGEST_FIELD])
    return fields


def _parse_answers(root: Element) -> Iterator[tuple[str, str]]:
    for answer in root:
        parts = {_local_name(part): part.text or "" for part in answer}
        if "QuestionIdentifier" in parts:
            yield parts["QuestionIdentifier"], parts.get("FreeText", "")


def _local_name(element: Element) -> str:
    return element.tag.rpartition("}")[2]


_MASTERS_TYPES = {True: "2F1QJWKUDD8XADTFD2Q0G6UTO95ALH", False: "2ARFPLSP75KLA8M8DH1HTEQVJT3SY6"}
_COUNTRY_TYPE = "00000000000000000071"
_APPROVED_PERCENT_TYPE = "000000000000000000L0"
_N_APPROVED_TYPE = "00000000000000000040"
_MOST_REQUIREMENTS = 10

Request = dict[str, Any]


def format_dollars(amount_cents: int) -> str:
    """Return an amount in the format of requests, e.g. ``1.50``."""
    return write_amount(amount_cents, "USD")


def parse_cents(amount: str) -> int:
    """Return an amount of the platform in cents; a tenth of a cent is cut off."""
    return int(Decimal(amount) * 100)


def qualification_request(name: str, description: str) -> Request:
    """Return the request that creates one of our qualifications."""
    return {"Name": name, "Description": description, "QualificationTypeStatus": "Active"}


def type_request(task: Task, endpoint: str) -> Request:
    """Return the request that creates a task's HIT type.

    Raises:
        PlatformError: The audience has too many requirements, or unsupported ones.
    """
    if task.devices or task.filters:
        raise PlatformError(
            "Mechanical Turk can choose workers neither by device nor by filters",
            where="study.toml, recruitment",
            remedy=(
                "Leave devices and filters out; choose workers with countries, require and refuse"
            ),
        )
    return {
        "Title": task.title,
        "Description": task.description,
        "Keywords": ", ".join(task.keywords),
        "Reward": format_dollars(task.reward_minor),
        "AssignmentDurationInSeconds": int(task.duration.total_seconds()),
        "AutoApprovalDelayInSeconds": int(task.approve_after.total_seconds()),
        "QualificationRequirements": _make_requirements(task.audience, endpoint),
    }


def offer_request(type_id: str, offer: Offer) -> Request:
    """Return the request that posts an offer as a HIT.

    Raises:
        WebappError: Browsers would refuse to show the offer's page in a frame.
    """
    return {
        "HITTypeId": type_id,
        "MaxAssignments": offer.places,
        "LifetimeInSeconds": int(offer.lifetime.total_seconds()),
        "Question": external_question(offer.link, offer.frame_height_px),
        # Finds the offer again after the platform has forgotten the token, a day later.
        "RequesterAnnotation": offer.token,
        "UniqueRequestToken": offer.token,
    }


def _make_requirements(audience: Audience, endpoint: str) -> list[Request]:
    requirements = [
        *(_make_requirement(id_, "DoesNotExist") for id_ in audience.lacking),
        *(_make_requirement(id_, "Exists") for id_ in audience.having),
    ]
    if audience.masters:
        requirements.append(_make_requirement(_MASTERS_TYPES[endpoint == LIVE], "Exists"))
    if audience.countries:
        countries = [{"Country": country} for country in audience.countries]
        requirements.append(_make_requirement(_COUNTRY_TYPE, "In", LocaleValues=countries))
    for id_, least in (
        (_APPROVED_PERCENT_TYPE, audience.min_approval_percent),
        (_N_APPROVED_TYPE, audience.min_approved),
    ):
        if least is not None:
            at_least = _make_requirement(id_, "GreaterThanOrEqualTo", IntegerValues=[least])
            requirements.append(at_least)
    if len(requirements) > _MOST_REQUIREMENTS:
        raise PlatformError(
            f"the task has {len(requirements)} requirements of its workers",
            expected=f"at most {_MOST_REQUIREMENTS}",
            remedy="Name fewer qualifications in [recruitment], or exclude fewer earlier runs",
        )
    return requirements


def _make_requirement(id_: str, comparator: str, **values: object) -> Request:
    return {
        "QualificationTypeId": id_,
        "Comparator": comparator,
        **values,
        # Hides the task from workers who may not take part, which prevents complaints.
        "ActionsGuarded": "DiscoverPreviewAndAccept",
    }
