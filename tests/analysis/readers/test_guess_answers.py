"""Ratings, and yes or no, are known by what their columns hold; what cannot be known is asked."""

import random

import pandas as pd
import pytest
from click.testing import CliRunner

from analysis.commands.import_judgments import judgments
from analysis.errors import AnalysisError
from experiment.errors import MaterialsError

PEOPLE, ITEMS = 10, 8


def sentence(n, good):
    return f"The cat {n} {'sleeps' if good else 'sleep'} well."


def rows(kind, *, seed=1):
    """Each person answers half of the items in the good version, the others in the bad one."""
    rng = random.Random(seed)
    for p in range(PEOPLE):
        for place, n in enumerate(rng.sample(range(ITEMS), ITEMS), start=1):
            good = (p + n) % 2 == 0
            right = rng.random() < 0.85
            point = rng.choice((5, 6, 7)) if good == right else rng.choice((1, 2, 3))
            answer = point if kind == "rating" else ["no", "yes"][good == right]
            yield {
                "subj": p + 1, "age": 20 + p, "order": place, "number": n + 1,
                "sentence": sentence(n, good), "condition": "un" * (not good) + "grammatical",
                "expected": "yes" if good else "no", "length": 5, "judgment": answer,
                "correct": int(right), "rt": rng.randint(700, 3000),
                "confidence": rng.randint(1, 5),
            }  # fmt: skip


@pytest.fixture
def imported(tmp_path):
    lines = ["item_id,construction,condition,good,bad"]
    lines += [f"{n + 1},agr,c,{sentence(n, True)},{sentence(n, False)}" for n in range(ITEMS)]
    (tmp_path / "items.csv").write_text("\n".join(lines) + "\n")

    def run(table, *more, before="", answer="y\n"):
        text = before + pd.DataFrame(table).to_csv(index=False)
        (tmp_path / "answers.csv").write_text(text)
        given = [tmp_path / "answers.csv", "--items", tmp_path / "items.csv", "--out"]
        return CliRunner().invoke(
            judgments, [*map(str, given), str(tmp_path / "out"), *more], input=answer,
            catch_exceptions=False,
        )  # fmt: skip

    return run


def without(table, *names):
    return [{name: value for name, value in row.items() if name not in names} for row in table]


@pytest.mark.parametrize("kind", ["rating", "yes"])
@pytest.mark.parametrize(
    "left_out", [("condition",), ("sentence",), ("number", "condition"), ("age", "order", "length")]
)
def test_answers_are_found_by_what_the_columns_hold(imported, tmp_path, kind, left_out):
    table = without(list(rows(kind)), "expected", "correct", "confidence", *left_out)
    if "sentence" in left_out:
        table = [{"item": row.pop("number")} | row for row in table]
    done = imported(table)
    assert "Write these judgments?" in done.output
    assert done.exit_code == 0, done.output
    ours = pd.read_csv(tmp_path / "out" / "judgments.csv")
    column = "rating" if kind == "rating" else "said_yes"
    assert len(ours) == PEOPLE * ITEMS == len(ours[column].dropna())
    theirs = pd.DataFrame(table)
    wanted = theirs["judgment"] if kind == "rating" else theirs["judgment"] == "yes"
    assert (ours[column].to_numpy() == wanted.to_numpy()).all()
    good = [row["condition"] == "grammatical" for row in rows(kind)]
    assert ((ours["version"] == "good").to_numpy() == good).all()
    assert ours["participant"].nunique() == PEOPLE


def test_the_guess_is_a_mapping_file_that_a_colleague_runs_again(imported, tmp_path):
    first = imported(without(list(rows("rating")), "confidence"), before="# exported\n# by us\n")
    assert first.exit_code == 0, first.output
    out, again = tmp_path / "out", tmp_path / "again"
    given = [tmp_path / "answers.csv", "--items", tmp_path / "items.csv", "--out", again]
    done = CliRunner().invoke(judgments, [*map(str, given), "--mapping", str(out / "mapping.toml")])
    assert done.exit_code == 0, done.output
    assert (again / "judgments.csv").read_bytes() == (out / "judgments.csv").read_bytes()


def test_yes_and_no_beside_whether_that_was_right_are_no_choices(imported, tmp_path):
    done = imported(list(rows("yes")))
    assert done.exit_code == 0, done.output
    assert 'said_yes" = "judgment"' in done.output
    assert "yes was said to" in done.output


def test_numbers_that_may_be_items_or_places_are_not_decided_by_the_program(imported):
    table = without(list(rows("rating")), "confidence", "sentence")
    with pytest.raises(AnalysisError, match="lacks a column that holds the items' ids"):
        imported(table)


def test_two_columns_of_answers_are_not_decided_by_the_program(imported, tmp_path):
    table = [row | {"score": row["confidence"]} for row in rows("rating")]
    with pytest.raises(
        AnalysisError, match=r'one column of answers \(there are "judgment", "score"'
    ):
        imported(without(table, "confidence"))
    assert not (tmp_path / "out").exists()


def test_whoever_does_not_agree_gets_nothing_written(imported, tmp_path):
    assert imported(without(list(rows("rating")), "confidence"), answer="n\n").exit_code == 1
    assert not (tmp_path / "out").exists()


def test_choices_with_a_confidence_beside_them_stay_choices(imported, tmp_path):
    rng = random.Random(3)
    table = []
    for p in range(PEOPLE):
        for n in range(ITEMS):
            shown = [sentence(n, True), sentence(n, False)]
            picked = shown[rng.random() > 0.9]
            rng.shuffle(shown)
            table.append({"subj": f"s{p}", "left": shown[0], "right": shown[1],
                          "judgment": picked, "confidence": rng.randint(1, 5)})  # fmt: skip
    done = imported(table, before="% by hand\n")
    assert done.exit_code == 0, done.output
    ours = pd.read_csv(tmp_path / "out" / "judgments.csv")
    texts = {sentence(n, True) for n in range(ITEMS)}
    good = [row["judgment"] in texts for row in table]
    assert ((ours["chosen"] == "good").to_numpy() == good).all()


def test_the_same_answers_as_words_and_as_numbers_are_one_column(imported, tmp_path):
    table = without(list(rows("yes")), "correct", "expected", "confidence")
    table = [row | {"n_judgment": int(row["judgment"] == "yes")} for row in table]
    table[0]["n_judgment"] = ""
    assert imported(table).exit_code == 0
    said = pd.read_csv(tmp_path / "out" / "judgments.csv")["said_yes"]
    assert list(said) == [row["judgment"] == "yes" for row in table]


SENTENCES = "item_id,sentence\n" + "".join(f"{n},The cat {n} sleeps.\n" for n in range(10, 18))


@pytest.fixture
def alone(imported, tmp_path):
    (tmp_path / "items.csv").write_text(SENTENCES)
    return imported


def test_a_property_of_sentences_that_were_judged_once_is_no_answer(alone):
    table = [
        {"sentence": f"The cat {n} sleeps.", "translated": n % 2, "from": "defr"[n % 4 // 2 :][:2],
         "ratings": "4,3,4", "mean rating": f"3.{n}"}
        for n in range(10, 18)
    ]  # fmt: skip
    with pytest.raises(
        AnalysisError, match=r'holds the answers; "mean rating" goes from 3\.1 to 3\.17: means'
    ):
        alone(table)


def test_a_number_called_version_is_no_version(alone, tmp_path):
    table = [
        {"who": f"w{p}", "sentence": f"The cat {n} sleeps.", "version": n % 2 + 1,
         "response": (p + n) % 5 + 1}
        for p in range(4) for n in range(10, 18)
    ]  # fmt: skip
    done = alone(table)
    assert done.exit_code == 0, done.output
    ratings = pd.read_csv(tmp_path / "out" / "judgments.csv")["rating"]
    assert list(ratings) == [row["response"] for row in table]


def test_an_empty_sentence_among_single_ones_is_named(imported, tmp_path):
    (tmp_path / "items.csv").write_text(SENTENCES + "18,\n")
    with pytest.raises(MaterialsError, match="the good sentence is empty in line 10"):
        imported([{"item": 10, "response": 1}])


def test_where_sentences_are_shown_alone_their_text_is_no_choice(imported, tmp_path):
    numbered = [f"s{n},The cat {n} sleeps." for n in range(10, 18)]
    (tmp_path / "items.csv").write_text("\n".join(["item_id,sentence", *numbered]) + "\n")
    table = [
        {"subject": p, "item_id": f"s{n}", "text": f"The cat {n} sleeps.",
         "response": "Female" if n < 12 else p + 1}
        for p in range(4) for n in range(10, 18)
    ]  # fmt: skip
    with pytest.raises(AnalysisError, match="lacks a column that holds the answers"):
        imported(table)


def test_ratings_of_people_who_answered_once_are_found(alone, tmp_path):
    table = [
        {"who": f"w{n}{p}", "sentence": f"The cat {n} sleeps.", "rating": (p + n) % 5 + 1}
        for p in range(4) for n in range(10, 18)
    ]  # fmt: skip
    assert alone(table).exit_code == 0
    ratings = pd.read_csv(tmp_path / "out" / "judgments.csv")["rating"]
    assert list(ratings) == [row["rating"] for row in table]


def test_a_column_of_ids_that_nothing_names_is_asked_for(imported, tmp_path):
    # Whoever answers once repeats nothing, so that only the ids say that they are people.
    ids = [f"1510574143_{n:032x}" for n in range(PEOPLE * ITEMS)]
    table = without(list(rows("rating")), "subj", "age", "order", "confidence", "number")
    once = [{"seen": person, **row} for person, row in zip(ids, table, strict=True)]
    with pytest.raises(AnalysisError, match='"seen" looks like participants'):
        imported(once)
    done = imported([{"participant": row.pop("seen"), **row} for row in once])
    assert "Participants: 80" in done.output, done.output


def test_people_who_judged_an_item_twice_are_asked_for(imported):
    table = [row | {"seen": f"p{row['subj']}"} for row in rows("rating")]
    table = without(table, "subj", "age", "order", "confidence", "number")
    with pytest.raises(AnalysisError, match='"seen" looks like participants'):
        imported([*table, table[0] | {"rt": 999}])


def test_a_column_of_texts_that_is_there_twice_says_nothing_more(imported):
    table = [row | {"shown": row["sentence"]} for row in without(rows("rating"), "confidence")]
    done = imported(table)
    assert "80 judgments" in done.output, done.output


def test_an_unnamed_column_holds_answers_if_it_differs_between_sentences(alone, tmp_path):
    # Every sentence came once in each block, and is rated 1 to 4 by its number, or a point more.
    table = [
        {"who": f"w{p}", "sentence": f"The cat {n} sleeps.", "block": (p + n) % 4 + 1,
         "column_7": n % 4 + 1 + (p == 0)}
        for p in range(4) for n in range(10, 18)
    ]  # fmt: skip
    assert alone(table).exit_code == 0
    ratings = pd.read_csv(tmp_path / "out" / "judgments.csv")["rating"]
    assert list(ratings) == [row["column_7"] for row in table]
    with pytest.raises(AnalysisError, match="lacks a column that holds the answers"):
        alone(without(table, "column_7"))


def test_participants_without_a_name_who_answered_once_are_asked_for(alone, tmp_path):
    table = [
        {"column_7": 100 + n + p, "sentence": f"The cat {n} sleeps.", "rating": (p + n) % 5 + 1}
        for p in range(0, 40, 10) for n in range(10, 18)
    ]  # fmt: skip
    with pytest.raises(AnalysisError, match="no column says who judged"):
        alone(table)
    done = alone(table, "--unknown-participants")
    assert "32 judgments of unknown participants" in done.output
    assert "participant" not in pd.read_csv(tmp_path / "out" / "judgments.csv")


def test_numbers_of_trials_are_no_participants(alone):
    # Two different sentences came at each place, as if its number were a person's.
    table = [
        {"place": n - 9, "sentence": f"The cat {10 + (n + 3 * p) % 8} sleeps.", "rating": n % 5 + 1}
        for p in range(2) for n in range(10, 18)
    ]  # fmt: skip
    with pytest.raises(AnalysisError, match='"place" looks like participants'):
        alone(table)
    named = [{"seen": index // 8, **row} for index, row in enumerate(table)]
    assert 'participant" = "seen"' in alone(named).output


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ("stability", 'the meaning of the answers in "response": "c", "n"'),
        ("ErrorCode", "lacks a column that holds the answers"),
    ],
)
def test_a_column_of_0_and_1_is_no_answer_where_the_answers_are_coded(imported, other, message):
    table = [
        {"subj": row["subj"], "sentence": row["sentence"], other: row["correct"],
         "response": "cn"[row["judgment"] == "no"]}
        for row in rows("yes")
    ]  # fmt: skip
    with pytest.raises(AnalysisError, match=message):
        imported(table)
