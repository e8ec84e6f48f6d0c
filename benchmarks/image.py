"""Run the steps of docs/deploy/Dockerfile on a machine without a container engine.

Usage: python benchmarks/image.py [--list]

Each stage is a copy of this machine's root (an overlay that is thrown away), in which the steps
run word for word; in place of the stage's base image stands this machine's Debian, with the Python
of /usr/bin. What was built is then started as the image starts it: as the image's user, without
capabilities, on a root that cannot be written to, in a network of its own. The image's health check
is asked until it is content, and the server is stopped with the image's signal. Needs Linux, root,
unshare, and the packages of docs/deploy/requirements.lock. --list prints the steps and runs none.
"""

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))
from tests.documentation.dockerfile import ROOT, Stage, in_context, read_dockerfile

HEALTHY_WITHIN_S = 180.0
# What pip needs to know of this machine; nothing else of its environment is seen.
PASSED_ON = ("PIP_", "SSL_", "HTTP", "http", "REQUESTS_", "no_proxy", "NO_PROXY")


def main() -> None:
    """Print the steps, or run them."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--list", action="store_true", help="print the steps, run none")
    parser.add_argument("--inside", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.list:
        for stage in read_dockerfile():
            for step in stage.steps:
                print(f"{stage.name or 'image':<6}{step.word:<12}{step.text}")
    elif arguments.inside:
        build_and_serve(arguments.inside)
    elif sys.platform != "linux" or os.geteuid() or not shutil.which("unshare"):
        sys.exit("Error: root on Linux and unshare are needed.")
    else:
        # Mounts are seen in here alone, and go with the process.
        with tempfile.TemporaryDirectory(prefix="parallax-image-") as folder:
            own = ["unshare", "--mount", sys.executable, __file__, "--inside", folder]
            sys.exit(subprocess.run(own).returncode)


def build_and_serve(folder: Path) -> None:
    """Run all stages, and the server of the last."""
    subprocess.run(["mount", "-t", "tmpfs", "none", str(folder)], check=True)
    roots: dict[str, Path] = {}
    stages = read_dockerfile()
    for number, stage in enumerate(stages):
        root = roots[stage.name] = new_root(folder / str(number))
        environment, workdir = {}, "/"
        for step in stage.steps:
            if step.word == "ENV":
                environment |= dict(pair.split("=", 1) for pair in step.text.split())
            elif step.word == "WORKDIR":
                workdir = step.text
                (root / workdir[1:]).mkdir(parents=True, exist_ok=True)
            elif step.word == "COPY":
                copy(step.text, root, workdir, roots)
            elif step.word == "RUN":
                run_step(step.text, root, workdir, environment)
    serve(stages[-1], root)


def new_root(folder: Path) -> Path:
    """Return a copy of this machine's root that is no more than what is changed in it."""
    upper, work, root = (folder / name for name in ("upper", "work", "root"))
    for each in (upper, work, root):
        each.mkdir(parents=True)
    layers = f"lowerdir=/,upperdir={upper},workdir={work}"
    mount("-t", "overlay", "overlay", "-o", layers, str(root))
    mount("--bind", "/proc", str(root / "proc"))
    mount("--rbind", "/dev", str(root / "dev"))
    mount("-t", "tmpfs", "none", str(root / "opt"))
    for name in ("resolv.conf", "hosts"):
        if Path("/etc", name).exists():
            mount("--bind", f"/etc/{name}", str(root / "etc" / name))
    python = root / "usr/local/bin/python"
    python.unlink(missing_ok=True)
    python.symlink_to("/usr/bin/python3")
    return root


def mount(*arguments: str) -> None:
    """Mount something."""
    subprocess.run(["mount", *arguments], check=True)


def copy(text: str, root: Path, workdir: str, roots: dict[str, Path]) -> None:
    """Do what COPY says: from an earlier stage, or from what a build may see of the sources."""
    *given, target = text.split()
    into = root / os.path.join(workdir, target)[1:]  # noqa: PTH118 - an absolute target wins
    if given[0].startswith("--from="):
        shutil.copytree(roots[given[0].removeprefix("--from=")] / given[1][1:], into, symlinks=True)
        return
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    for file in in_context(listed.stdout.splitlines()):
        if given == ["."] or file in given:
            to = into / (file if given == ["."] else Path(file).name)
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / file, to)


def run_step(text: str, root: Path, workdir: str, environment: dict[str, str]) -> None:
    """Run a step as the engine would, word for word.

    Raises:
        SystemExit: It failed; Debian's packages may be out of reach, which is only said.
    """
    began = time.monotonic()
    own = {name: value for name, value in os.environ.items() if name.startswith(PASSED_ON)}
    whole = {"PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", **own, **environment}
    done = subprocess.run(
        ["chroot", str(root), "/bin/sh", "-c", f"cd {workdir} && {text}"],
        env=whole, capture_output=True, text=True,
    )  # fmt: skip
    took = f"{time.monotonic() - began:6.1f} s"
    if done.returncode == 0:
        print(f"ran      {took}  {text}", flush=True)
    elif text.startswith("apt-get"):
        print(f"NOT RUN  {took}  {text}: Debian's packages are out of reach here", flush=True)
    else:
        sys.exit(f"FAILED   {took}  {text}\n{done.stdout}{done.stderr}")


def serve(stage: Stage, root: Path) -> None:
    """Start the image's command as compose.yaml starts it, ask for its health, and stop it.

    Raises:
        SystemExit: It is not healthy in time, can write outside its volumes, or does not end well.
    """
    [user], [health] = stage.texts("USER"), stage.texts("HEALTHCHECK")
    [entry], [command] = stage.texts("ENTRYPOINT"), stage.texts("CMD")
    [volumes], [workdir] = stage.texts("VOLUME"), stage.texts("WORKDIR")
    uid, gid = user.split(":")
    for volume in json.loads(volumes):
        mount("-t", "tmpfs", "-o", f"mode=0700,uid={uid},gid={gid}", "none", f"{root}{volume}")
    mount("-t", "tmpfs", "none", f"{root}/tmp")
    for read_only in (f"{root}/opt", str(root)):
        mount("-o", "remount,ro", read_only)
    bare = [
        *("setpriv", f"--reuid={uid}", f"--regid={gid}", "--clear-groups", "--no-new-privs"),
        *("--bounding-set=-all", "--inh-caps=-all", "sh", "-c", f'cd {workdir} && exec "$@"', "sh"),
    ]
    environment = stage.environment()
    server = subprocess.Popen(
        ["unshare", "--net", "sh", "-c", 'ip link set lo up && exec chroot "$@"', "sh", str(root),
         *bare, *json.loads(entry), *json.loads(command)],
        env=environment | {"PATH": f"/usr/sbin:/sbin:{environment['PATH']}"},
    )  # fmt: skip
    in_it = ["nsenter", f"--net=/proc/{server.pid}/ns/net", "chroot", str(root), *bare]
    probe = json.loads(health.partition("CMD ")[2])
    try:
        began = time.monotonic()
        while inside(in_it, probe, environment).returncode:
            if server.poll() is not None or time.monotonic() - began > HEALTHY_WITHIN_S:
                sys.exit("FAILED   the health check is not content")
            time.sleep(0.5)
        print(f"healthy  {time.monotonic() - began:6.1f} s  as {user}, on a read-only root")
        for place in ("/opt/parallax/x", "/etc/x", "/usr/x"):
            if not inside(in_it, ["touch", place], environment).returncode:
                sys.exit(f"FAILED   {place} can be written")
        asked = inside(in_it, ["parallax", "doctor"], environment)
        print(asked.stdout + asked.stderr, end="")
    finally:
        server.send_signal(getattr(signal, stage.texts("STOPSIGNAL")[0]))
    print(f"stopped with exit status {server.wait(60)}")
    sys.exit(server.returncode or asked.returncode)


def inside(
    prefix: list[str], command: list[str], environment: dict[str, str]
) -> subprocess.CompletedProcess[str]:
    """Run a command where the server runs, as its user."""
    own = environment | {"PATH": f"{environment['PATH']}:/usr/sbin:/sbin"}
    return subprocess.run([*prefix, *command], env=own, capture_output=True, text=True)


if __name__ == "__main__":
    main()
