"""The embedded API server: start, stop, restart.

Guarantees: the server listens when the `async with` block begins; when the block ends, all its
tasks and sockets are closed; rarely used modules are imported on first use.
See also: `core` (the parts and their wiring), `serving.listening` (sockets and certificates).

    async with Service() as server:
        ...  # send requests to server.url
"""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeAlias, final

import msgspec

from kubeloop.kit import Clock, HostGuard, SystemClock, TaskOwner
from kubeloop.meta import GroupResource, GroupVersionResource, ObjectKey
from kubeloop.wire import InvalidArgument, JsonObject

from .access.security import ADMIN
from .core import AccessOptions, Core
from .faults import Faults
from .identity import User
from .kubelet.programs import Programs
from .runtime_config import RuntimeConfig, parse_runtime_config
from .serving.listening import Listener
from .storage.store import HISTORY, Change, StoreStats, key_of
from .watching import QUEUE, HubStats

if TYPE_CHECKING:
    from .access.certs import KeyPair
    from .sqlite import SqliteFile

__all__ = ["ChangeListener", "Service", "ServiceStats", "StoredChange"]


class ServiceStats(msgspec.Struct, frozen=True):
    """The contents and the watches of a server."""

    url: str
    store: StoreStats
    watches: HubStats
    requests: int  # in the record


@final
class StoredChange(msgspec.Struct, frozen=True):
    """One write of the server: an object before and after it. Do not modify the objects."""

    resource: GroupResource
    key: ObjectKey
    version: int
    old: JsonObject | None  # None: it is created
    new: JsonObject | None  # None: it is deleted


ChangeListener: TypeAlias = Callable[[StoredChange], object]


@final
class Service:
    """A Kubernetes API server on this machine, for one `async with` block.

    `tls` serves HTTPS with a generated certificate; clients trust `ca`. `tokens` maps bearer
    tokens to users; with it, or with `rbac`, `token` is the administrator's. `rbac` authorizes by
    the stored roles. `anonymous_auth` accepts requests without credentials as
    `system:anonymous`; by default unless `tokens` are given without `rbac`. `data` is the path of
    a file in which all objects persist. `runtime_config` enables and disables built-in versions
    and resources.

    If requests need no credentials, those that a web page may have sent are rejected
    (`kit.HostGuard`); `allow_hosts` are further host names of the server.

    Raises: InvalidArgument when one of `allow_hosts` is no host, or for `runtime_config`.
    """

    def __init__(
        self,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        tls: bool = False,
        tokens: Mapping[str, User] | None = None,
        rbac: bool = False,
        anonymous_auth: bool | None = None,
        data: str | Path | None = None,
        runtime_config: RuntimeConfig = "",
        allow_hosts: Iterable[str] = (),
        clock: Clock | None = None,
        history: int = HISTORY,
        watch_queue: int = QUEUE,
        bookmark_period: float = 60.0,
    ) -> None:
        self._clock = clock or SystemClock()
        self._data = data
        self._is_enabled = parse_runtime_config(runtime_config)
        self._history = history
        self._watch_queue = watch_queue
        self._bookmark_period = bookmark_period
        self._tokens = dict(tokens) if tokens is not None else None
        self._needs_credentials = rbac or tokens is not None or anonymous_auth is False
        self._rbac = rbac
        # As in kube-apiserver, whose default is off where everything is allowed to everyone.
        by_default = rbac or not self._needs_credentials
        self._anonymous_auth = by_default if anonymous_auth is None else anonymous_auth
        self._guard = self._new_guard(host, tuple(allow_hosts), secure=tls)
        self._stack = contextlib.AsyncExitStack()
        self._run = contextlib.AsyncExitStack()  # what ends with the current `Core`
        self.token = secrets.token_urlsafe(24) if self._needs_credentials else ""
        self.faults = Faults()
        self.programs = Programs()
        self._listener = Listener(host, port, tls=tls)
        self._core: Core | None = None
        self._listeners: list[ChangeListener] = []

    # --- for clients

    @property
    def url(self) -> str:
        """The URL of the server, without a slash at the end."""
        return self._listener.url

    @property
    def ca(self) -> bytes | None:
        """The certificates to trust, PEM; None without TLS."""
        return self._listener.ca

    def client_certificate(self, name: str, groups: tuple[str, ...] = ()) -> KeyPair:
        """A client certificate and key for the user `name`; needs TLS."""
        return self._listener.client_certificate(name, groups)

    # --- for tests

    @property
    def core(self) -> Core:
        """The parts of the running server: store, verbs, hub, logs."""
        if self._core is None:
            raise RuntimeError("the server is not running (use it within its `async with` block)")
        return self._core

    @property
    def version(self) -> int:
        """The version of the latest write."""
        return self.core.store.version

    def resources(self) -> list[GroupResource]:
        """The resources that have had objects."""
        return sorted(GroupResource(*storage) for storage, _ in self.core.store.collections())

    def objects(self, resource: GroupResource, namespace: str = "") -> list[JsonObject]:
        """The stored objects of a resource, of one namespace or of all; the caller owns them."""
        collection = self.core.store.collection((resource.group, resource.resource))
        return [_copy(entry.obj) for entry in collection.select(namespace)]

    def find(self, resource: GroupResource, key: ObjectKey) -> JsonObject | None:
        """One stored object, which the caller owns; None if there is none."""
        storage = (resource.group, resource.resource)
        entry = self.core.store.get(storage, key_of(key.namespace, key.name))
        return None if entry is None else _copy(entry.obj)

    def serves(self, resource: GroupVersionResource) -> bool:
        """Whether a resource is served in a version: built in, or by a CRD."""
        found = self.core.registry.find(resource.group, resource.version, resource.resource)
        return found is not None

    def subscribe(self, listener: ChangeListener) -> None:
        """Call `listener` after each write from now on, through restarts.

        It is called in the write itself, so it must neither block nor write.
        """
        self._listeners.append(listener)
        if self._core is not None and len(self._listeners) == 1:
            self._core.store.subscribe(self._notify)

    def run_pod(self, namespace: str, pod: str, *, node: str) -> None:
        """Bind a pod to a node, and start its containers. Raises: StatusError."""
        self.core.containers.run(namespace, pod, node=node)

    def restart_container(
        self, namespace: str, pod: str, container: str, *, exit_code: int
    ) -> None:
        """End a container, and start it again with a new log. Raises: StatusError."""
        self.core.containers.restart(namespace, pod, container, exit_code=exit_code)

    def append_log(self, namespace: str, pod: str, text: str, *, container: str) -> None:
        """Append to the log of a container; without `container`, of all of the pod."""
        self.core.logs.append(namespace, pod, text, container=container)

    def rotate_log(self, namespace: str, pod: str, *, container: str, keep: int) -> None:
        """Drop the log of a container up to its last `keep` lines."""
        self.core.logs.rotate(namespace, pod, container=container, keep=keep)

    def set_log(self, namespace: str, pod: str, text: str, *, container: str = "") -> None:
        """Set the log of a container; without `container`, of all containers of the pod.

        Called again with a longer text, it sends the added part to clients that follow the log.
        """
        self.core.logs.set(namespace, pod, text, container=container)

    def expire_history(self) -> None:
        """Compact the history: older versions and continue tokens get 410 Expired."""
        self.core.store.compact()

    def stats(self) -> ServiceStats:
        """A snapshot."""
        core = self.core
        return ServiceStats(
            url=self.url,
            store=core.store.stats(),
            watches=core.hub.stats(),
            requests=len(self.faults.requests),
        )

    # --- start and stop

    async def __aenter__(self) -> Self:
        async with contextlib.AsyncExitStack() as stack:
            stack.push_async_callback(self._stop)
            await self._start()
            stack.push_async_callback(self._listener.aclose)
            await self._listener.listen(self.core.http_handler)
            self._stack = stack.pop_all()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.faults.heal()
        self.core.hub.end_all()
        await self._stack.aclose()

    async def restart(self, *, keep_data: bool = True) -> None:
        """Close every connection and start again at the same address, with or without the data.

        Cancelled in the middle, the server is down.
        """
        await self._listener.stop()
        before = self.core
        await self._stop()
        if before.file is not None and not keep_data:
            before.file.remove()
        await self._start(before if keep_data and before.file is None else None)
        await self._listener.listen(self.core.http_handler)

    async def refuse_connections(self) -> None:
        """Stop listening and close every connection, until `accept_connections`."""
        await self._listener.stop()

    async def accept_connections(self) -> None:
        """Listen again, at the same address; idempotent."""
        if not self._listener.is_listening:  # a restart listens as well
            await self._listener.listen(self.core.http_handler)

    def drop_connections(self) -> None:
        """Break every open connection, without a close handshake."""
        self._listener.drop_connections()

    def rotate_certificate(self) -> None:
        """Use another certificate of the same authority from now on; needs TLS."""
        self._listener.rotate_certificate()

    def rotate_ca(self) -> None:
        """Use a certificate of another authority from now on: `ca` changes; needs TLS."""
        self._listener.rotate_ca()

    def rotate_token(self) -> str:
        """Replace the administrator's token; the old one is invalid from now on."""
        self.token = secrets.token_urlsafe(24)
        authenticator = self.core.security.authenticator
        if authenticator is not None:
            authenticator.replace_tokens(self._valid_tokens())
        return self.token

    async def _start(self, before: Core | None = None) -> None:
        async with contextlib.AsyncExitStack() as stack:
            core = Core(
                clock=self._clock,
                faults=self.faults,
                programs=self.programs,
                access=self._access(),
                is_enabled=self._is_enabled,
                guard=self._guard,
                file=self._open_file(),
                history=self._history,
                queue=self._watch_queue,
            )
            core.load(before.store if before is not None else None)
            if before is not None:
                core.logs.adopt(before.logs)
            if self._listeners:
                core.store.subscribe(self._notify)
            self._core = core
            if core.file is not None:
                stack.push_async_callback(core.file.aclose)
            tasks = await stack.enter_async_context(TaskOwner())
            for each in core.runnables(bookmark_period=self._bookmark_period):
                tasks.spawn(each.run(), name=type(each).__name__)
            self._run = stack.pop_all()

    def _notify(self, change: Change) -> None:
        entry = change.new or change.old
        assert entry is not None, "a write has a state before or after it"
        stored = StoredChange(
            GroupResource(*change.storage),
            ObjectKey(entry.namespace, entry.name),
            change.version,
            None if change.old is None else change.old.obj,
            None if change.new is None else change.new.obj,
        )
        for listener in self._listeners:
            listener(stored)

    async def _stop(self) -> None:
        if self._core is not None:
            self._core.hub.end_all()
        await self._run.aclose()

    def _new_guard(
        self, host: str, allow_hosts: tuple[str, ...], *, secure: bool
    ) -> HostGuard | None:
        try:
            guard = HostGuard(
                host,
                allow_hosts=allow_hosts,
                secure=secure,
                option="allow_hosts=, or --allow-host of kubeloop serve",
            )
        except ValueError as error:
            raise InvalidArgument(f"serve: allow_hosts: {error}") from error
        # With RBAC the roles decide what anonymous requests may do: no guard is needed.
        return guard if self._anonymous_auth and not self._rbac else None

    def _open_file(self) -> SqliteFile | None:
        if self._data is None:
            return None
        from .sqlite import SqliteFile

        return SqliteFile(self._data)

    def _access(self) -> AccessOptions:
        tokens = self._valid_tokens() if self._needs_credentials else {}
        authenticates = self._needs_credentials or self._listener.tls
        return AccessOptions(
            tokens=tokens if authenticates else None,
            client_ca=self._listener.ca,
            anonymous=self._anonymous_auth,
            rbac=self._rbac,
        )

    def _valid_tokens(self) -> dict[str, User]:
        return {**(self._tokens or {}), self.token: ADMIN}

    def __repr__(self) -> str:
        return f"Service({self.url})"


def _copy(value: Any) -> Any:
    """A copy of a JSON value."""
    if isinstance(value, dict):
        return {name: _copy(field) for name, field in value.items()}
    return [_copy(item) for item in value] if isinstance(value, list) else value
