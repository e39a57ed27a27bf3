"""The admission plugins of kube-apiserver that are enabled by default, except webhooks.

`PLUGINS` has the order of kube-apiserver (`AllOrderedPlugins`). What depends on the spec of a pod
alone is part of the preparation of pods, where it is cached with the spec:
DefaultTolerationSeconds, and the priority 0 that Priority gives to pods without a class.

Guarantees: objects are never changed in place.
See also: what a plugin is (`plugin`), when plugins run (`chain`).
"""

from __future__ import annotations

from typing import Final

from ..plugin import Plugin
from .certificate_approval import CERTIFICATE_APPROVAL
from .certificate_signing import CERTIFICATE_SIGNING
from .certificate_subject_restriction import CERTIFICATE_SUBJECT_RESTRICTION
from .cluster_trust_bundle_attest import CLUSTER_TRUST_BUNDLE_ATTEST
from .default_ingress_class import DEFAULT_INGRESS_CLASS
from .default_storage_class import DEFAULT_STORAGE_CLASS
from .limit_ranger import LIMIT_RANGER
from .namespace_lifecycle import NAMESPACE_LIFECYCLE
from .persistent_volume_claim_resize import PERSISTENT_VOLUME_CLAIM_RESIZE
from .pod_security import POD_SECURITY
from .pod_topology_labels import POD_TOPOLOGY_LABELS
from .priority import PRIORITY
from .runtime_class import RUNTIME_CLASS
from .storage_object_in_use_protection import STORAGE_OBJECT_IN_USE_PROTECTION
from .taint_nodes_by_condition import TAINT_NODES_BY_CONDITION

__all__ = ["PLUGINS"]

PLUGINS: Final[tuple[Plugin, ...]] = (
    NAMESPACE_LIFECYCLE,
    LIMIT_RANGER,
    TAINT_NODES_BY_CONDITION,
    POD_SECURITY,
    PRIORITY,
    DEFAULT_STORAGE_CLASS,
    STORAGE_OBJECT_IN_USE_PROTECTION,
    PERSISTENT_VOLUME_CLAIM_RESIZE,
    RUNTIME_CLASS,
    CERTIFICATE_APPROVAL,
    CERTIFICATE_SIGNING,
    CLUSTER_TRUST_BUNDLE_ATTEST,
    CERTIFICATE_SUBJECT_RESTRICTION,
    DEFAULT_INGRESS_CLASS,
    POD_TOPOLOGY_LABELS,
)
