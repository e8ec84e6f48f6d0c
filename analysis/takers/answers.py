"""Read a model participant's folder: its answers in every reading and presentation."""

import json
from collections import Counter
from collections.abc import Sequence
from math import exp
from pathlib import Path

import numpy as np
import pandas as pd

from analysis.data.declared import number_frames
from analysis.data.frames import read_exported_table
from analysis.data.load import ExportedRun, load_run
from analysis.errors import AnalysisError
from analysis.findings.finding import TakerData
from experiment.errors import why_unread
from experiment.tables.model_participants import MODEL_QUESTIONS, READ, SITTINGS
from lm.answering.labels import UNREADABLE

_WAY = ("participant", "model", "reading", "context", "labels", "order", "thinking", "session")
_READING = ("model", "reading")
MANIFEST = "take.json"
# Texts alone give each label about half of the samples of two, asked in both orders.
_NEARLY_ALL, _FEWEST_SAMPLES = 0.95, 20


def read_manifest(folder: Path) -> dict[str, object]:
    """Return the manifest of a model participant's folder.

    Raises:
        AnalysisError: The folder is not a model participant's, or is incomplete.
    """
    path = folder / MANIFEST
    try:
        manifest = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise AnalysisError(
            f"{MANIFEST} in it cannot be read: {why_unread(error)}"
            if path.is_file()
            else f"the folder holds no {MANIFEST}",
            where=str(folder),
            expected="a folder that `parallax take` wrote",
        ) from error
    if not isinstance(manifest, dict) or not manifest.get("complete"):
        raise AnalysisError(
            "the model's sessions are not complete",
            where=str(folder),
            remedy="Run the same `parallax take` again: it continues where it stopped",
        )
    return manifest


def load_model_participant(folder: Path, run: ExportedRun) -> TakerData:
    """Read a model participant's folder for comparison with a run of human participants.

    Raises:
        AnalysisError: The folder is not a complete model participant's folder, or its materials
            differ from the run's.
        TableError: A table is missing or violates its schema.
    """
    manifest = read_manifest(folder)
    if manifest["materials_hash"] != run.facts.materials_hash:
        raise AnalysisError(
            f"the run's materials have the hash {run.facts.materials_hash[:12]}, those that "
            f"the model answered {str(manifest['materials_hash'])[:12]}",
            where=f"{run.folder} and {folder}",
            expected="the same materials",
            remedy="Take the sessions again: parallax take EXPORT_FOLDER ...",
        )
    readings = manifest["readings"]
    assert isinstance(readings, list)
    frames = [_read_answers(folder / str(name)) for name in readings]
    counts = [_count_samples(folder / str(name)) for name in readings]
    return TakerData(
        str(manifest["model_name"]),
        str(manifest["tier"]),
        pd.concat(frames, ignore_index=True),
        *(pd.concat(parts, ignore_index=True) for parts in zip(*counts, strict=True)),
    )


def _count_samples(folder: Path) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return a reading's samples by what read them, and by their labels in each set of labels."""
    columns = ("participant", "answers", "logprobs_nats", "read_by")
    questions = read_exported_table(MODEL_QUESTIONS, folder, columns)
    questions = questions[questions["read_by"] != ""]
    ways = read_exported_table(SITTINGS, folder, ("participant", "model", "reading", "labels"))
    rules, labels = Counter[tuple[str, ...]](), Counter[tuple[str, ...]]()
    for row in questions.merge(ways, "left", on="participant").itertuples(index=False):
        way = (str(row.model), str(row.reading))
        read_by = json.loads(str(row.read_by))
        rules.update((*way, rule) for rule in read_by)
        # With samples, a log-probability is the log of a label's share.
        answers, logprobs = json.loads(str(row.answers)), json.loads(str(row.logprobs_nats))
        for label, logprob in zip(answers, logprobs, strict=True):
            if logprob is not None:
                labels[*way, str(row.labels), label] += round(exp(logprob) * len(read_by))
    return (
        pd.DataFrame([(*way, n) for way, n in rules.items()], columns=[*_READING, "read_by", "n"]),
        pd.DataFrame(
            [(*way, n) for way, n in labels.items()], columns=[*_READING, "labels", "label", "n"]
        ),
    )


def share_of_rules(samples: pd.DataFrame) -> pd.DataFrame:
    """Return the share of a reading's samples that each rule could read, or that were unreadable.

    Args:
        samples: As in ``TakerData.samples``.
    """
    n_samples = samples.groupby(["model", "reading"], sort=False)["n"].transform("sum")
    return samples.assign(
        readable=~samples["read_by"].isin(UNREADABLE), share=samples["n"] / n_samples
    ).sort_values(
        ["model", "reading", "readable", "share"],
        ascending=[True, True, False, False],
        ignore_index=True,
    )


def warn_of_one_label(labels: pd.DataFrame) -> list[str]:
    """Return a sentence for each reading and set of labels whose samples nearly all have one label.

    Args:
        labels: As in ``TakerData.sampled_labels``.
    """
    return [
        f"Warning: {share:.0%} of {model}'s {n:,} readable samples in {reading} "
        f"({name}) are the label {best}: it may answer with this label whatever it reads."
        for (model, reading, name), rows in labels.groupby(
            ["model", "reading", "labels"], sort=False
        )
        if (n := int(rows["n"].sum())) >= _FEWEST_SAMPLES
        and (share := rows["n"].max() / n) >= _NEARLY_ALL
        and (best := rows["label"].to_numpy()[rows["n"].to_numpy().argmax()])
    ]


def read_item_choices(folder: Path) -> dict[str, float]:
    """Return the probability that a model chose each item's expected option, by item id.

    The mean is over all sessions of a reading, so that it does not depend on order or labels.

    Args:
        folder: One reading's folder, inside the folder written by ``parallax take``.

    Raises:
        AnalysisError: The reading has no probabilities.
        TableError: The folder lacks the table.
    """
    answers = read_exported_table(READ, folder, ("item_id", "p_good")).dropna(subset="p_good")
    if answers.empty:
        raise AnalysisError(
            "no trial has the probability of the expected option",
            where=str(folder),
            expected="a reading of choices or of yes and no, such as forced_choice",
        )
    mean = answers.groupby("item_id", observed=True)["p_good"].mean()
    return {str(item): float(share) for item, share in mean.items()}


def load_model_participants(folders: Sequence[Path], run: ExportedRun) -> list[TakerData]:
    """Read several model participants' folders.

    Different models with one name, as servers can have, are named after their folders as well.

    Raises:
        AnalysisError: Two folders are of the same model.
    """
    identities = [str(read_manifest(folder).get("model_identity", "")) for folder in folders]
    participants = [load_model_participant(folder, run) for folder in folders]
    names = [participant.model for participant in participants]
    shared = {name for name in names if names.count(name) > 1}
    for name in sorted(shared):
        same_name = [identities[index] for index, own in enumerate(names) if own == name]
        if len(set(same_name)) < len(same_name):
            raise AnalysisError(
                f'two folders hold sessions of a model "{name}"',
                where=", ".join(map(str, folders)),
                remedy="Leave out all but one of them",
            )
    return [
        _rename(participant, f"{participant.model} ({folder})")
        if participant.model in shared
        else participant
        for participant, folder in zip(participants, folders, strict=True)
    ]


def _rename(participant: TakerData, model: str) -> TakerData:
    return TakerData(
        model,
        participant.tier,
        *(
            frame.assign(model=model) if "model" in frame else frame
            for frame in (participant.frame, participant.samples, participant.sampled_labels)
        ),
    )


def _read_answers(folder: Path) -> pd.DataFrame:
    run = load_run(folder, models=True)
    ways = read_exported_table(SITTINGS, folder, _WAY).astype({"context": str})
    # For the answers, thinking counts as a separate context.
    ways["context"] += np.where(ways["thinking"] == "yes", ", thinking", "")
    rows = read_exported_table(READ, folder, ("participant", "position", "outcome", "p_good"))
    key = ["participant", "position"]
    trials = run.trials[[*key, "item_id", "good_side"]].astype({"participant": str, "item_id": str})
    further = [name for name in ("typed", "version") if "typed" in run.responses]
    answers = run.responses[[*key, "chosen_side", "chose_good", *further]]
    answers = answers.astype({"participant": str})
    items = run.items[["item_id", "construction", "condition"]].assign(
        frame=number_frames(run.items)
    )
    return (
        trials.merge(answers, "left", on=key, validate="one_to_one")
        .merge(rows, "left", on=key, validate="one_to_one")
        .merge(items, "left", on="item_id", validate="many_to_one")
        .merge(ways, "left", on="participant", validate="many_to_one")
        .astype({"chosen_side": object, "good_side": object, "chose_good": float})
    )
