"""Frames drawn where models differ, with known probabilities."""

import random
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from experiment.design.audit.audit import audit
from experiment.design.exchanges import pair_frames
from experiment.design.frames import index_materials
from experiment.design.lists import build_lists
from experiment.design.separating import (
    Inclusion,
    compute_inclusion,
    draw_by_probability,
    find_differences,
    inclusion_probabilities,
)
from experiment.errors import DesignError
from experiment.records import Item, ListEntry
from experiment.tables.model_scores import ModelScores, read_model_scores
from tests.experiment.design.small_studies import (
    MIXED,
    MIXED_ITEMS,
    NUMBERS,
    make_items,
    make_study,
)

ITEMS = list(make_items("pair", {"ITEM": 20}, NUMBERS))
STUDY = make_study([{"templates": ["pair"], "frames": 8}], lists=2, trials_per_list=8, separate="")
FRAMES: dict[str, dict[str, list[Item]]] = {"pair": {}}
for _item in ITEMS:
    FRAMES["pair"].setdefault(_item.frame, []).append(_item)


def scores(model: str, wrong: set[str] = frozenset(), **good: float) -> ModelScores:
    """Scores of a model that prefers the good version but of some items."""
    ids = [item.item_id for item in ITEMS]
    contrast = {item_id: -1.0 if item_id in wrong else -3.0 for item_id in ids}
    return ModelScores(model, Path(f"{model}.parquet"), dict.fromkeys(ids, -2.0) | good, contrast)


def in_table(random_share: float = 0.25) -> list[Inclusion]:
    """Models that disagree on ten of the 20 frames, on both items of five and on one of five."""
    wrong = {f"pair-{n}-singular" for n in range(10)} | {f"pair-{n}-plural" for n in range(5)}
    models = [scores("a"), scores("b", wrong)]
    return compute_inclusion(STUDY, find_differences(STUDY, FRAMES, models), "ab", random_share)


@pytest.mark.parametrize(
    ("differences", "n", "share", "expected"),
    [
        # A quarter of the frames alike: 6 * 1/3 * 1/2 is one, and two are the fewest.
        ([1.0] * 10 + [0.0] * 10, 6, 1 / 3, [0.4] * 10 + [0.2] * 10),
        # Both that differ are certain; the three others come from eight.
        ([1.0, 1.0] + [0.0] * 8, 5, 0.2, [1.0, 1.0] + [3 / 8] * 8),
        # 2 (.5 / 4 + .5 d / 8).
        ([1.0, 1.0, 2.0, 4.0], 2, 0.5, [0.375, 0.375, 0.5, 0.75]),
        # The third would have 1.29: it is certain, and the others share what is left.
        ([1.0, 1.0, 6.0], 2, 0.25, [0.5, 0.5, 1.0]),
        # A template on which the models agree is drawn at random.
        ([0.0] * 4, 3, 0.25, [0.75] * 4),
    ],
)
def test_probabilities_by_hand(
    differences: list[float], n: int, share: float, expected: list[float]
):
    assert inclusion_probabilities(differences, n, share) == pytest.approx(expected)


def test_each_unit_is_drawn_with_its_probability_and_their_number_is_fixed():
    probabilities, n_draws = [0.375, 0.375, 0.5, 0.75, 1.0], 4_000
    rng = random.Random(1)
    draws = [draw_by_probability(probabilities, rng) for _ in range(n_draws)]
    assert {len(set(drawn)) for drawn in draws} == {3}
    counts = Counter(index for drawn in draws for index in drawn)
    for index, p in enumerate(probabilities):
        # Four standard errors.
        assert abs(counts[index] / n_draws - p) <= 4 * (p * (1 - p) / n_draws) ** 0.5


def test_a_frame_counts_the_share_of_its_items_on_which_models_disagree():
    rows = {row.frame: row for row in in_table()}
    assert rows["ITEM=item0"].difference == 1.0
    assert rows["ITEM=item7"].difference == 0.5
    assert (rows["ITEM=item19"].difference, rows["ITEM=item19"].stratum) == (0.0, "agree")
    # 8 * .25 * 10 / 20 is one frame, and two are the fewest; six are drawn of the others, in
    # proportion to .0125 + .75 d / 7.5: .1125 and .0625, together .875.
    assert rows["ITEM=item19"].probability == pytest.approx(0.2)
    assert rows["ITEM=item0"].probability == pytest.approx(6 * 0.1125 / 0.875)
    assert rows["ITEM=item7"].probability == pytest.approx(6 * 0.0625 / 0.875)


def test_scores_differ_in_standard_deviations_if_no_answer_is_right():
    study = STUDY.model_copy(update={"response": "rating"})
    first = [f"pair-0-{number}" for number in NUMBERS]
    nats = {item.item_id: -2.0 if item.item_id in first else 0.0 for item in ITEMS}
    of_one, of_other, inverted = (
        ModelScores(name, Path(name), {item: factor * value for item, value in nats.items()}, {})
        for name, factor in (("a", 1), ("b", 10), ("c", -1))
    )
    with pytest.raises(DesignError, match="a and b never differ on the 40 items of the squares"):
        find_differences(study, FRAMES, [of_one, of_other])
    found = find_differences(study, FRAMES, [of_one, inverted])["pair"]
    # One frame of 20 is -2: the mean is -.1, the variance .19, and the deviation .1 or 1.9.
    assert found["ITEM=item1"] == pytest.approx(2 * 0.1 / 0.19**0.5)
    assert found["ITEM=item0"] == pytest.approx(2 * 1.9 / 0.19**0.5)


def test_sentences_that_are_read_have_scores_of_one_version(tmp_path: Path):
    study = STUDY.model_copy(update={"response": "self_paced"})
    rows = [
        {"item_id": item.item_id, "construction": "pair", "condition": item.condition,
         "contrast": "bad", "variant": "good", "logprob_nats": -float(number // 2),
         "n_tokens": 1, "n_unknown": 0}
        for number, item in enumerate(ITEMS)
    ]  # fmt: skip
    models = []
    for name, of_model in (("a", rows), ("b", rows[::-1])):
        nats = [row["logprob_nats"] for row in of_model]
        path = tmp_path / f"{name}.parquet"
        table = pa.Table.from_pylist(
            [row | {"logprob_nats": value} for row, value in zip(rows, nats, strict=True)]
        )
        # As `parallax lm score` does, which knows all facts only at the end.
        with pq.ParquetWriter(path, table.schema) as writer:
            writer.write_table(table)
            writer.add_key_value_metadata({"model": name})
        models.append(read_model_scores(path))
    assert [scores.model for scores in models] == ["a", "b"]
    found = find_differences(study, FRAMES, models)["pair"]
    # Scores of 0 to -19 and in the opposite order, with a variance of (20^2 - 1) / 12.
    assert found["ITEM=item0"] == pytest.approx(19 / (399 / 12) ** 0.5)
    assert found["ITEM=item9"] == pytest.approx(1 / (399 / 12) ** 0.5)


def test_lists_of_separating_frames_keep_every_promise():
    inclusion = in_table()
    built = build_lists(STUDY, ITEMS, 1, inclusion)
    checks = audit(STUDY, built, ITEMS, order_seeds=0)
    assert all(check.passed for check in checks)
    [row] = [check for check in checks if check.name == "frames drawn of each stratum"]
    assert row.expected == "2 on which the models agree, 6 on which the models differ"
    assert build_lists(STUDY, ITEMS, 1, inclusion) == built


def test_the_audit_names_a_frame_of_the_other_stratum():
    built = build_lists(STUDY, ITEMS, 1, in_table())
    strata = {row.frame: row.stratum for row in built.inclusion}
    shown = {entry.item.frame for entries in built.lists for entry in entries}
    out = next(frame for frame in shown if strata[frame] == "agree")
    in_ = next(frame for frame in strata if strata[frame] == "differ" and frame not in shown)
    exchanged = dict(zip(FRAMES["pair"][out], FRAMES["pair"][in_], strict=True))
    lists = tuple(
        tuple(ListEntry(exchanged.get(entry.item, entry.item), entry.kind) for entry in entries)
        for entries in built.lists
    )
    checks = audit(STUDY, replace(built, lists=lists), ITEMS, order_seeds=0)
    assert [(check.name, check.found) for check in checks if not check.passed] == [
        ("frames drawn of each stratum", "1 of pair agree; 7 of pair differ")
    ]


def test_models_that_separate_nothing_are_refused():
    with pytest.raises(DesignError, match="these are scores of a, which are not several models"):
        find_differences(STUDY, FRAMES, [scores("a")])
    with pytest.raises(DesignError, match="these are scores of a and a, which are not several"):
        find_differences(STUDY, FRAMES, [scores("a"), scores("a", {"pair-0-plural"})])
    with pytest.raises(DesignError, match="a and b never differ on the 40 items of the squares"):
        find_differences(STUDY, FRAMES, [scores("a"), scores("b")])
    without = scores("b")
    fewer = replace(without, good={k: v for k, v in without.good.items() if k != "pair-3-plural"})
    with pytest.raises(
        DesignError,
        match=r"b.parquet: 1 of the 40 items of the squares have no score, the first is pair-3-pl",
    ):
        find_differences(STUDY, FRAMES, [scores("a"), fewer])


def test_frames_that_share_words_are_not_drawn_one_by_one():
    table = [Inclusion("simple", "N=n0 V=v0", 1.0, "differ", 1.0, "a; b")]
    with pytest.raises(
        DesignError,
        match='template "simple": the frames cannot be drawn one by one: they share words of N and '
        "V, each used equally often",
    ):
        build_lists(MIXED, MIXED_ITEMS, 1, table)


GRID = list(make_items("pair", {"N": 6, "V": 6, "P": 4}, NUMBERS))
GRID_STUDY = make_study(
    [{"templates": ["pair"], "frames": 6}], lists=2, trials_per_list=6, separate=""
)
GRID_FRAMES = {item.frame for item in GRID}


def in_pairs(differing: str = "V=v0") -> list[Inclusion]:
    """Models that differ on the frames with these words."""
    pairs = pair_frames(GRID_STUDY.design, index_materials(GRID), 1)
    of_frames = {frame: float(differing in frame) for frame in GRID_FRAMES}
    return compute_inclusion(GRID_STUDY, {"pair": of_frames}, "ab", 0.2, pairs)


def test_the_exchanges_of_a_pair_use_the_same_words_and_no_frame_is_in_two():
    pairs = pair_frames(GRID_STUDY.design, index_materials(GRID), 1)["pair"]
    frames = [frame for pair in pairs for exchange in pair for frame in exchange]
    assert len(pairs) == 3
    assert len(set(frames)) == len(frames)
    assert set(frames) <= GRID_FRAMES
    for pair in pairs:
        words = [sorted(f"{first} {second}".split()) for first, second in pair]
        assert all(of_exchange == words[0] for of_exchange in words)
        # Six words of two slots are each used once; two frames may share the word of the third.
        assert len(pair) == (4 if len(set(words[0])) == 6 else 2)


def test_an_exchange_is_drawn_at_random_or_by_its_difference():
    rows = in_pairs("N=n0 V=v0")
    by_pair: dict[int | None, list[float]] = {}
    for row in rows:
        by_pair.setdefault(row.pair, []).append(row.probability)
    for pair, probabilities in by_pair.items():
        n = len(probabilities) / 2
        differing = sum(row.difference for row in rows if row.pair == pair)
        # The word v0 is with n0 in half of one pair's exchanges, or in none.
        expected = [0.2 / n, 0.2 / n + 0.8 / (n / 2)] if differing else [1 / n]
        assert sorted(set(probabilities)) == pytest.approx(expected)
        assert sum(probabilities) == pytest.approx(2)


def test_lists_of_exchanged_words_keep_every_promise():
    inclusion = in_pairs()
    built = build_lists(GRID_STUDY, GRID, 1, inclusion)
    checks = audit(GRID_STUDY, built, GRID, order_seeds=0)
    assert all(check.passed for check in checks)
    [row] = [check for check in checks if check.name == "frames drawn of each stratum"]
    assert row.expected == "6 in pairs"
    shown = {entry.item.frame for entries in built.lists for entry in entries}
    pair = next(row for row in inclusion if row.frame in shown and row.exchange == 0)
    other = next(row for row in inclusion if row.pair == pair.pair and row.exchange == 1)
    cells = {(item.frame, item.condition): item for item in GRID}
    lists = tuple(
        tuple(
            ListEntry(cells[other.frame, entry.item.condition], entry.kind)
            if entry.item.frame == pair.frame
            else entry
            for entry in entries
        )
        for entries in built.lists
    )
    checks = audit(GRID_STUDY, replace(built, lists=lists), GRID, order_seeds=0)
    assert ("exchanges of words drawn for a pair of frames", f"pair pair {pair.pair}") in [
        (check.name, check.found) for check in checks if not check.passed
    ]


def test_joint_choices_that_are_allowed_once_are_in_one_pair():
    templates = ["pair", "other"]
    study = make_study(
        [{"templates": [template], "frames": 6} for template in templates],
        lists=2,
        trials_per_list=12,
        separate="",
        disjoint=[{"templates": templates, "slots": ["N", "P"]}],
    )
    items = [*GRID, *make_items("other", {"N": 6, "V": 6, "P": 4}, NUMBERS)]
    owners: dict[tuple[str, str], set[tuple[str, int]]] = {}
    for template, pairs in pair_frames(study.design, index_materials(items), 1).items():
        assert sum(len(exchanges) for exchanges in pairs) > len(pairs)
        for number, exchanges in enumerate(pairs):
            for frame in (frame for exchange in exchanges for frame in exchange):
                noun, _, place = frame.split()
                owners.setdefault((noun, place), set()).add((template, number))
    assert {len(pairs) for pairs in owners.values()} == {1}


def test_frames_that_cannot_exchange_words_are_refused():
    items = list(make_items("pair", {"N": ["same"], "V": 6}, NUMBERS))
    index = index_materials(items)
    of_frames = {"pair": {item.frame: 1.0 for item in items}}
    pairs = pair_frames(GRID_STUDY.design, index, 1)
    with pytest.raises(
        DesignError, match="no frames can be drawn by probability: they share words or"
    ):
        compute_inclusion(GRID_STUDY, of_frames, "ab", 0.25, pairs)


def test_a_table_of_other_frames_or_of_another_number_is_refused():
    rows = in_table()
    with pytest.raises(
        DesignError, match=r'1 frames are in the materials or in the table .* "ITEM=item4"'
    ):
        build_lists(STUDY, ITEMS, 1, [row for row in rows if row.frame != "ITEM=item4"])
    larger = make_study(
        [{"templates": ["pair"], "frames": 10}], lists=2, trials_per_list=10, separate=""
    )
    with pytest.raises(
        DesignError, match="the inclusion probabilities sum to 8, but 10 frames are drawn"
    ):
        build_lists(larger, ITEMS, 1, rows)


def test_a_missing_table_is_named():
    design = STUDY.design.model_copy(update={"inclusion": "inclusion.csv"})
    with pytest.raises(
        DesignError, match=r'the table "inclusion.csv" of inclusion probabilities is missing'
    ):
        build_lists(STUDY.model_copy(update={"design": design}), ITEMS, 1)
