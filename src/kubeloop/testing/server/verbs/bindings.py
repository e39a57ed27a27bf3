"""Binding a pod to a node, as a scheduler does.

Promises: a pod is bound once; a pod that is being deleted is not bound any more.
"""

from __future__ import annotations

from ..request.calls import Call
from ..statuses import Cause, Refusal, conflict, unexplained
from ..storage.store import Object
from .objects import same_but_bookkeeping
from .writing import Verbs

__all__ = ["bind"]


def bind(verbs: Verbs, call: Call, body: Object) -> Object:
    """Assign a pod to the node that `body` names. Raises `Refusal`."""
    target = body.get("target") or {}
    if target.get("kind") not in {None, "", "Node"}:
        message = f'Unsupported value: "{target.get("kind")}": supported values: "Node", "<empty>"'
        raise _invalid(Cause("target.kind", "FieldValueNotSupported", message))
    node = target.get("name")
    if not node:
        raise _invalid(Cause("target.name", "FieldValueRequired", "Required value"))
    entry = verbs.get(call)
    _check(call, entry.obj, node)
    obj = _bound(entry.obj, node, body, now=verbs.now())
    if not call.options.dry_run and not same_but_bookkeeping(entry.obj, obj):
        verbs.store.write(call.served.storage, obj)
    return {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Success",
        "code": 201,
    }


def _invalid(cause: Cause) -> Refusal:
    # kube-apiserver passes these on without making a Status of them.
    return unexplained(f"{cause.field}: {cause.message}")


def _check(call: Call, pod: Object, node: str) -> None:
    found = (pod.get("spec") or {}).get("nodeName")
    if "deletionTimestamp" in pod["metadata"]:
        why = f"pod {call.name} is being deleted, cannot be assigned to a host"
        raise conflict("", "pods/binding", call.name, why)
    if found:
        why = f'pod {call.name} is already assigned to node "{found}"'
        raise conflict("", "pods/binding", call.name, why)
    gates = (pod.get("spec") or {}).get("schedulingGates")
    if gates:
        why = f"pod {call.name} has non-empty .spec.schedulingGates"
        raise conflict("", "pods/binding", call.name, why)
    assert node  # it was checked before


def _bound(pod: Object, node: str, body: Object, *, now: str) -> Object:
    status = pod.get("status") or {}
    others = [each for each in status.get("conditions") or () if each.get("type") != "PodScheduled"]
    scheduled = {"type": "PodScheduled", "status": "True", "lastTransitionTime": now}
    meta = pod["metadata"]
    annotations = (body.get("metadata") or {}).get("annotations")
    if annotations:
        meta = {**meta, "annotations": {**(meta.get("annotations") or {}), **annotations}}
    return {
        **pod,
        "metadata": meta,
        "spec": {**(pod.get("spec") or {}), "nodeName": node},
        "status": {**status, "conditions": [*others, scheduled]},
    }
