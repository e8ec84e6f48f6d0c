"""What needs a server is refused by name before anything is written; nothing is written over."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from benchmarks.static_study import larger_minimal
from experiment.errors import ParallaxError
from parallax import cli
from webapp.errors import WebappError
from webapp.serverless.bundle import bundle
from webapp.serverless.stores import store_of

NEEDS = {
    "[attention]\nmax_catch_errors = 1": "[attention]",
    "[privacy]\nshared_device = true": "shared_device",
}


def refusal(tmp_path: Path, study: str | Path, *options: str) -> str:
    command = [
        "study", "static", str(study), "--seed", "1", "--simulated", "--out",
        str(tmp_path / "out"), "--instance", str(tmp_path / "instance"), *options,
    ]  # fmt: skip
    result = CliRunner().invoke(cli, command)
    assert isinstance(result.exception, ParallaxError)
    return str(result.exception)


@pytest.mark.parametrize("table", NEEDS)
def test_a_study_that_needs_a_server_is_refused_by_the_name_of_the_key(tmp_path, table):
    study = larger_minimal(tmp_path, 1)
    toml = study / "study.toml"
    toml.write_text(f"{toml.read_text()}\n{table}\n", encoding="utf-8")
    assert NEEDS[table] in refusal(tmp_path, study)
    assert not (tmp_path / "out").exists()


def test_a_recruiter_that_pays_is_refused_by_name(tmp_path):
    said = refusal(tmp_path, "minimal", "--recruiter", "mturk")
    assert "mturk" in said
    assert not (tmp_path / "out").exists()


def test_a_folder_in_use_is_never_written_over(tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "index.html").write_text("people take part here")
    assert "something is there already" in refusal(tmp_path, "minimal")
    assert (tmp_path / "out" / "index.html").read_text() == "people take part here"


@pytest.mark.parametrize("url", ["", "ftp://a", "http://example.org/keep", "https://a:b@c.org/"])
def test_an_address_that_would_carry_answers_in_the_open_is_refused(url):
    with pytest.raises(WebappError):
        store_of("post", url=url)


def test_jatos_needs_an_archive_and_nothing_else_does(tmp_path):
    assert ".jzip" in refusal(tmp_path, "minimal", "--store", "jatos")


def test_a_program_in_a_form_that_is_not_read_is_refused_by_its_line():
    with pytest.raises(WebappError, match="export default"):
        bundle({"serverless/begin.js": "export default 1;"}, {})


def test_a_report_lies_beside_a_study_that_programs_take(tmp_path):
    report = tmp_path / "report.html"
    report.write_text("<!doctype html><html>92 %</html>")
    command = [
        "study", "static", "minimal", "--seed", "1", "--out", str(tmp_path / "out"),
        "--instance", str(tmp_path / "instance"), "--report", str(report),
    ]  # fmt: skip
    people = CliRunner().invoke(cli, command)
    assert "--simulated" in str(people.exception) and not (tmp_path / "out").exists()
    assert CliRunner().invoke(cli, [*command, "--simulated"]).exit_code == 0
    assert (tmp_path / "out" / "report.html").read_bytes() == report.read_bytes()
    assert (tmp_path / "out" / "index.html").is_file()


@pytest.mark.parametrize(("name", "said"), [("none.html", "cannot be read"), ("a.csv", "no page")])
def test_what_is_no_report_is_refused_before_anything_is_written(tmp_path, name, said):
    (tmp_path / "a.csv").write_text("a,b\n")
    assert said in refusal(tmp_path, "minimal", "--report", str(tmp_path / name))
    assert not (tmp_path / "out").exists()
