"""Get, create, update and patch of one object. A write is a tuple of named steps.

`CREATE`, `UPDATE`, `STATUS`, `PATCH` and `APPLY` have kube-apiserver's order, so the difference
between two writes is the difference between two tuples.

Guarantees: a write is atomic, and it is stored only if the object is still the one that was
read when the write began (optimistic concurrency, as etcd's transactions give it to
kube-apiserver); a dry run does everything but the store; cluster addresses and node ports of a
write that stores nothing are free again. Only webhooks make a write wait.
See also: the steps, each with the rule that it imitates (`steps`), `request.calls` (arguments and
results), `deletion`, `lists`, `subresources`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final, TypeAlias, final

from kubeloop.kit import Clock

from ..apply.tracking import Tracker
from ..kinds.core.allocation import Allocator
from ..registry import Registry, ServedResource
from ..representations.representation import to_served_version
from ..request.calls import Admission, Call, WriteResult
from ..request.options import version_number
from ..statuses import StatusError, conflict, not_found, too_large_version
from ..storage.store import Entry, Object, Store, timestamp
from . import steps
from .patching import APPLY as APPLY_PATCH
from .steps import Write

__all__ = [
    "APPLY",
    "APPLY_STATUS",
    "CREATE",
    "CREATE_BY_APPLY",
    "CREATE_BY_UPDATE",
    "PATCH",
    "PATCH_STATUS",
    "SCALE",
    "STATUS",
    "UPDATE",
    "Steps",
    "Verbs",
]

# kube-apiserver has no limit: `GuaranteedUpdate` of its etcd3 storage repeats.
_PATCH_ATTEMPTS: Final = 5

Step: TypeAlias = Callable[[Write], Awaitable[None] | None]
Steps: TypeAlias = tuple[Step, ...]

CREATE: Final[Steps] = (
    steps.decode_body,
    steps.match_path,
    steps.check_namespace,
    steps.set_system_metadata,
    steps.set_requester,
    steps.default,
    steps.complete_as_sent,
    steps.generate_name,
    steps.track_fields,
    steps.mutate_by_plugins,
    steps.prepare_create,
    steps.allocate_new,
    steps.complete_as_stored,
    steps.mutate_by_webhooks,
    steps.drop_repeated_owners,
    steps.check_escalation,
    steps.validate,
    steps.warn,
    steps.validate_by_plugins,
    steps.validate_by_webhooks,
    steps.check_new_version,
    steps.check_name_is_free,
    steps.store_new,
)

UPDATE: Final[Steps] = (
    steps.decode_body,
    steps.match_path,
    steps.convert_old,
    steps.default,
    steps.complete_as_sent,
    steps.track_fields,
    steps.merge_update,
    steps.prepare_update,
    steps.allocate_update,
    steps.complete_as_stored,
    steps.mutate_by_webhooks,
    steps.drop_repeated_owners,
    steps.count_generation,
    steps.check_escalation,
    steps.validate,
    steps.warn,
    steps.validate_by_plugins,
    steps.validate_by_webhooks,
    steps.check_unchanged,
    steps.store_update,
)

# A write of status, or of another subresource whose body is the whole object.
STATUS: Final[Steps] = (
    steps.decode_body,
    steps.match_path,
    steps.convert_old,
    steps.default,
    steps.complete_as_sent,
    steps.track_fields,
    steps.merge_update,
    steps.prepare_part,
    steps.complete_as_stored,
    steps.mutate_by_webhooks,
    steps.drop_repeated_owners,
    steps.count_generation,
    steps.check_escalation,
    steps.validate,
    steps.warn,
    steps.validate_by_plugins,
    steps.validate_by_webhooks,
    steps.check_unchanged,
    steps.store_update,
)

# The other writes have the steps of one of these behind an own beginning.


def _after(step: Step, write: Steps) -> Steps:
    return write[write.index(step) + 1 :]


CREATE_BY_UPDATE: Final[Steps] = (
    steps.decode_body,
    steps.match_path,
    steps.check_create_on_update,
    *_after(steps.match_path, CREATE),
)

PATCH: Final[Steps] = (
    steps.patch_old,
    steps.decode_patched,
    steps.match_path,
    steps.check_uid,
    *_after(steps.match_path, UPDATE),
)
PATCH_STATUS: Final[Steps] = (
    steps.patch_old,
    steps.decode_patched,
    steps.match_path,
    steps.check_uid,
    *_after(steps.match_path, STATUS),
)

# The merge of an apply sets the managed fields, so that nothing is tracked after it.
SCALE: Final[Steps] = (
    steps.convert_old,
    steps.default,
    steps.complete_as_stored,
    *_after(steps.track_fields, UPDATE),
)
APPLY: Final[Steps] = (
    steps.decode_applied,
    steps.name_applied,
    steps.match_path,
    steps.merge_applied,
    steps.check_uid,
    *SCALE,
)
APPLY_STATUS: Final[Steps] = (
    steps.decode_applied,
    steps.name_applied,
    steps.match_path,
    steps.merge_applied,
    steps.check_uid,
    steps.convert_old,
    steps.default,
    steps.complete_as_stored,
    *_after(steps.track_fields, STATUS),
)
CREATE_BY_APPLY: Final[Steps] = (
    steps.decode_applied,
    steps.match_path,
    steps.check_create_on_apply,
    steps.check_namespace,
    steps.ignore_version,
    steps.merge_applied,
    steps.set_system_metadata,
    steps.default,
    *_after(steps.track_fields, CREATE),
)


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

    async def create(self, call: Call, raw: bytes, media: str) -> WriteResult:
        """Create the object in a body. Cancelled before the store, it leaves nothing behind."""
        return await _run(CREATE, self._write(call, None, raw, media))

    async def update(self, call: Call, raw: bytes, media: str) -> WriteResult:
        """Replace an object or one subresource. Cancelled, it leaves the old object."""
        old = self.store.get(call.served.storage, call.key)
        update = CREATE_BY_UPDATE if old is None else STATUS if call.part else UPDATE
        return await _run(update, self._write(call, old, raw, media))

    async def patch(self, call: Call, raw: bytes, patch_type: str) -> WriteResult:
        """Patch an object or one subresource; an apply creates a missing object.

        Retries after a concurrent write, as kube-apiserver does.
        Cancelled, it leaves the old object.
        """
        for _ in range(_PATCH_ATTEMPTS):
            old = self.store.get(call.served.storage, call.key)
            patch = _patch_steps(call, patch_type, exists=old is not None)
            try:
                return await _run(patch, self._write(call, old, raw, patch_type))
            except StatusError as error:
                if error.reason != "Conflict" or not self._has_changed(call, old):
                    raise
        raise conflict(call.served.group, call.served.plural, call.name)

    async def replace_scaled(self, call: Call, old: Entry, obj: Object) -> WriteResult:
        """Store `obj`, with its final managed fields, in place of `old`, if that is current.

        Cancelled, it leaves the old object.
        """
        write = self._write(call, old)
        write.obj, write.is_applied = obj, True
        return await _run(SCALE, write)

    def _write(self, call: Call, old: Entry | None, raw: bytes = b"", media: str = "") -> Write:
        return Write(
            call,
            call.served,
            self.store,
            self.admission,
            self.track_managers,
            self._allocator,
            self.now(),
            old,
            raw,
            media,
        )

    def _has_changed(self, call: Call, old: Entry | None) -> bool:
        """Whether the object was written since `old` was read."""
        current = self.store.get(call.served.storage, call.key)
        if current is None or old is None:
            return current is not old
        return current.version != old.version

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


async def _run(write_steps: Steps, write: Write) -> WriteResult:
    """Carry out a write. Cancelled while a webhook runs, it leaves nothing behind.

    Raises:
        StatusError: a step rejected it; the error has the warnings of the steps before.
    """
    code = 201 if write.old is None else 200
    try:
        for step in write_steps:
            waiting = step(write)
            if waiting is not None:
                await waiting
    except StatusError as error:
        error.warnings = (*write.warnings, *error.warnings)
        raise
    finally:
        if write.reservation is not None:
            write.allocator.end(write.reservation)
    assert write.entry is not None  # the last step of each tuple sets it
    return WriteResult(write.entry, code, tuple(write.warnings))


def _patch_steps(call: Call, patch_type: str, *, exists: bool) -> Steps:
    if patch_type != APPLY_PATCH:
        return PATCH_STATUS if call.part else PATCH
    if not exists:
        return CREATE_BY_APPLY
    return APPLY_STATUS if call.part else APPLY


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


def _with_managed_fields(obj: Object, tracked: Object) -> Object:
    """`obj` with the managed fields that it has in another version."""
    meta = {key: value for key, value in obj["metadata"].items() if key != "managedFields"}
    fields = tracked["metadata"].get("managedFields")
    return {**obj, "metadata": {**meta, "managedFields": fields} if fields else meta}
