"""A study of each kind of trial."""

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
KINDS = ("pairs", "traces", "options", *_RESPONSES, *_SHOWN)
_EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"


def study_of_kind(folder: Path, kind: str) -> Study:
    """Return a study of a kind, which may be written into a folder."""
    if kind == "pairs":
        return load_study("minimal")
    if kind == "traces":
        copied = shutil.copytree(BUILT_IN / "minimal", folder / "minimal")
        with (copied / "study.toml").open("a", encoding="utf-8") as settings:
            settings.write("\n[taking_part]\ntraces = true\n")
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
