"""The address that platforms call: no call there imports code, and platforms of runs are heard."""

import sys


def test_a_name_that_no_run_has_is_not_imported(client, run, tmp_path, monkeypatch):
    (tmp_path / "anybodys_module.py").write_text("class Recruiter: pass\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert run.recruiter != "anybodys_module:Recruiter"
    for name in ("anybodys_module:Recruiter", "anybodys_module:", "simulator", "\r\nno name"):
        answer = client.post(f"/hooks/{name}", data=b"{}")
        assert (answer.status_code, "There is no such page." in answer.text) == (404, True)
    assert "anybodys_module" not in sys.modules
