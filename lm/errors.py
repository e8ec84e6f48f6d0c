"""The errors of language models that the user can mend."""


class LmError(Exception):
    """A model, a vocabulary or a text cannot be used; the message is one clear paragraph.

    Line ends in what it quotes, as prompts have them, become spaces.
    """

    def __str__(self) -> str:
        return " ".join(super().__str__().splitlines())
