"""The admission plugin CertificateSubjectRestriction: no certificates for administrators.

Guarantees: no request gets a client certificate of the group `system:masters`.
"""

from __future__ import annotations

from typing import Final

from ...kinds.certificates.pem import organizations
from ...request.calls import Call
from ...storage.store import Object
from ...values.json_values import value_at
from ..plugin import Cluster, Plugin, rejection
from ..signers import SIGNING_REQUESTS, signer_of

__all__ = ["CERTIFICATE_SUBJECT_RESTRICTION"]

_CLIENTS: Final = "kubernetes.io/kube-apiserver-client"


def _validate(_: Cluster, call: Call, obj: Object, old: Object | None) -> list[str]:
    if old is not None or signer_of(obj) != _CLIENTS:
        return []
    if "system:masters" in organizations(value_at(obj, "spec", "request") or ""):
        why = f"use of {_CLIENTS} signer with system:masters group is not allowed"
        raise rejection(call, obj, why)
    return []


CERTIFICATE_SUBJECT_RESTRICTION: Final = Plugin(
    "CertificateSubjectRestriction", validate={SIGNING_REQUESTS: _validate}
)
