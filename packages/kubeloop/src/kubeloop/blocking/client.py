"""The client for code without asyncio.

Guarantees: thread-safe; no connection is opened and no thread started before the first call. A
forked child that uses a client of its parent opens its own connections at its first call.
See also: `_generated.client` (the other methods), `_generated.clients` (the verbs), `informer`
(informers), `portal` (the loop thread).
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Self, TypeVar, final

from kubeloop import clients, runtime
from kubeloop.clients import ReadFormat
from kubeloop.config import ClusterConfig
from kubeloop.errors import InvalidArgument, TransportError
from kubeloop.kit import DEFAULT_RETRY, Backoff, Clock
from kubeloop.rest import Headers, ResponseLimits, WarningHandler
from kubeloop.rest import RESTClient as AsyncRESTClient

from ._generated.client import ClientVerbs
from .calls import call, in_caller_thread
from .context import BlockingContext
from .leadership import hold_leadership
from .portal import PORTAL, ClientScope, Closable, Portal
from .reference import LoopReference

if TYPE_CHECKING:  # imported only by programs that use an election
    from kubeloop.election import Leadership
    from kubeloop.runtime import LeaderElection

__all__ = ["Client", "retry_on_conflict"]

T = TypeVar("T")


@final
class Client(ClientVerbs):
    """A client for one cluster.

        with Client() as client:                       # kubeconfig, or service account
            pods = client.resource(Pod, namespace="shop")
            deployments = client.apps_v1.deployments("shop")

    A namespace of None is that of the configuration, `ALL_NAMESPACES` all of them.
    `field_manager` is the default owner of written fields. `request_timeout` limits each call
    with its retries, in seconds; `rate_limit` is in requests per second (with a burst of twice
    as many); `response_limits` limit the size of responses; `headers` are sent with every
    request. `tune_gc` pauses the garbage collector while a list is decoded.
    `format="protobuf"` reads built-in kinds as protobuf. `rest` creates the REST client if you
    need other options: it is called in the loop thread, and again in each forked child. Without
    a `with` block, call `close()`.
    """

    def __init__(
        self,
        config: ClusterConfig | None = None,
        *,
        rest: Callable[[], AsyncRESTClient] | None = None,
        field_manager: str = "",
        request_timeout: float | None = None,
        rate_limit: float | None = None,
        response_limits: ResponseLimits | None = None,
        warnings: WarningHandler | None = None,
        headers: Headers = (),
        clock: Clock | None = None,
        tune_gc: bool = False,
        format: ReadFormat | None = None,  # noqa: A002 - what it is
    ) -> None:
        options = (config, request_timeout, rate_limit, response_limits, warnings, clock)
        if rest is not None and (headers or any(each is not None for each in options)):
            raise InvalidArgument(
                "client: pass either `rest` or options of the REST client, not both"
            )
        create = partial(
            runtime.Client,
            config,
            field_manager=field_manager,
            request_timeout=request_timeout,
            rate_limit=rate_limit,
            response_limits=response_limits,
            warnings=warnings,
            headers=headers,
            clock=clock,
            tune_gc=tune_gc,
            format=format,
        )
        create()  # validates the options here instead of at the first call
        self._connection = _Connection(create, rest)
        self._reference = LoopReference(self._connection.open, self._connection.scope)
        # Resource clients keep the reference, so this runs after the last of them is collected.
        weakref.finalize(self._reference, self._connection.close_soon).atexit = False

    # --- lifecycle

    def __enter__(self) -> Self:
        self._reference.call(lambda wrapped: wrapped.__aenter__())
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close every connection; running and later calls fail.

        Idempotent. In a forked child only the connections of the child are closed.
        """
        self._connection.close()

    def __repr__(self) -> str:
        return f"blocking {self._reference!r}"

    def leadership(self, election: LeaderElection) -> AbstractContextManager[Leadership]:
        """Wait for leadership, and hold it within the block.

            with client.leadership(LeaderElection("reports", namespace="ops")) as term:
                for each in work:
                    term.ensure()
                    do(each)

        Raises: LeadershipLost, from `ensure()` and at the end of the block. Use `hard_exit` of
        the election if the block does not call `ensure()`.
        """
        # Owned by the portal: closing the client does not end the term.
        return BlockingContext(
            PORTAL, lambda: hold_leadership(self._reference.get(), election), waits_for_block=True
        )


def retry_on_conflict(change: Callable[[], T], *, backoff: Backoff = DEFAULT_RETRY) -> T:
    """Call `change` until there is no conflict, at most `backoff.steps` times.

    `change` has to read the object again each time; it is called in this thread.
    """
    return call(
        PORTAL, lambda: clients.retry_on_conflict(in_caller_thread(change), backoff=backoff)
    )


@final
class _Connection:
    """Opens the async client once per process. It has no reference to the blocking client."""

    def __init__(
        self,
        create: Callable[..., runtime.Client],
        rest: Callable[[], AsyncRESTClient] | None,
        *,
        portal: Portal = PORTAL,
    ) -> None:
        self._create_client = create
        self._create_rest = rest
        self._portal = portal
        self.scope = ClientScope(portal)
        self._open: tuple[int, Closable] | None = None  # with the fork count of its process
        self._is_closed = False

    def open(self) -> runtime.Client:
        """The client of this process; in the loop thread.

        Raises: TransportError if it was closed.
        """
        if self._is_closed:
            raise TransportError(
                "send a request: the client is closed (use it inside its `with` block)"
            )
        client, closable = self._create()
        self._portal.own(closable)
        self._open = (self._portal.forks, closable)
        return client

    def close(self) -> None:
        """Close the client of this process, and wait for it."""
        self._is_closed = True
        current = self._open
        if current is not None and current[0] == self._portal.forks:
            call(self._portal, lambda: self._close(current[1]))

    def close_soon(self) -> None:
        """Close the client of this process without waiting, after it was collected."""
        current = self._open
        if current is not None and not self._is_closed:
            self._portal.post_if_running(lambda: self._spawn_close(current[1]), forks=current[0])

    async def _close(self, closable: Closable) -> None:
        await self.scope.close()
        await self._portal.close_owned(closable)

    def _spawn_close(self, closable: Closable) -> None:
        self._portal.spawn(self._portal.close_owned(closable))

    def _create(self) -> tuple[runtime.Client, Closable]:
        """A client, and what has to be closed: a client does not close a REST client passed in."""
        if self._create_rest is not None:
            rest = self._create_rest()
            return self._create_client(rest=rest), rest
        client = self._create_client()
        return client, client
