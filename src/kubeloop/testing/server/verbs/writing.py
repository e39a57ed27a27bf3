"""Create, get, update and patch: what becomes of an object that is sent.

Promises: a write is made whole or not at all, and only if the object is still what it was
when the write was decided; a dry run goes the whole way and stores nothing. Nothing waits
but admission webhooks, where there are any.
Elsewhere: what a write is asked with (`calls`), deleting (`deletion`), listing (`lists`),
the other subresources (`subresources`), HTTP (`http`).
"""

from __future__ import annotations

from typing import final

import msgspec

from kubeloop.kit import Clock
from kubeloop.meta import generate_name

from ..apply.managed import applied_name, apply
from ..apply.tracking import Tracker
from ..builtin.allocation import Allocator
from ..registry import Registry, Served
from ..representations.representation import to_served_version
from ..request.calls import Admission, Call, Written
from ..request.options import version_number
from ..statuses import (
    Cause,
    Refusal,
    already_exists,
    conflict,
    generate_name_conflict,
    invalid,
    not_found,
    too_large_version,
    unexplained,
)
from ..storage.store import Entry, Object, Store, encoded, key_of, timestamp
from . import rules
from .kinds import creates_on_update
from .objects import (
    Sent,
    changed,
    checked,
    counted,
    created,
    duplicates_in,
    is_finished,
    place,
    read_object,
    same_but_bookkeeping,
    storage_error,
)
from .patching import APPLY, patched, read_applied

__all__ = ["Verbs", "unsaved"]

_TRIES = 5  # of a patch that others overtake, as kube-apiserver tries
_NAMES = 8  # tries at a generated name
_FIXED = "field is immutable"


@final
class Verbs:
    """Writes to one store, one object at a time."""

    def __init__(
        self,
        store: Store,
        registry: Registry,
        *,
        clock: Clock,
        admission: Admission,
        allocator: Allocator,
    ) -> None:
        self.store = store
        self.registry = registry
        self.clock = clock
        self.admission = admission
        self._allocator = allocator  # of cluster addresses and node ports
        self._tracker = Tracker()
        self._generation = registry.generation
        self._second = (-1, "")  # the latest second that was asked for, written

    def now(self) -> str:
        """The time as objects carry it."""
        moment = self.clock.time()
        second = int(moment.timestamp())
        if second != self._second[0]:
            self._second = (second, timestamp(moment))
        return self._second[1]

    def get(self, call: Call, version: str = "") -> Entry:
        """Read one object. Raises `Refusal` 404, 504 for a version not reached yet."""
        if version:
            asked = version_number(version)
            if asked > self.store.version:
                raise too_large_version(asked, self.store.version)
        entry = self.store.get(call.served.storage, call.key)
        if entry is None:
            raise not_found(call.served.group, call.served.plural, call.name)
        return entry

    # --- create

    async def create(self, call: Call, raw: bytes, media: str) -> Written:
        """Create the object in a body. Safe to cancel: nothing is stored before the end."""
        sent = read_object(call.served, raw, media, validation=call.options.validation)
        return await self.create_object(call, sent)

    async def create_object(self, call: Call, sent: Sent) -> Written:
        """Create an object that was read already. Raises `Refusal`."""
        served = call.served
        obj = place(served, sent.obj, call.namespace, call.name)
        self.admission.check(_named(call, obj), "CREATE")
        obj = rules.requested(served, created(served, obj, now=self.now()), call.user)
        obj = self._with_name(served, rules.default(served, obj))
        obj = rules.prepared(served, self.tracked(call, None, obj), self._allocator)
        return await self._finish_create(call, obj, sent.warnings)

    async def _finish_create(self, call: Call, obj: Object, warnings: list[str]) -> Written:
        served = call.served
        call = _named(call, obj)
        if self.admission.applies(call, "CREATE"):
            obj, more = await self._mutated(call, "CREATE", obj, None)
            warnings = [*warnings, *more]
            call = _named(call, obj)
        self._refuse_problems(call, obj, None)
        if self.admission.applies(call, "CREATE"):
            warnings = [*warnings, *await self.admission.validate(call, "CREATE", obj, None)]
        meta = obj["metadata"]
        key = key_of(meta.get("namespace", ""), meta["name"])
        taken = self.store.get(served.storage, key)
        if taken is not None:
            raise _taken(served, taken, generated=bool(meta.get("generateName")))
        entry = self._stored(call, obj)
        return Written(entry, 201, tuple(warnings))

    def _with_name(self, served: Served, obj: Object) -> Object:
        meta = obj["metadata"]
        base = meta.get("generateName")
        if meta.get("name") or not base or not isinstance(base, str):
            return obj
        name = ""
        for _ in range(_NAMES):
            name = generate_name(base)
            key = key_of(meta.get("namespace", ""), name)
            if self.store.get(served.storage, key) is None:
                break
        return {**obj, "metadata": {**meta, "name": name}}

    # --- update

    async def update(self, call: Call, raw: bytes, media: str) -> Written:
        """Replace an object, or a part of it. Safe to cancel: nothing is stored half."""
        sent = read_object(call.served, raw, media, validation=call.options.validation)
        return await self.update_object(call, sent)

    async def update_object(self, call: Call, sent: Sent) -> Written:
        """Replace an object with one that was read already. Raises `Refusal`."""
        served = call.served
        obj = place(served, sent.obj, call.namespace, call.name)
        old = self.store.get(served.storage, call.key)
        if old is None:
            return await self._update_missing(call, Sent(obj, sent.warnings))
        return await self.replace(call, old, obj, sent.warnings)

    async def _update_missing(self, call: Call, sent: Sent) -> Written:
        if not creates_on_update(call.served) or call.part:
            raise not_found(call.served.group, call.served.plural, call.name)
        meta = {k: v for k, v in sent.obj["metadata"].items() if k != "resourceVersion"}
        if meta.get("uid"):
            why = f"Precondition failed: UID in precondition: {meta['uid']}, UID in object meta: "
            why = storage_error(call.served, meta) + why
            raise conflict(call.served.group, call.served.plural, call.name, why)
        return await self.create_object(call, Sent({**sent.obj, "metadata": meta}, sent.warnings))

    async def replace(
        self, call: Call, old: Entry, sent: Object, warnings: list[str], *, applied: bool = False
    ) -> Written:
        """Put `sent` in the place of `old`, if `old` is still there in the end."""
        served = call.served
        self.admission.check(call, "UPDATE")
        obj = changed(served, old.obj, sent, part=call.part)
        if call.part in {"", "ephemeralcontainers", "resize"} or served.custom is not None:
            obj = rules.default(served, obj)
        if not call.part:
            obj = rules.renewed(served, obj, old.obj, self._allocator)
        if call.part:
            obj = rules.dated(served, obj, old.obj, now=self.now())
        if not applied:
            obj = self.tracked(call, old.obj, obj)
        if self.admission.applies(call, "UPDATE"):
            obj, more = await self._mutated(call, "UPDATE", obj, old.obj)
            warnings = [*warnings, *more]
        obj = counted(served, old.obj, obj)
        self._refuse_problems(call, obj, old.obj)
        if self.admission.applies(call, "UPDATE"):
            more = await self.admission.validate(call, "UPDATE", obj, old.obj)
            warnings = [*warnings, *more]
        if self.store.get(served.storage, call.key) is not old:
            raise conflict(served.group, served.plural, call.name)
        return Written(self._stored(call, obj, old), 200, tuple(warnings))

    # --- patch

    async def patch(self, call: Call, raw: bytes, sort: str) -> Written:
        """Patch an object, or a part of it; an apply creates what is not there.

        Safe to cancel: nothing is stored half.
        """
        for _ in range(_TRIES):
            old = self.store.get(call.served.storage, call.key)
            try:
                if sort == APPLY:
                    return await self._apply(call, old, raw)
                return await self._patch(call, old, raw, sort)
            except Refusal as refusal:
                overtaken = self.store.get(call.served.storage, call.key) is not old
                if refusal.reason != "Conflict" or not overtaken:
                    raise
        raise conflict(call.served.group, call.served.plural, call.name)

    async def _patch(self, call: Call, old: Entry | None, raw: bytes, sort: str) -> Written:
        served = call.served
        if old is None:
            raise not_found(served.group, served.plural, call.name)
        result = patched(served, to_served_version(served, old.obj), raw, sort)
        sent = self._read_patched(call, result, raw)
        obj = place(served, sent.obj, call.namespace, call.name)
        uid = obj["metadata"].get("uid")
        if uid and uid != old.uid:
            # Who patches the object that had this name before sent its version, too, and the
            # version is checked first.
            version = obj["metadata"].get("resourceVersion")
            if version and version != old.obj["metadata"]["resourceVersion"]:
                raise conflict(served.group, served.plural, call.name)
            cause = Cause("metadata.uid", "FieldValueInvalid", f'Invalid value: "{uid}": {_FIXED}')
            raise invalid(served.group, served.kind, call.name, [cause])
        return await self.replace(call, old, obj, sent.warnings)

    def _read_patched(self, call: Call, result: Object, raw: bytes) -> Sent:
        """The object that a patch made, as its kind knows it."""
        validation = call.options.validation
        noted = [] if validation == "Ignore" else duplicates_in(raw)
        try:
            return checked(call.served, result, validation=validation, noted=noted)
        except Refusal as refusal:
            if refusal.code != 400:
                raise
            raise _bad_patch(refusal, result) from refusal

    async def _apply(self, call: Call, old: Entry | None, raw: bytes) -> Written:
        served = call.served
        sent = self._read_applied(call, raw)
        applied = place(served, sent.obj, call.namespace, call.name)
        if old is None and call.part:
            raise not_found(served.group, served.plural, call.name)
        if old is None:
            self.admission.check(call, "CREATE")
            applied = _unversioned(served, applied)
        live = None if old is None else to_served_version(served, old.obj)
        obj = rules.stored(served, self.merged(call, live, to_served_version(served, applied)))
        if old is not None:
            return await self.replace(call, old, obj, sent.warnings, applied=True)
        fields = obj["metadata"].get("managedFields")
        obj = created(served, obj, now=self.now())
        obj = rules.prepared(served, rules.default(served, obj), self._allocator)
        if fields:
            obj["metadata"] = {**obj["metadata"], "managedFields": fields}
        return await self._finish_create(call, obj, sent.warnings)

    def _read_applied(self, call: Call, raw: bytes) -> Sent:
        """The object in an apply's body, which may hold only what its kind knows."""
        obj = read_applied(raw, call.served.kind, call.served.api_version)
        try:
            return checked(call.served, obj, validation="Strict")
        except Refusal as refusal:
            self.merged(call, None, obj)  # says what is wrong in the words of an apply
            what = applied_name(obj)
            raise unexplained(f"failed to create typed patch object ({what}): {refusal}") from None

    def merged(self, call: Call, live: Object | None, applied: Object) -> Object:
        """`live` after the caller applied `applied`, with its owners. Raises `Refusal`."""
        served = call.served
        return apply(
            live,
            applied,
            manager=call.manager,
            force=call.options.force,
            api_version=served.api_version,
            subresource=call.part,
            facts=served.facts,
            now=self.now(),
            has_status="status" in served.subresources,
        )

    # --- what all writes do

    def tracked(self, call: Call, old: Object | None, obj: Object) -> Object:
        """`obj` with its owners after the caller made it of `old`."""
        if self._generation != self.registry.generation:
            self._tracker.forget()
            self._generation = self.registry.generation
        return self._tracker.track(
            call.served, old, obj, manager=call.manager, subresource=call.part, now=self.now()
        )

    async def _mutated(
        self, call: Call, operation: str, obj: Object, old: Object | None
    ) -> tuple[Object, list[str]]:
        changed_, warnings = await self.admission.mutate(call, operation, obj, old)
        if changed_ is None or changed_ is obj:
            return obj, warnings
        return rules.default(call.served, changed_), warnings

    def _refuse_problems(self, call: Call, obj: Object, old: Object | None) -> None:
        served = call.served
        self.admission.guard(call, obj, old)
        causes = rules.problems(served, obj, old, part=call.part)
        if causes:
            name = obj["metadata"].get("name", "")
            raise invalid(served.storage[0], served.kind, name, causes)

    def _stored(self, call: Call, obj: Object, old: Entry | None = None) -> Entry:
        """Make the write, unless it is a dry run or changes nothing."""
        storage = call.served.storage
        if old is not None and same_but_bookkeeping(old.obj, obj):
            return old
        if call.options.dry_run:
            return unsaved(obj, old)
        if old is not None and is_finished(obj):
            # The last finalizer went: the change itself is never seen, only the end.
            gone = self.store.remove(storage, old.key)
            return unsaved(obj, gone)
        return self.store.write(storage, obj)


def _named(call: Call, obj: Object) -> Call:
    name = (obj.get("metadata") or {}).get("name") or ""
    if call.name or not isinstance(name, str):
        return call
    return msgspec.structs.replace(call, name=name)


def _taken(served: Served, other: Entry, *, generated: bool) -> Refusal:
    """409 for a name that another object has."""
    if generated:
        return generate_name_conflict(served.group, served.plural, other.name)
    refusal = already_exists(served.group, served.plural, other.name)
    if "deletionTimestamp" in other.obj["metadata"]:
        refusal.status["message"] = f"object is being deleted: {refusal.status['message']}"
    return refusal


def _unversioned(served: Served, obj: Object) -> Object:
    """An applied object that is about to be created; a version it names is not looked at."""
    meta = obj["metadata"]
    if meta.get("uid"):
        why = (
            f"uid mismatch: the provided object specified uid {meta['uid']}, and no existing "
            "object was found"
        )
        raise conflict(served.group, served.plural, meta["name"], why)
    return {**obj, "metadata": {k: v for k, v in meta.items() if k != "resourceVersion"}}


def _bad_patch(refusal: Refusal, result: Object) -> Refusal:
    """422 for a patch after which the object cannot be read any more."""
    why = str(refusal).partition("cannot be handled as a ")[2].partition(": ")[2] or str(refusal)
    text = encoded(encoded(result).decode()).decode()
    return invalid(
        "", "", "", [Cause("patch", "FieldValueInvalid", f"Invalid value: {text}: {why}")]
    )


def unsaved(obj: Object, old: Entry | None) -> Entry:
    """An object as a write would leave it, without the write."""
    meta = dict(obj["metadata"])
    if old is None:
        meta.pop("resourceVersion", None)
    rest = {k: v for k, v in obj.items() if k not in {"kind", "apiVersion"}}
    rest["metadata"] = meta
    key = key_of(meta.get("namespace", ""), meta["name"])
    return Entry(key, {**obj, "metadata": meta}, encoded(rest)[1:], old.version if old else 0)
