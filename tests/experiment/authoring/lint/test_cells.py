"""Names that differ by a slip, words that differ by their inflection, and marks in texts."""

import pytest

from experiment.authoring.lint.cells import _are_inflected, lint_markup
from experiment.authoring.lint.materials import Materials
from experiment.materials.formats.read import read_materials


@pytest.mark.parametrize(
    ("name", "other", "inflected"),
    [
        ("sings", "sing", True), ("Sing", "sings", True), ("bake", "baked", True),
        ("mathc", "match", False), ("mismatch", "mizmatch", False), ("math", "match", False),
    ],
)  # fmt: skip
def test_words_that_differ_in_their_last_letter_alone_are_inflected(name, other, inflected):
    assert _are_inflected(name, other) == inflected


def test_marks_of_a_model_s_tokenizer_are_reported(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("good,bad\n<s> A boy runs . </s>,<s> A boy run . </s>\nA < B.,A > B.\n")
    materials = Materials(read_materials(path).items, "en")
    (fault,) = [fault for fault in lint_markup(materials) if "tokenizer" in fault.problem]
    assert [item.good for item in fault.items] == ["<s> A boy runs . </s>"]
