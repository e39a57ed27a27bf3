"""The embedded API server as one thing that starts, serves and ends.

Promises: it listens when the block begins and is gone, with all its tasks and sockets,
when the block ends; what is rarely needed is imported when it is.
Elsewhere: how the parts fit together (`core`), sockets and certificates (`serving.listening`).

    async with Service() as server:
        ...  # speak to server.url
"""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self, final

import msgspec

from kubeloop.kit import Clock, HostGuard, SystemClock, TaskOwner
from kubeloop.wire import InvalidArgument

from .access.security import ADMIN, Security
from .core import Core
from .faults import Faults
from .identity import User
from .serving.listening import Listener
from .storage.store import HISTORY, StoreStats
from .watching import QUEUE, HubStats

__all__ = ["Service", "ServiceStats"]


class ServiceStats(msgspec.Struct, frozen=True):
    """What a server holds and who watches it."""

    url: str
    store: StoreStats
    watches: HubStats
    requests: int  # of those that the record still knows


@final
class Service:
    """A Kubernetes API server on this machine, for one `async with` block.

    `tls` serves HTTPS with a certificate made on the spot (`ca` is what to trust).
    `tokens` maps bearer tokens to users; with it, or with `rbac`, nobody comes in without
    credentials, and `token` is the administrator's. `rbac` has rights decided by the stored
    roles. `data` is the path of a file in which everything survives.

    Where requests need no credentials, those that a web page may have sent are refused
    (`kit.HostGuard`); `allow_hosts` are further names that the server answers to.

    Raises: InvalidArgument when one of `allow_hosts` is no host.
    """

    def __init__(
        self,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        tls: bool = False,
        tokens: Mapping[str, User] | None = None,
        rbac: bool = False,
        anonymous: bool | None = None,
        data: str | Path | None = None,
        allow_hosts: Iterable[str] = (),
        clock: Clock | None = None,
        history: int = HISTORY,
        watch_queue: int = QUEUE,
        bookmark_period: float = 60.0,
    ) -> None:
        self._clock = clock or SystemClock()
        self._data = data
        self._sizes = {"history": history, "queue": watch_queue}
        self._bookmark_period = bookmark_period
        self._tokens = dict(tokens) if tokens is not None else None
        self._guarded = rbac or tokens is not None or anonymous is False
        self._rbac = rbac
        self._anonymous = anonymous
        self._guard = self._new_guard(host, tuple(allow_hosts), secure=tls)
        self._stack = contextlib.AsyncExitStack()
        self._life = contextlib.AsyncExitStack()
        self.token = secrets.token_urlsafe(24) if self._guarded else ""
        self.faults = Faults()
        self._listener = Listener(host, port, tls=tls)
        self._core: Core | None = None

    # --- what a client needs

    @property
    def url(self) -> str:
        """Where clients find the server, without a slash at the end."""
        return self._listener.url

    @property
    def ca(self) -> bytes | None:
        """The certificates to trust, PEM; None without TLS."""
        return self._listener.ca

    def client_certificate(self, name: str, groups: tuple[str, ...] = ()) -> Any:
        """A certificate and key that this server accepts as the user `name`; TLS only."""
        return self._listener.client_certificate(name, groups)

    # --- what a test looks at

    @property
    def core(self) -> Core:
        """The parts of the running server: store, verbs, hub, logs, …."""
        if self._core is None:
            raise RuntimeError("the server is not running (use it within its `async with` block)")
        return self._core

    def set_log(self, namespace: str, pod: str, text: str, *, container: str = "") -> None:
        """Say what a container has written; without `container`, every one of the pod.

        Said again with more text, whoever follows the log of a running pod is sent the rest.
        """
        self.core.logs.set(namespace, pod, text, container=container)

    def expire_history(self) -> None:
        """Forget all history now: older versions and continue tokens are answered with 410."""
        self.core.store.forget()

    def stats(self) -> ServiceStats:
        """A snapshot."""
        core = self.core
        return ServiceStats(
            url=self.url,
            store=core.store.stats(),
            watches=core.hub.stats(),
            requests=len(self.faults.requests),
        )

    # --- life

    async def __aenter__(self) -> Self:
        async with contextlib.AsyncExitStack() as stack:
            stack.push_async_callback(self._end_life)
            await self._begin_life()
            stack.push_async_callback(self._listener.aclose)
            await self._listener.listen(self.core.gateway)
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
        """End every connection and start again at the same address, with or without the data.

        Cancelled in the middle, the server is down.
        """
        await self._listener.shut()
        before = self.core
        await self._end_life()
        if before.file is not None and not keep_data:
            before.file.remove()
        await self._begin_life(before if keep_data and before.file is None else None)
        await self._listener.listen(self.core.gateway)

    async def refuse_connections(self) -> None:
        """Close the door and every connection; `accept_connections` opens it again."""
        await self._listener.shut()

    async def accept_connections(self) -> None:
        """Listen again, at the same address."""
        await self._listener.listen(self.core.gateway)

    def drop_connections(self) -> None:
        """Break every open connection, without a word."""
        self._listener.drop_connections()

    def rotate_certificate(self) -> None:
        """Show another certificate of the same authority from now on; TLS only."""
        self._listener.rotate_certificate()

    def rotate_ca(self) -> None:
        """Be certified by another authority from now on: `ca` changes; TLS only."""
        self._listener.rotate_ca()

    def rotate_token(self) -> str:
        """Replace the administrator's token: the old one is worth nothing from now on."""
        self.token = secrets.token_urlsafe(24)
        authenticator = self.core.security.authenticator
        if authenticator is not None:
            authenticator.replace_tokens(self._known_tokens())
        return self.token

    async def _begin_life(self, before: Core | None = None) -> None:
        async with contextlib.AsyncExitStack() as stack:
            core = Core(
                clock=self._clock,
                faults=self.faults,
                security=Security(),
                guard=self._guard,
                file=self._open_file(),
                **self._sizes,
            )
            core.begin(before.store if before is not None else None)
            self._secure(core)
            self._core = core
            if core.file is not None:
                stack.push_async_callback(core.file.aclose)
            tasks = await stack.enter_async_context(TaskOwner())
            for part in core.parts(bookmark_period=self._bookmark_period):
                tasks.spawn(part.run(), name=type(part).__name__)
            self._life = stack.pop_all()

    async def _end_life(self) -> None:
        if self._core is not None:
            self._core.hub.end_all()
        await self._life.aclose()

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
        # Roles decide what strangers may do, and without them only `anonymous` lets them in.
        open_to_all = not self._guarded or (bool(self._anonymous) and not self._rbac)
        return guard if open_to_all else None

    def _open_file(self) -> Any:
        if self._data is None:
            return None
        from .sqlite import SqliteFile

        return SqliteFile(self._data)

    def _secure(self, core: Core) -> None:
        if self._guarded or self._listener.tls:
            core.authenticate(
                self._known_tokens() if self._guarded else {},
                client_ca=self._listener.ca,
                anonymous=self._anonymous if self._guarded else True,
            )
        if self._rbac:
            core.use_roles()

    def _known_tokens(self) -> dict[str, User]:
        return {**(self._tokens or {}), self.token: ADMIN}

    def __repr__(self) -> str:
        return f"Service({self.url})"
