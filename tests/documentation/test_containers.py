"""The image, the compose file and the lock files say what the page on containers says."""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import requires
from ipaddress import ip_address, ip_network
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.documentation.dockerfile import DEPLOY, ROOT, in_context, read_dockerfile
from tests.documentation.examples import adapted, examples
from tests.patience import PATIENCE_S
from webapp.recruiters.settings import load_settings
from webapp.server.private_port import READYZ

IMAGE_EXTRAS = ("backup", "mturk", "postgres")
BUILD, IMAGE = read_dockerfile()
COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
SERVICES = COMPOSE["services"]


def locked(name: str) -> dict[str, tuple[str, int]]:
    """Each distribution of a lock file with its version and how many hashes it has."""
    text = (DEPLOY / name).read_text(encoding="utf-8").replace("\\\n", "")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    found = {}
    for line in lines:
        pinned = re.match(r"([\w.-]+)==([\w.]+)", line)
        assert pinned, line
        found[canonicalize_name(pinned[1])] = pinned[2], len(re.findall("--hash=sha256:", line))
    return found


def constraints() -> dict[str, str]:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pins = (line.split("==") for line in lines if not line.startswith("#"))
    return {canonicalize_name(name): version for name, version in pins}


def needed(requirement: Requirement, extra: str = "") -> Iterator[str]:
    """Names of what a requirement brings into this environment, itself included."""
    if requirement.marker and not requirement.marker.evaluate({"extra": extra}):
        return
    yield canonicalize_name(requirement.name)
    for wanted in ("", *requirement.extras):
        for each in requires(requirement.name) or ():
            yield from needed(Requirement(each), wanted)


@pytest.mark.parametrize("name", ["requirements.lock", "build.lock"])
def test_what_is_locked_has_hashes_and_the_tested_version(name: str):
    found = locked(name)
    tested = constraints()
    assert {each: version for each, (version, _) in found.items()} == {
        each: tested[each] for each in found
    }
    assert [each for each, (_, n_hashes) in found.items() if n_hashes == 0] == []


def test_the_lock_holds_all_that_the_image_needs():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    named = list(project["project"]["dependencies"])
    for extra in IMAGE_EXTRAS:
        named += project["project"]["optional-dependencies"][extra]
    brought = {each for text in named for each in needed(Requirement(text))}
    assert brought <= set(locked("requirements.lock"))
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert "".join(f" --extra {extra}" for extra in IMAGE_EXTRAS) in makefile
    built_with = {Requirement(each).name for each in project["build-system"]["requires"]}
    assert built_with == set(locked("build.lock"))


def test_the_image_installs_nothing_without_a_hash_but_debian_s_packages():
    installs = [text for text in BUILD.texts("RUN") if "pip install" in text]
    for text in installs:
        assert "--require-hashes" in text or ("--no-index" in text and "--no-deps" in text)
    assert len(installs) == 3
    assert [text for text in IMAGE.texts("RUN") if "pip" in text] == []


def test_the_image_runs_as_nobody_special_and_is_healthy_when_it_is_ready(tmp_path, monkeypatch):
    [user], [health] = IMAGE.texts("USER"), IMAGE.texts("HEALTHCHECK")
    assert re.fullmatch(r"[1-9]\d+:[1-9]\d+", user)
    environment = IMAGE.environment()
    assert f":{environment['PARALLAX_METRICS_PORT']}{READYZ}" in health
    for name, value in environment.items():
        if name.startswith("PARALLAX_"):
            monkeypatch.setenv(name, value)
    assert load_settings(tmp_path).host == "0.0.0.0"
    assert json.loads(IMAGE.texts("VOLUME")[0])[0] == environment["PARALLAX_INSTANCE"]


def test_a_build_sees_all_that_the_wheel_is_made_of_and_no_more():
    given = [
        "webapp/__init__.py", "parallax.py", "pyproject.toml", "docs/deploy/build.lock",
        "instance/secret_key", "docs/serving.md", ".git/config", "tests/conftest.py", ".env",
    ]  # fmt: skip
    assert in_context(given) == given[:4]


def test_each_service_is_confined_and_only_the_web_server_has_ports():
    for name, service in SERVICES.items():
        assert service["cap_drop"] == ["ALL"], name
        assert service.get("read_only", False) == (name != "database"), name
    assert [name for name, service in SERVICES.items() if "ports" in service] == ["proxy"]
    assert COMPOSE["networks"]["data"] == {"internal": True}
    assert SERVICES["database"]["networks"] == ["data"]
    outside = {
        volume.split(":")[0]
        for service in SERVICES.values()
        for volume in service["volumes"]
        if not volume.startswith("./")
    }
    assert outside == set(COMPOSE["volumes"])


def test_the_nodes_settings_are_settings_and_trust_the_web_server(tmp_path, monkeypatch):
    key = tmp_path / "secret_key"
    key.write_text("k" * 64)
    for name, value in SERVICES["one"]["environment"].items():
        own = re.sub(r"\$\{DOMAIN:\?[^}]*\}", "study.example.org", value)
        monkeypatch.setenv(name, own.replace("/secrets/secret_key", str(key)))
    settings = load_settings(tmp_path)
    address = SERVICES["proxy"]["networks"]["web"]["ipv4_address"]
    assert settings.trusted_proxies == address
    assert settings.public_url == "https://study.example.org"
    assert SERVICES["one"]["environment"] == SERVICES["two"]["environment"]


def test_no_node_can_get_the_address_of_the_web_server_or_of_the_gateway():
    [web] = COMPOSE["networks"]["web"]["ipam"]["config"]
    given = ip_network(web["ip_range"])
    assert given.subnet_of(ip_network(web["subnet"]))
    fixed = [SERVICES["proxy"]["networks"]["web"]["ipv4_address"], web["gateway"]]
    for address in map(ip_address, fixed):
        assert address in ip_network(web["subnet"]) and address not in given


def test_the_backup_s_command_is_one(shell_help):
    words = SERVICES["backup"]["command"]
    assert words[:2] == ["db", "backup"]
    assert [each for each in words if each.startswith("--") and each not in shell_help] == []
    # Node one's readiness tells the age of backups that are made from its folder.
    assert {"one:/srv/parallax"} <= set(SERVICES["one"]["volumes"]) & set(
        SERVICES["backup"]["volumes"]
    )


@pytest.fixture
def shell_help() -> str:
    command = [sys.executable, "-m", "parallax", "db", "backup", "--help"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_the_caddyfile_is_the_page_s_example_for_two_nodes():
    own = (DEPLOY / "Caddyfile").read_text(encoding="utf-8").partition("\n")[2]
    nodes = re.search(r"reverse_proxy one:8000 two:8000 \{.*?\n    \}", own, re.DOTALL)
    assert nodes
    assert own == adapted(
        examples()["caddy"],
        {
            "study.example.org {\n": "{$DOMAIN} {\n",
            "https://study.example.org{uri}": "https://{$DOMAIN}{uri}",
            "output file /var/log/caddy/parallax-access.log": "output stdout",
            "reverse_proxy 127.0.0.1:8000": nodes[0],
        },
    )


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_the_secrets_are_made_once_and_each_is_for_one_account(tmp_path):
    [script] = SERVICES["secrets"]["command"]
    script = script.replace("$$", "$").replace("cd /secrets", f"cd {tmp_path}")
    script = script.replace("python -c", f"{sys.executable} -c")

    def make() -> dict[str, tuple[str, int, int]]:
        subprocess.run(["sh", "-euc", script], check=True, timeout=PATIENCE_S)
        return {
            path.name: (path.read_text(), path.stat().st_uid, path.stat().st_mode & 0o777)
            for path in tmp_path.iterdir()
            if path.is_file()
        }

    made = make()
    assert {name: rest for name, (_, *rest) in made.items()} == {
        "secret_key": [10001, 0o600], "pgpass": [10001, 0o600], "password": [999, 0o600],
    }  # fmt: skip
    assert made["pgpass"][0] == f"*:*:*:*:{made['password'][0]}"
    assert tmp_path.stat().st_mode & 0o777 == 0o711
    assert make() == made


def test_the_wheel_is_the_same_bytes_wherever_and_whenever_it_is_built(tmp_path):
    """About a quarter of a minute: the image's own step runs twice."""
    [step] = [text for text in BUILD.texts("RUN") if "pip wheel" in text]
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode:
        pytest.skip("not a git checkout")
    files = [name for name in in_context(listed.stdout.splitlines()) if (ROOT / name).exists()]
    wheels = []
    for folder, mode, moment in (("a", 0o600, 1_700_000_000), ("another", 0o644, 1_750_000_000)):
        for name in files:
            to = tmp_path / folder / "source" / name
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, to)
            to.chmod(mode)
            os.utime(to, (moment, moment))
        own = step.replace("tools/bin/pip", f"{sys.executable} -m pip")
        environment = {**os.environ, **BUILD.environment(), "PIP_NO_INDEX": "1"}
        subprocess.run(["sh", "-c", own], cwd=tmp_path / folder, env=environment, check=True)
        wheels += (tmp_path / folder / "wheels").glob("*.whl")
    assert wheels[0].name == wheels[1].name
    assert wheels[0].read_bytes() == wheels[1].read_bytes()
    assert Path(wheels[0]).stat().st_size > 100_000
