"""The admission plugins about certificates: who may approve, sign and attest for a signer.

Guarantees: without RBAC everyone may; a user needs the verb `approve`, `sign` or `attest` on the
resource `signers`, for the name of the signer or for all signers of its domain.
See also: when it runs (`plugins`), validation (`kinds.certificates`).
"""

from __future__ import annotations

from typing import Final

from ..identity import Attributes
from ..kinds.certificates.pem import organizations
from ..request.calls import Call
from ..statuses import forbidden
from ..storage.store import Object
from ..values.json_values import json_equal, value_at
from .security import ADMIN, Security

__all__ = ["check_certificates"]

_CLIENTS: Final = "kubernetes.io/kube-apiserver-client"


def check_certificates(security: Security, call: Call, obj: Object, old: Object | None) -> None:
    """Check a write of a signing request or of a trust bundle. Raises `StatusError` 403."""
    signer = value_at(old or obj, "spec", "signerName") or ""
    verb, what = _needed(call, obj, old)
    if verb and signer and not _may(security, call, verb, signer):
        raise _rejected(call, obj, f'the user may not {verb} {what} the signer "{signer}"')
    if call.served.plural == "certificatesigningrequests" and old is None:
        _check_subject(call, obj, signer)


def _needed(call: Call, obj: Object, old: Object | None) -> tuple[str, str]:
    """The verb on the signer that a write needs, and its phrase; empty if it needs none."""
    if call.served.plural == "clustertrustbundles":
        return "attest", "for"
    if call.part == "approval":
        return "approve", "requests with"
    if call.part == "status" and old is not None and not _has_same_result(obj, old):
        return "sign", "requests with"
    return "", ""


def _check_subject(call: Call, obj: Object, signer: str) -> None:
    # CertificateSubjectRestriction: no request gets a certificate of the group of administrators.
    if signer != _CLIENTS:
        return
    if "system:masters" in organizations(value_at(obj, "spec", "request") or ""):
        why = f"use of {_CLIENTS} signer with system:masters group is not allowed"
        raise _rejected(call, obj, why)


def _has_same_result(obj: Object, old: Object) -> bool:
    return all(
        json_equal(value_at(obj, "status", field), value_at(old, "status", field))
        for field in ("certificate", "conditions")
    )


def _may(security: Security, call: Call, verb: str, signer: str) -> bool:
    # `IsAuthorizedForSignerName`.
    user, domain = call.user or ADMIN, signer.partition("/")[0]
    return any(
        security.authorizer.allows(
            Attributes(
                user,
                verb,
                group="certificates.k8s.io",
                version="*",
                resource="signers",
                name=name,
            )
        ).allowed
        for name in (signer, f"{domain}/*")
    )


def _rejected(call: Call, obj: Object, why: str) -> Exception:
    return forbidden(call.served.group, call.served.plural, obj["metadata"].get("name") or "", why)
