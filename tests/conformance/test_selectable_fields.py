"""Which fields a `fieldSelector` may name, for every built-in kind that can be listed."""

from __future__ import annotations

from typing import Final

import pytest

from kubeloop.wire import ResourceInfo, resources
from tests.conformance.cases.served_versions import GROUP_VERSIONS
from tests.conformance.raw_client import RawClient

_NAMED: Final = frozenset({"metadata.name", "metadata.namespace"})
_REFERENCE = ("kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath")
# Beyond the name and the namespace; kinds that are not listed have none.
_SELECTABLE: Final[dict[str, frozenset[str]]] = {
    "pods": frozenset({
        *("spec.nodeName", "spec.restartPolicy", "spec.schedulerName", "spec.serviceAccountName"),
        *("spec.hostNetwork", "status.phase", "status.podIP", "status.podIPs"),
        "status.nominatedNodeName",
    }),
    "events": frozenset({
        *(f"involvedObject.{name}" for name in _REFERENCE),
        *("reason", "reportingComponent", "source", "type"),
    }),
    "events.events.k8s.io": frozenset({
        *(f"regarding.{name}" for name in _REFERENCE),
        *("reason", "reportingController", "type"),
    }),
    "secrets": frozenset({"type"}),
    "namespaces": frozenset({"status.phase"}),
    "nodes": frozenset({"spec.unschedulable"}),
    "services": frozenset({"spec.clusterIP", "spec.type"}),
    "replicationcontrollers": frozenset({"status.replicas"}),
    "jobs.batch": frozenset({"status.successful"}),
    "certificatesigningrequests.certificates.k8s.io": frozenset({"spec.signerName"}),
    "clustertrustbundles.certificates.k8s.io": frozenset({"spec.signerName"}),
    "podcertificaterequests.certificates.k8s.io": frozenset({
        "spec.signerName", "spec.podName", "spec.nodeName",
    }),
    "resourceslices.resource.k8s.io": frozenset({"spec.nodeName", "spec.driver"}),
}  # fmt: skip
# Fields that some kind has, or that one might expect.
# These have the name only.
_WITHOUT_NAMESPACE: Final = frozenset({
    *("namespaces", "nodes", "certificatesigningrequests.certificates.k8s.io"),
    *("clustertrustbundles.certificates.k8s.io", "podcertificaterequests.certificates.k8s.io"),
    "resourceslices.resource.k8s.io",
})  # fmt: skip
_CANDIDATES: Final = sorted(
    _NAMED.union(
        *_SELECTABLE.values(),
        (
            "name",
            "metadata.uid",
            "metadata.generateName",
            "metadata.labels.a",
            "metadata.resourceVersion",
        ),
        ("metadata.creationTimestamp", "status.succeeded", "status.readyReplicas"),
        ("spec.replicas", "spec.volumeName", "spec.storageClassName", "spec.ingressClassName"),
        ("spec.holderIdentity", "spec.attacher", "spec.parallelism", "status.conditions", "action"),
        ("related.name", "data", "kind", "spec.suspend", "addressType", "provisioner"),
    )
)
_KINDS = [
    each
    for each in resources()
    if "list" in each.verbs
    and each.plural != "componentstatuses"
    and each.api_version in ("v1", *GROUP_VERSIONS)
]


def _name(resource: ResourceInfo) -> str:
    return f"{resource.plural}.{resource.group}" if resource.group else resource.plural


@pytest.mark.one_format
@pytest.mark.timeout(60)
@pytest.mark.parametrize("resource", _KINDS, ids=_name)
async def test_only_these_fields_can_be_selected(api: RawClient, resource: ResourceInfo) -> None:
    root = f"/apis/{resource.group}/{resource.version}" if resource.group else "/api/v1"
    path = f"{root}/{'namespaces/{ns}/' if resource.namespaced else ''}{resource.plural}"

    codes = {
        field: (await api.get(path, fieldSelector=f"{field}=none", limit=1)).code
        for field in _CANDIDATES
    }

    assert set(codes.values()) <= {200, 400}
    selectable = {field for field, code in codes.items() if code == 200}
    name = _name(resource)
    missing = {"metadata.namespace"} if name in _WITHOUT_NAMESPACE else set()
    assert selectable == _NAMED - missing | _SELECTABLE.get(name, frozenset())
