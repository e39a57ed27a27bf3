"""The status of flow schemas: whether their priority level exists.

kube-apiserver itself does this (`presyncFlowSchemaStatus`), not kube-controller-manager.
Guarantees: the condition Dangling follows every change of a schema or of a priority level, and is
written only if it changes.
See also: which schema a request belongs to (`access.flow_control`).
"""

from __future__ import annotations

from typing import Final, final

from kubeloop.kit import Clock

from ..apply.managed import apply
from ..apply.reset_fields import reset_fields
from ..registry import Registry
from ..storage.store import Change, Entry, Object, Storage, Store, timestamp
from ..values.json_values import value_at

__all__ = ["LEVELS", "SCHEMAS", "FlowSchemaController", "dangling_condition"]

_GROUP: Final = "flowcontrol.apiserver.k8s.io"
SCHEMAS: Final[Storage] = (_GROUP, "flowschemas")
LEVELS: Final[Storage] = (_GROUP, "prioritylevelconfigurations")
_MANAGER: Final = "api-priority-and-fairness-config-consumer-v1"
_COMPARED: Final = ("status", "reason", "message")


def dangling_condition(level: str, *, exists: bool, now: str) -> Object:
    """The condition of a flow schema with this priority level."""
    return {
        "type": "Dangling",
        "status": "False" if exists else "True",
        "lastTransitionTime": now,
        "reason": "Found" if exists else "NotFound",
        "message": f'priority level configuration "{level}" '
        + ("exists" if exists else "does not exist"),
    }


@final
class FlowSchemaController:
    """Keeps the condition Dangling of flow schemas."""

    collections = frozenset({SCHEMAS, LEVELS})
    observes_deletions = False

    def __init__(self, store: Store, registry: Registry, *, clock: Clock) -> None:
        self._store = store
        self._registry = registry
        self._clock = clock
        self._is_due = False

    def observe(self, change: Change) -> bool:
        """Queue all schemas, which are few, after a change of one or of a priority level."""
        if change.storage in (SCHEMAS, LEVELS):
            self._is_due = True
        return self._is_due

    @property
    def busy(self) -> bool:
        return self._is_due

    def work(self) -> None:
        """Write the conditions that have changed."""
        self._is_due = False
        levels = {each["metadata"]["name"] for each in self._store.objects(*LEVELS)}
        for entry in list(self._store.collection(SCHEMAS).select("")):
            self._sync(entry, levels)

    def _sync(self, entry: Entry, levels: set[str]) -> None:
        level = value_at(entry.obj, "spec", "priorityLevelConfiguration", "name") or ""
        now = timestamp(self._clock.time())
        condition = dangling_condition(level, exists=level in levels, now=now)
        for before in value_at(entry.obj, "status", "conditions") or ():
            if before["type"] == "Dangling" and all(
                before.get(key) == condition[key] for key in _COMPARED
            ):
                return
        self._write(entry, condition, now)

    def _write(self, entry: Entry, condition: Object, now: str) -> None:
        served = self._registry.find_storage(*SCHEMAS)
        if served is None:
            return  # `--runtime-config` disabled the group
        applied = {
            "kind": served.kind,
            "apiVersion": served.api_version,
            "metadata": {"name": entry.name},
            "status": {"conditions": [condition]},
        }
        obj = apply(
            entry.obj,
            applied,
            manager=_MANAGER,
            force=True,
            api_version=served.api_version,
            subresource="status",
            facts=served.facts,
            now=now,
            resets=reset_fields(served, "status"),
        )
        self._store.write(SCHEMAS, obj)
