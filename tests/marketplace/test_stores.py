"""The stand-in of JATOS: which archives it imports."""

import io
import zipfile

import pytest
from flask import Flask

from marketplace.stores.host import Faults
from marketplace.stores.jatos import create_jatos


def archive(**files: str) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as packed:
        for name, text in files.items():
            packed.writestr(name.replace("_in_", "/").replace("_jas", ".jas"), text)
    return made.getvalue()


@pytest.mark.parametrize(
    ("sent", "says"),
    [
        (archive(a_jas="{}"), "expected one .jas file and one folder\n"),
        (archive(a_jas='{"version": "2"}', s_in_index="x"), "unsupported study version\n"),
    ],
)
def test_an_archive_that_is_no_study_of_version_3_is_refused(sent, says):
    app = Flask(__name__)
    app.register_blueprint(create_jatos(Faults()))
    answer = app.test_client().post("/jatos/archives", data=sent)
    assert (answer.status_code, answer.text) == (400, says)
