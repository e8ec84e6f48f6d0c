"""The records that serving people leaves in the database."""

from webapp.models.base import Base
from webapp.models.device import Device
from webapp.models.event import Event
from webapp.models.participant import Answer, Participant
from webapp.models.response import Response
from webapp.models.review import Verdict
from webapp.models.run import Place, Run, RunItem
from webapp.models.trial import Trial

__all__ = [
    "Answer",
    "Base",
    "Device",
    "Event",
    "Participant",
    "Place",
    "Response",
    "Run",
    "RunItem",
    "Trial",
    "Verdict",
]
