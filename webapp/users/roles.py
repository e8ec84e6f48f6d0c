"""The roles of signed-in users, the rights of each role in a project, and the rights of tokens."""

from collections.abc import Mapping
from enum import StrEnum


class Role(StrEnum):
    """A user's role."""

    MEMBER = "member"  # sees what their projects permit their members
    VIEWER = "viewer"  # also sees the runs that belong to no project
    RESEARCHER = "researcher"  # also launches, closes, reviews, pays and exports these
    OWNER = "owner"  # may do everything, in every project; manages users and projects

    def may(self, needed: "Role") -> bool:
        """Return whether this role includes another role's rights."""
        roles = list(Role)
        return roles.index(self) >= roles.index(needed)


class Right(StrEnum):
    """A right to act on the runs of a project."""

    SEE = "see"  # the runs, their progress, participants and money
    EXPORT = "export"  # tables and reports
    REVIEW = "review"  # decide about participants and their requests
    CONDUCT = "conduct"  # launch, open, close, grow, pause, write to participants
    UNBLIND = "unblind"
    PAY = "pay"  # publish, pay, reject, reconcile
    MANAGE = "manage"  # members and invitations


class ProjectRole(StrEnum):
    """A member's role in a project."""

    READER = "reader"
    ANALYST = "analyst"
    FINANCE = "finance"
    EXPERIMENTER = "experimenter"
    MANAGER = "manager"


class Scope(StrEnum):
    """A permitted use of a token."""

    READ = "read"
    EXPORT = "export"
    REVIEW = "review"
    MONEY = "money"


ALL = frozenset(Right)
_SEE = frozenset({Right.SEE})
RIGHTS_OF: Mapping[ProjectRole, frozenset[Right]] = {
    ProjectRole.READER: _SEE,
    ProjectRole.ANALYST: _SEE | {Right.EXPORT},
    ProjectRole.FINANCE: _SEE | {Right.PAY},
    ProjectRole.EXPERIMENTER: ALL - {Right.PAY, Right.MANAGE},
    ProjectRole.MANAGER: ALL,
}
# The rights of each role for runs that belong to no project.
RIGHTS_IN_COMMON: Mapping[Role, frozenset[Right]] = {
    Role.MEMBER: frozenset(),
    Role.VIEWER: _SEE,
    Role.RESEARCHER: ALL - {Right.MANAGE},
    Role.OWNER: ALL,
}
NEEDED_BY: Mapping[Scope, Right] = {
    Scope.READ: Right.SEE,
    Scope.EXPORT: Right.EXPORT,
    Scope.REVIEW: Right.REVIEW,
    Scope.MONEY: Right.PAY,
}


def find_lowest_role(right: Right) -> Role:
    """Return the lowest role that has a right for runs that belong to no project."""
    return next(role for role in Role if right in RIGHTS_IN_COMMON[role])
