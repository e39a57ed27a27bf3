"""PodCertificateRequest (certificates.k8s.io): defaults and validation."""

from __future__ import annotations

from typing import Final

from kubeloop.meta import problems_of_dns_subdomain

from ...values import causes
from ...values.json_values import json_equal
from ..kind import METADATA, Causes, Json, Kind, own_paths
from ..rules.defaults import in_spec, pointer_defaults
from ..rules.field_rules import check_conditions, check_signer_name
from ..rules.value_rules import check_name, check_unchanged
from .pem import decode_base64

__all__ = ["KIND"]

_HOUR, _DAY = 3600, 24 * 3600


def _validate(obj: Json, old: Json | None) -> Causes:
    # `ValidatePodCertificateRequestCreate`; afterwards the spec cannot change.
    spec = obj.get("spec") or {}
    if old is not None:
        yield from check_unchanged("spec", spec, old.get("spec"))
        return
    signer = spec.get("signerName") or ""
    yield from check_signer_name("spec.signerName", signer)
    for name in ("pod", "serviceAccount", "node"):
        own, uid = spec.get(f"{name}Name") or "", spec.get(f"{name}UID") or ""
        yield from check_name(f"spec.{name}Name", own, problems_of_dns_subdomain)
        if not uid:
            yield causes.invalid(f"spec.{name}UID", uid, "must not be empty")
        elif len(uid) > 128:
            yield causes.too_long(f"spec.{name}UID", 128)
    seconds = spec.get("maxExpirationSeconds")
    if seconds is None:
        yield causes.required("spec.maxExpirationSeconds", "must be set")
        return
    highest = _DAY if signer.startswith("kubernetes.io/") else 91 * _DAY
    if not _HOUR <= seconds <= highest:
        rule = f"must be in the range [{_HOUR}, {highest}]"
        yield causes.invalid("spec.maxExpirationSeconds", seconds, rule)
    yield from _key(spec)


def _key(spec: Json) -> Causes:
    keys = [
        bool(spec.get(each)) for each in ("stubPKCS10Request", "pkixPublicKey", "proofOfPossession")
    ]
    if keys not in ([True, False, False], [False, True, True]):
        rule = "needs either stubPKCS10Request, or pkixPublicKey with proofOfPossession"
        yield causes.invalid("spec", None, rule)
        return
    from cryptography import x509
    from cryptography.hazmat.primitives.serialization import load_der_public_key

    try:
        if keys[0]:
            x509.load_der_x509_csr(decode_base64(spec["stubPKCS10Request"]))
        else:
            load_der_public_key(decode_base64(spec["pkixPublicKey"]))
    except ValueError:
        field = "stubPKCS10Request" if keys[0] else "pkixPublicKey"
        yield causes.invalid(f"spec.{field}", None, "must be a valid key")


def _validate_status(obj: Json, old: Json | None) -> Causes:
    conditions = (obj.get("status") or {}).get("conditions")
    if old is not None and json_equal(obj.get("status"), old.get("status")):
        return
    yield from check_conditions("status.conditions", conditions)


KIND: Final = Kind(
    "certificates.k8s.io",
    "PodCertificateRequest",
    requires_version=True,
    kept_by_status=METADATA,
    selectable=own_paths("spec.signerName", "spec.podName", "spec.nodeName"),
    selects_namespace=False,
    defaults=(in_spec(pointer_defaults(maxExpirationSeconds=86400)),),
    validate=_validate,
    validate_parts={"status": _validate_status},
)
