"""Published scores of models."""

from collections.abc import Callable
from pathlib import Path

import pandas as pd

from benchmarks.published_sets import rebuilt
from benchmarks.published_sets.one import MODELS, Place, PublishedSet, printed
from benchmarks.published_sets.rebuilt_single import events_gpt2
from benchmarks.published_sets.single import event_items

_COLORLESS = "facebookresearch/colorlessgreenRNNs"
_DEMANDS = "jennhu/lm-task-demands"
_KAUF = "carina-kauf/lm-event-knowledge"
# The five LSTMs that Table 3 averages.
_FIVE = tuple(
    f"hidden650_batch{batch}_dropout{dropout}_lr{rate}"
    for batch, dropout, rate in (
        (128, 0.1, 20.0), (128, 0.2, 20.0), (64, 0.1, 20.0), (64, 0.2, 10.0), (64, 0.2, 20.0),
    )
)  # fmt: skip


def _five(_: Path, accuracy: pd.DataFrame, items: pd.DataFrame) -> float:
    """Return the mean accuracy of the five LSTMs on original sentences, as Table 3 has it."""
    of = accuracy[accuracy["group"].isin(_FIVE)]
    if len(of) != len(_FIVE):
        raise ValueError(f"{len(of)} of the five LSTMs were read")
    return float(of["original"].mean())


def _only(_: Path, accuracy: pd.DataFrame, items: pd.DataFrame) -> float:
    (one,) = accuracy["all"]
    return float(one)


def _pairs(good: str, bad: str, named: str) -> Callable[[Path], pd.DataFrame]:
    def items(folder: Path) -> pd.DataFrame:
        rows = pd.read_csv(folder / "judged.csv", dtype=str)
        return pd.DataFrame(
            {"item_id": rows[named], "construction": "all", "good": rows[good], "bad": rows[bad]}
        )

    return items


def _direct(folder: Path) -> float:
    return float(pd.read_csv(folder / "judged.csv")["direct_correct"].mean())


def _normalised(folder: Path) -> float:
    """Return the accuracy by the authors' own normalised scores of GPT-2 XL."""
    rows = pd.read_csv(folder / "norms.csv", dtype={"ItemNum": str})
    rows = rows[rows["Metric"] == "GPT-2-xl.sentence-LL"]
    of = rows.pivot(index="ItemNum", columns="Plausibility", values="NormScore")
    return float((of["Plausible"] > of["Implausible"]).mean())


def _with_headers(folder: Path) -> pd.DataFrame:
    """Write the file with the headers that it lacks, and return its pairs."""
    raw = (folder / "raw.txt").read_text("utf-8")
    headers = "number\tsentence\tlogprob\ttokens\twords\n"
    (folder / "judged.tsv").write_text(headers + raw, encoding="utf-8")
    return event_items(folder)


def _colorless(name: str, language: str, published: float) -> PublishedSet:
    path = f"data/evaluation_output/{language}/all_models.tab"
    return PublishedSet(
        name=name,
        source=f"Gulordava et al. (2018), {language}",
        of=MODELS,
        licence="CC BY-NC 4.0",
        files={"judged.tab": Place(_COLORLESS, path)},
        items=lambda _: pd.DataFrame(),
        number="five LSTMs, original sentences",
        published=printed(published),
        ours=_five,
        differ="printed with three digits",
        rebuilt=rebuilt.colorless_models(_FIVE),
    )


def _demands(name: str, task: str, good: str, bad: str) -> PublishedSet:
    return PublishedSet(
        name=name,
        source=f"Hu & Frank (2024), {task}, Llama-2 7B",
        of=MODELS,
        licence="none stated",
        files={"judged.csv": Place(_DEMANDS, f"output/{task}/Llama-2-7b-hf.csv")},
        items=_pairs(good, bad, "item_id"),
        number="accuracy, the file's own column",
        published=_direct,
        ours=_only,
        differ="",
        rebuilt=rebuilt.demands(good, bad),
        options=(
            "--column", "logprob_good=direct_sum_logprob_good_sentence",
            "--column", "logprob_bad=direct_sum_logprob_bad_sentence",
        ),
    )  # fmt: skip


SCORES = (
    _colorless("colorless_italian", "Italian", 0.921),
    _colorless("colorless_english", "English", 0.81),
    _demands("demands_blimp", "blimp", "good_sentence", "bad_sentence"),
    _demands("demands_dgl", "dgl", "sentence_grammatical", "sentence_ungrammatical"),
    PublishedSet(
        name="events_gpt2",
        source="EventsRev, Kauf et al. (2023), GPT-2 XL",
        of=MODELS,
        licence="none stated",
        files={
            "raw.txt": Place(_KAUF, "model_scores/EventsRev/ev1.gpt2-xl.sentence-LL.txt"),
            "sentences.csv": Place(_KAUF, "analyses/clean_data/clean_EventsRev_SentenceSet.csv"),
            "norms.csv": Place(_KAUF, "analyses/clean_data/clean_EventsRev_df.csv"),
        },
        items=_with_headers,
        number="accuracy by the authors' normalised scores",
        published=_normalised,
        ours=_only,
        differ="the file has no headers, which are added",
        rebuilt=events_gpt2,
    ),
)
