"""A sentence with a choice between two number forms of a word."""

from dataclasses import dataclass

from experiment.records import Item, Kind

ORIGINAL, NONCE = "original", "nonce"
FILLER, CONTROL = "filler", "control"
POOLED_NAME = "all"


@dataclass(frozen=True, slots=True)
class AgreementTest:
    """An original or nonce sentence with the two forms of its target.

    Attributes:
        construction: The construction's name, e.g. ``L__NOUN_VERB_VERB``; for a filler, its kind.
        instance: The number of the original sentence within the construction, from 0.
        version: 0 for the original, 1 and above for its nonce sentences.
        words: The whole sentence.
        cue: The index of the cue; -1 in a filler, which has none.
        target: The index of the target.
        lemma: The target's lemma.
        feats: The target's features.
        tags: The parts of speech from cue to target.
        good: The form of the target in the sentence.
        bad: The target's form in the other number.
        number: ``sing`` or ``plur``, the number of the good form.
        attractors: Words between cue and target with the cue's tag and the other number.
        kind: Whether the test is a target item, a filler, or a filler that serves as a control.
    """

    construction: str
    instance: int
    version: int
    words: tuple[str, ...]
    cue: int
    target: int
    lemma: str
    feats: str
    tags: tuple[str, ...]
    good: str
    bad: str
    number: str
    attractors: int
    kind: Kind = Kind.TARGET

    @property
    def condition(self) -> str:
        """The condition: whether the sentence is original or nonce."""
        return NONCE if self.version else ORIGINAL


def make_item(test: AgreementTest, *, pooled: bool = False) -> Item:
    """Return the test as an item: the words before the target, and the two forms.

    Args:
        test: The test.
        pooled: Whether the targets of all constructions share one template for each condition; by
            default each construction has its own, so that each list gets equally many of each.
    """
    share = POOLED_NAME if pooled and test.kind is Kind.TARGET else test.construction
    instance = f"{test.construction}-{test.instance}"
    features = {
        "number": test.number,
        "attractors": str(test.attractors),
        "distance": str(test.target - test.cue if test.cue >= 0 else 0),
        "prefix_words": str(test.target),
    }
    return Item(
        item_id=f"{instance}-{test.version}",
        kind=test.kind,
        construction=test.construction,
        condition=test.condition,
        template=f"{share}_{test.condition}",
        features=" ".join(f"{name}={value}" for name, value in features.items()),
        frame=f"construction={test.construction} instance={instance} version={test.version}",
        context=" ".join(test.words[: test.target]),
        good=test.good,
        bad=test.bad,
    )
