"""What researcher pages start in processes of their own is bounded, and tells no place."""

import shutil
from pathlib import Path
from threading import get_ident

import pytest

from experiment.studies.load import STUDIES_FOLDER
from webapp.core import subprocesses
from webapp.errors import RequestError


def test_what_keeps_a_processor_for_too_long_is_ended(tmp_path, monkeypatch):
    monkeypatch.setattr(subprocesses, "_MOST_CPU_S", 1)
    with pytest.raises(RequestError, match="more than 1 seconds of a processor") as refused:
        subprocesses.run_parallax(tmp_path, "study", "check", "--", "marvin_linzen_2018")
    assert refused.value.status == 413


def test_what_wants_too_much_memory_fails_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(subprocesses, "_MOST_MEMORY_BYTES", 64 * 1024**2)
    with pytest.raises(RequestError, match=r"more than \d GiB of memory"):
        subprocesses.run_parallax(tmp_path, "study", "check", "--", "marvin_linzen_2018")


def test_what_never_ends_is_ended(tmp_path):
    with pytest.raises(RequestError, match="This took longer than five minutes and was stopped"):
        subprocesses.run_parallax(tmp_path, "study", "check", "--", "minimal", limit_s=0.01)


def test_a_note_names_no_place_of_the_server(tmp_path):
    folder = tmp_path / "studies" / "0"
    made = subprocesses.run_parallax(tmp_path, "study", "new", "--", str(folder / "a"))
    assert made.worked, made.text
    (folder / "a").rename(folder / "b")
    done = subprocesses.run_parallax(tmp_path, "study", "check", "--", str(folder / "b"))
    assert done.worked
    assert "studies/0/b/study.toml" in done.text
    assert str(tmp_path) not in done.text


@pytest.mark.usefixtures("new_interpreter")
def test_a_failure_names_no_file_of_the_program(tmp_path):
    made = shutil.copytree(STUDIES_FOLDER / "minimal", tmp_path / "minimal")
    with (made / "study.toml").open("a", encoding="utf-8") as file:
        # Python warns of such a pattern, and names the line that compiles it.
        file.write('[panel]\nperson = ["pid"]\n[panel.parameters.pid]\npattern = "[["\n')
    done = subprocesses.run_parallax(tmp_path, "study", "check", "--", str(made))
    assert not done.worked
    assert "unterminated character set" in done.text
    assert "FutureWarning" not in done.text
    assert str(Path(subprocesses.__file__).parents[2]) not in done.text


def test_a_failure_of_many_lines_is_shown_in_part():
    text = "a mistake\n" * 100_000
    assert subprocesses._shorten(text[:1000]) == text[:1000]
    shown = subprocesses._shorten(text)
    assert len(shown) < 201_000
    assert shown.endswith("\n800,000 more characters are left out.")


def test_a_failure_of_one_endless_line_is_shown_in_part():
    shown = subprocesses._shorten("x" * 300_000)
    assert shown == "x" * 200_000 + "\n100,000 more characters are left out."


def test_work_in_a_thread_leaves_the_thread_that_answers_free(monkeypatch):
    assert subprocesses.run_in_thread(get_ident) == get_ident()
    monkeypatch.setattr(subprocesses, "is_module_patched", lambda name: True)
    assert subprocesses.run_in_thread(get_ident) != get_ident()
    with pytest.raises(ZeroDivisionError):
        subprocesses.run_in_thread(lambda: 1 / 0)
