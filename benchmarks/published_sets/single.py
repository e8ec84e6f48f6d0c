"""Published ratings, and yes or no, of one sentence at a time."""

from collections.abc import Callable
from pathlib import Path

import pandas as pd

from benchmarks.published_sets import rebuilt_single as rebuilt
from benchmarks.published_sets.one import PEOPLE, Place, PublishedSet

_KAUF = "carina-kauf/lm-event-knowledge"
_MEGA = "MegaAttitude/megaattitude.github.io"
_101 = "Data-X01/PsychLing-101"
_CLEAN = "analyses/clean_data/clean_{}.csv"
_WRONG = "analyses/results/{}_Models=all_main/human_wrong_binacc_sentences_AAN.csv"


def event_items(folder: Path) -> pd.DataFrame:
    """Return pairs of a plausible and an implausible sentence, of the active voice."""
    rows = pd.read_csv(folder / "sentences.csv", dtype=str)
    rows = rows[rows["Voice"] == "active"]
    if "TrialType" in rows:
        rows = rows[rows["TrialType"] == "AAN"]
    of = rows.drop_duplicates(["ItemNum", "Plausibility"]).pivot(
        index="ItemNum", columns="Plausibility", values="Sentence"
    )
    return pd.DataFrame(
        {
            "item_id": of.index,
            "construction": "events",
            "good": of["Plausible"],
            "bad": of["Implausible"],
        }
    )


def _above(_: Path, judged: pd.DataFrame, items: pd.DataFrame) -> float:
    """Return in how many pairs the plausible sentence's mean rating is above the other's."""
    means = judged.groupby(["item", "version"])["rating"].mean().unstack()
    return float((means["good"] > means["bad"]).mean())


def _events_published(folder: Path) -> float:
    """Return the share of pairs that are not in the authors' list of those rated the other way."""
    wrong = set(pd.read_csv(folder / "wrong.csv", dtype=str)["Plausible"])
    good = event_items(folder)["good"]
    return float(1 - good.isin(wrong).mean())


def _grammar_items(folder: Path) -> pd.DataFrame:
    """Return the sentences in pairs by their order; the authors made no minimal pairs."""
    rows = pd.read_csv(folder / "judged.csv", dtype=str).drop_duplicates("sentence")
    rows = rows[rows["phenomenon"] != "attention check"].sort_values(["phenomenon", "sentence"])
    rows["place"] = rows.groupby(["phenomenon", "condition"]).cumcount().astype(str)
    of = rows.pivot(index=["phenomenon", "place"], columns="condition", values="sentence")
    of = of.reset_index()
    return pd.DataFrame(
        {
            "item_id": of["phenomenon"] + "-" + of["place"],
            "construction": of["phenomenon"],
            "good": of["grammatical"],
            "bad": of["ungrammatical"],
        }
    )


def _said(_: Path, judged: pd.DataFrame, items: pd.DataFrame) -> float:
    return float((judged["said_yes"] == (judged["version"] == "good")).mean())


def _grammar_published(folder: Path) -> float:
    """Return what the authors' own column says was right."""
    rows = pd.read_csv(folder / "judged.csv")
    return float(rows.loc[rows["phenomenon"] != "attention check", "accuracy"].mean())


def _alone(*names: str, text: str, sep: str = ",") -> Callable[[Path], pd.DataFrame]:
    """Return a function that lists a file's sentences, each alone, named by some columns."""

    def items(folder: Path) -> pd.DataFrame:
        path = next(folder.glob("judged.*"))
        rows = pd.read_csv(path, dtype=str, sep=sep, keep_default_na=False)
        rows = rows.assign(item_id=rows[list(names)].agg("-".join, axis=1))
        rows = rows.drop_duplicates("item_id")
        return pd.DataFrame({"item_id": rows["item_id"], "sentence": rows[text]})

    return items


def _mean(_: Path, judged: pd.DataFrame, items: pd.DataFrame) -> float:
    return float(judged["rating"].mean())


def _of_column(column: str, sep: str = ",") -> Callable[[Path], float]:
    """Return a function that averages a column as pandas reads it, without Parallax."""
    return lambda folder: float(
        pd.to_numeric(
            pd.read_csv(next(folder.glob("judged.*")), sep=sep)[column], errors="coerce"
        ).mean()
    )


def _events(name: str, source: str, alias: str, wrong: str, differ: str) -> PublishedSet:
    return PublishedSet(
        name=name,
        source=source,
        of=PEOPLE,
        licence="none stated",
        files={
            "judged.csv": Place(_KAUF, _CLEAN.format(f"{alias}_human_dat")),
            "sentences.csv": Place(_KAUF, _CLEAN.format(f"{alias}_SentenceSet")),
            "wrong.csv": Place(_KAUF, _WRONG.format(wrong)),
        },
        items=event_items,
        number="pairs whose plausible sentence is rated higher",
        published=_events_published,
        ours=_above,
        differ=differ,
        rebuilt=rebuilt.events(adapt="AAN" if alias == "EventsAdapt" else ""),
    )


def _mega(name: str, part: str, names: tuple[str, ...]) -> PublishedSet:
    folder = f"mega-acceptability-{part}-v1"
    return PublishedSet(
        name=name,
        source=f"MegaAcceptability ({part}), White & Rawlins (2020)",
        of=PEOPLE,
        licence="CC BY 4.0",
        files={"judged.tsv": Place(_MEGA, f"projects/mega-acceptability/{folder}/{folder}.tsv")},
        items=_alone(*names, text="sentence", sep="\t"),
        number="mean rating, the file's own",
        published=_of_column("response", "\t"),
        ours=_mean,
        differ="",
        rebuilt=rebuilt.mega(names),
    )


SINGLE = (
    _events(
        "events_adapt",
        "EventsAdapt, Kauf et al. (2023)",
        "EventsAdapt",
        "EventsAdapt",
        "",
    ),
    _events("events_rev", "EventsRev, Ivanova et al. (2021)", "EventsRev", "DTFit_EventsRev", ""),
    PublishedSet(
        name="grammaticality",
        source="Dentella, Günther & Leivada (2023)",
        of=PEOPLE,
        licence="CC BY-NC-SA 4.0",
        files={
            "judged.csv": Place(
                _101, "guenther2023grammaticality/original_data/LLMgrammaticality_humans.csv"
            )
        },
        items=_grammar_items,
        number="accuracy, the file's own column",
        published=_grammar_published,
        ours=_said,
        differ="",
        rebuilt=rebuilt.grammaticality,
    ),
    _mega("mega_replication", "replication", ("verb", "frame", "sentence")),
    _mega("mega_linking", "linking", ("verb", "frame", "tense", "version")),
    PublishedSet(
        name="novel_compounds",
        source="Hsieh, Marelli & Rastle (2025), Chinese",
        of=PEOPLE,
        licence="CC BY-NC-SA 4.0",
        files={
            "judged.csv": Place(_101, "hsieh2025_rating/original_data/meaningfulness_rating.csv")
        },
        items=_alone("item", text="item"),
        number="mean rating, the file's own",
        published=_of_column("rating"),
        ours=_mean,
        differ="",
        rebuilt=rebuilt.novel_compounds,
    ),
    PublishedSet(
        name="metaphor_familiarity",
        source="Pissani & de Almeida (2026)",
        of=PEOPLE,
        licence="CC BY-NC-SA 4.0",
        files={"judged.csv": Place(_101, "pissani2026_metaphor/original_data/df_fam.csv")},
        items=_alone("item", "context", text="item"),
        number="mean rating, the file's own",
        published=_of_column("rating"),
        ours=_mean,
        differ="",
        rebuilt=rebuilt.metaphors,
    ),
)
