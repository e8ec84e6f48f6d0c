"""What needs a server is refused by name before anything is written; nothing is written over."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from benchmarks.static_study import larger_minimal
from experiment.errors import ParallaxError
from parallax import cli
from webapp.errors import WebappError
from webapp.participant.assets import bundle_scripts
from webapp.serverless.stores import make_store

_LINK = '[panel]\ncodes.completed = "C"\naddress = "https://p.example/back?{}"\n'
_RID = "[panel.parameters.rid]\n"
_SIGNED = """signature = { parameter = "h", algorithm = "MD5", signed = "{rid}{k}" }
person = ["rid"]
secrets = { k = "k" }
"""
_SONA = '{ site = "https://a.sona-systems.com", experiment_id = "1" }'
# What needs a server: the words that the refusal has to say, and a line of study.toml before which
# lines stand that ask for it.
NEEDS = {
    "[attention]": ("[simulation]", "[attention]\nmax_catch_errors = 1"),
    "shared_device": ("[simulation]", "[privacy]\nshared_device = true"),
    "assent": ("[simulation]", "[taking_part]\nassent = true"),
    "replace_excluded": ("trials_per_list = 8", "replace_excluded = true"),
    "participants_per_list": (
        "[[exclusion]]", "[[design.quotas]]\nlists = [0]\nparticipants_per_list = 2",
    ),
    "exclude_earlier_runs": ("median_minutes = 1", "exclude_earlier_runs = true"),
    "[recruitment] after": ("median_minutes = 1", 'after = ["earlier"]'),
    "access_codes": ("[simulation]", '[panel]\npreset = "classroom"'),
    "signatures": ("[simulation]", '[panel]\npreset = "cint"'),
    "secrets": ("[simulation]", '[panel]\npreset = "cint"'),
    "signature is checked": ("[simulation]", _LINK.format("") + _SIGNED + _RID),
    "from server to server": ("[simulation]", f'[panel]\npreset = "sona"\nvalues = {_SONA}'),
    "{receipt}": ("[simulation]", _LINK.format("r={receipt}") + _RID),
}  # fmt: skip


def refusal(tmp_path: Path, study: str | Path, *options: str) -> str:
    command = [
        "study", "static", str(study), "--seed", "1", "--simulated", "--out",
        str(tmp_path / "out"), "--instance", str(tmp_path / "instance"), *options,
    ]  # fmt: skip
    result = CliRunner().invoke(cli, command)
    assert isinstance(result.exception, ParallaxError)
    return str(result.exception)


@pytest.mark.parametrize("named", NEEDS)
def test_a_study_that_needs_a_server_is_refused_by_the_name_of_the_key(tmp_path, named):
    study = larger_minimal(tmp_path, 1)
    toml, (before, lines) = study / "study.toml", NEEDS[named]
    assert f"\n{before}" in toml.read_text()
    toml.write_text(toml.read_text().replace(f"\n{before}", f"\n{lines}\n{before}", 1))
    (study / "texts/en/assent.md").write_text("Do you want to?\n")
    said = refusal(tmp_path, study)
    assert named in said and "it needs a server" in said
    assert not (tmp_path / "out").exists()


def test_a_recruiter_that_pays_is_refused_by_name(tmp_path):
    said = refusal(tmp_path, "minimal", "--recruiter", "mturk")
    assert "mturk" in said
    assert not (tmp_path / "out").exists()


def test_a_folder_in_use_is_never_written_over(tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "index.html").write_text("people take part here")
    assert "the output already exists" in refusal(tmp_path, "minimal")
    assert (tmp_path / "out" / "index.html").read_text() == "people take part here"


@pytest.mark.parametrize("url", ["", "ftp://a", "http://example.org/keep", "https://a:b@c.org/"])
def test_an_address_that_would_carry_answers_in_the_open_is_refused(url):
    with pytest.raises(WebappError, match=r"would send participants' answers unencrypted|address"):
        make_store("post", url=url)


def test_jatos_needs_an_archive_and_nothing_else_does(tmp_path):
    assert ".jzip" in refusal(tmp_path, "minimal", "--store", "jatos")


def test_a_program_in_a_form_that_is_not_read_is_refused_by_its_line():
    with pytest.raises(WebappError, match="export default"):
        bundle_scripts({"serverless/start.js": "export default 1;"}, {})


def test_a_report_lies_beside_a_study_that_programs_take(tmp_path):
    report = tmp_path / "report.html"
    report.write_text('<!doctype html><html>92 %<a href="methods.html"></html>')
    (tmp_path / "methods.html").write_text("how")
    command = [
        "study", "static", "minimal", "--seed", "1", "--out", str(tmp_path / "out"),
        "--instance", str(tmp_path / "instance"), "--report", str(report),
    ]  # fmt: skip
    people = CliRunner().invoke(cli, command)
    assert "--simulated" in str(people.exception) and not (tmp_path / "out").exists()
    assert CliRunner().invoke(cli, [*command, "--simulated"]).exit_code == 0
    assert (tmp_path / "out" / "report.html").read_bytes() == report.read_bytes()
    assert (tmp_path / "out" / "methods.html").read_text() == "how"
    assert (tmp_path / "out" / "index.html").is_file()


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("none.html", "the report cannot be read: No such"),
        ("a.csv", "the file is not an HTML page"),
    ],
)
def test_what_is_no_report_is_refused_before_anything_is_written(tmp_path, name, said):
    (tmp_path / "a.csv").write_text("a,b\n")
    assert said in refusal(tmp_path, "minimal", "--report", str(tmp_path / name))
    assert not (tmp_path / "out").exists()
