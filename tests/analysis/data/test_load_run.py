import json
import re

import pytest

from analysis.data.frames import read_exported_table
from analysis.data.load import load_run
from analysis.errors import AnalysisError
from experiment.errors import StudyError, TableError
from experiment.tables.files import write_table
from experiment.tables.schemas import RESPONSES, VERDICTS
from tests.analysis import small_run


def test_an_export_is_read_with_its_facts_and_its_study(export):
    run = load_run(export)
    assert (run.facts.run, run.facts.seed, run.facts.materials_hash) == ("r1", 7, small_run.HASH)
    assert run.study.name == "small"
    assert (len(run.items), len(run.responses), len(run.verdicts)) == (4, 12, 3)


def test_csv_gives_the_same_frames_as_parquet(export, tmp_path):
    text = small_run.write_export(tmp_path / "text", suffix=".csv")
    from_csv, from_parquet = load_run(text), load_run(export)
    for name in ("items", "participants", "trials", "responses", "verdicts"):
        assert getattr(from_csv, name).equals(getattr(from_parquet, name))


def test_a_folder_without_description_is_no_export(tmp_path):
    with pytest.raises(
        AnalysisError,
        match=r"datapackage\.json\. Expected a folder that `parallax export RUN` w",
    ):
        load_run(tmp_path)


@pytest.mark.parametrize("text", ["{", "{}", "[]"])
def test_a_broken_description_is_named(export, text):
    (export / "datapackage.json").write_text(text)
    with pytest.raises(
        AnalysisError, match=r"its \"parallax\" entry.*Create the file again with the com"
    ):
        load_run(export)


def test_a_fact_that_is_missing_is_named(export):
    facts = small_run.facts()
    del facts["materials_hash"]
    (export / "datapackage.json").write_text(json.dumps({"parallax": facts}))
    with pytest.raises(AnalysisError, match="materials_hash: Field required"):
        load_run(export)


def test_a_missing_table_is_named_with_the_folder_and_what_it_holds(export):
    (export / "verdicts.parquet").unlink()
    with pytest.raises(TableError) as caught:
        load_run(export)
    assert str(export) in str(caught.value)
    assert '"verdicts" is missing. Expected verdicts.parquet or' in str(caught.value)
    assert "The folder contains: " in str(caught.value)
    assert "responses.parquet" in str(caught.value)


def test_a_folder_that_does_not_exist_is_named(export):
    for folder in (export / "nowhere", export / "responses.parquet"):
        with pytest.raises(TableError, match=f"^{re.escape(str(folder))}: there is no such folder"):
            read_exported_table(RESPONSES, folder, ("item_id",))


def test_a_missing_column_is_named_with_those_seen(export):
    import pyarrow.parquet as pq

    path = export / "trials.parquet"
    pq.write_table(pq.read_table(path).drop_columns("good_side"), path)
    with pytest.raises(TableError, match=r"lacks the column\(s\) good_side.*seen are participant"):
        load_run(export)


def test_a_column_of_the_wrong_type_is_named(export):
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = export / "verdicts.parquet"
    table = pq.read_table(path)
    pq.write_table(table.set_column(1, "kept", pa.array(["no", "maybe", "yes"])), path)
    with pytest.raises(TableError, match='column "kept" holds string, not boolean'):
        load_run(export)


def test_a_value_that_is_not_allowed_is_named(tmp_path):
    rows = small_run.tables()
    rows["trials"][0]["good_side"] = "above"
    export = small_run.write_export(tmp_path / "export", rows)
    with pytest.raises(TableError, match='"above" is not a value of the column "good_side"'):
        load_run(export)


def test_a_key_that_occurs_twice_is_named(export):
    rows = small_run.tables()["verdicts"]
    write_table(VERDICTS, [*rows, rows[0]], export / "verdicts.parquet")
    with pytest.raises(
        TableError, match=r"1 row.* repeat another row's key; the first key is participant Ann"
    ):
        load_run(export)


def test_what_is_not_parquet_is_refused(export):
    (export / "items.parquet").write_text("item_id,kind")
    with pytest.raises(TableError, match="cannot be read as Parquet"):
        load_run(export)


def test_an_export_without_its_study_is_refused(export):
    (export / "study" / "study.toml").unlink()
    with pytest.raises(StudyError, match=r"holds no study\.toml"):
        load_run(export)
