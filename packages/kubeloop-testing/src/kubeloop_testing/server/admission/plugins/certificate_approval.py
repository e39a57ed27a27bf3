"""The admission plugin CertificateApproval: who may approve requests with a signer."""

from __future__ import annotations

from typing import Final

from ...request.calls import Call
from ...storage.store import Object
from ..plugin import Cluster, Plugin
from ..signers import SIGNING_REQUESTS, check_signer

__all__ = ["CERTIFICATE_APPROVAL"]


def _validate(cluster: Cluster, call: Call, obj: Object, old: Object | None) -> list[str]:
    if call.part == "approval":
        check_signer(cluster, call, old or obj, verb="approve", what="requests with")
    return []


CERTIFICATE_APPROVAL: Final = Plugin("CertificateApproval", validate={SIGNING_REQUESTS: _validate})
