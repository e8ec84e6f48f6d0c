"""What a signed-in user may do: each role may do all that the one before it may."""

from enum import StrEnum


class Role(StrEnum):
    """A user's role."""

    VIEWER = "viewer"  # sees runs and participants
    RESEARCHER = "researcher"  # launches, closes, reviews, pays and exports
    OWNER = "owner"  # manages users as well

    def may(self, needed: "Role") -> bool:
        """Return whether somebody of this role may do what another role is needed for."""
        roles = list(Role)
        return roles.index(self) >= roles.index(needed)
