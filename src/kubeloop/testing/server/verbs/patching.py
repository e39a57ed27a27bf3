"""Applies a patch to an object in the version of the request.

Guarantees: pure; a patch that cannot be decoded is 400, one that cannot be applied 422 (JSON
patch) or 500 (strategic merge patch), as in kube-apiserver's `patch.go`; an unsupported patch
type is 415.
See also: `kubeloop.patches` (the algorithms), `apply.managed` (server-side apply).
"""

from __future__ import annotations

import msgspec

from kubeloop.patches import (
    MAX_OPERATIONS,
    PatchError,
    apply_json_patch,
    apply_merge_patch,
    apply_strategic_patch,
)
from kubeloop.wire import Json

from ..registry import ServedResource
from ..request.negotiation import JSON, YAML, decode_body, json_type
from ..request.options import parse_version
from ..statuses import (
    Cause,
    StatusError,
    bad_request,
    conflict,
    internal_error,
    invalid,
    request_entity_too_large,
    unsupported_media_type,
    untyped_error,
)
from ..storage.store import Entry, Object, encoded
from ..values.deep_json import decode
from ..values.go_types import go_type_of
from ..values.json_values import whole_numbers
from .objects import check_name

__all__ = [
    "APPLY",
    "JSON_PATCH",
    "MERGE",
    "STRATEGIC",
    "apply_patch",
    "check_internal_kind",
    "check_patched_type",
    "check_patched_uid",
    "decode_apply_body",
    "is_json",
    "patch_media_type",
    "report_unknown",
    "unknown_members",
    "unreadable_result",
    "with_url_name",
]

JSON_PATCH = "application/json-patch+json"
MERGE = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
APPLY = "application/apply-patch+yaml"


def patch_media_type(served: ServedResource, content_type: str) -> str:
    """The patch type in a Content-Type header.

    Raises:
        StatusError: 415 for a type that the resource does not support.
    """
    supported = [JSON_PATCH, MERGE, STRATEGIC, APPLY]
    if served.custom is not None:
        supported.remove(STRATEGIC)  # custom kinds have no Go struct with patch strategies
    media = content_type.split(";", 1)[0].strip()
    if media not in supported:
        raise unsupported_media_type(supported)
    return media


def apply_patch(served: ServedResource, obj: Object, raw: bytes, patch_type: str) -> Object:
    """`obj`, in the version of `served`, after the patch.

    Raises:
        StatusError: the patch cannot be decoded or applied.
    """
    patch = _decode(raw)
    try:
        match patch_type:
            case "application/json-patch+json":
                result = apply_json_patch(obj, _operations(patch))
            case "application/merge-patch+json":
                result = apply_merge_patch(obj, _document(patch, patch_type))
            case _:
                facts = served.facts
                assert facts is not None  # only built-in kinds support this type
                patch = whole_numbers(_document(patch, patch_type))
                result = apply_strategic_patch(obj, patch, facts)
    except PatchError as error:
        raise _status_error(error, patch_type) from error
    if isinstance(result, dict):
        return result
    try:
        return decode_body(encoded(result), JSON)
    except StatusError as error:
        raise unreadable_result(error, result) from error


def _status_error(error: PatchError, patch_type: str) -> StatusError:
    if patch_type == JSON_PATCH:
        return StatusError(
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
    # kube-apiserver does not convert the errors of strategicpatch into API errors.
    return untyped_error(str(error)) if patch_type == STRATEGIC else bad_request(str(error))


def _decode(raw: bytes) -> Json:
    try:
        return decode(raw)
    except ValueError as error:
        raise bad_request("invalid JSON patch") from error


def _operations(patch: Json) -> list[Json]:
    if patch is None:
        return []  # Go decodes null into an empty list
    if not isinstance(patch, list):
        raise bad_request(
            "error decoding patch: json: cannot unmarshal object into Go value of type "
            "[]handlers.jsonPatchOp"
        )
    for operation in patch:
        _check_types(operation)
    # maxJSONPatchOperations: a small patch can copy a document to an enormous one.
    if len(patch) > MAX_OPERATIONS:
        error = request_entity_too_large(0)
        error.status["message"] = (
            "Request entity too large: The allowed maximum operations in a JSON patch is "
            f"{MAX_OPERATIONS}, got {len(patch)}"
        )
        raise error
    return patch


def unknown_members(raw: bytes) -> list[str]:
    """A warning for each member of an operation of a JSON patch that has no meaning."""
    return [
        f'json patch unknown field "[{index}].{member}"'
        for index, operation in enumerate(decode(raw) or ())
        for member in sorted(set(operation or ()) - {"op", "path", "from", "value"})
    ]


def _check_types(operation: Json) -> None:
    """Reject an operation that Go cannot decode; null decodes like a missing member."""
    go = "into Go value of type handlers.jsonPatchOp"
    if operation is not None and not isinstance(operation, dict):
        raise bad_request(
            f"error decoding patch: json: cannot unmarshal {json_type(operation)} {go}"
        )
    for member in ("op", "from", "path"):
        found = (operation or {}).get(member)
        if found is not None and not isinstance(found, str):
            raise bad_request(
                f"error decoding patch: json: cannot unmarshal {json_type(found)} into Go struct "
                f"field jsonPatchOp.{member} of type string"
            )


def _document(patch: Json, patch_type: str) -> Object:
    if patch is None and patch_type == STRATEGIC:
        return {}  # Go decodes null into an empty map
    if not isinstance(patch, dict):
        raise bad_request(
            f"error decoding patch: json: cannot unmarshal {json_type(patch)} into Go value of "
            "type map[string]interface {}"
        )
    return patch


def is_json(raw: bytes) -> bool:
    """Whether the body of an apply is one JSON object, as clients send it, and no other YAML."""
    if not raw.lstrip().startswith(b"{"):
        return False
    try:
        decode(raw)
    except ValueError:
        return False
    return True


def _decode_yaml(raw: bytes, kind: str) -> Object:
    try:
        return decode_body(raw, JSON if is_json(raw) else YAML, kind=kind)
    except StatusError as error:
        problem = "yaml: exceeded max depth"
        _, found, limit = str(error).partition(problem)
        if not found:
            raise
        why = f"{problem}{limit.partition(' (')[0]}"
        raise bad_request(f"error decoding patch: error converting YAML to JSON: {why}") from error


def decode_apply_body(raw: bytes, kind: str, api_version: str) -> Object:
    """The object in the body of a server-side apply, which is YAML.

    Raises:
        StatusError: 400 for another type, or an object with managed fields.
    """
    obj: Object = whole_numbers(_decode_yaml(raw, kind))
    # unstructured.GetKind and GetAPIVersion return "" for values that are no strings.
    own_kind, version = (
        value if isinstance(value := obj.get(key), str) else "" for key in ("kind", "apiVersion")
    )
    if (own_kind, version) != (kind, api_version):
        version = version if "/" in version else f"/{version}"
        raise bad_request(f"invalid object type: {version}, Kind={own_kind}")
    meta = obj.get("metadata")
    if isinstance(meta, dict) and meta.get("managedFields"):
        # An applied object that was read from the server would claim the fields of others.
        raise bad_request("metadata.managedFields must be nil")
    if meta is None:
        return {key: value for key, value in obj.items() if key != "metadata"}
    return obj


# --- the result of a patch


def report_unknown(obj: Object, problems: list[str]) -> Object:
    """An object without any field of `obj`; each is reported in `problems`."""
    problems += [f'unknown field "{key}"' for key in sorted(obj.keys() - {"kind", "apiVersion"})]
    return {}


def with_url_name(obj: Object, name: str) -> Object:
    """An applied object that leaves its name to the URL."""
    meta = obj.get("metadata") or {}
    return obj if meta.get("name") else {**obj, "metadata": {**meta, "name": name}}


def check_patched_type(result: Object, name: str) -> None:
    """Reject a patched custom object without a kind, a name or an apiVersion, in this order."""
    if result.get("kind") in (None, ""):
        ordered = msgspec.json.encode(result, order="sorted")
        error = bad_request(f"Object 'Kind' is missing in '{ordered.decode()}'")
        raise unreadable_result(error, msgspec.Raw(ordered))
    check_name(result, name)
    if result.get("apiVersion") in (None, ""):
        raise internal_error("Object 'apiVersion' is missing in 'object has no apiVersion field'")


def check_internal_kind(served: ServedResource, result: Object) -> None:
    """Reject a patched object without an apiVersion, of a kind that its group does not have."""
    kind = result.get("kind")
    if kind and isinstance(kind, str) and not go_type_of(served.api_version, kind):
        error = bad_request(
            f'no kind "{kind}" is registered for the internal version of group "{served.group}" '
            'in scheme "pkg/runtime/scheme.go:111"'
        )
        raise unreadable_result(error, result)


def check_patched_uid(served: ServedResource, old: Entry, obj: Object) -> None:
    """Reject a patch of the uid, which is a precondition only in an update."""
    uid = obj["metadata"].get("uid")
    if not uid or uid == old.uid:
        return
    # A patch for an earlier object of this name usually has its version, too. The version is
    # checked before the uid, so the client gets a conflict.
    version = obj["metadata"].get("resourceVersion")
    if version and parse_version(version) is None:
        raise untyped_error(f'strconv.ParseUint: parsing "{version}": invalid syntax')
    if version and version != old.obj["metadata"]["resourceVersion"]:
        raise conflict(served.group, served.plural, old.name)
    message = f'Invalid value: "{uid}": field is immutable'
    cause = Cause("metadata.uid", "FieldValueInvalid", message)
    # The strategy of custom objects validates the metadata once more.
    count = 1 if served.custom is None else 2
    raise invalid(served.group, served.kind, old.name, [cause] * count)


def unreadable_result(error: StatusError, result: Json) -> StatusError:
    """422 for a patch whose result cannot be decoded any more."""
    why = str(error).partition("cannot be handled as a ")[2].partition(": ")[2] or str(error)
    text = encoded(encoded(result).decode()).decode()
    return invalid(
        "", "", "", [Cause("patch", "FieldValueInvalid", f"Invalid value: {text}: {why}")]
    )
