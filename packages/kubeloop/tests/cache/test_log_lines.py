"""Names and messages of a server cannot forge a line of an informer's log."""

from __future__ import annotations

import pytest

from kubeloop import Client
from kubeloop.wire import visible
from kubeloop.wire.core.v1 import ConfigMap
from kubeloop_testing import APIServer
from kubeloop_testing.server.faults import Reply, SeenRequest

FORGED = "web\n2026-01-01 CRITICAL root: all is lost\x1b[2J\u202e"


def twice_in_one_list(seen: SeenRequest) -> Reply | None:
    if seen.resource != "configmaps":
        return None
    if seen.query.get("sendInitialEvents"):  # as a server that does not support such streams
        failure = {"kind": "Status", "apiVersion": "v1", "status": "Failure"}
        refused = {"code": 422, "reason": "Invalid", "message": f"no such field: {FORGED}"}
        return Reply(422, failure | refused)
    if seen.query.get("watch"):
        return None
    item = {"metadata": {"name": FORGED, "namespace": "shop", "uid": "u", "resourceVersion": "1"}}
    listed = {"kind": "ConfigMapList", "apiVersion": "v1", "metadata": {"resourceVersion": "5"}}
    return Reply(body={**listed, "items": [item, item]})


async def test_a_name_cannot_forge_a_log_line(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG", "kubeloop")
    async with APIServer() as server, Client(server.config) as client:
        server.faults.reactors.append(twice_in_one_list)

        async with client.informer(ConfigMap):
            pass

    lines = [record.getMessage() for record in caplog.records]
    assert any("all is lost" in line for line in lines)
    assert [line for line in lines if visible(line) != line] == []
