"""The scale subresource: how many replicas are wanted, there, and selected.

Promises: a write to a scale changes the replicas of its object and nothing else.
Elsewhere: reading and writing the object itself (`verbs`).
"""

from __future__ import annotations

from typing import Any, final

from kubeloop.machinery import selector_from_wire
from kubeloop.wire import InvalidValue

from ..registry import Served
from ..statuses import Cause, bad_request, conflict, invalid
from ..storage.store import Object, encoded
from .objects import typed
from .patching import APPLY, MERGE, STRATEGIC, patched, read_applied
from .writing import Call, Verbs

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
        _check(call, scale)
        obj = self._verbs.get(call).obj
        meta = scale.get("metadata") or {}
        version, uid = meta.get("resourceVersion"), meta.get("uid")
        if version and version != obj["metadata"]["resourceVersion"]:
            raise conflict(call.served.group, call.served.plural, call.name)
        if uid and uid != obj["metadata"]["uid"]:
            raise conflict(call.served.group, call.served.plural, call.name)
        changed = _put(obj, _path(call.served), (scale.get("spec") or {}).get("replicas") or 0)
        # The write is one of the whole object; who owns the replicas is who scales.
        changed = self._verbs.tracked(call, obj, changed)
        entry = self._verbs.get(call)
        written = await self._verbs.replace(_whole(call), entry, changed, [], applied=True)
        return _scale_of(call.served, written.entry.obj)

    async def patch(self, call: Call, raw: bytes, sort: str) -> Object:
        """Patch the scale. Raises `Refusal`."""
        scale = self.get(call)
        if sort == APPLY:
            sort, raw = MERGE, encoded({"spec": read_applied(call.served, raw).get("spec")})
        if sort == STRATEGIC:
            sort = MERGE  # a scale has no lists: the two sorts mean the same
        part = call.served.part("scale")
        assert part is not None  # the path was found
        return await self.update(call, typed(part, patched(call.served, scale, raw, sort)))


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
    except InvalidValue:
        return ""
