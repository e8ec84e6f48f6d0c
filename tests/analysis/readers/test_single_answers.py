"""Ratings, and yes or no, from other people's files: imported by a mapping and compared."""

import random

import pandas as pd
import pytest
from click.testing import CliRunner

from analysis.commands.import_judgments import judgments
from analysis.compare import command as compare
from analysis.errors import AnalysisError

PEOPLE, ITEMS = 12, 8


def items(folder, *, alone=False):
    rows = ["item_id,construction,condition,good,bad"]
    rows = ["item_id,construction,condition,sentence"] if alone else rows
    for n in range(ITEMS):
        good, bad = f"The cat {n} sleeps well.", f"The cat {n} sleep well."
        last = bad if n % 2 else good
        rows.append(f"i{n},agreement,c{n % 2},{last if alone else f'{good},{bad}'}")
    (folder / "items.csv").write_text("\n".join(rows) + "\n")
    return folder / "items.csv"


def rated(folder, column="acceptability", value=str):
    """Each person rates half of the items in the good version, the others in the bad one."""
    rng = random.Random(1)
    rows = [f"subject,sentence,{column},rt_seconds"]
    for p in range(PEOPLE):
        for n in range(ITEMS):
            good = (p + n) % 2 == 0
            text = f"The cat {n} sleep{'s' if good else ''} well."
            point = rng.choice((5, 6, 7)) if good else rng.choice((1, 2, 3))
            rows.append(f"w{p},{text},{value(point)},{rng.uniform(1, 3):.2f}")
    (folder / "ratings.csv").write_text("\n".join(rows) + "\n")
    return folder / "ratings.csv"


def mapping(folder, answer, header="acceptability", extra=""):
    (folder / "mapping.toml").write_text(
        f'item_by_texts = ["sentence"]\nrt_unit = "s"\n{extra}[columns]\nparticipant = "subject"\n'
        f'version = "sentence"\n{answer} = "{header}"\nrt_ms = "rt_seconds"\n'
    )
    return folder / "mapping.toml"


def run(command, *arguments):
    result = CliRunner().invoke(command, list(map(str, arguments)), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def report(folder):
    given = ("--judgments", folder / "in" / "judgments.csv", "--items", folder / "items.csv")
    run(compare, *given, "--out", folder / "report", "--no-figures")
    pages = ("report.html", "methods.html")
    return "".join((folder / "report" / name).read_text() for name in pages)


def test_ratings_are_imported_and_compared(tmp_path):
    given = ("--items", items(tmp_path), "--mapping", mapping(tmp_path, "rating"))
    said = run(judgments, rated(tmp_path), *given, "--out", tmp_path / "in")
    written = pd.read_csv(tmp_path / "in" / "judgments.csv")
    theirs = pd.read_csv(tmp_path / "ratings.csv")
    assert written["rating"].tolist() == theirs["acceptability"].tolist()
    assert (written["version"] == "good").tolist() == theirs["sentence"].str.contains(
        "sleeps"
    ).tolist()
    assert "mean " in said
    assert "taken to go from 1 to 7" in said
    assert "chosen" not in written
    page = report(tmp_path)
    means = theirs.groupby(theirs["sentence"].str.contains("sleeps"))["acceptability"].mean()
    assert f"{means[True]:.2f} and {means[False]:.2f}" in page
    assert "ther they consented, and which lists they were given is not recorded" in page


def test_yes_and_no_are_imported_and_compared(tmp_path):
    file = rated(tmp_path, "acceptable", lambda point: "yes" if point > 3 else "no")
    given = ("--items", items(tmp_path), "--mapping", mapping(tmp_path, "said_yes", "acceptable"))
    said = run(judgments, file, *given, "--out", tmp_path / "in")
    assert "yes was said to 50.0%" in said
    page = report(tmp_path)
    assert (
        "People said yes to 100% of the acceptable sentences and to 0% of the unacceptable ones"
        in page
    )


def test_sentences_that_stand_alone_need_no_version(tmp_path):
    (tmp_path / "ratings.csv").write_text(
        "participant,item,rating\n"
        + "".join(f"p{p},i{n},{1 + (p + n) % 5}\n" for p in range(PEOPLE) for n in range(ITEMS))
    )
    (tmp_path / "mapping.toml").write_text("")
    given = ("--items", items(tmp_path, alone=True), "--mapping", tmp_path / "mapping.toml")
    run(judgments, tmp_path / "ratings.csv", *given, "--out", tmp_path / "in")
    assert set(pd.read_csv(tmp_path / "in" / "judgments.csv")["version"]) == {"good"}


@pytest.mark.parametrize(
    ("value", "ends"),
    [
        (lambda point: point - 1, "0 to 6"),
        (lambda point: point - 4, "-3 to 3"),
        (lambda point: round((point - 1) / 6, 2), "0 to 1"),
        (lambda point: (point - 1) * 100 // 6, "0 to 100"),
        (lambda point: point + 1 if point > 1 else 1, ""),
    ],
    ids=["from 0", "below 0", "decimals", "a slider", "points"],
)
def test_the_ends_of_a_scale_are_those_of_a_usual_one_that_the_ratings_reach(tmp_path, value, ends):
    given = ("--items", items(tmp_path), "--mapping", mapping(tmp_path, "rating"))
    said = run(judgments, rated(tmp_path, value=value), *given, "--out", tmp_path / "in")
    written = pd.read_csv(tmp_path / "in" / "judgments.csv")
    theirs = pd.read_csv(tmp_path / "ratings.csv")
    assert written["rating"].tolist() == theirs["acceptability"].tolist()
    assert ("rating_scale" in written) is bool(ends)
    n_low = (theirs["acceptability"] == theirs["acceptability"].min()).sum()
    low = ends.split()[0] if ends else ""
    assert (f"taken to go from {ends}: {n_low} ratings are {low}, " in said) is bool(ends)


def test_a_slider_whose_ends_nobody_chose_needs_them_and_is_reported_on_its_scale(tmp_path):
    file = rated(tmp_path, value=lambda point: point * 12)
    stated = mapping(tmp_path, "rating", extra="scale = [0, 100]\n")
    run(judgments, file, "--items", items(tmp_path), "--mapping", stated, "--out", tmp_path / "in")
    theirs = pd.read_csv(file)
    means = theirs.groupby(theirs["sentence"].str.contains("sleeps"))["acceptability"].mean()
    page = report(tmp_path)
    assert "Mean rating on a scale from 0 to 100" in page
    assert "rated it on a scale from 0 to 100" in page
    assert f"{means[True]:.2f} and {means[False]:.2f}" in page
    assert "these ratings are numbers from 0 to 100" in page


def test_ratings_outside_the_stated_scale_are_refused(tmp_path):
    stated = mapping(tmp_path, "rating", extra="scale = [0, 6]\n")
    given = ["--items", items(tmp_path), "--mapping", stated, "--out", tmp_path / "in"]
    with pytest.raises(
        AnalysisError, match=r"ratings are not points of a scale from 0 to 6.*\"7\""
    ):
        run(judgments, rated(tmp_path), *given)
    stated = mapping(tmp_path, "rating", extra="scale = [7, 1]\n")
    with pytest.raises(AnalysisError, match='the scale of the ratings is "7 to 1"'):
        run(judgments, rated(tmp_path), *given)


def test_a_slider_is_found_by_its_name_and_ends_and_never_read_as_a_choice(tmp_path):
    file = rated(tmp_path, "slider", lambda point: (point - 1) * 100 // 6)
    given = ("--items", items(tmp_path), "--out", tmp_path / "in", "--yes")
    assert "ratings on a scale from 0 to 100" in run(judgments, file, *given)
    file = rated(tmp_path, "slider", lambda point: point * 12)
    with pytest.raises(AnalysisError, match=r'"slider" goes from 12 to 84.*scale = \[LOWEST'):
        run(judgments, file, *given)


@pytest.mark.parametrize(
    ("answer", "value", "said"),
    [
        ("rating", lambda point: point / 7, "are not points of a scale"),
        ("rating", lambda point: point * 14, "are not points of a scale"),
        ("rating", lambda _: "", "are not points of a scale"),
        ("said_yes", lambda point: point, "are neither yes nor no"),
    ],
    ids=["means", "a slider", "empty", "ratings for yes and no"],
)
def test_what_is_no_answer_is_refused(tmp_path, answer, value, said):
    file = rated(tmp_path, value=value)
    given = ["--items", items(tmp_path), "--mapping", mapping(tmp_path, answer)]
    with pytest.raises(AnalysisError, match=said):
        run(judgments, file, *given, "--out", tmp_path / "in")
    assert not (tmp_path / "in").exists()


def test_answers_coded_the_other_way_round_are_refused(tmp_path):
    file = rated(tmp_path, "acceptable", lambda point: "no" if point > 3 else "yes")
    given = ("--items", items(tmp_path), "--mapping", mapping(tmp_path, "said_yes", "acceptable"))
    with pytest.raises(AnalysisError, match="below chance"):
        run(judgments, file, *given, "--out", tmp_path / "in")


def test_two_versions_without_a_column_that_says_which_are_refused(tmp_path):
    file = rated(tmp_path)
    mapping(tmp_path, "rating")
    text = (tmp_path / "mapping.toml").read_text().replace('version = "sentence"\n', "")
    (tmp_path / "mapping.toml").write_text(text)
    given = ["--items", items(tmp_path), "--mapping", tmp_path / "mapping.toml"]
    with pytest.raises(AnalysisError, match="no column says which one was shown"):
        run(judgments, file, *given, "--out", tmp_path / "in")


def test_ratings_on_a_scale_that_runs_the_other_way_stop(tmp_path):
    items(tmp_path)
    given = (rated(tmp_path, value=lambda point: str(8 - point)), "--items", tmp_path / "items.csv")
    named = ("--mapping", mapping(tmp_path, "rating"), "--out", tmp_path / "in")
    with pytest.raises(AnalysisError, match="the scale probably runs the other way"):
        run(judgments, *given, *named)
    assert not (tmp_path / "in").exists()
    turned = "".join(f'"{n}" = "{8 - n}"\n' for n in range(1, 8))
    path = mapping(tmp_path, "rating")
    path.write_text(path.read_text() + f"[values.rating]\n{turned}")
    assert "= 96 judgments" in run(judgments, *given, *named)


def test_everybody_who_rates_both_versions_of_every_item_copies_nothing(tmp_path):
    items(tmp_path)
    lines = ["who,id,version,rating"]
    for p in range(PEOPLE):
        for n in range(ITEMS):
            lines += [f"w{p},i{n},good,{5 + (p + n) % 3}", f"w{p},i{n},bad,{1 + (p * n) % 3}"]
    (tmp_path / "r.csv").write_text("\n".join(lines) + "\n")
    (tmp_path / "m.toml").write_text('[columns]\nparticipant = "who"\nitem = "id"\n')
    given = (tmp_path / "r.csv", "--items", tmp_path / "items.csv", "--out", tmp_path / "in")
    assert f"= {len(lines) - 1} judgments" in run(
        judgments, *given, "--mapping", tmp_path / "m.toml"
    )


def test_a_column_that_bears_our_name_and_means_something_else_is_left_out(tmp_path):
    items(tmp_path, alone=True)
    rows = [f"w{p},i{n},{n % 3},{1 + (p + n) % 7}" for p in range(PEOPLE) for n in range(ITEMS)]
    (tmp_path / "r.csv").write_text("participant,item,version,rating\n" + "\n".join(rows) + "\n")
    given = (tmp_path / "r.csv", "--items", tmp_path / "items.csv", "--out", tmp_path / "in")
    (tmp_path / "m.toml").write_text("")
    with pytest.raises(AnalysisError, match="is not a version of the item"):
        run(judgments, *given, "--mapping", tmp_path / "m.toml")
    (tmp_path / "m.toml").write_text('unrelated = ["version"]\n')
    assert "96 judgments" in run(judgments, *given, "--mapping", tmp_path / "m.toml")
