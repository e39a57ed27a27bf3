"""What is sent to a webhook and what its answer means.

Promises: an answer that does not say what it must is a failure to call the webhook, never
a yes; a rejection keeps the webhook's code, reason and details.
Elsewhere: which webhooks are asked (`webhook_rules`), the order of things (`admission`).
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

__all__ = ["BadAnswer", "Verdict", "denial", "read_answer", "review", "review_version"]

_GROUP: Final = "admission.k8s.io"
_KIND: Final = f"{_GROUP}/v1, Kind=AdmissionReview"


class BadAnswer(KubeError):
    """A webhook answered something that is no answer."""


@final
class Verdict(msgspec.Struct, frozen=True):
    """A webhook's answer, understood."""

    allowed: bool
    status: Mapping[str, Any] | None = None
    patch: list[Any] = []
    warnings: tuple[str, ...] = ()
    annotations: Mapping[str, str] = {}


def review_version(hook: Mapping[str, Any]) -> str:
    """The version of AdmissionReview to speak with a webhook: the first both know.

    Raises:
        BadAnswer: there is none.
    """
    for version in hook.get("admissionReviewVersions") or ("v1",):
        if version in {"v1", "v1beta1"}:
            return str(version)
    raise BadAnswer(
        "could not create admission objects: webhook does not accept known AdmissionReview "
        "versions (v1, v1beta1)"
    )


def review(request: AdmissionRequest, target: Target, *, uid: str, version: str) -> bytes:
    """The AdmissionReview to send; `target` is what the webhook's rule matched."""
    original = request.target
    asked: dict[str, Any] = {
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
        asked |= {"subResource": request.subresource, "requestSubResource": request.subresource}
    asked |= {key: said for key, said in _place(request).items() if said}
    return msgspec.json.encode(
        {"kind": "AdmissionReview", "apiVersion": f"{_GROUP}/{version}", "request": asked}
    )


def _place(request: AdmissionRequest) -> dict[str, str]:
    return {"name": request.name, "namespace": request.namespace}


def read_answer(body: bytes, *, uid: str, version: str, mutating: bool) -> Verdict:
    """What a webhook's answer says.

    Raises:
        BadAnswer: it is not the answer to what was asked.
    """
    try:
        said = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise BadAnswer(
            f"failed to call webhook: couldn't get version/kind; json parse error: {error}"
        ) from error
    response = said.get("response") if isinstance(said, dict) else None
    if not isinstance(response, dict):
        raise _invalid("webhook response was absent")
    if version == "v1":
        _check_identity(said, response, uid)
        _check_patch(response, mutating=mutating)
    return Verdict(
        bool(response.get("allowed")),
        response.get("status"),
        _patch(response) if mutating else [],
        tuple(map(str, response.get("warnings") or ())),
        {str(k): str(v) for k, v in (response.get("auditAnnotations") or {}).items()},
    )


def _invalid(why: str) -> BadAnswer:
    return BadAnswer(f"received invalid webhook response: {why}")


def _check_identity(said: Mapping[str, Any], response: Mapping[str, Any], uid: str) -> None:
    if response.get("uid", "") != uid:
        found = quoted(str(response.get("uid", "")))
        raise _invalid(f"expected response.uid={quoted(uid)}, got {found}")
    found = _gvk(str(said.get("apiVersion", "")), str(said.get("kind", "")))
    if found != _KIND:
        raise _invalid(f"expected webhook response of {_KIND}, got {found}")


def _gvk(api_version: str, kind: str) -> str:
    group, slash, version = api_version.rpartition("/")
    return f"{group}{slash or '/'}{version}, Kind={kind}"


def _check_patch(response: Mapping[str, Any], *, mutating: bool) -> None:
    patch, sort = response.get("patch"), response.get("patchType")
    if not mutating:
        if patch:
            raise _invalid("validating webhook may not return response.patch")
        if sort is not None:
            raise _invalid("validating webhook may not return response.patchType")
    elif patch and sort is None:
        raise _invalid("webhook returned response.patch but not response.patchType")
    elif sort is not None and not patch:
        raise _invalid("webhook returned response.patchType but not response.patch")
    elif sort == "":
        raise _invalid('webhook returned invalid response.patchType of ""')
    elif patch and sort != "JSONPatch":
        raise BadAnswer(f"unsupported patch type {quoted(str(sort))}")


def _patch(response: Mapping[str, Any]) -> list[Any]:
    if not response.get("patch"):
        return []
    try:
        patch = json.loads(base64.b64decode(str(response["patch"])))
    except (ValueError, binascii.Error, RecursionError) as error:
        raise BadAnswer(f"received undecodable patch in webhook response: {error}") from error
    if not isinstance(patch, list):
        raise BadAnswer("received undecodable patch in webhook response: it is no list")
    return patch


def denial(hook: str, given: Mapping[str, Any] | None) -> StatusError:
    """The answer to a request that a webhook rejected."""
    result = dict(given or {})
    denied = f"admission webhook {quoted(hook)} denied the request"
    why = result.get("message") or result.get("reason")
    status: dict[str, Any] = {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": result.get("metadata") or {},
        "status": "Failure",
        "message": f"{denied}: {why}" if why else f"{denied} without explanation",
    }
    status |= {key: result[key] for key in ("reason", "details") if result.get(key)}
    code = result.get("code")
    status["code"] = code if isinstance(code, int) and code >= 400 else 400
    return StatusError(status)
