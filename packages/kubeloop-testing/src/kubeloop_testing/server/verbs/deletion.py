"""Deletion: remove an object now, or mark it and remove it later.

Guarantees: the decision is pure; preconditions are checked first; an object with finalizers
or a grace period is only marked; a shorter grace period brings a deletion forward, a longer
one never delays it (`rest.BeforeDelete`).
See also: `controllers.gc` (dependents), `controllers.namespaces` (content of a namespace).
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import TypeAlias, final

import msgspec

from ..registry import ServedResource
from ..request.calls import Call
from ..request.options import DeleteOptions
from ..schema.crd_status import mark_deleted
from ..statuses import StatusError, conflict, success
from ..storage.store import Entry, Object, timestamp
from .objects import is_removable
from .steps import dry_run_entry
from .writing import Verbs

__all__ = ["CLEANUP", "DEFINITIONS", "DeleteResult", "Deleter", "decide"]

DEFINITIONS = ("apiextensions.k8s.io", "customresourcedefinitions")
CLEANUP = "customresourcecleanup.apiextensions.k8s.io"
FOREGROUND = "foregroundDeletion"
ORPHAN = "orphan"
_PODS = ("", "pods")
_NAMESPACES = ("", "namespaces")
_OWN_DELETION = frozenset({DEFINITIONS, _NAMESPACES})


@final
class Remove(msgspec.Struct, frozen=True):
    """Remove the object; if there is a `last` state, watches get that first."""

    last: Object | None = None


@final
class Mark(msgspec.Struct, frozen=True):
    """Store `obj`, which has a deletion timestamp, until its finalizers and grace period end."""

    obj: Object


@final
class Pending(msgspec.Struct, frozen=True):
    """The object is being deleted already, and nothing changes."""


Decision: TypeAlias = Remove | Mark | Pending


def decide(
    served: ServedResource, obj: Object, options: DeleteOptions, *, now: datetime
) -> Decision:
    """How to delete `obj`.

    Raises:
        StatusError: 409 when a precondition fails.
    """
    _check_preconditions(served, obj["metadata"], options)
    if served.storage == DEFINITIONS and "deletionTimestamp" not in obj["metadata"]:
        return Mark(mark_deleted(obj, CLEANUP, now=timestamp(now)))
    marked = _with_deletion(served, obj, options, now)
    # The first deletion of a namespace only marks it, even if it has no finalizers.
    if is_removable(marked) and not (served.storage == _NAMESPACES and _is_new(obj)):
        # Pods are deleted gracefully even with 0 seconds: a watch sees the mark first.
        return Remove(marked if served.storage == _PODS and marked != obj else None)
    return Pending() if marked == obj else Mark(marked)


def _is_new(obj: Object) -> bool:
    """Whether its deletion was not requested yet."""
    return "deletionTimestamp" not in obj["metadata"]


def _check_preconditions(served: ServedResource, meta: Object, options: DeleteOptions) -> None:
    preconditions = {
        "UID": (options.uid, "uid", "deleted and then recreated"),
        "ResourceVersion": (options.version, "resourceVersion", "modified"),
    }
    for name, (value, field, guess) in preconditions.items():
        found = meta.get(field, "")
        if value and value != found:
            why = (
                f"the {name} in the precondition ({value}) does not match the {name} in record "
                f"({found}). The object might have been {guess}"
            )
            raise conflict(served.group, served.kind, meta["name"], why)


def _with_deletion(
    served: ServedResource, obj: Object, options: DeleteOptions, now: datetime
) -> Object:
    meta = dict(obj["metadata"])
    _set_finalizers(served, meta, options)
    grace = _grace(served, obj, options)
    if "deletionTimestamp" not in meta:
        meta["deletionTimestamp"] = timestamp(now + timedelta(seconds=grace))
        # Definitions and namespaces have a deletion of their own, which sets only the time.
        if served.storage not in _OWN_DELETION:
            meta["deletionGracePeriodSeconds"] = grace
            # A deletion is a change of the desired state: the generation grows.
            if meta.get("generation"):
                meta["generation"] += 1
    elif served.storage == DEFINITIONS and "deletionGracePeriodSeconds" not in meta:
        meta["deletionGracePeriodSeconds"] = grace  # a CRD gets none with its first deletion
    elif grace < int(meta.get("deletionGracePeriodSeconds") or 0):
        meta["deletionTimestamp"] = timestamp(_deletion_start(meta) + timedelta(seconds=grace))
        meta["deletionGracePeriodSeconds"] = grace
    obj = {**obj, "metadata": meta}
    if served.storage == _NAMESPACES:
        obj["status"] = {**(obj.get("status") or {}), "phase": "Terminating"}
    if served.storage == DEFINITIONS:
        obj["status"] = _with_terminating(obj.get("status") or {}, timestamp(now))
    return obj


def _with_terminating(status: Object, now: str) -> Object:
    """The status of a definition that is being deleted."""
    conditions = status.get("conditions") or []
    if any(each.get("type") == "Terminating" for each in conditions):
        return status
    condition = {
        "type": "Terminating",
        "status": "True",
        "lastTransitionTime": now,
        "reason": "InstanceDeletionPending",
        "message": "the definition is being deleted; its objects are deleted first",
    }
    return {**status, "conditions": [*conditions, condition]}


def _deletion_start(meta: Object) -> datetime:
    ends = datetime.strptime(meta["deletionTimestamp"], "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
    return ends - timedelta(seconds=int(meta.get("deletionGracePeriodSeconds") or 0))


def _grace(served: ServedResource, obj: Object, options: DeleteOptions) -> int:
    # podStrategy.CheckGracefulDelete: only a running pod on a node has a grace period.
    if served.storage != _PODS:
        return 0
    spec, status = obj.get("spec") or {}, obj.get("status") or {}
    if not spec.get("nodeName") or status.get("phase") in {"Succeeded", "Failed"}:
        return 0
    grace = options.grace
    if grace is None:
        grace = int(spec.get("terminationGracePeriodSeconds") or 0)
    return 1 if grace < 0 else grace  # as kube-apiserver reads negative values


def _set_finalizers(served: ServedResource, meta: Object, options: DeleteOptions) -> None:
    # deletionFinalizersForGarbageCollection: the policy becomes a finalizer, on which the
    # garbage collector acts.
    policy = _policy(served, meta, options)
    kept = [each for each in meta.get("finalizers") or () if each not in {FOREGROUND, ORPHAN}]
    if policy == "Orphan":
        kept.append(ORPHAN)
    elif policy == "Foreground":
        kept.append(FOREGROUND)
    if kept:
        meta["finalizers"] = kept
    else:
        meta.pop("finalizers", None)


def _policy(served: ServedResource, meta: Object, options: DeleteOptions) -> str:
    # The options win over finalizers that are set already, and these over the strategy.
    if options.orphan is not None:
        return "Orphan" if options.orphan else "Background"
    if options.propagation:
        return options.propagation
    finalizers = meta.get("finalizers") or ()
    if ORPHAN in finalizers:
        return "Orphan"
    if FOREGROUND in finalizers:
        return "Foreground"
    return "Orphan" if served.strategy.orphans_by_default else "Background"


@final
class DeleteResult(msgspec.Struct, frozen=True):
    """The response to a deletion: the object, or a Status if it is removed."""

    code: int
    entry: Entry | None
    status: Object | None = None
    warnings: tuple[str, ...] = ()


@final
class Deleter:
    """Deletes objects of the store of `verbs`."""

    def __init__(self, verbs: Verbs) -> None:
        self._verbs = verbs

    async def delete(self, call: Call, options: DeleteOptions) -> DeleteResult:
        """Delete one object. Cancelled while webhooks run, it deletes nothing."""
        entry = self._verbs.get(call)
        admission = self._verbs.admission
        admission.check_delete(call)
        warnings: list[str] = []
        if admission.has_webhooks():
            _, warnings = await admission.mutate(call, "DELETE", None, entry.obj)
            warnings += await admission.validate(call, "DELETE", None, entry.obj)
        orphaning = call.served.strategy.orphan_warning
        if orphaning and _has_no_policy(options):
            warnings.append(orphaning)
        result = self.delete_nowait(call, options)
        return msgspec.structs.replace(result, warnings=tuple(warnings))

    def delete_nowait(self, call: Call, options: DeleteOptions) -> DeleteResult:
        """Delete one object without admission, for controllers. Raises `StatusError`."""
        served, store = call.served, self._verbs.store
        entry = self._verbs.get(call)
        match decide(served, entry.obj, options, now=self._verbs.clock.time()):
            case Pending():
                return DeleteResult(_accepted_code(options), entry)
            case Mark(obj):
                marked = self._write(entry, obj, call, options)
                return DeleteResult(_accepted_code(options), marked)
            case Remove(last):
                if last is not None:
                    entry = self._write(entry, last, call, options)
                if not options.dry_run:
                    entry = store.remove(served.storage, entry.key)
        if served.strategy.returns_deleted:
            return DeleteResult(200, entry)
        gone = success(group=served.group, plural=served.plural, name=entry.name, uid=entry.uid)
        return DeleteResult(200, None, gone)

    def _write(self, entry: Entry, obj: Object, call: Call, options: DeleteOptions) -> Entry:
        if options.dry_run:
            return dry_run_entry(obj, entry)
        return self._verbs.store.write(call.served.storage, obj)

    async def delete_all(
        self, call: Call, entries: Iterable[Entry], options: DeleteOptions
    ) -> None:
        """Delete these objects of one kind. Cancelled, it leaves the rest."""
        for entry in entries:
            one = msgspec.structs.replace(call, namespace=entry.namespace, name=entry.name)
            try:
                await self.delete(one, options)
            except StatusError as error:
                # Another request may have deleted it while a webhook ran.
                if error.code != 404:
                    raise


def _has_no_policy(options: DeleteOptions) -> bool:
    return not options.propagation and options.orphan is None


def _accepted_code(options: DeleteOptions) -> int:
    # kube-apiserver responds 202 only where the deprecated orphanDependents=false was sent.
    return 202 if options.orphan is False else 200
