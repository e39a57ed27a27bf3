# Generated from the OpenAPI document of Kubernetes 1.37 by tools/kubeloop_generate. Do not edit.

from __future__ import annotations

from ..kinds import Resource
from ..model import Kind
from ..model import Model
from ..model import UNSET
from ..scalars import IntOrString
from ..scalars import MicroTime
from ..scalars import Quantity
from ..scalars import Time
from msgspec import field
from typing import ClassVar
from . import meta_v1

__all__ = [
    "AWSElasticBlockStoreVolumeSource",
    "Affinity",
    "AppArmorProfile",
    "AttachedVolume",
    "AzureDiskVolumeSource",
    "AzureFilePersistentVolumeSource",
    "AzureFileVolumeSource",
    "Binding",
    "CSIPersistentVolumeSource",
    "CSIVolumeSource",
    "Capabilities",
    "CephFSPersistentVolumeSource",
    "CephFSVolumeSource",
    "CinderPersistentVolumeSource",
    "CinderVolumeSource",
    "ClientIPConfig",
    "ClusterTrustBundleProjection",
    "ComponentCondition",
    "ComponentStatus",
    "ComponentStatusList",
    "ConfigMap",
    "ConfigMapEnvSource",
    "ConfigMapKeySelector",
    "ConfigMapList",
    "ConfigMapNodeConfigSource",
    "ConfigMapProjection",
    "ConfigMapVolumeSource",
    "Container",
    "ContainerExtendedResourceRequest",
    "ContainerImage",
    "ContainerPort",
    "ContainerResizePolicy",
    "ContainerRestartRule",
    "ContainerRestartRuleOnExitCodes",
    "ContainerState",
    "ContainerStateRunning",
    "ContainerStateTerminated",
    "ContainerStateWaiting",
    "ContainerStatus",
    "ContainerUser",
    "DaemonEndpoint",
    "DownwardAPIProjection",
    "DownwardAPIVolumeFile",
    "DownwardAPIVolumeSource",
    "EmptyDirVolumeSource",
    "EndpointAddress",
    "EndpointPort",
    "EndpointSubset",
    "Endpoints",
    "EndpointsList",
    "EnvFromSource",
    "EnvVar",
    "EnvVarSource",
    "EphemeralContainer",
    "EphemeralVolumeSource",
    "Event",
    "EventList",
    "EventSeries",
    "EventSource",
    "EvictionResponder",
    "ExecAction",
    "FCVolumeSource",
    "FileKeySelector",
    "FlexPersistentVolumeSource",
    "FlexVolumeSource",
    "FlockerVolumeSource",
    "GCEPersistentDiskVolumeSource",
    "GRPCAction",
    "GitRepoVolumeSource",
    "GlusterfsPersistentVolumeSource",
    "GlusterfsVolumeSource",
    "HTTPGetAction",
    "HTTPHeader",
    "HostAlias",
    "HostIP",
    "HostPathVolumeSource",
    "ISCSIPersistentVolumeSource",
    "ISCSIVolumeSource",
    "ImageVolumeSource",
    "ImageVolumeStatus",
    "KeyToPath",
    "Lifecycle",
    "LifecycleHandler",
    "LimitRange",
    "LimitRangeItem",
    "LimitRangeList",
    "LimitRangeSpec",
    "LinuxContainerUser",
    "LoadBalancerIngress",
    "LoadBalancerStatus",
    "LocalObjectReference",
    "LocalVolumeSource",
    "ModifyVolumeStatus",
    "NFSVolumeSource",
    "Namespace",
    "NamespaceCondition",
    "NamespaceList",
    "NamespaceSpec",
    "NamespaceStatus",
    "Node",
    "NodeAddress",
    "NodeAffinity",
    "NodeAllocatableMappedResources",
    "NodeAllocatableOverheadResources",
    "NodeAllocatableResourceClaimStatus",
    "NodeCondition",
    "NodeConfigSource",
    "NodeConfigStatus",
    "NodeDaemonEndpoints",
    "NodeFeatures",
    "NodeList",
    "NodePodPreemptionPolicy",
    "NodeRuntimeHandler",
    "NodeRuntimeHandlerFeatures",
    "NodeSelector",
    "NodeSelectorRequirement",
    "NodeSelectorTerm",
    "NodeSpec",
    "NodeStatus",
    "NodeSwapStatus",
    "NodeSystemInfo",
    "ObjectFieldSelector",
    "ObjectReference",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "PersistentVolumeClaimCondition",
    "PersistentVolumeClaimList",
    "PersistentVolumeClaimSpec",
    "PersistentVolumeClaimStatus",
    "PersistentVolumeClaimTemplate",
    "PersistentVolumeClaimVolumeSource",
    "PersistentVolumeList",
    "PersistentVolumeSpec",
    "PersistentVolumeStatus",
    "PhotonPersistentDiskVolumeSource",
    "Pod",
    "PodAffinity",
    "PodAffinityTerm",
    "PodAntiAffinity",
    "PodCertificateProjection",
    "PodCondition",
    "PodDNSConfig",
    "PodDNSConfigOption",
    "PodExtendedResourceClaimStatus",
    "PodIP",
    "PodList",
    "PodOS",
    "PodReadinessGate",
    "PodResourceClaim",
    "PodResourceClaimStatus",
    "PodSchedulingGate",
    "PodSchedulingGroup",
    "PodSecurityContext",
    "PodSpec",
    "PodStatus",
    "PodTemplate",
    "PodTemplateList",
    "PodTemplateSpec",
    "PodVolumeHealth",
    "PortStatus",
    "PortworxVolumeSource",
    "PreferredSchedulingTerm",
    "Probe",
    "ProjectedVolumeSource",
    "QuobyteVolumeSource",
    "RBDPersistentVolumeSource",
    "RBDVolumeSource",
    "ReplicationController",
    "ReplicationControllerCondition",
    "ReplicationControllerList",
    "ReplicationControllerSpec",
    "ReplicationControllerStatus",
    "ResourceClaim",
    "ResourceFieldSelector",
    "ResourceHealth",
    "ResourceQuota",
    "ResourceQuotaList",
    "ResourceQuotaSpec",
    "ResourceQuotaStatus",
    "ResourceRequirements",
    "ResourceStatus",
    "SELinuxOptions",
    "ScaleIOPersistentVolumeSource",
    "ScaleIOVolumeSource",
    "ScopeSelector",
    "ScopedResourceSelectorRequirement",
    "SeccompProfile",
    "Secret",
    "SecretEnvSource",
    "SecretKeySelector",
    "SecretList",
    "SecretProjection",
    "SecretReference",
    "SecretVolumeSource",
    "SecurityContext",
    "Service",
    "ServiceAccount",
    "ServiceAccountList",
    "ServiceAccountTokenProjection",
    "ServiceList",
    "ServicePort",
    "ServiceSpec",
    "ServiceStatus",
    "SessionAffinityConfig",
    "SleepAction",
    "StorageOSPersistentVolumeSource",
    "StorageOSVolumeSource",
    "Sysctl",
    "TCPSocketAction",
    "Taint",
    "Toleration",
    "TopologySelectorLabelRequirement",
    "TopologySelectorTerm",
    "TopologySpreadConstraint",
    "TypedLocalObjectReference",
    "TypedObjectReference",
    "Volume",
    "VolumeDevice",
    "VolumeHealthCondition",
    "VolumeHealthStatus",
    "VolumeMount",
    "VolumeMountStatus",
    "VolumeNodeAffinity",
    "VolumeProjection",
    "VolumeResourceRequirements",
    "VolumeStatus",
    "VsphereVirtualDiskVolumeSource",
    "WeightedPodAffinityTerm",
    "WindowsSecurityContextOptions",
]


class AWSElasticBlockStoreVolumeSource(Model):
    fs_type: str | None = None
    partition: int | None = None
    read_only: bool | None = None
    volume_id: str = field(default=UNSET, name="volumeID")


class Affinity(Model):
    node_affinity: NodeAffinity | None = None
    pod_affinity: PodAffinity | None = None
    pod_anti_affinity: PodAntiAffinity | None = None


class AppArmorProfile(Model):
    localhost_profile: str | None = None
    type: str = UNSET


class AttachedVolume(Model):
    device_path: str = UNSET
    name: str = UNSET


class AzureDiskVolumeSource(Model):
    caching_mode: str | None = None
    disk_name: str = UNSET
    disk_uri: str = field(default=UNSET, name="diskURI")
    fs_type: str | None = None
    kind: str | None = None
    read_only: bool | None = None


class AzureFilePersistentVolumeSource(Model):
    read_only: bool | None = None
    secret_name: str = UNSET
    secret_namespace: str | None = None
    share_name: str = UNSET


class AzureFileVolumeSource(Model):
    read_only: bool | None = None
    secret_name: str = UNSET
    share_name: str = UNSET


class Binding(Resource, group="", version="v1", plural="bindings"):
    target: ObjectReference = UNSET


class CSIPersistentVolumeSource(Model):
    controller_expand_secret_ref: SecretReference | None = None
    controller_publish_secret_ref: SecretReference | None = None
    driver: str = UNSET
    fs_type: str | None = None
    node_expand_secret_ref: SecretReference | None = None
    node_publish_secret_ref: SecretReference | None = None
    node_stage_secret_ref: SecretReference | None = None
    read_only: bool | None = None
    volume_attributes: dict[str, str] = UNSET
    volume_handle: str = UNSET


class CSIVolumeSource(Model):
    driver: str = UNSET
    fs_type: str | None = None
    node_publish_secret_ref: LocalObjectReference | None = None
    read_only: bool | None = None
    volume_attributes: dict[str, str] = UNSET


class Capabilities(Model):
    add: list[str] = UNSET
    drop: list[str] = UNSET


class CephFSPersistentVolumeSource(Model):
    monitors: list[str] = UNSET
    path: str | None = None
    read_only: bool | None = None
    secret_file: str | None = None
    secret_ref: SecretReference | None = None
    user: str | None = None


class CephFSVolumeSource(Model):
    monitors: list[str] = UNSET
    path: str | None = None
    read_only: bool | None = None
    secret_file: str | None = None
    secret_ref: LocalObjectReference | None = None
    user: str | None = None


class CinderPersistentVolumeSource(Model):
    fs_type: str | None = None
    read_only: bool | None = None
    secret_ref: SecretReference | None = None
    volume_id: str = field(default=UNSET, name="volumeID")


class CinderVolumeSource(Model):
    fs_type: str | None = None
    read_only: bool | None = None
    secret_ref: LocalObjectReference | None = None
    volume_id: str = field(default=UNSET, name="volumeID")


class ClientIPConfig(Model):
    timeout_seconds: int | None = None


class ClusterTrustBundleProjection(Model):
    label_selector: meta_v1.LabelSelector | None = None
    name: str | None = None
    optional: bool | None = None
    path: str = UNSET
    signer_name: str | None = None
    user: int | None = None


class ComponentCondition(Model):
    error: str | None = None
    message: str | None = None
    status: str = UNSET
    type: str = UNSET


class ComponentStatus(Resource, group="", version="v1", plural="componentstatuses", namespaced=False):
    conditions: list[ComponentCondition] = UNSET


class ComponentStatusList(Kind, group="", version="v1"):
    items: list[ComponentStatus] = UNSET
    metadata: meta_v1.ListMeta = UNSET


class ConfigMap(Resource, group="", version="v1", plural="configmaps"):
    binary_data: dict[str, bytes] = UNSET
    data: dict[str, str] = UNSET
    immutable: bool | None = None


class ConfigMapEnvSource(Model):
    name: str | None = None
    optional: bool | None = None


class ConfigMapKeySelector(Model):
    key: str = UNSET
    name: str | None = None
    optional: bool | None = None


class ConfigMapList(Kind, group="", version="v1"):
    items: list[ConfigMap] = UNSET
    metadata: meta_v1.ListMeta = UNSET


class ConfigMapNodeConfigSource(Model):
    kubelet_config_key: str = UNSET
    name: str = UNSET
    namespace: str = UNSET
    resource_version: str | None = None
    uid: str | None = None


class ConfigMapProjection(Model):
    items: list[KeyToPath] = UNSET
    name: str | None = None
    optional: bool | None = None


class ConfigMapVolumeSource(Model):
    default_mode: int | None = None
    default_user: int | None = None
    items: list[KeyToPath] = UNSET
    name: str | None = None
    optional: bool | None = None


class Container(Model):
    __optional__: ClassVar[frozenset[str]] = frozenset(['resources'])
    args: list[str] = UNSET
    command: list[str] = UNSET
    env: list[EnvVar] = UNSET
    env_from: list[EnvFromSource] = UNSET
    image: str | None = None
    image_pull_policy: str | None = None
    lifecycle: Lifecycle | None = None
    liveness_probe: Probe | None = None
    name: str = UNSET
    ports: list[ContainerPort] = UNSET
    readiness_probe: Probe | None = None
    resize_policy: list[ContainerResizePolicy] = UNSET
    resources: ResourceRequirements = UNSET
    restart_policy: str | None = None
    restart_policy_rules: list[ContainerRestartRule] = UNSET
    security_context: SecurityContext | None = None
    startup_probe: Probe | None = None
    stdin: bool | None = None
    stdin_once: bool | None = None
    termination_message_path: str | None = None
    termination_message_policy: str | None = None
    tty: bool | None = None
    volume_devices: list[VolumeDevice] = UNSET
    volume_mounts: list[VolumeMount] = UNSET
    working_dir: str | None = None


class ContainerExtendedResourceRequest(Model):
    container_name: str = UNSET
    request_name: str = UNSET
    resource_name: str = UNSET


class ContainerImage(Model):
    names: list[str] = UNSET
    size_bytes: int | None = None


class ContainerPort(Model):
    container_port: int = UNSET
    host_ip: str | None = field(default=None, name="hostIP")
    host_port: int | None = None
    name: str | None = None
    protocol: str | None = None


class ContainerResizePolicy(Model):
    resource_name: str = UNSET
    restart_policy: str = UNSET


class ContainerRestartRule(Model):
    action: str = UNSET
    exit_codes: ContainerRestartRuleOnExitCodes | None = None


class ContainerRestartRuleOnExitCodes(Model):
    operator: str = UNSET
    values: list[int] = UNSET


class ContainerState(Model):
    running: ContainerStateRunning | None = None
    terminated: ContainerStateTerminated | None = None
    waiting: ContainerStateWaiting | None = None


class ContainerStateRunning(Model):
    started_at: Time | None = None


class ContainerStateTerminated(Model):
    container_id: str | None = field(default=None, name="containerID")
    exit_code: int = UNSET
    finished_at: Time | None = None
    message: str | None = None
    reason: str | None = None
    signal: int | None = None
    started_at: Time | None = None


class ContainerStateWaiting(Model):
    message: str | None = None
    reason: str | None = None


class ContainerStatus(Model):
    __optional__: ClassVar[frozenset[str]] = frozenset(['last_state', 'state'])
    allocated_resources: dict[str, Quantity] = UNSET
    allocated_resources_status: list[ResourceStatus] = UNSET
    container_id: str | None = field(default=None, name="containerID")
    image: str = UNSET
    image_id: str = field(default=UNSET, name="imageID")
    last_state: ContainerState = UNSET
    name: str = UNSET
    ready: bool = UNSET
    resources: ResourceRequirements | None = None
    restart_count: int = UNSET
    started: bool | None = None
    state: ContainerState = UNSET
    stop_signal: str | None = None
    user: ContainerUser | None = None
    volume_mounts: list[VolumeMountStatus] = UNSET


class ContainerUser(Model):
    linux: LinuxContainerUser | None = None


class DaemonEndpoint(Model):
    port: int = field(default=UNSET, name="Port")


class DownwardAPIProjection(Model):
    items: list[DownwardAPIVolumeFile] = UNSET


class DownwardAPIVolumeFile(Model):
    field_ref: ObjectFieldSelector | None = None
    mode: int | None = None
    path: str = UNSET
    resource_field_ref: ResourceFieldSelector | None = None
    user: int | None = None


class DownwardAPIVolumeSource(Model):
    default_mode: int | None = None
    default_user: int | None = None
    items: list[DownwardAPIVolumeFile] = UNSET


class EmptyDirVolumeSource(Model):
    medium: str | None = None
    mode: int | None = None
    size_limit: Quantity | None = None


class EndpointAddress(Model):
    hostname: str | None = None
    ip: str = UNSET
    node_name: str | None = None
    target_ref: ObjectReference | None = None


class EndpointPort(Model):
    app_protocol: str | None = None
    name: str | None = None
    port: int = UNSET
    protocol: str | None = None


class EndpointSubset(Model):
    addresses: list[EndpointAddress] = UNSET
    not_ready_addresses: list[EndpointAddress] = UNSET
    ports: list[EndpointPort] = UNSET


class Endpoints(Resource, group="", version="v1", plural="endpoints"):
    subsets: list[EndpointSubset] = UNSET


class EndpointsList(Kind, group="", version="v1"):
    items: list[Endpoints] = UNSET
    metadata: meta_v1.ListMeta = UNSET


class EnvFromSource(Model):
    config_map_ref: ConfigMapEnvSource | None = None
    prefix: str | None = None
    secret_ref: SecretEnvSource | None = None


class EnvVar(Model):
    name: str = UNSET
    value: str | None = None
    value_from: EnvVarSource | None = None


class EnvVarSource(Model):
    config_map_key_ref: ConfigMapKeySelector | None = None
    field_ref: ObjectFieldSelector | None = None
    file_key_ref: FileKeySelector | None = None
    resource_field_ref: ResourceFieldSelector | None = None
    secret_key_ref: SecretKeySelector | None = None


class EphemeralContainer(Model):
    __optional__: ClassVar[frozenset[str]] = frozenset(['resources'])
    args: list[str] = UNSET
    command: list[str] = UNSET
    env: list[EnvVar] = UNSET
    env_from: list[EnvFromSource] = UNSET
    image: str | None = None
    image_pull_policy: str | None = None
    lifecycle: Lifecycle | None = None
    liveness_probe: Probe | None = None
    name: str = UNSET
    ports: list[ContainerPort] = UNSET
    readiness_probe: Probe | None = None
    resize_policy: list[ContainerResizePolicy] = UNSET
    resources: ResourceRequirements = UNSET
    restart_policy: str | None = None
    restart_policy_rules: list[ContainerRestartRule] = UNSET
    security_context: SecurityContext | None = None
    startup_probe: Probe | None = None
    stdin: bool | None = None
    stdin_once: bool | None = None
    target_container_name: str | None = None
    termination_message_path: str | None = None
    termination_message_policy: str | None = None
    tty: bool | None = None
    volume_devices: list[VolumeDevice] = UNSET
    volume_mounts: list[VolumeMount] = UNSET
    working_dir: str | None = None


class EphemeralVolumeSource(Model):
    volume_claim_template: PersistentVolumeClaimTemplate | None = None


class Event(Resource, group="", version="v1", plural="events"):
    __optional__: ClassVar[frozenset[str]] = frozenset(['source'])
    action: str | None = None
    count: int | None = None
    event_time: MicroTime | None = None
    first_timestamp: Time | None = None
    involved_object: ObjectReference = UNSET
    last_timestamp: Time | None = None
    message: str | None = None
    reason: str | None = None
    related: ObjectReference | None = None
    reporting_component: str | None = None
    reporting_instance: str | None = None
    series: EventSeries | None = None
    source: EventSource = UNSET
    type: str | None = None


class EventList(Kind, group="", version="v1"):
    items: list[Event] = UNSET
    metadata: meta_v1.ListMeta = UNSET


class EventSeries(Model):
    count: int | None = None
    last_observed_time: MicroTime | None = None


class EventSource(Model):
    component: str | None = None
    host: str | None = None


class EvictionResponder(Model):
    name: str = UNSET
    priority: int = UNSET


class ExecAction(Model):
    command: list[str] = UNSET


class FCVolumeSource(Model):
    fs_type: str | None = None
    lun: int | None = None
    read_only: bool | None = None
    target_wwns: list[str] = field(default=UNSET, name="targetWWNs")
    wwids: list[str] = UNSET


class FileKeySelector(Model):
    key: str = UNSET
    optional: bool | None = None
    path: str = UNSET
    volume_name: str = UNSET


class FlexPersistentVolumeSource(Model):
    driver: str = UNSET
    fs_type: str | None = None
    options: dict[str, str] = UNSET
    read_only: bool | None = None
    secret_ref: SecretReference | None = None


class FlexVolumeSource(Model):
    driver: str = UNSET
    fs_type: str | None = None
    options: dict[str, str] = UNSET
    read_only: bool | None = None
    secret_ref: LocalObjectReference | None = None


class FlockerVolumeSource(Model):
    dataset_name: str | None = None
    dataset_uuid: str | None = field(default=None, name="datasetUUID")


class GCEPersistentDiskVolumeSource(Model):
    fs_type: str | None = None
    partition: int | None = None
    pd_name: str = UNSET
    read_only: bool | None = None


class GRPCAction(Model):
    mode: str | None = None
    port: int = UNSET
    service: str | None = None


class GitRepoVolumeSource(Model):
    directory: str | None = None
    repository: str = UNSET
    revision: str | None = None


class GlusterfsPersistentVolumeSource(Model):
    endpoints: str = UNSET
    endpoints_namespace: str | None = None
    path: str = UNSET
    read_only: bool | None = None


class GlusterfsVolumeSource(Model):
    endpoints: str = UNSET
    path: str = UNSET
    read_only: bool | None = None


class HTTPGetAction(Model):
    host: str | None = None
    http_headers: list[HTTPHeader] = UNSET
    path: str | None = None
    port: IntOrString = UNSET
    protocol: str | None = None
    scheme: str | None = None


class HTTPHeader(Model):
    name: str = UNSET
    value: str = UNSET


class HostAlias(Model):
    hostnames: list[str] = UNSET
    ip: str = UNSET


class HostIP(Model):
    ip: str = UNSET


class HostPathVolumeSource(Model):
    path: str = UNSET
    type: str | None = None


class ISCSIPersistentVolumeSource(Model):
    chap_auth_discovery: bool | None = None
    chap_auth_session: bool | None = None
    fs_type: str | None = None
    initiator_name: str | None = None
    iqn: str = UNSET
    iscsi_interface: str | None = None
    lun: int = UNSET
    portals: list[str] = UNSET
    read_only: bool | None = None
    secret_ref: SecretReference | None = None
    target_portal: str = UNSET


class ISCSIVolumeSource(Model):
    chap_auth_discovery: bool | None = None
    chap_auth_session: bool | None = None
    fs_type: str | None = None
    initiator_name: str | None = None
    iqn: str = UNSET
    iscsi_interface: str | None = None
    lun: int = UNSET
    portals: list[str] = UNSET
    read_only: bool | None = None
    secret_ref: LocalObjectReference | None = None
    target_portal: str = UNSET


class ImageVolumeSource(Model):
    pull_policy: str | None = None
    reference: str | None = None


class ImageVolumeStatus(Model):
    image_ref: str = UNSET


class KeyToPath(Model):
    key: str = UNSET
    mode: int | None = None
    path: str = UNSET
    user: int | None = None


class Lifecycle(Model):
    post_start: LifecycleHandler | None = None
    pre_stop: LifecycleHandler | None = None
    stop_signal: str | None = None


class LifecycleHandler(Model):
    exec: ExecAction | None = None
    http_get: HTTPGetAction | None = None
    sleep: SleepAction | None = None
    tcp_socket: TCPSocketAction | None = None


class LimitRange(Resource, group="", version="v1", plural="limitranges"):
    spec: LimitRangeSpec = UNSET


class LimitRangeItem(Model):
    default: dict[str, Quantity] = UNSET
    default_request: dict[str, Quantity] = UNSET
    max: dict[str, Quantity] = UNSET
    max_limit_request_ratio: dict[str, Quantity] = UNSET
    min: dict[str, Quantity] = UNSET
    type: str = UNSET


class LimitRangeList(Kind, group="", version="v1"):
    items: list[LimitRange] = UNSET
    metadata: meta_v1.ListMeta = UNSET


class LimitRangeSpec(Model):
    limits: list[LimitRangeItem] = UNSET


class LinuxContainerUser(Model):
    gid: int = UNSET
    supplemental_groups: list[int] = UNSET
    uid: int = UNSET


class LoadBalancerIngress(Model):
    hostname: str | None = None
    ip: str | None = None
    ip_mode: str | None = None
    ports: list[PortStatus] = UNSET


class LoadBalancerStatus(Model):
    ingress: list[LoadBalancerIngress] = UNSET


class LocalObjectReference(Model):
    name: str | None = None


class LocalVolumeSource(Model):
    fs_type: str | None = None
    path: str = UNSET


class ModifyVolumeStatus(Model):
    status: str = UNSET
    target_volume_attributes_class_name: str | None = None


class NFSVolumeSource(Model):
    path: str = UNSET
    read_only: bool | None = None
    server: str = UNSET


class Namespace(Resource, group="", version="v1", plural="namespaces", namespaced=False):
    spec: NamespaceSpec = UNSET
    status: NamespaceStatus = UNSET


class NamespaceCondition(Model):
    last_transition_time: Time | None = None
    message: str | None = None
    reason: str | None = None
    status: str = UNSET
    type: str = UNSET


class NamespaceList(Kind, group="", version="v1"):
    items: list[Namespace] = UNSET
    metadata: meta_v1.ListMeta = UNSET


class NamespaceSpec(Model):
    finalizers: list[str] = UNSET


class NamespaceStatus(Model):
    conditions: list[NamespaceCondition] = UNSET
    phase: str | None = None


class Node(Resource, group="", version="v1", plural="nodes", namespaced=False):
    spec: NodeSpec = UNSET
    status: NodeStatus = UNSET


class NodeAddress(Model):
    address: str = UNSET
    type: str = UNSET


class NodeAffinity(Model):
    preferred_during_scheduling_ignored_during_execution: list[PreferredSchedulingTerm] = UNSET
    required_during_scheduling_ignored_during_execution: NodeSelector | None = None


class NodeAllocatableMappedResources(Model):
    name: str = UNSET
    quantity: Quantity = UNSET


class NodeAllocatableOverheadResources(Model):
    name: str = UNSET
    per_container: Quantity | None = None
    per_pod: Quantity | None = None


class NodeAllocatableResourceClaimStatus(Model):
    containers: list[str] = UNSET
    mapping: list[NodeAllocatableMappedResources] = UNSET
    overhead: list[NodeAllocatableOverheadResources] = UNSET
    resource_claim_name: str = UNSET


class NodeCondition(Model):
    last_heartbeat_time: Time | None = None
    last_transition_time: Time | None = None
    message: str | None = None
    reason: str | None = None
    status: str = UNSET
    type: str = UNSET


class NodeConfigSource(Model):
    config_map: ConfigMapNodeConfigSource | None = None


class NodeConfigStatus(Model):
    active: NodeConfigSource | None = None
    assigned: NodeConfigSource | None = None
    error: str | None = None
    last_known_good: NodeConfigSource | None = None


class NodeDaemonEndpoints(Model):
    __optional__: ClassVar[frozenset[str]] = frozenset(['kubelet_endpoint'])
    kubelet_endpoint: DaemonEndpoint = UNSET


class NodeFeatures(Model):
    supplemental_groups_policy: bool | None = None


class NodeList(Kind, group="", version="v1"):
    items: list[Node] = UNSET
    metadata: meta_v1.ListMeta = UNSET


class NodePodPreemptionPolicy(Model):
    disable_resize_preemption: list[str] = UNSET


class NodeRuntimeHandler(Model):
    features: NodeRuntimeHandlerFeatures | None = None
    name: str | None = None


class NodeRuntimeHandlerFeatures(Model):
    recursive_read_only_mounts: bool | None = None
    user_namespaces: bool | None = None


class NodeSelector(Model):
    node_selector_terms: list[NodeSelectorTerm] = UNSET


class NodeSelectorRequirement(Model):
    key: str = UNSET
    operator: str = UNSET
    values: list[str] = UNSET


class NodeSelectorTerm(Model):
    match_expressions: list[NodeSelectorRequirement] = UNSET
    match_fields: list[NodeSelectorRequirement] = UNSET


class NodeSpec(Model):
    config_source: NodeConfigSource | None = None
    external_id: str | None = field(default=None, name="externalID")
    pod_cidr: str | None = field(default=None, name="podCIDR")
    pod_cidrs: list[str] = field(default=UNSET, name="podCIDRs")
    pod_preemption_policy: NodePodPreemptionPolicy | None = None
    provider_id: str | None = field(default=None, name="providerID")
    taints: list[Taint] = UNSET
    unschedulable: bool | None = None


class NodeStatus(Model):
    __optional__: ClassVar[frozenset[str]] = frozenset(['daemon_endpoints', 'node_info'])
    addresses: list[NodeAddress] = UNSET
    allocatable: dict[str, Quantity] = UNSET
    capacity: dict[str, Quantity] = UNSET
    conditions: list[NodeCondition] = UNSET
    config: NodeConfigStatus | None = None
    daemon_endpoints: NodeDaemonEndpoints = UNSET
    declared_features: list[str] = UNSET
    features: NodeFeatures | None = None
    images: list[ContainerImage] = UNSET
    node_info: NodeSystemInfo = UNSET
    phase: str | None = None
    runtime_handlers: list[NodeRuntimeHandler] = UNSET
    volumes_attached: list[AttachedVolume] = UNSET
    volumes_in_use: list[str] = UNSET


class NodeSwapStatus(Model):
    capacity: int | None = None


class NodeSystemInfo(Model):
    architecture: str = UNSET
    boot_id: str = field(default=UNSET, name="bootID")
    container_runtime_version: str = UNSET
    kernel_version: str = UNSET
    kube_proxy_version: str = UNSET
    kubelet_version: str = UNSET
    machine_id: str = field(default=UNSET, name="machineID")
    operating_system: str = UNSET
    os_image: str = UNSET
    running_in_user_namespace: bool | None = None
    swap: NodeSwapStatus | None = None
    system_uuid: str = field(default=UNSET, name="systemUUID")


class ObjectFieldSelector(Model):
    api_version: str | None = None
    field_path: str = UNSET


class ObjectReference(Model):
    api_version: str | None = None
    field_path: str | None = None
    kind: str | None = None
    name: str | None = None
    namespace: str | None = None
    resource_version: str | None = None
    uid: str | None = None


class PersistentVolume(Resource, group="", version="v1", plural="persistentvolumes", namespaced=False):
    spec: PersistentVolumeSpec = UNSET
    status: PersistentVolumeStatus = UNSET


class PersistentVolumeClaim(Resource, group="", version="v1", plural="persistentvolumeclaims"):
    spec: PersistentVolumeClaimSpec = UNSET
    status: PersistentVolumeClaimStatus = UNSET


class PersistentVolumeClaimCondition(Model):
    last_probe_time: Time | None = None
    last_transition_time: Time | None = None
    message: str | None = None
    reason: str | None = None
    status: str = UNSET
    type: str = UNSET


class PersistentVolumeClaimList(Kind, group="", version="v1"):
    items: list[PersistentVolumeClaim] = UNSET
    metadata: meta_v1.ListMeta = UNSET


class PersistentVolumeClaimSpec(Model):
    __optional__: ClassVar[frozenset[str]] = frozenset(['resources'])
    access_modes: list[str] = UNSET
    data_source: TypedLocalObjectReference | None = None
    data_source_ref: TypedObjectReference | None = None
    resources: VolumeResourceRequirements = UNSET
    selector: meta_v1.LabelSelector | None = None
    storage_class_name: str | None = None
    volume_attributes_class_name: str | None = None
    volume_mode: str | None = None
    volume_name: str | None = None


class PersistentVolumeClaimStatus(Model):
    access_modes: list[str] = UNSET
    allocated_resource_statuses: dict[str, str] = UNSET
    allocated_resources: dict[str, Quantity] = UNSET
    capacity: dict[str, Quantity] = UNSET
    conditions: list[PersistentVolumeClaimCondition] = UNSET
    current_volume_attributes_class_name: str | None = None
    health_status: VolumeHealthStatus | None = None
    modify_volume_status: ModifyVolumeStatus | None = None
    phase: str | None = None


class PersistentVolumeClaimTemplate(Model):
    __optional__: ClassVar[frozenset[str]] = frozenset(['metadata'])
    metadata: meta_v1.ObjectMeta = UNSET
    spec: PersistentVolumeClaimSpec = UNSET


class PersistentVolumeClaimVolumeSource(Model):
    claim_name: str = UNSET
    read_only: bool | None = None


class PersistentVolumeList(Kind, group="", version="v1"):
    items: list[PersistentVolume] = UNSET
    metadata: meta_v1.ListMeta = UNSET


class PersistentVolumeSpec(Model):
    access_modes: list[str] = UNSET
    aws_elastic_block_store: AWSElasticBlockStoreVolumeSource | None = None
    azure_disk: AzureDiskVolumeSource | None = None
    azure_file: AzureFilePersistentVolumeSource | None = None
    capacity: dict[str, Quantity] = UNSET
    cephfs: CephFSPersistentVolumeSource | None = None
    cinder: CinderPersistentVolumeSource | None = None
    claim_ref: ObjectReference | None = None
    csi: CSIPersistentVolumeSource | None = None
    fc: FCVolumeSource | None = None
    flex_volume: FlexPersistentVolumeSource | None = None
    flocker: FlockerVolumeSource | None = None
    gce_persistent_disk: GCEPersistentDiskVolumeSource | None = None
    glusterfs: GlusterfsPersistentVolumeSource | None = None
    host_path: HostPathVolumeSource | None = None
    iscsi: ISCSIPersistentVolumeSource | None = None
    local: LocalVolumeSource | None = None
    mount_options: list[str] = UNSET
    nfs: NFSVolumeSource | None = None
    node_affinity: VolumeNodeAffinity | None = None
    persistent_volume_reclaim_policy: str | None = None
    photon_persistent_disk: PhotonPersistentDiskVolumeSource | None = None
    portworx_volume: PortworxVolumeSource | None = None
    quobyte: QuobyteVolumeSource | None = None
    rbd: RBDPersistentVolumeSource | None = None
    scale_io: ScaleIOPersistentVolumeSource | None = field(default=None, name="scaleIO")
    storage_class_name: str | None = None
    storageos: StorageOSPersistentVolumeSource | None = None
    volume_attributes_class_name: str | None = None
    volume_mode: str | None = None
    vsphere_volume: VsphereVirtualDiskVolumeSource | None = None


class PersistentVolumeStatus(Model):
    last_phase_transition_time: Time | None = None
    message: str | None = None
    phase: str | None = None
    reason: str | None = None


class PhotonPersistentDiskVolumeSource(Model):
    fs_type: str | None = None
    pd_id: str = field(default=UNSET, name="pdID")


class Pod(Resource, group="", version="v1", plural="pods"):
    spec: PodSpec = UNSET
    status: PodStatus = UNSET


class PodAffinity(Model):
    preferred_during_scheduling_ignored_during_execution: list[WeightedPodAffinityTerm] = UNSET
    required_during_scheduling_ignored_during_execution: list[PodAffinityTerm] = UNSET


class PodAffinityTerm(Model):
    label_selector: meta_v1.LabelSelector | None = None
    match_label_keys: list[str] = UNSET
    mismatch_label_keys: list[str] = UNSET
    namespace_selector: meta_v1.LabelSelector | None = None
    namespaces: list[str] = UNSET
    topology_key: str = UNSET


class PodAntiAffinity(Model):
    preferred_during_scheduling_ignored_during_execution: list[WeightedPodAffinityTerm] = UNSET
    required_during_scheduling_ignored_during_execution: list[PodAffinityTerm] = UNSET


class PodCertificateProjection(Model):
    certificate_chain_path: str | None = None
    credential_bundle_path: str | None = None
    key_path: str | None = None
    key_type: str = UNSET
    max_expiration_seconds: int | None = None
    signer_name: str = UNSET
    user: int | None = None
    user_annotations: dict[str, str] = UNSET


class PodCondition(Model):
    last_probe_time: Time | None = None
    last_transition_time: Time | None = None
    message: str | None = None
    observed_generation: int | None = None
    reason: str | None = None
    status: str = UNSET
    type: str = UNSET


class PodDNSConfig(Model):
    nameservers: list[str] = UNSET
    options: list[PodDNSConfigOption] = UNSET
    searches: list[str] = UNSET


class PodDNSConfigOption(Model):
    name: str | None = None
    value: str | None = None


class PodExtendedResourceClaimStatus(Model):
    request_mappings: list[ContainerExtendedResourceRequest] = UNSET
    resource_claim_name: str = UNSET


class PodIP(Model):
    ip: str = UNSET


class PodList(Kind, group="", version="v1"):
    items: list[Pod] = UNSET
    metadata: meta_v1.ListMeta = UNSET


class PodOS(Model):
    name: str = UNSET


class PodReadinessGate(Model):
    condition_type: str = UNSET


class PodResourceClaim(Model):
    name: str = UNSET
    resource_claim_name: str | None = None
    resource_claim_template_name: str | None = None


class PodResourceClaimStatus(Model):
    name: str = UNSET
    resource_claim_name: str | None = None


class PodSchedulingGate(Model):
    name: str = UNSET


class PodSchedulingGroup(Model):
    pod_group_name: str | None = None


class PodSecurityContext(Model):
    app_armor_profile: AppArmorProfile | None = None
    fs_group: int | None = None
    fs_group_change_policy: str | None = None
    run_as_group: int | None = None
    run_as_non_root: bool | None = None
    run_as_user: int | None = None
    se_linux_change_policy: str | None = None
    se_linux_options: SELinuxOptions | None = None
    seccomp_profile: SeccompProfile | None = None
    supplemental_groups: list[int] = UNSET
    supplemental_groups_policy: str | None = None
    sysctls: list[Sysctl] = UNSET
    windows_options: WindowsSecurityContextOptions | None = None


class PodSpec(Model):
    active_deadline_seconds: int | None = None
    affinity: Affinity | None = None
    automount_service_account_token: bool | None = None
    containers: list[Container] = UNSET
    dns_config: PodDNSConfig | None = None
    dns_policy: str | None = None
    enable_service_links: bool | None = None
    ephemeral_containers: list[EphemeralContainer] = UNSET
    eviction_responders: list[EvictionResponder] = UNSET
    host_aliases: list[HostAlias] = UNSET
    host_ipc: bool | None = field(default=None, name="hostIPC")
    host_network: bool | None = None
    host_pid: bool | None = field(default=None, name="hostPID")
    host_users: bool | None = None
    hostname: str | None = None
    hostname_override: str | None = None
    image_pull_secrets: list[LocalObjectReference] = UNSET
    init_containers: list[Container] = UNSET
    node_name: str | None = None
    node_selector: dict[str, str] = UNSET
    os: PodOS | None = None
    overhead: dict[str, Quantity] = UNSET
    preemption_policy: str | None = None
    priority: int | None = None
    priority_class_name: str | None = None
    readiness_gates: list[PodReadinessGate] = UNSET
    resource_claims: list[PodResourceClaim] = UNSET
    resources: ResourceRequirements | None = None
    restart_policy: str | None = None
    runtime_class_name: str | None = None
    scheduler_name: str | None = None
    scheduling_gates: list[PodSchedulingGate] = UNSET
    scheduling_group: PodSchedulingGroup | None = None
    security_context: PodSecurityContext | None = None
    service_account: str | None = None
    service_account_name: str | None = None
    set_hostname_as_fqdn: bool | None = field(default=None, name="setHostnameAsFQDN")
    share_process_namespace: bool | None = None
    subdomain: str | None = None
    termination_grace_period_seconds: int | None = None
    tolerations: list[Toleration] = UNSET
    topology_spread_constraints: list[TopologySpreadConstraint] = UNSET
    volumes: list[Volume] = UNSET


class PodStatus(Model):
    allocated_resources: dict[str, Quantity] = UNSET
    conditions: list[PodCondition] = UNSET
    container_statuses: list[ContainerStatus] = UNSET
    ephemeral_container_statuses: list[ContainerStatus] = UNSET
    extended_resource_claim_status: PodExtendedResourceClaimStatus | None = None
    host_ip: str | None = field(default=None, name="hostIP")
    host_ips: list[HostIP] = field(default=UNSET, name="hostIPs")
    init_container_statuses: list[ContainerStatus] = UNSET
    message: str | None = None
    node_allocatable_resource_claim_statuses: list[NodeAllocatableResourceClaimStatus] = UNSET
    nominated_node_name: str | None = None
    observed_generation: int | None = None
    phase: str | None = None
    pod_ip: str | None = field(default=None, name="podIP")
    pod_ips: list[PodIP] = field(default=UNSET, name="podIPs")
    qos_class: str | None = None
    reason: str | None = None
    resize: str | None = None
    resource_claim_statuses: list[PodResourceClaimStatus] = UNSET
    resources: ResourceRequirements | None = None
    start_time: Time | None = None
    volume_health: list[PodVolumeHealth] = UNSET


class PodTemplate(Resource, group="", version="v1", plural="podtemplates"):
    __optional__: ClassVar[frozenset[str]] = frozenset(['template'])
    template: PodTemplateSpec = UNSET


class PodTemplateList(Kind, group="", version="v1"):
    items: list[PodTemplate] = UNSET
    metadata: meta_v1.ListMeta = UNSET


class PodTemplateSpec(Model):
    __optional__: ClassVar[frozenset[str]] = frozenset(['metadata', 'spec'])
    metadata: meta_v1.ObjectMeta = UNSET
    spec: PodSpec = UNSET


class PodVolumeHealth(Model):
    health_conditions: list[VolumeHealthCondition] = UNSET
    last_transition_time: Time | None = None
    name: str = UNSET


class PortStatus(Model):
    error: str | None = None
    port: int = UNSET
    protocol: str = UNSET


class PortworxVolumeSource(Model):
    fs_type: str | None = None
    read_only: bool | None = None
    volume_id: str = field(default=UNSET, name="volumeID")


class PreferredSchedulingTerm(Model):
    preference: NodeSelectorTerm = UNSET
    weight: int = UNSET


class Probe(Model):
    exec: ExecAction | None = None
    failure_threshold: int | None = None
    grpc: GRPCAction | None = None
    http_get: HTTPGetAction | None = None
    initial_delay_seconds: int | None = None
    period_seconds: int | None = None
    success_threshold: int | None = None
    tcp_socket: TCPSocketAction | None = None
    termination_grace_period_seconds: int | None = None
    timeout_seconds: int | None = None


class ProjectedVolumeSource(Model):
    default_mode: int | None = None
    default_user: int | None = None
    sources: list[VolumeProjection] = UNSET


class QuobyteVolumeSource(Model):
    group: str | None = None
    read_only: bool | None = None
    registry: str = UNSET
    tenant: str | None = None
    user: str | None = None
    volume: str = UNSET


class RBDPersistentVolumeSource(Model):
    fs_type: str | None = None
    image: str = UNSET
    keyring: str | None = None
    monitors: list[str] = UNSET
    pool: str | None = None
    read_only: bool | None = None
    secret_ref: SecretReference | None = None
    user: str | None = None


class RBDVolumeSource(Model):
    fs_type: str | None = None
    image: str = UNSET
    keyring: str | None = None
    monitors: list[str] = UNSET
    pool: str | None = None
    read_only: bool | None = None
    secret_ref: LocalObjectReference | None = None
    user: str | None = None


class ReplicationController(Resource, group="", version="v1", plural="replicationcontrollers"):
    spec: ReplicationControllerSpec = UNSET
    status: ReplicationControllerStatus = UNSET


class ReplicationControllerCondition(Model):
    last_transition_time: Time | None = None
    message: str | None = None
    reason: str | None = None
    status: str = UNSET
    type: str = UNSET


class ReplicationControllerList(Kind, group="", version="v1"):
    items: list[ReplicationController] = UNSET
    metadata: meta_v1.ListMeta = UNSET


class ReplicationControllerSpec(Model):
    min_ready_seconds: int | None = None
    replicas: int | None = None
    selector: dict[str, str] = UNSET
    template: PodTemplateSpec | None = None


class ReplicationControllerStatus(Model):
    available_replicas: int | None = None
    conditions: list[ReplicationControllerCondition] = UNSET
    fully_labeled_replicas: int | None = None
    observed_generation: int | None = None
    ready_replicas: int | None = None
    replicas: int = UNSET


class ResourceClaim(Model):
    name: str = UNSET
    request: str | None = None


class ResourceFieldSelector(Model):
    container_name: str | None = None
    divisor: Quantity | None = None
    resource: str = UNSET


class ResourceHealth(Model):
    health: str | None = None
    message: str | None = None
    resource_id: str = field(default=UNSET, name="resourceID")


class ResourceQuota(Resource, group="", version="v1", plural="resourcequotas"):
    spec: ResourceQuotaSpec = UNSET
    status: ResourceQuotaStatus = UNSET


class ResourceQuotaList(Kind, group="", version="v1"):
    items: list[ResourceQuota] = UNSET
    metadata: meta_v1.ListMeta = UNSET


class ResourceQuotaSpec(Model):
    hard: dict[str, Quantity] = UNSET
    scope_selector: ScopeSelector | None = None
    scopes: list[str] = UNSET


class ResourceQuotaStatus(Model):
    hard: dict[str, Quantity] = UNSET
    used: dict[str, Quantity] = UNSET


class ResourceRequirements(Model):
    claims: list[ResourceClaim] = UNSET
    limits: dict[str, Quantity] = UNSET
    requests: dict[str, Quantity] = UNSET


class ResourceStatus(Model):
    name: str = UNSET
    resources: list[ResourceHealth] = UNSET


class SELinuxOptions(Model):
    level: str | None = None
    role: str | None = None
    type: str | None = None
    user: str | None = None


class ScaleIOPersistentVolumeSource(Model):
    fs_type: str | None = None
    gateway: str = UNSET
    protection_domain: str | None = None
    read_only: bool | None = None
    secret_ref: SecretReference = UNSET
    ssl_enabled: bool | None = None
    storage_mode: str | None = None
    storage_pool: str | None = None
    system: str = UNSET
    volume_name: str | None = None


class ScaleIOVolumeSource(Model):
    fs_type: str | None = None
    gateway: str = UNSET
    protection_domain: str | None = None
    read_only: bool | None = None
    secret_ref: LocalObjectReference = UNSET
    ssl_enabled: bool | None = None
    storage_mode: str | None = None
    storage_pool: str | None = None
    system: str = UNSET
    volume_name: str | None = None


class ScopeSelector(Model):
    match_expressions: list[ScopedResourceSelectorRequirement] = UNSET


class ScopedResourceSelectorRequirement(Model):
    operator: str = UNSET
    scope_name: str = UNSET
    values: list[str] = UNSET


class SeccompProfile(Model):
    localhost_profile: str | None = None
    type: str = UNSET


class Secret(Resource, group="", version="v1", plural="secrets"):
    __redacted__: ClassVar[frozenset[str]] = frozenset(['data', 'string_data'])
    data: dict[str, bytes] = UNSET
    immutable: bool | None = None
    string_data: dict[str, str] = UNSET
    type: str | None = None


class SecretEnvSource(Model):
    name: str | None = None
    optional: bool | None = None


class SecretKeySelector(Model):
    key: str = UNSET
    name: str | None = None
    optional: bool | None = None


class SecretList(Kind, group="", version="v1"):
    items: list[Secret] = UNSET
    metadata: meta_v1.ListMeta = UNSET


class SecretProjection(Model):
    items: list[KeyToPath] = UNSET
    name: str | None = None
    optional: bool | None = None


class SecretReference(Model):
    name: str | None = None
    namespace: str | None = None


class SecretVolumeSource(Model):
    default_mode: int | None = None
    default_user: int | None = None
    items: list[KeyToPath] = UNSET
    optional: bool | None = None
    secret_name: str | None = None


class SecurityContext(Model):
    allow_privilege_escalation: bool | None = None
    app_armor_profile: AppArmorProfile | None = None
    capabilities: Capabilities | None = None
    privileged: bool | None = None
    proc_mount: str | None = None
    read_only_root_filesystem: bool | None = None
    run_as_group: int | None = None
    run_as_non_root: bool | None = None
    run_as_user: int | None = None
    se_linux_options: SELinuxOptions | None = None
    seccomp_profile: SeccompProfile | None = None
    windows_options: WindowsSecurityContextOptions | None = None


class Service(Resource, group="", version="v1", plural="services"):
    spec: ServiceSpec = UNSET
    status: ServiceStatus = UNSET


class ServiceAccount(Resource, group="", version="v1", plural="serviceaccounts"):
    automount_service_account_token: bool | None = None
    image_pull_secrets: list[LocalObjectReference] = UNSET
    secrets: list[ObjectReference] = UNSET


class ServiceAccountList(Kind, group="", version="v1"):
    items: list[ServiceAccount] = UNSET
    metadata: meta_v1.ListMeta = UNSET


class ServiceAccountTokenProjection(Model):
    audience: str | None = None
    expiration_seconds: int | None = None
    path: str = UNSET
    user: int | None = None


class ServiceList(Kind, group="", version="v1"):
    items: list[Service] = UNSET
    metadata: meta_v1.ListMeta = UNSET


class ServicePort(Model):
    app_protocol: str | None = None
    name: str | None = None
    node_port: int | None = None
    port: int = UNSET
    protocol: str | None = None
    target_port: IntOrString | None = None


class ServiceSpec(Model):
    allocate_load_balancer_node_ports: bool | None = None
    cluster_ip: str | None = field(default=None, name="clusterIP")
    cluster_ips: list[str] = field(default=UNSET, name="clusterIPs")
    external_ips: list[str] = field(default=UNSET, name="externalIPs")
    external_name: str | None = None
    external_traffic_policy: str | None = None
    health_check_node_port: int | None = None
    internal_traffic_policy: str | None = None
    ip_families: list[str] = UNSET
    ip_family_policy: str | None = None
    load_balancer_class: str | None = None
    load_balancer_ip: str | None = field(default=None, name="loadBalancerIP")
    load_balancer_source_ranges: list[str] = UNSET
    ports: list[ServicePort] = UNSET
    publish_not_ready_addresses: bool | None = None
    selector: dict[str, str] = UNSET
    session_affinity: str | None = None
    session_affinity_config: SessionAffinityConfig | None = None
    traffic_distribution: str | None = None
    type: str | None = None


class ServiceStatus(Model):
    __optional__: ClassVar[frozenset[str]] = frozenset(['load_balancer'])
    conditions: list[meta_v1.Condition] = UNSET
    load_balancer: LoadBalancerStatus = UNSET


class SessionAffinityConfig(Model):
    client_ip: ClientIPConfig | None = field(default=None, name="clientIP")


class SleepAction(Model):
    seconds: int = UNSET


class StorageOSPersistentVolumeSource(Model):
    fs_type: str | None = None
    read_only: bool | None = None
    secret_ref: ObjectReference | None = None
    volume_name: str | None = None
    volume_namespace: str | None = None


class StorageOSVolumeSource(Model):
    fs_type: str | None = None
    read_only: bool | None = None
    secret_ref: LocalObjectReference | None = None
    volume_name: str | None = None
    volume_namespace: str | None = None


class Sysctl(Model):
    name: str = UNSET
    value: str = UNSET


class TCPSocketAction(Model):
    host: str | None = None
    port: IntOrString = UNSET


class Taint(Model):
    effect: str = UNSET
    key: str = UNSET
    time_added: Time | None = None
    value: str | None = None


class Toleration(Model):
    effect: str | None = None
    key: str | None = None
    operator: str | None = None
    toleration_seconds: int | None = None
    value: str | None = None


class TopologySelectorLabelRequirement(Model):
    key: str = UNSET
    values: list[str] = UNSET


class TopologySelectorTerm(Model):
    match_label_expressions: list[TopologySelectorLabelRequirement] = UNSET


class TopologySpreadConstraint(Model):
    label_selector: meta_v1.LabelSelector | None = None
    match_label_keys: list[str] = UNSET
    max_skew: int = UNSET
    min_domains: int | None = None
    node_affinity_policy: str | None = None
    node_taints_policy: str | None = None
    topology_key: str = UNSET
    when_unsatisfiable: str = UNSET


class TypedLocalObjectReference(Model):
    api_group: str | None = None
    kind: str = UNSET
    name: str = UNSET


class TypedObjectReference(Model):
    api_group: str | None = None
    kind: str = UNSET
    name: str = UNSET
    namespace: str | None = None


class Volume(Model):
    aws_elastic_block_store: AWSElasticBlockStoreVolumeSource | None = None
    azure_disk: AzureDiskVolumeSource | None = None
    azure_file: AzureFileVolumeSource | None = None
    cephfs: CephFSVolumeSource | None = None
    cinder: CinderVolumeSource | None = None
    config_map: ConfigMapVolumeSource | None = None
    csi: CSIVolumeSource | None = None
    downward_api: DownwardAPIVolumeSource | None = field(default=None, name="downwardAPI")
    empty_dir: EmptyDirVolumeSource | None = None
    ephemeral: EphemeralVolumeSource | None = None
    fc: FCVolumeSource | None = None
    flex_volume: FlexVolumeSource | None = None
    flocker: FlockerVolumeSource | None = None
    gce_persistent_disk: GCEPersistentDiskVolumeSource | None = None
    git_repo: GitRepoVolumeSource | None = None
    glusterfs: GlusterfsVolumeSource | None = None
    host_path: HostPathVolumeSource | None = None
    image: ImageVolumeSource | None = None
    iscsi: ISCSIVolumeSource | None = None
    name: str = UNSET
    nfs: NFSVolumeSource | None = None
    persistent_volume_claim: PersistentVolumeClaimVolumeSource | None = None
    photon_persistent_disk: PhotonPersistentDiskVolumeSource | None = None
    portworx_volume: PortworxVolumeSource | None = None
    projected: ProjectedVolumeSource | None = None
    quobyte: QuobyteVolumeSource | None = None
    rbd: RBDVolumeSource | None = None
    scale_io: ScaleIOVolumeSource | None = field(default=None, name="scaleIO")
    secret: SecretVolumeSource | None = None
    storageos: StorageOSVolumeSource | None = None
    vsphere_volume: VsphereVirtualDiskVolumeSource | None = None


class VolumeDevice(Model):
    device_path: str = UNSET
    name: str = UNSET


class VolumeHealthCondition(Model):
    message: str | None = None
    reason: str = UNSET
    status: str = UNSET


class VolumeHealthStatus(Model):
    health_conditions: list[VolumeHealthCondition] = UNSET
    last_transition_time: Time | None = None


class VolumeMount(Model):
    bind_mount_options: list[str] = UNSET
    mount_path: str = UNSET
    mount_propagation: str | None = None
    name: str = UNSET
    read_only: bool | None = None
    recursive_read_only: str | None = None
    sub_path: str | None = None
    sub_path_expr: str | None = None


class VolumeMountStatus(Model):
    mount_path: str = UNSET
    name: str = UNSET
    read_only: bool | None = None
    recursive_read_only: str | None = None
    volume_status: VolumeStatus | None = None


class VolumeNodeAffinity(Model):
    required: NodeSelector | None = None


class VolumeProjection(Model):
    cluster_trust_bundle: ClusterTrustBundleProjection | None = None
    config_map: ConfigMapProjection | None = None
    downward_api: DownwardAPIProjection | None = field(default=None, name="downwardAPI")
    pod_certificate: PodCertificateProjection | None = None
    secret: SecretProjection | None = None
    service_account_token: ServiceAccountTokenProjection | None = None


class VolumeResourceRequirements(Model):
    limits: dict[str, Quantity] = UNSET
    requests: dict[str, Quantity] = UNSET


class VolumeStatus(Model):
    image: ImageVolumeStatus | None = None


class VsphereVirtualDiskVolumeSource(Model):
    fs_type: str | None = None
    storage_policy_id: str | None = field(default=None, name="storagePolicyID")
    storage_policy_name: str | None = None
    volume_path: str = UNSET


class WeightedPodAffinityTerm(Model):
    pod_affinity_term: PodAffinityTerm = UNSET
    weight: int = UNSET


class WindowsSecurityContextOptions(Model):
    gmsa_credential_spec: str | None = None
    gmsa_credential_spec_name: str | None = None
    host_process: bool | None = None
    run_as_user_name: str | None = None
