"""Who may approve, sign and attest for a signer of certificates.

Guarantees: without RBAC everyone may; a user needs the verb `approve`, `sign` or `attest` on the
resource `signers`, for the name of the signer or for all signers of its domain.
See also: the plugins that ask (`plugins`).
"""

from __future__ import annotations

from typing import Final

from ..access.security import ADMIN, Security
from ..identity import Attributes
from ..request.calls import Call
from ..storage.store import Object
from ..values.json_values import value_at
from .plugin import Cluster, rejection

__all__ = ["SIGNING_REQUESTS", "check_signer", "signer_of"]

SIGNING_REQUESTS: Final = ("certificates.k8s.io", "certificatesigningrequests")


def check_signer(cluster: Cluster, call: Call, obj: Object, *, verb: str, what: str) -> None:
    """Raises `StatusError` 403 if the user may not use the signer that `obj` names."""
    signer = signer_of(obj)
    if signer and not _may(cluster.security, call, verb, signer):
        raise rejection(call, obj, f'the user may not {verb} {what} the signer "{signer}"')


def signer_of(obj: Object) -> str:
    """The signer that a signing request or a trust bundle names."""
    return value_at(obj, "spec", "signerName") or ""


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
