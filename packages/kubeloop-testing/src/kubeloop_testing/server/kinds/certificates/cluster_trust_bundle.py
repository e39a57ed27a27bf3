"""ClusterTrustBundle (certificates.k8s.io): validation and columns."""

from __future__ import annotations

from typing import Final

from kubeloop.meta import problems_of_dns_subdomain

from ...values import causes
from ..kind import Causes, Json, Kind, own_paths
from ..rules.cells import field_cells
from ..rules.field_rules import check_signer_name
from ..rules.names import path_name
from ..rules.value_rules import check_unchanged
from .pem import pem_blocks, read_certificate

__all__ = ["KIND"]

_OMITTED: Final = "<value omitted>"
_BUNDLE_SIZE: Final = 1024 * 1024


def _validate(obj: Json, old: Json | None) -> Causes:
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
    for index, (kind, der, has_headers) in enumerate(pem_blocks(bundle.encode())):
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
    certificate = read_certificate(der)
    if certificate is None:
        return "does not parse as X.509"
    from cryptography import x509

    try:
        found = certificate.extensions.get_extension_for_class(x509.BasicConstraints)
    except (x509.ExtensionNotFound, ValueError):
        return "does not have the CA bit set"
    return "" if found.value.ca else "does not have the CA bit set"


KIND: Final = Kind(
    "certificates.k8s.io",
    "ClusterTrustBundle",
    requires_version=True,
    name_rule=path_name,
    selectable=own_paths("spec.signerName"),
    selects_namespace=False,
    validate=_validate,
    columns="Name, SignerName",
    cells=field_cells("spec.signerName", age=False),
)
