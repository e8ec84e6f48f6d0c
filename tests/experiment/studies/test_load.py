"""Studies that are not whole are refused when they are read."""

import shutil

import pytest

from experiment.errors import StudyError
from experiment.studies.load import BUILT_IN, PAGES, load_study


@pytest.mark.parametrize("text", [None, "", " \n"], ids=["missing", "empty", "blank"])
@pytest.mark.parametrize("page", PAGES)
def test_a_study_without_the_text_of_a_page_is_refused(tmp_path, page, text):
    study = tmp_path / "minimal"
    shutil.copytree(BUILT_IN / "minimal", study)
    file = study / "texts" / "en" / f"{page}.md"
    file.unlink()
    if text is not None:
        file.write_text(text, encoding="utf-8")
    with pytest.raises(StudyError, match=rf'{page}.md: .*"{page}" is missing or empty'):
        load_study(str(study))
