"""``parallax lm reading-times``: times and surprisal joined, and whatever does not fit told."""

import io

import pandas as pd
import pytest
from click.testing import CliRunner

from analysis.commands.reading_times import join
from analysis.errors import AnalysisError
from experiment.errors import ParallaxError
from lm.commands.scoring import surprisal
from tests.lm.toy_models import TOY_MODELS

SURPRISAL = (
    "text_id,position,text,surprisal_bits,n_tokens,n_unknown,corrected\n"
    "1,1,The,1.5,1,0,true\n1,2,old,2.5,1,0,true\n1,3,cat.,4.5,1,0,true\n"
    "2,1,It,0.5,1,0,true\n2,2,ran.,3.5,1,0,true\n"
)
TIMES = "subject,item,word_number,word,RT,list\n" + "".join(
    f"{who},{text},{place},{word},{300 + 10 * place},{who}\n"
    for who in ("anna", "ben")
    for text, place, word in (
        (1, 1, "the"), (1, 2, "old"), (1, 3, "cat"), (2, 1, "It"), (2, 2, "ran")
    )
)  # fmt: skip


def joined(folder, times=TIMES, scored=SURPRISAL, *options):
    (folder / "times.csv").write_text(times)
    (folder / "gpt.csv").write_text(scored)
    arguments = [folder / "times.csv", folder / "gpt.csv", "--out", folder / "out.csv", *options]
    result = CliRunner().invoke(join, list(map(str, arguments)), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output, pd.read_csv(folder / "out.csv")


def test_each_time_has_its_words_predictors_and_those_of_the_words_before(tmp_path):
    said, table = joined(tmp_path)
    assert len(table) == 10
    row = table[(table["participant"] == "ben") & (table["text"] == "cat")].iloc[0]
    assert (row["rt_ms"], row["surprisal_bits"], row["length"]) == (330, 4.5, 3)
    assert (row["prev1_surprisal_bits"], row["prev2_surprisal_bits"]) == (2.5, 1.5)
    assert (row["prev1_length"], row["prev2_length"]) == (3, 3)
    assert (row["is_first"], row["is_last"], row["list"]) == (False, True, "ben")
    # No word before the first, and none of another text before that of a text.
    firsts = table[table["position"] == 1]
    assert firsts["prev1_surprisal_bits"].isna().all() and firsts["is_first"].all()
    assert "10 times of 5 words" in said
    assert "lme4::lmer(log(rt_ms) ~ surprisal_bits + length + prev1_surprisal_bits" in said
    assert "(1 | participant) + (1 | text_id)" in said


def test_frequencies_are_looked_up_without_capitals_and_marks(tmp_path):
    (tmp_path / "words.csv").write_text("word,count\nThe,99\ncat,9\nold,0\nit,4\n")
    said, table = joined(tmp_path, TIMES, SURPRISAL, "--frequencies", tmp_path / "words.csv")
    of_word = table.drop_duplicates("text").set_index("text")["log_frequency"]
    assert of_word["the"] == pytest.approx(4.60517) and of_word["old"] == 0
    assert pd.isna(of_word["ran"])
    assert "2 words or regions have no frequency" in said
    (tmp_path / "zipf.csv").write_text("word,zipf\nthe,7.5\ncat,5\nold,5.5\nit,7\nran,4\n")
    _, table = joined(tmp_path, TIMES, SURPRISAL, "--frequencies", tmp_path / "zipf.csv")
    assert table["log_frequency"][0] == 7.5 and table["prev1_log_frequency"][1] == 7.5


def test_several_models_stand_side_by_side(tmp_path):
    (tmp_path / "lstm.csv").write_text(SURPRISAL.replace("4.5", "6.5"))
    _, table = joined(tmp_path, TIMES, SURPRISAL, tmp_path / "lstm.csv", "--spillover", "1")
    cat = table[table["text"] == "cat"].iloc[0]
    assert (cat["surprisal_bits_gpt"], cat["surprisal_bits_lstm"]) == (4.5, 6.5)
    assert cat["prev1_surprisal_bits_lstm"] == 2.5 and "prev2_length" not in table
    (tmp_path / "lstm.csv").write_text(SURPRISAL.replace("ran.", "runs."))
    with pytest.raises(AnalysisError, match="not of the same texts: text 2, position 2"):
        joined(tmp_path, TIMES, SURPRISAL, tmp_path / "lstm.csv")


def test_two_tables_of_one_name_cannot_stand_side_by_side(tmp_path):
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "gpt.csv").write_text(SURPRISAL)
    with pytest.raises(AnalysisError, match="two tables would both be called surprisal_bits_gpt"):
        joined(tmp_path, TIMES, SURPRISAL, tmp_path / "other" / "gpt.csv")


def test_maze_times_with_conditions_and_positions_from_0_join_as_named(tmp_path):
    times = "w,item,cond,region,t,correct\nx,1,a,0,800,yes\nx,1,a,1,NA,no\nx,1,b,0,700,yes\n"
    scored = (
        "text_id\tposition\ttext\tsurprisal_nats\n"
        "1-a\t1\tthe cat\t2\n1-a\t2\tsleeps\t3\n1-b\t1\tthe cats\t4\n1-b\t2\tsleep\t5\n"
    )
    named = [f"--column={pair}" for pair in ("text_id=item,cond", "rt_ms=t", "participant=w")]
    said, table = joined(tmp_path, times, scored, "--first-position", "0", *named)
    assert table["text_id"].tolist() == ["1-a", "1-a", "1-b"]
    assert table["surprisal_nats"].tolist() == [2, 3, 4]
    assert table["correct"].tolist() == ["yes", "no", "yes"] and pd.isna(table["rt_ms"][1])
    assert "1 of 3 times are missing" in said
    assert "1 of 4 words or regions have no reading times" in said


@pytest.mark.parametrize(
    ("times", "message"),
    [
        (TIMES.replace("ran", "runs"), '"runs" was read, "ran." was scored'),
        (TIMES.replace(",2,2,", ",2,3,"), "2 of 10 times have no surprisal"),
        (TIMES.replace("anna,1,1,the,310", "anna,1,1,the,fast"), '"fast" is not a valid value'),
        (TIMES.replace("anna,1,1,the,310", "anna,1,1,the,-310"), '"-310" is not a valid value'),
        (TIMES.replace("anna,1,1,the,310", "anna,1,0,the,310"), "--first-position 0"),
        (TIMES.replace("ben", "anna"), "5 times are repeated; the first: participant anna"),
        (TIMES.replace("RT", "x"), 'no column holds the "rt_ms".*the last two may be missing'),
    ],
)
def test_what_does_not_fit_together_is_told_with_its_place(tmp_path, times, message):
    with pytest.raises(AnalysisError, match=message):
        joined(tmp_path, times)
    assert not (tmp_path / "out.csv").exists()


def test_times_of_what_was_not_scored_can_be_left_out_aloud(tmp_path):
    fillers = TIMES + "anna,99,1,Filler,300,x\n"
    with pytest.raises(AnalysisError, match=r"1 of 11 times have no surprisal.*--drop-unmatched"):
        joined(tmp_path, fillers)
    said, table = joined(tmp_path, fillers, SURPRISAL, "--drop-unmatched")
    assert len(table) == 10 and "1 times without surprisal were left out" in said


@pytest.mark.parametrize(
    ("scored", "message"),
    [
        ("text_id,position,text\n1,1,a\n", "`parallax lm surprisal` wrote"),
        (SURPRISAL + "1,1,The,1.5,1,0,true\n", "two rows have the same text and position"),
    ],
)
def test_another_table_than_one_of_surprisal_is_refused(tmp_path, scored, message):
    with pytest.raises(AnalysisError, match=message):
        joined(tmp_path, TIMES, scored)


@pytest.mark.parametrize("divider", [None, "|"])
def test_what_lm_surprisal_writes_joins_by_word_and_by_region(tmp_path, divider):
    TOY_MODELS["ngram"][1](tmp_path / "model")
    pieces = ["the", "cat", "sleeps ."] if divider else ["the", "cat", "sleeps", "."]
    (tmp_path / "texts.txt").write_text((divider or " ").join(pieces) + "\n")
    options = ["--divider", divider] if divider else []
    written = CliRunner().invoke(
        surprisal,
        [str(tmp_path / "model"), str(tmp_path / "texts.txt"), "--unit", "nats", *options,
         "--out", str(tmp_path / "out.tsv")],
        catch_exceptions=False,
    )  # fmt: skip
    assert written.exit_code == 0
    scored = (tmp_path / "out.tsv").read_text()
    rows = [f"a,1,{n},{piece},300" for n, piece in enumerate(pieces, start=1)]
    times = "\n".join(["subject,item,region,text,rt", *rows, ""])
    _, table = joined(tmp_path, times, scored)
    theirs = pd.read_csv(io.StringIO(scored), sep="\t")
    assert table["surprisal_nats"].tolist() == theirs["surprisal_nats"].tolist()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--column", "rt_ms"), '"rt_ms" names no header. Expected --column rt_ms=HEADER'),
        (("--column", "rt_ms=Time"), 'there is no column "Time".*The columns are'),
        (("--column", "rt=RT"), 'Parallax has no column "rt"'),
        (
            ("--out", "out.xls"),
            "out.xls: no table of this format can be written here. Expected a name",
        ),
    ],
)
def test_a_column_or_a_name_that_is_none_is_told(tmp_path, options, message):
    with pytest.raises(ParallaxError, match=message):
        joined(tmp_path, TIMES, SURPRISAL, *options)
