"""The roles of signed-in users: each role may do everything that the previous one may."""

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
