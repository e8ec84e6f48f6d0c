import gzip
import re
import subprocess
from base64 import b64encode
from hashlib import sha256
from pathlib import Path

import pytest

from tests.prerequisites import NODE
from webapp.errors import WebappError
from webapp.participant.assets import Assets, join_modules

pytestmark = pytest.mark.one_database
ROOT = Path(__file__).parents[3]
STATIC = ROOT / "webapp" / "static"
PROGRAMS = sorted(STATIC.glob("*.js"))


def node(*arguments: str, text: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(NODE.require()), *arguments], input=text, capture_output=True, text=True
    )


@pytest.mark.parametrize(
    "tests",
    sorted((ROOT / "tests" / "webapp" / "static").glob("*.test.mjs")),
    ids=lambda path: path.name,
)
def test_the_modules_do_what_their_own_tests_say(tests: Path):
    run = node(str(tests))
    assert run.returncode == 0, run.stdout + run.stderr


READ_ALL = """
import { readFileSync } from "node:fs";
import { SourceTextModule } from "node:vm";
for (const identifier of process.argv.slice(1)) {
  new SourceTextModule(readFileSync(identifier, "utf8"), { identifier });
}
"""


def test_every_module_can_be_read_by_a_browser(tmp_path: Path):
    read = ("--no-warnings", "--experimental-vm-modules", "--input-type=module", "--eval", READ_ALL)
    assert node(*read, *map(str, PROGRAMS)).stderr == ""
    (tmp_path / "wrong.js").write_text("export const = 1;")
    assert "wrong.js" in node(*read, str(PROGRAMS[0]), str(tmp_path / "wrong.js")).stderr


@pytest.mark.parametrize("file", PROGRAMS, ids=lambda file: file.name)
def test_a_module_imports_its_neighbours_by_their_own_names(file: Path):
    imported = re.findall(r'^import .* from "(.*)";$', file.read_text("utf-8"), re.MULTILINE)
    for name in imported:
        assert name.startswith("./") and (STATIC / name).exists()


def test_a_page_loads_one_program_and_that_of_its_type_and_a_browser_keeps_them(client, run):
    page = client.get(f"/run/{run.ref}").text
    preloaded = re.findall(r'<link rel="modulepreload" href="(.*?)">', page)
    own, of_type = (client.get(address).data for address in preloaded)
    assert [address.rpartition("/")[2] for address in preloaded] == ["page.js", "choice-choice.js"]
    choice = STATIC.parent / "participant" / "responses" / "choice" / "choice.js"
    assert of_type == choice.read_bytes()
    for address, content in zip(preloaded, (own, of_type), strict=True):
        response = client.get(address, headers={"Accept-Encoding": "gzip"})
        assert response.mimetype == "text/javascript"
        assert "immutable" in response.headers["Cache-Control"]
        assert gzip.decompress(response.data) == content


def test_the_joined_program_begins_as_the_modules_do(tmp_path: Path):
    program = tmp_path / "page.mjs"
    program.write_bytes(Assets(STATIC).files["page.js"].content)
    for begun in (program, STATIC / "page.js"):
        said = f'import * as page from "{begun}"; console.log(Object.keys(page), typeof page.start)'
        run = node("--input-type=module", "--eval", said)
        assert run.stdout == "[ 'start' ] function\n", run.stderr


@pytest.mark.parametrize(
    ("second", "why"),
    [
        ('import { a } from "./a.js";\nexport const b = 1;', "imports itself by way of a.js, b.js"),
        ('import { c } from "./c.js";\nexport const b = 1;', "imports c.js, which is not there"),
        ('import b from "./a.js";', "is in another form"),
        ('export const a = "</script>";', "it contains the end of a script element"),
    ],
)
def test_modules_that_cannot_be_joined_are_refused(second, why):
    first = 'import { b } from "./b.js";\nexport const a = 1;'
    with pytest.raises(WebappError, match=why):
        join_modules("a.js", {"a.js": first, "b.js": second})


def test_another_content_has_another_address(tmp_path: Path):
    versions = set()
    for content in ("one", "two", "one"):
        for name in ("boot.js", "page.js"):
            (tmp_path / name).write_text(f"// {content}")
        versions.add(Assets(tmp_path).version)
    assert len(versions) == 2


def test_a_further_attempt_is_another_address_and_another_version_is_never_sent(client, run):
    page = client.get(f"/run/{run.ref}").text
    [base] = set(re.findall(r'data-base="(.*?)"', page))
    again = client.get(f"{base}.2/page.js")
    assert again.status_code == 200 and "immutable" in again.headers["Cache-Control"]
    head = client.head(f"{base}/page.js")
    assert (head.status_code, head.data) == (200, b"")
    assert head.headers["Content-Length"] == again.headers["Content-Length"]
    for address in ("/assets/000000000000/page.js", "/assets/000000000000.1/new.js"):
        other = client.get(address)
        assert (other.status_code, other.headers["Cache-Control"]) == (503, "no-store")
        assert other.text == "another version of the program\n"
    assert client.get(f"{base}/nothing.js").status_code == 404


def test_the_only_program_in_a_page_is_the_one_that_its_policy_names(client, run):
    response = client.get(f"/run/{run.ref}")
    [program] = re.findall(r"<script data-base[^>]*>(.*?)</script>", response.text, re.DOTALL)
    source = f"'sha256-{b64encode(sha256(program.encode()).digest()).decode()}'"
    policy = response.headers["Content-Security-Policy"]
    assert f"script-src 'self' {source};" in policy


def test_a_page_travels_compressed_to_who_can_read_that(client, run):
    plain = client.get(f"/run/{run.ref}")
    small = client.get(f"/run/{run.ref}", headers={"Accept-Encoding": "gzip, br"})
    assert "Content-Encoding" not in plain.headers
    assert small.headers["Content-Encoding"] == "gzip"
    assert "<h1" in gzip.decompress(small.data).decode()
    assert int(small.headers["Content-Length"]) == len(small.data) < len(plain.data) / 2
    assert "Accept-Encoding" in small.headers["Vary"]


def test_styles_are_sent_without_comments_except_those_that_must_stay(tmp_path: Path):
    for name in ("boot.js", "page.js"):
        (tmp_path / name).write_text("export const one = 1;\n")
    (tmp_path / "page.css").write_text("/* why */\na { color: red; }\n/*! licence */\n")
    sent = Assets(tmp_path).files["page.css"].content
    assert sent == b"a { color: red; }\n/*! licence */\n"
