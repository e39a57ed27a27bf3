"""Binding of a pod to a node, as a scheduler does it.

Guarantees: a pod is bound once; a pod that is being deleted cannot be bound; labels and annotations
of the Binding are copied to the pod.
See also: the labels that a Binding gets (`admission.plugins.pod_topology_labels`).
"""

from __future__ import annotations

import msgspec

from ..request.calls import Call
from ..statuses import Cause, StatusError, bad_request, conflict, untyped_error
from ..storage.store import Object
from .objects import complete, is_noop
from .updates import storage_error
from .writing import Verbs

__all__ = ["bind"]


def bind(verbs: Verbs, call: Call, body: Object) -> Object:
    """Assign a pod to the node that `body` names. Raises `StatusError`."""
    target, meta = body.get("target") or {}, body.get("metadata") or {}
    if meta.get("name") != call.name:
        raise bad_request("name in URL does not match name in Binding object")
    if target.get("kind") not in {None, "", "Node"}:
        message = f'Unsupported value: "{target.get("kind")}": supported values: "Node", "<empty>"'
        raise _invalid(Cause("target.kind", "FieldValueNotSupported", message))
    node = target.get("name")
    if not node:
        raise _invalid(Cause("target.name", "FieldValueRequired", "Required value"))
    entry = verbs.get(call)
    _check_preconditions(call, entry.obj, meta)
    _check(call, entry.obj)
    body = verbs.admission.mutate_new(msgspec.structs.replace(call, part="binding"), body)
    obj = _with_node(entry.obj, node, body, now=verbs.now())
    obj = complete(call.served, obj)
    if not call.options.dry_run and not is_noop(entry.obj, obj):
        verbs.store.write(call.served.storage, obj)
    return {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Success",
        "code": 201,
    }


def _invalid(cause: Cause) -> StatusError:
    # kube-apiserver returns the field error of ValidatePodBinding as it is, without a reason.
    return untyped_error(f"{cause.field}: {cause.message}")


def _check_preconditions(call: Call, pod: Object, meta: Object) -> None:
    for name, field in (("UID", "uid"), ("ResourceVersion", "resourceVersion")):
        sent, found = meta.get(field), pod["metadata"].get(field)
        if sent and sent != found:
            why = f"Precondition failed: {name} in precondition: {sent}, {name} in object meta: "
            why = f"{storage_error(call.served, pod['metadata'])}{why}{found}"
            raise conflict("", "pods", call.name, why)


def _check(call: Call, pod: Object) -> None:
    # BindingREST.assignPod: a scheduler must not overwrite another one.
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


def _with_node(pod: Object, node: str, body: Object, *, now: str) -> Object:
    status = pod.get("status") or {}
    others = [each for each in status.get("conditions") or () if each.get("type") != "PodScheduled"]
    # Binding sets the condition, too: clients wait for it.
    scheduled = {"type": "PodScheduled", "status": "True", "lastTransitionTime": now}
    meta, sent = pod["metadata"], body.get("metadata") or {}
    for field in ("annotations", "labels"):
        if sent.get(field):
            meta = {**meta, field: {**(meta.get(field) or {}), **sent[field]}}
    status = {key: value for key, value in status.items() if key != "nominatedNodeName"}
    return {
        **pod,
        "metadata": meta,
        "spec": {**(pod.get("spec") or {}), "nodeName": node},
        "status": {**status, "conditions": [*others, scheduled]},
    }
