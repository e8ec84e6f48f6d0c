"""People who were given a link."""


class DirectRecruiter:
    """Hands out one link for everybody and knows nothing about who follows it."""

    name = "direct"
    simulated = False
    closing = "You can close this page now."

    def invitation(self, public_url: str, run_ref: str) -> str:
        """Return the run's link."""
        return f"{public_url}/run/{run_ref}"
