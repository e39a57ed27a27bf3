"""`make test-peers` counts the tests of other clients, and says what it cannot run."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import peers
import pytest

REPORT = """
<testsuites><testsuite>
  <testcase classname="a" name="passes"/>
  <testcase classname="a" name="fails"><failure message="no"/></testcase>
  <testcase classname="a" name="skips"><skipped/></testcase>
  <testcase classname="a" name="leaks"/>
  <testcase classname="a" name="leaks"><error message="in the teardown"/></testcase>
</testsuite></testsuites>
"""
SPECS = """
[{"SpecReports": [
  {"ContainerHierarchyTexts": ["Client"], "LeafNodeText": "gets",
   "LeafNodeType": "It", "State": "passed"},
  {"ContainerHierarchyTexts": ["Client"], "LeafNodeText": "lists",
   "LeafNodeType": "It", "State": "panicked"},
  {"ContainerHierarchyTexts": null, "LeafNodeText": "later",
   "LeafNodeType": "It", "State": "pending"},
  {"ContainerHierarchyTexts": null, "LeafNodeText": "",
   "LeafNodeType": "BeforeSuite", "State": "failed"}
]}]
"""


def test_a_test_whose_teardown_fails_has_failed(tmp_path: Path) -> None:
    (tmp_path / "report.xml").write_text(REPORT)

    outcome = peers.read_report(tmp_path / "report.xml")

    assert outcome.passed == {"a::passes"}
    assert outcome.failed == {"a::fails", "a::leaks"}
    assert str(outcome) == "1 passed, 2 failed, 1 skipped"


def test_a_suite_that_does_not_start_has_failed() -> None:
    outcome = peers.Outcome()

    peers.add_specs(outcome, "client", json.loads(SPECS))

    assert outcome.passed == {"client: Client gets"}
    assert outcome.failed == {"client: Client lists", "client: BeforeSuite"}
    assert outcome.skipped == {"client: later"}


def test_what_fails_only_on_the_embedded_server_fails_the_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    outcomes = {
        "embedded": peers.Outcome(passed={"a"}, failed={"b", "c"}),
        "kube-apiserver": peers.Outcome(passed={"a", "b"}, failed={"c"}),
    }
    monkeypatch.setattr(peers, "run_python", lambda peer, server, _: outcomes[server])

    code = peers.main(["kopf"])

    assert code == 1
    assert capsys.readouterr().out.splitlines()[-2:] == [
        "kopf: failed only on the embedded server: 1",
        "    b",
    ]


def test_without_a_network_the_message_says_what_failed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(subprocess, "run", _fail)

    code = peers.main(["kr8s"])

    assert code == 2
    assert capsys.readouterr().out == "kr8s: cannot run: pip download failed (no network?)\n"


def _fail(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
    return subprocess.CompletedProcess(command, 1)
