"""Reading times of other programs: one table, whatever wrote them."""

import re
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner

import parallax
from analysis.errors import AnalysisError
from analysis.readers.reading_times.corpora import read_frank, read_natural_stories
from analysis.readers.reading_times.dmdx import read_dmdx
from analysis.readers.reading_times.ibex import read_ibex

IBEX = """# Results on Tue, 01 Jan 2019
# 1. Results reception time.
1546300800,0123456789abcdef,Maze,4,0,rel,7,0,The,x-x-x,0,yes,412,The cat%2C asleep.,412
1546300800,0123456789abcdef,Maze,4,0,rel,7,1,cat%2C,of%2C,1,no,803,The cat%2C asleep.,803
1546300800,0123456789abcdef,Maze,4,0,rel,7,2,asleep.,begun.,1,no,None,The cat%2C asleep.,None
1546300800,0123456789abcdef,DashedSentence,5,0,spr,8,1,Dogs,301,false,Dogs bark.
1546300800,0123456789abcdef,DashedSentence,5,0,spr,8,2,bark.,355,false,Dogs bark.
1546300800,0123456789abcdef,Question,5,1,spr,8,Do dogs bark?,Yes,1,1520
"""
PENN = "1635000000,abcdef0123456789,PennController"
PCIBEX = f"""{PENN},9,0,rel,NULL,Controller-Maze,DS,0,The,1635000001,x-x-x,0,yes,500,The dog.,500
{PENN},9,0,rel,NULL,Controller-Maze,DS,1,dog.,1635000002,am.,1,yes,610,The dog.,610
# 13. Reading time.
# 14. Newline?.
# 15. Sentence (or sentence MD5).
# 16. Comments.
{PENN},3,0,spr,2,Controller-DashedSentence,DS,1,Cats,1635000003,333,false,Cats sleep.,a comment
{PENN},9,0,rel,NULL,PennController,9,_Trial_,Start,1635000000,NULL
"""
ITEMS = """0 "For practice";
=1000  %75"READY"/ *"The   x-x-x" c;
+1001  *"an   son"<biw 1251> c;
-1002  *"left.   whom."<biw 1251> c;
1000 "CORRECT"/<branch 1250> ;
"""
SPR = """!1     The son left.;
+1000 "--- --- ----."*c;
+1001 "The --- ----."*c;
+1002 "--- son ----."*c;
+1003 "--- --- left."*c;
-1251 "Did he stay?", @3 "NO.     YES."*<biw 1253> c;
"""


def written(folder: Path, name: str, text: str) -> Path:
    (folder / name).write_text(text, encoding="utf-8")
    return folder / name


def test_ibex_tells_the_maze_and_self_paced_reading_apart(tmp_path: Path):
    found = read_ibex([written(tmp_path, "results", IBEX)], ())
    frame = found.frame.set_index(["text_id", "position"])
    assert frame.index.tolist() == [("rel-7", 1), ("rel-7", 2), ("spr-8", 1), ("spr-8", 2)]
    assert frame.loc[("rel-7", 2), ["text", "distractor", "rt_ms", "correct"]].tolist() == [
        "cat,", "of,", 803.0, False,
    ]  # fmt: skip
    assert frame.loc["spr-8", "question_correct"].tolist() == [True, True]
    assert pd.isna(frame.loc[("rel-7", 1), "question_correct"])
    assert set(frame["participant"]) == {"1546300800-01234567"}
    assert found.notes == ("results: 1 words after a wrong choice were not seen.",)


def test_pcibex_has_its_controllers_inside_its_own_elements(tmp_path: Path):
    frame = read_ibex([written(tmp_path, "results.csv", PCIBEX)], ()).frame
    assert frame["text_id"].tolist() == ["rel-9", "rel-9", "spr-2"]
    assert frame["rt_ms"].tolist() == [500.0, 610.0, 333.0]
    assert frame["distractor"].tolist()[:2] == ["x-x-x", "am."]


def test_dmdx_names_what_stood_in_each_frame(tmp_path: Path):
    times = "Subject 2, 05/04/2009\n  Item RT\n  1000   400.5\n  1001  500\n  1002  -600.25\n"
    frame = read_dmdx(
        [written(tmp_path, "g.txt", times)], [written(tmp_path, "items.txt", ITEMS)]
    ).frame
    assert frame["text"].tolist() == ["The", "son", "left."]
    assert frame["distractor"].tolist() == ["x-x-x", "an", "whom."]
    assert frame["rt_ms"].tolist() == [400.5, 500.0, 600.25]
    assert frame["correct"].tolist() == [True, True, False]
    times = "Subject 1\n 1000 90\n 1001 100\n 1002 200\n 1003 300\n 1251 -900\n"
    found = read_dmdx([written(tmp_path, "s.txt", times)], [written(tmp_path, "spr.txt", SPR)])
    assert found.frame["text"].tolist() == ["The", "son", "left."]
    assert found.frame["question_correct"].tolist() == [False] * 3
    assert found.notes == ("s.txt: 1 times are of frames without a word.",)


def test_corpora_say_story_and_zone_or_sentence_and_word(tmp_path: Path):
    words = written(tmp_path, "all_stories.tok", 'word\tzone\titem\n"If\t1\t1\nyou\t2\t1\n')
    times = written(
        tmp_path, "rts.tsv", "WorkerId\tcorrect\titem\tzone\tRT\nA\t6\t1\t1\t400\nA\t6\t1\t2\t310\n"
    )
    frame = read_natural_stories([times], [words]).frame
    assert frame["text"].tolist() == ['"If', "you"] and frame["rt_ms"].tolist() == [400.0, 310.0]
    frank = written(
        tmp_path, "frank.txt",
        "subj_nr\tsent_nr\tsent_pos\tcorrect\tword_pos\tword\tRT\n1\t17\t1\tc\t1\tThey\t290\n",
    )  # fmt: skip
    row = read_frank([frank], ()).frame.iloc[0]
    assert (row["participant"], row["text_id"], row["question_correct"]) == ("1", "17", True)


def test_the_table_goes_into_reading_times(tmp_path: Path):
    table = tmp_path / "times.tsv"
    made = CliRunner().invoke(
        parallax.cli,
        ["reading", "import", "ibex", str(written(tmp_path, "r", IBEX)), "--out", str(table)],
    )
    assert made.exit_code == 0 and "4 times of 1 participants and 2 texts" in made.output
    rows = pd.read_csv(table, sep="\t")[["text_id", "position", "text"]]
    bits = tmp_path / "bits.tsv"
    rows.assign(surprisal_bits=1.5, n_tokens=1, n_unknown=0).to_csv(bits, sep="\t", index=False)
    joined = CliRunner().invoke(
        parallax.cli,
        ["lm", "reading-times", str(table), str(bits), "--out", str(tmp_path / "both.tsv")],
    )
    assert joined.exit_code == 0, joined.output
    assert len(pd.read_csv(tmp_path / "both.tsv", sep="\t")) == 4


@pytest.mark.parametrize(
    ("reader", "text", "said"),
    [
        (read_ibex, "# nothing\n", "holds no reading times"),
        (read_ibex, IBEX + IBEX, "times are repeated"),
        (
            read_ibex,
            IBEX.replace(",412,", ",soon,", 1),
            'line 3.*"soon" cannot be read as a number',
        ),
        (read_ibex, "1,abcdefgh,Maze,4,0,rel,7,0,The,x\n", "line 1.*3 fields of its own"),
        (read_frank, "a\tb\n", 'line 1.*no column "subj_nr"'),
        (read_natural_stories, "WorkerId\titem\n", 'no column "zone"'),
    ],
)
def test_what_cannot_be_read_is_named_with_its_line(tmp_path: Path, reader, text, said):
    with pytest.raises(AnalysisError) as refused:
        reader([written(tmp_path, "file", text)], ())
    assert re.search(said, str(refused.value), re.DOTALL)


def test_dmdx_needs_an_item_file_for_each_list_and_a_name_for_each_time(tmp_path: Path):
    file = written(tmp_path, "g.txt", " 1000 12\n")
    with pytest.raises(AnalysisError, match="there are 1 results files, but 0 item files"):
        read_dmdx([file], [])
    with pytest.raises(AnalysisError, match="before the first line that names a participant"):
        read_dmdx([file], [written(tmp_path, "i.txt", ITEMS)])


@pytest.mark.parametrize("read", [read_natural_stories, read_frank, read_dmdx, read_ibex])
def test_a_file_that_is_not_there_is_named(read, tmp_path):
    with pytest.raises(AnalysisError, match=r"the times cannot be read: No such file"):
        read([tmp_path / "none.txt"], [tmp_path / "none.txt"])


def test_a_table_of_times_without_its_columns_is_named(tmp_path):
    (tmp_path / "times.tsv").write_text("a\tb\n1\t2\n", "utf-8")
    with pytest.raises(AnalysisError, match=r"times.tsv, line 1: there is no column .* by tabs"):
        read_natural_stories([tmp_path / "times.tsv"], [tmp_path / "times.tsv"])
