"""CertificateSigningRequest (certificates.k8s.io): preparation, validation and columns."""

from __future__ import annotations

from typing import Any, Final

from kubeloop.wire import JsonObject

from ...values import causes
from ...values.json_values import json_equal, map_field, map_items, value_at, with_defaults
from ..kind import Causes, Check, Json, Kind, Since, own_paths
from ..rules.cell_text import age_of, condition_of, human_duration, name_of, or_else
from ..rules.field_rules import check_required, check_signer_name
from ..rules.names import path_name
from ..rules.value_rules import enumerate_objects
from .pem import decode_base64, pem_blocks, read_certificate, read_request

__all__ = ["KIND"]

_DECISIONS: Final = ("Approved", "Denied")


def _prepare_request_part(new: JsonObject, old: JsonObject, part: str, now: str) -> JsonObject:
    if part == "status":
        new = _with_decisions(new, old)
    return _with_condition_times(new, old, now=now)


def _with_decisions(new: JsonObject, old: JsonObject) -> JsonObject:
    """A signing request whose conditions of these types are the old ones, if as many are left."""
    conditions = list(value_at(new, "status", "conditions") or ())
    before = value_at(old, "status", "conditions") or ()
    for kind in _DECISIONS:
        kept = [each for each in before if each.get("type") == kind]
        found = [index for index, each in enumerate(conditions) if each.get("type") == kind]
        if len(kept) == len(found):
            for index, each in zip(found, kept, strict=True):
                conditions[index] = each
    if not conditions:
        return new
    return map_field(new, "status", lambda status: {**status, "conditions": conditions})


def _with_condition_times(new: JsonObject, old: JsonObject, *, now: str) -> JsonObject:
    """`new` with the missing times of its conditions; an unchanged status keeps its time."""
    times = {
        (each.get("type"), each.get("status")): each.get("lastTransitionTime")
        for each in value_at(old, "status", "conditions") or ()
    }

    def set_times(condition: JsonObject) -> JsonObject:
        since = times.get((condition.get("type"), condition.get("status"))) or now
        return with_defaults(condition, {"lastUpdateTime": now, "lastTransitionTime": since})

    return map_field(new, "status", lambda status: map_items(status, "conditions", set_times))


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
_LEGACY: Final = "kubernetes.io/legacy-unknown"


def _request(obj: Json, old: Json | None) -> Causes:
    # `validateCertificateSigningRequest`.
    spec = obj.get("spec") or {}
    before = (old or {}).get("spec")
    if old is None or not json_equal(spec, before):
        yield from _spec(spec)
    yield from _conditions("status.conditions", obj, old)
    certificate = (obj.get("status") or {}).get("certificate")
    if certificate and certificate != ((old or {}).get("status") or {}).get("certificate"):
        problem = _certificate_problem(decode_base64(certificate))
        if problem:
            yield causes.invalid("status.certificate", "<certificate data>", problem)


def _spec(spec: Json) -> Causes:
    try:
        read_request(spec.get("request"))
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


def _conditions(path: str, obj: Json, old: Json | None) -> Causes:
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


def _types(obj: Json | None) -> list[str]:
    found = enumerate_objects(((obj or {}).get("status") or {}).get("conditions"))
    return [each.get("type") or "" for _, each in found]


def _certificate_problem(pem: bytes) -> str:
    # `validateCertificate`.
    blocks = list(pem_blocks(pem))
    for kind, der, has_headers in blocks:
        if kind != "CERTIFICATE":
            return f'only CERTIFICATE PEM blocks are allowed, found "{kind}"'
        if has_headers:
            return "no PEM block headers are permitted"
        if read_certificate(der) is None:
            return "a block does not parse as a certificate"
    return "" if blocks else "must contain at least one CERTIFICATE PEM block"


def _updated(part: str) -> Check:
    """Checks of a write through one of the paths of a signing request."""

    def check(obj: Json, old: Json | None) -> Causes:
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


def _of_type(obj: Json, kind: str) -> list[Json]:
    found = enumerate_objects((obj.get("status") or {}).get("conditions"))
    return [each for _, each in found if each.get("type") == kind]


def _cells(obj: Json, since: Since) -> list[Any]:
    seconds = value_at(obj, "spec", "expirationSeconds")
    return [
        name_of(obj),
        age_of(obj, since),
        or_else(value_at(obj, "spec", "signerName"), "<none>"),
        value_at(obj, "spec", "username") or "",
        "<none>" if seconds is None else human_duration(seconds),
        _request_status(obj),
    ]


def _request_status(obj: Json) -> str:
    # `extractCSRStatus`.
    status = "Pending"
    if condition_of(obj, "Denied"):
        status = "Denied"
    elif condition_of(obj, "Approved"):
        status = "Approved"
    status += ",Failed" if condition_of(obj, "Failed") else ""
    return status + (",Issued" if value_at(obj, "status", "certificate") else "")


KIND: Final = Kind(
    "certificates.k8s.io",
    "CertificateSigningRequest",
    kept_by_update=("spec",),
    reset_by_status=(("status", "conditions"),),
    name_rule=path_name,
    selectable=own_paths("spec.signerName"),
    selects_namespace=False,
    prepare_part=_prepare_request_part,
    validate=_updated(""),
    validate_parts={"approval": _updated("approval"), "status": _updated("status")},
    columns="Name, Age, SignerName, Requestor, RequestedDuration, Condition",
    cells=_cells,
)
