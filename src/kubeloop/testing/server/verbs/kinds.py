"""Facts about built-in kinds that are not in the resource table.

Elsewhere: what a kind's fields must be (`builtin_validation`), its verbs (`registry`).
"""

from __future__ import annotations

from ..registry import Served

__all__ = [
    "creates_on_update",
    "has_generation",
    "keeps_metadata_in_status",
    "orphans_by_default",
    "requires_version_on_update",
    "returns_deleted",
]

# Collections whose objects count the changes of their spec.
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
        ("resource.k8s.io", "resourceslices"),
        ("scheduling.k8s.io", "priorityclasses"),
        ("storage.k8s.io", "csidrivers"),
    }
)

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

_DELETED_SHOWN = frozenset(
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
    }
)

# Kinds whose labels cannot be changed through their status.
_LABELS_FIXED_IN_STATUS = frozenset({("apps", "deployments"), ("apps", "daemonsets")})

_ORPHANED = frozenset({("", "replicationcontrollers"), ("batch", "jobs")})


def has_generation(served: Served) -> bool:
    """Whether its objects count the changes of their spec."""
    return served.custom is not None or served.storage in _GENERATION


def creates_on_update(served: Served) -> bool:
    """Whether an update of what is not there creates it."""
    return served.storage in _CREATED_BY_UPDATE


def requires_version_on_update(served: Served) -> bool:
    """Whether an update must say which version it replaces."""
    return served.custom is not None or served.storage in _VERSION_REQUIRED


def returns_deleted(served: Served) -> bool:
    """Whether a deletion is answered with the object instead of a Status."""
    return served.storage in _DELETED_SHOWN or served.group == "resource.k8s.io"


def orphans_by_default(served: Served) -> bool:
    """Whether dependents stay when a deletion does not say what becomes of them."""
    return served.storage in _ORPHANED


def keeps_metadata_in_status(served: Served) -> bool:
    """Whether a write to the status cannot change labels and annotations."""
    return served.custom is not None or served.storage in _LABELS_FIXED_IN_STATUS
