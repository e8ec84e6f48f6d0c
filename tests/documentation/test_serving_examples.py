"""What the page on serving tells to copy does what the page says, logs included."""

import os
import re
import shutil
import socket
import ssl
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path

import httpx
import pytest

from tests.documentation.examples import ROOT, adapted, examples
from tests.documentation.web_servers import make_certificate, nginx_command
from tests.free_ports import free_port
from tests.patience import PATIENCE_S
from tests.prerequisites import CADDY, NGINX, SYSTEMD
from webapp import create_app
from webapp.core.settings import INSTANCE_VARIABLE
from webapp.errors import WebappError
from webapp.http.security_headers import PERMISSIONS_POLICY
from webapp.recruiters.settings import load_settings
from webapp.server import server_control as server

EXAMPLES = examples()
VENV = "/opt/parallax/.venv"
SECRETS = ("TOKEN-of-somebody", "WORKER-ID-of-somebody", "127.0.0.1")


@pytest.fixture
def certificate(tmp_path: Path) -> tuple[Path, Path]:
    return make_certificate(tmp_path)


@pytest.fixture
def instance(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "instance"
    folder.mkdir()
    yield folder
    if server.find_running_server(folder):
        server.stop(folder)


@contextmanager
def running(command: list[str], port: int, log: Path, **environment: str) -> Iterator[None]:
    with log.open("wb") as writing:
        process = subprocess.Popen(
            command, stdout=writing, stderr=writing, env={**os.environ, **environment}
        )
        try:
            deadline = time.monotonic() + PATIENCE_S
            while not listens(port):
                assert process.poll() is None and time.monotonic() < deadline, log.read_text()
                time.sleep(0.02)
            yield
        finally:
            process.terminate()
            process.wait(PATIENCE_S)


def listens(port: int) -> bool:
    with socket.socket() as trial:
        return trial.connect_ex(("127.0.0.1", port)) == 0


def ask(
    port: int, path: str, trusted: Path | None, host: str = "study.example.org"
) -> httpx.Response:
    scheme = "http" if trusted is None else "https"
    verify = ssl.create_default_context(cafile=str(trusted)) if trusted else True
    with httpx.Client(verify=verify, trust_env=False, timeout=PATIENCE_S) as client:
        request = client.build_request(
            "GET", f"{scheme}://127.0.0.1:{port}{path}", headers={"Host": host}
        )
        request.extensions["sni_hostname"] = "study.example.org"
        return client.send(request)


def upgrade(port: int, trusted: Path) -> str:
    """Send what asks for another protocol with a body, byte by byte, and return the first line."""
    context = ssl.create_default_context(cafile=str(trusted))
    head = (
        "POST /run/nowhere HTTP/1.1\r\nHost: study.example.org\r\nConnection: Upgrade\r\n"
        "Upgrade: websocket\r\nContent-Type: application/x-www-form-urlencoded\r\n"
        "Content-Length: 15\r\n\r\ndecision=accept"
    )
    with (
        socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S) as plain,
        context.wrap_socket(plain, server_hostname="study.example.org") as connection,
    ):
        connection.sendall(head.encode())
        return connection.recv(4096).decode().partition("\r\n")[0]


def upload(port: int, trusted: Path) -> httpx.Response:
    """Send a file of 20 MB as a researcher does."""
    verify = ssl.create_default_context(cafile=str(trusted))
    with httpx.Client(verify=verify, trust_env=False, timeout=PATIENCE_S) as client:
        request = client.build_request(
            "POST", f"https://127.0.0.1:{port}/researcher/launch/upload",
            headers={"Host": "study.example.org"}, files={"study": bytes(20_000_000)},
        )  # fmt: skip
        request.extensions["sni_hostname"] = "study.example.org"
        return client.send(request)


def go_through_faults(
    secure: int, plain: int, trusted: Path, instance: Path, port: int, logs: Callable[[], str]
) -> None:
    """Ask for pages before, with and after a server behind, and search what was logged."""
    path = f"/p/{SECRETS[0]}/?workerId={SECRETS[1]}"
    is_told_to_come_again(ask(secure, path, trusted))
    server.start(instance, port=port, workers=1)
    assert ask(secure, "/healthz", trusted).json() == {"status": "ok"}
    assert ask(secure, path, trusted).status_code == 401
    moved = ask(plain, path, None)
    assert moved.status_code in (301, 308)
    assert re.match(r"https://study\.example\.org(:\d+)?/p/", moved.headers["location"])
    # Whoever asks for another's name is led to nobody but us.
    assert "evil" not in ask(plain, path, None, "evil.example").headers.get("location", "")
    # Nobody is signed in, and so it is the server that refuses; the web server lets it through.
    answered = upload(secure, trusted)
    assert answered.status_code == 413 and "<title>413" not in answered.text
    assert re.match(r"HTTP/1.1 40[45] ", upgrade(secure, trusted))
    page = ask(secure, "/nowhere", trusted)
    assert page.headers.get_list("permissions-policy") == [PERMISSIONS_POLICY]
    server.stop(instance)
    is_told_to_come_again(ask(secure, path, trusted))
    said = logs()
    # Every request stands there, without who sent it.
    assert ("/p/.../" in said and "/healthz" in said and " 401 " in said) or '"status":401' in said
    assert [secret for secret in SECRETS if secret in said] == []


def is_told_to_come_again(away: httpx.Response) -> None:
    """Look at the answer to who comes while there is no server behind."""
    assert away.status_code == 503 and away.headers["retry-after"] == "5"
    assert away.headers["strict-transport-security"] == "max-age=31536000"
    assert away.headers.get_list("permissions-policy") == [PERMISSIONS_POLICY]
    assert 'http-equiv="refresh"' in away.text
    assert away.headers["content-type"].startswith("text/html")


def test_nginx_serves_by_the_page_s_example_and_logs_nobody(tmp_path, instance, certificate):
    program = NGINX.require()
    plain, secure, port = free_port(), free_port(), free_port()
    servers = f"server 127.0.0.1:{port};"
    command = nginx_command(program, tmp_path, servers, plain, secure, certificate)
    checked = subprocess.run([*command, "-t"], capture_output=True, text=True)
    assert checked.returncode == 0, checked.stderr
    with running(command, secure, tmp_path / "said.log"):
        go_through_faults(secure, plain, certificate[0], instance, port, all_logs(tmp_path))


def caddy(
    folder: Path, example: str, port: int, plain: int, secure: int, files: tuple[Path, Path]
) -> AbstractContextManager[None]:
    """Run Caddy by an example, with these ports and this certificate."""
    program = CADDY.require()
    ports = f"http_port {plain}\n    https_port {secure}\n    admin off"
    example = adapted(
        example,
        {
            "127.0.0.1:8000": f"127.0.0.1:{port}",
            "\n    log {\n        exclude": f"\n    {ports}\n    log {{\n        exclude",
            "/var/log/caddy/parallax-access.log": folder / "parallax-access.log",
            "example.org {": f"example.org {{\n    tls {files[0]} {files[1]}",
        },
    )
    whole = folder / "Caddyfile"
    whole.write_text(example)
    command = [str(program), "run", "--config", str(whole), "--adapter", "caddyfile"]
    own = {"HOME": str(folder), "XDG_DATA_HOME": str(folder), "XDG_CONFIG_HOME": str(folder)}
    return running(command, secure, folder / "said.log", **own)


def test_caddy_serves_by_the_page_s_example_and_logs_nobody(tmp_path, instance, certificate):
    CADDY.require()
    plain, secure, port = free_port(), free_port(), free_port()
    with caddy(tmp_path, EXAMPLES["caddy"], port, plain, secure, certificate):
        go_through_faults(secure, plain, certificate[0], instance, port, all_logs(tmp_path))


def test_the_compose_file_s_caddy_finds_the_node_that_is_left(tmp_path, certificate):
    CADDY.require()
    plain, secure = free_port(), free_port()
    nodes = [tmp_path / name for name in ("one", "two")]
    ports = []
    for node in nodes:
        node.mkdir()
        database = f'database_url = "sqlite:///{tmp_path}/both.sqlite3"\n'
        (node / "parallax.toml").write_text(
            f'{database}public_url = "https://study.example.org"\nworkers = 1\n'
        )
        if ports:
            # Nodes of one database have the same keys, as the compose file's do.
            for path in nodes[0].glob("*_key"):
                shutil.copy(path, node / path.name)
        ports.append(server.start(node).url.rpartition(":")[2])
    own = (ROOT / "docs" / "deploy" / "Caddyfile").read_text(encoding="utf-8")
    example = adapted(
        own,
        {
            "{$DOMAIN}": "study.example.org",
            "one:8000 two:8000": f"127.0.0.1:8000 127.0.0.1:{ports[1]}",
            "health_interval 5s": "health_interval 100ms",
            "output stdout": "output file /var/log/caddy/parallax-access.log",
        },
    )
    try:
        with caddy(tmp_path, example, int(ports[0]), plain, secure, certificate):
            answered = [ask(secure, "/healthz", certificate[0]).status_code for _ in range(4)]
            assert answered == [200] * 4
            page = ask(secure, "/healthz", certificate[0])
            assert page.headers.get_list("strict-transport-security") == ["max-age=31536000"]
            server.stop(nodes[0])
            deadline = time.monotonic() + PATIENCE_S
            while {ask(secure, "/healthz", certificate[0]).status_code for _ in range(6)} != {200}:
                assert time.monotonic() < deadline
            server.stop(nodes[1])
            away = ask(secure, f"/p/{SECRETS[0]}/?workerId={SECRETS[1]}", certificate[0])
            assert (away.status_code, away.headers["retry-after"]) == (503, "5")
            assert away.headers["strict-transport-security"] == "max-age=31536000"
            assert away.headers.get_list("permissions-policy") == [PERMISSIONS_POLICY]
        said = all_logs(tmp_path)()
        assert [secret for secret in SECRETS[:2] if secret in said] == []
    finally:
        for node in nodes:
            with suppress(WebappError):
                server.stop(node)


@pytest.mark.parametrize("excluded", [True, False])
def test_caddy_would_log_people_but_for_what_the_example_excludes(tmp_path, certificate, excluded):
    line = "exclude http.log.error http.handlers.reverse_proxy"
    example = (
        EXAMPLES["caddy"] if excluded else adapted(EXAMPLES["caddy"], {line: "exclude nothing"})
    )
    # An error that is handled is not logged either, so the line is tried without its help.
    bare, n_removed = re.subn(r"\n    handle_errors \{.*?\n    \}\n", "", example, flags=re.DOTALL)
    assert n_removed == 1
    nobody, plain, secure = (free_port() for _ in range(3))
    with caddy(tmp_path, bare, nobody, plain, secure, certificate):
        path = f"/p/{SECRETS[0]}/?workerId={SECRETS[1]}"
        assert ask(secure, path, certificate[0]).status_code == 502
    said = (tmp_path / "said.log").read_text()
    assert all((secret in said) is not excluded for secret in SECRETS[:2])


def all_logs(folder: Path) -> Callable[[], str]:
    def read() -> str:
        found = [*folder.glob("*.log"), *folder.glob("instance/*.log")]
        assert any(path.stat().st_size for path in found)
        text = "\n".join(path.read_text() for path in found)
        # Where the server listens stands in its first lines, which name nobody.
        return re.sub(r"Listening at: \S+", "", text)

    return read


def test_systemd_takes_the_unit_and_finds_it_hardened(tmp_path):
    program = SYSTEMD.require()
    unit = tmp_path / "parallax.service"
    unit.write_text(adapted(EXAMPLES["unit"], {VENV: tmp_path}))
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "parallax").write_text("#!/bin/sh\n")
    (tmp_path / "bin" / "parallax").chmod(0o755)
    checked = subprocess.run(
        [program, "verify", "--man=no", str(unit)], capture_output=True, text=True
    )
    assert (checked.returncode, checked.stderr) == (0, "")
    judged = subprocess.run(
        [program, "security", "--offline=true", "--no-pager", str(unit)],
        capture_output=True,
        text=True,
    )
    level = re.search(r"exposure level for parallax.service: ([\d.]+)", judged.stdout)
    assert level, judged.stdout + judged.stderr
    assert float(level[1]) <= 2.0


def test_the_unit_s_commands_and_exit_statuses_are_those_of_parallax():
    unit = EXAMPLES["unit"]
    assert f"ExecStart={VENV}/bin/parallax serve\n" in unit
    assert f"ExecReload={VENV}/bin/parallax reload --pid $MAINPID\n" in unit
    assert f"Environment={INSTANCE_VARIABLE}=/srv/parallax\n" in unit
    assert "RestartPreventExitStatus=2 3\n" in unit


def test_the_nightly_line_makes_a_backup_of_the_unit_s_folder_as_cron_runs_it(tmp_path, instance):
    assert "Environment=PARALLAX_INSTANCE=/srv/parallax\n" in EXAMPLES["unit"]
    (tmp_path / "backups").mkdir()
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "parallax").write_text(
        f'#!/bin/sh\ncd "{Path(__file__).parents[2]}" && exec "{sys.executable}" -m parallax "$@"\n'
    )
    (programs / "parallax").chmod(0o755)
    load_settings(instance)
    line = adapted(
        EXAMPLES["cron"],
        {
            f"{VENV}/bin": programs,
            "/srv/parallax/backups": tmp_path / "backups",
            "/srv/parallax": instance,
        },
    ).strip()
    assert re.match(r"(\S+ +){5}", line)
    # cron runs the sixth field, turns "\%" into "%", and knows few variables.
    command = re.sub(r"^(\S+ +){5}", "", line).replace("\\%", "%")
    # Open, as a server has it; beside one at work: tests/webapp/commands/test_private_files.py.
    engine = create_app(instance).extensions["parallax"].engine
    done = subprocess.run(
        ["/bin/sh", "-c", command],
        env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "SHELL": "/bin/sh"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    engine.dispose()
    assert done.returncode == 0, done.stderr
    backup, record = sorted((tmp_path / "backups").iterdir())
    assert backup.name.startswith("parallax-") and "tables agree" in done.stdout
    assert record.name == f"{backup.name}.erasures"


def test_the_settings_of_a_node_are_settings(instance):
    example = EXAMPLES["node"]
    (instance / "parallax.toml").write_text(example)
    settings = load_settings(instance)
    for name, value in tomllib.loads(example).items():
        assert getattr(settings, name) == value


def test_every_program_that_an_example_names_is_installed_where_the_unit_has_it():
    named = {found for text in EXAMPLES.values() for found in re.findall(r"\S+/bin/parallax", text)}
    assert {Path(each.partition("=")[2] or each).parent for each in named} == {Path(VENV) / "bin"}
    assert shutil.which("sh") is not None
