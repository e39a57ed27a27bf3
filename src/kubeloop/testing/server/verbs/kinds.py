"""Properties of built-in kinds that discovery does not show: flags of their strategies.

The tables come from kube-apiserver's registries (`pkg/registry/.../strategy.go`) and are
compared with a real server by the conformance suite.
See also: `builtin` (validation and defaults), `registry` (verbs).
"""

from __future__ import annotations

from ..registry import ServedResource

__all__ = [
    "counts_generation",
    "creates_on_update",
    "fields_kept_by_update",
    "has_generation",
    "orphans_by_default",
    "requires_version_on_update",
    "returns_deleted",
]

# Kinds whose objects begin with metadata.generation 1. Others keep what a create sends.
_GENERATION = frozenset(
    {
        ("", "pods"),
        ("", "podtemplates"),
        ("", "replicationcontrollers"),
        ("admissionregistration.k8s.io", "mutatingadmissionpolicies"),
        ("admissionregistration.k8s.io", "mutatingadmissionpolicybindings"),
        ("admissionregistration.k8s.io", "mutatingwebhookconfigurations"),
        ("admissionregistration.k8s.io", "validatingadmissionpolicies"),
        ("admissionregistration.k8s.io", "validatingadmissionpolicybindings"),
        ("admissionregistration.k8s.io", "validatingwebhookconfigurations"),
        ("apiextensions.k8s.io", "customresourcedefinitions"),
        ("apps", "daemonsets"),
        ("apps", "deployments"),
        ("apps", "replicasets"),
        ("apps", "statefulsets"),
        ("autoscaling", "horizontalpodautoscalers"),
        ("batch", "cronjobs"),
        ("batch", "jobs"),
        ("discovery.k8s.io", "endpointslices"),
        ("flowcontrol.apiserver.k8s.io", "flowschemas"),
        ("flowcontrol.apiserver.k8s.io", "prioritylevelconfigurations"),
        ("networking.k8s.io", "ingressclasses"),
        ("networking.k8s.io", "ingresses"),
        ("networking.k8s.io", "networkpolicies"),
        ("policy", "poddisruptionbudgets"),
        ("resource.k8s.io", "deviceclasses"),
        ("resource.k8s.io", "devicetaintrules"),
        ("resource.k8s.io", "resourceslices"),
        ("scheduling.k8s.io", "priorityclasses"),
    }
)
# Kinds whose generation grows when their fields change.
_COUNTED = (_GENERATION | {("storage.k8s.io", "csidrivers")}) - {
    ("scheduling.k8s.io", "priorityclasses")
}

# AllowCreateOnUpdate.
_CREATED_BY_UPDATE = frozenset(
    {
        ("", "endpoints"),
        ("", "events"),
        ("", "limitranges"),
        ("", "services"),
        ("coordination.k8s.io", "leasecandidates"),
        ("coordination.k8s.io", "leases"),
        ("node.k8s.io", "runtimeclasses"),
        ("rbac.authorization.k8s.io", "clusterrolebindings"),
        ("rbac.authorization.k8s.io", "clusterroles"),
        ("rbac.authorization.k8s.io", "rolebindings"),
        ("rbac.authorization.k8s.io", "roles"),
    }
)

# Not AllowUnconditionalUpdate.
_VERSION_REQUIRED = frozenset(
    {
        ("admissionregistration.k8s.io", "mutatingadmissionpolicies"),
        ("admissionregistration.k8s.io", "mutatingadmissionpolicybindings"),
        ("admissionregistration.k8s.io", "mutatingwebhookconfigurations"),
        ("admissionregistration.k8s.io", "validatingadmissionpolicies"),
        ("admissionregistration.k8s.io", "validatingadmissionpolicybindings"),
        ("admissionregistration.k8s.io", "validatingwebhookconfigurations"),
        ("apiextensions.k8s.io", "customresourcedefinitions"),
        ("apiregistration.k8s.io", "apiservices"),
        ("certificates.k8s.io", "clustertrustbundles"),
        ("certificates.k8s.io", "podcertificaterequests"),
        ("coordination.k8s.io", "leasecandidates"),
        ("coordination.k8s.io", "leases"),
        ("internal.apiserver.k8s.io", "storageversions"),
        ("node.k8s.io", "runtimeclasses"),
        ("policy", "poddisruptionbudgets"),
        ("resource.k8s.io", "resourcepoolstatusrequests"),
        ("storage.k8s.io", "csidrivers"),
        ("storage.k8s.io", "csinodes"),
        ("storage.k8s.io", "csistoragecapacities"),
        ("storage.k8s.io", "volumeattachments"),
        ("storagemigration.k8s.io", "storageversionmigrations"),
    }
)

# ReturnDeletedObject.
_DELETED_RETURNED = frozenset(
    {
        ("", "namespaces"),
        ("", "persistentvolumeclaims"),
        ("", "persistentvolumes"),
        ("", "pods"),
        ("", "podtemplates"),
        ("", "resourcequotas"),
        ("", "serviceaccounts"),
        ("", "services"),
        ("resource.k8s.io", "deviceclasses"),
        ("resource.k8s.io", "resourceclaims"),
        ("resource.k8s.io", "resourceclaimtemplates"),
        ("resource.k8s.io", "resourcepoolstatusrequests"),
        ("resource.k8s.io", "resourceslices"),
        ("storage.k8s.io", "csidrivers"),
        ("storage.k8s.io", "csinodes"),
        ("storage.k8s.io", "storageclasses"),
        ("storage.k8s.io", "volumeattachments"),
        ("storage.k8s.io", "volumeattributesclasses"),
    }
)

# DefaultGarbageCollectionPolicy is OrphanDependents.
_ORPHANED = frozenset({("", "replicationcontrollers"), ("batch", "jobs")})


def has_generation(served: ServedResource) -> bool:
    """Whether its objects begin with metadata.generation 1."""
    return served.custom is not None or served.storage in _GENERATION


def counts_generation(served: ServedResource) -> bool:
    """Whether metadata.generation of its objects grows when their fields change."""
    return served.custom is not None or served.storage in _COUNTED


def creates_on_update(served: ServedResource) -> bool:
    """Whether an update creates a missing object."""
    return served.storage in _CREATED_BY_UPDATE


def requires_version_on_update(served: ServedResource) -> bool:
    """Whether an update must have a resource version."""
    return served.custom is not None or served.storage in _VERSION_REQUIRED


def fields_kept_by_update(served: ServedResource) -> tuple[str, ...]:
    """The fields of the stored object that an update of the object itself cannot change."""
    if served.storage == ("certificates.k8s.io", "certificatesigningrequests"):
        return ("spec", "status")
    return ("status",) if "status" in served.subresources else ()


def returns_deleted(served: ServedResource) -> bool:
    """Whether the response to a deletion is the object instead of a Status."""
    return served.storage in _DELETED_RETURNED


def orphans_by_default(served: ServedResource) -> bool:
    """Whether dependents stay when a deletion has no propagation policy."""
    return served.storage in _ORPHANED
