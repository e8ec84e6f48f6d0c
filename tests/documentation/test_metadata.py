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


def test_the_licence_that_the_pages_name_is_the_one_whose_text_is_here():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["license"] == "MIT"
    assert (ROOT / "LICENSE").read_text("utf-8").startswith("MIT License\n")
    assert "\n| licence | MIT |\n" in (ROOT / "docs" / "approval.md").read_text("utf-8")


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


def test_zenodo_says_what_the_project_says():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    deposit = json.loads((ROOT / ".zenodo.json").read_text("utf-8"))
    assert deposit["description"] == project["description"]
    assert deposit["keywords"] == project["keywords"]
    assert deposit["license"] == project["license"].lower()
    assert deposit["creators"] == project["authors"]


def test_the_conda_recipe_has_the_version_and_every_dependency():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    recipe = yaml.safe_load((ROOT / "docs/deploy/conda/recipe.yaml").read_text("utf-8"))
    assert recipe["context"]["version"] == project["version"]
    # A digest of digits alone would be read as a number.
    assert re.fullmatch("[0-9a-f]{64}", recipe["source"]["sha256"])
    wanted = [*project["dependencies"], *project["optional-dependencies"]["analysis"]]
    # What Windows alone needs is in no recipe that runs elsewhere.
    names = {re.split(r"[\[<>=]", one)[0] for one in wanted if "== 'win32'" not in one}
    assert {one.split()[0] for one in recipe["requirements"]["run"]} == names | {"python"}


def test_a_release_is_uploaded_without_a_stored_secret():
    text = (ROOT / ".github/workflows/release.yml").read_text("utf-8")
    jobs = yaml.safe_load(text)["jobs"]
    assert jobs["publish"]["permissions"] == {"id-token": "write"}
    assert jobs["publish"]["environment"] == "pypi"
    assert "secrets." not in text and "password" not in text.split("name: release")[1]


def test_a_citation_without_a_person_is_said_to_be_incomplete():
    text = (ROOT / "CITATION.cff").read_text("utf-8")
    named = any("family-names" in author for author in yaml.safe_load(text)["authors"])
    assert named or text.startswith("# INCOMPLETE")
    assert named or "incomplete" in (ROOT / "docs/archives.md").read_text("utf-8")


def test_the_paper_has_the_sections_that_joss_asks_for():
    paper = (ROOT / "docs/paper/paper.md").read_text("utf-8")
    headings = re.findall(r"^# (.+)$", paper, re.M)
    asked = ["Summary", "Statement of need", "State of the field", "Software design",
             "Research impact statement", "AI usage disclosure", "References"]  # fmt: skip
    assert [one for one in headings if one in asked] == asked
