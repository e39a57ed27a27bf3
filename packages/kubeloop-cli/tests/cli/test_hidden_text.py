"""Text of a hostile server or kubeconfig is escaped, and cannot control a terminal."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from kubeloop.wire import visible
from kubeloop_testing import APIServer
from kubeloop_testing.server.faults import Reply, SeenRequest

from .conftest import Call, on_terminal

FORGED = "web\nerror: \x1b[2J\x9b2J\u202egnp\u2066\u200b\u2028"
ESCAPED = r"\x1b[2J\x9b2J\u202egnp\u2066\u200b\u2028"

POD: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": FORGED, "namespace": "shop", "annotations": {FORGED: FORGED}},
}
TABLE = {
    "kind": "Table",
    "apiVersion": "meta.k8s.io/v1",
    "metadata": {},
    "columnDefinitions": [
        {"name": name, "type": "string", "format": form, "description": "", "priority": 0}
        for name, form in (("Name", "name"), (FORGED, ""))
    ],
    "rows": [{"cells": ["web-1", FORGED], "object": POD}],
}


def respond(pods: object, *, code: int = 200) -> Callable[[SeenRequest], Reply | None]:
    """Responds to requests for pods; all other requests go to the server."""
    warning = {"Warning": '299 - "old\u202e"'}

    def react(seen: SeenRequest) -> Reply | None:
        if seen.resource != "pods":
            return None
        return Reply(code, pods, warning)

    return react


def has_no_hidden_text(text: str) -> bool:
    return all(visible(line) == line for line in text.split("\n"))


@pytest.mark.parametrize(
    "command", [("get", "pods"), ("logs", "web"), ("get", "pod", "web", "-o", "yaml")]
)
def test_an_error_is_one_line_that_shows_what_is_hidden(
    command: tuple[str, ...], kubeloop: Call, kube_server: APIServer
) -> None:
    status = {
        "kind": "Status",
        "apiVersion": "v1",
        "status": "Failure",
        "code": 403,
        "reason": "Forbidden",
        "message": FORGED,
    }
    kube_server.faults.reactors.append(respond(status, code=403))

    result = kubeloop(*command)

    errors = [line for line in result.stderr.splitlines() if not line.startswith("Warning:")]
    assert len(errors) == 1
    assert rf"web\nerror: {ESCAPED}" in errors[0]
    assert has_no_hidden_text(result.stderr)


def test_a_table_shows_what_is_hidden(kubeloop: Call, kube_server: APIServer) -> None:
    kube_server.faults.reactors.append(respond(TABLE))

    result = kubeloop("get", "pods")

    assert result.stdout.count("\n") == 2
    assert has_no_hidden_text(result.stdout)
    assert result.stderr == "Warning: old\\u202e\n"


@pytest.mark.parametrize(("output", "read"), [("json", json.loads), ("yaml", yaml.safe_load)])
def test_json_and_yaml_escape_what_is_hidden_and_keep_the_value(
    output: str, read: Callable[[str], Any], kubeloop: Call, kube_server: APIServer
) -> None:
    kube_server.faults.reactors.append(respond(POD))

    result = kubeloop("get", "pod", "web", "-o", output)

    assert has_no_hidden_text(result.stdout)
    assert read(result.stdout) == POD


def test_names_are_one_line_each(kubeloop: Call, kube_server: APIServer) -> None:
    kube_server.faults.reactors.append(respond(POD))

    assert kubeloop("get", "pod", "web", "-o", "name").stdout == f"pod/web\\nerror: {ESCAPED}\n"


def test_a_jsonpath_value_reaches_a_pipe_unchanged(kubeloop: Call, kube_server: APIServer) -> None:
    kube_server.faults.reactors.append(respond(POD))

    assert kubeloop("get", "pod", "web", "-o", "jsonpath={.metadata.name}").stdout == FORGED


LOG = "plain \x1b[31mred\x1b[0m\ttab \x1b]0;title\x07\u202eend"


def log_of_web(seen: SeenRequest) -> Reply | None:
    if seen.subresource != "log":
        return None
    return Reply(200, f"{LOG}\n".encode(), content_type="text/plain")


def test_a_log_reaches_a_pipe_unchanged(kubeloop: Call, kube_server: APIServer) -> None:
    kube_server.faults.reactors.append(log_of_web)

    assert kubeloop("logs", "web-1", "-n", "shop").stdout == f"{LOG}\n"


@pytest.mark.timeout(30)
def test_a_log_on_a_terminal_has_colours_and_no_other_sequence(
    environment: dict[str, str], kube_server: APIServer
) -> None:
    kube_server.faults.reactors.append(log_of_web)

    with on_terminal(environment, "logs", "web-1", "-n", "shop") as terminal:
        terminal.rest()

    assert "plain \x1b[31mred\x1b[0m\ttab \\x1b]0;title\\x07\\u202eend\r\n" in terminal.raw


def test_names_in_a_kubeconfig_are_escaped(kubeloop: Call, tmp_path: Path) -> None:
    hostile = tmp_path / "config"
    text = Path(os.environ["KUBECONFIG"]).read_text("utf-8")
    parsed = yaml.safe_load(text)
    parsed["contexts"][0]["name"] = parsed["current-context"] = FORGED
    hostile.write_text(json.dumps(parsed), "utf-8")

    result = kubeloop("config", "--kubeconfig", str(hostile))
    missing = kubeloop("get", "pods", "--kubeconfig", str(hostile), "--context", "x\x1b[2J")

    assert rf"web\nerror: {ESCAPED} (current-context)" in result.stdout
    assert has_no_hidden_text(result.stdout)
    assert missing.exit_code == 4
    assert len(missing.stderr.splitlines()) == 1
    assert has_no_hidden_text(missing.stderr)
