"""Published choices between two versions."""

import json
from pathlib import Path

import pandas as pd

from benchmarks.published_sets import rebuilt
from benchmarks.published_sets.one import PEOPLE, Place, PublishedSet, printed

_CHECK, _GOOD = "attnchk", "good"
_IN_ONE_HIT = range(1, 6)
_ANSWER = -len("ans1")


def _blimp_items(folder: Path) -> pd.DataFrame:
    """Return the batch's pairs as a table of items."""
    raw = pd.read_csv(folder / "judged.csv", dtype=str, keep_default_na=False)
    names = ["condition", "first", "second"]
    shown = [
        raw[[f"Input.item_{n}_condition", f"Input.field_{n}_1", f"Input.field_{n}_2"]].set_axis(
            names, axis=1
        )
        for n in _IN_ONE_HIT
    ]
    pairs = pd.concat(shown).drop_duplicates("first")
    good_first = pairs["condition"].str.endswith("1")
    construction = pairs["condition"].str[:_ANSWER]
    return pd.DataFrame(
        {
            "item_id": pairs["first"],
            "kind": (construction == _CHECK).map({True: "catch", False: "target"}),
            "construction": construction,
            "condition": construction,
            "template": "",
            "features": "",
            "frame": "",
            "context": "",
            "good": pairs["first"].where(good_first, pairs["second"]),
            "bad": pairs["second"].where(good_first, pairs["first"]),
            "distractor": "",
            "contrast": "bad",
        }
    )


def _blimp_ours(_: Path, judged: pd.DataFrame, items: pd.DataFrame) -> float:
    """Return the mean over constructions of the mean over items, as the authors count."""
    known = items.set_index("item_id")["construction"]
    rows = judged.assign(of=judged["item"].map(known), right=judged["chosen"] == _GOOD)
    each = rows[rows["of"] != _CHECK].groupby(["of", "item"])["right"].mean()
    return float(each.groupby("of").mean().mean())


def _blimp_published(folder: Path) -> float:
    return float(pd.read_csv(folder / "summary.csv")["total_mean"].mean())


def _lines(folder: Path) -> pd.DataFrame:
    texts = [one.read_text("utf-8") for one in sorted((folder / "judged").rglob("*.jsonl"))]
    return pd.DataFrame([json.loads(line) for text in texts for line in text.splitlines() if line])


def _qfr_items(folder: Path) -> pd.DataFrame:
    """Return the pairs.

    The annotators' files call the two sentences by each other's names: read as they say, the
    import stops at an accuracy of .14, the mirror image.
    """
    rows = _lines(folder)
    alike = rows.loc[rows["grammatical"] == rows["ungrammatical"], "id"]
    pairs = rows[~rows["id"].isin(set(alike))].drop_duplicates("id")
    return pd.DataFrame(
        {
            "item_id": pairs["id"].astype(str),
            "construction": pairs["category"],
            "condition": pairs["type"].astype(str),
            "good": pairs["ungrammatical"],
            "bad": pairs["grammatical"],
        }
    )


def _qfr_published(folder: Path) -> float:
    """Return the share of 0, the grammatical sentence, in the authors' own table of the pairs.

    Its last annotator is the authors themselves, and of annotator_13 there is no file.
    """
    table = pd.read_csv(folder / "annotations.tsv", sep="\t", dtype=str)
    shown = set(_qfr_items(folder)["item_id"])
    table = table.drop(columns=["annotator_13", "annotator_15"], errors="ignore")
    answers = table[table["id"].isin(shown)].filter(regex=r"annotator_\d+").stack()
    return float((answers == "0").to_numpy().mean())


def _share(_: Path, judged: pd.DataFrame, items: pd.DataFrame) -> float:
    return float((judged["chosen"] == _GOOD).mean())


def _of_originals(folder: Path, judged: pd.DataFrame, items: pd.DataFrame) -> float:
    """Return the mean of the sentences' accuracies, of original sentences."""
    original = items.loc[items["condition"] == "original", "item_id"]
    rows = judged[judged["item"].isin(set(original))]
    return float((rows["chosen"] == _GOOD).groupby(rows["item"]).mean().mean())


_BLIMP = "alexwarstadt/blimp"
_QFR = "davebulaval/QFrBLiMP"
CHOICES = (
    PublishedSet(
        name="blimp_people",
        source="BLiMP, Warstadt et al. (2020)",
        of=PEOPLE,
        licence="CC BY",
        files={
            "judged.csv": Place(_BLIMP, "raw_results/all_outputs/human_responses.csv"),
            "summary.csv": Place(_BLIMP, "raw_results/summary/human_validation_summary.csv"),
        },
        items=_blimp_items,
        number="accuracy, mean of constructions",
        published=_blimp_published,
        ours=_blimp_ours,
        differ="their summary rounds each construction, and leaves four judgments out",
        rebuilt=rebuilt.blimp_people,
    ),
    PublishedSet(
        name="gulordava_people",
        source="Gulordava et al. (2018), Italian",
        of=PEOPLE,
        licence="CC BY-NC 4.0",
        files={
            "judged.tab": Place(
                "facebookresearch/colorlessgreenRNNs",
                "data/evaluation_output/Italian/best_model_mturk.tab",
            )
        },
        items=lambda _: pd.DataFrame(),
        number="accuracy of original sentences",
        published=printed(0.945),
        ours=_of_originals,
        differ="printed with three digits",
        rebuilt=rebuilt.gulordava_people,
    ),
    PublishedSet(
        name="qfrblimp",
        source="QFrBLiMP, Beauchemin et al. (2026)",
        of=PEOPLE,
        licence="CC BY-NC-SA 4.0",
        files={
            "judged": Place(_QFR, "datastore/QFrBLiMP/annotated/Part 2"),
            "annotations.tsv": Place(_QFR, "datastore/QFrBLiMP/annotations.tsv"),
        },
        items=_qfr_items,
        number="share of the grammatical sentence",
        published=_qfr_published,
        ours=_share,
        differ="",
        rebuilt=rebuilt.qfrblimp,
    ),
)
