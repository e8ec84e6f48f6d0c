"""What a source holds and what came out of it are reconciled, and shown."""

import json

import pytest
from click.testing import CliRunner

from analysis.commands.import_judgments import judgments
from analysis.errors import AnalysisError
from experiment.tables.atomic_write import WritingError
from experiment.tables.files import write_table
from experiment.tables.schemas import ITEMS
from parallax import cli
from tests.analysis import small_run

GOOD = "participant,item,chosen,rt_ms\n" + "".join(
    f"{p},{i},{'bad' if (n + k) % 5 == 4 else 'good'},{700 + 10 * n + k}\n"
    for n, p in enumerate(["Ann", "Ben", "Cat"])
    for k, i in enumerate(["s-1", "s-2", "p-1", "p-2"])
).replace("p-2,bad", "p-2,distractor")


@pytest.fixture
def imported(tmp_path):
    write_table(ITEMS, small_run.items(), tmp_path / "items.csv")

    def run(text, mapping=None, *more, name="judged.csv"):
        (tmp_path / name).write_text(text)
        options = ["--items", str(tmp_path / "items.csv"), "--out", str(tmp_path / "out"), "--yes"]
        if mapping is not None:
            (tmp_path / "m.toml").write_text(mapping)
            options += ["--mapping", str(tmp_path / "m.toml")]
        return CliRunner().invoke(
            judgments, [str(tmp_path / name), *options, *more], catch_exceptions=False
        )

    return run


def test_rows_columns_and_cells_are_reconciled_and_stored(imported, tmp_path):
    done = imported(GOOD.replace("rt_ms\n", "rt_ms,note\n"))
    assert "= 12 judgments" in done.output
    record = json.loads((tmp_path / "out" / "import.json").read_text())
    assert record["judgments"] == record["trials"] == record["rows"] == 12
    assert sum(record["cells"].values()) == 12 * 5
    assert record["columns_not_used"] == ["note"]


def test_copies_stop_until_the_mapping_decides(imported, tmp_path):
    twice = GOOD + GOOD.split("\n", 1)[1]
    with pytest.raises(AnalysisError, match="12 of 24 judgments are copies"):
        imported(twice)
    dropped = imported(twice, 'duplicates = "drop"\n').output
    assert "- 12 trials: copy of another judgment" in dropped
    assert "= 12 judgments" in dropped
    kept = imported(twice, 'duplicates = "keep"\n').output
    assert "ATTENTION: 12 judgments are copies of others, and kept" in kept


def test_equal_times_of_numbered_trials_are_no_copies(imported):
    lines = [f"p{n},s-1,good,{700 + n},{k}" for n in range(100) for k in (1,)]
    text = "\n".join(["participant,item,chosen,rt_ms,trial", *lines, "p0,s-1,good,700,2"])
    assert "= 101 judgments" in imported(text).output
    with pytest.raises(AnalysisError, match="1 of 101 judgments are copies"):
        imported(text.replace("700,2", "700,1"))


def test_a_mapping_without_columns_adds_its_rules_to_the_guess(imported, tmp_path):
    own = GOOD.replace("participant,item,chosen,rt_ms", "who,sentence_name,answer,ms")
    done = imported(own + own.split("\n", 1)[1], 'duplicates = "drop"\n')
    assert "= 12 judgments" in done.output
    assert '"participant" = "who"' in (tmp_path / "out" / "mapping.toml").read_text()


def test_a_value_may_mean_that_there_was_no_answer(imported):
    mapping = 'skip_blank = ["chosen"]\n[values.chosen]\nyes = "good"\nno = "bad"\nnone = ""\n'
    text = GOOD.replace("good", "yes").replace("bad", "no").replace("distractor", "none")
    n_none = text.count("none")
    assert n_none and f"= {12 - n_none} judgments" in imported(text, mapping).output


@pytest.mark.parametrize("key", ["drop", "drop_trials", "keep"])
def test_a_rule_whose_value_no_row_has_stops(imported, key):
    with pytest.raises(AnalysisError, match='no row has "ann" in the column "participant"'):
        imported(GOOD, f'[{key}]\nparticipant = ["Ann", "ann"]\n')


def test_ids_that_contradict_the_texts_beside_them_stop(imported):
    rows = [line.split(",") for line in GOOD.splitlines()]
    items = {row["item_id"]: row for row in small_run.items()}
    texts = ["text", *(items[row[1]]["good"] for row in rows[1:])]
    lines = [",".join([*row, text]) for row, text in zip(rows, texts, strict=True)]
    assert "belong to the items of their rows: 12 of 12" in imported("\n".join(lines)).output
    swapped = "\n".join(lines).replace("s-1", "s-0").replace("s-2", "s-1").replace("s-0", "s-2")
    with pytest.raises(AnalysisError, match='the column "text" holds a text that does not belong'):
        imported(swapped)


def test_an_accuracy_that_the_source_states_otherwise_stops(imported):
    stated = GOOD.replace("rt_ms\n", "rt_ms,accuracy\n")
    lines = [line + ("" if n == 0 else ",1") for n, line in enumerate(stated.splitlines())]
    with pytest.raises(AnalysisError, match=r'"accuracy" calls 100\.0% of the choices right'):
        imported("\n".join(lines))
    assert imported("\n".join(lines), 'unrelated = ["accuracy"]\n').exit_code == 0


def test_items_named_by_several_columns_work_with_a_session_per_row(imported):
    text = "who,a0,b0,c0,a1,b1,c1\nAnn,s,1,good,s,2,good\nBen,p,1,good,s,1,bad\n"
    mapping = (
        'wide = true\nitem_from = ["a{n}", "b{n}"]\n'
        '[columns]\nparticipant = "who"\nchosen = "c{n}"\n'
    )
    assert "= 4 judgments" in imported(text, mapping).output


def test_an_import_can_be_undone_unless_its_files_were_changed(imported, tmp_path):
    imported(GOOD)
    out = tmp_path / "out"
    (out / "judgments.csv").write_text("mine")
    with pytest.raises(AnalysisError, match=r"judgments\.csv was changed after the import"):
        CliRunner().invoke(cli, ["import", "undo", str(out)], catch_exceptions=False)
    imported(GOOD, None, "--replace")
    CliRunner().invoke(cli, ["import", "undo", str(out)], catch_exceptions=False)
    assert not out.exists()


def test_importing_again_replaces_what_nobody_changed_and_says_so(imported, tmp_path):
    assert "is replaced" not in imported(GOOD).output
    assert f"{tmp_path / 'out'}: an earlier import is replaced." in imported(GOOD).output
    mine = tmp_path / "out" / "judgments.csv"
    mine.write_text("mine")
    with pytest.raises(AnalysisError, match=r"judgments\.csv was changed after an earlier import"):
        imported(GOOD)
    assert mine.read_text() == "mine"
    assert "12 judgments; " in imported(GOOD, None, "--replace").output
    # What somebody put beside an import is never replaced.
    (tmp_path / "out" / "scores_mine.parquet").write_text("")
    with pytest.raises(WritingError, match=r"would remove scores_mine\.parquet"):
        imported(GOOD, None, "--replace")


def test_the_mapping_that_an_import_wrote_can_be_corrected_in_its_place(imported, tmp_path):
    imported(GOOD)
    mapping = tmp_path / "out" / "mapping.toml"
    corrected = mapping.read_text() + '# Ben fell asleep.\n[drop]\nparticipant = "Ben"\n'
    mapping.write_text(corrected)
    with pytest.raises(AnalysisError, match=r"mapping\.toml was changed"):
        imported(GOOD)
    assert "8 judgments; " in imported(GOOD, None, "--mapping", str(mapping)).output
    assert mapping.read_text() == corrected


def test_what_nobody_recorded_is_absent_from_the_report(imported, tmp_path):
    imported(GOOD)
    out, items = tmp_path / "out", tmp_path / "items.csv"
    assert "option_first" not in (out / "judgments.csv").read_text()
    CliRunner().invoke(
        cli,
        ["compare", "--judgments", str(out / "judgments.csv"), "--items", str(items), "--out",
         str(tmp_path / "report"), "--resamples", "100", "--no-figures"],
        catch_exceptions=False,
    )  # fmt: skip
    pages = [tmp_path / "report" / name for name in ("report.html", "methods.html")]
    page = "".join(path.read_text() for path in pages)
    assert "3 participants judged" in page
    for word in ("consented</li>", " list of ", "recruiter unknown", "for lists, sides"):
        assert word not in page
    assert not (tmp_path / "report" / "tables" / "sides.csv").exists()


def test_a_session_s_numbered_texts_identify_its_items(imported, tmp_path):
    good, bad = (small_run.items()[0][version] for version in ("good", "bad"))
    other, worse = (small_run.items()[1][version] for version in ("good", "bad"))
    text = (
        f"who,a1,b1,c1,a2,b2,c2\nAnn,{good},{bad},1. {good[:3]},{worse},{other},2. {other}\n"
        f"Ben,{bad},{good},1. {bad},{other},{worse},\n"
    )
    mapping = (
        'wide = true\nskip_blank = ["chosen"]\nitem_by_texts = ["a{n}", "b{n}"]\n[columns]\n'
        'participant = "who"\nchosen = "c{n}"\noption_first = "a{n}"\n'
        '[values.chosen]\n"1.*" = "first"\n"2.*" = "second"\n'
    )
    # Ann is right twice, Ben wrong once and without a second answer.
    done = imported(text, mapping, "--accept-low-accuracy").output
    assert "3 judgments of 2 participants on 2 items" in done
    assert "the expected version was chosen in 66.7%" in done


def test_cells_beyond_the_headers_may_be_empty(imported):
    head, *rows = GOOD.splitlines()
    done = imported("\n".join([head, *rows[:-1], f"{rows[-1]},,,"]))
    assert "= 12 judgments" in done.output
