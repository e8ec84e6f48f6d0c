"""Comparisons of numbers of entries: counted by hand, with intervals by scipy's paired t-test."""

from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ttest_rel

from analysis.findings import entries
from analysis.findings.comparison_words import comparison_sentences
from analysis.findings.comparisons import answered
from analysis.findings.entries import ENTRY_EFFECTS, EntriesOfCategory
from analysis.findings.finding import FindingInputs
from experiment.coding.categories import Coding
from experiment.studies.analysis_plan import Comparison
from tests.analysis.findings.hand_made_runs import frame_of, given_of

# How many different entries each of twelve people lists for every text of a condition: 12.5 and 10
# on average.
LIVING = [9, 12, 14, 10, 15, 13, 11, 16, 12, 14, 13, 11]
MADE = [8, 10, 9, 10, 12, 10, 9, 13, 9, 12, 11, 7]
FRAMES = 6
CODING = Coding.model_validate(
    {"question": "?", "categories": [{"name": n, "title": n} for n in ("valid", "other")]}
)


def lists_of(living: list[int], made: list[int]) -> FindingInputs:
    """Everybody's lists for six texts of each condition, declared to be compared."""
    numbers = {"living": living, "made": made}
    rows = [
        {
            "participant": f"p{person}", "position": place + 1, "list": 0, "kind": "target",
            "item_id": f"{condition}{frame}", "construction": "lists", "condition": condition,
            "frame": f"{condition}{frame}", "version": "good", "chose_good": None,
            # Everybody repeats one entry of each list of living things.
            "different_entries": n, "entries": n + (condition == "living"),
        }
        for person in range(len(living))
        for place, (condition, frame) in enumerate(product(numbers, range(FRAMES)))
        for n in [numbers[condition][person]]
    ]  # fmt: skip
    given = given_of(pd.DataFrame(rows), conditions=("living", "made"))
    declared = [
        Comparison(name="kinds", compare="condition: living - made", smallest_effect=1),
        Comparison(name="all", compare="condition: living - made", of="entries"),
        Comparison(name="valid", compare="condition: living - made", of="number of valid"),
    ]
    trial = given.run.study.trial.model_copy(update={"parameters": {}})
    study = given.run.study.model_copy(
        update={"comparisons": declared, "response": "fluency", "trial": trial, "coding": CODING}
    )
    texts = {"template": "", "context": "", "good": "Name them.", "bad": "", "distractor": ""}
    items = given.run.items.assign(**texts, contrast="bad")
    return replace(given, run=replace(given.run, study=study, items=items))


@pytest.fixture
def codes(monkeypatch):
    """Let a study have these frozen codes."""

    def has(rows: pd.DataFrame) -> None:
        monkeypatch.setattr(entries, "read_codes", lambda run: rows)

    has(pd.DataFrame(columns=["participant", "position", "gap", "answer", "code"]))
    return has


def test_a_difference_of_numbers_of_entries_is_that_of_means_with_the_interval_of_a_t_test(codes):
    rows, unanswered = answered(lists_of(LIVING, MADE))
    kinds, of_all, valid = rows.to_dict("records")
    # Texts of a condition do not differ, so that only people vary. A t-test over people is nearly
    # the same: it does not subtract what single answers contribute.
    by_people = ttest_rel(LIVING, MADE)
    low, high = by_people.confidence_interval(1 - 0.05 / 3)
    assert kinds["measure"] == "different_entries" and unanswered == ()
    assert (kinds["first"], kinds["second"]) == pytest.approx((12.5, 10))
    assert kinds["estimate"] == pytest.approx(2.5)
    assert kinds["high"] - kinds["low"] == pytest.approx(high - low, rel=0.03)
    assert kinds["p"] == pytest.approx(by_people.pvalue, rel=0.1)
    # Repetitions count among all entries only.
    assert (of_all["estimate"], of_all["first"]) == pytest.approx((3.5, 13.5))
    assert pd.isna(valid["low"])
    first, *_ = comparison_sentences({"comparisons": rows})
    assert first.startswith(
        "kinds: the number of different entries is higher for living than for made, means 12.50 vs "
        "10.00: +2.50 entries (Bonferroni-adjusted 95% interval "
    )
    assert first.endswith("It is larger than 1.00 entries (the smallest effect of interest).")


def test_the_effects_of_the_design_have_the_same_difference_and_the_means_of_its_cells():
    findings = ENTRY_EFFECTS.run(lists_of(LIVING, MADE))
    [row] = frame_of(findings, "entry_effects").to_dict("records")
    assert (row["contrast"], row["estimate"]) == ("living - made", pytest.approx(2.5))
    assert row["n_observations"] == 12 * 2 * FRAMES


def test_lists_whose_entries_all_have_a_code_count_by_category(codes):
    given = lists_of([2, 2], [1, 0])
    lists = given.data.judgments
    # Of each list that has three entries, the first two are "valid", and the second repeats the
    # first; the last list of the second person has an entry without a code.
    rows = [
        {
            "participant": row["participant"], "position": row["position"], "gap": gap,
            "answer": row["position"] * 10 + max(gap, 2), "code": "other" if gap == 3 else "valid",
        }
        for row in lists.to_dict("records")
        for gap in range(1, row["entries"] + 1)
    ]  # fmt: skip
    living_of_last = (lists["participant"] == "p1") & (lists["item_id"] == "living5")
    position = lists.loc[living_of_last, "position"].item()
    codes(
        pd.DataFrame(
            row
            for row in rows
            if (row["participant"], row["position"], row["gap"]) != ("p1", position, 1)
        )
    )
    valid, other = (EntriesOfCategory(name).answers(given) for name in CODING.names)
    assert not valid["item_id"][valid["participant"] == "p1"].isin(["living5"]).any()
    assert len(valid) == 2 * 2 * FRAMES - 1
    counts = valid.groupby(["participant", "condition"])["entries_of_category"].agg(["min", "max"])
    # A list without any entry has none of the category, and needs no code.
    assert counts.to_numpy().tolist() == [[1, 1], [1, 1], [1, 1], [0, 0]]
    assert np.unique(other["entries_of_category"]).tolist() == [0, 1]
