"""Where plug-ins of earlier versions find ``OptionList``."""

from experiment.responses.choice.option_list import OptionList

__all__ = ["OptionList"]
