"""Get, create, update and patch of one object.

A create passes, after `serving.http` and `serving.dispatch`:

    read_object            decode the body, drop unknown fields, convert to the storage version
    admission.check        the namespace exists and is not terminating
    with_system_metadata   uid, creation time, generation
    strategy.default       default values, then a name for `generateName`
    Tracker.track          managed fields
    admission.admit        priorities, default limits
    strategy.prepare_create  reset the status, allocate addresses
    admission.mutate       mutating webhooks, if there are any
    strategy.validation_causes   422 with every cause
    admission.validate     validating webhooks, if there are any
    store.write            the next version; listeners see the change

Guarantees: a write is atomic, and it is stored only if the object is still the one that was
read when the write began (optimistic concurrency, as etcd's transactions give it to
kube-apiserver); a dry run does everything but the store. Only webhooks make a write wait.
See also: `request.calls` (arguments and results), `deletion`, `lists`, `subresources`.
"""

from __future__ import annotations

from typing import final

import msgspec

from kubeloop.kit import Clock
from kubeloop.meta import generate_name

from ..apply.managed import applied_name, apply
from ..apply.tracking import Tracker
from ..builtin.allocation import Allocator
from ..registry import Registry, ServedResource
from ..representations.representation import to_served_version
from ..request.calls import Admission, Call, WriteResult
from ..request.options import version_number
from ..statuses import (
    Cause,
    StatusError,
    already_exists,
    conflict,
    generate_name_conflict,
    invalid,
    not_found,
    too_large_version,
    untyped_error,
)
from ..storage.store import Entry, Object, Store, encoded, key_of, tail_of, timestamp
from . import strategy
from .kinds import creates_on_update
from .objects import (
    DecodedObject,
    apply_update,
    decode_object,
    duplicate_fields_in,
    is_noop,
    is_removable,
    match_path,
    read_object,
    storage_error,
    with_generation,
    with_system_metadata,
)
from .patching import APPLY, apply_patch, decode_apply_body

__all__ = ["Verbs", "dry_run_entry"]

_PATCH_ATTEMPTS = 5  # kube-apiserver has no limit: `GuaranteedUpdate` of its etcd3 storage repeats
_NAME_ATTEMPTS = 8  # maxNameGenerationCreateAttempts of kube-apiserver
_IMMUTABLE = "field is immutable"


@final
class Verbs:
    """Reads and writes single objects of one store."""

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
        self._second = (-1, "")  # the current second, and the same as text

    def now(self) -> str:
        """The time as objects have it."""
        moment = self.clock.time()
        second = int(moment.timestamp())
        if second != self._second[0]:
            self._second = (second, timestamp(moment))
        return self._second[1]

    def get(self, call: Call, version: str = "") -> Entry:
        """Read one object. Raises `StatusError` 404, or 504 for a version in the future."""
        if version:
            at_least = version_number(version)
            if at_least > self.store.version:
                raise too_large_version(at_least, self.store.version)
        entry = self.store.get(call.served.storage, call.key)
        if entry is None:
            raise not_found(call.served.group, call.served.plural, call.name)
        return entry

    # --- create

    async def create(self, call: Call, raw: bytes, media: str) -> WriteResult:
        """Create the object in a body. Cancelled before the store, it leaves nothing behind."""
        decoded = read_object(call.served, raw, media, validation=call.options.validation)
        return await self.create_object(call, decoded)

    async def create_object(self, call: Call, decoded: DecodedObject) -> WriteResult:
        """Create an object that is decoded already. Raises `StatusError`."""
        served, now = call.served, self.now()
        obj = match_path(served, decoded.obj, call.namespace, call.name)
        self.admission.check(call, "CREATE", (obj.get("metadata") or {}).get("name") or "")
        obj = with_system_metadata(served, obj, now=now)
        if served.storage == strategy.SIGNING_REQUESTS:
            obj = strategy.with_requester(obj, call.user)
        obj = strategy.default(served, obj)
        if not obj["metadata"].get("name"):
            obj = self._with_generated_name(served, obj)
        obj = self.track_managers(call, None, obj, now=now)
        obj = self.admission.admit(call, obj)
        obj = strategy.prepare_create(served, obj, self._allocator)
        return await self._store_new(call, obj, decoded.warnings)

    async def _store_new(self, call: Call, obj: Object, warnings: list[str]) -> WriteResult:
        served = call.served
        has_webhooks = self.admission.has_webhooks()
        if has_webhooks:
            call = _with_name(call, obj)
            obj, more = await self._mutate(call, "CREATE", obj, None)
            warnings = [*warnings, *more]
            call = _with_name(call, obj)
        warnings = [*warnings, *self._validate(call, obj, None)]
        if has_webhooks:
            warnings = [*warnings, *await self.admission.validate(call, "CREATE", obj, None)]
        meta = obj["metadata"]
        # After the last await: the name may have been taken while webhooks ran.
        existing = self.store.get(served.storage, key_of(meta.get("namespace", ""), meta["name"]))
        if existing is not None:
            raise _name_conflict(served, existing, is_generated=bool(meta.get("generateName")))
        is_dry_run = call.options.dry_run
        entry = dry_run_entry(obj, None) if is_dry_run else self.store.write(served.storage, obj)
        return WriteResult(entry, 201, tuple(warnings))

    def _with_generated_name(self, served: ServedResource, obj: Object) -> Object:
        meta = obj["metadata"]
        base = meta.get("generateName")
        if not base or not isinstance(base, str):
            return obj
        name = ""
        for _ in range(_NAME_ATTEMPTS):
            name = generate_name(base)
            key = key_of(meta.get("namespace", ""), name)
            if self.store.get(served.storage, key) is None:
                break
        return {**obj, "metadata": {**meta, "name": name}}

    # --- update

    async def update(self, call: Call, raw: bytes, media: str) -> WriteResult:
        """Replace an object or one subresource. Cancelled, it leaves the old object."""
        decoded = read_object(call.served, raw, media, validation=call.options.validation)
        return await self.update_object(call, decoded)

    async def update_object(self, call: Call, decoded: DecodedObject) -> WriteResult:
        """Replace an object with one that is decoded already. Raises `StatusError`."""
        served = call.served
        obj = match_path(served, decoded.obj, call.namespace, call.name)
        old = self.store.get(served.storage, call.key)
        if old is None:
            return await self._update_missing(call, DecodedObject(obj, decoded.warnings))
        return await self.replace(call, old, obj, decoded.warnings)

    async def _update_missing(self, call: Call, decoded: DecodedObject) -> WriteResult:
        # AllowCreateOnUpdate of the kind's strategy.
        if not creates_on_update(call.served) or call.part:
            raise not_found(call.served.group, call.served.plural, call.name)
        meta = {k: v for k, v in decoded.obj["metadata"].items() if k != "resourceVersion"}
        if meta.get("uid"):
            why = f"Precondition failed: UID in precondition: {meta['uid']}, UID in object meta: "
            why = storage_error(call.served, meta) + why
            raise conflict(call.served.group, call.served.plural, call.name, why)
        obj = {**decoded.obj, "metadata": meta}
        return await self.create_object(call, DecodedObject(obj, decoded.warnings))

    async def replace(
        self, call: Call, old: Entry, sent: Object, warnings: list[str], *, applied: bool = False
    ) -> WriteResult:
        """Store `sent` in place of `old`, if `old` is still the current state in the end.

        `applied` says that the managed fields of `sent` are final.
        """
        served, now = call.served, self.now()
        self.admission.check(call, "UPDATE")
        obj = apply_update(served, old.obj, sent, part=call.part)
        if (
            call.part in {"", "ephemeralcontainers", "resize", "status"}
            or served.custom is not None
        ):
            obj = strategy.default(served, obj)
        if call.part:
            obj = strategy.prepare_conditions(served, obj, old.obj, now=now)
        else:
            obj = strategy.prepare_update(served, obj, old.obj)
        if not applied:
            obj = self.track_managers(call, old.obj, obj, now=now)
        if not call.part:
            # What the server allocates or drops does not change who manages it.
            obj = strategy.allocate_update(served, obj, old.obj, self._allocator)
        has_webhooks = self.admission.has_webhooks()
        if has_webhooks:
            obj, more = await self._mutate(call, "UPDATE", obj, old.obj)
            warnings = [*warnings, *more]
        # Counted after defaulting and webhooks: only a change that is stored counts.
        obj = with_generation(served, old.obj, obj)
        warnings = [*warnings, *self._validate(call, obj, old.obj)]
        if has_webhooks:
            more = await self.admission.validate(call, "UPDATE", obj, old.obj)
            warnings = [*warnings, *more]
        if self.store.get(served.storage, call.key) is not old:
            raise conflict(served.group, served.plural, call.name)
        return WriteResult(self._store_update(call, obj, old), 200, tuple(warnings))

    def _store_update(self, call: Call, obj: Object, old: Entry) -> Entry:
        """Write the update, unless it is a dry run or changes nothing."""
        storage = call.served.storage
        if is_noop(old.obj, obj):
            return old
        if call.options.dry_run:
            return dry_run_entry(obj, old)
        if is_removable(obj):
            # The update removed the last finalizer: watches get DELETED and no MODIFIED
            # (ShouldDeleteDuringUpdate).
            return dry_run_entry(obj, self.store.remove(storage, old.key))
        return self.store.write(storage, obj)

    # --- patch

    async def patch(self, call: Call, raw: bytes, patch_type: str) -> WriteResult:
        """Patch an object or one subresource; an apply creates a missing object.

        Retries after a concurrent write, as kube-apiserver does.
        Cancelled, it leaves the old object.
        """
        for _ in range(_PATCH_ATTEMPTS):
            old = self.store.get(call.served.storage, call.key)
            try:
                if patch_type == APPLY:
                    return await self._apply(call, old, raw)
                return await self._patch(call, old, raw, patch_type)
            except StatusError as error:
                has_changed = self.store.get(call.served.storage, call.key) is not old
                if error.reason != "Conflict" or not has_changed:
                    raise
        raise conflict(call.served.group, call.served.plural, call.name)

    async def _patch(
        self, call: Call, old: Entry | None, raw: bytes, patch_type: str
    ) -> WriteResult:
        served = call.served
        if old is None:
            raise not_found(served.group, served.plural, call.name)
        result = apply_patch(served, to_served_version(served, old.obj), raw, patch_type)
        decoded = self._decode_patched(call, result, raw)
        obj = match_path(served, decoded.obj, call.namespace, call.name)
        uid = obj["metadata"].get("uid")
        if uid and uid != old.uid:
            # A patch for an earlier object of this name usually has its version, too. The
            # version is checked before the uid, so the client gets a conflict.
            version = obj["metadata"].get("resourceVersion")
            if version and version != old.obj["metadata"]["resourceVersion"]:
                raise conflict(served.group, served.plural, call.name)
            message = f'Invalid value: "{uid}": {_IMMUTABLE}'
            cause = Cause("metadata.uid", "FieldValueInvalid", message)
            raise invalid(served.group, served.kind, call.name, [cause])
        return await self.replace(call, old, obj, decoded.warnings)

    def _decode_patched(self, call: Call, result: Object, raw: bytes) -> DecodedObject:
        """The object that a patch made, without unknown fields."""
        validation = call.options.validation
        duplicates = [] if validation == "Ignore" else duplicate_fields_in(raw)
        try:
            return decode_object(call.served, result, validation=validation, duplicates=duplicates)
        except StatusError as error:
            if error.code != 400:
                raise
            raise _unreadable_result(error, result) from error

    async def _apply(self, call: Call, old: Entry | None, raw: bytes) -> WriteResult:
        served = call.served
        decoded = self._decode_applied(call, raw)
        applied = match_path(served, decoded.obj, call.namespace, call.name)
        if old is None and call.part:
            raise not_found(served.group, served.plural, call.name)
        if old is None:
            self.admission.check(call, "CREATE")
            applied = _without_version(served, applied)
        live = None if old is None else to_served_version(served, old.obj)
        merged = self.merge_applied(call, live, to_served_version(served, applied))
        obj = strategy.to_storage_version(served, merged)
        if old is not None:
            return await self.replace(call, old, obj, decoded.warnings, applied=True)
        fields = obj["metadata"].get("managedFields")
        obj = with_system_metadata(served, obj, now=self.now())
        obj = self.admission.admit(call, strategy.default(served, obj))
        obj = strategy.prepare_create(served, obj, self._allocator)
        if fields:
            obj["metadata"] = {**obj["metadata"], "managedFields": fields}
        return await self._store_new(call, obj, decoded.warnings)

    def _decode_applied(self, call: Call, raw: bytes) -> DecodedObject:
        """The object in the body of an apply; unknown fields are always rejected."""
        obj = decode_apply_body(raw, call.served.kind, call.served.api_version)
        try:
            return decode_object(call.served, obj, validation="Strict")
        except StatusError as error:
            # The merge finds the same problem and reports it with structured-merge-diff's text.
            self.merge_applied(call, None, obj)
            name = applied_name(obj)
            raise untyped_error(f"failed to create typed patch object ({name}): {error}") from None

    def merge_applied(self, call: Call, live: Object | None, applied: Object) -> Object:
        """`live` after an apply of `applied`, with its managed fields. Raises `StatusError`."""
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

    # --- steps of every write

    def track_managers(
        self, call: Call, old: Object | None, obj: Object, *, now: str | None = None
    ) -> Object:
        """`obj` with its managed fields, after the caller changed it from `old`."""
        if self._generation != self.registry.generation:
            # A CRD changed, and with its schema the ownership of lists and maps.
            self._tracker.forget()
            self._generation = self.registry.generation
        return self._tracker.track(
            call.served,
            old,
            obj,
            manager=call.manager,
            subresource=call.part,
            now=now or self.now(),
        )

    async def _mutate(
        self, call: Call, operation: str, obj: Object, old: Object | None
    ) -> tuple[Object, list[str]]:
        mutated, warnings = await self.admission.mutate(call, operation, obj, old)
        if mutated is None or mutated is obj:
            return obj, warnings
        # kube-apiserver defaults again after each webhook that patched the object.
        return strategy.default(call.served, mutated), warnings

    def _validate(self, call: Call, obj: Object, old: Object | None) -> list[str]:
        """Reject an invalid object (`StatusError`); returns the warnings about a valid one."""
        served = call.served
        if served.group == "rbac.authorization.k8s.io":
            self.admission.check_escalation(call, obj, old)
        causes = strategy.validation_causes(served, obj, old, part=call.part)
        if causes:
            name = obj["metadata"].get("name", "")
            raise invalid(served.storage[0], served.kind, name, causes)
        return strategy.warnings_of(served, obj, old, part=call.part)


def _with_name(call: Call, obj: Object) -> Call:
    name = obj["metadata"].get("name")
    if call.name or not isinstance(name, str):
        return call
    return msgspec.structs.replace(call, name=name)


def _name_conflict(served: ServedResource, existing: Entry, *, is_generated: bool) -> StatusError:
    """409 for a name that another object has."""
    if is_generated:
        return generate_name_conflict(served.group, served.plural, existing.name)
    error = already_exists(served.group, served.plural, existing.name)
    if "deletionTimestamp" in existing.obj["metadata"]:
        error.status["message"] = f"object is being deleted: {error.status['message']}"
    return error


def _without_version(served: ServedResource, obj: Object) -> Object:
    """An applied object that is about to be created: its version is ignored, its uid is not."""
    meta = obj["metadata"]
    if meta.get("uid"):
        why = (
            f"uid mismatch: the provided object specified uid {meta['uid']}, and no existing "
            "object was found"
        )
        raise conflict(served.group, served.plural, meta["name"], why)
    return {**obj, "metadata": {k: v for k, v in meta.items() if k != "resourceVersion"}}


def _unreadable_result(error: StatusError, result: Object) -> StatusError:
    """422 for a patch whose result cannot be decoded any more."""
    why = str(error).partition("cannot be handled as a ")[2].partition(": ")[2] or str(error)
    text = encoded(encoded(result).decode()).decode()
    return invalid(
        "", "", "", [Cause("patch", "FieldValueInvalid", f"Invalid value: {text}: {why}")]
    )


def dry_run_entry(obj: Object, old: Entry | None) -> Entry:
    """An object as a write would store it, without the write."""
    meta = dict(obj["metadata"])
    if old is None:
        meta.pop("resourceVersion", None)
    obj = {**obj, "metadata": meta}
    key = key_of(meta.get("namespace", ""), meta["name"])
    return Entry(key, obj, tail_of(obj), old.version if old else 0)
