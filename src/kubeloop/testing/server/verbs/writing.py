"""Get, create, update and patch of one object.

A create passes, after `serving.http` and `serving.dispatch`:

    read_object            decode the body, drop unknown fields, convert to the storage version
    admission.check        the namespace exists and is not terminating
    with_system_metadata   uid, creation time, generation
    strategy.default       default values
    strategy.complete      zero values, as Go writes them; then a name for `generateName`
    Tracker.track          managed fields
    admission.mutate_new   priority, runtime class, default class and limits, by built-in plugins
    strategy.prepare_create  reset the status, allocate addresses
    strategy.complete      again, as it is stored
    admission.mutate       mutating webhooks, if there are any
    strategy.validation_causes   422 with every cause
    admission.review       the built-in validating plugins, such as PodSecurity
    admission.validate     validating webhooks, if there are any
    store.write            the next version; listeners see the change

Guarantees: a write is atomic, and it is stored only if the object is still the one that was
read when the write began (optimistic concurrency, as etcd's transactions give it to
kube-apiserver); a dry run does everything but the store. Only webhooks make a write wait.
See also: `request.calls` (arguments and results), `updates` (what an update keeps), `deletion`,
`lists`, `subresources`.
"""

from __future__ import annotations

from collections.abc import Awaitable
from typing import final

import msgspec

from kubeloop.kit import Clock
from kubeloop.meta import generate_name

from ..apply.managed import applied_name, apply
from ..apply.reset_fields import reset_fields
from ..apply.tracking import Tracker
from ..kinds.core.allocation import Allocator, Reservation
from ..registry import Registry, ServedResource
from ..representations.representation import served_object, to_served_version
from ..request.calls import Admission, Call, WriteResult
from ..request.options import version_number
from ..statuses import (
    StatusError,
    already_exists,
    bad_request,
    conflict,
    generate_name_conflict,
    invalid,
    not_found,
    too_large_version,
    untyped_error,
)
from ..storage.store import Entry, Object, Store, key_of, tail_of, timestamp
from . import strategy
from .objects import (
    DecodedObject,
    check_new_version,
    decode_object,
    duplicate_fields_in,
    is_noop,
    is_removable,
    match_path,
    read_object,
    with_system_metadata,
    without_repeated_owners,
)
from .patching import (
    APPLY,
    JSON_PATCH,
    STRATEGIC,
    apply_patch,
    check_internal_kind,
    check_patched_type,
    check_patched_uid,
    decode_apply_body,
    is_json,
    report_unknown,
    unknown_members,
    unreadable_result,
    with_url_name,
)
from .updates import apply_update, storage_error, with_generation

__all__ = ["Verbs", "dry_run_entry", "unreadable_result"]

_PATCH_ATTEMPTS = 5  # kube-apiserver has no limit: `GuaranteedUpdate` of its etcd3 storage repeats
_NAME_ATTEMPTS = 8  # maxNameGenerationCreateAttempts of kube-apiserver


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
        decoded = decoded._replace(obj=without_repeated_owners(decoded.obj, decoded.warnings))
        return await _with_warnings(self.create_object(call, decoded), decoded)

    async def create_object(self, call: Call, decoded: DecodedObject) -> WriteResult:
        """Create an object that is decoded already. Raises `StatusError`."""
        served, now = call.served, self.now()
        obj = match_path(served, decoded.obj, call.namespace, call.name)
        self.admission.check(call, "CREATE", (obj.get("metadata") or {}).get("name") or "")
        obj = with_system_metadata(served, obj, now=now)
        if served.storage == strategy.SIGNING_REQUESTS:
            obj = strategy.with_requester(obj, call.user)
        obj = strategy.complete(served, strategy.default(served, obj), stored=False)
        if not obj["metadata"].get("name"):
            obj = self._with_generated_name(served, obj)
        obj = self.track_managers(call, None, obj, now=now)
        obj = self.admission.mutate_new(call, obj)
        with self._allocator.reserve() as reservation:
            obj = strategy.complete(served, strategy.prepare_create(served, obj, reservation))
            return await self._store_new(call, obj, decoded.warnings)

    async def _store_new(
        self, call: Call, obj: Object, warnings: list[str], *, applied: bool = False
    ) -> WriteResult:
        served = call.served
        has_webhooks = self.admission.has_webhooks()
        if has_webhooks:
            call = _with_name(call, obj)
            obj, more = await self._mutate(call, "CREATE", obj, None)
            warnings += more
            call = _with_name(call, obj)
        obj = without_repeated_owners(obj, warnings, is_mutated=True)
        warnings += self._validate(call, obj, None)
        warnings += self.admission.review(call, obj, None)
        if has_webhooks:
            warnings += await self.admission.validate(call, "CREATE", obj, None)
        meta, is_dry_run = obj["metadata"], call.options.dry_run
        if not is_dry_run:
            check_new_version(obj)
        # After the last await: the name may have been taken while webhooks ran.
        existing = self.store.get(served.storage, key_of(meta.get("namespace", ""), meta["name"]))
        if existing is not None:
            raise _name_conflict(served, existing, is_generated=bool(meta.get("generateName")))
        if is_dry_run:
            return WriteResult(self._dry_run(served, obj, None), 201, tuple(warnings))
        return WriteResult(self._write(served, obj, applied=applied), 201, tuple(warnings))

    def _write(self, served: ServedResource, obj: Object, *, applied: bool) -> Entry:
        try:
            return self._store(served, obj)
        except StatusError:
            # Too large for etcd. Only an apply needs the managed fields.
            if applied or "managedFields" not in obj["metadata"]:
                raise
            meta = {key: value for key, value in obj["metadata"].items() if key != "managedFields"}
            return self._store(served, {**obj, "metadata": meta})

    def _store(self, served: ServedResource, obj: Object) -> Entry:
        if served.definition is None:
            return self.store.write(served.storage, obj)
        # Read as from etcd: the status that a create drops gets its default again.
        stored = served.definition.convert(obj, served.storage_version)
        read = served.definition.read(stored)
        return self.store.write(served.storage, read, None if read is stored else stored)

    def _dry_run(self, served: ServedResource, obj: Object, old: Entry | None) -> Entry:
        if served.definition is not None:
            # The response shows what a read would, also of another version than the stored one.
            obj = served.definition.read(served.definition.convert(obj, served.storage_version))
        return dry_run_entry(obj, old)

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
        decoded = decoded._replace(obj=without_repeated_owners(decoded.obj, decoded.warnings))
        return await _with_warnings(self.update_object(call, decoded), decoded)

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
        if not call.served.strategy.creates_on_update or call.part not in {"", "status"}:
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

        `applied` says that the managed fields of `sent` are final. Warnings about the
        object are added to `warnings`, and sent even if it is rejected later.
        """
        with self._allocator.reserve() as reservation:
            return await self._replace(call, old, sent, warnings, reservation, applied=applied)

    async def _replace(
        self,
        call: Call,
        old: Entry,
        sent: Object,
        warnings: list[str],
        reservation: Reservation,
        *,
        applied: bool,
    ) -> WriteResult:
        served, now = call.served, self.now()
        if served.definition is not None:
            old = msgspec.structs.replace(old, obj=served_object(served, old))
        self.admission.check(call, "UPDATE")
        obj = strategy.default(served, sent)
        obj = strategy.complete(served, obj, old.obj, stored=applied)
        # As in kube-apiserver, owners are those of the fields that were sent and defaulted; what
        # the strategy of the kind then sets by itself has no owner.
        if not applied:
            obj = self.track_managers(call, old.obj, obj, now=now)
        obj = apply_update(served, old.obj, obj, part=call.part)
        if call.part:
            obj = strategy.prepare_part(served, obj, old.obj, part=call.part, now=now)
        else:
            obj = strategy.prepare_update(served, obj, old.obj)
            obj = strategy.allocate_update(served, obj, old.obj, reservation)
        obj = strategy.complete(served, obj, old.obj)
        has_webhooks = self.admission.has_webhooks()
        if has_webhooks:
            obj, more = await self._mutate(call, "UPDATE", obj, old.obj)
            warnings += more
        obj = without_repeated_owners(obj, warnings, is_mutated=True)
        # Counted after defaulting and webhooks: only a change that is stored counts.
        obj = with_generation(served, old.obj, obj, part=call.part)
        warnings += self._validate(call, obj, old.obj)
        warnings += self.admission.review(call, obj, old.obj)
        if has_webhooks:
            warnings += await self.admission.validate(call, "UPDATE", obj, old.obj)
        if self._has_changed(call, old):
            raise conflict(served.group, served.plural, call.name)
        entry = self._store_update(call, obj, old, applied=applied)
        return WriteResult(entry, 200, tuple(warnings))

    def _store_update(self, call: Call, obj: Object, old: Entry, *, applied: bool) -> Entry:
        """Write the update, unless it is a dry run or changes nothing."""
        storage = call.served.storage
        if _changes_nothing(call.served, obj, old):
            return old
        if call.options.dry_run:
            return self._dry_run(call.served, obj, old)
        if is_removable(obj):
            # The update removed the last finalizer: watches get DELETED and no MODIFIED
            # (ShouldDeleteDuringUpdate).
            return dry_run_entry(obj, self.store.remove(storage, old.key))
        return self._write(call.served, obj, applied=applied)

    def _has_changed(self, call: Call, old: Entry | None) -> bool:
        """Whether the object was written since `old` was read."""
        found = self.store.get(call.served.storage, call.key)
        if found is None or old is None:
            return found is not old
        return found.version != old.version

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
                if error.reason != "Conflict" or not self._has_changed(call, old):
                    raise
        raise conflict(call.served.group, call.served.plural, call.name)

    async def _patch(
        self, call: Call, old: Entry | None, raw: bytes, patch_type: str
    ) -> WriteResult:
        served = call.served
        if old is None:
            raise not_found(served.group, served.plural, call.name)
        result = apply_patch(served, served_object(served, old), raw, patch_type)
        decoded = self._decode_patched(call, result, raw, patch_type)
        return await _with_warnings(self._replace_patched(call, old, decoded), decoded)

    async def _replace_patched(self, call: Call, old: Entry, decoded: DecodedObject) -> WriteResult:
        obj = match_path(call.served, decoded.obj, call.namespace, call.name)
        check_patched_uid(call.served, old, obj)
        return await self.replace(call, old, obj, decoded.warnings)

    def _decode_patched(
        self, call: Call, result: Object, raw: bytes, patch_type: str
    ) -> DecodedObject:
        """The object that a patch made, without unknown fields."""
        validation = call.options.validation
        duplicates = [] if validation == "Ignore" else duplicate_fields_in(raw)
        if patch_type == JSON_PATCH and validation != "Ignore":
            duplicates += unknown_members(raw)
        if patch_type == STRATEGIC:
            # Go copies the result into the type of the path: the names in it have no effect.
            names = {"kind": call.served.kind, "apiVersion": call.served.api_version}
            result = {**result, **{k: v for k, v in names.items() if _is_name(result.get(k))}}
        elif call.served.custom is not None:
            check_patched_type(result, call.name)
        elif not result.get("apiVersion"):
            # Go then decodes into the internal type, of which it knows no field.
            check_internal_kind(call.served, result)
            result = {"kind": call.served.kind, **report_unknown(result, duplicates)}
        try:
            return decode_object(call.served, result, validation=validation, duplicates=duplicates)
        except StatusError as error:
            if error.code != 400:
                raise
            raise unreadable_result(call.served, error, result, raw, patch_type) from error

    async def _apply(self, call: Call, old: Entry | None, raw: bytes) -> WriteResult:
        decoded = self._decode_applied(call, old, raw)
        return await _with_warnings(self._store_applied(call, old, decoded), decoded)

    async def _store_applied(
        self, call: Call, old: Entry | None, decoded: DecodedObject
    ) -> WriteResult:
        served = call.served
        if old is not None:
            decoded = decoded._replace(obj=with_url_name(decoded.obj, call.name))
        applied = match_path(served, decoded.obj, call.namespace, call.name)
        if old is None and call.part:
            raise not_found(served.group, served.plural, call.name)
        if old is None:
            self.admission.check(call, "CREATE")
            applied = _without_version(served, applied)
        live = None if old is None else served_object(served, old)
        merged = self.merge_applied(
            call, live, to_served_version(served, applied), sent=decoded.sent
        )
        if served.custom is not None:
            merged, _ = served.custom.schema.prune(merged)
        # The applied configuration kept its empty values until here.
        obj = strategy.to_storage_version(served, merged)
        obj = strategy.complete(served, obj, metadata=True)
        if old is not None:
            check_patched_uid(served, old, obj)
            return await self.replace(call, old, obj, decoded.warnings, applied=True)
        fields = obj["metadata"].get("managedFields")
        obj = with_system_metadata(served, obj, now=self.now())
        obj = self.admission.mutate_new(call, strategy.default(served, obj))
        with self._allocator.reserve() as reservation:
            obj = strategy.complete(served, strategy.prepare_create(served, obj, reservation))
            if fields:
                obj["metadata"] = {**obj["metadata"], "managedFields": fields}
            return await self._store_new(call, obj, decoded.warnings, applied=True)

    def _decode_applied(self, call: Call, old: Entry | None, raw: bytes) -> DecodedObject:
        """The object in the body of an apply; unknown fields are always rejected."""
        obj = decode_apply_body(raw, call.served.kind, call.served.api_version)
        validation = call.options.validation
        duplicates = (
            duplicate_fields_in(raw, obj) if validation != "Ignore" and is_json(raw) else []
        )
        if duplicates and validation == "Strict":
            raise bad_request(f"error strict decoding YAML: {', '.join(duplicates)}")
        try:
            if call.served.custom is not None:
                # Fields that the schema does not declare are found by the merge, which allows
                # some in objects without properties; they are pruned after it.
                decode_object(call.served, obj, validation="Ignore")
                return DecodedObject(obj, duplicates, obj)
            found = decode_object(call.served, obj, validation="Strict", keep_empty=True)
            return found._replace(warnings=[*found.warnings, *duplicates], sent=obj)
        except StatusError as error:
            # The merge finds the same problem and reports it with structured-merge-diff's text, or
            # a conflict, for which any number is a number.
            self.merge_applied(call, None, obj)
            if old is not None:
                self.merge_applied(call, served_object(call.served, old), obj)
            name = applied_name(obj)
            raise untyped_error(f"failed to create typed patch object ({name}): {error}") from None

    def merge_applied(
        self, call: Call, live: Object | None, applied: Object, *, sent: Object | None = None
    ) -> Object:
        """`live` after an apply of `applied`, with its managed fields. Raises `StatusError`.

        `sent` is `applied` as the client wrote it.
        """
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
            resets=reset_fields(served, call.part),
            sent=sent,
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
        served = call.served
        if old is not None and _is_untracked(served, old, obj):
            return {**obj, "metadata": _with_managers_of(obj["metadata"], old["metadata"])}
        # Managed fields are paths in the version of the request.
        converts = served.custom is None and not served.is_storage_version
        tracked = self._tracker.track(
            served,
            to_served_version(served, old) if converts and old is not None else old,
            to_served_version(served, obj) if converts else obj,
            manager=call.manager,
            subresource=call.part,
            now=now or self.now(),
        )
        return _with_managed_fields(obj, tracked) if converts else tracked

    async def _mutate(
        self, call: Call, operation: str, obj: Object, old: Object | None
    ) -> tuple[Object, list[str]]:
        mutated, warnings = await self.admission.mutate(call, operation, obj, old)
        if mutated is None or mutated is obj:
            return obj, warnings
        if call.served.custom is not None:
            # apiextensions-apiserver stores the unknown fields of a patch, and no read shows them.
            mutated, _ = call.served.custom.schema.prune(mutated)
        # kube-apiserver defaults again after each webhook that patched the object.
        mutated = strategy.default(call.served, mutated)
        return strategy.complete(call.served, mutated, metadata=True), warnings

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


async def _with_warnings(write: Awaitable[WriteResult], decoded: DecodedObject) -> WriteResult:
    """The result of a write; if it fails, the warnings about its body are sent all the same."""
    try:
        return await write
    except StatusError as error:
        error.warnings = (*decoded.warnings, *error.warnings)
        raise


def _changes_nothing(served: ServedResource, obj: Object, old: Entry) -> bool:
    """Whether an update would store what is stored already.

    After a change of its schema, a custom object is stored otherwise than it is read.
    """
    if old.stored is None or served.definition is None:
        return is_noop(old.obj, obj)
    return is_noop(old.stored, served.definition.convert(obj, served.storage_version))


def _is_name(value: object) -> bool:
    """Whether a patched `kind` or `apiVersion` can be decoded; it may be missing."""
    return value is None or isinstance(value, str)


def _is_untracked(served: ServedResource, old: Object, obj: Object) -> bool:
    """Whether other versions that have managers lack a field of a custom object.

    kube-apiserver cannot convert it to these versions then, and leaves the managers as they are.
    """
    if served.definition is None:
        return False
    entries = old["metadata"].get("managedFields") or ()
    versions = {str(each.get("apiVersion", "")).rpartition("/")[2] for each in entries}
    versions.discard(served.version)
    return bool(versions) and not served.definition.is_declared(obj, versions)


def _with_managers_of(meta: Object, old: Object) -> Object:
    """`meta` with the managed fields of `old`."""
    rest = {name: value for name, value in meta.items() if name != "managedFields"}
    fields = old.get("managedFields")
    return rest if fields is None else {**rest, "managedFields": fields}


def _with_name(call: Call, obj: Object) -> Call:
    name = obj["metadata"].get("name")
    if call.name or not isinstance(name, str):
        return call
    return msgspec.structs.replace(call, name=name)


def _with_managed_fields(obj: Object, tracked: Object) -> Object:
    """`obj` with the managed fields that it has in another version."""
    meta = {key: value for key, value in obj["metadata"].items() if key != "managedFields"}
    found = tracked["metadata"].get("managedFields")
    return {**obj, "metadata": {**meta, "managedFields": found} if found else meta}


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


def dry_run_entry(obj: Object, old: Entry | None) -> Entry:
    """An object as a write would store it, without the write."""
    meta = obj["metadata"]
    key = key_of(meta.get("namespace", ""), meta["name"])
    return Entry(key, obj, tail_of(obj), old.version if old else 0)
