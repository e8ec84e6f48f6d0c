"""The records that serving people leaves in the database."""

from webapp.models.base import Base
from webapp.models.device import Device
from webapp.models.event import Event
from webapp.models.participant import Answer, Participant
from webapp.models.payment import Payment
from webapp.models.recruitment import Assignment, Hit, Recruitment
from webapp.models.response import Response
from webapp.models.review import Verdict
from webapp.models.run import Place, Run, RunItem, StudyFile
from webapp.models.trial import Trial

__all__ = [
    "Answer",
    "Assignment",
    "Base",
    "Device",
    "Event",
    "Hit",
    "Participant",
    "Payment",
    "Place",
    "Recruitment",
    "Response",
    "Run",
    "RunItem",
    "StudyFile",
    "Trial",
    "Verdict",
]
