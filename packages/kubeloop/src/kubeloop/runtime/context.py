"""The reconcile context: what a reconcile function is given besides the key.

Guarantees: `get` and `list` read caches, never the server, and return copies; what was written
through `client` is recorded, so that `fresh` and the next reconcile of the key see it. `get`
right after a write may not.
See also: `controller` (calls the function), `caches` (what is read).
"""

# ruff: noqa: ASYNC109 - a clock enforces the caller's timeout, and the error names it
from __future__ import annotations

import builtins
import functools
import logging
from collections.abc import AsyncIterator, Mapping, MutableMapping
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import datetime
from functools import cached_property
from typing import Any, TypeVar, final, overload

import msgspec

from kubeloop.cache import Lister, SelectorLike, Watchable
from kubeloop.errors import InvalidArgument
from kubeloop.events import FakeRecorder, Recorder
from kubeloop.kit import Clock
from kubeloop.meta import GroupVersionKind, GroupVersionResource, ObjectKey, Owner
from kubeloop.selectors import EVERYTHING
from kubeloop.wire import visible

from .caches import CacheDeclarations, Caches, NotCached
from .client import Client
from .own_writes import WriteLedger
from .tracing import Span
from .updates import Cleanup, ensure_finalizer, update_status
from .writes import recording_client

__all__ = ["Context", "Environment", "open_context"]

T = TypeVar("T")
Named = GroupVersionKind | GroupVersionResource

FRESH_TIMEOUT = 10.0
"""Seconds that `Context.fresh` waits for a cache."""


class Environment(msgspec.Struct, frozen=True):
    """What all controllers of a manager share."""

    client: Client
    caches: Caches
    clock: Clock


@final
class Context:
    """One reconcile of one key.

    `attempt` is the number of failures in a row before this one. `span` is the reconcile's
    span of OpenTelemetry, None without tracing.
    """

    def __init__(
        self,
        environment: Environment,
        key: ObjectKey,
        *,
        controller: str,
        recorder: Recorder,
        ledger: WriteLedger,
        attempt: int = 0,
        span: Span | None = None,
    ) -> None:
        self.key = key
        self.controller = controller
        self.recorder = recorder
        self.attempt = attempt
        self.span = span
        self._ledger = ledger
        self._environment = environment

    @cached_property
    def client(self) -> Client:
        """The manager's client; what is written through it is recorded as written by the key.

        That includes writes of tasks that run on after the reconcile.
        """
        return recording_client(
            self._environment.client, functools.partial(self._ledger.record, self.key)
        )

    @cached_property
    def log(self) -> logging.LoggerAdapter[logging.Logger]:
        """A logger whose lines begin with the controller and the key."""
        return _BoundLogger(
            logging.getLogger(f"kubeloop.controller.{self.controller}"),
            {"controller": self.controller, "key": visible(str(self.key))},
        )

    def now(self) -> datetime:
        """The current time, for conditions."""
        return self._environment.clock.time()

    # --- reading the caches

    @overload
    def get(self, kind: type[T], key: ObjectKey, /) -> T | None: ...
    @overload
    def get(self, kind: Named, key: ObjectKey, /) -> dict[str, Any] | None: ...
    def get(self, kind: Any, key: ObjectKey, /) -> Any:
        """A copy of the object in the cache; None if there is none.

        Raises: NotCached when the kind is not declared, DecodeError when the object does not
        fit its class, InvalidArgument for a name without a namespace.
        """
        if not isinstance(key, ObjectKey):
            raise InvalidArgument(f"get {key!r}: not a key (write ObjectKey(namespace, name))")
        return self._environment.caches.lister(kind).get(key)

    @overload
    def list(
        self, kind: type[T], /, selector: SelectorLike = ..., *, namespace: str = ...
    ) -> builtins.list[T]: ...
    @overload
    def list(
        self, kind: Named, /, selector: SelectorLike = ..., *, namespace: str = ...
    ) -> builtins.list[dict[str, Any]]: ...
    def list(
        self, kind: Any, /, selector: SelectorLike = EVERYTHING, *, namespace: str = ""
    ) -> builtins.list[Any]:
        """Copies of the objects whose labels match, of all namespaces or one. Raises as `get`."""
        found: builtins.list[Any] = self._environment.caches.lister(kind).list(
            selector, namespace=namespace
        )
        return found

    @overload
    def lister(self, kind: type[T], /) -> Lister[T]: ...
    @overload
    def lister(self, kind: Named, /) -> Lister[dict[str, Any]]: ...
    def lister(self, kind: Any, /) -> Lister[Any]:
        """The lister of a kind: indexes, counts, keys. Raises: NotCached."""
        return self._environment.caches.lister(kind)

    @overload
    def owned(self, kind: type[T], owner: Owner, /) -> builtins.list[T]: ...
    @overload
    def owned(self, kind: Named, owner: Owner, /) -> builtins.list[dict[str, Any]]: ...
    def owned(self, kind: Any, owner: Owner, /) -> builtins.list[Any]:
        """The objects of a kind that `owner` controls, by its uid. Raises as `get`."""
        lister: Lister[Any] = self._environment.caches.lister(kind)
        uid = _uid_of(owner)
        namespace = ObjectKey.of(owner).namespace
        keys = [
            entry.key
            for entry in lister.metadata(namespace=namespace)
            if entry.controller is not None and entry.controller.uid == uid
        ]
        found = (lister.get(key) for key in keys)
        return [each for each in found if each is not None]

    @overload
    async def fresh(
        self, kind: type[T], key: ObjectKey, /, *, timeout: float | None = ...
    ) -> T | None: ...
    @overload
    async def fresh(
        self, kind: Named, key: ObjectKey, /, *, timeout: float | None = ...
    ) -> dict[str, Any] | None: ...
    async def fresh(
        self, kind: Any, key: ObjectKey, /, *, timeout: float | None = FRESH_TIMEOUT
    ) -> Any:
        """As `get`, after the cache has seen what this key has written so far. Safe to cancel.

        Raises: NotSynced when it has not within `timeout` seconds.
        """
        await self._ledger.wait(self.key, timeout=timeout)
        return self._environment.caches.lister(kind).get(key)

    # --- writing

    async def finalizer(self, obj: T, name: str, cleanup: Cleanup[T], /) -> T | None:
        """Let `cleanup` run before the object is removed; None if the object is deleted.

            site = await ctx.finalizer(site, "example.com/dns", remove_records)
            if site is None:
                return

        As `ensure_finalizer`.
        """
        return await ensure_finalizer(self.client, obj, name, cleanup)

    async def update_status(self, obj: T, /) -> T:
        """Write the status if it differs from the cached one. As `runtime.update_status`.

        Raises: Conflict when the object has changed since it was read; the retry sees it.
        """
        return await update_status(self.client, obj, before=self._cached(obj))

    def _cached(self, obj: T) -> T | None:
        """The same object in the cache; None if its kind is not cached."""
        kind: Any = type(obj)
        if isinstance(obj, Mapping):
            kind = GroupVersionKind.of(obj.get("apiVersion") or "", obj.get("kind") or "")
        try:
            lister: Lister[Any] = self._environment.caches.lister(kind)
        except NotCached:
            return None
        found: T | None = lister.get(ObjectKey.of(obj))  # type: ignore[arg-type] # T has no bound
        return found


@asynccontextmanager
async def open_context(
    client: Client,
    *kinds: Watchable,
    key: ObjectKey,
    controller: str = "test",
    recorder: Recorder | None = None,
    attempt: int = 0,
    clock: Clock | None = None,
) -> AsyncIterator[Context]:
    """A context without a manager, for one key; the caches of `kinds` have synced.

    `recorder` is a `FakeRecorder` by default. For tests: `kubeloop_testing.reconcile_context`.
    """
    declarations = CacheDeclarations()
    for kind in kinds:
        declarations.ensure(kind)
    caches = Caches(client, declarations)
    async with AsyncExitStack() as stack:
        for informer in caches:
            await stack.enter_async_context(informer)
        yield Context(
            Environment(client, caches, clock or client.rest.clock),
            key,
            controller=controller,
            recorder=recorder or FakeRecorder(),
            ledger=WriteLedger(caches),
            attempt=attempt,
        )


@final
class _BoundLogger(logging.LoggerAdapter[logging.Logger]):
    """Adds the controller and the key to the message and to the fields of a record."""

    def process(
        self, msg: Any, kwargs: MutableMapping[str, Any]
    ) -> tuple[Any, MutableMapping[str, Any]]:
        fields = dict(self.extra or {})
        kwargs["extra"] = fields | dict(kwargs.get("extra") or {})
        return f"{fields['controller']} {fields['key']}: {msg}", kwargs


def _uid_of(owner: Owner) -> str:
    if isinstance(owner, Mapping):
        return str((owner.get("metadata") or {}).get("uid") or "")
    return str(owner.metadata.uid)
