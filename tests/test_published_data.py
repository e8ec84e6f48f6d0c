"""A test that is skipped for published data says where they come from."""

from pathlib import Path

import pytest

from tests import published_data


@pytest.mark.parametrize("name", published_data.SOURCES)
def test_a_skip_names_the_source_and_the_page_whose_commands_put_the_file_in_place(name):
    with pytest.raises(pytest.skip.Exception) as skipped:
        published_data.require(published_data.FOLDER / name / "absent")
    assert published_data.SOURCES[name] in str(skipped.value)
    page = Path(__file__).parents[1] / published_data.COMMANDS
    assert published_data.COMMANDS in str(skipped.value)
    assert f"/{name}" in page.read_text("utf-8")
