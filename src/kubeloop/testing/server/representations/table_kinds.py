"""The columns of built-in kinds in a Table.

Guarantees: columns, order and priorities are those of Kubernetes; a kind that is not in the
list has its name and its creation time, as there.
See also: the cells (`table_pods`, `table_workloads`, `table_network`, `table_storage`,
`table_cluster`), custom kinds and the Table itself (`tables`).
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Final, final

import msgspec

from . import table_cluster as cluster
from . import table_network as network
from . import table_storage as storage
from . import table_workloads as workloads
from .cell_text import Cells
from .table_pods import pod_cells

__all__ = ["Column", "Layout", "layout_of"]


@final
class Column(msgspec.Struct, frozen=True):
    """One column; priority 0 is always shown, others with `-o wide`."""

    name: str
    type: str = "string"
    format: str = ""
    description: str = ""
    priority: int = 0


@final
class Layout(msgspec.Struct, frozen=True):
    """The columns of a kind and the cells of an object, one for each column."""

    columns: tuple[Column, ...]
    cells: Cells


# A column is `Name` or `Name:type`; a star marks a column of `-o wide`.
_CONTAINERS: Final = "*Containers, *Images"
_WORKLOAD: Final = f"{_CONTAINERS}, *Selector"
_REPLICAS: Final = f"Name, Desired:integer, Current:integer, Ready:integer, Age, {_WORKLOAD}"
_WEBHOOKS: Final = "Name, Webhooks:integer, Age"
_ROLE_BINDING: Final = "Name, Role, Age, *Users, *Groups, *ServiceAccounts"
_POLICY_BINDING: Final = "Name, PolicyName, ParamRef, Age"

_KINDS: Final[dict[tuple[str, str], tuple[str, Cells]]] = {
    ("", "ComponentStatus"): ("Name, Status, Message, Error", cluster.component_status_cells),
    ("", "ConfigMap"): ("Name, Data, Age", cluster.config_map_cells),
    ("", "Endpoints"): ("Name, Endpoints, Age", network.endpoints_cells),
    ("", "Event"): (
        "Last Seen, Type, Reason, Object, *Subobject, *Source, Message, *First Seen, *Count, *Name",
        cluster.event_cells,
    ),
    ("", "Namespace"): ("Name, Status, Age", cluster.namespace_cells),
    ("", "Node"): (
        (
            "Name, Status, Roles, Age, Version, *Internal-IP, *External-IP, *OS-Image, "
            "*Kernel-Version, *Container-Runtime"
        ),
        cluster.node_cells,
    ),
    ("", "PersistentVolume"): (
        (
            "Name, Capacity, Access Modes, Reclaim Policy, Status, Claim, StorageClass, "
            "VolumeAttributesClass, Reason, Age, *VolumeMode"
        ),
        storage.volume_cells,
    ),
    ("", "PersistentVolumeClaim"): (
        (
            "Name, Status, Volume, Capacity, Access Modes, StorageClass, VolumeAttributesClass, "
            "Age, *VolumeMode"
        ),
        storage.claim_cells,
    ),
    ("", "Pod"): (
        "Name, Ready, Status, Restarts, Age, *IP, *Node, *Nominated Node, *Readiness Gates",
        pod_cells,
    ),
    ("", "PodTemplate"): ("Name, Containers, Images, Pod Labels", workloads.pod_template_cells),
    ("", "ReplicationController"): (_REPLICAS, workloads.replication_controller_cells),
    ("", "ResourceQuota"): ("Name, Request, Limit, Age", cluster.quota_cells),
    ("", "Secret"): ("Name, Type, Data, Age", cluster.secret_cells),
    ("", "Service"): (
        "Name, Type, Cluster-IP, External-IP, Port(s), Age, *Selector",
        network.service_cells,
    ),
    ("", "ServiceAccount"): ("Name, Age", cluster.name_and_age),
    ("admissionregistration.k8s.io", "MutatingAdmissionPolicy"): (
        "Name, Mutations:integer, ParamKind, Age",
        cluster.policy_cells("mutations"),
    ),
    ("admissionregistration.k8s.io", "MutatingAdmissionPolicyBinding"): (
        _POLICY_BINDING,
        cluster.policy_binding_cells,
    ),
    ("admissionregistration.k8s.io", "MutatingWebhookConfiguration"): (
        _WEBHOOKS,
        cluster.webhook_cells,
    ),
    ("admissionregistration.k8s.io", "ValidatingAdmissionPolicy"): (
        "Name, Validations:integer, ParamKind, Age",
        cluster.policy_cells("validations"),
    ),
    ("admissionregistration.k8s.io", "ValidatingAdmissionPolicyBinding"): (
        _POLICY_BINDING,
        cluster.policy_binding_cells,
    ),
    ("admissionregistration.k8s.io", "ValidatingWebhookConfiguration"): (
        _WEBHOOKS,
        cluster.webhook_cells,
    ),
    ("apiextensions.k8s.io", "CustomResourceDefinition"): (
        (
            "Name, Scope, Versions, Created At:date, *Group, *Kind, *ShortNames, "
            "*Established:boolean"
        ),
        cluster.definition_cells,
    ),
    ("apiregistration.k8s.io", "APIService"): (
        "Name, Service, Available, Age",
        cluster.api_service_cells,
    ),
    ("apps", "ControllerRevision"): (
        "Name, Controller, Revision, Age",
        workloads.revision_cells,
    ),
    ("apps", "DaemonSet"): (
        (
            "Name, Desired:integer, Current:integer, Ready:integer, Up-to-date:integer, "
            f"Available:integer, Node Selector, Age, {_WORKLOAD}"
        ),
        workloads.daemon_set_cells,
    ),
    ("apps", "Deployment"): (
        f"Name, Ready, Up-to-date, Available, Age, {_WORKLOAD}",
        workloads.deployment_cells,
    ),
    ("apps", "ReplicaSet"): (_REPLICAS, workloads.replica_set_cells),
    ("apps", "StatefulSet"): (f"Name, Ready, Age, {_CONTAINERS}", workloads.stateful_set_cells),
    ("autoscaling", "HorizontalPodAutoscaler"): (
        "Name, Reference, Targets, MinPods, MaxPods, Replicas, Age",
        workloads.hpa_cells,
    ),
    ("autoscaling", "Scale"): (
        "Name, Desired:integer, Available:integer, Age",
        workloads.scale_cells,
    ),
    ("batch", "CronJob"): (
        (
            "Name, Schedule, Timezone, Suspend:boolean, Active:integer, Last Schedule, Age, "
            f"{_WORKLOAD}"
        ),
        workloads.cron_job_cells,
    ),
    ("batch", "Job"): (
        f"Name, Status, Completions, Duration, Age, {_WORKLOAD}",
        workloads.job_cells,
    ),
    ("certificates.k8s.io", "CertificateSigningRequest"): (
        "Name, Age, SignerName, Requestor, RequestedDuration, Condition",
        cluster.certificate_request_cells,
    ),
    ("certificates.k8s.io", "ClusterTrustBundle"): (
        "Name, SignerName",
        cluster.field_cells("spec.signerName", age=False),
    ),
    ("coordination.k8s.io", "Lease"): ("Name, Holder, Age", cluster.lease_cells),
    ("coordination.k8s.io", "LeaseCandidate"): (
        "Name, LeaseName, BinaryVersion, EmulationVersion, Age",
        cluster.lease_candidate_cells,
    ),
    ("discovery.k8s.io", "EndpointSlice"): (
        "Name, AddressType, Ports, Endpoints, Age",
        network.endpoint_slice_cells,
    ),
    ("flowcontrol.apiserver.k8s.io", "FlowSchema"): (
        "Name, PriorityLevel, MatchingPrecedence, DistinguisherMethod, Age, MissingPL",
        cluster.flow_schema_cells,
    ),
    ("flowcontrol.apiserver.k8s.io", "PriorityLevelConfiguration"): (
        "Name, Type, NominalConcurrencyShares, Queues, HandSize, QueueLengthLimit, Age",
        cluster.priority_level_cells,
    ),
    ("networking.k8s.io", "IPAddress"): ("Name, ParentRef", network.ip_address_cells),
    ("networking.k8s.io", "Ingress"): (
        "Name, Class, Hosts, Address, Ports, Age",
        network.ingress_cells,
    ),
    ("networking.k8s.io", "IngressClass"): (
        "Name, Controller, Parameters, Age",
        network.ingress_class_cells,
    ),
    ("networking.k8s.io", "NetworkPolicy"): (
        "Name, Pod-Selector, Age",
        network.network_policy_cells,
    ),
    ("networking.k8s.io", "ServiceCIDR"): ("Name, CIDRs, Age", network.service_cidr_cells),
    ("node.k8s.io", "RuntimeClass"): ("Name, Handler, Age", cluster.field_cells("handler")),
    ("policy", "PodDisruptionBudget"): (
        "Name, Min Available, Max Unavailable, Allowed Disruptions:integer, Age",
        workloads.disruption_budget_cells,
    ),
    ("rbac.authorization.k8s.io", "ClusterRoleBinding"): (_ROLE_BINDING, cluster.binding_cells),
    ("rbac.authorization.k8s.io", "RoleBinding"): (_ROLE_BINDING, cluster.binding_cells),
    ("resource.k8s.io", "DeviceClass"): ("Name, Age", cluster.name_and_age),
    ("resource.k8s.io", "ResourceClaim"): ("Name, State, Age", cluster.resource_claim_cells),
    ("resource.k8s.io", "ResourceClaimTemplate"): ("Name, Age", cluster.name_and_age),
    ("resource.k8s.io", "ResourceSlice"): (
        "Name, Node, Driver, Pool, Age",
        cluster.resource_slice_cells,
    ),
    ("scheduling.k8s.io", "PriorityClass"): (
        "Name, Value:integer, Global-Default:boolean, Age, PreemptionPolicy",
        cluster.priority_class_cells,
    ),
    ("storage.k8s.io", "CSIDriver"): (
        (
            "Name, AttachRequired:boolean, PodInfoOnMount:boolean, StorageCapacity:boolean, "
            "TokenRequests, RequiresRepublish:boolean, Modes, Age"
        ),
        storage.csi_driver_cells,
    ),
    ("storage.k8s.io", "CSINode"): ("Name, Drivers:integer, Age", storage.csi_node_cells),
    ("storage.k8s.io", "StorageClass"): (
        "Name, Provisioner, ReclaimPolicy, VolumeBindingMode, AllowVolumeExpansion, Age",
        storage.storage_class_cells,
    ),
    ("storage.k8s.io", "VolumeAttachment"): (
        "Name, Attacher, PV, Node, Attached:boolean, Age",
        storage.volume_attachment_cells,
    ),
    ("storage.k8s.io", "VolumeAttributesClass"): (
        "Name, DriverName, Age",
        cluster.field_cells("driverName"),
    ),
}
_ALIASES: Final = {("events.k8s.io", "Event"): ("", "Event")}


@functools.cache
def layout_of(group: str, kind: str) -> Layout | None:
    """The layout of a built-in kind; None for a kind with the default columns."""
    found = _KINDS.get(_ALIASES.get((group, kind), (group, kind)))
    return Layout(tuple(_columns(found[0])), found[1]) if found else None


def _columns(spec: str) -> Iterator[Column]:
    for text in spec.split(", "):
        name, _, column_type = text.removeprefix("*").partition(":")
        yield Column(
            name,
            column_type or "string",
            "name" if name == "Name" else "",
            priority=1 if text.startswith("*") else 0,
        )
