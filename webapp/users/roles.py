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


ALL_RIGHTS = frozenset(Right)
_SEE_ONLY = frozenset({Right.SEE})
ROLE_RIGHTS: Mapping[ProjectRole, frozenset[Right]] = {
    ProjectRole.READER: _SEE_ONLY,
    ProjectRole.ANALYST: _SEE_ONLY | {Right.EXPORT},
    ProjectRole.FINANCE: _SEE_ONLY | {Right.PAY},
    ProjectRole.EXPERIMENTER: ALL_RIGHTS - {Right.PAY, Right.MANAGE},
    ProjectRole.MANAGER: ALL_RIGHTS,
}
# The rights of each role for runs that belong to no project.
COMMON_RIGHTS: Mapping[Role, frozenset[Right]] = {
    Role.MEMBER: frozenset(),
    Role.VIEWER: _SEE_ONLY,
    Role.RESEARCHER: ALL_RIGHTS - {Right.MANAGE},
    Role.OWNER: ALL_RIGHTS,
}
SCOPE_RIGHTS: Mapping[Scope, Right] = {
    Scope.READ: Right.SEE,
    Scope.EXPORT: Right.EXPORT,
    Scope.REVIEW: Right.REVIEW,
    Scope.MONEY: Right.PAY,
}


def find_lowest_role(right: Right) -> Role:
    """Return the lowest role that has a right for runs that belong to no project."""
    return next(role for role in Role if right in COMMON_RIGHTS[role])
