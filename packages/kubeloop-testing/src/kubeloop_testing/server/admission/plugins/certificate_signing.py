"""The admission plugin CertificateSigning: who may set the certificate of a request."""

from __future__ import annotations

from typing import Final

from ...request.calls import Call
from ...storage.store import Object
from ...values.json_values import json_equal, value_at
from ..plugin import Cluster, Plugin
from ..signers import SIGNING_REQUESTS, check_signer

__all__ = ["CERTIFICATE_SIGNING"]


def _validate(cluster: Cluster, call: Call, obj: Object, old: Object | None) -> list[str]:
    if call.part == "status" and old is not None and not _has_same_result(obj, old):
        check_signer(cluster, call, old, verb="sign", what="requests with")
    return []


def _has_same_result(obj: Object, old: Object) -> bool:
    return all(
        json_equal(value_at(obj, "status", field), value_at(old, "status", field))
        for field in ("certificate", "conditions")
    )


CERTIFICATE_SIGNING: Final = Plugin("CertificateSigning", validate={SIGNING_REQUESTS: _validate})
