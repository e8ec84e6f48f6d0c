"""Tables of reading times with their design: values by hand, and what is refused."""

import math
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

import parallax
from analysis.errors import AnalysisError
from analysis.readers.reading_times.mapped.run import MappedTimes, read_mapped_times
from experiment.errors import ParallaxError
from tests.analysis.chosen_findings import compare_by

MAPPING = """
critical = "verb"

[columns]
participant = "subj"
position = "pos"
region = "area"
text = "word"
rt_ms = "rt"

[levels.relative]
obj = "object"
subj = "subject"

[[comparisons]]
name = "relative"
compare = "relative"
"""
SENTENCES = {
    "obj": ["the", "{}", "who", "the", "cook", "saw", "left", "that", "room", "quietly"],
    "subj": ["the", "{}", "who", "saw", "the", "cook", "left", "that", "room", "quietly"],
}
VERBS = {"obj": 6, "subj": 4}
NOUNS = ["man", "boy", "girl", "nurse", "clerk", "guest", "thief", "pilot", "maid", "judge"]


def table() -> list[list[str]]:
    """Return rows in which verbs take about 600 ms in object relatives and 500 in others."""
    rows = []
    for person in range(10):
        for item, noun in enumerate(NOUNS):
            condition = ("obj", "subj")[(person + item) % 2]
            verb = {"obj": 600, "subj": 500}[condition] + person - item
            for place, word in enumerate(SENTENCES[condition], start=1):
                area = "verb" if place == VERBS[condition] else "-"
                ms = verb if area == "verb" else 300
                rows.append(
                    [f"s{person}", f"{item}", condition, f"{place}", word.format(noun), area,
                     f"{ms}"]
                )  # fmt: skip
    return rows


HEADERS = ["subj", "item", "condition", "pos", "word", "area", "rt"]


def read(
    folder: Path, rows: list[list[str]], mapping: str = MAPPING, ends: str = "\n"
) -> MappedTimes:
    text = ends.join(",".join(row) for row in [HEADERS, *rows])
    (folder / "times.csv").write_text(text, encoding="utf-8", newline="")
    (folder / "mapping.toml").write_text(mapping, encoding="utf-8")
    return read_mapped_times(folder / "times.csv", folder / "mapping.toml")


def estimate(times: MappedTimes) -> float:
    rows = compare_by(("comparisons",), times.run).statistics["comparisons"]
    return float(rows["estimate"].iloc[0])


def by_hand() -> float:
    logs: dict[str, list[float]] = {"obj": [], "subj": []}
    for _, _, condition, _, _, area, rt in table():
        if area == "verb":
            logs[condition].append(math.log(float(rt)))
    means = {name: sum(values) / len(values) for name, values in logs.items()}
    return means["obj"] - means["subj"]


@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r"])
def test_the_contrast_is_that_of_the_critical_regions(tmp_path: Path, ends: str):
    assert estimate(read(tmp_path, table(), ends=ends)) == pytest.approx(by_hand())


def test_the_order_of_rows_changes_nothing_and_levels_keep_the_order_of_the_mapping(tmp_path: Path):
    assert estimate(read(tmp_path, table()[::-1])) == pytest.approx(by_hand())


def test_a_table_without_headers_is_read_by_the_names_in_the_mapping(tmp_path: Path):
    named = estimate(read(tmp_path, table()))
    headers = ", ".join(f'"{name}"' for name in HEADERS)
    (tmp_path / "mapping.toml").write_text(f"headers = [{headers}]\n{MAPPING}")
    (tmp_path / "times.csv").write_text("\n".join(",".join(row) for row in table()))
    times = read_mapped_times(tmp_path / "times.csv", tmp_path / "mapping.toml")
    assert estimate(times) == named


def test_names_of_rows_without_a_header_are_no_column(tmp_path: Path):
    lines = [" ".join(f'"{name}"' for name in HEADERS)]
    lines += [f'"{n}" ' + " ".join(f'"{c}"' for c in row) for n, row in enumerate(table(), 1)]
    (tmp_path / "times.txt").write_text("\n".join(lines), encoding="utf-8")
    (tmp_path / "mapping.toml").write_text(MAPPING, encoding="utf-8")
    found = read_mapped_times(tmp_path / "times.txt", tmp_path / "mapping.toml")
    assert estimate(found) == pytest.approx(by_hand())


def test_a_table_with_a_column_for_each_region(tmp_path: Path):
    rows = ["subj,item,condition,R1,R2"]
    rows += [
        f"s{p},{i},{c},300,{600 if c == 'obj' else 500}"
        for p in range(10)
        for i in range(10)
        for c in [("obj", "subj")[(p + i) % 2]]
    ]
    (tmp_path / "times.csv").write_text("\n".join(rows), encoding="utf-8")
    (tmp_path / "mapping.toml").write_text(
        'critical = 2\n[columns]\nparticipant = "subj"\nrt_ms = "R{n}"\n', encoding="utf-8"
    )
    found = read_mapped_times(tmp_path / "times.csv", tmp_path / "mapping.toml")
    assert abs(estimate(found)) == pytest.approx(math.log(1.2))
    assert "The table has no texts, so nothing can check" in found.notes[-1]


def test_times_without_a_value_are_left_out_and_told(tmp_path: Path):
    rows = table()
    rows[0][-1], rows[10][-1] = "NA", "-99"
    assert "2 times are empty or not positive, and left out." in read(tmp_path, rows).notes


def swapped(rows: list[list[str]]) -> None:
    for row in rows:
        if row[2] == "obj":
            row[1] = {"2": "5", "5": "2"}.get(row[1], row[1])


def shifted(rows: list[list[str]]) -> None:
    areas = [row[5] for row in rows]
    for row, area in zip(rows, ["-", *areas[:-1]], strict=True):
        row[5] = area


def another_word(rows: list[list[str]]) -> None:
    next(row for row in rows if row[0] == "s0" and row[2] == "obj")[4] = "a"


def number_of_another_word(rows: list[list[str]]) -> None:
    for row in rows:
        row[5] = "verb" if row[3] == {"obj": "6", "subj": "5"}[row[2]] else "-"


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (swapped, "read the item|has the words of the item"),
        (shifted, "do not align"),
        (another_word, 'has several values of "text"'),
        (number_of_another_word, "do not align"),
        (lambda rows: rows.append(rows[3]), "1 times are repeated"),
        (lambda rows: rows[0].__setitem__(2, "NA"), 'no value of "condition"'),
        (
            lambda rows: rows[0].__setitem__(3, "first"),
            '1 values of "position" are not numbers; the first is "first"',
        ),
        (lambda rows: rows[0].__setitem__(5, "x"), 'has several values of "region"'),
    ],
)
def test_what_contradicts_itself_is_refused(tmp_path: Path, spoil, said: str):
    rows = table()
    spoil(rows)
    with pytest.raises(ParallaxError, match=said):
        read(tmp_path, rows)


def test_a_word_too_many_is_refused_where_no_texts_tell_it(tmp_path: Path):
    rows = [row for row in table() if row[1] != "3" or row[2] != "obj"]
    for person in range(1, 10, 2):
        rows += [
            [f"s{person}", "3", "obj", f"{n}", "x", "verb" if n == 6 else "-", "300"]
            for n in range(1, 12)
        ]
    with pytest.raises(AnalysisError, match="in 9 of 10 items the two differ by"):
        read(tmp_path, rows, MAPPING.replace('text = "word"\n', ""))


def test_a_doubled_header_is_refused(tmp_path: Path):
    lines = ["condition," + ",".join(HEADERS)]
    lines += ["x," + ",".join(row) for row in table()]
    (tmp_path / "times.csv").write_text("\n".join(lines), encoding="utf-8")
    (tmp_path / "mapping.toml").write_text(MAPPING, encoding="utf-8")
    with pytest.raises(AnalysisError, match='two columns are called "condition"'):
        read_mapped_times(tmp_path / "times.csv", tmp_path / "mapping.toml")


def test_the_command_answers_and_a_renamed_header_is_told(tmp_path: Path):
    read(tmp_path, table())
    names = ["compare", "--times", str(tmp_path / "times.csv"), "--mapping"]
    (tmp_path / "wrong.toml").write_text(MAPPING.replace('"rt"', '"rtime"'), encoding="utf-8")
    done = CliRunner().invoke(
        parallax.cli, [*names, str(tmp_path / "wrong.toml"), "--out", str(tmp_path / "out")]
    )
    assert isinstance(done.exception, AnalysisError)
    assert 'the table has no column "rtime"' in str(done.exception)


TEXTS = "text_id,item,condition,critical\nt1,1,obj,6\nt2,1,subj,4\n"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (('"area"', '"areas"'), 'the table has no column "areas"'),
        (("critical =", "critic ="), "the mapping of reading times cannot be read"),
        (
            ('position = "pos"', 'place = "pos"'),
            "place is not a column of reading times; the columns are",
        ),
        (('rt_ms = "rt"', 'rt_ms = "rt{n}"'), "no columns are called rt{n}"),
        (('participant = "subj"', ""), 'the mapping names no column for "participant"'),
        (('subj = "subject"', ""), 'has no level for the condition "subj"'),
        (('critical = "verb"', "critical = { obj = 6 }"), "names no region for the condition"),
        (
            ('critical = "verb"', "critical = 30"),
            'needs the critical region "30", which is not there',
        ),
        (('critical = "verb"', 'critical = "-"'), "which occurs 2 times"),
        (('position = "pos"', ""), "no column says where in the sentence they are"),
        (("[levels", '[keep]\narea = "noun"\n[levels'), 'no row has "noun" in the column "area"'),
        (('rt_ms = "rt"', 'rt_ms = "rt"\ncorrect = "area"'), "is neither true nor false"),
    ],
)
def test_a_mapping_that_does_not_fit_is_told(tmp_path: Path, change: tuple[str, str], said: str):
    with pytest.raises(AnalysisError) as caught:
        read(tmp_path, table(), MAPPING.replace(*change))
    assert said in str(caught.value)


def test_a_place_between_two_words_is_no_number_of_a_word(tmp_path: Path):
    rows = table()
    rows[0][3] = "1.5"
    with pytest.raises(AnalysisError, match="1 positions are not whole numbers"):
        read(tmp_path, rows)


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        (TEXTS + "t1,2,obj,6\n", 'the text "t1" is in two rows'),
        (TEXTS + "t3,2,obj,6\n", "nobody read 1 of the texts"),
        (TEXTS, "1 times are left out: the table of texts does not have their text."),
        ("", 'the reading times have no column "text_id"'),
    ],
)
def test_a_table_of_texts_is_joined(tmp_path: Path, texts: str, said: str):
    header = "text_id" if texts else "text"
    rows = [f"participant,{header},position,text,rt_ms" if texts else "participant,position,rt_ms"]
    for text, condition in (("t1", "obj"), ("t2", "subj")):
        for place, word in enumerate(SENTENCES[condition], start=1):
            cells = f"p{text},{text},{place},{word.format('man')},300"
            rows.append(cells if texts else f"p{text},{place},300")
    rows.append("p1,t9,1,yes,300" if texts else "p1,1,300")
    (tmp_path / "times.csv").write_text("\n".join(rows), encoding="utf-8")
    (tmp_path / "texts.csv").write_text(texts or TEXTS, encoding="utf-8")
    try:
        notes = read_mapped_times(tmp_path / "times.csv", None, tmp_path / "texts.csv").notes
    except AnalysisError as error:
        notes = (str(error),)
    assert said in " ".join(notes)


def test_a_declared_comparison_of_another_measure_is_not_dropped_in_silence(tmp_path: Path):
    run = read(tmp_path, table()).run
    [asked] = run.study.comparisons
    ratings = asked.model_copy(update={"name": "ratings", "of": "rating"})
    study = run.study.model_copy(update={"comparisons": [asked, ratings]})
    found = compare_by(("comparisons",), replace(run, study=study))
    assert 'ratings: no answers have the measure "rating".' in found.left_out


def test_headers_are_known_in_any_case(tmp_path: Path):
    text = "\n".join(",".join(row) for row in [[*HEADERS], *table()])
    (tmp_path / "times.csv").write_text(text.replace("item,condition", "ITEM,Condition", 1))
    (tmp_path / "mapping.toml").write_text(MAPPING)
    times = read_mapped_times(tmp_path / "times.csv", tmp_path / "mapping.toml")
    assert estimate(times) == pytest.approx(by_hand())


def test_logarithms_of_times_are_refused_in_words(tmp_path: Path):
    rows = [[*row[:-1], f"{math.log(float(row[-1])):.4f}"] for row in table()]
    with pytest.raises(AnalysisError, match=r"no time is between least_rt_ms \(100\) .*logarithms"):
        read(tmp_path, rows)
