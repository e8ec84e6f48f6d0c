"""Rebuilt files of ratings, and of yes or no: the published headers, sentences of our own."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pandas as pd

from benchmarks.published_sets.rebuilt import (
    ITEMS_SHOWN,
    PEOPLE_ASKED,
    RIGHT,
    Writer,
    pairs,
    random,
)

_SEVEN = 7


def sentences_of(adapt: str) -> pd.DataFrame:
    rows = [
        {"ItemNum": n, "Sentence": text, "Plausibility": kind, "Voice": "active"}
        | ({"TrialType": adapt} if adapt else {})
        for n, pair in enumerate(pairs())
        for kind, text in zip(("Plausible", "Implausible"), pair, strict=True)
    ]
    return pd.DataFrame(rows)


def events(adapt: str) -> Writer:
    def write(folder: Path) -> None:
        rng, sentences = random(), sentences_of(adapt)
        sentences.to_csv(folder / "sentences.csv", index=False)
        rows = sentences.merge(
            pd.DataFrame({"WorkerId": [f"A{n}" for n in range(PEOPLE_ASKED)]}), "cross"
        )
        good = rows["Plausibility"] == "Plausible"
        # The first pair is rated the other way round.
        higher = good ^ (rows["ItemNum"] == 0)
        rows["Score"] = rng.integers(1, 4, len(rows)) + 4 * higher
        lost = rows.iloc[[0]].assign(WorkerId="A99", Score="NA")
        if not adapt:
            rows = pd.concat([rows, lost])
        else:
            other = rows[rows["ItemNum"] == 1].assign(TrialType="AI")
            rows = pd.concat([rows, other, lost, rows[good].assign(Voice="passive")])
        rows.to_csv(folder / "judged.csv", index=False)
        wrong = sentences[(sentences["ItemNum"] == 0) & (sentences["Plausibility"] == "Plausible")]
        pd.DataFrame({"Plausible": wrong["Sentence"]}).to_csv(folder / "wrong.csv", index=False)

    return write


def grammaticality(folder: Path) -> None:
    rng, rows = random(), []
    for person in range(PEOPLE_ASKED):
        for phenomenon, shown in (
            ("Anaphora", pairs()),
            ("attention check", [("Red.", "Der.")]),
        ):
            for kind, place in (("grammatical", 0), ("ungrammatical", 1)):
                for repetition in (1, 2):
                    for pair in shown:
                        right = rng.random() < RIGHT
                        said = "c" if right == (place == 0) else "n"
                        rows.append(
                            {
                                "participant_id": person, "rt": round(rng.uniform(900, 4000), 3),
                                "sentence": pair[place], "phenomenon": phenomenon,
                                "condition": kind, "response": said, "accuracy": int(right),
                                "repetition": repetition,
                            }
                        )  # fmt: skip
    pd.DataFrame(rows).to_csv(folder / "judged.csv", index=False)


def _rated(columns: dict[str, Callable[[int], object]], rating: str) -> pd.DataFrame:
    rng = random()
    return pd.DataFrame(
        [
            {name: value(n) for name, value in columns.items()}
            | {rating: int(rng.integers(1, _SEVEN + 1)), "who": person}
            for person in range(PEOPLE_ASKED)
            for n in range(ITEMS_SHOWN)
        ]
    )


def mega(names: Sequence[str]) -> Writer:
    def write(folder: Path) -> None:
        columns = {name: lambda n, name=name: f"{name} {n}" for name in names}
        rows = _rated(columns | {"sentence": lambda n: ""}, "response")
        rows = rows.rename(columns={"who": "participant"})
        rows["sentence"] = rows["verb"].str.replace("verb", "Author") + " thought so."
        rows.to_csv(folder / "judged.tsv", sep="\t", index=False)

    return write


def novel_compounds(folder: Path) -> None:
    rows = _rated({"item": lambda n: "木水火土金山石田日月"[n] + "人"}, "rating")
    rows.rename(columns={"who": "participant"}).to_csv(folder / "judged.csv", index_label="num")


def metaphors(folder: Path) -> None:
    rows = _rated({"item": lambda n: f"acid_{n // 2}", "context": lambda n: n % 2}, "rating")
    rows.rename(columns={"who": "workerid"}).to_csv(folder / "judged.csv", index=False)


def events_gpt2(folder: Path) -> None:
    sentences = sentences_of("")
    sentences.to_csv(folder / "sentences.csv", index=False)
    scores = random().uniform(-60, -20, len(sentences))
    lines = zip(sentences["Sentence"], scores, strict=True)
    text = "".join(f"{n}\t{one}\t{score}\t4\t3\n" for n, (one, score) in enumerate(lines))
    (folder / "raw.txt").write_text(text, "utf-8")
    norms = sentences.assign(Metric="GPT-2-xl.sentence-LL", NormScore=scores + 60)
    norms.to_csv(folder / "norms.csv", index=False)
