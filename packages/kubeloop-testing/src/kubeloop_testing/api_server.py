"""The embedded API server as tests use it: with a client, a kubeconfig and fixtures.

Guarantees: those of `server.service`; every client that `client()` returns is closed when the
server stops.
See also: the same interface with real binaries (`control_plane`), pytest's fixtures
(`plugin`).
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar, final, overload

from kubeloop.config import ClusterConfig
from kubeloop.kit import Clock
from kubeloop.meta import GroupResource, GroupVersionResource, ObjectKey
from kubeloop.runtime import Client
from kubeloop.wire import JsonObject, Resource, resource_of

from .kubeconfigs import kubeconfig_text
from .manifests import apply_files
from .server.faults import Faults, SeenRequest
from .server.identity import User
from .server.runtime_config import RuntimeConfig
from .server.service import ChangeListener, Service, ServiceStats
from .server.storage.store import HISTORY
from .server.watching import QUEUE
from .threads import ServerLoop

if TYPE_CHECKING:
    from .kubelet import Kubelet

__all__ = ["APIServer"]

R = TypeVar("R", bound=Resource)


@final
class APIServer:
    """A Kubernetes API server in this process, for one `async with` block.

    `tls` serves HTTPS with a generated certificate. `tokens` maps bearer tokens to users; `rbac`
    authorizes by the stored roles. Both imply `tls`, because clients send credentials over TLS
    only; `config` and `client()` then have the credentials of the administrator.
    `anonymous_auth` accepts requests without credentials as `system:anonymous`, as
    `--anonymous-auth` of kube-apiserver; by default unless `tokens` are given without `rbac`.
    Invalid credentials are always rejected with 401.
    `data` is the path of a file in which all objects persist. `manifests` are YAML files that
    are applied before the block begins.
    `runtime_config` enables and disables built-in versions, as `--runtime-config` of
    kube-apiserver: `"api/beta=true,batch/v1/cronjobs=false"`, or a dict of the same keys. By
    default the stable versions are served.
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
        anonymous_auth: bool | None = None,
        data: str | Path | None = None,
        manifests: Iterable[str | Path] = (),
        runtime_config: RuntimeConfig = "",
        host: str = "127.0.0.1",
        port: int = 0,
        allow_hosts: Iterable[str] = (),
        clock: Clock | None = None,
        history: int = HISTORY,
        watch_queue: int = QUEUE,
        bookmark_period: float = 60.0,
    ) -> None:
        needs_credentials = rbac or tokens is not None or anonymous_auth is False
        self.service = Service(
            host=host,
            port=port,
            tls=needs_credentials if tls is None else tls,
            tokens=tokens,
            rbac=rbac,
            anonymous_auth=anonymous_auth,
            data=data,
            runtime_config=runtime_config,
            allow_hosts=allow_hosts,
            clock=clock,
            history=history,
            watch_queue=watch_queue,
            bookmark_period=bookmark_period,
        )
        self._manifests = tuple(manifests)
        self._loop = ServerLoop()
        self._running = contextlib.AsyncExitStack()
        self._clients = contextlib.AsyncExitStack()

    def __repr__(self) -> str:
        return f"APIServer({self.service.url})"

    # --- connecting

    @property
    def url(self) -> str:
        """The base URL, without a trailing slash."""
        return self.service.url

    @property
    def config(self) -> ClusterConfig:
        """The configuration of the administrator."""
        token, ca = self.service.token, self.service.ca or b""
        if not token:
            return ClusterConfig(server=self.url, ca=ca, anonymous=True, namespace="default")
        return ClusterConfig(server=self.url, ca=ca, token=token, namespace="default")

    def client(self, config: ClusterConfig | None = None, **options: Any) -> Client:
        """A client of this server, closed when the server stops; `config` selects the user.

        Raises: RuntimeError when the server runs in another thread.
        """
        self._loop.require_current()
        client = Client(config or self.config, **options)
        self._clients.push_async_callback(client.aclose)
        return client

    def kubeconfig(self) -> str:
        """A kubeconfig for the administrator, as text."""
        token, ca = self.service.token, self.service.ca
        pair = None
        # A kubeconfig cannot say "anonymous": kubectl would prompt for a user name.
        if ca is not None and not token:
            pair = self.service.client_certificate("kubernetes-admin", ("system:masters",))
        return kubeconfig_text(self.url, ca=ca, pair=pair, token=token)

    # --- what is stored

    @property
    def version(self) -> int:
        """The resource version of the latest write."""
        return self._loop.call(lambda: self.service.version)

    def resources(self) -> list[GroupResource]:
        """The resources that have or had objects."""
        return self._loop.call(self.service.resources)

    @overload
    def objects(self, kind: type[R], *, namespace: str = "") -> list[R]: ...
    @overload
    def objects(self, kind: GroupResource, *, namespace: str = "") -> list[JsonObject]: ...
    def objects(self, kind: type[Any] | GroupResource, *, namespace: str = "") -> list[Any]:
        """The stored objects of a kind, without a request; they are yours to change.

        A `GroupResource` gives them as dicts: `server.objects(GroupResource.parse("pods"))`.
        """
        stored = self._loop.call(lambda: self.service.objects(_resource(kind), namespace))
        return [kind.from_dict(obj) for obj in stored] if isinstance(kind, type) else stored

    @overload
    def find(self, kind: type[R], name: str, *, namespace: str = "") -> R | None: ...
    @overload
    def find(self, kind: GroupResource, name: str, *, namespace: str = "") -> JsonObject | None: ...
    def find(self, kind: type[Any] | GroupResource, name: str, *, namespace: str = "") -> Any:
        """One stored object, without a request; None if there is none."""
        key = ObjectKey(namespace, name)
        stored = self._loop.call(lambda: self.service.find(_resource(kind), key))
        return kind.from_dict(stored) if stored and isinstance(kind, type) else stored

    def serves(self, resource: GroupVersionResource) -> bool:
        """Whether a resource is served in a version: built in, or by a CRD."""
        return self._loop.call(lambda: self.service.serves(resource))

    def subscribe(self, listener: ChangeListener) -> None:
        """Call `listener` with a `StoredChange` after each write, also after a restart.

        It is called within the write, in the server's thread: it must neither block nor write.
        """
        self._loop.call(lambda: self.service.subscribe(listener))

    # --- controls for tests

    @property
    def faults(self) -> Faults:
        """Faults to inject, reactors, and the log of requests."""
        return self.service.faults

    @functools.cached_property
    def kubelet(self) -> Kubelet:
        """What containers respond to exec, attach, port-forward and logs."""
        from .kubelet import Kubelet

        return Kubelet(self.service, self._loop)

    @property
    def requests(self) -> list[SeenRequest]:
        """The requests received so far, oldest first."""
        return list(self.service.faults.requests)

    async def load(self, *manifests: str | Path) -> None:
        """Apply YAML files, namespaces and CRDs first. If cancelled, some may be applied."""
        await self._loop.run(apply_files(self.config, manifests))

    async def restart(self, *, keep_data: bool = True) -> None:
        """Close every connection and start again at the same address, with or without the data.

        If cancelled, the server may be stopped.
        """
        await self._loop.run(self.service.restart(keep_data=keep_data))

    async def refuse_connections(self) -> None:
        """Close the listener and every connection, until `accept_connections` is called."""
        await self._loop.run(self.service.refuse_connections())

    async def accept_connections(self) -> None:
        """Listen again, at the same address."""
        await self._loop.run(self.service.accept_connections())

    def drop_connections(self) -> None:
        """Abort every open connection, without a close handshake."""
        self._loop.call(self.service.drop_connections)

    def expire_history(self) -> None:
        """Compact the history now: older versions and continue tokens get a 410."""
        self._loop.call(self.service.expire_history)

    def rotate_certificate(self) -> None:
        """Serve with a new certificate of the same CA from now on; TLS only."""
        self._loop.call(self.service.rotate_certificate)

    def rotate_ca(self) -> None:
        """Serve with a certificate of a new CA from now on: `config` changes; TLS only."""
        self._loop.call(self.service.rotate_ca)

    def rotate_token(self) -> str:
        """Replace the administrator's token: `config` changes, the old token is invalid."""
        return self._loop.call(self.service.rotate_token)

    def set_log(self, namespace: str, pod: str, text: str, *, container: str = "") -> None:
        """Set the log of a container; without `container`, of all containers of the pod.

        If the new text extends the old one, clients that follow the log receive the rest.
        """
        self._loop.call(lambda: self.service.set_log(namespace, pod, text, container=container))

    def stats(self) -> ServiceStats:
        """A snapshot of the server's counters."""
        return self._loop.call(self.service.stats)

    # --- lifecycle

    async def __aenter__(self) -> Self:
        async with contextlib.AsyncExitStack() as stack:
            await stack.enter_async_context(self.service)
            self._loop.bind()
            # Exit stacks close in reverse order: clients close before their server stops.
            self._clients = await stack.enter_async_context(contextlib.AsyncExitStack())
            await self.load(*self._manifests)
            self._running = stack.pop_all()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._running.aclose()


def _resource(kind: type[Resource] | GroupResource) -> GroupResource:
    if isinstance(kind, GroupResource):
        return kind
    info = resource_of(kind)
    return GroupResource(info.group, info.plural)
