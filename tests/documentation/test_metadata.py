"""What the project says of itself to indexes is the same everywhere."""

import json
import re
import tomllib

import yaml

import lm.model_folder
from experiment import version
from tests.documentation.examples import ROOT


def test_pyproject_codemeta_and_citation_agree():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    meta = json.loads((ROOT / "codemeta.json").read_text("utf-8"))
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert project["name"] == version.DISTRIBUTION == lm.model_folder.DISTRIBUTION
    assert project["version"] == meta["version"] == cited["version"]
    assert project["keywords"] == meta["keywords"]
    assert project["description"] == meta["description"]
    assert project["authors"] == cited["authors"]
    assert [author["name"] for author in meta["author"]] == [cited["authors"][0]["name"]]
    assert meta["license"].endswith(project["license"]) and cited["license"] == project["license"]


def test_the_changelog_begins_with_the_version_and_day_of_the_release():
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    changelog = (ROOT / "CHANGELOG.md").read_text("utf-8")
    headings = re.findall(r"^## (.+)$", changelog, re.M)
    assert headings[:2] == ["Unreleased", f"{cited['version']} ({cited['date-released']})"]


def test_the_paper_cites_what_its_list_has_and_nothing_else():
    paper = (ROOT / "docs" / "paper" / "paper.md").read_text("utf-8")
    listed = re.findall(
        r"^@\w+\{([\w-]+),$", (ROOT / "docs/paper/paper.bib").read_text("utf-8"), re.M
    )
    assert sorted(set(re.findall(r"@([a-z]+-(?:[a-z]+-)?\d{4})", paper))) == sorted(listed)
