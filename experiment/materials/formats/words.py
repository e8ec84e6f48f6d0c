"""Words and marks of researchers' tables: names of columns, versions, and missing values."""

# The first name is Parallax's; the others are those of BLiMP, BabyLM, MultiBLiMP, PCIbex, Ibex and
# spreadsheets. Case, spaces and hyphens do not matter.
NAMES: dict[str, tuple[str, ...]] = {
    "good": ("good", "sentence_good", "good_sentence", "sen", "grammatical", "acceptable",
             "grammatical_sentence", "acceptable_sentence", "correct_sentence", "expected",
             "correct", "better"),
    "bad": ("bad", "sentence_bad", "bad_sentence", "wrong_sen", "ungrammatical", "unacceptable",
            "ungrammatical_sentence", "unacceptable_sentence", "incorrect_sentence", "unexpected",
            "wrong", "incorrect", "bad_1", "bad1", "wrong_1", "wrong1", "distractor_1",
            "distractor1", "foil", "foil_1", "foil1", "worse"),
    "distractor": ("distractor",),
    "context": ("context", "preamble", "prefix"),
    "item": ("item", "item_number", "itemnumber", "item_no", "item_num", "itemnum", "pairid",
             "pair_id", "frame", "set"),
    "item_id": ("item_id", "id"),
    "condition": ("condition", "cond"),
    "construction": ("construction", "phenomenon", "uid", "paradigm", "experiment"),
    "kind": ("kind", "type", "item_type"),
    "sentence": ("sentence", "stimulus", "text", "stimuli", "sentences"),
    "version": ("version", "grammaticality", "acceptability", "grammatical", "acceptable", "label"),
}  # fmt: skip

# Values that tables use in the column of versions.
GOOD_WORDS = {"good", "grammatical", "acceptable", "g", "ok", "1", "1.0", "yes", "true", "correct"}
BAD_WORDS = {"bad", "ungrammatical", "unacceptable", "ug", "*", "0", "0.0", "no", "false"}
BAD_WORDS |= {"incorrect"}
# How programs write that a cell has no value, in lower case.
MISSING_MARKS = frozenset({"na", "n/a", "#n/a", "<na>", "nan", "null"})
MISSING_SIGNS = frozenset({".", "-", "--"})
# Divides the regions of a sentence.
BAR = "|"


def key_of(name: str) -> str:
    """Return a header in normalised form, without differences in case, spaces and hyphens."""
    return "_".join(name.lower().replace("-", " ").replace("_", " ").split())
