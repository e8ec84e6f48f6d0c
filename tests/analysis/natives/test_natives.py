"""Native speakers' page and verdicts; agreement and approvals are worked out by hand."""

import csv
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from analysis.errors import AnalysisError
from analysis.natives.command import natives
from analysis.natives.page import choose_items, list_sentences, write_page
from analysis.natives.verdicts import approve, compare_natives, read_verdicts
from experiment.materials.item_rows import item_table
from experiment.materials.read import read_items
from experiment.materials.render import render
from experiment.records import Item, Kind
from experiment.seeds import generator
from experiment.tables.files import write_table

RENDERING = render("sentence_case")
PAIRS = {"a1": ("ich schlafe", "ich schläft"), "a2": ("du schläfst", "du schlafe"),
         "a3": ("er schläft", "er schlafe")}  # fmt: skip
ITEMS = [
    Item(name, Kind.TARGET, "agreement", f"person {name[1]}", "a", "", f"S={name}", "", *pair)
    for name, pair in PAIRS.items()
]
SENTENCES = {RENDERING(text) for pair in PAIRS.values() for text in pair}
RIGHT = [RENDERING(good) for good, _ in PAIRS.values()]


def verdicts_of(path: Path, reviewer: str, *other_than_planned: str) -> Path:
    """Write a table in which all verdicts are as planned, except those on some sentences."""
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["sentence", "verdict", "better", "reviewer"])
        for text in sorted(SENTENCES):
            is_right = (text in RIGHT) != (text in other_than_planned)
            better = "Er schlafe!" if not is_right and text in RIGHT else ""
            writer.writerow([text, "right" if is_right else "wrong", better, reviewer])
    return path


def test_the_page_has_each_sentence_once_in_random_order_and_no_mark_of_the_expected_one():
    sentences = list_sentences([*ITEMS, ITEMS[0]], RENDERING, generator(1, "order"))
    texts = [sentence.text for sentence in sentences]
    assert sorted(texts) == sorted(SENTENCES) and texts != [
        RENDERING(t) for p in PAIRS.values() for t in p
    ]
    assert {sentence.source for sentence in sentences} == {"a"}
    page = write_page(sentences, "de-AT")
    assert 'lang="de-AT" dir="ltr"' in page and "Klingt das richtig?" in page
    assert all(page.count(f">{text}</legend>") == 1 for text in SENTENCES)


def test_words_are_english_in_other_languages_and_hebrew_runs_from_right_to_left():
    sentences = list_sentences(ITEMS, RENDERING, generator(1, "order"))
    assert "Does this sound right?" in write_page(sentences, "tr")
    assert '<html lang="he" dir="rtl">' in write_page(sentences, "he")
    # Sentences have the direction of their own letters, in whatever language.
    urdu = write_page(sentences, "ur")
    assert '<html lang="en" dir="ltr">' in urdu and '<legend lang="ur" dir="auto">' in urdu


def test_some_frames_of_a_template_are_drawn_with_all_their_conditions():
    both = [*ITEMS, *(replace(item, item_id=f"b{item.item_id}", condition="x") for item in ITEMS)]
    chosen = choose_items(both, 2, generator(1, "choice"))
    assert len(chosen) == 4 and len({item.frame for item in chosen}) == 2
    assert choose_items(both, None, generator(1, "choice")) == both


def test_agreement_is_cohens_kappa(tmp_path: Path):
    first = read_verdicts(verdicts_of(tmp_path / "a.csv", "AB"), SENTENCES)
    second = read_verdicts(verdicts_of(tmp_path / "b.csv", "CD", "Er schläft."), SENTENCES)
    [pair] = compare_natives([first, second])
    # 5 of 6 equal; by chance (3 x 2 + 3 x 4) / 36 = .5.
    assert (pair.names, pair.n_sentences) == (("AB", "CD"), 6)
    assert pair.share == pytest.approx(5 / 6) and pair.kappa == pytest.approx((5 / 6 - 0.5) / 0.5)


def test_only_what_everyone_approves_goes_out_with_reasons_for_the_rest(tmp_path: Path):
    judges = [
        read_verdicts(verdicts_of(tmp_path / "a.csv", "AB", "Du schlafe."), SENTENCES),
        read_verdicts(
            verdicts_of(tmp_path / "b.csv", "CD", "Er schläft.", "Du schlafe."), SENTENCES
        ),
    ]
    unseen = replace(ITEMS[0], item_id="a9", good="wir schlafen", bad="wir schläft")
    approved, findings = approve([*ITEMS, unseen], judges, RENDERING)
    assert [item.item_id for item in approved] == ["a1"]
    assert findings[["item_id", "version", "reason", "better"]].to_numpy().tolist() == [
        ["a2", "bad", "judged right", ""],
        ["a3", "good", "disagreement", "Er schlafe!"],
    ]


def test_the_commands_lead_from_items_to_approved_items(tmp_path: Path):
    items = tmp_path / "items.csv"
    write_table(*item_table(ITEMS), items)
    tables = [
        str(verdicts_of(tmp_path / f"{name}.csv", name, *other))
        for name, other in (("AB", ()), ("CD", ("Er schläft.",)))
    ]
    page, out = tmp_path / "page.html", tmp_path / "approved.csv"
    call = ["page", str(items), "--language", "tr", "--out", str(page)]
    made = CliRunner().invoke(natives, call, catch_exceptions=False)
    assert "6 sentences of 3 items" in made.output and "has none in tr" in made.output
    call = ["approve", str(items), *tables, "--out", str(out)]
    done = CliRunner().invoke(natives, call, catch_exceptions=False)
    assert "AB and CD: 83.3% equal verdicts on 6 sentences, kappa 0.67" in done.output
    assert [item.item_id for item in read_items(out)] == ["a1", "a2"]
    assert "a3,good,Er schläft.,disagreement" in (tmp_path / "approved.findings.csv").read_text()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("Ich schlafe.,maybe,,AB", 'the verdict "maybe" is neither "right" nor "wrong"'),
        ("Sie schlafen.,right,,AB", 'do not have the sentence "Sie schlafen."'),
        ("Ich schlafe.,right,,AB\nIch schlafe.,wrong,,AB", "has two verdicts"),
    ],
)
def test_tables_that_do_not_fit_are_refused(tmp_path: Path, line: str, message: str):
    table = tmp_path / "table.csv"
    table.write_text(f"sentence,verdict,better,reviewer\n{line}\n", "utf-8")
    with pytest.raises(AnalysisError, match=message):
        read_verdicts(table, SENTENCES)


def test_a_table_that_is_not_there_is_named(tmp_path: Path):
    with pytest.raises(AnalysisError, match="there is no table of verdicts"):
        read_verdicts(tmp_path / "anna.csv", SENTENCES)


def test_a_table_without_verdicts_and_items_that_nobody_approves_are_refused(tmp_path: Path):
    table, items = tmp_path / "table.csv", tmp_path / "items.csv"
    table.write_text("sentence,better\nIch schlafe.,\n", "utf-8")
    with pytest.raises(AnalysisError, match='the column "verdict" is missing'):
        read_verdicts(table, SENTENCES)
    write_table(*item_table(ITEMS), items)
    tables = [str(verdicts_of(tmp_path / f"{name}.csv", name, *RIGHT)) for name in ("AB", "CD")]
    call = ["approve", str(items), *tables, "--out", str(tmp_path / "approved.csv")]
    with pytest.raises(AnalysisError, match="no item is approved by everyone"):
        CliRunner().invoke(natives, call, catch_exceptions=False)
    assert not (tmp_path / "approved.csv").exists()


def test_one_native_speaker_or_one_twice_is_refused(tmp_path: Path):
    items, out = tmp_path / "items.csv", str(tmp_path / "approved.csv")
    write_table(*item_table(ITEMS), items)
    table = str(verdicts_of(tmp_path / "a.csv", "AB"))
    for tables, message in (([table], "1 table is given"), ([table, table], 'tables are of "AB"')):
        call = ["approve", str(items), *tables, "--out", out]
        with pytest.raises(AnalysisError, match=message):
            CliRunner().invoke(natives, call, catch_exceptions=False)
