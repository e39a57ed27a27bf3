"""The status of flow schemas."""

from __future__ import annotations

from typing import Any

from kubeloop.kit import ManualClock
from kubeloop_testing.server.controllers.flow_schemas import (
    LEVELS,
    SCHEMAS,
    FlowSchemaController,
)
from kubeloop_testing.server.controllers.manager import ControllerManager
from kubeloop_testing.server.registry import Registry
from kubeloop_testing.server.storage.store import Store

Json = dict[str, Any]
GROUP_VERSION = "flowcontrol.apiserver.k8s.io/v1"


def new(kind: str, name: str, spec: Json) -> Json:
    head = {"apiVersion": GROUP_VERSION, "kind": kind, "metadata": {"name": name}}
    return {**head, "spec": spec, "status": {}}


def conditions_of(store: Store) -> list[tuple[str, str]]:
    [schema] = store.objects(*SCHEMAS)
    return [(each["status"], each["reason"]) for each in schema["status"]["conditions"]]


def test_a_flow_schema_dangles_while_its_priority_level_does_not_exist() -> None:
    store = Store(history=10)
    controller = FlowSchemaController(store, Registry(), clock=ManualClock())
    manager = ControllerManager(store, [controller])
    store.write(SCHEMAS, new("FlowSchema", "s", {"priorityLevelConfiguration": {"name": "l"}}))

    manager.work()
    assert conditions_of(store) == [("True", "NotFound")]

    store.write(LEVELS, new("PriorityLevelConfiguration", "l", {"type": "Exempt"}))
    manager.work()
    assert conditions_of(store) == [("False", "Found")]
    [schema] = store.objects(*SCHEMAS)
    [owner] = schema["metadata"]["managedFields"]
    assert owner["manager"] == "api-priority-and-fairness-config-consumer-v1"
    assert (owner["operation"], owner["subresource"]) == ("Apply", "status")

    store.remove(LEVELS, "l")
    manager.work()
    assert conditions_of(store) == [("True", "NotFound")]
    assert not controller.busy
