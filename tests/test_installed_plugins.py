"""One plug-in of every kind, from a package installed next to Parallax and by module:NAME."""

import json
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import parallax
from experiment.errors import ParallaxError, PluginError, UnknownNameError
from experiment.exclusion.rules import RULES, load_rule, verdict
from experiment.materials.render import RENDERINGS, render
from experiment.records import Item, Judgment, Kind, Side
from experiment.responses.registry import RESPONSE_TYPES, load_response
from experiment.responses.responders import RESPONDERS, load_responder
from experiment.studies.load import load_study
from experiment.studies.study import Rule
from lm.errors import LmError
from lm.registry import load_scorer
from webapp.core.settings import Settings
from webapp.recruiters.arrivals import Landing
from webapp.recruiters.registry import RECRUITERS, load_recruiter

CODE = """
from pydantic import BaseModel
from experiment.responses.base import Shown
from experiment.responses.choice.choice import SentencePair
from lm.baselines.score_table import FixedScorer
from webapp.recruiters.direct import DirectRecruiter


class Slow(BaseModel):
    limit_ms: float

    def judge(self, judgments):
        slowest = max(judgment.rt_ms for judgment in judgments)
        return slowest <= self.limit_ms, f"slowest {slowest:g} ms"


class Shouted(SentencePair):
    name = "shouted"

    def show(self, item, good_side, render):
        return Shown(item.good.upper(), item.bad.upper())


def backwards(text):
    return text[::-1]


class Panel(DirectRecruiter):
    name = "lab_panel"


class Second:
    def choose(self, kind, good_side, accuracy, rng):
        return "second"


class Ours(FixedScorer):
    pass


not_callable = 3
"""
OFFERED = {
    "parallax.rules": ("slow", "Slow"),
    "parallax.responses": ("shouted", "Shouted"),
    "parallax.renderings": ("backwards", "backwards"),
    "parallax.recruiters": ("lab_panel", "Panel"),
    "parallax.responders": ("second", "Second"),
    "parallax.scorers": ("ours", "Ours"),
}
ITEM = Item("i", Kind.TARGET, "c", "", "t", "", "", "", "good one", "bad one")
JUDGMENT = Judgment(1, "i", Kind.TARGET, "c", True, Side.FIRST, 900.0)
NOW = datetime(2026, 3, 1, tzinfo=UTC)
EVERY = {
    "exclusion rule": RULES,
    "type of response": RESPONSE_TYPES,
    "rendering": RENDERINGS,
    "responder": RESPONDERS,
    "recruiter": RECRUITERS,
}


def install(folder: Path, package: str, offered: dict[str, tuple[str, str]]) -> None:
    lay_package(folder, package, CODE, offered)


def lay_package(folder: Path, package: str, code: str, offered: dict[str, tuple[str, str]]) -> None:
    """Lay a package into a folder as pip does: its module, and a dist-info with entry points."""
    (folder / f"{package}.py").write_text(code)
    info = folder / f"{package}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    groups = (f"[{g}]\n{name} = {package}:{attr}\n" for g, (name, attr) in offered.items())
    (info / "entry_points.txt").write_text("\n".join(groups))


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "site-packages"
    folder.mkdir()
    monkeypatch.syspath_prepend(str(folder))
    return folder


@pytest.fixture
def names(request: pytest.FixtureRequest, site: Path) -> Any:
    """The six plug-ins' names: those of a package's entry points, or module:NAME."""
    package = f"pack_{request.param}"
    install(site, package, OFFERED if request.param == "installed" else {})
    yield {
        group: name if request.param == "installed" else f"{package}:{attribute}"
        for group, (name, attribute) in OFFERED.items()
    }
    sys.modules.pop(package, None)


both_ways = pytest.mark.parametrize("names", ["installed", "named"], indirect=True)


@both_ways
def test_a_rule_of_a_package_judges(names: dict[str, str]):
    rule = Rule(rule=names["parallax.rules"], limit_ms=500)
    assert verdict([rule], [JUDGMENT]).evidence == "slowest 900 ms"
    assert not verdict([rule], [JUDGMENT]).kept


def test_a_model_type_that_two_packages_offer_is_refused(site: Path, tmp_path: Path):
    for package in ("pack_one", "pack_two"):
        install(site, package, {"parallax.scorers": ("ours", "Ours")})
    (tmp_path / "config.json").write_text('{"type": "ours", "name": "x"}')
    said = r'"ours" is offered more than once: pack_one \(pack_one:Ours\), pack_two .*Uninstall'
    with pytest.raises(LmError, match=said):
        load_scorer(tmp_path)


@both_ways
def test_a_rule_of_a_package_has_its_parameters_checked(names: dict[str, str]):
    with pytest.raises(ParallaxError, match="limit_ms"):
        load_rule(Rule(rule=names["parallax.rules"]))


@both_ways
def test_a_type_of_response_of_a_package_shows(names: dict[str, str]):
    present = load_response(names["parallax.responses"], {})
    assert present.show(ITEM, Side.FIRST, str).first == "GOOD ONE"


def test_a_class_that_is_no_type_of_response_is_refused(site: Path):
    code = "class Whispered:\n    name = template = columns = 'whispered'\n" \
        "    typical_rt_ms = 2000.0\n    show = None\n"  # fmt: skip
    lay_package(site, "pack_whispered", code, {"parallax.responses": ("whispered", "Whispered")})
    with pytest.raises(PluginError, match="as type of response: it lacks score_answer"):
        load_response("whispered", {})


@both_ways
def test_a_rendering_of_a_package_renders(names: dict[str, str]):
    assert render(names["parallax.renderings"])("abc") == "cba"


@both_ways
def test_a_responder_of_a_package_chooses(names: dict[str, str]):
    responder = load_responder(names["parallax.responders"])
    assert responder.choose(Kind.TARGET, Side.FIRST, 1.0, None) == "second"  # type: ignore[arg-type]


@both_ways
def test_a_recruiter_of_a_package_invites(names: dict[str, str]):
    recruiter = load_recruiter(names["parallax.recruiters"], Settings())
    assert recruiter.name == "lab_panel"
    assert recruiter.invitation("https://x.example", "r").endswith("/run/r")
    landing = Landing({}, load_study("minimal"), lambda: "https://x.example/run/r", NOW)
    assert not recruiter.arrival(landing).preview


@both_ways
def test_a_language_model_of_a_package_scores(names: dict[str, str], tmp_path: Path):
    (tmp_path / "config.json").write_text(json.dumps({"type": names["parallax.scorers"]}))
    (tmp_path / "scores.tsv").write_text("context\ttext\tlogprob_nats\n\tabc\t-1.5\n")
    [scores] = load_scorer(tmp_path).score([("", "abc")])
    assert scores.logprobs_nats.sum() == -1.5


@pytest.mark.parametrize("names", ["installed"], indirect=True)
@pytest.mark.parametrize("kind", EVERY)
def test_the_names_of_a_package_stand_beside_the_built_in_ones(kind: str, names: dict[str, str]):
    registry = EVERY[kind]
    assert names[registry.group] in registry
    assert names[registry.group] not in registry.built_in
    with pytest.raises(UnknownNameError, match=f'Did you mean "{names[registry.group]}"'):
        registry.load(names[registry.group] + "x")


@pytest.mark.parametrize("names", ["named"], indirect=True)
@pytest.mark.parametrize("kind", EVERY)
def test_code_of_ones_own_is_refused_where_it_must_not_run(kind: str, names: dict[str, str]):
    registry = EVERY[kind]
    with pytest.raises(PluginError, match="not installed as a plug-in"):
        registry.load(names[registry.group], own_code=False)
    assert "pack_named" not in sys.modules


@pytest.mark.parametrize("names", ["installed"], indirect=True)
@pytest.mark.parametrize("kind", EVERY)
def test_an_installed_plugin_works_where_own_code_is_refused(kind: str, names: dict[str, str]):
    assert callable(EVERY[kind].load(names[EVERY[kind].group], own_code=False))


@pytest.mark.parametrize("names", ["named"], indirect=True)
def test_a_model_folder_cannot_name_code_where_that_is_refused(
    names: dict[str, str], tmp_path: Path
):
    (tmp_path / "config.json").write_text(json.dumps({"type": names["parallax.scorers"]}))
    with pytest.raises(LmError, match="there is no model type"):
        load_scorer(tmp_path, own_code=False)
    assert "pack_named" not in sys.modules


@pytest.mark.parametrize("kind", EVERY)
@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("no_such_module:Class", "cannot be imported .ModuleNotFoundError"),
        ("json:no_such_class", "cannot be imported .AttributeError"),
        ("pack_broken:not_callable", "cannot be used"),
        (":", "cannot be imported"),
        ("a b:c", "cannot be imported"),
    ],
)
def test_what_is_no_plugin_is_refused_in_a_paragraph(kind: str, name: str, said: str, site: Path):
    (site / "pack_broken.py").write_text(CODE)
    with pytest.raises(PluginError, match=f"{kind}.*{said}|cannot be used as {kind}"):
        EVERY[kind].load(name)


def test_a_module_that_fails_while_it_is_imported_is_a_paragraph(site: Path):
    (site / "pack_failing.py").write_text("raise RuntimeError('no licence')")
    with pytest.raises(PluginError, match="RuntimeError: no licence"):
        RULES.load("pack_failing:Rule")


def test_a_name_that_two_packages_offer_is_refused(site: Path):
    install(site, "pack_one", OFFERED)
    install(site, "pack_two", OFFERED)
    twice = r"offered more than once: pack_one .*pack_two"
    for registry in EVERY.values():
        name, _ = OFFERED[registry.group]
        with pytest.raises(PluginError, match=twice):
            registry.load(name)
    (site / "config.json").write_text(json.dumps({"type": "ours"}))
    with pytest.raises(LmError, match=f"{twice}.*Uninstall the others"):
        load_scorer(site)


def test_a_package_cannot_take_a_built_in_name(site: Path):
    install(site, "pack_thief", {"parallax.rules": ("max_errors", "Slow")})
    assert RULES.load("max_errors").__module__ == "experiment.exclusion.max_errors"  # type: ignore[attr-defined]


def test_the_launch_command_knows_recruiters_of_packages(site: Path, tmp_path: Path):
    install(site, "pack_cli", OFFERED)
    named = ["launch", "minimal", "--seed", "1", "--instance", str(tmp_path), "--recruiter"]
    assert CliRunner().invoke(parallax.cli, ["init", "--instance", str(tmp_path)]).exit_code in (
        0,
        2,
    )
    result = CliRunner().invoke(parallax.cli, [*named, "lab_panel"])
    assert result.exit_code == 0, result.output
    result = CliRunner().invoke(parallax.cli, [*named, "lab_pannel"])
    assert result.exit_code != 0
    assert 'Did you mean "lab_panel"' in f"{result.output}{result.exception}"
