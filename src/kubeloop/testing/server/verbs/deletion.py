"""What a deletion brings about: gone now, gone later, or waiting for others.

Promises: the decision is pure; preconditions are checked before anything happens; an
object with finalizers or a grace period is only marked; a shorter grace period hastens a
deletion, a longer one never delays it.
Elsewhere: what becomes of dependents (`gc`) and of a namespace's content (`namespaces`).
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TypeAlias, final

import msgspec

from ..registry import Served
from ..request.calls import Call
from ..request.options import DeleteOptions
from ..statuses import Refusal, conflict, not_found, success
from ..storage.selection import Selection
from ..storage.store import Entry, Object, timestamp
from .kinds import orphans_by_default, returns_deleted
from .objects import is_finished
from .writing import Verbs, unsaved

__all__ = ["CLEANUP", "DEFINITIONS", "Deleted", "Deleter", "decide"]

DEFINITIONS = ("apiextensions.k8s.io", "customresourcedefinitions")
CLEANUP = "customresourcecleanup.apiextensions.k8s.io"
FOREGROUND = "foregroundDeletion"
ORPHAN = "orphan"
_PODS = ("", "pods")
_JOBS = (
    "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background "
    "to remove them or set propagationPolicy=Orphan to suppress this warning"
)


@final
class Remove(msgspec.Struct, frozen=True):
    """Nothing keeps the object; where there is a `last` state, it is seen in that first."""

    last: Object | None = None


@final
class Mark(msgspec.Struct, frozen=True):
    """The object stays, as `obj`, until whatever keeps it lets go."""

    obj: Object


@final
class Pending(msgspec.Struct, frozen=True):
    """It is being deleted already, and this changes nothing."""


Decision: TypeAlias = Remove | Mark | Pending


def decide(served: Served, obj: Object, options: DeleteOptions, *, now: datetime) -> Decision:
    """What deleting `obj` means.

    Raises:
        Refusal: 409 when it is not the object that was meant.
    """
    _check_preconditions(served, obj["metadata"], options)
    marked = _marked(served, obj, options, now)
    if is_finished(marked):
        # Pods have a grace period, and be it of no seconds: they are marked before they go.
        return Remove(marked if served.storage == _PODS and marked != obj else None)
    return Pending() if marked == obj else Mark(marked)


def _check_preconditions(served: Served, meta: Object, options: DeleteOptions) -> None:
    wanted = {
        "UID": (options.uid, "uid", "deleted and then recreated"),
        "ResourceVersion": (options.version, "resourceVersion", "modified"),
    }
    for name, (value, field, guess) in wanted.items():
        found = meta.get(field, "")
        if value and value != found:
            why = (
                f"the {name} in the precondition ({value}) does not match the {name} in record "
                f"({found}). The object might have been {guess}"
            )
            raise conflict(served.group, served.kind, meta["name"], why)


def _marked(served: Served, obj: Object, options: DeleteOptions, now: datetime) -> Object:
    meta = dict(obj["metadata"])
    _set_finalizers(served, meta, options)
    grace = _grace(served, obj, options)
    if "deletionTimestamp" not in meta:
        meta["deletionTimestamp"] = timestamp(now + timedelta(seconds=grace))
        meta["deletionGracePeriodSeconds"] = grace
        if meta.get("generation"):
            meta["generation"] += 1
    elif grace < int(meta.get("deletionGracePeriodSeconds") or 0):
        meta["deletionTimestamp"] = timestamp(_began(meta) + timedelta(seconds=grace))
        meta["deletionGracePeriodSeconds"] = grace
    obj = {**obj, "metadata": meta}
    if served.storage == ("", "namespaces"):
        obj["status"] = {**(obj.get("status") or {}), "phase": "Terminating"}
    return obj


def _began(meta: Object) -> datetime:
    ends = datetime.strptime(meta["deletionTimestamp"], "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
    return ends - timedelta(seconds=int(meta.get("deletionGracePeriodSeconds") or 0))


def _grace(served: Served, obj: Object, options: DeleteOptions) -> int:
    """Seconds that the object keeps; only pods on a node have any."""
    if served.storage != _PODS:
        return 0
    spec, status = obj.get("spec") or {}, obj.get("status") or {}
    if not spec.get("nodeName") or status.get("phase") in {"Succeeded", "Failed"}:
        return 0
    grace = options.grace
    if grace is None:
        grace = int(spec.get("terminationGracePeriodSeconds") or 0)
    return 1 if grace < 0 else grace


def _set_finalizers(served: Served, meta: Object, options: DeleteOptions) -> None:
    policy = _policy(served, meta, options)
    kept = [each for each in meta.get("finalizers") or () if each not in {FOREGROUND, ORPHAN}]
    if policy == "Orphan":
        kept.append(ORPHAN)
    elif policy == "Foreground":
        kept.append(FOREGROUND)
    if served.storage == DEFINITIONS and "deletionTimestamp" not in meta and CLEANUP not in kept:
        kept.append(CLEANUP)  # until the objects of the kind are gone
    if kept:
        meta["finalizers"] = kept
    else:
        meta.pop("finalizers", None)


def _policy(served: Served, meta: Object, options: DeleteOptions) -> str:
    if options.orphan is not None:
        return "Orphan" if options.orphan else "Background"
    if options.propagation:
        return options.propagation
    finalizers = meta.get("finalizers") or ()
    if ORPHAN in finalizers:
        return "Orphan"
    if FOREGROUND in finalizers:
        return "Foreground"
    return "Orphan" if orphans_by_default(served) else "Background"


@final
class Deleted(msgspec.Struct, frozen=True):
    """The answer to a deletion: the object, or the Status that it is gone."""

    code: int
    entry: Entry | None
    status: Object | None = None
    warnings: tuple[str, ...] = ()


@final
class Deleter:
    """Deletes from the store that `verbs` writes to."""

    def __init__(self, verbs: Verbs) -> None:
        self._verbs = verbs

    async def delete(self, call: Call, options: DeleteOptions) -> Deleted:
        """Delete one object. Safe to cancel: it happens at once or not at all."""
        entry = self._verbs.get(call)
        admission = self._verbs.admission
        admission.check(call, "DELETE")
        warnings: list[str] = []
        if admission.applies(call, "DELETE"):
            _, warnings = await admission.mutate(call, "DELETE", None, entry.obj)
            warnings += await admission.validate(call, "DELETE", None, entry.obj)
        if call.served.storage == ("batch", "jobs") and _is_silent(options):
            warnings.append(_JOBS)
        done = self.delete_nowait(call, options)
        return msgspec.structs.replace(done, warnings=tuple(warnings))

    def delete_nowait(self, call: Call, options: DeleteOptions) -> Deleted:
        """Delete one object without asking any webhook. Raises `Refusal`."""
        served, store = call.served, self._verbs.store
        entry = self._verbs.get(call)
        match decide(served, entry.obj, options, now=self._verbs.clock.time()):
            case Pending():
                return Deleted(_accepted(options), entry)
            case Mark(obj):
                return Deleted(_accepted(options), self._turned(entry, obj, call, options))
            case Remove(last):
                if last is not None:
                    entry = self._turned(entry, last, call, options)
                if not options.dry_run:
                    entry = store.remove(served.storage, entry.key)
        if returns_deleted(served):
            return Deleted(200, entry)
        gone = success(group=served.group, plural=served.plural, name=entry.name, uid=entry.uid)
        return Deleted(200, None, gone)

    def _turned(self, entry: Entry, obj: Object, call: Call, options: DeleteOptions) -> Entry:
        """`entry` in the state `obj`, which is stored unless this is a dry run."""
        if options.dry_run:
            return unsaved(obj, entry)
        return self._verbs.store.write(call.served.storage, obj)

    async def delete_all(
        self, call: Call, select: Selection, options: DeleteOptions
    ) -> list[Entry]:
        """Delete what is selected; returns what was there.

        Cancelled, it leaves the rest.
        """
        collection = self._verbs.store.collection(call.served.storage)
        found = [e for e in collection.select(select.namespace) if select.wants(e)]
        for entry in found:
            one = msgspec.structs.replace(call, namespace=entry.namespace, name=entry.name)
            try:
                await self.delete(one, options)
            except Refusal as refusal:
                if refusal.code != not_found("", "", "").code:
                    raise
        return found


def _is_silent(options: DeleteOptions) -> bool:
    return not options.propagation and options.orphan is None


def _accepted(options: DeleteOptions) -> int:
    return 202 if options.orphan is False else 200
