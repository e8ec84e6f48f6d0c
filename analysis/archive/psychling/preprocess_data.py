"""Make processed_data/exp1.csv from original_data; run the script in the data set's folder.

Requires only Python. Only participants kept by the study's exclusion rules are included.
"""

import csv
import json
from pathlib import Path
from typing import Any

CODEBOOK = {
    "participant_id": "Unique identifier assigned to each participant.",
    "trial_order": "Presentation order within the session (0-indexed).",
    "list_id": "Experimental list number (0-indexed).",
    "item_id": "The item's id within the study.",
    "construction": "The construction that the item belongs to.",
    "condition": "Experimental condition assigned to the trial.",
    "stimulus": "What the trial showed before its options; the sentence that was judged.",
    "options": "The options in the order on the screen, separated by ' | '.",
    "screen_labels": "The options' own labels on the screen, separated by ' | '.",
    "response": "Participant's response: the text chosen, the point of the scale, yes or no.",
    "response_label": "The label on the screen of what was chosen.",
    "accuracy": "Binary indicator of whether the participant's response was the expected one.",
    "rt": "Time taken by the participant to respond, in milliseconds.",
}
# Columns with a larger share of missing values are left out.
MOST_MISSING = 0.05


def rows_of(path: Path) -> list[dict[str, str]]:
    """Return a CSV file's rows."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def processed(original: Path) -> list[dict[str, str]]:
    """Return one row per answered trial of each kept participant."""
    about = json.loads((original / "study.json").read_text("utf-8"))
    items = {row["item_id"]: row for row in rows_of(original / "items.csv")}
    texts = {
        (row["item_id"], row["version"]): row["text"] for row in rows_of(original / "texts.csv")
    }
    lists = {row["participant"]: row["list"] for row in rows_of(original / "participants.csv")}
    kept_participants = {
        row["participant"] for row in rows_of(original / "verdicts.csv") if row["kept"] == "true"
    }
    trials = {
        (row["participant"], row["position"]): row for row in rows_of(original / "trials.csv")
    }
    rows = []
    for response in rows_of(original / "responses.csv"):
        if response["participant"] in kept_participants:
            trial = trials[response["participant"], response["position"]]
            row = list_shown_texts(items[response["item_id"]], trial, texts, about)
            row |= answered(response, row, about)
            rows.append({**identity(response, items, lists), **row})
    return rows


def identity(
    response: dict[str, str], items: dict[str, dict[str, str]], lists: dict[str, str]
) -> dict[str, str]:
    """Return the columns that identify the trial: participant, item, list and position."""
    item = items[response["item_id"]]
    return {
        "participant_id": response["participant"],
        "trial_order": str(int(response["position"]) - 1),
        "list_id": lists[response["participant"]],
        "item_id": response["item_id"],
        "construction": item["construction"],
        "condition": item["condition"],
    }


def list_shown_texts(
    item: dict[str, str],
    trial: dict[str, str],
    texts: dict[tuple[str, str], str],
    about: dict[str, Any],
) -> dict[str, str]:
    """Return what the trial showed, in the order on screen."""
    if trial.get("options"):
        versions = trial["options"].split(" ")
    else:
        versions = ["good", item["contrast"]]
        versions = versions if trial["good_side"] == "first" else versions[::-1]
    options = [texts[item["item_id"], version] for version in versions]
    labels = [str(label) for label in about["labels"]]
    if len(options) == 1:
        return {"stimulus": options[0], "options": " | ".join(about["answers"]),
                "screen_labels": " | ".join(labels)}  # fmt: skip
    return {"stimulus": texts.get((item["item_id"], "context"), "") or "two options",
            "options": " | ".join(options),
            "screen_labels": " | ".join(labels[: len(options)])}  # fmt: skip


def answered(
    response: dict[str, str], row: dict[str, str], about: dict[str, Any]
) -> dict[str, str]:
    """Return the answer, with its label on screen."""
    options, labels = row["options"].split(" | "), row["screen_labels"].split(" | ")
    if response.get("rating"):
        place = int(response["rating"]) - 1
    elif "said_yes" in response:
        place = 0 if response["said_yes"] == "true" else 1
    else:
        place = about["sides"].index(response["chosen_side"])
    return {
        "response": options[place],
        "response_label": labels[place],
        "accuracy": {"true": "1", "false": "0"}.get(response["chose_good"], ""),
        "rt": response["rt_ms"],
    }


def columns_of(rows: list[dict[str, str]]) -> list[str]:
    """Return the columns in which few values are missing."""
    most_missing = MOST_MISSING * len(rows)
    return [name for name in CODEBOOK if sum(row[name] == "" for row in rows) <= most_missing]


def main(folder: Path) -> None:
    """Write processed_data/exp1.csv and the codebook of its columns."""
    rows = processed(folder / "original_data")
    columns = columns_of(rows)
    (folder / "processed_data").mkdir(exist_ok=True)
    with (folder / "processed_data" / "exp1.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns, extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    with (folder / "CODEBOOK.csv").open("w", encoding="utf-8", newline="") as file:
        codebook = csv.writer(file, lineterminator="\n")
        codebook.writerow(["Recommended Column Name", "Description"])
        codebook.writerows((name, CODEBOOK[name]) for name in columns)


if __name__ == "__main__":
    main(Path(__file__).resolve().parent)
