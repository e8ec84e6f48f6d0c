"""A study of each kind of trial."""

import re
import shutil
from pathlib import Path

from experiment.studies.load import STUDIES_FOLDER, load_study
from experiment.studies.study import Study
from tests.whole_way import study_of

# Of a table of sentences, and the studies that the documentation shows, by their folders.
_RESPONSES = {"yes/no": "yes_no", "ratings": "rating", "reading": "self_paced"}
_SHOWN = {
    "maze": "examples/maze", "completions": "examples/prefix_completion",
    "deadline": "examples/deadline", "read, then rate": "examples/read_then_rate",
    "mixed": "examples/mixed", "scales": "examples/scales", "typed": "examples/typed",
    "word test": "word_test",
}  # fmt: skip
_PAIRS_OF_SENTENCES = {"pairs rated": "rating", "yes/no pairs": "yes_no"}
# Paid on a platform, so much for each catch trial on which somebody chose the expected option.
PAID = "paid"
# With a stopping rule that goes on whatever is answered, as too few people come: a rule that is
# asked shows nothing else.
STOPPING = "stopping"
# With categories, in which coders sort what people typed.
CODED = "coded"
_RULE = '\n[stopping]\nrule = "any_time"\nminimum = 16\nmaximum = 16\ncomparisons = ["subject"]\n'
KINDS = (PAID, STOPPING, CODED, "pairs", "traces", "options", *_RESPONSES, *_SHOWN)
# A study of each kind of rule that counts targets: the rule, the kind of its trials if they are no
# pairs, and its settings. A second rule follows, so that which of the two excludes somebody
# depends on targets as well.
_CATCH = '{ rule = "max_errors", kind = "catch", max_errors = 0 }'
_RATE = '{ rule = "max_error_rate", kind = "target", max_error_rate = 0.4 }'
_RULES = {
    "max_errors": "max_errors = 1",
    "max_errors, typed": "max_errors = 1",
    "max_error_rate": "max_error_rate = 0.3",
    "min_score, yes/no pairs": "min_score = 60",
    "min_score, word test": 'construction = "vocabulary"\nmin_score = 60',
    "too_fast": "min_median_ms = 3400",
    "too_slow": "above_ms = 3600\nmax_share = 0.4",
    "too_late, deadline": "max_share = 0.1",
    "same_side": "max_share = 0.6",
    "same_side, scales": "max_share = 0.6",
    "same_side, typed": "max_share = 0.6",
    "unknown_words, typed": 'language = "en"\nmax_share = 0\nmin_answers = 1',
    "rating_gap, pairs rated": "min_gap = 2",
    "outlier": 'measure = "log_rt"\ncutoff = 1.0',
    "agent_likelihood": "automatic = true\nmax_likelihood = 0.1",
    "any": f"rules = [{_CATCH}, {_RATE}]",
    "all": f"rules = [{_CATCH}, {_RATE}]",
    # Twice, since somebody who is kept for being right too often is no study that check accepts.
    "not": f'rules = [{{ rule = "not", rules = [{_RATE}] }}]',
}
RULE_KINDS = tuple(f"rule {name}" for name in _RULES)
RULES_OF_TARGETS = frozenset(name.partition(",")[0] for name in _RULES)
# The other rules: of the questionnaire and the number of answers, of the total time, of devices.
RULES_WITHOUT_TARGETS = frozenset(
    {"incomplete", "not_native", "failed_comprehension",
     "impossible_time", "timing_mismatch", "device_change"}
)  # fmt: skip
_SECOND = {
    "rating_gap, pairs rated": "same_side", "same_side, scales": "too_fast",
    "max_errors": "max_error_rate", "max_errors, typed": "max_error_rate",
    "max_error_rate": "max_errors",
}  # fmt: skip
_MORE = {
    "traces": "\n[taking_part]\ntraces = true\n",
    PAID: '\n[payment]\nbonus = "per_correct_catch_trial"\nbonus_amount = "0.05"\n',
    CODED: '\n[coding]\nquestion = "What is it?"\nrepeated = 0.1\n'
    '[[coding.categories]]\nname = "thing"\ntitle = "A thing"\nanswers = ["house", "book"]\n'
    '[[coding.categories]]\nname = "other"\ntitle = "Something else"\n',
}
_NOUNS = ("dog", "cat", "boy", "girl", "author", "guard") * 2
_DOCS = Path(__file__).parents[2] / "docs"


def study_of_kind(folder: Path, kind: str) -> Study:
    """Return a study of a kind, which may be written into a folder."""
    if kind in RULE_KINDS:
        return _study_of_rule(folder, kind.removeprefix("rule "))
    if kind == "pairs":
        return load_study("minimal")
    if kind in _MORE:
        source = _DOCS / _SHOWN["typed"] if kind == CODED else STUDIES_FOLDER / "minimal"
        copied = shutil.copytree(source, folder / source.name)
        toml = (copied / "study.toml").read_text("utf-8")
        if kind == PAID:
            # No rule tells how many errors somebody made.
            toml = re.sub(r"\[\[exclusion\]\].*?(?=\[\[questionnaire)", "", toml, flags=re.DOTALL)
        (copied / "study.toml").write_text(f"{toml}{_MORE[kind]}", encoding="utf-8")
        return load_study(str(copied))
    if kind == STOPPING:
        copied = shutil.copytree(_DOCS / "examples" / "latin_square", folder / "latin_square")
        toml = (copied / "study.toml").read_text("utf-8")
        (copied / "study.toml").write_text(f"{toml}{_RULE}", encoding="utf-8")
        return load_study(str(copied))
    if kind in _SHOWN:
        return load_study(str(_DOCS / _SHOWN[kind]))
    rows: list[dict[str, object]]
    if kind in _PAIRS_OF_SENTENCES:
        rows = [
            {"item": f"i{number}", "condition": "a", "good": f"The {noun} {number} sleeps.",
             "bad": f"The {noun} {number} sleep."}
            for number, noun in enumerate(_NOUNS)
        ]  # fmt: skip
        return study_of(rows, folder / "study", participants=12, response=_PAIRS_OF_SENTENCES[kind])
    nouns = enumerate(_NOUNS)
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


def _study_of_rule(folder: Path, name: str) -> Study:
    rule, _, trials = name.partition(", ")
    second = _SECOND.get(name, "max_errors")
    allowed = {
        "max_errors": "max_errors = 3", "max_error_rate": "max_error_rate = 0.5",
        "same_side": "max_share = 0.55", "too_fast": "min_median_ms = 200",
    }[second]  # fmt: skip
    source = study_of_kind(folder, trials or "pairs").folder
    made = shutil.copytree(source, folder / "of_rule" / source.name)
    toml = (made / "study.toml").read_text("utf-8")
    toml = re.sub(r"\[\[exclusion\]\].*?(?=\n\[)", "", toml, flags=re.DOTALL)
    for of_two, setting in ((second, allowed), (rule, _RULES[name])):
        table = f'[[exclusion]]\nrule = "{of_two}"\n{setting}\n\n[[questionnaire]]'
        toml = toml.replace("[[questionnaire]]", table, 1)
    (made / "study.toml").write_text(toml, encoding="utf-8")
    return load_study(str(made))
