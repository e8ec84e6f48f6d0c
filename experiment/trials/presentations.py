"""The names that plug-ins of earlier versions import; they are in ``experiment.responses`` now."""

from experiment.responses.base import ResponseType as Presentation
from experiment.responses.base import Shown
from experiment.responses.choice.sentence_pair import on_sides
from experiment.responses.registry import RESPONSE_TYPES as PRESENTATIONS
from experiment.responses.registry import load_response as load_presentation

__all__ = ["PRESENTATIONS", "Presentation", "Shown", "load_presentation", "on_sides"]
