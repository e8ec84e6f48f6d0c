"""Two sets of settings: what the published paper says, and what the published code does."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Conventions:
    """The settings of extraction and generation; the defaults are those of the paper's text.

    Attributes:
        least_distance: Tokens from cue to target at least (three words between).
        most_distance: Tokens from cue to target at most.
        least_of_each_number: Agreeing pairs that a construction has at least in each number.
        entropy_below_bits: The bound on the conditional entropy of the cue's number, in bits.
        versions: Nonce sentences for each original.
        other_pos_share: Uses of a form with another part of speech, as a share of all, above
            which it replaces nothing.
        replaced_by_another: Whether a word must be replaced by another word where there is one.
        attached_alike: Whether a merged word is replaced by words with the same parts merged.
        pair_alike: Whether both forms of a target must begin alike (capital, vowel); by default
            such a pair is only preferred.
        attractors_by_reading: Whether a word attracts by any reading at least a tenth as
            frequent as its commonest one, and not by its own annotation.
    """

    least_distance: int = 4
    most_distance: int = 14
    least_of_each_number: int = 10
    entropy_below_bits: float = 0.001
    versions: int = 9
    other_pos_share: float = 0.1
    replaced_by_another: bool = True
    attached_alike: bool = True
    pair_alike: bool = False
    attractors_by_reading: bool = False


PAPER = Conventions()
PUBLISHED_CODE = Conventions(
    least_of_each_number=6,
    other_pos_share=0.0,
    replaced_by_another=False,
    attached_alike=False,
    pair_alike=True,
    attractors_by_reading=True,
)
