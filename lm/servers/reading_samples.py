"""Which answer a text that a model wrote gives, if it gives one."""

import re
from collections.abc import Sequence

_REFUSALS = re.compile(
    r"\b(i'?m sorry|i am sorry|i can(?:no|')t|i won'?t|as an ai|unable to|no puedo|je ne peux pas|"
    r"ich kann (?:das )?nicht|non posso|não posso)\b",
    re.IGNORECASE,
)
_THOUGHT = re.compile(r"<think>.*?</think>", re.DOTALL)


def label_in(text: str, labels: Sequence[str]) -> str:
    """Return the label that a text answers with; empty where it is none, or more than one.

    A label counts as the first word, behind a word such as "Answer:", or alone among the words;
    brackets, quotes and stops around it do not matter.
    """
    said = _THOUGHT.sub("", text).strip()
    words = [re.sub(r"^[\W_]+|[\W_]+$", "", word) for word in said.split()]
    words = [word for word in words if word]
    if words and words[0] in labels:
        return words[0]
    if (
        len(words) > 1
        and words[0].casefold() in ("answer", "option", "label")
        and words[1] in labels
    ):
        return words[1]
    found = {word for word in words if word in labels}
    # "A" is also a word of English, and "I" another.
    return found.pop() if len(found) == 1 and not found & {"A", "I"} else ""


def is_refusal(text: str) -> bool:
    """Return whether a text declines to answer."""
    return _REFUSALS.search(text) is not None
