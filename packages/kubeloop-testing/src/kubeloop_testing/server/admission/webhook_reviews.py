"""AdmissionReview: the request to a webhook, and the meaning of its response.

Guarantees: a malformed response is a failure of the webhook, never an approval; a denial keeps
the webhook's code, reason and details.
See also: which webhooks are called (`webhook_rules`), in which order (`webhooks`).
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping
from typing import Any, Final, final

import msgspec

from kubeloop.wire import KubeError

from ..statuses import StatusError
from ..values.causes import quoted
from .webhook_rules import AdmissionRequest, Target

__all__ = [
    "InvalidResponse",
    "WebhookResponse",
    "denial",
    "encode_review",
    "parse_response",
    "review_version",
]

_GROUP: Final = "admission.k8s.io"
_KIND: Final = f"{_GROUP}/v1, Kind=AdmissionReview"


class InvalidResponse(KubeError):
    """A webhook responded with something other than a valid AdmissionReview."""


@final
class WebhookResponse(msgspec.Struct, frozen=True):
    """The content of a webhook's response."""

    allowed: bool
    status: Mapping[str, Any] | None = None
    patch: list[Any] = []
    warnings: tuple[str, ...] = ()
    annotations: Mapping[str, str] = {}


def review_version(hook: Mapping[str, Any]) -> str:
    """The version of AdmissionReview to send: the first one that both sides support.

    Raises:
        InvalidResponse: they have none in common.
    """
    for version in hook.get("admissionReviewVersions") or ("v1",):
        if version in {"v1", "v1beta1"}:
            return str(version)
    raise InvalidResponse(
        "could not create admission objects: webhook does not accept known AdmissionReview "
        "versions (v1, v1beta1)"
    )


def encode_review(request: AdmissionRequest, target: Target, *, uid: str, version: str) -> bytes:
    """The AdmissionReview to send; `target` is the resource that the webhook's rule matched."""
    original = request.target
    fields: dict[str, Any] = {
        "uid": uid,
        "kind": target.kind_wire(),
        "resource": target.resource_wire(),
        "requestKind": original.kind_wire(),
        "requestResource": original.resource_wire(),
        "operation": request.operation,
        "userInfo": request.user.user_info(),
        "object": request.obj,
        "oldObject": request.old,
        "dryRun": request.dry_run,
        "options": request.options,
    }
    if request.subresource:
        fields |= {"subResource": request.subresource, "requestSubResource": request.subresource}
    optional = {"name": request.name, "namespace": request.namespace}
    fields |= {key: value for key, value in optional.items() if value}
    return msgspec.json.encode(
        {"kind": "AdmissionReview", "apiVersion": f"{_GROUP}/{version}", "request": fields}
    )


def parse_response(body: bytes, *, uid: str, version: str, mutating: bool) -> WebhookResponse:
    """Parse the AdmissionReview in a webhook's response.

    Raises:
        InvalidResponse: it is not a valid response to this request.
    """
    try:
        decoded = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise InvalidResponse(
            f"failed to call webhook: couldn't get version/kind; json parse error: {error}"
        ) from error
    response = decoded.get("response") if isinstance(decoded, dict) else None
    if not isinstance(response, dict):
        raise _invalid("webhook response was absent")
    # `VerifyAdmissionResponse` of kube-apiserver is lenient with v1beta1 only.
    if version == "v1":
        _check_identity(decoded, response, uid)
        _check_patch(response, mutating=mutating)
    return WebhookResponse(
        bool(response.get("allowed")),
        response.get("status"),
        _patch(response) if mutating else [],
        tuple(map(str, response.get("warnings") or ())),
        {str(k): str(v) for k, v in (response.get("auditAnnotations") or {}).items()},
    )


def _invalid(reason: str) -> InvalidResponse:
    return InvalidResponse(f"received invalid webhook response: {reason}")


def _check_identity(review: Mapping[str, Any], response: Mapping[str, Any], uid: str) -> None:
    if response.get("uid", "") != uid:
        found = quoted(str(response.get("uid", "")))
        raise _invalid(f"expected response.uid={quoted(uid)}, got {found}")
    found = _gvk(str(review.get("apiVersion", "")), str(review.get("kind", "")))
    if found != _KIND:
        raise _invalid(f"expected webhook response of {_KIND}, got {found}")


def _gvk(api_version: str, kind: str) -> str:
    group, slash, version = api_version.rpartition("/")
    return f"{group}{slash or '/'}{version}, Kind={kind}"


def _check_patch(response: Mapping[str, Any], *, mutating: bool) -> None:
    # `VerifyAdmissionResponse`, with its messages.
    patch, patch_type = response.get("patch"), response.get("patchType")
    if not mutating:
        if patch:
            raise _invalid("validating webhook may not return response.patch")
        if patch_type is not None:
            raise _invalid("validating webhook may not return response.patchType")
    elif patch and patch_type is None:
        raise _invalid("webhook returned response.patch but not response.patchType")
    elif patch_type is not None and not patch:
        raise _invalid("webhook returned response.patchType but not response.patch")
    elif patch_type == "":
        raise _invalid('webhook returned invalid response.patchType of ""')
    elif patch and patch_type != "JSONPatch":
        raise InvalidResponse(f"unsupported patch type {quoted(str(patch_type))}")


def _patch(response: Mapping[str, Any]) -> list[Any]:
    if not response.get("patch"):
        return []
    try:
        patch = json.loads(base64.b64decode(str(response["patch"])))
    except (ValueError, binascii.Error, RecursionError) as error:
        raise InvalidResponse(f"received undecodable patch in webhook response: {error}") from error
    if not isinstance(patch, list):
        raise InvalidResponse("received undecodable patch in webhook response: not a list")
    return patch


def denial(hook: str, webhook_status: Mapping[str, Any] | None) -> StatusError:
    """The error of a request that a webhook denied, as kube-apiserver's `ToStatusErr`."""
    result = dict(webhook_status or {})
    denied = f"admission webhook {quoted(hook)} denied the request"
    reason = result.get("message") or result.get("reason")
    status: dict[str, Any] = {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": result.get("metadata") or {},
        "status": "Failure",
        "message": f"{denied}: {reason}" if reason else f"{denied} without explanation",
    }
    status |= {key: result[key] for key in ("reason", "details") if result.get(key)}
    code = result.get("code")
    status["code"] = code if isinstance(code, int) and code >= 400 else 400
    return StatusError(status)
