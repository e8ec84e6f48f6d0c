"""Whatever is typed into a field, nobody gets a server's error by it; and no field is forgotten."""

import io
import re
from pathlib import Path

import pytest
from flask import request

from tests.hostile.fields import walk

WEBAPP = Path(__file__).parents[3] / "webapp"
# As the code looks at a field.
LOOKS = re.compile(
    r"(?:request\.(?:form|args|values|files)|\b(?:form|arguments))\.get(?:list)?\(\s*\"(\w+)\""
    r"|\"(\w+)\" in request\.(?:args|form)"
)
# They come after a question to a recruiting platform, of which there is none: the tests of money
# and of recruitment send them. Or they name rules of a study: the tests of its forms send them. Or
# they are read in a simulated run alone: the tests of the archive send them.
BEHIND_A_PLATFORM = {"agreed", "combination", "looked", "payment", "people", "ticked", "whom"}


@pytest.mark.one_database
def test_nothing_typed_makes_a_server_s_error_and_every_field_is_tried(tmp_path):
    walked, names = walk(tmp_path, 0.02)
    assert walked.found == []
    sources = (path.read_text(encoding="utf-8") for path in WEBAPP.rglob("*.py"))
    read = {one or other for source in sources for one, other in LOOKS.findall(source)}
    tried = {each for some in names.values() for each in some}
    assert read - tried == BEHIND_A_PLATFORM


def test_a_nul_is_no_error_where_the_database_takes_none(client, run):
    """PostgreSQL takes none."""
    asked = {"decision": "accept", "text": "\0", "visit": "a\0b", "session": "\0"}
    assert client.post(f"/run/{run.ref}?link=%00", data=asked).status_code < 500
    signed = client.post("/researcher/sign-in", data={"name": "a\0", "password": "\0"})
    assert signed.status_code == 401


@pytest.mark.one_database
def test_what_no_database_can_store_is_in_no_field_name_or_address(client, app):
    seen = []
    app.add_url_rule("/seen", view_func=lambda: seen.append(said()) or "", methods=["POST"])

    def said() -> object:
        file = request.files["f"]
        return request.args.to_dict(), request.form.to_dict(), file.filename, file.read()

    form = {"a\0b": "c\0d\0", "f": (io.BytesIO(b"\0"), "x\0.csv")}
    assert client.post("/seen?x%00=%00y", data=form).status_code == 200
    no = "\ufffd"
    form = {f"a{no}b": f"c{no}d{no}"}
    assert seen == [({f"x{no}": f"{no}y"}, form, f"x{no}.csv", b"\0")], "a file holds what it holds"
    assert client.get("/run/%00").status_code == 404
