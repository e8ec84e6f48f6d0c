import json

import pandas as pd
import pytest
from click.testing import CliRunner

from analysis.commands.import_judgments import judgments as import_judgments
from analysis.compare import compare
from analysis.data.join import judgments
from analysis.data.load import load_scores
from analysis.data.participant_flow import count_participants
from analysis.errors import AnalysisError
from analysis.findings.finding import ComparisonOptions
from analysis.readers.judgments import read_judgments
from analysis.readers.sources import read_source
from analysis.statistics.accuracy import people_accuracy
from experiment.errors import MaterialsError
from experiment.materials.read import materials_hash, read_items
from experiment.tables.atomic_write import WritingError
from experiment.tables.files import write_table
from experiment.tables.schemas import ITEMS
from tests import published_data
from tests.analysis import small_run
from tests.synthetic_publication import PEOPLE, write_publication

ITALIAN = published_data.COLORLESS_GREEN / "italian" / "best_model_mturk.tab"

LONG = """judge,participant,list,item,construction,condition,option_first,chosen,correct,rt_ms
people,Ann,1,s-1,simple,singular,good,good,true,900
people,Ann,1,p-2,polarity,past,distractor,distractor,false,1100
people,Ben,2,s-1,simple,singular,bad,bad,false,800.5
"""


@pytest.fixture
def items(tmp_path):
    path = tmp_path / "items.csv"
    write_table(ITEMS, small_run.items(), path)
    return path


@pytest.fixture
def read(tmp_path, items):
    def reader(text, mapping=None, name="published.csv"):
        path = tmp_path / name
        path.write_text(text)
        if mapping is not None:
            (tmp_path / "mapping.toml").write_text(mapping)
        return read_judgments(path, items, tmp_path / "mapping.toml" if mapping else None)

    return reader


def test_the_long_form_is_read_as_a_run(read):
    run = read(LONG)
    found = judgments(run)
    assert found["chose_good"].tolist() == [True, False, False]
    assert found["good_side"].tolist() == ["first", "second", "second"]
    assert found["chosen_side"].tolist() == ["first", "first", "first"]
    assert found["rt_ms"].tolist() == [900.0, 1100.0, 800.5]
    assert found["position"].tolist() == [1, 2, 1]
    assert count_participants(run).kept == 2
    assert run.facts.launched == "at an unknown time"


def test_item_and_choice_are_enough(read):
    run = read("item,correct\ns-1,1\ns-1,0\ns-2,yes\n")
    found = judgments(run)
    assert found["chose_good"].tolist() == [True, False, True]
    assert count_participants(run).recruited == 0


def test_people_who_were_left_out_stay_out(read):
    run = read("participant,item,correct,kept\nAnn,s-1,1,true\nBen,s-1,0,false\n")
    assert judgments(run)["participant"].tolist() == ["p1"]
    assert count_participants(run).excluded == {"published exclusion": 1}


MTURK = """WorkerId,AssignmentStatus,Input.item1,Input.item2,Answer.choice1,Answer.choice2
Ann,Approved,s-1,s-2,A,B
Ben,Rejected,s-1,s-2,B,B
"""
MTURK_MAPPING = """
wide = true
[columns]
participant = "WorkerId"
item = "Input.item{n}"
chosen = "Answer.choice{n}"
[values.chosen]
A = "good"
B = "bad"
[drop]
AssignmentStatus = "Rejected"
"""


def test_batch_results_of_mturk_are_read_with_a_mapping(read):
    found = judgments(read(MTURK, MTURK_MAPPING))
    assert found[["participant", "item_id", "chose_good"]].to_numpy().tolist() == [
        ["p1", "s-1", True],
        ["p1", "s-2", False],
    ]


# As BLiMP's batch: the condition ends with the number of the good sentence, and the choice is the
# sentence with its number in front, cut at an apostrophe.
NUMBERED = """anonCode,Input.condition_1,Input.condition_2,Input.item1,Input.item2,Choice1,Choice2
7,islandans2,islandans1,s-1,s-2,2. Who isn,2. Who isn
8,islandans2,islandans1,s-1,s-2,1. Whose,1. Whose
"""
NUMBERED_MAPPING = """
wide = true
[columns]
participant = "anonCode"
item = "Input.item{n}"
chosen = "Choice{n}"
good_side = "Input.condition_{n}"
[values.chosen]
"1. *" = "first"
"2. *" = "second"
[values.good_side]
"*ans1" = "first"
"*ans2" = "second"
"""


def test_values_are_told_by_how_they_begin_or_end(read):
    found = judgments(read(NUMBERED, NUMBERED_MAPPING))
    assert found["chose_good"].tolist() == [True, False, False, True]


def test_a_value_that_no_pattern_fits_is_named(read):
    with pytest.raises(AnalysisError, match="Whom"):
        read(NUMBERED.replace("1. Whose,", "3. Whom,"), NUMBERED_MAPPING)


JSPSYCH = [
    {"trial_type": "instructions"},
    {"trial_type": "choice", "subject": "Ann", "sentence": "s-1", "right": True, "rt": 512},
    {"trial_type": "choice", "subject": "Ann", "sentence": "s-2", "right": False, "rt": None},
]
JSPSYCH_MAPPING = """
[columns]
participant = "subject"
item = "sentence"
correct = "right"
rt_ms = "rt"
[drop]
trial_type = "instructions"
"""


def test_a_session_of_jspsych_is_read_with_a_mapping(read):
    found = judgments(read(json.dumps(JSPSYCH), JSPSYCH_MAPPING, "session.json"))
    assert found["chose_good"].tolist() == [True, False]
    assert found["rt_ms"].tolist()[0] == 512
    assert found["rt_ms"].isna().tolist() == [False, True]


def test_results_of_pcibex_are_named_by_their_comments(tmp_path):
    path = tmp_path / "results.csv"
    path.write_text(
        "# Results on Monday\n# Columns below this comment are as follows:\n"
        "# 1. MD5 hash of participant's IP address.\n# 2. Item.\n# 3. Value.\n"
        "abc,s-1,A\n# 3. Comment.\nabc,s-2,fine\n"
    )
    found = read_source(path).table
    assert found["Item"].tolist() == ["s-1", "s-2"]
    assert found["Value"].tolist() == ["A", ""]


PSITURK = (
    'Ann:A1,0,1700000000000,"{""phase"": ""instructions""}"\n'
    'Ann:A1,1,1700000001000,"{""phase"": ""test"", ""sentence"": ""s-1"", ""hit"": true}"\n'
    'Ben:B1,1,1700000002000,"{""phase"": ""test"", ""sentence"": ""s-2"", ""hit"": false}"\n'
)
PSITURK_MAPPING = """
[columns]
participant = "uniqueid"
item = "sentence"
correct = "hit"
[drop]
phase = "instructions"
"""


def test_trial_data_of_psiturk_are_known_by_their_json(read):
    found = judgments(read(PSITURK, PSITURK_MAPPING, "trialdata.csv"))
    assert found[["participant", "item_id", "chose_good"]].to_numpy().tolist() == [
        ["p1", "s-1", True],
        ["p2", "s-2", False],
    ]


def test_a_missing_column_is_answered_with_the_mapping_and_the_columns_seen(read):
    with pytest.raises(AnalysisError) as raised:
        read("a,b\n1,2\n", '[columns]\nitem = "sentence"\n')
    message = str(raised.value)
    assert "lacks the column(s) sentence" in message
    assert "the mapping tried was: item = sentence" in message
    assert "The columns seen are a, b" in message


@pytest.mark.parametrize(
    ("text", "mapping", "message"),
    [
        ("item\ns-1\n", None, r"lacks the column\(s\) chosen"),
        ("item,chosen\ns-1,left\n", None, '"left" is not one of the options'),
        ("item,correct\ns-1,perhaps\n", None, '"perhaps" .* neither true nor false'),
        ("item,correct\ns-1,T\ns-2,\n", None, '"correct" does not say right or wrong in 1 row'),
        ("item,correct\nz-1,1\n", None, "not among the items; the first: z-1"),
        ("item,chosen,correct\ns-1,good,0\n", None, "contradict each other"),
        ("item,correct,rt_ms\ns-1,1,fast\n", None, '"rt_ms" holds a value that is not a number'),
        ("judge,item,correct\nGPT,s-1,1\n", None, 'some judgments are of the judge "GPT"'),
        (
            "item,chosen\ns-1,C\n",
            '[values.chosen]\nA = "good"\n',
            'value "C" of the .* Add it below .values.chosen. in the mapping file',
        ),
        ("item,correct\ns-1,1\n", "colums = 1\n", "cannot be read .*TOML with the tables columns"),
    ],
)
def test_what_cannot_be_used_is_named(read, text, mapping, message):
    with pytest.raises(AnalysisError, match=message):
        read(text, mapping)


def test_a_file_of_items_is_a_table_and_not_the_name_of_a_study(tmp_path):
    for name, text in (("judgments.csv", LONG), ("items.dat", "good,bad\nA b.,A c.\n")):
        (tmp_path / name).write_text(text)
    with pytest.raises(MaterialsError, match=r'ending in "\.dat" cannot be read as a table'):
        read_judgments(tmp_path / "judgments.csv", tmp_path / "items.dat")


def test_other_peoples_judgments_are_compared_like_a_run(read, tmp_path, items):
    run = read(f"{LONG}people,Ben,2,s-2,simple,plural,bad,good,true,900\n")
    scores = small_run.write_scores(
        tmp_path / "s.parquet", study="", study_version="",
        materials_hash=materials_hash(read_items(items)),
    )  # fmt: skip
    found = compare(
        run, [scores], tmp_path / "out", ComparisonOptions(resamples=100), figures=False
    )
    row = found.table("table_1").frame.set_index("construction").loc["simple"]
    assert (round(row["people"], 3), row["5-gram_judged"]) == (0.667, 0.5)


def test_a_table_in_the_published_format_gives_its_judgments(tmp_path):
    table = write_publication(tmp_path / "made") / "best_model_mturk.tab"
    found = judgments(read_judgments(table, None))
    chosen = found.groupby(["condition", "construction"])["chose_good"].agg(["sum", "size"])
    counted = {by: (good, good + bad) for by, (good, bad) in PEOPLE.items()}
    assert {by: tuple(row) for by, row in chosen.T.items()} == counted
    accuracy = people_accuracy(found, ["condition"], weigh="items")
    by_condition = accuracy.set_index("condition")["accuracy"].round(4)
    assert by_condition.to_dict() == {"generated": 0.4875, "original": 0.95}


needs_italian = published_data.needs(ITALIAN)


@needs_italian
def test_the_published_italian_table_gives_the_published_averages():
    found = judgments(read_judgments(ITALIAN, None))
    assert len(found) == 11_276
    accuracy = people_accuracy(found, ["condition"], weigh="items")
    by_condition = accuracy.set_index("condition")["accuracy"].round(3)
    assert by_condition.to_dict() == {"generated": 0.884, "original": 0.945}


@needs_italian
def test_the_published_italian_table_is_converted_with_its_scores(tmp_path):
    out = tmp_path / "italian"
    done = CliRunner().invoke(
        import_judgments, [str(ITALIAN), "--out", str(out)], catch_exceptions=False
    )
    assert done.exit_code == 0, done.output
    [scores, unigram] = sorted(out.glob("scores_*.parquet"))
    assert unigram.name == "scores_unigram.parquet"
    assert len(load_scores(scores).frame) == 2380
    again = judgments(read_judgments(out / "judgments.csv", out / "items.csv"))
    assert (
        again["chose_good"].mean() == judgments(read_judgments(ITALIAN, None))["chose_good"].mean()
    )


def test_a_converted_batch_is_read_back_the_same_without_the_ids_of_workers(tmp_path, items):
    source, mapping = tmp_path / "batch.csv", tmp_path / "mapping.toml"
    source.write_text(MTURK)
    mapping.write_text(MTURK_MAPPING)
    arguments = [
        *(str(source), "--items", str(items), "--mapping", str(mapping)),
        *("--accept-low-accuracy", "--out", str(tmp_path / "long")),
    ]
    CliRunner().invoke(import_judgments, arguments, catch_exceptions=False)
    before = judgments(read_judgments(source, items, mapping))
    converted = tmp_path / "long" / "judgments.csv"
    pd.testing.assert_frame_equal(before, judgments(read_judgments(converted, items)))
    assert "Ann" not in converted.read_text()
    assert set(before["participant"]) == {"p1"}


def test_a_conversion_never_takes_away_what_it_did_not_write(tmp_path):
    out = tmp_path / "long"
    out.mkdir()
    (out / "judgments.csv").write_text("")
    (out / "notes.txt").write_text("mine")
    (tmp_path / "some.csv").write_text("item,correct\ns-1,1\n")
    with pytest.raises(WritingError, match=r"would remove judgments\.csv, notes\.txt"):
        CliRunner().invoke(
            import_judgments,
            [str(tmp_path / "some.csv"), "--out", str(out)],
            catch_exceptions=False,
        )
