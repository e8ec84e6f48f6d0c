"""The errors of language models that the user can mend."""


class LmError(Exception):
    """A model, a vocabulary or a text cannot be used; the message is one clear paragraph."""
