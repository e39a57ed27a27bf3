"""The scale subresource: how many replicas are wanted, there, and selected.

Promises: a write to a scale changes the replicas of its object and nothing else.
Elsewhere: reading and writing the object itself (`verbs`).
"""

from __future__ import annotations

from typing import Any, final

from kubeloop.selectors import selector_from_wire
from kubeloop.wire import InvalidArgument, Subresource, class_for

from ..apply.managed import applied_name
from ..registry import Served
from ..representations.representation import to_served_version
from ..request.calls import Call
from ..statuses import Cause, bad_request, conflict, invalid, unexplained
from ..storage.store import Entry, Object
from ..values.unknown_fields import check_types
from . import rules
from .objects import typed
from .patching import APPLY, MERGE, STRATEGIC, patched, read_applied
from .writing import Verbs

__all__ = ["Scales"]

_KIND, _API = "Scale", "autoscaling/v1"


@final
class Scales:
    """Reads and writes scales of the objects that `verbs` writes."""

    def __init__(self, verbs: Verbs) -> None:
        self._verbs = verbs

    def get(self, call: Call) -> Object:
        """The scale of an object. Raises `Refusal`."""
        return _scale_of(call.served, self._verbs.get(call).obj)

    async def update(self, call: Call, scale: Object) -> Object:
        """Set the replicas that `scale` says. Raises `Refusal`."""
        entry = self._meant(call, scale)
        replicas = (scale.get("spec") or {}).get("replicas") or 0
        changed = _put(entry.obj, _path(call.served), replicas)
        # The write is one of the whole object; who owns the replicas is who scales.
        return await self._write(call, entry, self._verbs.tracked(call, entry.obj, changed))

    async def patch(self, call: Call, raw: bytes, sort: str) -> Object:
        """Patch the scale, or apply one. Raises `Refusal`."""
        if sort == APPLY:
            return await self._apply(call, raw)
        if sort == STRATEGIC:
            sort = MERGE  # a scale has no lists: the two sorts mean the same
        scale = patched(call.served, self.get(call), raw, sort)
        return await self.update(call, typed(_part(call), scale))

    async def _apply(self, call: Call, raw: bytes) -> Object:
        """What is applied to a scale is applied to its object: the replicas alone."""
        served = call.served
        scale = _read_applied(raw)
        entry = self._meant(call, scale)
        applied: Object = {
            "kind": served.kind,
            "apiVersion": served.api_version,
            "metadata": {"name": call.name},
        }
        replicas = (scale.get("spec") or {}).get("replicas")
        if replicas is not None:
            applied = _put(applied, _path(served), replicas)
        merged = self._verbs.merged(call, to_served_version(served, entry.obj), applied)
        if _at(merged, _path(served)) is None:
            merged = _put(merged, _path(served), 0)  # given up, and nobody else's
        return await self._write(call, entry, rules.stored(served, merged))

    def _meant(self, call: Call, scale: Object) -> Entry:
        """The object whose scale was sent. Raises `Refusal` when it is another by now."""
        _check(call, scale)
        entry, meta = self._verbs.get(call), scale.get("metadata") or {}
        for field in ("resourceVersion", "uid"):
            if meta.get(field) and meta[field] != entry.metadata[field]:
                raise conflict(call.served.group, call.served.plural, call.name)
        return entry

    async def _write(self, call: Call, entry: Entry, changed: Object) -> Object:
        written = await self._verbs.replace(_whole(call), entry, changed, [], applied=True)
        return _scale_of(call.served, written.entry.obj)


def _read_applied(raw: bytes) -> Object:
    """The scale in the body of an apply, which may hold only what scales have."""
    scale = read_applied(raw, _KIND, _API)
    cls = class_for("autoscaling", "v1", _KIND)
    assert cls is not None  # it is built in
    found = check_types(cls, scale)
    wrong = [*found.problems, *(f".{each}: field not declared in schema" for each in found.unknown)]
    if wrong:
        what = applied_name(scale)
        raise unexplained(f"failed to create typed patch object ({what}): {wrong[0]}")
    return scale


def _part(call: Call) -> Subresource:
    part = call.served.part("scale")
    assert part is not None  # the path was found
    return part


def _whole(call: Call) -> Call:
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
    if replicas < 0:
        message = f"Invalid value: {replicas}: must be greater than or equal to 0"
        cause = Cause(field="spec.replicas", reason="FieldValueInvalid", message=message)
        raise invalid("autoscaling", _KIND, call.name, [cause])


def _path(served: Served) -> list[str]:
    custom = served.custom
    if custom is not None and custom.scale is not None:
        return _steps(custom.scale.spec_replicas_path)
    return ["spec", "replicas"]


def _steps(path: str) -> list[str]:
    return path.strip(".").split(".")


def _at(obj: Any, steps: list[str]) -> Any:
    for step in steps:
        obj = obj.get(step) if isinstance(obj, dict) else None
    return obj


def _put(obj: Object, steps: list[str], value: Any) -> Object:
    first, *rest = steps
    return {**obj, first: _put(obj.get(first) or {}, rest, value) if rest else value}


def _scale_of(served: Served, obj: Object) -> Object:
    meta = obj["metadata"]
    status_path, selector = ["status", "replicas"], _selector(obj)
    if served.custom is not None and served.custom.scale is not None:
        scale = served.custom.scale
        status_path = _steps(scale.status_replicas_path)
        path = scale.label_selector_path
        selector = str(_at(obj, _steps(path)) or "") if path else ""
    status: Object = {"replicas": _at(obj, status_path) or 0}
    if selector:
        status["selector"] = selector
    kept = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")
    return {
        "kind": _KIND,
        "apiVersion": _API,
        "metadata": {key: meta[key] for key in kept if key in meta},
        "spec": {"replicas": _at(obj, _path(served)) or 0},
        "status": status,
    }


def _selector(obj: Object) -> str:
    said = (obj.get("spec") or {}).get("selector")
    if not said:
        return ""
    # A replication controller selects by a plain map.
    wire = said if {"matchLabels", "matchExpressions"} & said.keys() else {"matchLabels": said}
    try:
        return str(selector_from_wire(wire))
    except InvalidArgument:
        return ""
