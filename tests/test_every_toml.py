"""Whatever reads TOML that somebody wrote says in one paragraph that it cannot be read."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from analysis.readers.mapping import read_mapping
from analysis.readers.reading_times.mapped.mapping import read_times_mapping
from experiment.commands.study import _read_rules
from experiment.design.practice import read_practice
from experiment.errors import ParallaxError
from experiment.grammar.grammar import load_grammar
from experiment.studies.humanness import read_rates
from experiment.studies.load import frozen_study, load_study
from experiment.studies.publication import read_about
from lm.errors import LmError
from lm.text.grammar_file import load_text_grammar
from lm.training.settings import read_grid
from webapp.recruiters.settings import load_settings
from webapp.runs.runs import _read_title

ROOT = Path(__file__).parents[1]


def _practice(path: Path) -> object:
    study = load_study(str(ROOT / "docs/examples/scales"))
    trial = study.trial.model_copy(update={"practice": path.name})
    return read_practice(study.model_copy(update={"folder": path.parent, "trial": trial}))


READERS: dict[str, Callable[[Path], object]] = {
    "analysis/readers/mapping.py": read_mapping,
    "analysis/readers/reading_times/mapped/mapping.py": read_times_mapping,
    "experiment/commands/study.py": _read_rules,
    "experiment/grammar/tables.py": load_grammar,
    "experiment/studies/humanness.py": lambda path: read_rates(path.read_text("utf-8"), path),
    "experiment/studies/load.py": lambda path: frozen_study(
        {"study.toml": path.read_bytes()}, path.parent
    ),
    "experiment/studies/publication.py": read_about,
    "experiment/design/practice.py": _practice,
    "lm/text/grammar_file.py": load_text_grammar,
    "lm/training/settings.py": lambda path: read_grid(str(path)),
    "webapp/core/settings_sources.py": lambda path: load_settings(path.parent, {}),
}
# Their files are the product's own, another reader was there before them, or they tell otherwise.
OTHERS = {
    "analysis/natives/page.py", "experiment/authoring/words.py", "experiment/panels/panel.py",
    "experiment/takers/prompt.py",
    "experiment/studies/published.py", "experiment/studies/key_errors.py",
    "experiment/untrusted.py", "experiment/authoring/consent.py",
    "webapp/recruiters/settings.py",
    "webapp/core/settings_sources.py",
    "webapp/researcher/studies.py", "webapp/researcher/study_forms.py",
    "webapp/researcher/study_settings.py", "webapp/researcher/toml_edits.py",
    "webapp/runs/runs.py",
    "lm/errors.py",
}  # fmt: skip
UNREADABLE = {"digits": f"a = {'1' * 5_000}", "brackets": f"a = {'[' * 5_000}", "syntax": "a ="}


def test_every_reader_is_known():
    product = ("analysis", "experiment", "lm", "webapp")
    found = subprocess.run(
        ["git", "grep", "-lE", r"tomllib\.load|read_toml\(", "--", *product],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert set(found.stdout.split()) == {*READERS, *OTHERS}


@pytest.mark.parametrize("text", UNREADABLE.values(), ids=UNREADABLE)
@pytest.mark.parametrize("reader", READERS)
def test_what_cannot_be_read_is_said_in_a_paragraph(tmp_path: Path, reader: str, text: str):
    path = tmp_path / "parallax.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises((ParallaxError, LmError)) as refused:
        READERS[reader](path)
    said = str(refused.value)
    assert str(tmp_path) in said and "\n" not in said


def test_a_run_is_called_by_its_title_where_it_can_be_read():
    study = b'[study]\ntitle = "Which?"\n'
    assert _read_title(study) == _read_title(b"\xef\xbb\xbf" + study) == "Which?"
    assert {_read_title(text.encode()) for text in UNREADABLE.values()} == {""}
