"""A zip file that is no study's folder is refused in a sentence, and nothing is stored."""

import io
import stat
import zipfile
from collections.abc import Mapping

import pytest

from webapp.errors import RequestError
from webapp.researcher import study_folders

STUDY = {"mine/study.toml": "x"}


def zipped(files: Mapping[str, str], link: str = "") -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
        if link:
            entry = zipfile.ZipInfo(link)
            entry.external_attr = (stat.S_IFLNK | 0o777) << 16
            archive.writestr(entry, "/etc/passwd")
    return content.getvalue()


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"no zip", "The file cannot be read as a zip file"),
        (zipped({f"mine/{n}": "" for n in range(9)}), "The zip file holds 9 files; 8 are allowed"),
        (
            zipped(STUDY | {"mine/../../x": ""}),
            "The zip file holds a path that leads out of its folder",
        ),
        (zipped(STUDY | {"mine/" + "a/" * 99 + "x": ""}), "is nested in 100 folders"),
        (zipped(STUDY, link="mine/link"), "The zip file holds a link: 'mine/link'"),
        (zipped({"study.toml": "x"}), "must hold one folder, and study.toml directly in it"),
    ],
)
def test_what_is_no_zip_file_of_one_study_is_refused(tmp_path, monkeypatch, content, told):
    monkeypatch.setattr(study_folders, "_MOST_FILES", 8)
    with pytest.raises(RequestError, match=told):
        study_folders.store_upload(tmp_path, content)
    assert not list(tmp_path.iterdir())
