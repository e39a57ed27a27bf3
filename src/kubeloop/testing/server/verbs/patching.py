"""Applies a patch to an object as the kind's version shows it.

Promises: pure; a patch that cannot be read is 400, one that cannot be applied 422 (JSON
patch) or 500 (strategic), as kube-apiserver answers; a sort the kind does not know is 415.
Elsewhere: how patches work (`kubeloop.patches`), server-side apply (`managed`).
"""

from __future__ import annotations

from typing import Any

import msgspec

from kubeloop.patches import (
    MAX_OPERATIONS,
    PatchError,
    apply_json_patch,
    apply_merge_patch,
    apply_strategic_patch,
)

from ..registry import Served
from ..request.negotiation import YAML, decoded_body, sort_of
from ..statuses import (
    Refusal,
    bad_request,
    request_entity_too_large,
    unexplained,
    unsupported_media_type,
)
from ..storage.store import Object

__all__ = ["APPLY", "JSON_PATCH", "MERGE", "STRATEGIC", "patch_type", "patched", "read_applied"]

JSON_PATCH = "application/json-patch+json"
MERGE = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
APPLY = "application/apply-patch+yaml"


def patch_type(served: Served, content_type: str) -> str:
    """The sort of patch that a request says it sends.

    Raises:
        Refusal: 415 for a sort that the kind does not know.
    """
    known = [JSON_PATCH, MERGE, STRATEGIC, APPLY]
    if served.custom is not None:
        known.remove(STRATEGIC)
    media = content_type.split(";", 1)[0].strip()
    if media not in known:
        raise unsupported_media_type(known)
    return media


def patched(served: Served, shown: Object, raw: bytes, sort: str) -> Object:
    """`shown`, the object in the version of `served`, after the patch.

    Raises:
        Refusal: the patch cannot be read or applied.
    """
    patch = _read(raw)
    try:
        match sort:
            case "application/json-patch+json":
                result = apply_json_patch(shown, _operations(patch))
            case "application/merge-patch+json":
                result = apply_merge_patch(shown, _document(patch))
            case _:
                facts = served.facts
                assert facts is not None  # only built-in kinds know this sort
                result = apply_strategic_patch(shown, _document(patch), facts)
    except PatchError as error:
        raise _refused(error, sort) from error
    if not isinstance(result, dict):
        raise bad_request("the patched document is not an object")
    return result


def _refused(error: PatchError, sort: str) -> Refusal:
    if sort == JSON_PATCH:
        return Refusal(
            {
                "kind": "Status",
                "apiVersion": "v1",
                "metadata": {},
                "status": "Failure",
                "message": "the server rejected our request due to an error in our request",
                "reason": "Invalid",
                "details": {},
                "code": 422,
            }
        )
    # kube-apiserver has no reason for these: they are errors that nobody translated.
    return unexplained(str(error)) if sort == STRATEGIC else bad_request(str(error))


def _read(raw: bytes) -> Any:
    try:
        return msgspec.json.decode(raw)
    except (ValueError, RecursionError) as error:
        raise bad_request("invalid JSON patch") from error


def _operations(patch: Any) -> list[Any]:
    if not isinstance(patch, list):
        raise bad_request(
            "error decoding patch: json: cannot unmarshal object into Go value of type "
            "[]handlers.jsonPatchOp"
        )
    for operation in patch:
        _check_types(operation)
    if len(patch) > MAX_OPERATIONS:
        refusal = request_entity_too_large(0)
        refusal.status["message"] = (
            "Request entity too large: The allowed maximum operations in a JSON patch is "
            f"{MAX_OPERATIONS}, got {len(patch)}"
        )
        raise refusal
    return patch


def _check_types(operation: Any) -> None:
    """Refuse what Go cannot read as an operation; what is null reads as left out."""
    go = "into Go value of type handlers.jsonPatchOp"
    if operation is not None and not isinstance(operation, dict):
        raise bad_request(f"error decoding patch: json: cannot unmarshal {sort_of(operation)} {go}")
    for member in ("op", "from", "path"):
        found = (operation or {}).get(member)
        if found is not None and not isinstance(found, str):
            raise bad_request(
                f"error decoding patch: json: cannot unmarshal {sort_of(found)} into Go struct "
                f"field jsonPatchOp.{member} of type string"
            )


def _document(patch: Any) -> Object:
    if not isinstance(patch, dict):
        raise bad_request(
            f"error decoding patch: json: cannot unmarshal {sort_of(patch)} into Go value of type "
            "map[string]interface {}"
        )
    return patch


def read_applied(raw: bytes, kind: str, api_version: str) -> Object:
    """The object in the body of a server-side apply, which is YAML, of the kind that is meant.

    Raises:
        Refusal: 400 for what cannot be applied.
    """
    obj = decoded_body(raw, YAML, what=kind)
    # What is no text counts as not said, as in apimachinery's unstructured objects.
    said, version = (
        value if isinstance(value := obj.get(key), str) else "" for key in ("kind", "apiVersion")
    )
    if (said, version) != (kind, api_version):
        version = version if "/" in version else f"/{version}"
        raise bad_request(f"invalid object type: {version}, Kind={said}")
    meta = obj.get("metadata")
    if isinstance(meta, dict) and meta.get("managedFields"):
        raise bad_request("metadata.managedFields must be nil")
    return obj
