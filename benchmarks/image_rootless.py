"""Build the image with buildah, without root and without a registry, and run what was built.

Usage: python benchmarks/image_rootless.py [--user NAME] [--context FOLDER]

The base image is made from Debian's archive: mmdebstrap unpacks Debian 12 with its Python, and
buildah takes the tree in as debian-python. Then docs/deploy/Dockerfile is built on it, word for
word. What was built is inspected, and its command started as the image's user until the image's
health check is content. Needs buildah, mmdebstrap and an ordinary user with subordinate ids; with
--user, root gives everything to such a user. The port 9100 must be free: containers share the
machine's network here.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")
BASE, IMAGE = "localhost/debian-python:bookworm", "localhost/parallax"
HEALTHY_WITHIN_S = 180.0


class Builder:
    """buildah and mmdebstrap, as one user.

    Args:
        user: Who builds; empty for whoever runs this.
        folder: A folder of theirs.
    """

    def __init__(self, user: str, folder: Path) -> None:
        self._as = ["runuser", "--user", user, "--"] if user else []
        home = str(folder)
        self._own = {
            **os.environ, "HOME": home, "XDG_RUNTIME_DIR": home, "TMPDIR": home,
            "BUILDAH_ISOLATION": "chroot", "STORAGE_DRIVER": "vfs",
        }  # fmt: skip
        self._folder = folder

    def start(self, *command: str) -> subprocess.Popen[str]:
        """Start a command; what it prints is kept apart."""
        return subprocess.Popen(
            [*self._as, *command], env=self._own, cwd=self._folder, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip

    def ask(self, *command: str) -> subprocess.CompletedProcess[str]:
        """Run a command that may fail."""
        return subprocess.run(
            [*self._as, *command], env=self._own, cwd=self._folder, text=True, capture_output=True
        )

    def do(self, what: str, *command: str) -> str:
        """Run a command, say how long it took, and return what it printed.

        Raises:
            SystemExit: It failed.
        """
        began = time.monotonic()
        done = self.ask(*command)
        took = f"{time.monotonic() - began:6.1f} s"
        if done.returncode:
            sys.exit(f"FAILED  {took}  {what}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
        print(f"done    {took}  {what}", flush=True)
        return done.stdout


def main() -> None:
    """Build, inspect and run."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--user", default="", help="who builds, where root runs this")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="parallax-rootless-") as name:
        folder = Path(name)
        folder.chmod(0o755)  # other ids of the same user look in
        subprocess.run(["git", "clone", "--quiet", str(ROOT), str(folder / "source")], check=True)
        if options.user:
            subprocess.run(["chown", "--recursive", options.user, name], check=True)
        builder = Builder(options.user, folder)
        try:
            make_base(builder)
            make_image(builder, folder / "source")
            inspect(json.loads(builder.do("inspected", "buildah", "inspect", "-t", "image", IMAGE)))
            run(builder)
        finally:
            builder.ask("buildah", "rm", "--all")
            builder.ask("buildah", "unshare", "rm", "-rf", str(folder / ".local"))


def make_base(builder: Builder) -> None:
    """Make the base image from Debian's archive."""
    packages = "--include=python3,python3-venv,ca-certificates"
    builder.do(
        "Debian 12 and its Python from the archive",
        *("mmdebstrap", "--mode=unshare", "--variant=minbase", packages, "bookworm", "base.tar"),
    )
    container = builder.do("a container from nothing", "buildah", "from", "scratch").strip()
    builder.do("the tree taken in", "buildah", "add", "--quiet", container, "base.tar", "/")
    path = "PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"
    builder.ask("buildah", "config", "--env", path, container)
    link = ("ln", "-s", "/usr/bin/python3", "/usr/local/bin/python")
    builder.ask("buildah", "run", container, "--", *link)
    builder.do("the base image", "buildah", "commit", "--quiet", "--rm", container, BASE)


def make_image(builder: Builder, source: Path) -> None:
    """Build the Dockerfile as it is; pip and apt trust what this machine trusts."""
    deploy = source / "docs/deploy"
    trusted = f"{CERTIFICATES}:{CERTIFICATES}:ro"
    builder.do(
        "docs/deploy/Dockerfile, every step",
        *("buildah", "build", "--format", "docker", "--volume", trusted, "--tag", IMAGE),
        *("--file", str(deploy / "Dockerfile"), "--build-arg", f"PYTHON={BASE}"),
        *("--ignorefile", str(deploy / "Dockerfile.dockerignore"), str(source)),
    )


def inspect(found: dict[str, Any]) -> None:
    """Print what the image says of itself."""
    config = found["Docker"]["config"]
    for name in ("User", "Volumes", "Entrypoint", "Cmd", "StopSignal"):
        print(f"{name:12}{json.dumps(config.get(name))}")
    print(f"{'Healthcheck':12}{json.dumps(config['Healthcheck']['Test'][:2])}")


def run(builder: Builder) -> None:
    """Start the image's command, wait until it is healthy, and ask the doctor.

    Raises:
        SystemExit: It is not healthy in time, or holds what it should not.
    """
    container = builder.do("a container of the image", "buildah", "from", IMAGE).strip()
    inside = ("buildah", "run", "--user", "10001:10001", container, "--")
    left_out = "import importlib.util as u, os; print([n for n in ('torch', 'pandas') "
    left_out += (
        "if u.find_spec(n)] + [p for p in ('/opt/build', '/root/.cache') if os.path.exists(p)])"
    )
    print(f"{'left over':12}{builder.ask(*inside, 'python', '-c', left_out).stdout.strip()}")
    server = builder.start(*inside, "parallax", "serve")
    began = time.monotonic()
    probe = (
        "import urllib.request; urllib.request.urlopen('http://127.0.0.1:9100/readyz', timeout=4)"
    )
    try:
        while builder.ask(*inside, "python", "-c", probe).returncode:
            if server.poll() is not None or time.monotonic() - began > HEALTHY_WITHIN_S:
                sys.exit("FAILED  the health check is not content")
            time.sleep(0.5)
        print(f"healthy {time.monotonic() - began:6.1f} s  as 10001:10001")
        print(builder.ask(*inside, "parallax", "doctor").stdout, end="")
    finally:
        builder.ask(*inside, "parallax", "stop")
        server.terminate()
    server.wait(60)


if __name__ == "__main__":
    main()
