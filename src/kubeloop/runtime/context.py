"""What a reconcile function is given besides the key.

Promises: `get` and `list` read caches, never the server, and what they return is the
caller's own, to change as it likes; what was written through `client` is known, so that
`fresh` and the next reconcile of the key see it. `get` right after a write may not.
Elsewhere: calling the function (`controller`), the caches (`caches`).
"""

# ruff: noqa: ASYNC109 - the caller's bound is kept by a clock, and named in the error
from __future__ import annotations

import builtins
import functools
import logging
from collections.abc import Mapping, MutableMapping
from contextlib import AbstractContextManager
from datetime import datetime
from functools import cached_property
from typing import Any, Protocol, TypeVar, final, overload

import msgspec

from kubeloop.cache import Lister, SelectorLike
from kubeloop.errors import InvalidArgument
from kubeloop.events import Recorder
from kubeloop.kit import Clock
from kubeloop.meta import GroupVersionKind, GroupVersionResource, ObjectKey, Owner
from kubeloop.selectors import EVERYTHING
from kubeloop.wire import visible

from .caches import Caches, NotCached
from .client import Client
from .finalizer import Cleanup, finalized
from .own_writes import WriteLedger
from .status import update_status
from .writes import recording

__all__ = ["Context", "Environment", "Tracer"]

T = TypeVar("T")
Named = GroupVersionKind | GroupVersionResource

FRESH_TIMEOUT = 10.0
"""Seconds that `Context.fresh` waits for a cache."""


class Tracer(Protocol):
    """Makes a span around each reconcile."""

    def reconcile(self, controller: str, key: ObjectKey) -> AbstractContextManager[Any]: ...


class Environment(msgspec.Struct, frozen=True):
    """What the controllers of a manager share."""

    client: Client
    caches: Caches
    clock: Clock


@final
class Context:
    """One try to reconcile one key.

    `attempt` counts the failures in a row before this one, `span` is the trace's.
    """

    def __init__(
        self,
        around: Environment,
        key: ObjectKey,
        *,
        controller: str,
        recorder: Recorder,
        ledger: WriteLedger,
        attempt: int = 0,
        span: Any = None,
    ) -> None:
        self.key = key
        self.controller = controller
        self.recorder = recorder
        self.attempt = attempt
        self.span = span
        self._ledger = ledger
        self._around = around

    @cached_property
    def client(self) -> Client:
        """The manager's client; what is written through it counts as written for the key.

        That holds for tasks as well, even for one that outlasts the reconcile.
        """
        return recording(self._around.client, functools.partial(self._ledger.note, self.key))

    @cached_property
    def log(self) -> logging.LoggerAdapter[logging.Logger]:
        """A logger that says the controller and the key with every line."""
        return _BoundLogger(
            logging.getLogger(f"kubeloop.controller.{self.controller}"),
            {"controller": self.controller, "key": visible(str(self.key))},
        )

    def now(self) -> datetime:
        """The time, for conditions."""
        return self._around.clock.time()

    # --- reading the caches

    @overload
    def get(self, kind: type[T], key: ObjectKey, /) -> T | None: ...
    @overload
    def get(self, kind: Named, key: ObjectKey, /) -> dict[str, Any] | None: ...
    def get(self, kind: Any, key: ObjectKey, /) -> Any:
        """The object from the cache, None when there is none.

        Raises: NotCached when nobody declared the kind, DecodeError when it does not read,
        InvalidArgument for a name alone, which could be of any namespace.
        """
        if not isinstance(key, ObjectKey):
            raise InvalidArgument(f"get {key!r}: it is no key (write ObjectKey(namespace, name))")
        return self._around.caches.lister(kind).get(key)

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
        """The objects whose labels match, of all namespaces or of one. Raises as `get`."""
        found: builtins.list[Any] = self._around.caches.lister(kind).list(
            selector, namespace=namespace
        )
        return found

    @overload
    def lister(self, kind: type[T], /) -> Lister[T]: ...
    @overload
    def lister(self, kind: Named, /) -> Lister[dict[str, Any]]: ...
    def lister(self, kind: Any, /) -> Lister[Any]:
        """All ways to read the cache of a kind: indexes, counts, keys. Raises: NotCached."""
        return self._around.caches.lister(kind)

    @overload
    def owned(self, kind: type[T], owner: Owner, /) -> builtins.list[T]: ...
    @overload
    def owned(self, kind: Named, owner: Owner, /) -> builtins.list[dict[str, Any]]: ...
    def owned(self, kind: Any, owner: Owner, /) -> builtins.list[Any]:
        """The objects of a kind that `owner` controls, by its uid. Raises as `get`."""
        lister: Lister[Any] = self._around.caches.lister(kind)
        uid = _uid_of(owner)
        inside = ObjectKey.of(owner).namespace
        keys = [
            entry.key
            for entry in lister.metadata(namespace=inside)
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
        """As `get`, from a cache that has seen what was written here so far. Safe to cancel.

        Raises: NotSynced when it has not within `timeout` seconds.
        """
        await self._ledger.wait(self.key, timeout=timeout)
        return self._around.caches.lister(kind).get(key)

    # --- writing

    async def finalizer(self, obj: T, name: str, cleanup: Cleanup[T], /) -> T | None:
        """Have `cleanup` run before the object goes: the object to work on, None when it goes.

            site = await ctx.finalizer(site, "example.com/dns", remove_records)
            if site is None:
                return

        As `finalized`.
        """
        return await finalized(self.client, obj, name, cleanup)

    async def update_status(self, obj: T, /) -> T:
        """Write the status, if it is another than the cache has. As `update_status`.

        Raises: Conflict when the object has changed since it was read (the next try sees it).
        """
        return await update_status(self.client, obj, before=self._cached(obj))

    def _cached(self, obj: T) -> T | None:
        """The same object in the cache; None where its kind is not cached."""
        kind: Any = type(obj)
        if isinstance(obj, Mapping):
            kind = GroupVersionKind.of(obj.get("apiVersion") or "", obj.get("kind") or "")
        try:
            lister: Lister[Any] = self._around.caches.lister(kind)
        except NotCached:
            return None
        found: T | None = lister.get(ObjectKey.of(obj))  # type: ignore[arg-type] # as above
        return found


@final
class _BoundLogger(logging.LoggerAdapter[logging.Logger]):
    """Puts whom a line is about before it, and into the record's fields."""

    def process(
        self, msg: Any, kwargs: MutableMapping[str, Any]
    ) -> tuple[Any, MutableMapping[str, Any]]:
        said = dict(self.extra or {})
        kwargs["extra"] = said | dict(kwargs.get("extra") or {})
        return f"{said['controller']} {said['key']}: {msg}", kwargs


def _uid_of(owner: Owner) -> str:
    if isinstance(owner, Mapping):
        return str((owner.get("metadata") or {}).get("uid") or "")
    return str(owner.metadata.uid)
