"""Make prompts.jsonl.zip from processed_data/exp1.csv; run the script in the data set's folder.

Requires only Python. Options are labelled with letters, drawn for each participant from a seed
based on the participant's id.
"""

import csv
import hashlib
import json
import random
import zipfile
from pathlib import Path

LETTERS = "BCDFGHJKLMNPQRSTVWXZ"
LONGEST_CHARACTERS = 128_000


def without_markers(text: str) -> str:
    """Return the text without the characters that mark answers."""
    return text.replace("<", "\u2039").replace(">", "\u203a")


def prompts(folder: Path) -> list[dict[str, object]]:
    """Return a prompt for each participant, in the participants' order in the data."""
    about = json.loads((folder / "original_data" / "study.json").read_text("utf-8"))
    sessions: dict[str, list[dict[str, str]]] = {}
    with (folder / "processed_data" / "exp1.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            sessions.setdefault(row["participant_id"], []).append(row)
    all_prompts = []
    for participant, rows in sessions.items():
        rows.sort(key=lambda row: int(row["trial_order"]))
        all_prompts.append(prompt(participant, rows, about))
    return all_prompts


def prompt(
    participant: str, rows: list[dict[str, str]], about: dict[str, object]
) -> dict[str, object]:
    """Return all trials of one participant as one text, with the answers in angle brackets."""
    seed = int.from_bytes(hashlib.sha256(participant.encode()).digest()[:8], "big")
    n_most_options = max(len(row["options"].split(" | ")) for row in rows)
    letters = random.Random(seed).sample(LETTERS, n_most_options)
    parts = [without_markers(str(about["instructions"]))]
    for number, row in enumerate(rows, start=1):
        part = trial(number, row, letters)
        if sum(map(len, parts)) + len(part) > LONGEST_CHARACTERS:
            break
        parts.append(part)
    entry: dict[str, object] = {
        "text": "\n\n".join(parts),
        "experiment": about["experiment"],
        "participant_id": participant,
    }
    if "rt" in rows[0]:
        entry["rt"] = [float(row["rt"]) if row["rt"] else None for row in rows[: len(parts) - 1]]
    return entry


def trial(number: int, row: dict[str, str], letters: list[str]) -> str:
    """Return a trial as text."""
    options = row["options"].split(" | ")
    chosen = letters[options.index(row["response"])]
    if len(set(options)) < len(options):
        labels = row["screen_labels"].split(" | ")
        chosen = letters[labels.index(row["response_label"])]
    lines = [f"Trial {number}."]
    if row["stimulus"] != "two options":
        lines.append(without_markers(row["stimulus"]))
    lines += [f"{a}: {without_markers(b)}" for a, b in zip(letters, options, strict=False)]
    return "\n".join([*lines, f"You choose <<{chosen}>>."])


def main(folder: Path) -> None:
    """Write prompts.jsonl.zip; the same data always give the same bytes."""
    lines = [json.dumps(row, ensure_ascii=False) for row in prompts(folder)]
    entry = zipfile.ZipInfo("prompts.jsonl", (1980, 1, 1, 0, 0, 0))
    entry.compress_type = zipfile.ZIP_DEFLATED
    with zipfile.ZipFile(folder / "prompts.jsonl.zip", "w") as archive:
        archive.writestr(entry, "\n".join(lines) + "\n")


if __name__ == "__main__":
    main(Path(__file__).resolve().parent)
