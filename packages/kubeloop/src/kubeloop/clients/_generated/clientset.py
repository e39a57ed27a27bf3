# Generated from the OpenAPI document of Kubernetes 1.37 by tools/kubeloop_generate. Do not edit.

"""The groups of the API as methods: `client.apps_v1.deployments("shop")`.

Each method is `client.resource(…)` under the name of its resource; a group's module is
imported when one of its methods is called.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeVar, cast, final

from kubeloop.wire import Kind

if TYPE_CHECKING:
    from kubeloop.clients.kinds import (
        CertificateSigningRequestClient,
        DaemonSetClient,
        NamespaceClient,
        NodeClient,
        PodClient,
        ScalableClient,
        ServiceAccountClient,
        ServiceClient,
        WorkloadClient,
    )
    from kubeloop.clients.resource import ResourceClient
    from kubeloop.wire.admissionregistration import v1 as admissionregistration_v1
    from kubeloop.wire.admissionregistration import v1alpha1 as admissionregistration_v1alpha1
    from kubeloop.wire.admissionregistration import v1beta1 as admissionregistration_v1beta1
    from kubeloop.wire.apiextensions import v1 as apiextensions_v1
    from kubeloop.wire.apiregistration import v1 as apiregistration_v1
    from kubeloop.wire.apiserverinternal import v1alpha1 as apiserverinternal_v1alpha1
    from kubeloop.wire.apps import v1 as apps_v1
    from kubeloop.wire.authentication import v1 as authentication_v1
    from kubeloop.wire.authorization import v1 as authorization_v1
    from kubeloop.wire.autoscaling import v1 as autoscaling_v1
    from kubeloop.wire.autoscaling import v2 as autoscaling_v2
    from kubeloop.wire.batch import v1 as batch_v1
    from kubeloop.wire.certificates import v1 as certificates_v1
    from kubeloop.wire.certificates import v1beta1 as certificates_v1beta1
    from kubeloop.wire.coordination import v1 as coordination_v1
    from kubeloop.wire.coordination import v1alpha2 as coordination_v1alpha2
    from kubeloop.wire.coordination import v1beta1 as coordination_v1beta1
    from kubeloop.wire.core import v1 as core_v1
    from kubeloop.wire.discovery import v1 as discovery_v1
    from kubeloop.wire.events import v1 as events_v1
    from kubeloop.wire.flowcontrol import v1 as flowcontrol_v1
    from kubeloop.wire.networking import v1 as networking_v1
    from kubeloop.wire.node import v1 as node_v1
    from kubeloop.wire.policy import v1 as policy_v1
    from kubeloop.wire.rbac import v1 as rbac_v1
    from kubeloop.wire.resource import v1 as resource_v1
    from kubeloop.wire.resource import v1alpha3 as resource_v1alpha3
    from kubeloop.wire.resource import v1beta1 as resource_v1beta1
    from kubeloop.wire.resource import v1beta2 as resource_v1beta2
    from kubeloop.wire.scheduling import v1 as scheduling_v1
    from kubeloop.wire.storage import v1 as storage_v1
    from kubeloop.wire.storagemigration import v1 as storagemigration_v1
    from kubeloop.wire.storagemigration import v1beta1 as storagemigration_v1beta1

__all__ = [
    "AdmissionregistrationV1",
    "AdmissionregistrationV1alpha1",
    "AdmissionregistrationV1beta1",
    "ApiextensionsV1",
    "ApiregistrationV1",
    "ApiserverinternalV1alpha1",
    "AppsV1",
    "AuthenticationV1",
    "AuthorizationV1",
    "AutoscalingV1",
    "AutoscalingV2",
    "BatchV1",
    "CertificatesV1",
    "CertificatesV1beta1",
    "Clientset",
    "CoordinationV1",
    "CoordinationV1alpha2",
    "CoordinationV1beta1",
    "CoreV1",
    "DiscoveryV1",
    "EventsV1",
    "FlowcontrolV1",
    "NetworkingV1",
    "NodeV1",
    "PolicyV1",
    "RbacV1",
    "ResourceV1",
    "ResourceV1alpha3",
    "ResourceV1beta1",
    "ResourceV1beta2",
    "Resources",
    "SchedulingV1",
    "StorageV1",
    "StoragemigrationV1",
    "StoragemigrationV1beta1",
]

K = TypeVar("K", bound=Kind)


class Resources(Protocol):
    """What the groups ask of a client."""

    def resource(self, kind: type[K], /, *, namespace: str | None = None) -> ResourceClient[K]: ...


class _Group:
    """The resources of one group version."""

    __slots__ = ("_client",)

    def __init__(self, client: Resources) -> None:
        self._client = client


@final
class CoreV1(_Group):
    """The resources of core v1."""

    __slots__ = ()

    def bindings(self, namespace: str | None = None) -> ResourceClient[core_v1.Binding]:
        """Binding: `bindings`."""
        from kubeloop.wire.core.v1 import Binding

        return self._client.resource(Binding, namespace=namespace)

    def component_statuses(self) -> ResourceClient[core_v1.ComponentStatus]:
        """ComponentStatus: `componentstatuses`."""
        from kubeloop.wire.core.v1 import ComponentStatus

        return self._client.resource(ComponentStatus)

    def config_maps(self, namespace: str | None = None) -> ResourceClient[core_v1.ConfigMap]:
        """ConfigMap: `configmaps`."""
        from kubeloop.wire.core.v1 import ConfigMap

        return self._client.resource(ConfigMap, namespace=namespace)

    def endpoints(self, namespace: str | None = None) -> ResourceClient[core_v1.Endpoints]:
        """Endpoints: `endpoints`."""
        from kubeloop.wire.core.v1 import Endpoints

        return self._client.resource(Endpoints, namespace=namespace)

    def events(self, namespace: str | None = None) -> ResourceClient[core_v1.Event]:
        """Event: `events`."""
        from kubeloop.wire.core.v1 import Event

        return self._client.resource(Event, namespace=namespace)

    def limit_ranges(self, namespace: str | None = None) -> ResourceClient[core_v1.LimitRange]:
        """LimitRange: `limitranges`."""
        from kubeloop.wire.core.v1 import LimitRange

        return self._client.resource(LimitRange, namespace=namespace)

    def namespaces(self) -> NamespaceClient:
        """Namespace: `namespaces`."""
        from kubeloop.wire.core.v1 import Namespace

        return cast("NamespaceClient", self._client.resource(Namespace))

    def nodes(self) -> NodeClient:
        """Node: `nodes`."""
        from kubeloop.wire.core.v1 import Node

        return cast("NodeClient", self._client.resource(Node))

    def persistent_volume_claims(
        self, namespace: str | None = None
    ) -> ResourceClient[core_v1.PersistentVolumeClaim]:
        """PersistentVolumeClaim: `persistentvolumeclaims`."""
        from kubeloop.wire.core.v1 import PersistentVolumeClaim

        return self._client.resource(PersistentVolumeClaim, namespace=namespace)

    def persistent_volumes(self) -> ResourceClient[core_v1.PersistentVolume]:
        """PersistentVolume: `persistentvolumes`."""
        from kubeloop.wire.core.v1 import PersistentVolume

        return self._client.resource(PersistentVolume)

    def pods(self, namespace: str | None = None) -> PodClient:
        """Pod: `pods`."""
        from kubeloop.wire.core.v1 import Pod

        return cast("PodClient", self._client.resource(Pod, namespace=namespace))

    def pod_templates(self, namespace: str | None = None) -> ResourceClient[core_v1.PodTemplate]:
        """PodTemplate: `podtemplates`."""
        from kubeloop.wire.core.v1 import PodTemplate

        return self._client.resource(PodTemplate, namespace=namespace)

    def replication_controllers(
        self, namespace: str | None = None
    ) -> ScalableClient[core_v1.ReplicationController]:
        """ReplicationController: `replicationcontrollers`."""
        from kubeloop.wire.core.v1 import ReplicationController

        return cast(
            "ScalableClient[core_v1.ReplicationController]",
            self._client.resource(ReplicationController, namespace=namespace),
        )

    def resource_quotas(
        self, namespace: str | None = None
    ) -> ResourceClient[core_v1.ResourceQuota]:
        """ResourceQuota: `resourcequotas`."""
        from kubeloop.wire.core.v1 import ResourceQuota

        return self._client.resource(ResourceQuota, namespace=namespace)

    def secrets(self, namespace: str | None = None) -> ResourceClient[core_v1.Secret]:
        """Secret: `secrets`."""
        from kubeloop.wire.core.v1 import Secret

        return self._client.resource(Secret, namespace=namespace)

    def service_accounts(self, namespace: str | None = None) -> ServiceAccountClient:
        """ServiceAccount: `serviceaccounts`."""
        from kubeloop.wire.core.v1 import ServiceAccount

        return cast(
            "ServiceAccountClient", self._client.resource(ServiceAccount, namespace=namespace)
        )

    def services(self, namespace: str | None = None) -> ServiceClient:
        """Service: `services`."""
        from kubeloop.wire.core.v1 import Service

        return cast("ServiceClient", self._client.resource(Service, namespace=namespace))


@final
class AdmissionregistrationV1(_Group):
    """The resources of admissionregistration v1."""

    __slots__ = ()

    def mutating_admission_policies(
        self,
    ) -> ResourceClient[admissionregistration_v1.MutatingAdmissionPolicy]:
        """MutatingAdmissionPolicy: `mutatingadmissionpolicies`."""
        from kubeloop.wire.admissionregistration.v1 import MutatingAdmissionPolicy

        return self._client.resource(MutatingAdmissionPolicy)

    def mutating_admission_policy_bindings(
        self,
    ) -> ResourceClient[admissionregistration_v1.MutatingAdmissionPolicyBinding]:
        """MutatingAdmissionPolicyBinding: `mutatingadmissionpolicybindings`."""
        from kubeloop.wire.admissionregistration.v1 import MutatingAdmissionPolicyBinding

        return self._client.resource(MutatingAdmissionPolicyBinding)

    def mutating_webhook_configurations(
        self,
    ) -> ResourceClient[admissionregistration_v1.MutatingWebhookConfiguration]:
        """MutatingWebhookConfiguration: `mutatingwebhookconfigurations`."""
        from kubeloop.wire.admissionregistration.v1 import MutatingWebhookConfiguration

        return self._client.resource(MutatingWebhookConfiguration)

    def validating_admission_policies(
        self,
    ) -> ResourceClient[admissionregistration_v1.ValidatingAdmissionPolicy]:
        """ValidatingAdmissionPolicy: `validatingadmissionpolicies`."""
        from kubeloop.wire.admissionregistration.v1 import ValidatingAdmissionPolicy

        return self._client.resource(ValidatingAdmissionPolicy)

    def validating_admission_policy_bindings(
        self,
    ) -> ResourceClient[admissionregistration_v1.ValidatingAdmissionPolicyBinding]:
        """ValidatingAdmissionPolicyBinding: `validatingadmissionpolicybindings`."""
        from kubeloop.wire.admissionregistration.v1 import ValidatingAdmissionPolicyBinding

        return self._client.resource(ValidatingAdmissionPolicyBinding)

    def validating_webhook_configurations(
        self,
    ) -> ResourceClient[admissionregistration_v1.ValidatingWebhookConfiguration]:
        """ValidatingWebhookConfiguration: `validatingwebhookconfigurations`."""
        from kubeloop.wire.admissionregistration.v1 import ValidatingWebhookConfiguration

        return self._client.resource(ValidatingWebhookConfiguration)


@final
class AdmissionregistrationV1alpha1(_Group):
    """The resources of admissionregistration v1alpha1."""

    __slots__ = ()

    def mutating_admission_policies(
        self,
    ) -> ResourceClient[admissionregistration_v1alpha1.MutatingAdmissionPolicy]:
        """MutatingAdmissionPolicy: `mutatingadmissionpolicies`."""
        from kubeloop.wire.admissionregistration.v1alpha1 import MutatingAdmissionPolicy

        return self._client.resource(MutatingAdmissionPolicy)

    def mutating_admission_policy_bindings(
        self,
    ) -> ResourceClient[admissionregistration_v1alpha1.MutatingAdmissionPolicyBinding]:
        """MutatingAdmissionPolicyBinding: `mutatingadmissionpolicybindings`."""
        from kubeloop.wire.admissionregistration.v1alpha1 import MutatingAdmissionPolicyBinding

        return self._client.resource(MutatingAdmissionPolicyBinding)


@final
class AdmissionregistrationV1beta1(_Group):
    """The resources of admissionregistration v1beta1."""

    __slots__ = ()

    def mutating_admission_policies(
        self,
    ) -> ResourceClient[admissionregistration_v1beta1.MutatingAdmissionPolicy]:
        """MutatingAdmissionPolicy: `mutatingadmissionpolicies`."""
        from kubeloop.wire.admissionregistration.v1beta1 import MutatingAdmissionPolicy

        return self._client.resource(MutatingAdmissionPolicy)

    def mutating_admission_policy_bindings(
        self,
    ) -> ResourceClient[admissionregistration_v1beta1.MutatingAdmissionPolicyBinding]:
        """MutatingAdmissionPolicyBinding: `mutatingadmissionpolicybindings`."""
        from kubeloop.wire.admissionregistration.v1beta1 import MutatingAdmissionPolicyBinding

        return self._client.resource(MutatingAdmissionPolicyBinding)


@final
class ApiextensionsV1(_Group):
    """The resources of apiextensions v1."""

    __slots__ = ()

    def custom_resource_definitions(
        self,
    ) -> ResourceClient[apiextensions_v1.CustomResourceDefinition]:
        """CustomResourceDefinition: `customresourcedefinitions`."""
        from kubeloop.wire.apiextensions.v1 import CustomResourceDefinition

        return self._client.resource(CustomResourceDefinition)


@final
class ApiregistrationV1(_Group):
    """The resources of apiregistration v1."""

    __slots__ = ()

    def api_services(self) -> ResourceClient[apiregistration_v1.APIService]:
        """APIService: `apiservices`."""
        from kubeloop.wire.apiregistration.v1 import APIService

        return self._client.resource(APIService)


@final
class AppsV1(_Group):
    """The resources of apps v1."""

    __slots__ = ()

    def controller_revisions(
        self, namespace: str | None = None
    ) -> ResourceClient[apps_v1.ControllerRevision]:
        """ControllerRevision: `controllerrevisions`."""
        from kubeloop.wire.apps.v1 import ControllerRevision

        return self._client.resource(ControllerRevision, namespace=namespace)

    def daemon_sets(self, namespace: str | None = None) -> DaemonSetClient:
        """DaemonSet: `daemonsets`."""
        from kubeloop.wire.apps.v1 import DaemonSet

        return cast("DaemonSetClient", self._client.resource(DaemonSet, namespace=namespace))

    def deployments(self, namespace: str | None = None) -> WorkloadClient[apps_v1.Deployment]:
        """Deployment: `deployments`."""
        from kubeloop.wire.apps.v1 import Deployment

        return cast(
            "WorkloadClient[apps_v1.Deployment]",
            self._client.resource(Deployment, namespace=namespace),
        )

    def replica_sets(self, namespace: str | None = None) -> ScalableClient[apps_v1.ReplicaSet]:
        """ReplicaSet: `replicasets`."""
        from kubeloop.wire.apps.v1 import ReplicaSet

        return cast(
            "ScalableClient[apps_v1.ReplicaSet]",
            self._client.resource(ReplicaSet, namespace=namespace),
        )

    def stateful_sets(self, namespace: str | None = None) -> WorkloadClient[apps_v1.StatefulSet]:
        """StatefulSet: `statefulsets`."""
        from kubeloop.wire.apps.v1 import StatefulSet

        return cast(
            "WorkloadClient[apps_v1.StatefulSet]",
            self._client.resource(StatefulSet, namespace=namespace),
        )


@final
class AuthenticationV1(_Group):
    """The resources of authentication v1."""

    __slots__ = ()

    def self_subject_reviews(self) -> ResourceClient[authentication_v1.SelfSubjectReview]:
        """SelfSubjectReview: `selfsubjectreviews`."""
        from kubeloop.wire.authentication.v1 import SelfSubjectReview

        return self._client.resource(SelfSubjectReview)

    def token_reviews(self) -> ResourceClient[authentication_v1.TokenReview]:
        """TokenReview: `tokenreviews`."""
        from kubeloop.wire.authentication.v1 import TokenReview

        return self._client.resource(TokenReview)


@final
class AuthorizationV1(_Group):
    """The resources of authorization v1."""

    __slots__ = ()

    def local_subject_access_reviews(
        self, namespace: str | None = None
    ) -> ResourceClient[authorization_v1.LocalSubjectAccessReview]:
        """LocalSubjectAccessReview: `localsubjectaccessreviews`."""
        from kubeloop.wire.authorization.v1 import LocalSubjectAccessReview

        return self._client.resource(LocalSubjectAccessReview, namespace=namespace)

    def self_subject_access_reviews(
        self,
    ) -> ResourceClient[authorization_v1.SelfSubjectAccessReview]:
        """SelfSubjectAccessReview: `selfsubjectaccessreviews`."""
        from kubeloop.wire.authorization.v1 import SelfSubjectAccessReview

        return self._client.resource(SelfSubjectAccessReview)

    def self_subject_rules_reviews(self) -> ResourceClient[authorization_v1.SelfSubjectRulesReview]:
        """SelfSubjectRulesReview: `selfsubjectrulesreviews`."""
        from kubeloop.wire.authorization.v1 import SelfSubjectRulesReview

        return self._client.resource(SelfSubjectRulesReview)

    def subject_access_reviews(self) -> ResourceClient[authorization_v1.SubjectAccessReview]:
        """SubjectAccessReview: `subjectaccessreviews`."""
        from kubeloop.wire.authorization.v1 import SubjectAccessReview

        return self._client.resource(SubjectAccessReview)


@final
class AutoscalingV1(_Group):
    """The resources of autoscaling v1."""

    __slots__ = ()

    def horizontal_pod_autoscalers(
        self, namespace: str | None = None
    ) -> ResourceClient[autoscaling_v1.HorizontalPodAutoscaler]:
        """HorizontalPodAutoscaler: `horizontalpodautoscalers`."""
        from kubeloop.wire.autoscaling.v1 import HorizontalPodAutoscaler

        return self._client.resource(HorizontalPodAutoscaler, namespace=namespace)


@final
class AutoscalingV2(_Group):
    """The resources of autoscaling v2."""

    __slots__ = ()

    def horizontal_pod_autoscalers(
        self, namespace: str | None = None
    ) -> ResourceClient[autoscaling_v2.HorizontalPodAutoscaler]:
        """HorizontalPodAutoscaler: `horizontalpodautoscalers`."""
        from kubeloop.wire.autoscaling.v2 import HorizontalPodAutoscaler

        return self._client.resource(HorizontalPodAutoscaler, namespace=namespace)


@final
class BatchV1(_Group):
    """The resources of batch v1."""

    __slots__ = ()

    def cron_jobs(self, namespace: str | None = None) -> ResourceClient[batch_v1.CronJob]:
        """CronJob: `cronjobs`."""
        from kubeloop.wire.batch.v1 import CronJob

        return self._client.resource(CronJob, namespace=namespace)

    def jobs(self, namespace: str | None = None) -> ResourceClient[batch_v1.Job]:
        """Job: `jobs`."""
        from kubeloop.wire.batch.v1 import Job

        return self._client.resource(Job, namespace=namespace)


@final
class CertificatesV1(_Group):
    """The resources of certificates v1."""

    __slots__ = ()

    def certificate_signing_requests(self) -> CertificateSigningRequestClient:
        """CertificateSigningRequest: `certificatesigningrequests`."""
        from kubeloop.wire.certificates.v1 import CertificateSigningRequest

        return cast(
            "CertificateSigningRequestClient", self._client.resource(CertificateSigningRequest)
        )

    def cluster_trust_bundles(self) -> ResourceClient[certificates_v1.ClusterTrustBundle]:
        """ClusterTrustBundle: `clustertrustbundles`."""
        from kubeloop.wire.certificates.v1 import ClusterTrustBundle

        return self._client.resource(ClusterTrustBundle)

    def pod_certificate_requests(
        self, namespace: str | None = None
    ) -> ResourceClient[certificates_v1.PodCertificateRequest]:
        """PodCertificateRequest: `podcertificaterequests`."""
        from kubeloop.wire.certificates.v1 import PodCertificateRequest

        return self._client.resource(PodCertificateRequest, namespace=namespace)


@final
class CertificatesV1beta1(_Group):
    """The resources of certificates v1beta1."""

    __slots__ = ()

    def cluster_trust_bundles(self) -> ResourceClient[certificates_v1beta1.ClusterTrustBundle]:
        """ClusterTrustBundle: `clustertrustbundles`."""
        from kubeloop.wire.certificates.v1beta1 import ClusterTrustBundle

        return self._client.resource(ClusterTrustBundle)

    def pod_certificate_requests(
        self, namespace: str | None = None
    ) -> ResourceClient[certificates_v1beta1.PodCertificateRequest]:
        """PodCertificateRequest: `podcertificaterequests`."""
        from kubeloop.wire.certificates.v1beta1 import PodCertificateRequest

        return self._client.resource(PodCertificateRequest, namespace=namespace)


@final
class CoordinationV1(_Group):
    """The resources of coordination v1."""

    __slots__ = ()

    def leases(self, namespace: str | None = None) -> ResourceClient[coordination_v1.Lease]:
        """Lease: `leases`."""
        from kubeloop.wire.coordination.v1 import Lease

        return self._client.resource(Lease, namespace=namespace)


@final
class CoordinationV1alpha2(_Group):
    """The resources of coordination v1alpha2."""

    __slots__ = ()

    def lease_candidates(
        self, namespace: str | None = None
    ) -> ResourceClient[coordination_v1alpha2.LeaseCandidate]:
        """LeaseCandidate: `leasecandidates`."""
        from kubeloop.wire.coordination.v1alpha2 import LeaseCandidate

        return self._client.resource(LeaseCandidate, namespace=namespace)


@final
class CoordinationV1beta1(_Group):
    """The resources of coordination v1beta1."""

    __slots__ = ()

    def lease_candidates(
        self, namespace: str | None = None
    ) -> ResourceClient[coordination_v1beta1.LeaseCandidate]:
        """LeaseCandidate: `leasecandidates`."""
        from kubeloop.wire.coordination.v1beta1 import LeaseCandidate

        return self._client.resource(LeaseCandidate, namespace=namespace)


@final
class DiscoveryV1(_Group):
    """The resources of discovery v1."""

    __slots__ = ()

    def endpoint_slices(
        self, namespace: str | None = None
    ) -> ResourceClient[discovery_v1.EndpointSlice]:
        """EndpointSlice: `endpointslices`."""
        from kubeloop.wire.discovery.v1 import EndpointSlice

        return self._client.resource(EndpointSlice, namespace=namespace)


@final
class EventsV1(_Group):
    """The resources of events v1."""

    __slots__ = ()

    def events(self, namespace: str | None = None) -> ResourceClient[events_v1.Event]:
        """Event: `events`."""
        from kubeloop.wire.events.v1 import Event

        return self._client.resource(Event, namespace=namespace)


@final
class FlowcontrolV1(_Group):
    """The resources of flowcontrol v1."""

    __slots__ = ()

    def flow_schemas(self) -> ResourceClient[flowcontrol_v1.FlowSchema]:
        """FlowSchema: `flowschemas`."""
        from kubeloop.wire.flowcontrol.v1 import FlowSchema

        return self._client.resource(FlowSchema)

    def priority_level_configurations(
        self,
    ) -> ResourceClient[flowcontrol_v1.PriorityLevelConfiguration]:
        """PriorityLevelConfiguration: `prioritylevelconfigurations`."""
        from kubeloop.wire.flowcontrol.v1 import PriorityLevelConfiguration

        return self._client.resource(PriorityLevelConfiguration)


@final
class ApiserverinternalV1alpha1(_Group):
    """The resources of apiserverinternal v1alpha1."""

    __slots__ = ()

    def storage_versions(self) -> ResourceClient[apiserverinternal_v1alpha1.StorageVersion]:
        """StorageVersion: `storageversions`."""
        from kubeloop.wire.apiserverinternal.v1alpha1 import StorageVersion

        return self._client.resource(StorageVersion)


@final
class NetworkingV1(_Group):
    """The resources of networking v1."""

    __slots__ = ()

    def ingress_classes(self) -> ResourceClient[networking_v1.IngressClass]:
        """IngressClass: `ingressclasses`."""
        from kubeloop.wire.networking.v1 import IngressClass

        return self._client.resource(IngressClass)

    def ingresses(self, namespace: str | None = None) -> ResourceClient[networking_v1.Ingress]:
        """Ingress: `ingresses`."""
        from kubeloop.wire.networking.v1 import Ingress

        return self._client.resource(Ingress, namespace=namespace)

    def ip_addresses(self) -> ResourceClient[networking_v1.IPAddress]:
        """IPAddress: `ipaddresses`."""
        from kubeloop.wire.networking.v1 import IPAddress

        return self._client.resource(IPAddress)

    def network_policies(
        self, namespace: str | None = None
    ) -> ResourceClient[networking_v1.NetworkPolicy]:
        """NetworkPolicy: `networkpolicies`."""
        from kubeloop.wire.networking.v1 import NetworkPolicy

        return self._client.resource(NetworkPolicy, namespace=namespace)

    def service_cidrs(self) -> ResourceClient[networking_v1.ServiceCIDR]:
        """ServiceCIDR: `servicecidrs`."""
        from kubeloop.wire.networking.v1 import ServiceCIDR

        return self._client.resource(ServiceCIDR)


@final
class NodeV1(_Group):
    """The resources of node v1."""

    __slots__ = ()

    def runtime_classes(self) -> ResourceClient[node_v1.RuntimeClass]:
        """RuntimeClass: `runtimeclasses`."""
        from kubeloop.wire.node.v1 import RuntimeClass

        return self._client.resource(RuntimeClass)


@final
class PolicyV1(_Group):
    """The resources of policy v1."""

    __slots__ = ()

    def pod_disruption_budgets(
        self, namespace: str | None = None
    ) -> ResourceClient[policy_v1.PodDisruptionBudget]:
        """PodDisruptionBudget: `poddisruptionbudgets`."""
        from kubeloop.wire.policy.v1 import PodDisruptionBudget

        return self._client.resource(PodDisruptionBudget, namespace=namespace)


@final
class RbacV1(_Group):
    """The resources of rbac v1."""

    __slots__ = ()

    def cluster_role_bindings(self) -> ResourceClient[rbac_v1.ClusterRoleBinding]:
        """ClusterRoleBinding: `clusterrolebindings`."""
        from kubeloop.wire.rbac.v1 import ClusterRoleBinding

        return self._client.resource(ClusterRoleBinding)

    def cluster_roles(self) -> ResourceClient[rbac_v1.ClusterRole]:
        """ClusterRole: `clusterroles`."""
        from kubeloop.wire.rbac.v1 import ClusterRole

        return self._client.resource(ClusterRole)

    def role_bindings(self, namespace: str | None = None) -> ResourceClient[rbac_v1.RoleBinding]:
        """RoleBinding: `rolebindings`."""
        from kubeloop.wire.rbac.v1 import RoleBinding

        return self._client.resource(RoleBinding, namespace=namespace)

    def roles(self, namespace: str | None = None) -> ResourceClient[rbac_v1.Role]:
        """Role: `roles`."""
        from kubeloop.wire.rbac.v1 import Role

        return self._client.resource(Role, namespace=namespace)


@final
class ResourceV1(_Group):
    """The resources of resource v1."""

    __slots__ = ()

    def device_classes(self) -> ResourceClient[resource_v1.DeviceClass]:
        """DeviceClass: `deviceclasses`."""
        from kubeloop.wire.resource.v1 import DeviceClass

        return self._client.resource(DeviceClass)

    def device_taint_rules(self) -> ResourceClient[resource_v1.DeviceTaintRule]:
        """DeviceTaintRule: `devicetaintrules`."""
        from kubeloop.wire.resource.v1 import DeviceTaintRule

        return self._client.resource(DeviceTaintRule)

    def resource_claims(
        self, namespace: str | None = None
    ) -> ResourceClient[resource_v1.ResourceClaim]:
        """ResourceClaim: `resourceclaims`."""
        from kubeloop.wire.resource.v1 import ResourceClaim

        return self._client.resource(ResourceClaim, namespace=namespace)

    def resource_claim_templates(
        self, namespace: str | None = None
    ) -> ResourceClient[resource_v1.ResourceClaimTemplate]:
        """ResourceClaimTemplate: `resourceclaimtemplates`."""
        from kubeloop.wire.resource.v1 import ResourceClaimTemplate

        return self._client.resource(ResourceClaimTemplate, namespace=namespace)

    def resource_slices(self) -> ResourceClient[resource_v1.ResourceSlice]:
        """ResourceSlice: `resourceslices`."""
        from kubeloop.wire.resource.v1 import ResourceSlice

        return self._client.resource(ResourceSlice)


@final
class ResourceV1alpha3(_Group):
    """The resources of resource v1alpha3."""

    __slots__ = ()

    def device_taint_rules(self) -> ResourceClient[resource_v1alpha3.DeviceTaintRule]:
        """DeviceTaintRule: `devicetaintrules`."""
        from kubeloop.wire.resource.v1alpha3 import DeviceTaintRule

        return self._client.resource(DeviceTaintRule)

    def resource_pool_status_requests(
        self,
    ) -> ResourceClient[resource_v1alpha3.ResourcePoolStatusRequest]:
        """ResourcePoolStatusRequest: `resourcepoolstatusrequests`."""
        from kubeloop.wire.resource.v1alpha3 import ResourcePoolStatusRequest

        return self._client.resource(ResourcePoolStatusRequest)


@final
class ResourceV1beta1(_Group):
    """The resources of resource v1beta1."""

    __slots__ = ()

    def device_classes(self) -> ResourceClient[resource_v1beta1.DeviceClass]:
        """DeviceClass: `deviceclasses`."""
        from kubeloop.wire.resource.v1beta1 import DeviceClass

        return self._client.resource(DeviceClass)

    def resource_claims(
        self, namespace: str | None = None
    ) -> ResourceClient[resource_v1beta1.ResourceClaim]:
        """ResourceClaim: `resourceclaims`."""
        from kubeloop.wire.resource.v1beta1 import ResourceClaim

        return self._client.resource(ResourceClaim, namespace=namespace)

    def resource_claim_templates(
        self, namespace: str | None = None
    ) -> ResourceClient[resource_v1beta1.ResourceClaimTemplate]:
        """ResourceClaimTemplate: `resourceclaimtemplates`."""
        from kubeloop.wire.resource.v1beta1 import ResourceClaimTemplate

        return self._client.resource(ResourceClaimTemplate, namespace=namespace)

    def resource_slices(self) -> ResourceClient[resource_v1beta1.ResourceSlice]:
        """ResourceSlice: `resourceslices`."""
        from kubeloop.wire.resource.v1beta1 import ResourceSlice

        return self._client.resource(ResourceSlice)


@final
class ResourceV1beta2(_Group):
    """The resources of resource v1beta2."""

    __slots__ = ()

    def device_classes(self) -> ResourceClient[resource_v1beta2.DeviceClass]:
        """DeviceClass: `deviceclasses`."""
        from kubeloop.wire.resource.v1beta2 import DeviceClass

        return self._client.resource(DeviceClass)

    def device_taint_rules(self) -> ResourceClient[resource_v1beta2.DeviceTaintRule]:
        """DeviceTaintRule: `devicetaintrules`."""
        from kubeloop.wire.resource.v1beta2 import DeviceTaintRule

        return self._client.resource(DeviceTaintRule)

    def resource_claims(
        self, namespace: str | None = None
    ) -> ResourceClient[resource_v1beta2.ResourceClaim]:
        """ResourceClaim: `resourceclaims`."""
        from kubeloop.wire.resource.v1beta2 import ResourceClaim

        return self._client.resource(ResourceClaim, namespace=namespace)

    def resource_claim_templates(
        self, namespace: str | None = None
    ) -> ResourceClient[resource_v1beta2.ResourceClaimTemplate]:
        """ResourceClaimTemplate: `resourceclaimtemplates`."""
        from kubeloop.wire.resource.v1beta2 import ResourceClaimTemplate

        return self._client.resource(ResourceClaimTemplate, namespace=namespace)

    def resource_slices(self) -> ResourceClient[resource_v1beta2.ResourceSlice]:
        """ResourceSlice: `resourceslices`."""
        from kubeloop.wire.resource.v1beta2 import ResourceSlice

        return self._client.resource(ResourceSlice)


@final
class SchedulingV1(_Group):
    """The resources of scheduling v1."""

    __slots__ = ()

    def priority_classes(self) -> ResourceClient[scheduling_v1.PriorityClass]:
        """PriorityClass: `priorityclasses`."""
        from kubeloop.wire.scheduling.v1 import PriorityClass

        return self._client.resource(PriorityClass)


@final
class StorageV1(_Group):
    """The resources of storage v1."""

    __slots__ = ()

    def csi_drivers(self) -> ResourceClient[storage_v1.CSIDriver]:
        """CSIDriver: `csidrivers`."""
        from kubeloop.wire.storage.v1 import CSIDriver

        return self._client.resource(CSIDriver)

    def csi_nodes(self) -> ResourceClient[storage_v1.CSINode]:
        """CSINode: `csinodes`."""
        from kubeloop.wire.storage.v1 import CSINode

        return self._client.resource(CSINode)

    def csi_storage_capacities(
        self, namespace: str | None = None
    ) -> ResourceClient[storage_v1.CSIStorageCapacity]:
        """CSIStorageCapacity: `csistoragecapacities`."""
        from kubeloop.wire.storage.v1 import CSIStorageCapacity

        return self._client.resource(CSIStorageCapacity, namespace=namespace)

    def storage_classes(self) -> ResourceClient[storage_v1.StorageClass]:
        """StorageClass: `storageclasses`."""
        from kubeloop.wire.storage.v1 import StorageClass

        return self._client.resource(StorageClass)

    def volume_attachments(self) -> ResourceClient[storage_v1.VolumeAttachment]:
        """VolumeAttachment: `volumeattachments`."""
        from kubeloop.wire.storage.v1 import VolumeAttachment

        return self._client.resource(VolumeAttachment)

    def volume_attributes_classes(self) -> ResourceClient[storage_v1.VolumeAttributesClass]:
        """VolumeAttributesClass: `volumeattributesclasses`."""
        from kubeloop.wire.storage.v1 import VolumeAttributesClass

        return self._client.resource(VolumeAttributesClass)


@final
class StoragemigrationV1(_Group):
    """The resources of storagemigration v1."""

    __slots__ = ()

    def storage_version_migrations(
        self,
    ) -> ResourceClient[storagemigration_v1.StorageVersionMigration]:
        """StorageVersionMigration: `storageversionmigrations`."""
        from kubeloop.wire.storagemigration.v1 import StorageVersionMigration

        return self._client.resource(StorageVersionMigration)


@final
class StoragemigrationV1beta1(_Group):
    """The resources of storagemigration v1beta1."""

    __slots__ = ()

    def storage_version_migrations(
        self,
    ) -> ResourceClient[storagemigration_v1beta1.StorageVersionMigration]:
        """StorageVersionMigration: `storageversionmigrations`."""
        from kubeloop.wire.storagemigration.v1beta1 import StorageVersionMigration

        return self._client.resource(StorageVersionMigration)


class Clientset:
    """A client's groups, each under the name of its module."""

    __slots__ = ()

    @property
    def core_v1(self: Resources) -> CoreV1:
        """The resources of core v1."""
        return CoreV1(self)

    @property
    def admissionregistration_v1(self: Resources) -> AdmissionregistrationV1:
        """The resources of admissionregistration v1."""
        return AdmissionregistrationV1(self)

    @property
    def admissionregistration_v1alpha1(self: Resources) -> AdmissionregistrationV1alpha1:
        """The resources of admissionregistration v1alpha1."""
        return AdmissionregistrationV1alpha1(self)

    @property
    def admissionregistration_v1beta1(self: Resources) -> AdmissionregistrationV1beta1:
        """The resources of admissionregistration v1beta1."""
        return AdmissionregistrationV1beta1(self)

    @property
    def apiextensions_v1(self: Resources) -> ApiextensionsV1:
        """The resources of apiextensions v1."""
        return ApiextensionsV1(self)

    @property
    def apiregistration_v1(self: Resources) -> ApiregistrationV1:
        """The resources of apiregistration v1."""
        return ApiregistrationV1(self)

    @property
    def apps_v1(self: Resources) -> AppsV1:
        """The resources of apps v1."""
        return AppsV1(self)

    @property
    def authentication_v1(self: Resources) -> AuthenticationV1:
        """The resources of authentication v1."""
        return AuthenticationV1(self)

    @property
    def authorization_v1(self: Resources) -> AuthorizationV1:
        """The resources of authorization v1."""
        return AuthorizationV1(self)

    @property
    def autoscaling_v1(self: Resources) -> AutoscalingV1:
        """The resources of autoscaling v1."""
        return AutoscalingV1(self)

    @property
    def autoscaling_v2(self: Resources) -> AutoscalingV2:
        """The resources of autoscaling v2."""
        return AutoscalingV2(self)

    @property
    def batch_v1(self: Resources) -> BatchV1:
        """The resources of batch v1."""
        return BatchV1(self)

    @property
    def certificates_v1(self: Resources) -> CertificatesV1:
        """The resources of certificates v1."""
        return CertificatesV1(self)

    @property
    def certificates_v1beta1(self: Resources) -> CertificatesV1beta1:
        """The resources of certificates v1beta1."""
        return CertificatesV1beta1(self)

    @property
    def coordination_v1(self: Resources) -> CoordinationV1:
        """The resources of coordination v1."""
        return CoordinationV1(self)

    @property
    def coordination_v1alpha2(self: Resources) -> CoordinationV1alpha2:
        """The resources of coordination v1alpha2."""
        return CoordinationV1alpha2(self)

    @property
    def coordination_v1beta1(self: Resources) -> CoordinationV1beta1:
        """The resources of coordination v1beta1."""
        return CoordinationV1beta1(self)

    @property
    def discovery_v1(self: Resources) -> DiscoveryV1:
        """The resources of discovery v1."""
        return DiscoveryV1(self)

    @property
    def events_v1(self: Resources) -> EventsV1:
        """The resources of events v1."""
        return EventsV1(self)

    @property
    def flowcontrol_v1(self: Resources) -> FlowcontrolV1:
        """The resources of flowcontrol v1."""
        return FlowcontrolV1(self)

    @property
    def apiserverinternal_v1alpha1(self: Resources) -> ApiserverinternalV1alpha1:
        """The resources of apiserverinternal v1alpha1."""
        return ApiserverinternalV1alpha1(self)

    @property
    def networking_v1(self: Resources) -> NetworkingV1:
        """The resources of networking v1."""
        return NetworkingV1(self)

    @property
    def node_v1(self: Resources) -> NodeV1:
        """The resources of node v1."""
        return NodeV1(self)

    @property
    def policy_v1(self: Resources) -> PolicyV1:
        """The resources of policy v1."""
        return PolicyV1(self)

    @property
    def rbac_v1(self: Resources) -> RbacV1:
        """The resources of rbac v1."""
        return RbacV1(self)

    @property
    def resource_v1(self: Resources) -> ResourceV1:
        """The resources of resource v1."""
        return ResourceV1(self)

    @property
    def resource_v1alpha3(self: Resources) -> ResourceV1alpha3:
        """The resources of resource v1alpha3."""
        return ResourceV1alpha3(self)

    @property
    def resource_v1beta1(self: Resources) -> ResourceV1beta1:
        """The resources of resource v1beta1."""
        return ResourceV1beta1(self)

    @property
    def resource_v1beta2(self: Resources) -> ResourceV1beta2:
        """The resources of resource v1beta2."""
        return ResourceV1beta2(self)

    @property
    def scheduling_v1(self: Resources) -> SchedulingV1:
        """The resources of scheduling v1."""
        return SchedulingV1(self)

    @property
    def storage_v1(self: Resources) -> StorageV1:
        """The resources of storage v1."""
        return StorageV1(self)

    @property
    def storagemigration_v1(self: Resources) -> StoragemigrationV1:
        """The resources of storagemigration v1."""
        return StoragemigrationV1(self)

    @property
    def storagemigration_v1beta1(self: Resources) -> StoragemigrationV1beta1:
        """The resources of storagemigration v1beta1."""
        return StoragemigrationV1beta1(self)
