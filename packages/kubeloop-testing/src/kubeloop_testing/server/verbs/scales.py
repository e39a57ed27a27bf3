"""The scale subresource: desired and current replicas, and their selector.

Guarantees: a write to a scale changes only the replicas of its object.
See also: `writing` (the write of the object).
"""

from __future__ import annotations

from typing import final

from kubeloop.selectors import selector_from_wire
from kubeloop.wire import InvalidArgument, Json, Subresource

from ..apply.managed import applied_name
from ..registry import ServedResource
from ..representations.representation import served_object
from ..request.calls import Call
from ..statuses import (
    Cause,
    StatusError,
    bad_request,
    conflict,
    internal_error,
    invalid,
    untyped_error,
)
from ..storage.store import Entry, Object
from ..values.go_types import go_type_of
from ..values.json_values import whole_numbers
from ..values.unknown_fields import check_types
from ..values.zero_values import complete
from .objects import decode_subresource, to_storage_version
from .patching import (
    APPLY,
    MERGE,
    STRATEGIC,
    apply_patch,
    decode_apply_body,
    merge_applied,
    unreadable_result,
)
from .updates import storage_error
from .writing import Verbs

__all__ = ["Scales"]

_KIND, _API = "Scale", "autoscaling/v1"
_UNSET = -(2**31)  # the replicas of a custom object that has none, until a patch sets them


@final
class Scales:
    """Reads and writes scales of the objects that `verbs` writes."""

    def __init__(self, verbs: Verbs) -> None:
        self._verbs = verbs

    def get(self, call: Call) -> Object:
        """The scale of an object. Raises `StatusError`."""
        obj = served_object(call.served, self._verbs.get(call))
        if call.served.custom is not None and _at(obj, _path(call.served)) is None:
            where = ".".join(["", *_path(call.served)])
            raise internal_error(f'the spec replicas field "{where}" does not exist')
        return _scale_of(call.served, obj)

    async def update(self, call: Call, scale: Object) -> Object:
        """Set the replicas of `scale`. Raises `StatusError`."""
        entry = self._entry_of(call, scale)
        replicas = (scale.get("spec") or {}).get("replicas") or 0
        if replicas == _UNSET:
            where = ".".join(["", *_path(call.served)])
            raise bad_request(f'the spec replicas field "{where}" cannot be empty')
        obj = served_object(call.served, entry) if call.served.custom is not None else entry.obj
        changed = _put(obj, _path(call.served), replicas)
        # The whole object is written; the manager of the scale request owns spec.replicas
        # (managedfields.ScaleHandler).
        tracked = _without_time(self._verbs.track_managers(call, obj, changed))
        return await self._write(call, entry, tracked)

    async def patch(self, call: Call, raw: bytes, patch_type: str) -> Object:
        """Patch the scale, or apply one. Raises `StatusError`."""
        if patch_type == APPLY:
            return await self._apply(call, raw)
        # A Scale has no lists: a strategic merge patch does the same as a merge patch.
        same = MERGE if patch_type == STRATEGIC else patch_type
        obj = served_object(call.served, self._verbs.get(call))
        current = _scale_of(call.served, obj)
        if call.served.custom is not None and _at(obj, _path(call.served)) is None:
            current["spec"] = {"replicas": _UNSET}
        scale = apply_patch(call.served, current, raw, same)
        if patch_type == STRATEGIC:
            scale = whole_numbers(scale)
        try:
            decoded = decode_subresource(_part(call), scale)
        except StatusError as error:
            raise unreadable_result(call.served, error, scale, raw, same) from error
        return await self.update(call, decoded)

    async def _apply(self, call: Call, raw: bytes) -> Object:
        """Apply the replicas of a scale to its object."""
        served = call.served
        scale = _decode_applied(raw)
        entry = self._entry_of(call, scale)
        applied: Object = {
            "kind": served.kind,
            "apiVersion": served.api_version,
            "metadata": {"name": call.name},
        }
        replicas = (scale.get("spec") or {}).get("replicas")
        if replicas is not None:
            applied = _put(applied, _path(served), replicas)
        live, now = served_object(served, entry), self._verbs.now()
        merged = merge_applied(call, live, applied, now=now)
        if _at(merged, _path(served)) is None:
            merged = _put(merged, _path(served), 0)  # no manager owns it any more
        merged = _without_time(merged)
        return await self._write(call, entry, to_storage_version(served, merged))

    def _entry_of(self, call: Call, scale: Object) -> Entry:
        """The object of a scale. Raises `StatusError` when its version or uid has changed."""
        _check(call, scale)
        entry, meta = self._verbs.get(call), scale.get("metadata") or {}
        served, uid = call.served, meta.get("uid")
        if meta.get("resourceVersion") not in (None, "", entry.metadata["resourceVersion"]):
            raise conflict(served.group, served.plural, call.name)
        if uid and uid != entry.uid:
            why = f"Precondition failed: UID in precondition: {uid}, UID in object meta: "
            why = f"{storage_error(served, entry.metadata)}{why}{entry.uid}"
            raise conflict(served.group, served.plural, call.name, why)
        return entry

    async def _write(self, call: Call, entry: Entry, changed: Object) -> Object:
        result = await self._verbs.replace_scaled(_object_call(call), entry, changed)
        return _scale_of(call.served, result.entry.obj)


def _without_time(obj: Object) -> Object:
    """`obj` without the times of the writes of its scale, which managedfields.ScaleHandler loses.

    Its managers so come before all others of their operation.
    """
    owners = obj["metadata"].get("managedFields")
    if not owners:
        return obj
    fields = [
        {k: v for k, v in each.items() if k != "time" or each.get("subresource") != "scale"}
        for each in owners
    ]
    fields.sort(key=lambda each: (each["operation"], each.get("time", "")))
    return {**obj, "metadata": {**obj["metadata"], "managedFields": fields}}


def _decode_applied(raw: bytes) -> Object:
    """The scale in the body of an apply; unknown fields are rejected."""
    scale = decode_apply_body(raw, _KIND, _API)
    found = check_types(go_type_of(_API, _KIND), scale)
    wrong = [*found.problems, *(f".{each}: field not declared in schema" for each in found.unknown)]
    if wrong:
        what = applied_name(scale)
        raise untyped_error(f"failed to create typed patch object ({what}): {wrong[0]}")
    return scale


def _part(call: Call) -> Subresource:
    part = call.served.part("scale")
    assert part is not None  # otherwise the request was a 404
    return part


def _object_call(call: Call) -> Call:
    """The same call for the object itself."""
    return Call(
        call.served,
        namespace=call.namespace,
        name=call.name,
        options=call.options,
        agent=call.agent,
        user=call.user,
    )


def _check(call: Call, scale: Object) -> None:
    name = (scale.get("metadata") or {}).get("name")
    if name and name != call.name:
        raise bad_request(
            f"the name of the object ({name}) does not match the name on the URL ({call.name})"
        )
    replicas = (scale.get("spec") or {}).get("replicas", 0)
    # A custom object is validated itself.
    if replicas < 0 and call.served.custom is None:
        message = f"Invalid value: {replicas}: must be greater than or equal to 0"
        cause = Cause(field="spec.replicas", reason="FieldValueInvalid", message=message)
        raise invalid("autoscaling", _KIND, call.name, [cause])


def _path(served: ServedResource) -> list[str]:
    # A CRD names its paths in `subresources.scale`; built-in kinds all use spec.replicas.
    custom = served.custom
    if custom is not None and custom.scale is not None:
        return _steps(custom.scale.spec_replicas_path)
    return ["spec", "replicas"]


def _steps(path: str) -> list[str]:
    return path.strip(".").split(".")


def _at(obj: Json, steps: list[str]) -> Json:
    for step in steps:
        obj = obj.get(step) if isinstance(obj, dict) else None
    return obj


def _put(obj: Object, steps: list[str], value: Json) -> Object:
    first, *rest = steps
    return {**obj, first: _put(obj.get(first) or {}, rest, value) if rest else value}


def _scale_of(served: ServedResource, obj: Object) -> Object:
    meta = obj["metadata"]
    status_path, selector = ["status", "replicas"], _selector(obj)
    if served.custom is not None and served.custom.scale is not None:
        custom = served.custom.scale
        status_path = _steps(custom.status_replicas_path)
        path = custom.label_selector_path
        selector = str(_at(obj, _steps(path)) or "") if path else ""
    status: Object = {"replicas": _at(obj, status_path) or 0}
    if selector:
        status["selector"] = selector
    replicas = _at(obj, _path(served))
    # A Scale has the identity of its object, so that its version works as a precondition.
    kept = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")
    scale = {
        "kind": _KIND,
        "apiVersion": _API,
        "metadata": {key: meta[key] for key in kept if key in meta},
        # Go leaves out 0 here, and not in the status.
        "spec": {"replicas": replicas} if replicas else {},
        "status": status,
    }
    return complete(scale)


def _selector(obj: Object) -> str:
    found = (obj.get("spec") or {}).get("selector")
    if not found:
        return ""
    # The selector of a ReplicationController is a plain map.
    wire = found if {"matchLabels", "matchExpressions"} & found.keys() else {"matchLabels": found}
    try:
        return str(selector_from_wire(wire))
    except InvalidArgument:
        return ""
