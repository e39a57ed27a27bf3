# Generated from the OpenAPI document of Kubernetes 1.37 by tools/kubeloop_generate. Do not edit.

from __future__ import annotations

from ..kinds import Resource
from ..model import Kind
from ..model import Model
from ..model import UNSET
from ..scalars import Time
from msgspec import field
from . import meta_v1

__all__ = [
    "CertificateSigningRequest",
    "CertificateSigningRequestCondition",
    "CertificateSigningRequestList",
    "CertificateSigningRequestSpec",
    "CertificateSigningRequestStatus",
    "ClusterTrustBundle",
    "ClusterTrustBundleList",
    "ClusterTrustBundleSpec",
    "PodCertificateRequest",
    "PodCertificateRequestList",
    "PodCertificateRequestSpec",
    "PodCertificateRequestStatus",
]


class CertificateSigningRequest(Resource, group="certificates.k8s.io", version="v1", plural="certificatesigningrequests", namespaced=False):
    spec: CertificateSigningRequestSpec = UNSET
    status: CertificateSigningRequestStatus = UNSET


class CertificateSigningRequestCondition(Model):
    last_transition_time: Time | None = None
    last_update_time: Time | None = None
    message: str | None = None
    reason: str | None = None
    status: str = UNSET
    type: str = UNSET


class CertificateSigningRequestList(Kind, group="certificates.k8s.io", version="v1"):
    items: list[CertificateSigningRequest] = UNSET
    metadata: meta_v1.ListMeta = UNSET


class CertificateSigningRequestSpec(Model):
    expiration_seconds: int | None = None
    extra: dict[str, list[str]] = UNSET
    groups: list[str] = UNSET
    request: bytes = UNSET
    signer_name: str = UNSET
    uid: str | None = None
    usages: list[str] = UNSET
    username: str | None = None


class CertificateSigningRequestStatus(Model):
    certificate: bytes | None = None
    conditions: list[CertificateSigningRequestCondition] = UNSET


class ClusterTrustBundle(Resource, group="certificates.k8s.io", version="v1", plural="clustertrustbundles", namespaced=False):
    spec: ClusterTrustBundleSpec = UNSET


class ClusterTrustBundleList(Kind, group="certificates.k8s.io", version="v1"):
    items: list[ClusterTrustBundle] = UNSET
    metadata: meta_v1.ListMeta = UNSET


class ClusterTrustBundleSpec(Model):
    signer_name: str | None = None
    trust_bundle: str = UNSET


class PodCertificateRequest(Resource, group="certificates.k8s.io", version="v1", plural="podcertificaterequests"):
    spec: PodCertificateRequestSpec = UNSET
    status: PodCertificateRequestStatus = UNSET


class PodCertificateRequestList(Kind, group="certificates.k8s.io", version="v1"):
    items: list[PodCertificateRequest] = UNSET
    metadata: meta_v1.ListMeta = UNSET


class PodCertificateRequestSpec(Model):
    max_expiration_seconds: int | None = None
    node_name: str = UNSET
    node_uid: str = field(default=UNSET, name="nodeUID")
    pod_name: str = UNSET
    pod_uid: str = field(default=UNSET, name="podUID")
    service_account_name: str = UNSET
    service_account_uid: str = field(default=UNSET, name="serviceAccountUID")
    signer_name: str = UNSET
    stub_pkcs10_request: bytes = field(default=UNSET, name="stubPKCS10Request")
    unverified_user_annotations: dict[str, str] = UNSET


class PodCertificateRequestStatus(Model):
    begin_refresh_at: Time | None = None
    certificate_chain: str | None = None
    conditions: list[meta_v1.Condition] = UNSET
    not_after: Time | None = None
    not_before: Time | None = None
