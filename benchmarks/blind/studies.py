"""A study of each kind of trial."""

import re
import shutil
from pathlib import Path

from experiment.studies.load import BUILT_IN, load_study
from experiment.studies.study import Study
from tests.whole_way import study_of

# Of a table of sentences, and the studies that the documentation shows, by their folders.
_RESPONSES = {"yes/no": "yes_no", "ratings": "rating", "reading": "self_paced"}
_SHOWN = {
    "maze": "maze", "completions": "prefix_completion", "deadline": "deadline",
    "read, then rate": "read_then_rate", "mixed": "mixed",
}  # fmt: skip
# Paid on a platform, so much for each catch trial on which somebody chose the expected option.
PAID = "paid"
KINDS = (PAID, "pairs", "traces", "options", *_RESPONSES, *_SHOWN)
_MORE = {
    "traces": "\n[taking_part]\ntraces = true\n",
    PAID: '\n[payment]\nbonus = "per_correct_catch_trial"\nbonus_amount = "0.05"\n',
}
_EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"


def study_of_kind(folder: Path, kind: str) -> Study:
    """Return a study of a kind, which may be written into a folder."""
    if kind == "pairs":
        return load_study("minimal")
    if kind in _MORE:
        copied = shutil.copytree(BUILT_IN / "minimal", folder / "minimal")
        toml = (copied / "study.toml").read_text("utf-8")
        if kind == PAID:
            # No rule tells how many errors somebody made.
            toml = re.sub(r"\[\[exclusion\]\].*?(?=\[\[questionnaire)", "", toml, flags=re.DOTALL)
        (copied / "study.toml").write_text(f"{toml}{_MORE[kind]}", encoding="utf-8")
        return load_study(str(copied))
    if kind in _SHOWN:
        return load_study(str(_EXAMPLES / _SHOWN[kind]))
    nouns = enumerate(("dog", "cat", "boy", "girl", "author", "guard") * 2)
    rows: list[dict[str, object]]
    if kind == "options":
        rows = [
            {
                "item": f"i{number}", "condition": "a", "good": f"The {noun} {number} sleeps.",
                "bad": f"The {noun} {number} sleep.",
                "distractor": f"The {noun} {number} sleeping.",
            }
            for number, noun in nouns
        ]  # fmt: skip
        return study_of(rows, folder / "study", participants=12, response="option_list")
    rows = [
        {
            "item": f"i{number}", "condition": ("a", "b")[number % 2],
            "sentence": f"The {noun} near the gate {('sleeps', 'sleep')[number % 2]} soundly.",
        }
        for number, noun in nouns
    ]  # fmt: skip
    return study_of(rows, folder / "study", participants=12, response=_RESPONSES[kind])
