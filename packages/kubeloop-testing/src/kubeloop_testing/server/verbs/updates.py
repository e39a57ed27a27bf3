"""The result of an update: what it takes over from the request, and what it keeps.

Guarantees: pure; clients cannot change system metadata (uid, timestamps, generation); the
objects that are passed in are never modified.
See also: what a kind keeps (`kinds`), what a write cannot own (`apply.reset_fields`), the order of
the steps (`writing`).
"""

from __future__ import annotations

from ..kinds.kind import METADATA
from ..registry import ServedResource
from ..request.options import parse_version
from ..statuses import Cause, conflict, invalid, untyped_error
from ..storage.store import Object

__all__ = ["apply_update", "storage_error", "with_generation"]


def apply_update(served: ServedResource, old: Object, new: Object, *, part: str = "") -> Object:
    """`old` after an update with `new`, of the object or of one subresource.

    Raises:
        StatusError: 409 for another version or uid, 422 for a version that is missing.
    """
    _check_version(served, old["metadata"], new.get("metadata") or {})
    obj = _merge_part(served, old, new, part)
    meta = _keep_system_metadata(old["metadata"], dict(obj.get("metadata") or {}))
    return {**obj, "metadata": meta}


# The subresources whose strategies count changes of the spec.
_COUNTED_PARTS = frozenset({"", "ephemeralcontainers", "resize", "scale"})


def with_generation(served: ServedResource, old: Object, new: Object, *, part: str = "") -> Object:
    """`new`, with its defaults, in the next generation if its spec differs from `old`."""
    if part not in _COUNTED_PARTS or not served.strategy.counts_generation:
        return new
    if not _has_new_generation(served, old, new):
        return new
    meta = new["metadata"]
    return {**new, "metadata": {**meta, "generation": int(meta.get("generation") or 0) + 1}}


def _has_new_generation(served: ServedResource, old: Object, new: Object) -> bool:
    if _spec_changed(served, old, new):
        return True
    field = served.strategy.counted_metadata
    if not field:
        return False
    return (old["metadata"].get(field) or {}) != (new["metadata"].get(field) or {})


def _check_version(served: ServedResource, old: Object, new: Object) -> None:
    # Store.Update of the generic registry: without a version an update is unconditional, if the
    # strategy allows that.
    group, plural = served.group, served.plural
    uid = new.get("uid")
    # The uid is a precondition of the write to etcd, which is checked first.
    if uid and uid != old.get("uid"):
        why = f"Precondition failed: UID in precondition: {uid}, UID in object meta: "
        raise conflict(group, plural, old["name"], f"{storage_error(served, old)}{why}{old['uid']}")
    version = new.get("resourceVersion")
    number = parse_version(version or "0")
    if number == 0:
        if served.strategy.requires_version:
            cause = Cause(
                field="metadata.resourceVersion",
                reason="FieldValueInvalid",
                message="Invalid value: 0: must be specified for an update",
            )
            raise invalid(group, plural, old["name"], [cause])
    elif number is None:
        raise untyped_error(f'strconv.ParseUint: parsing "{version}": invalid syntax')
    elif number != parse_version(old["resourceVersion"]):
        raise conflict(group, plural, old["name"])  # OptimisticLockErrorMsg


def storage_error(served: ServedResource, meta: Object) -> str:
    """The beginning of the message of a failed precondition, which quotes the key in etcd."""
    group = served.group if served.custom is not None else ""
    steps = ["/registry", group, served.plural, meta.get("namespace", ""), meta["name"]]
    key = "/".join(step for step in steps if step)
    return (
        f"StorageError: invalid object, Code: 4, Key: {key}, ResourceVersion: 0, "
        "AdditionalErrorMsg: "
    )


def _keep_system_metadata(old: Object, new: Object) -> Object:
    """`new` with what only the server sets, as `BeforeUpdate` of the generic registry."""
    new.pop("selfLink", None)  # no server sets it since Kubernetes 1.20
    for field in ("uid", "creationTimestamp", "generation", "resourceVersion"):
        if field in old:
            new[field] = old[field]
        else:
            new.pop(field, None)
    # A deletion that was not requested with DELETE is rejected by validation.
    if "deletionTimestamp" in old:
        new["deletionTimestamp"] = old["deletionTimestamp"]
    if new.get("deletionGracePeriodSeconds") is None and "deletionGracePeriodSeconds" in old:
        new["deletionGracePeriodSeconds"] = old["deletionGracePeriodSeconds"]
    return new


def _merge_part(served: ServedResource, old: Object, new: Object, part: str) -> Object:
    # Each subresource has its own strategy in kube-apiserver: it takes over its part of the new
    # object and keeps the rest of the old one.
    meta = new.get("metadata") or {}
    match part:
        case "":
            has_status = "status" in served.subresources
            kept = (*served.strategy.kept_by_update, *(("status",) if has_status else ()))
            new = _with_kept(new, old, kept)
            merge = served.strategy.merge_update
            return new if merge is None else merge(new, old)
        case "status":
            meta = _with_kept(meta, old["metadata"], served.strategy.kept_by_status)
            return {**_with_field(old, "status", new), "metadata": meta}
        case "ephemeralcontainers":
            spec = _with_field(old["spec"], "ephemeralContainers", new.get("spec") or {})
            return {**old, "spec": spec, "metadata": _with_kept(meta, old["metadata"], METADATA)}
        case "resize":
            spec = _merge_resources(old["spec"], new.get("spec") or {})
            return {**old, "spec": spec, "metadata": _with_kept(meta, old["metadata"], METADATA)}
        case "approval":
            status = {**(old.get("status") or {})}
            status["conditions"] = (new.get("status") or {}).get("conditions") or []
            return {**old, "status": status, "metadata": meta}
        case "finalize":
            spec = _with_field(old.get("spec") or {}, "finalizers", new.get("spec") or {})
            return {**old, "spec": spec, "metadata": meta}
    raise AssertionError(f"the subresource {part!r} is not a part of its object")


def _with_kept(new: Object, old: Object, kept: tuple[str, ...]) -> Object:
    """`new` with the values that the fields `kept` have in `old`."""
    for field in kept:
        new = _with_field(new, field, old)
    return new


def _with_field(target: Object, field: str, source: Object) -> Object:
    """`target` with the value that `field` has in `source`, or without it."""
    if field in source:
        return {**target, field: source[field]}
    return {key: value for key, value in target.items() if key != field}


def _merge_resources(old: Object, new: Object) -> Object:
    """The spec of a pod with the resources of `new`, as `dropNonResizeUpdates`.

    Containers that were added, removed or renamed are kept, and rejected by validation.
    """
    lists = [(name, old.get(name) or [], new.get(name) or []) for name in _CONTAINERS]
    if any(len(before) != len(after) for _, before, after in lists):
        return new
    merged = _with_field(old, "resources", new) if new.get("resources") else old
    for name, before, after in lists:
        if [each.get("name") for each in before] != [each.get("name") for each in after]:
            merged = {**merged, name: after}
        elif before:
            pairs = zip(before, after, strict=True)
            merged = {**merged, name: [_with_kept(*pair, _RESIZED) for pair in pairs]}
    return merged


_CONTAINERS = ("containers", "initContainers")
_RESIZED = ("resources", "resizePolicy")


def _spec_changed(served: ServedResource, old: Object, new: Object) -> bool:
    """Whether any field but metadata and status changed."""
    # A CRD without the status subresource counts changes of status, too.
    left_out = {"metadata", "kind", "apiVersion"}
    if served.custom is None or served.custom.has_status:
        left_out.add("status")
    return any(old.get(key) != new.get(key) for key in {*old, *new} - left_out)
