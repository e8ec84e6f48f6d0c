"""Files with the headers of the published ones, of sentences of our own.

They show that a mapping reads such a file, not that the publication's number is found.
"""

import json
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.published_sets.one import MAPPINGS

_NUMBER = "number_of_the_rebuilt_file.txt"
# The pairs that the mapping of QFrBLiMP leaves out.
_ALIKE = tomllib.loads((MAPPINGS / "qfrblimp.toml").read_text("utf-8"))["drop"]["id"]
PEOPLE_ASKED, ITEMS_SHOWN, RIGHT = 12, 10, 0.8
Writer = Callable[[Path], None]


def pairs() -> list[tuple[str, str]]:
    return [(f"Author {n} writes.", f"Author {n} write.") for n in range(ITEMS_SHOWN)]


def random() -> np.random.Generator:
    return np.random.default_rng(36)


def blimp_people(folder: Path) -> None:
    rng, every, rows = random(), pairs(), []
    for person in range(PEOPLE_ASKED):
        for half in (every[:5], every[5:]):
            row = {"anonCode": str(person), "AssignmentStatus": "Approved"}
            for n, (good, bad) in enumerate(half, start=1):
                good_first = int(good.split()[1]) % 2 == 0
                shown = (good, bad) if good_first else (bad, good)
                place = int((rng.random() < RIGHT) != good_first)
                row[f"Input.item_{n}_condition"] = f"agreementans{1 if good_first else 2}"
                row[f"Input.field_{n}_1"], row[f"Input.field_{n}_2"] = shown
                row[f"Answer.Choice{n}"] = f"{place + 1}. {shown[place]}"
            rows.append(row)
    rejected = rows[0] | {"anonCode": "99", "AssignmentStatus": "Rejected"}
    pd.DataFrame([*rows, rejected]).to_csv(folder / "judged.csv", index=False)
    right = [
        row[f"Answer.Choice{n}"].startswith("1") == row[f"Input.item_{n}_condition"].endswith("1")
        for row in rows
        for n in range(1, 6)
    ]
    summary = pd.DataFrame({"Condition": ["agreement"], "total_mean": [np.mean(right)]})
    summary.to_csv(folder / "summary.csv", index=False)


def _colorless(folder: Path, columns: dict[str, Callable[[bool], object]]) -> None:
    rows = []
    for n, (good, bad) in enumerate(pairs()):
        for correct, text in ((True, good), (False, bad)):
            rows.append(
                {
                    "pattern": "L__NOUN_VERB", "constr_id": n, "sent_id": 0,
                    "correct_number": "sing", "form": text.split()[-1].rstrip("."),
                    "class": "correct" if correct else "wrong", "type": "original",
                    "prefix": f"Author {n}", "n_attr": 0, "punct": 0, "freq": 3 + n,
                    "len_context": 2, "len_prefix": 2, "sent": text,
                    **{name: value(correct) for name, value in columns.items()},
                }
            )  # fmt: skip
    pd.DataFrame(rows).to_csv(folder / "judged.tab", sep="\t", index=False)


def gulordava_people(folder: Path) -> None:
    right = random().binomial(20, 0.945, ITEMS_SHOWN)
    counts = iter([count for n in right for count in (n, 20 - n)])
    ids = iter(range(2 * ITEMS_SHOWN))
    columns = {
        "full_id": lambda _: f"L__NOUN_VERB-{next(ids) // 2}-0",
        "mturk_count": lambda _: next(counts),
        "model": lambda good: -1.0 - (not good),
    }
    _colorless(folder, columns)
    (folder / _NUMBER).write_text(str(right.mean() / 20), "utf-8")


def colorless_models(names: Sequence[str]) -> Writer:
    def write(folder: Path) -> None:
        rng, right = random(), []

        def score(good: bool) -> float:
            right.append(-3.0 + float(rng.random()) if good else -2.5)
            return right[-1]

        _colorless(folder, dict.fromkeys(names, score))
        # Row after row, each with all models: those of a pair stand one row apart.
        scores = np.array(right).reshape(ITEMS_SHOWN, 2, len(names))
        (folder / _NUMBER).write_text(str((scores[:, 0] > scores[:, 1]).mean()), "utf-8")

    return write


def qfrblimp(folder: Path) -> None:
    rng, answers = random(), np.zeros((ITEMS_SHOWN, PEOPLE_ASKED), int)
    (folder / "judged").mkdir(exist_ok=True)
    for person in range(PEOPLE_ASKED):
        lines = []
        for n, (good, bad) in enumerate(pairs()):
            answers[n, person] = wrong = int(rng.random() > RIGHT)
            swapped = (n + person) % 2
            shown = (bad, good) if swapped else (good, bad)
            lines.append(
                {
                    "id": n, "grammatical": bad, "ungrammatical": good, "category": "syntax",
                    "type": 1, "sentence_1": shown[0], "sentence_2": [shown[1]],
                    "accept": [str(1 + (wrong ^ swapped))], "answer": "accept",
                    "_session_id": f"a-{person}" if person else "ground_truth",
                }
            )  # fmt: skip
        same = {"grammatical": "Nobody.", "ungrammatical": "Nobody.", "sentence_1": "Nobody."}
        lines += [lines[0] | same | {"id": int(n), "sentence_2": ["Nobody."]} for n in _ALIKE]
        text = "\n".join(json.dumps(one, ensure_ascii=False) for one in lines)
        (folder / "judged" / f"annotator_{person}.jsonl").write_text(text + "\n", "utf-8")
    table = pd.DataFrame(answers[:, 1:]).add_prefix("annotator_").assign(id=range(ITEMS_SHOWN))
    table.to_csv(folder / "annotations.tsv", sep="\t", index=False)


def demands(good: str, bad: str) -> Writer:
    def write(folder: Path) -> None:
        rng = random()
        rows = pd.DataFrame(pairs(), columns=[good, bad]).assign(item_id=range(ITEMS_SHOWN))
        for name in ("good", "bad"):
            rows[f"direct_sum_logprob_{name}_sentence"] = rng.uniform(-60, -20, ITEMS_SHOWN)
            rows[f"meta_sum_logprob_{name}_first_1"] = rng.uniform(-3, -1, ITEMS_SHOWN)
        rows["direct_correct"] = (
            rows["direct_sum_logprob_good_sentence"] > rows["direct_sum_logprob_bad_sentence"]
        )
        rows.assign(model="a/model").to_csv(folder / "judged.csv", index=False)

    return write
