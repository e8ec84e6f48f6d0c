"""The errors of comparing people and models."""

from experiment.errors import ParallaxError


class AnalysisError(ParallaxError):
    """Tables do not belong together, or a statistic cannot be computed from them."""
