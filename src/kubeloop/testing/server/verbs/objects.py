"""How an object becomes the next one: read from a body, new, changed, or a part of it changed.

Promises: pure; what a client may not set (uid, timestamps, generation) it cannot set; the
objects given are never changed.
Elsewhere: what the kinds' own rules say (`rules`), when any of it happens (`verbs`).
"""

from __future__ import annotations

import os
from typing import Any, NamedTuple

import msgspec

from kubeloop.wire import Subresource, class_for

from ..registry import Served
from ..request.negotiation import JSON, decoded_body, summary
from ..request.options import FieldValidation
from ..statuses import Cause, Refusal, bad_request, conflict, invalid, unexplained
from ..storage.store import Object, encoded
from ..values.unknown_fields import check_types, duplicate_fields
from .kinds import has_generation, keeps_metadata_in_status, requires_version_on_update
from .rules import known, stored

__all__ = [
    "Sent",
    "changed",
    "checked",
    "counted",
    "created",
    "duplicates_in",
    "is_finished",
    "new_uid",
    "place",
    "read_object",
    "same_but_bookkeeping",
    "storage_error",
    "typed",
]


class Sent(NamedTuple):
    """An object as a client sent it, in the version it is stored in."""

    obj: Object
    warnings: list[str]


def read_object(
    served: Served, raw: bytes, media: str, *, validation: FieldValidation = "Warn"
) -> Sent:
    """Read the object in a request's body.

    Raises:
        Refusal: 400 for what is not an object of the kind.
    """
    obj = decoded_body(raw, media, what=served.kind)
    _check_own(served, obj, raw)
    noted = duplicates_in(raw, obj) if validation != "Ignore" and media == JSON else []
    return checked(served, obj, validation=validation, noted=noted)


def duplicates_in(raw: bytes, value: Any = None) -> list[str]:
    """What is said of keys that stand twice in a body, which reads as `value`."""
    value = msgspec.json.decode(raw) if value is None else value
    # Where writing it gives back the body but for spaces, no key stood twice.
    if msgspec.json.format(raw, indent=-1) == encoded(value):
        return []
    return [f'duplicate field "{path}"' for path in duplicate_fields(raw)]


def checked(
    served: Served, obj: Object, *, validation: FieldValidation, noted: list[str] | None = None
) -> Sent:
    """`obj` without what its kind does not know; what is lost is refused or warned of.

    Raises:
        Refusal: 400 for another kind, wrong types, or unknown fields under `Strict`.
    """
    _check_kind(served, obj)
    obj = {**obj, "kind": served.kind, "apiVersion": served.api_version}
    found = known(served, obj)
    if found.problems:
        raise _undecodable(served, found.problems[0])
    lost = [*(noted or ()), *(f'unknown field "{path}"' for path in found.unknown)]
    if lost and validation == "Strict":
        raise _undecodable(served, f"strict decoding error: {', '.join(lost)}")
    if not isinstance(found.obj.get("metadata", {}), dict):
        raise _undecodable(served, "json: cannot unmarshal into Go struct field .metadata")
    warnings = lost if validation == "Warn" else []
    return Sent(stored(served, found.obj), warnings)


def _check_own(served: Served, obj: Object, raw: bytes) -> None:
    """Custom kinds have to name themselves; built-in ones are known by their path."""
    if served.custom is None:
        return
    if not obj.get("kind"):
        text = raw.decode(errors="replace")
        raise bad_request(
            f"the object provided is unrecognized (must be of type {served.kind}): "
            f"Object 'Kind' is missing in '{text}' ({summary(raw)})"
        )
    api_version = obj.get("apiVersion") or ""
    if api_version != served.api_version:
        raise bad_request(
            f"the API version in the data ({api_version}) does not match the expected API "
            f"version ({served.api_version})"
        )


def _check_kind(served: Served, obj: Object) -> None:
    kind = obj.get("kind") or served.kind
    api_version = obj.get("apiVersion") or served.api_version
    if (kind, api_version) == (served.kind, served.api_version):
        return
    if served.custom is None:
        raise bad_request(_not_handled(served.group, served.kind, f"{api_version}", f"{kind}"))
    wanted = {"kind": (kind, served.kind), "apiVersion": (api_version, served.api_version)}
    causes = [
        Cause(field, "FieldValueInvalid", f'Invalid value: "{said}": must be {known}')
        for field, (said, known) in wanted.items()
        if said != known
    ]
    metadata = obj.get("metadata")
    name = metadata.get("name") if isinstance(metadata, dict) else ""
    raise invalid(served.group, f"{kind}", name if isinstance(name, str) else "", causes)


def _not_handled(group: str, wanted: str, api_version: str, kind: str) -> str:
    """Why an object of one built-in kind cannot be sent for another."""
    theirs, _, version = api_version.rpartition("/")
    if class_for(theirs, version, kind) is None:
        why = (
            f'no kind "{kind}" is registered for version "{api_version}" in scheme '
            '"pkg/runtime/scheme.go:111"'
        )
    else:
        internal = group.partition(".")[0] or "core"
        why = f"converting ({version}.{kind}) to ({internal}.{wanted}): unknown conversion"
    return f'{kind} in version "{version}" cannot be handled as a {wanted}: {why}'


def _undecodable(served: Served, why: str) -> Refusal:
    return bad_request(
        f'{served.kind} in version "{served.version}" cannot be handled as a {served.kind}: {why}'
    )


def typed(part: Subresource, obj: Object) -> Object:
    """`obj` as the kind that is spoken at a subresource.

    Raises:
        Refusal: 400 for another kind or wrong types.
    """
    kind, own = obj.get("kind") or part.kind, f"{part.group}/{part.version}".removeprefix("/")
    if kind != part.kind:
        said = f"{obj.get('apiVersion') or own}"
        raise bad_request(_not_handled(part.group, part.kind, said, f"{kind}"))
    cls = class_for(part.group, part.version, part.kind)
    if cls is None:
        return obj
    found = check_types(cls, obj)
    if found.problems:
        raise bad_request(
            f'{part.kind} in version "{part.version}" cannot be handled as a {part.kind}: '
            f"{found.problems[0]}"
        )
    return found.object


def place(served: Served, obj: Object, namespace: str, name: str = "") -> Object:
    """`obj` at the place that the URL names.

    Raises:
        Refusal: 400 when the object says it belongs elsewhere.
    """
    meta: Object = obj.get("metadata") or {}
    said = meta.get("namespace") or ""
    if said and said != namespace:
        raise bad_request(
            "the namespace of the provided object does not match the namespace sent on the request"
        )
    if name and meta.get("name") != name:
        if not meta.get("name"):
            raise bad_request(
                f"the name of the object ({name} based on URL) was undeterminable: name must "
                "be provided"
            )
        raise bad_request(
            f"the name of the object ({meta.get('name')}) does not match the name on the "
            f"URL ({name})"
        )
    if served.namespaced and said != namespace:
        meta = {**meta, "namespace": namespace}
    elif not served.namespaced and "namespace" in meta:
        meta = {key: value for key, value in meta.items() if key != "namespace"}
    return obj if meta is obj.get("metadata") else {**obj, "metadata": meta}


# --- new objects

_SYSTEM_FIELDS = (
    "uid",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "selfLink",
)


def new_uid() -> str:
    """A random UUID, as `uuid.uuid4` writes it, in a third of the time."""
    digits = os.urandom(16).hex()
    variant = "89ab"[int(digits[16], 16) & 3]
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-{variant}{digits[17:20]}-{digits[20:]}"


def created(served: Served, obj: Object, *, now: str) -> Object:
    """`obj` with what the server gives every new object.

    Raises:
        Refusal: 500 when it already has a version, as kube-apiserver answers.
    """
    meta = dict(obj.get("metadata") or {})
    if meta.get("resourceVersion"):
        raise unexplained("resourceVersion should not be set on objects to be created")
    for field in _SYSTEM_FIELDS:
        meta.pop(field, None)
    meta["uid"] = new_uid()
    meta["creationTimestamp"] = now
    if has_generation(served):
        meta["generation"] = 1
    return {**obj, "metadata": meta}


# --- changed objects


def changed(served: Served, old: Object, new: Object, *, part: str = "") -> Object:
    """What `old` becomes when `new` is sent for it, or for one of its subresources.

    Raises:
        Refusal: 409 for another version or uid, 422 for a version that is missing.
    """
    _check_version(served, old["metadata"], new.get("metadata") or {})
    obj = _of_part(served, old, new, part)
    return {**obj, "metadata": _kept_metadata(old["metadata"], dict(obj.get("metadata") or {}))}


def counted(served: Served, old: Object, new: Object) -> Object:
    """`new`, complete with its defaults, in the next generation where it is news after `old`."""
    meta = new["metadata"]
    if "generation" not in meta or not _is_news(served, old, new):
        return new
    return {**new, "metadata": {**meta, "generation": int(meta["generation"]) + 1}}


def _is_news(served: Served, old: Object, new: Object) -> bool:
    """Whether a change makes a new generation; of deployments, annotations count as well."""
    if _spec_changed(served, old, new):
        return True
    if served.storage != ("apps", "deployments"):
        return False
    return (old["metadata"].get("annotations") or {}) != (new["metadata"].get("annotations") or {})


def _check_version(served: Served, old: Object, new: Object) -> None:
    group, plural = served.group, served.plural
    version = new.get("resourceVersion")
    if not version or version == "0":
        if requires_version_on_update(served):
            cause = Cause(
                field="metadata.resourceVersion",
                reason="FieldValueInvalid",
                message="Invalid value: 0: must be specified for an update",
            )
            raise invalid(group, plural, old["name"], [cause])
    elif not (isinstance(version, str) and version.isdigit()):
        raise unexplained(f'strconv.ParseUint: parsing "{version}": invalid syntax')
    elif version != old["resourceVersion"]:
        raise conflict(group, plural, old["name"])
    uid = new.get("uid")
    if uid and uid != old.get("uid"):
        why = f"Precondition failed: UID in precondition: {uid}, UID in object meta: "
        raise conflict(group, plural, old["name"], f"{storage_error(served, old)}{why}{old['uid']}")


def storage_error(served: Served, meta: Object) -> str:
    steps = ["/registry", served.plural, meta.get("namespace", ""), meta["name"]]
    key = "/".join(step for step in steps if step)  # as if there were an etcd
    return (
        f"StorageError: invalid object, Code: 4, Key: {key}, ResourceVersion: 0, "
        "AdditionalErrorMsg: "
    )


# What the server alone decides; an update leaves it as it was.
_KEPT = (
    "uid",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "generation",
)


def _kept_metadata(old: Object, new: Object) -> Object:
    new.pop("selfLink", None)
    for field in _KEPT:
        if field in old:
            new[field] = old[field]
        else:
            new.pop(field, None)
    new["resourceVersion"] = old["resourceVersion"]
    return new


def _of_part(served: Served, old: Object, new: Object, part: str) -> Object:
    match part:
        case "":
            return _with(new, "status", old) if "status" in served.subresources else new
        case "status":
            return _status_of(served, old, new)
        case "ephemeralcontainers":
            spec = _with(old["spec"], "ephemeralContainers", new.get("spec") or {})
            return {**old, "spec": spec}
        case "resize":
            return {**old, "spec": _resized(old["spec"], new.get("spec") or {})}
        case "approval":
            status = {**(old.get("status") or {})}
            status["conditions"] = (new.get("status") or {}).get("conditions") or []
            return {**old, "status": status}
        case "finalize":
            spec = _with(old.get("spec") or {}, "finalizers", new.get("spec") or {})
            return {**old, "spec": spec, "metadata": new.get("metadata") or {}}
    raise AssertionError(f"no part {part!r} of an object can be written")


def _with(target: Object, field: str, source: Object) -> Object:
    """`target` with `field` as it is in `source`, absent where it is absent there."""
    if field in source:
        return {**target, field: source[field]}
    return {key: value for key, value in target.items() if key != field}


def _status_of(served: Served, old: Object, new: Object) -> Object:
    merged = _with(old, "status", new)
    meta = dict(new.get("metadata") or {})
    kept: tuple[str, ...] = ("ownerReferences", "finalizers")
    if keeps_metadata_in_status(served):
        kept = (*kept, "labels", "annotations")
    for field in kept:
        meta = _with(meta, field, old["metadata"])
    return {**merged, "metadata": meta}


def _resized(old: Object, new: Object) -> Object:
    wanted = {
        each.get("name"): each for each in new.get("containers") or () if isinstance(each, dict)
    }
    containers = [
        _with(_with(each, "resources", wanted[each["name"]]), "resizePolicy", wanted[each["name"]])
        if each["name"] in wanted
        else each
        for each in old.get("containers") or ()
    ]
    return {**old, "containers": containers}


def _spec_changed(served: Served, old: Object, new: Object) -> bool:
    """Whether anything changed that counts as a new generation."""
    left_out = {"metadata", "kind", "apiVersion"}
    if served.custom is None or served.custom.has_status:
        left_out.add("status")
    return any(old.get(key) != new.get(key) for key in {*old, *new} - left_out)


def same_but_bookkeeping(old: Object, new: Object) -> bool:
    """Whether storing `new` over `old` would change nothing a client wrote."""
    if any(old.get(key) != new.get(key) for key in {*old, *new} - {"metadata"}):
        return False
    one, two = old["metadata"], new["metadata"]
    ignored = {"resourceVersion", "managedFields"}
    if any(one.get(key) != two.get(key) for key in {*one, *two} - ignored):
        return False
    return _untimed(one.get("managedFields")) == _untimed(two.get("managedFields"))


def _untimed(entries: Any) -> list[Object]:
    return [{k: v for k, v in each.items() if k != "time"} for each in entries or ()]


def is_finished(obj: Object) -> bool:
    """Whether an object that is being deleted has nothing left that keeps it."""
    meta = obj["metadata"]
    if "deletionTimestamp" not in meta or meta.get("finalizers"):
        return False
    if meta.get("deletionGracePeriodSeconds"):
        return False
    is_namespace = obj.get("kind") == "Namespace" and obj.get("apiVersion") == "v1"
    return not (is_namespace and (obj.get("spec") or {}).get("finalizers"))
