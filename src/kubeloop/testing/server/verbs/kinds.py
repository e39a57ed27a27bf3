"""Properties of built-in kinds that discovery does not show: flags of their strategies.

The tables come from kube-apiserver's registries (`pkg/registry/.../strategy.go`) and are
compared with a real server by the conformance suite.
See also: `builtin` (validation and defaults), `registry` (verbs).
"""

from __future__ import annotations

from collections.abc import Mapping

from ..registry import ServedResource

__all__ = [
    "counts_generation",
    "creates_on_update",
    "has_generation",
    "keeps_metadata_in_status",
    "orphans_by_default",
    "requires_version_on_update",
    "returns_deleted",
]

# Kinds whose objects have metadata.generation.
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
# Kinds whose generation is counted from the first update on, and those whose generation stays.
_GENERATION_BY_UPDATE = frozenset({("storage.k8s.io", "csidrivers")})
_GENERATION_FIXED = frozenset({("scheduling.k8s.io", "priorityclasses")})

# AllowCreateOnUpdate.
_CREATED_BY_UPDATE = frozenset(
    {
        ("", "endpoints"),
        ("", "events"),
        ("", "limitranges"),
        ("", "services"),
        ("coordination.k8s.io", "leases"),
        ("rbac.authorization.k8s.io", "clusterrolebindings"),
        ("rbac.authorization.k8s.io", "clusterroles"),
        ("rbac.authorization.k8s.io", "rolebindings"),
        ("rbac.authorization.k8s.io", "roles"),
    }
)

# Not AllowUnconditionalUpdate.
_VERSION_REQUIRED = frozenset(
    {
        ("admissionregistration.k8s.io", "mutatingwebhookconfigurations"),
        ("admissionregistration.k8s.io", "validatingadmissionpolicies"),
        ("admissionregistration.k8s.io", "validatingadmissionpolicybindings"),
        ("admissionregistration.k8s.io", "validatingwebhookconfigurations"),
        ("apiextensions.k8s.io", "customresourcedefinitions"),
        ("apiregistration.k8s.io", "apiservices"),
        ("coordination.k8s.io", "leases"),
        ("flowcontrol.apiserver.k8s.io", "flowschemas"),
        ("flowcontrol.apiserver.k8s.io", "prioritylevelconfigurations"),
        ("node.k8s.io", "runtimeclasses"),
        ("policy", "poddisruptionbudgets"),
        ("storage.k8s.io", "csidrivers"),
        ("storage.k8s.io", "csinodes"),
        ("storage.k8s.io", "csistoragecapacities"),
        ("storage.k8s.io", "volumeattachments"),
    }
)

# ReturnDeletedObject.
_DELETED_RETURNED = frozenset(
    {
        ("", "persistentvolumeclaims"),
        ("", "persistentvolumes"),
        ("", "pods"),
        ("", "podtemplates"),
        ("", "resourcequotas"),
        ("", "serviceaccounts"),
        ("", "services"),
        ("storage.k8s.io", "csidrivers"),
        ("storage.k8s.io", "csinodes"),
        ("storage.k8s.io", "storageclasses"),
        ("storage.k8s.io", "volumeattachments"),
        ("storage.k8s.io", "volumeattributesclasses"),
    }
)

# Kinds whose status strategy keeps the labels of the stored object.
_LABELS_KEPT_IN_STATUS = frozenset({("apps", "deployments"), ("apps", "daemonsets")})

# DefaultGarbageCollectionPolicy is OrphanDependents.
_ORPHANED = frozenset({("", "replicationcontrollers"), ("batch", "jobs")})


def has_generation(served: ServedResource) -> bool:
    """Whether its objects have metadata.generation."""
    return served.custom is not None or served.storage in _GENERATION


def counts_generation(served: ServedResource, meta: Mapping[str, object]) -> bool:
    """Whether a change of the spec of an object with `meta` increments its generation."""
    if served.storage in _GENERATION_FIXED:
        return False
    return "generation" in meta or served.storage in _GENERATION_BY_UPDATE


def creates_on_update(served: ServedResource) -> bool:
    """Whether an update creates a missing object."""
    return served.storage in _CREATED_BY_UPDATE


def requires_version_on_update(served: ServedResource) -> bool:
    """Whether an update must have a resource version."""
    return served.custom is not None or served.storage in _VERSION_REQUIRED


def returns_deleted(served: ServedResource) -> bool:
    """Whether the response to a deletion is the object instead of a Status."""
    if served.group == "resource.k8s.io":
        return served.plural != "devicetaintrules"
    return served.storage in _DELETED_RETURNED


def orphans_by_default(served: ServedResource) -> bool:
    """Whether dependents stay when a deletion has no propagation policy."""
    return served.storage in _ORPHANED


def keeps_metadata_in_status(served: ServedResource) -> bool:
    """Whether a status update keeps labels and annotations."""
    return served.custom is not None or served.storage in _LABELS_KEPT_IN_STATUS
