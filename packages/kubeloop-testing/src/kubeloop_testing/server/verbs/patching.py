"""Applies a patch to an object in the version of the request.

Guarantees: pure; a patch that cannot be decoded is 400, one that cannot be applied 422 (JSON
patch) or 500 (strategic merge patch), as in kube-apiserver's `patch.go`; an unsupported patch
type is 415.
See also: `kubeloop.patches` (the algorithms), `apply.managed` (server-side apply).
"""

from __future__ import annotations

import re

import msgspec

from kubeloop.patches import (
    MAX_OPERATIONS,
    PatchError,
    apply_json_patch,
    apply_merge_patch,
    apply_strategic_patch,
)
from kubeloop.wire import Json

from ..apply.managed import applied_name, apply
from ..apply.reset_fields import reset_fields
from ..registry import ServedResource
from ..representations.representation import served_object
from ..request.calls import Call
from ..request.negotiation import JSON, YAML, decode_body, decode_document
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
from ..values.causes import quoted
from ..values.deep_json import decode
from ..values.go_json import go_kind, go_text, json_type, struct_error
from ..values.go_types import fields_of, go_type_of, is_struct
from ..values.json_values import whole_numbers
from .objects import DecodedObject, check_name, decode_object, duplicate_fields_in

__all__ = [
    "APPLY",
    "JSON_PATCH",
    "MERGE",
    "STRATEGIC",
    "apply_patch",
    "check_patched_uid",
    "decode_applied",
    "decode_apply_body",
    "decode_patched",
    "merge_applied",
    "patch_media_type",
    "unreadable_result",
    "with_url_name",
    "without_version",
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
        raise _unreadable(encoded(result).decode(), str(error)) from error


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
    if patch_type != STRATEGIC:
        return bad_request(str(error))
    if error.rule == "retain":
        return bad_request("invalid patch format of retainKeys")
    # kube-apiserver does not convert the other errors of strategicpatch into API errors.
    return untyped_error(_strategic_problem(error))


def _strategic_problem(error: PatchError) -> str:
    """What kube-apiserver says about a patch that breaks a rule."""
    match error.rule, error.values:
        case "kinds", lists:
            return f"list element types are not identical: {go_text(list(lists[:2]))}"
        case "key", (element, key):
            return f"map: {go_text(element)} does not contain declared merge key: {key}"
        case "directive", ({"$patch": "merge"},):
            return "merging lists cannot yet be specified in the patch"
        case "directive", ({"$patch": str(directive)} as element,):
            return f"unknown patch type: {directive} in map: {go_text(element)}"
        case "directive", ({"$patch": directive} as element,):
            wrong = f"%!s({go_kind(directive)}={go_text(directive)})"
            return f"unknown patch type: {wrong} in map: {go_text(element)}"
        case "list", (value,):
            return f"expected a []interface {{}}, but received a {go_kind(value)}"
        case "order", (named, order):
            return (
                f"The order in patch list:\n{go_text(named)}\n doesn't match $setElementOrder "
                f"list:\n{go_text(order)}\n"
            )
    return str(error)


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
            f"error decoding patch: json: cannot unmarshal {json_type(patch)} into Go value of "
            "type []handlers.jsonPatchOp"
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


def _unknown_members(raw: bytes) -> list[str]:
    """A warning for each member of an operation of a JSON patch that has no meaning."""
    return [
        f'json patch unknown field "[{index}].{member}"'
        for index, operation in enumerate(decode(raw) or ())
        for member in sorted(set(operation or ()) - {"op", "path", "from", "value"})
    ]


def _check_types(operation: Json) -> None:
    """Reject an operation that Go cannot decode; null decodes like a missing member."""
    if problem := struct_error(operation, "handlers.jsonPatchOp", _OPERATION):
        raise bad_request(f"error decoding patch: {problem}")


_OPERATION = {"op": "string", "from": "string", "path": "string"}


def _document(patch: Json, patch_type: str) -> Object:
    if patch is None and patch_type == STRATEGIC:
        return {}  # Go decodes null into an empty map
    if patch is None:
        raise bad_request("Invalid JSON Patch")
    if not isinstance(patch, dict):
        problem = (
            f"json: cannot unmarshal {json_type(patch)} into Go value of type "
            "map[string]interface {}"
        )
        is_strategic = patch_type == STRATEGIC
        raise bad_request(problem if is_strategic else f"error decoding patch: {problem}")
    return patch


def _is_json(raw: bytes) -> bool:
    """Whether the body of an apply is one JSON object, as clients send it, and no other YAML."""
    if not raw.lstrip().startswith(b"{"):
        return False
    try:
        decode(raw)
    except ValueError:
        return False
    return True


def _applied_object(raw: bytes) -> Object:
    found: Json = None
    try:
        found = decode_document(raw, JSON if _is_json(raw) else YAML)
    except ValueError as error:
        # Go tries a text that looks like JSON as JSON first.
        step = "decoding patch: error converting YAML to JSON"
        step = step if raw.lstrip()[:1] == b"{" else "encoding patch"
        raise bad_request(f"error {step}: {error}") from error
    if found is not None and not isinstance(found, dict):
        raise bad_request(
            "error decoding patch: error unmarshaling JSON: while decoding JSON: json: cannot "
            f"unmarshal {json_type(found)} into Go value of type map[string]interface {{}}"
        )
    return found or {}


def decode_apply_body(raw: bytes, kind: str, api_version: str) -> Object:
    """The object in the body of a server-side apply, which is YAML.

    Raises:
        StatusError: 400 for another type, or an object with managed fields.
    """
    obj: Object = whole_numbers(_applied_object(raw))
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


# --- apply


def decode_applied(call: Call, raw: bytes, old: Entry | None, *, now: str) -> DecodedObject:
    """The object in the body of an apply; unknown fields are always rejected."""
    obj = decode_apply_body(raw, call.served.kind, call.served.api_version)
    validation = call.options.validation
    duplicates = duplicate_fields_in(raw, obj) if validation != "Ignore" and _is_json(raw) else []
    if duplicates and validation == "Strict":
        raise bad_request(f"error strict decoding YAML: {', '.join(duplicates)}")
    try:
        if call.served.custom is not None:
            # Fields that the schema does not declare are found by the merge, which allows
            # some in objects without properties; they are pruned after it.
            decode_object(call.served, obj, validation="Ignore")
            return DecodedObject(obj, duplicates, obj)
        decoded = decode_object(call.served, obj, validation="Strict", keep_empty=True)
        return decoded._replace(warnings=[*decoded.warnings, *duplicates], sent=obj)
    except StatusError as error:
        # The merge finds the same problem and reports it with structured-merge-diff's text, or
        # a conflict, for which any number is a number.
        merge_applied(call, None, obj, now=now)
        if old is not None:
            merge_applied(call, served_object(call.served, old), obj, now=now)
        name = applied_name(obj)
        raise untyped_error(f"failed to create typed patch object ({name}): {error}") from None


def merge_applied(
    call: Call, live: Object | None, applied: Object, *, now: str, sent: Object | None = None
) -> Object:
    """`live` after an apply of `applied`, with its managed fields. Raises `StatusError`.

    `sent` is `applied` as the client wrote it.
    """
    served = call.served
    return apply(
        live,
        applied,
        manager=call.manager,
        force=call.options.force,
        api_version=served.api_version,
        subresource=call.part,
        facts=served.facts,
        now=now,
        resets=reset_fields(served, call.part),
        sent=sent,
    )


def without_version(served: ServedResource, obj: Object) -> Object:
    """An applied object that is about to be created: its version is ignored, its uid is not."""
    meta = obj["metadata"]
    if meta.get("uid"):
        why = (
            f"uid mismatch: the provided object specified uid {meta['uid']}, and no existing "
            "object was found"
        )
        raise conflict(served.group, served.plural, meta["name"], why)
    return {**obj, "metadata": {k: v for k, v in meta.items() if k != "resourceVersion"}}


# --- the result of a patch


def decode_patched(call: Call, result: Object, raw: bytes, patch_type: str) -> DecodedObject:
    """The object that a patch made, without unknown fields."""
    validation = call.options.validation
    duplicates = [] if validation == "Ignore" else duplicate_fields_in(raw)
    if patch_type == JSON_PATCH and validation != "Ignore":
        duplicates += _unknown_members(raw)
    if patch_type == STRATEGIC:
        # Go copies the result into the type of the path: the names in it have no effect.
        names = {"kind": call.served.kind, "apiVersion": call.served.api_version}
        result = {**result, **{k: v for k, v in names.items() if _is_name(result.get(k))}}
    elif call.served.custom is not None:
        _check_patched_type(result, call.name)
    elif not result.get("apiVersion"):
        # Go then decodes into the internal type, of which it knows no field.
        _check_internal_kind(call.served, result)
        result = {"kind": call.served.kind, **_report_unknown(result, duplicates)}
    try:
        return decode_object(call.served, result, validation=validation, duplicates=duplicates)
    except StatusError as error:
        if error.code != 400:
            raise
        raise unreadable_result(call.served, error, result, raw, patch_type) from error


def _is_name(value: object) -> bool:
    """Whether a patched `kind` or `apiVersion` can be decoded; it may be missing."""
    return value is None or isinstance(value, str)


def _report_unknown(obj: Object, problems: list[str]) -> Object:
    """An object without any field of `obj`; each is reported in `problems`."""
    problems += [f'unknown field "{key}"' for key in sorted(obj.keys() - {"kind", "apiVersion"})]
    return {}


def with_url_name(obj: Object, name: str) -> Object:
    """An applied object that leaves its name to the URL."""
    meta = obj.get("metadata") or {}
    return obj if meta.get("name") else {**obj, "metadata": {**meta, "name": name}}


def _check_patched_type(result: Object, name: str) -> None:
    """Reject a patched custom object without a kind, a name or an apiVersion, in this order."""
    if result.get("kind") in (None, ""):
        ordered = msgspec.json.encode(result, order="sorted")
        raise _unreadable(ordered.decode(), f"Object 'Kind' is missing in '{ordered.decode()}'")
    check_name(result, name)
    if result.get("apiVersion") in (None, ""):
        raise internal_error("Object 'apiVersion' is missing in 'object has no apiVersion field'")


def _check_internal_kind(served: ServedResource, result: Object) -> None:
    """Reject a patched object without an apiVersion, of a kind that its group does not have."""
    kind = result.get("kind")
    if kind and isinstance(kind, str) and not go_type_of(served.api_version, kind):
        raise _unreadable(
            encoded(result).decode(),
            f'no kind "{kind}" is registered for the internal version of group "{served.group}" '
            'in scheme "pkg/runtime/scheme.go:111"',
        )


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


def unreadable_result(
    served: ServedResource, error: StatusError, result: Object, raw: bytes, patch_type: str
) -> StatusError:
    """422 for a patch whose result cannot be decoded any more."""
    why = str(error).partition("cannot be handled as a ")[2].partition(": ")[2] or str(error)
    patch = decode(raw)
    if patch_type == STRATEGIC:
        # Quoted is the patch, because no text of the result exists.
        shown, why = go_text(patch), _conversion_problem(why)
    else:
        go_type = go_type_of(served.api_version, served.kind)
        shown = encoded(_in_go_order(go_type, result, _touched(patch))).decode()
    return _unreadable(shown, why)


def _unreadable(shown: str, why: str) -> StatusError:
    message = f"Invalid value: {quoted(shown)}: {why}"
    return invalid("", "", "", [Cause("patch", "FieldValueInvalid", message)])


_TYPE_PROBLEM = re.compile(r"json: cannot unmarshal (\w+)(?: (\S+))? into Go .* of type (\S+)$")
_KINDS = {"string": "string", "array": "slice", "object": "map", "bool": "bool"}


def _conversion_problem(why: str) -> str:
    """The error of a conversion from maps to structs, which names kinds of Go, not of JSON."""
    found = _TYPE_PROBLEM.match(why)
    if found is None:
        return why
    number = "float64" if "." in (found[2] or "") else "int64"
    kind, target = _KINDS.get(found[1], number), found[3]
    if target.startswith(("[]", "map[")):
        return f"cannot restore {'slice' if target[0] == '[' else 'map'} from {kind}"
    if "." in target:
        return f"cannot restore struct from: {kind}"
    if kind in {"int64", "float64"}:
        return f"cannot convert {kind} to {target}"
    return f"unrecognized type: {target}"


def _touched(patch: Json) -> Json:
    """The objects that a patch changes, as a tree of their keys."""
    if isinstance(patch, dict):
        return patch
    tree: Object = {}
    for operation in patch or ():
        for pointer in (operation.get("path"), operation.get("from")):
            node = tree
            for step in str(pointer or "").split("/")[1:]:
                node = node.setdefault(step.replace("~1", "/").replace("~0", "~"), {})
    return tree


def _in_go_order(go_type: str, value: Json, touched: Json) -> Json:
    """A value with its keys in Go's order: objects that were patched are sorted."""
    go_type = go_type.lstrip("*")
    if isinstance(value, list):
        inner, below = go_type.removeprefix("[]"), touched if isinstance(touched, dict) else {}
        return [_in_go_order(inner, item, below.get(str(at))) for at, item in enumerate(value)]
    if not isinstance(value, dict):
        return value
    fields = {field.name: field.type for field in fields_of(go_type)} if is_struct(go_type) else {}
    names = sorted(value)
    if not isinstance(touched, dict):
        names = [
            *(name for name in fields if name in value),
            *(n for n in names if n not in fields),
        ]
        touched = {}
    inner = go_type.partition("]")[2] if go_type.startswith("map[") else ""
    return {
        name: _in_go_order(fields.get(name, inner), value[name], touched.get(name))
        for name in names
    }
