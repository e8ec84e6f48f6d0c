"""Where plug-ins of earlier versions find ``SentencePair``."""

from experiment.responses.choice.sentence_pair import SentencePair

__all__ = ["SentencePair"]
