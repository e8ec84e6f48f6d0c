"""The records that serving people leaves in the database."""

from webapp.database.models.arrival_address import ArrivalAddress
from webapp.database.models.base import Base
from webapp.database.models.erasure import Erasure
from webapp.database.models.factor import PasswordLink, RecoveryCode, SecondFactor
from webapp.database.models.identity import Identity
from webapp.database.models.link import Link
from webapp.database.models.note import Note, Tag
from webapp.database.models.notification import Notice, Notification
from webapp.database.models.participant import (
    Answer,
    Device,
    Event,
    LinkVisit,
    Participant,
    Response,
    Trial,
    Verdict,
)
from webapp.database.models.payment import Payment
from webapp.database.models.project import ApiToken, Invitation, Membership, Project, ProjectJob
from webapp.database.models.recruitment import Assignment, Hit, Recruitment
from webapp.database.models.report import OutgoingReport
from webapp.database.models.run import ConsentText, Place, Run, RunCount, RunItem, StudyFile
from webapp.database.models.session_summary import RunSummary, SessionSummary
from webapp.database.models.stamp import Stamp
from webapp.database.models.user import AskedAct, AuditEntry, FailedSignIn, SignIn, Unblinding, User

__all__ = [
    "Answer",
    "ApiToken",
    "ArrivalAddress",
    "AskedAct",
    "Assignment",
    "AuditEntry",
    "Base",
    "ConsentText",
    "Device",
    "Erasure",
    "Event",
    "FailedSignIn",
    "Hit",
    "Identity",
    "Invitation",
    "Link",
    "LinkVisit",
    "Membership",
    "Note",
    "Notice",
    "Notification",
    "OutgoingReport",
    "Participant",
    "PasswordLink",
    "Payment",
    "Place",
    "Project",
    "ProjectJob",
    "RecoveryCode",
    "Recruitment",
    "Response",
    "Run",
    "RunCount",
    "RunItem",
    "RunSummary",
    "SecondFactor",
    "SessionSummary",
    "SignIn",
    "Stamp",
    "StudyFile",
    "Tag",
    "Trial",
    "Unblinding",
    "User",
    "Verdict",
]
