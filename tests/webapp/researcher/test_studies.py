"""Studies in the browser: from a table, edited by two at once, copied and deleted."""

import io
import re

import pytest

from experiment.studies.study import STUDY_FILE
from webapp.researcher.study_folders import find_editable_study, hash_text
from webapp.users.roles import Role

pytestmark = pytest.mark.one_database
TABLE = "item,condition,good,bad\n" + "".join(
    f"{n},{condition},The {noun} near the guard{s} laughs.,The {noun} near the guard{s} laugh.\n"
    for n, noun in enumerate(("author", "pilot", "farmer", "chef"), 1)
    for condition, s in (("one", ""), ("many", "s"))
)


@pytest.fixture
def here(researcher):
    return researcher(Role.RESEARCHER)


@pytest.fixture
def copy(here, instance):
    """A copy of a built-in study: what the pages call it, and its folder."""
    assert here.post("/studies/copy", study="minimal", name="ours").status_code == 303
    [file] = instance.glob(f"studies/*/ours/{STUDY_FILE}")
    return f"ours ({file.parent.parent.name})", file.parent


def made(here, table: str, name: str = "agreement"):
    data = {"form_token": here.form_token(), "name": name, "language": "en"}
    file = {"table": (io.BytesIO(table.encode()), "my items.csv")}
    return here.client.post("/researcher/studies/new", data=data | file)


def test_a_table_becomes_a_study_and_a_mistake_in_it_is_told_with_its_line(here, instance):
    refused = made(here, TABLE.replace("The pilot near the guard laughs.", ""))
    assert refused.status_code == 409
    assert "my items.csv: the good sentence is empty in line 4" in refused.text
    assert not list(instance.glob("studies/*"))
    page = made(here, TABLE).text
    assert "8 items read from a table of pairs" in page
    assert "parallax" not in re.search(r"<pre.*?</pre>", page, re.DOTALL)[0], "no shell is here"
    [file] = instance.glob(f"studies/*/agreement/{STUDY_FILE}")
    assert 'name = "agreement"' in file.read_text("utf-8")


@pytest.mark.parametrize("name", ["", "Two Words", "../out", "a/b", "x" * 3000])
def test_a_name_that_cannot_be_one_makes_nothing(here, instance, name):
    assert here.post("/studies/copy", study="minimal", name=name).status_code in (400, 409)
    assert not list(instance.glob("studies/*"))


def test_who_saves_second_is_refused_and_gets_both_texts(here, copy):
    called, folder = copy
    path = folder / "texts/en/consent.md"
    seen = hash_text(path.read_text("utf-8"))
    form = {"study": called, "text": "texts/en/consent.md", "seen": seen}
    assert here.post("/studies/edit", content="First.\r\n", **form).status_code == 303
    assert path.read_bytes() == b"First.\n"
    second = here.post("/studies/edit", content="Second.", **form)
    assert second.status_code == 409
    assert "First." in second.text and "Second." in second.text
    assert path.read_bytes() == b"First.\n"


@pytest.mark.parametrize("text", ["../../secret_key", "/etc/passwd", "no.md", ""])
def test_only_a_study_s_own_texts_are_read_and_written(here, copy, text):
    called, folder = copy
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    assert here.get(f"/studies/edit?study={called}&text={text}").status_code == 404
    form = {"study": called, "text": text, "seen": hash_text(""), "content": "x"}
    assert here.post("/studies/edit", **form).status_code == 404
    assert before == {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_the_consent_is_shown_beside_the_list_of_its_elements(here, copy):
    called, folder = copy
    path = folder / "texts/en/consent.md"
    path.write_text(path.read_text("utf-8") + "\nNobody <script>is</script> *hurt*.\n", "utf-8")
    page = here.post("/studies/findings", study=called).text
    beside = page.partition('<div class="consent">')[2].partition("</div>\n<details>")[0]
    assert re.search(r"<pre[^>]*>\d+ of \d+ elements of a consent", beside)
    assert "purpose" in beside.partition("</pre>")[0].lower()
    assert "Counted" not in beside and "Empty keys" in beside
    assert "texts/en/consent.md, as participants read it" in beside
    assert "<em>hurt</em>" in beside and "<script>" not in beside


def test_what_is_typed_is_shown_and_never_obeyed(here):
    text = "# Hello\n\n<script>alert(1)</script>"
    shown = here.post("/studies/look", text="a.md", content=text).text
    assert "<h1>Hello</h1>" in shown and "<script>" not in shown
    shown = here.post("/studies/look", text="a.tsv", content="good\n<img src=x>").text
    assert "&lt;img" in shown
    shown = here.post("/studies/look", text="a.csv", content=f"{'b,' * 60}\n" * 30).text
    assert (shown.count("<th "), shown.count("<td>")) == (50, 20 * 50)
    for content in ("a =", f"a = {'1' * 5_000}", f"a = {'[' * 5_000}"):
        shown = here.post("/studies/look", text="a.toml", content=content).text
        assert "cannot be read as TOML" in shown


def test_a_study_is_deleted_only_by_who_is_sure(here, copy, instance):
    called, folder = copy
    refused = here.post("/studies/delete", study=called)
    assert refused.status_code == 400 and "Tick the box to say that you are sure" in refused.text
    assert find_editable_study(instance, None, called) == folder
    assert here.post("/studies/delete", study=called, sure="yes").status_code == 303
    assert not folder.exists()


def test_the_sample_table_that_the_page_offers_becomes_a_study(here):
    page = here.get("/studies").text
    address = re.search(r'href="([^"]+)" download>Download a sample table', page)[1]
    with here.client.get(address) as sent:
        made_page = made(here, sent.text, "sample").text
    assert "8 items read from a table of pairs" in made_page


def test_the_name_of_a_study_has_no_label_unless_two_are_alike(here, copy):
    called, _ = copy
    assert "(" in called
    for path in ("/studies", "/launch"):
        assert f">{called}<" not in here.get(path).text
    editor = here.get(f"/studies/edit?study={called}").text
    assert "<h1>ours</h1>" in editor
    assert here.post("/studies/copy", study="minimal", name="ours").status_code == 303
    assert f">{called}<" in here.get("/studies").text
