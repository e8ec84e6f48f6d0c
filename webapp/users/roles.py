"""What a signed-in user may do: each role may do all that the one before it may."""

from enum import StrEnum


class Role(StrEnum):
    """A user's role."""

    MEMBER = "member"  # sees what the projects let them see of which they are members
    VIEWER = "viewer"  # also sees the runs that belong to no project
    RESEARCHER = "researcher"  # also launches, closes, reviews, pays and exports these
    OWNER = "owner"  # may do everything, in every project; manages users and projects

    def may(self, needed: "Role") -> bool:
        """Return whether somebody of this role may do what another role is needed for."""
        roles = list(Role)
        return roles.index(self) >= roles.index(needed)
