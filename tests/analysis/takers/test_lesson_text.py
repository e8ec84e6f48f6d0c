"""A text of prompts to learn from has nothing of what is asked later."""

import json
from pathlib import Path

from analysis.takers.lesson_text import write_lessons
from experiment.authoring.check import require_sound
from experiment.materials.render import render, split_lower_case_tokens
from experiment.studies.load import load_study


def test_no_sentence_of_the_lists_stands_in_the_text_and_the_same_seed_gives_it_again(
    tmp_path: Path,
):
    study = load_study("minimal")
    said = write_lessons(tmp_path / "a.txt", study, 400, 3, 1)
    write_lessons(tmp_path / "b.txt", study, 400, 3, 1)
    text = (tmp_path / "a.txt").read_text()
    assert text == (tmp_path / "b.txt").read_text()
    assert len(text.splitlines()) == 400
    shown = render(study.materials.shown_to_people)
    for entries in require_sound(study, 1).built.lists:
        for entry in entries:
            for sentence in (entry.item.good, entry.item.bad):
                assert split_lower_case_tokens(shown(sentence)) not in text
    assert "sounds best ?" in text and "sound acceptable ?" in text and "( worst )" in text
    described = json.loads((tmp_path / "a.txt.json").read_text())
    assert described["description"] == said and described["lines"] == 400
