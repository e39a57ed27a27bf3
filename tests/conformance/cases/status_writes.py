"""Writes to `/status` of every kind that has one: what they change of metadata, spec and status.

Each kind is written with PUT (where an update needs no version), with a merge patch, a JSON
patch, a strategic merge patch and an apply. Every write sends other labels, annotations,
finalizers, owners, a generateName and another spec; what comes back shows the strategy.
See also: `update_strategies` (writes to the object itself).
"""

from __future__ import annotations

from tests.conformance.cases._kinds import (
    APPLY,
    CHANGED,
    DEFINED,
    JSON,
    KINDS,
    MERGE,
    METADATA,
    SOMEONE,
    STRATEGIC,
    UNDEFINED,
    Kind,
    Step,
    replicas,
)


def _around(kind: Kind, steps: list[Step]) -> list[Step]:
    """The steps between the creation and the deletion of an object of the kind."""
    metadata = {**METADATA}
    if kind.finalizer:
        metadata["finalizers"] = [*METADATA["finalizers"], kind.finalizer]
    found: list[Step] = [
        ("POST", kind.collection, kind.object(metadata, spec=kind.spec), SOMEONE),
        *steps,
        ("PATCH", kind.path, {"metadata": {"finalizers": None}}, MERGE),
        ("DELETE", kind.path, None),
    ]
    return [*DEFINED, *found, *UNDEFINED] if kind.kind == "Thing" else found


def _written(kind: Kind) -> list[Step]:
    """PUT, a merge patch and a JSON patch of the status."""
    status = f"{kind.path}/status"
    patch = {"metadata": CHANGED, "spec": kind.changed, "status": kind.status}
    operations = [
        {"op": "add", "path": f"/metadata/{field}", "value": METADATA[field]}
        for field in ("labels", "annotations", "ownerReferences")
    ]
    return [
        ("PUT", status, kind.object(CHANGED, spec=kind.changed, status=kind.status)),
        ("PATCH", status, patch, MERGE),
        ("PATCH", status, operations, JSON),
        ("GET", status, None),
    ]


def _applied(kind: Kind) -> list[Step]:
    """Two applies of the status; the second leaves metadata out."""
    status = f"{kind.path}/status?fieldManager=one&force=true"
    whole = kind.object(
        {"labels": {"l": "3"}, "annotations": {"a": "3"}, "finalizers": ["example.com/three"]},
        spec=kind.changed,
        status=kind.status,
    )
    return [
        ("PATCH", status, whole, APPLY),
        ("PATCH", status, kind.object({}, status=kind.status), APPLY),
    ]


_PODS = "/api/v1/namespaces/{ns}/pods"
_DEPLOYMENTS = "/apis/apps/v1/namespaces/{ns}/deployments"
_REVISION = "deployment.kubernetes.io/revision"
_DELETION = {"deletionTimestamp": "2024-01-01T00:00:00Z", "deletionGracePeriodSeconds": 3}
_POD, _DEPLOYMENT = KINDS["a pod"], KINDS["a deployment"]
_POD_CONDITION = {"type": "Ready", "status": "False"}

CASES: dict[str, list[Step]] = {
    **{
        f"the status of {name} is written": _around(kind, _written(kind))
        for name, kind in KINDS.items()
    },
    **{
        f"the status of {name} is applied": _around(kind, _applied(kind))
        for name, kind in KINDS.items()
    },
    "the deployment controller sets the revision through the status": [
        ("POST", _DEPLOYMENTS, _DEPLOYMENT.object({}, spec=replicas(1))),
        (
            "PUT",
            f"{_DEPLOYMENTS}/a/status",
            _DEPLOYMENT.object(
                {"annotations": {_REVISION: "1"}},
                spec=replicas(1),
                status={"observedGeneration": 1, "replicas": 1, "updatedReplicas": 1},
            ),
        ),
        ("GET", f"{_DEPLOYMENTS}/a", None),
    ],
    "the status of a pod is patched strategically": [
        ("POST", _PODS, _POD.object(METADATA, spec=_POD.spec)),
        (
            "PATCH",
            f"{_PODS}/a/status",
            {
                "metadata": {**CHANGED, "finalizers": ["example.com/two"]},
                "spec": {"nodeName": "n"},
                "status": {"conditions": [_POD_CONDITION], "phase": "Running"},
            },
            STRATEGIC,
        ),
        (
            "PATCH",
            f"{_PODS}/a/status",
            {"status": {"conditions": [{"type": "Other", "status": "True"}], "qosClass": None}},
            STRATEGIC,
        ),
        (
            "PATCH",
            f"{_PODS}/a/status",
            {"metadata": {"labels": None, "finalizers": None, "ownerReferences": None}},
            MERGE,
        ),
    ],
    "a status write with a deletion": [
        ("POST", _PODS, _POD.object({}, spec=_POD.spec)),
        ("PUT", f"{_PODS}/a/status", _POD.object(_DELETION, spec=_POD.spec)),
        (
            "PUT",
            f"{_PODS}/a/status",
            _POD.object({"deletionTimestamp": "2024-01-01T00:00:00Z"}, status=_POD.status),
        ),
        ("POST", _DEPLOYMENTS, _DEPLOYMENT.object({}, spec=replicas(1))),
        (
            "PATCH",
            f"{_DEPLOYMENTS}/a/status",
            {"metadata": {"deletionTimestamp": "2024-01-01T00:00:00Z"}},
            MERGE,
        ),
    ],
    "a status without its status": [
        ("POST", _PODS, _POD.object({}, spec=_POD.spec)),
        ("PUT", f"{_PODS}/a/status", _POD.object({}, status=_POD.status)),
        ("PUT", f"{_PODS}/a/status", _POD.object({})),
        ("POST", _DEPLOYMENTS, _DEPLOYMENT.object({}, spec=replicas(1))),
        ("PUT", f"{_DEPLOYMENTS}/a/status", _DEPLOYMENT.object({}, status={"replicas": 3})),
        ("PUT", f"{_DEPLOYMENTS}/a/status", _DEPLOYMENT.object({})),
    ],
}
