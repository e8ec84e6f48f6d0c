"""A study in the browser before it is launched: the participants' own pages, nothing kept."""

import json
import re
import socket
import threading

import httpx
import pytest
from click.testing import CliRunner
from werkzeug.serving import BaseWSGIServer

from experiment.errors import ParallaxError
from tests.patience import PATIENCE_S
from tests.webapp.commands.test_texts import copy_of_minimal
from webapp.commands.preview import preview, preview_server


def test_one_trial_of_each_kind_is_shown_on_this_machine_alone():
    with preview_server("minimal", 0) as (server, link):
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            assert link.startswith("http://127.0.0.1:")
            assert (
                'data-page="consent"' in httpx.get(link, trust_env=False, timeout=PATIENCE_S).text
            )
            page = httpx.post(
                link, data={"decision": "accept"}, trust_env=False, timeout=PATIENCE_S
            ).text
        finally:
            server.shutdown()
            thread.join()
    session = json.loads(re.search(r'id="session">(.*?)</script>', page, re.DOTALL)[1])
    assert session["preview"] is True
    assert len(session["trials"]) == 6


def test_the_researcher_is_told_that_nobody_has_reviewed_the_texts(tmp_path, monkeypatch):
    def end(_server: BaseWSGIServer) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(BaseWSGIServer, "serve_forever", end)
    german = str(copy_of_minimal(tmp_path, language="de"))
    printed = CliRunner().invoke(preview, [german, "--no-browser"], catch_exceptions=False).output
    note = 'No native speaker has reviewed the buttons and messages of the pages in "de".'
    assert f"{note} To change that: parallax study texts {german} --out FILE.csv" in printed


def test_nothing_is_left_of_it(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with preview_server("minimal", 0):
        assert list(tmp_path.iterdir())
    assert not list(tmp_path.iterdir())


def test_a_study_with_a_mistake_is_not_shown(tmp_path):
    with pytest.raises(ParallaxError, match="no study"), preview_server("nowhere", 0):
        pass


def test_a_port_that_is_taken_is_named():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        said = rf"--port: the port {port} cannot be used \(Address already in use\)\. "
        said += "Leave the option out to use any free port"
        with pytest.raises(ParallaxError, match=said), preview_server("minimal", port):
            pass
