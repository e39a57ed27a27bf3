"""The admission plugin ClusterTrustBundleAttest: who may write the trust bundles of a signer."""

from __future__ import annotations

from typing import Final

from ...request.calls import Call
from ...storage.store import Object
from ..plugin import Cluster, Plugin
from ..signers import check_signer

__all__ = ["CLUSTER_TRUST_BUNDLE_ATTEST"]


def _validate(cluster: Cluster, call: Call, obj: Object, old: Object | None) -> list[str]:
    check_signer(cluster, call, old or obj, verb="attest", what="for")
    return []


CLUSTER_TRUST_BUNDLE_ATTEST: Final = Plugin(
    "ClusterTrustBundleAttest",
    validate={("certificates.k8s.io", "clustertrustbundles"): _validate},
)
