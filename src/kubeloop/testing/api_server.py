"""The embedded API server as tests use it: with a client, a kubeconfig and fixtures.

Promises: what the server itself promises (`server`), and that every client handed out is
closed with it.
Elsewhere: the same interface with real binaries (`control_plane`), pytest's fixtures
(`plugin`).
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self, final

from kubeloop.config import ClusterConfig
from kubeloop.kit import Clock
from kubeloop.runtime import Client

from .kubeconfigs import kubeconfig_text
from .loading import apply_files
from .server.faults import Faults, SeenRequest
from .server.identity import User
from .server.service import Service, ServiceStats
from .server.storage.store import HISTORY
from .server.watching import QUEUE
from .threads import Home

__all__ = ["APIServer"]


@final
class APIServer:
    """A Kubernetes API server in this process, for one `async with` block.

    `tls` serves HTTPS with a generated certificate. `tokens` maps bearer tokens to users; `rbac`
    authorizes by the stored roles. Both imply `tls`, because clients send credentials over TLS
    only; `config` and `client()` then have the credentials of the administrator.
    `data` is the path of a file in which all objects persist. `manifests` are YAML files that
    are applied before the block begins.
    Without credentials the server accepts requests for loopback names, for its `host` and for
    `allow_hosts` only, so that no web page can use it.
    `clock` controls timeouts and expiry. Methods of the server are thread-safe; a client belongs
    to the event loop in which it is used.

        async with APIServer() as server:
            client = server.client()
            await client.core_v1.pods("default").create(pod)
    """

    def __init__(
        self,
        *,
        tls: bool | None = None,
        tokens: Mapping[str, User] | None = None,
        rbac: bool = False,
        anonymous: bool | None = None,
        data: str | Path | None = None,
        manifests: Iterable[str | Path] = (),
        host: str = "127.0.0.1",
        port: int = 0,
        allow_hosts: Iterable[str] = (),
        clock: Clock | None = None,
        history: int = HISTORY,
        watch_queue: int = QUEUE,
        bookmark_period: float = 60.0,
    ) -> None:
        needs_credentials = rbac or tokens is not None
        self.service = Service(
            host=host,
            port=port,
            tls=needs_credentials if tls is None else tls,
            tokens=tokens,
            rbac=rbac,
            anonymous=anonymous,
            data=data,
            allow_hosts=allow_hosts,
            clock=clock,
            history=history,
            watch_queue=watch_queue,
            bookmark_period=bookmark_period,
        )
        self._manifests = tuple(manifests)
        self._home = Home()
        self._life = contextlib.AsyncExitStack()
        self._clients = contextlib.AsyncExitStack()

    def __repr__(self) -> str:
        return f"APIServer({self.service.url})"

    # --- what a client needs

    @property
    def url(self) -> str:
        """Where clients find the server, without a slash at the end."""
        return self.service.url

    @property
    def config(self) -> ClusterConfig:
        """How to reach the server, as its administrator."""
        token, ca = self.service.token, self.service.ca or b""
        if not token:
            return ClusterConfig(server=self.url, ca=ca, anonymous=True, namespace="default")
        return ClusterConfig(server=self.url, ca=ca, token=token, namespace="default")

    def client(self, config: ClusterConfig | None = None, **options: Any) -> Client:
        """A client of this server, closed when the server is; `config` says as whom.

        Raises: RuntimeError when the server runs in another thread.
        """
        self._home.must_be_here()
        client = Client(config or self.config, **options)
        self._clients.push_async_callback(client.aclose)
        return client

    def kubeconfig(self) -> str:
        """A kubeconfig for the administrator, as text."""
        token, ca = self.service.token, self.service.ca
        pair = None
        if ca is not None and not token:  # a file cannot say that nobody is meant to be asked
            pair = self.service.client_certificate("kubernetes-admin", ("system:masters",))
        return kubeconfig_text(self.url, ca=ca, pair=pair, token=token)

    # --- what a test does

    @property
    def faults(self) -> Faults:
        """Faults to switch on, reactors, and the record of requests."""
        return self.service.faults

    @property
    def requests(self) -> list[SeenRequest]:
        """The requests so far, oldest first."""
        return list(self.service.faults.requests)

    async def load(self, *manifests: str | Path) -> None:
        """Apply YAML files: namespaces and CRDs first. Cancelled, some may be there."""
        await self._home.do(apply_files(self.config, manifests))

    async def restart(self, *, keep_data: bool = True) -> None:
        """End every connection and start again at the same address, with or without the data.

        Cancelled in the middle, the server is down.
        """
        await self._home.do(self.service.restart(keep_data=keep_data))

    async def refuse_connections(self) -> None:
        """Close the door and every connection; `accept_connections` opens it again."""
        await self._home.do(self.service.refuse_connections())

    async def accept_connections(self) -> None:
        """Listen again, at the same address."""
        await self._home.do(self.service.accept_connections())

    def drop_connections(self) -> None:
        """Break every open connection, without a word."""
        self._home.call(self.service.drop_connections)

    def expire_history(self) -> None:
        """Forget all history now: older versions and continue tokens are answered with 410."""
        self._home.call(self.service.expire_history)

    def rotate_certificate(self) -> None:
        """Show another certificate of the same authority from now on; TLS only."""
        self._home.call(self.service.rotate_certificate)

    def rotate_ca(self) -> None:
        """Be certified by another authority from now on: `config` changes; TLS only."""
        self._home.call(self.service.rotate_ca)

    def rotate_token(self) -> str:
        """Replace the administrator's token: `config` changes, the old token is worth nothing."""
        return self._home.call(self.service.rotate_token)

    def set_log(self, namespace: str, pod: str, text: str, *, container: str = "") -> None:
        """Say what a container has written; without `container`, every one of the pod.

        Said again with more text, whoever follows the log of a running pod is sent the rest.
        """
        self._home.call(lambda: self.service.set_log(namespace, pod, text, container=container))

    def stats(self) -> ServiceStats:
        """A snapshot."""
        return self._home.call(self.service.stats)

    # --- life

    async def __aenter__(self) -> Self:
        async with contextlib.AsyncExitStack() as stack:
            await stack.enter_async_context(self.service)
            self._home.settle()
            # Pushed later, closed earlier: clients go before the server they speak to.
            self._clients = await stack.enter_async_context(contextlib.AsyncExitStack())
            await self.load(*self._manifests)
            self._life = stack.pop_all()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._life.aclose()
