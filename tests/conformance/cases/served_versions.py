"""Discovery of every group, and paths of versions that are not served by default."""

from __future__ import annotations

from typing import Any

AGGREGATED = {"Accept": "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"}
GROUP_VERSIONS = (
    "admissionregistration.k8s.io/v1",
    "apiextensions.k8s.io/v1",
    "apiregistration.k8s.io/v1",
    "apps/v1",
    "authentication.k8s.io/v1",
    "authorization.k8s.io/v1",
    "autoscaling/v1",
    "autoscaling/v2",
    "batch/v1",
    "certificates.k8s.io/v1",
    "coordination.k8s.io/v1",
    "discovery.k8s.io/v1",
    "events.k8s.io/v1",
    "flowcontrol.apiserver.k8s.io/v1",
    "networking.k8s.io/v1",
    "node.k8s.io/v1",
    "policy/v1",
    "rbac.authorization.k8s.io/v1",
    "resource.k8s.io/v1",
    "scheduling.k8s.io/v1",
    "storage.k8s.io/v1",
    "storagemigration.k8s.io/v1",
)
UNSERVED = (
    "admissionregistration.k8s.io/v1alpha1",
    "admissionregistration.k8s.io/v1beta1",
    "certificates.k8s.io/v1beta1",
    "coordination.k8s.io/v1beta1",
    "internal.apiserver.k8s.io/v1alpha1",
    "resource.k8s.io/v1alpha3",
    "resource.k8s.io/v1beta1",
    "resource.k8s.io/v1beta2",
    "storagemigration.k8s.io/v1beta1",
)

CASES: dict[str, list[tuple[Any, ...]]] = {
    **{f"the resources of {each}": [("GET", f"/apis/{each}", None)] for each in GROUP_VERSIONS},
    **{
        f"the group of {each}": [("GET", f"/apis/{each.partition('/')[0]}", None)]
        for each in GROUP_VERSIONS
    },
    "the resources of the core group": [("GET", "/api/v1", None)],
    "a version of the core group that does not exist": [
        ("GET", "/api/v2", None),
        ("GET", "/api/v2/pods", None),
    ],
    "versions that are not served by default": [
        ("GET", f"/apis/{each}{rest}", None)
        for each in UNSERVED
        for rest in ("", "/things", "/namespaces/{ns}/things/a")
    ],
    "a resource of a version that is not served": [
        ("GET", "/apis/certificates.k8s.io/v1beta1/clustertrustbundles", None),
        ("GET", "/apis/resource.k8s.io/v1beta1/namespaces/{ns}/resourceclaims", None),
        ("GET", "/apis/internal.apiserver.k8s.io/v1alpha1/storageversions", None),
        ("POST", "/apis/resource.k8s.io/v1beta1/deviceclasses", {"metadata": {"name": "{ns}"}}),
    ],
    "resources that do not exist": [
        ("GET", "/api/v1/nothing", None),
        ("GET", "/apis/apps/v1/nothing", None),
        ("GET", "/apis/apps/v9/deployments", None),
        ("GET", "/apis/nothing.example.com", None),
        ("GET", "/apis/nothing.example.com/v1", None),
        ("GET", "/apis/nothing.example.com/v1/things", None),
    ],
    "paths of discovery with a slash at the end": [
        ("GET", "/apis/apps/", None),
        ("GET", "/apis/apps/v1/", None),
        ("GET", "/api/v1/", None),
    ],
    "aggregated discovery of the core group": [("GET", "/api", None, AGGREGATED)],
}
