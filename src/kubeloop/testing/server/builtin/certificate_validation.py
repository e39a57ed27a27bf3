"""Validation of certificates.k8s.io: signing requests, trust bundles, requests of pods.

Guarantees: the checks of kube-apiserver's `pkg/apis/certificates/validation`, with its paths and
reasons.
See also: who may approve and sign (`access.certificate_plugins`), shared checks (`field_rules`).
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from kubeloop.meta import problems_of_dns_subdomain

from ..values import causes
from ..values.json_values import json_equal
from .field_rules import (
    Check,
    Raw,
    check_conditions,
    check_required,
    check_signer_name,
)
from .value_rules import Causes, check_name, check_unchanged, enumerate_objects

if TYPE_CHECKING:
    from cryptography.x509 import Certificate, CertificateSigningRequest

__all__ = ["CERTIFICATES", "CERTIFICATE_PARTS", "organizations"]

_GROUP: Final = "certificates.k8s.io"
_USAGES: Final = frozenset(
    {
        "any",
        "cert sign",
        "client auth",
        "code signing",
        "content commitment",
        "crl sign",
        "data encipherment",
        "decipher only",
        "digital signature",
        "email protection",
        "encipher only",
        "ipsec end system",
        "ipsec tunnel",
        "ipsec user",
        "key agreement",
        "key encipherment",
        "microsoft sgc",
        "netscape sgc",
        "ocsp signing",
        "s/mime",
        "server auth",
        "signing",
        "timestamping",
    }
)
_FINAL: Final = ("Approved", "Denied", "Failed")
_BLOCK: Final = re.compile(
    rb"-----BEGIN ([A-Z0-9 ]+)-----[ \t]*\r?\n(.*?)-----END \1-----", re.DOTALL
)
_LEGACY: Final = "kubernetes.io/legacy-unknown"
_OMITTED: Final = "<value omitted>"
_BUNDLE_SIZE: Final = 1024 * 1024
_HOUR, _DAY = 3600, 24 * 3600


# --- PEM


def _bytes(value: Any) -> bytes:
    try:
        return base64.b64decode(value or "")
    except (binascii.Error, TypeError, ValueError):
        return b""


def _blocks(pem: bytes) -> Iterator[tuple[str, bytes, bool]]:
    """The type of each PEM block, its bytes, and whether it has headers."""
    for match in _BLOCK.finditer(pem):
        content = match[2]
        has_headers = b":" in content
        try:
            der = base64.b64decode(content, validate=False)
        except (binascii.Error, ValueError):
            continue
        yield match[1].decode(), der, has_headers


def _signing_request(value: Any) -> CertificateSigningRequest:
    """The request in PEM and base64. Raises ValueError if it is invalid."""
    # Imported here: `cryptography` takes longer to import than the server to start.
    from cryptography import x509
    from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm

    block = next(_blocks(_bytes(value)), None)
    if block is None or block[0] != "CERTIFICATE REQUEST":
        raise ValueError("PEM block type must be CERTIFICATE REQUEST")
    request = x509.load_der_x509_csr(block[1])
    try:
        is_valid = request.is_signature_valid
    except (InvalidSignature, UnsupportedAlgorithm) as error:
        raise ValueError(str(error)) from error
    if not is_valid:
        raise ValueError("the signature is invalid")
    return request


def _certificate(der: bytes) -> Certificate | None:
    from cryptography import x509

    try:
        return x509.load_der_x509_certificate(der)
    except ValueError:
        return None


def organizations(request: Any) -> list[str]:
    """The organizations (groups) in the subject of a signing request; none if it is invalid."""
    from cryptography.x509 import NameOID

    try:
        subject = _signing_request(request).subject
    except ValueError:
        return []
    return [str(each.value) for each in subject.get_attributes_for_oid(NameOID.ORGANIZATION_NAME)]


# --- signing requests


def _request(obj: Raw, old: Raw | None) -> Causes:
    # `validateCertificateSigningRequest`.
    spec = obj.get("spec") or {}
    before = (old or {}).get("spec")
    if old is None or not json_equal(spec, before):
        yield from _spec(spec)
    yield from _conditions("status.conditions", obj, old)
    certificate = (obj.get("status") or {}).get("certificate")
    if certificate and certificate != ((old or {}).get("status") or {}).get("certificate"):
        problem = _certificate_problem(_bytes(certificate))
        if problem:
            yield causes.invalid("status.certificate", "<certificate data>", problem)


def _spec(spec: Raw) -> Causes:
    try:
        _signing_request(spec.get("request"))
    except ValueError as error:
        yield causes.invalid("spec.request", spec.get("request"), str(error))
    usages = spec.get("usages") or []
    yield from check_required("spec.usages", usages)
    for index, usage in enumerate(usages):
        if usage not in _USAGES:
            yield causes.not_supported(f"spec.usages[{index}]", usage, sorted(_USAGES))
    for index, usage in enumerate(usages):
        if usage in usages[:index]:
            yield causes.duplicate(f"spec.usages[{index}]", usage)
    signer = spec.get("signerName") or ""
    if signer == _LEGACY:
        rule = "the legacy signerName is not allowed via this API version"
        yield causes.invalid("spec.signerName", signer, rule)
    else:
        yield from check_signer_name("spec.signerName", signer)
    seconds = spec.get("expirationSeconds")
    if isinstance(seconds, int) and seconds < 600:
        rule = "may not specify a duration less than 600 seconds (10 minutes)"
        yield causes.invalid("spec.expirationSeconds", seconds, rule)


def _conditions(path: str, obj: Raw, old: Raw | None) -> Causes:
    # `validateConditions`: problems that the stored object has already are tolerated.
    types_before = _types(old)
    seen: set[str] = set()
    for index, each in enumerate_objects((obj.get("status") or {}).get("conditions")):
        kind, status = each.get("type") or "", each.get("status") or ""
        if not kind and "" not in types_before:
            yield causes.required(f"{path}[{index}].type")
        allowed = ("True",) if kind in _FINAL else ("False", "True", "Unknown")
        if not status:
            yield causes.required(f"{path}[{index}].status")
        elif status not in allowed:
            yield causes.not_supported(f"{path}[{index}].status", status, allowed)
        if kind in seen and len(set(types_before)) == len(types_before):
            yield causes.duplicate(f"{path}[{index}].type", kind)
        seen.add(kind)
    if {"Approved", "Denied"} <= seen and not {"Approved", "Denied"} <= set(types_before):
        rule = (
            'must specify at most one of: `conditions[{"type": "Approved"}]`, '
            '`conditions[{"type": "Denied"}]`'
        )
        found = ", ".join(f'conditions[{{"type": "{kind}"}}]' for kind in ("Approved", "Denied"))
        yield causes.invalid(path, f"{{{found}}}", rule)


def _types(obj: Raw | None) -> list[str]:
    found = enumerate_objects(((obj or {}).get("status") or {}).get("conditions"))
    return [each.get("type") or "" for _, each in found]


def _certificate_problem(pem: bytes) -> str:
    # `validateCertificate`.
    blocks = list(_blocks(pem))
    for kind, der, has_headers in blocks:
        if kind != "CERTIFICATE":
            return f'only CERTIFICATE PEM blocks are allowed, found "{kind}"'
        if has_headers:
            return "no PEM block headers are permitted"
        if _certificate(der) is None:
            return "a block does not parse as a certificate"
    return "" if blocks else "must contain at least one CERTIFICATE PEM block"


def _updated(part: str) -> Check:
    """Checks of a write through one of the paths of a signing request."""

    def check(obj: Raw, old: Raw | None) -> Causes:
        # `validateCertificateSigningRequestUpdate`.
        yield from _request(obj, old)
        if old is None:
            return
        path = "status.conditions"
        for kind in _FINAL:
            new, before = _of_type(obj, kind), _of_type(old, kind)
            if len(new) < len(before):
                yield causes.forbidden(path, f'updates may not remove a condition of type "{kind}"')
            elif part == "approval" or kind == "Failed":
                continue
            elif len(new) > len(before):
                yield causes.forbidden(path, f'updates may not add a condition of type "{kind}"')
            elif not json_equal(new, before):
                yield causes.forbidden(path, f'updates may not modify a condition of type "{kind}"')
        status, before_status = obj.get("status") or {}, old.get("status") or {}
        if status.get("certificate") != before_status.get("certificate"):
            if part != "status":
                yield causes.forbidden(
                    "status.certificate", "updates may not set certificate content"
                )
            elif before_status.get("certificate"):
                rule = "updates may not modify existing certificate content"
                yield causes.forbidden("status.certificate", rule)

    return check


def _of_type(obj: Raw, kind: str) -> list[Raw]:
    found = enumerate_objects((obj.get("status") or {}).get("conditions"))
    return [each for _, each in found if each.get("type") == kind]


# --- trust bundles


def _bundle(obj: Raw, old: Raw | None) -> Causes:
    # `ValidateClusterTrustBundle`.
    spec, name = obj.get("spec") or {}, (obj.get("metadata") or {}).get("name") or ""
    signer, bundle = spec.get("signerName") or "", spec.get("trustBundle") or ""
    yield from _bundle_name(name, signer)
    if signer:
        yield from check_signer_name("spec.signerName", signer)
    if old is None or bundle != (old.get("spec") or {}).get("trustBundle"):
        yield from _trust(bundle)
    if old is not None:
        before = (old.get("spec") or {}).get("signerName") or ""
        yield from check_unchanged("spec.signerName", signer, before)


def _bundle_name(name: str, signer: str) -> Causes:
    # `ValidateClusterTrustBundleName`: the signer is the prefix of the name.
    prefix = f"{signer.replace('/', ':')}:" if signer else ""
    if prefix and not name.startswith(prefix):
        rule = f"ClusterTrustBundle for signerName {signer} must be named with prefix {prefix}"
        yield causes.invalid("metadata.name", name, rule)
    else:
        plain = name.removeprefix(prefix)
        problems = problems_of_dns_subdomain(plain)
        yield from (causes.invalid("metadata.name", name, problem) for problem in problems)


def _trust(bundle: str) -> Causes:
    # `validateTrustBundle`.
    path, anchors, is_valid = "spec.trustBundle", [], True
    if len(bundle) > _BUNDLE_SIZE:
        yield causes.too_long(path, _BUNDLE_SIZE)
        return
    for index, (kind, der, has_headers) in enumerate(_blocks(bundle.encode())):
        problem = _anchor_problem(kind, der, has_headers=has_headers)
        if problem:
            is_valid = False
            yield causes.invalid(path, _OMITTED, f"entry {index} {problem}")
        anchors.append(der)
    if is_valid and not anchors:
        yield causes.invalid(path, _OMITTED, "at least one trust anchor must be provided")
    if is_valid and len(set(anchors)) < len(anchors):
        yield causes.invalid(path, _OMITTED, "duplicate trust anchor")


def _anchor_problem(kind: str, der: bytes, *, has_headers: bool) -> str:
    if kind != "CERTIFICATE":
        return f"has bad block type: {kind}"
    if has_headers:
        return "has PEM block headers"
    certificate = _certificate(der)
    if certificate is None:
        return "does not parse as X.509"
    from cryptography import x509

    try:
        found = certificate.extensions.get_extension_for_class(x509.BasicConstraints)
    except (x509.ExtensionNotFound, ValueError):
        return "does not have the CA bit set"
    return "" if found.value.ca else "does not have the CA bit set"


# --- requests of pods


def _pod_request(obj: Raw, old: Raw | None) -> Causes:
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


def _key(spec: Raw) -> Causes:
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
            x509.load_der_x509_csr(_bytes(spec["stubPKCS10Request"]))
        else:
            load_der_public_key(_bytes(spec["pkixPublicKey"]))
    except ValueError:
        field = "stubPKCS10Request" if keys[0] else "pkixPublicKey"
        yield causes.invalid(f"spec.{field}", None, "must be a valid key")


def _pod_request_status(obj: Raw, old: Raw | None) -> Causes:
    conditions = (obj.get("status") or {}).get("conditions")
    if old is not None and json_equal(obj.get("status"), old.get("status")):
        return
    yield from check_conditions("status.conditions", conditions)


CERTIFICATES: Final[dict[tuple[str, str], Check]] = {
    (_GROUP, "CertificateSigningRequest"): _updated(""),
    (_GROUP, "ClusterTrustBundle"): _bundle,
    (_GROUP, "PodCertificateRequest"): _pod_request,
}
CERTIFICATE_PARTS: Final[dict[tuple[str, str, str], Check]] = {
    (_GROUP, "CertificateSigningRequest", "approval"): _updated("approval"),
    (_GROUP, "CertificateSigningRequest", "status"): _updated("status"),
    (_GROUP, "PodCertificateRequest", "status"): _pod_request_status,
}
