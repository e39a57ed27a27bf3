"""An event loop with virtual time and a network in memory.

Guarantees: time moves only when nothing is ready to run, and then to the next timer at once; no
socket, thread or file is used; callbacks and tasks of a process that was killed never run again,
and those of a paused process run when it is resumed.
See also: `network` (connections), `determinism` (clocks and random numbers of the whole
interpreter), `world` (what runs on this loop).
"""

from __future__ import annotations

import asyncio
import contextvars
import heapq
import itertools
import socket
import weakref
from collections.abc import Callable, Coroutine, Generator
from typing import Any, TypeVar, TypeVarTuple, cast, final

from .network import Address, Endpoint, FakeSocket, Listening, Network
from .sealing import SOCKET, SUBPROCESS, TLS, refuse

__all__ = ["Deadlock", "Incarnation", "SimulatedLoop", "current_process"]

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

_MAX_TURNS = 200_000  # iterations of the loop without any time passing


class Deadlock(Exception):
    """Nothing is ready to run, and no timer is set."""


@final
class Incarnation:
    """One start of a simulated process: everything that was created in its context."""

    def __init__(self, name: str, number: int) -> None:
        self.name = name
        self.number = number
        self.is_dead = False
        self.is_paused = False
        # A coroutine that is freed runs its `finally` blocks: those of a dead process are kept.
        self.held: list[object] = []
        self.tasks: weakref.WeakSet[asyncio.Task[Any]] = weakref.WeakSet()

    def __repr__(self) -> str:
        return f"{self.name} (start {self.number})"


_process: contextvars.ContextVar[Incarnation | None] = contextvars.ContextVar(
    "kubeloop_simulated_process", default=None
)


def current_process() -> Incarnation | None:
    """The simulated process that runs now; None for the test and the simulation itself."""
    return _process.get()


def context_of(process: Incarnation | None) -> contextvars.Context:
    """A context in which everything belongs to `process`."""
    context = contextvars.copy_context()
    context.run(_process.set, process)
    return context


class _Handle(asyncio.Handle):
    __slots__ = ()

    def _run(self) -> None:
        if not _is_held(self):
            super()._run()


class _TimerHandle(asyncio.TimerHandle):
    __slots__ = ("serial",)

    serial: int

    def __lt__(self, other: Any) -> bool:
        # A heap alone does not keep the order of equal times. Called more often than anything
        # else in a run: all timers of this loop are of this class, and no method is called.
        mine: float = self._when  # type: ignore[attr-defined]  # not in typeshed
        theirs: float = other._when
        return mine < theirs if mine != theirs else self.serial < other.serial

    def _run(self) -> None:
        if not _is_held(self):
            super()._run()


def _is_held(handle: Any) -> bool:
    """Whether the process of a callback is dead or paused; then it is kept."""
    process: Incarnation | None = handle._context.get(_process)
    if process is None or not (process.is_dead or process.is_paused):
        return False
    process.held.append(handle)
    return True


class _Future(asyncio.Future[Any]):
    """A future whose place in a set depends on when it was created, not on its address."""

    def __init__(self, *, serial: int, loop: asyncio.AbstractEventLoop) -> None:
        self.serial = serial
        super().__init__(loop=loop)

    def __hash__(self) -> int:
        return self.serial


class _Task(asyncio.Task[Any]):
    """A task whose place in a set depends on when it was created, not on its address."""

    def __init__(self, coro: Any, *, serial: int, **options: Any) -> None:
        self.serial = serial  # before asyncio puts the task into its set of all tasks
        self.process: Incarnation | None = None
        super().__init__(coro, **options)

    def __hash__(self) -> int:
        return self.serial


class _Selector:
    """What the loop of asyncio waits with: it never waits, and moves the time instead."""

    def __init__(self, loop: SimulatedLoop) -> None:
        self._loop = loop

    def select(self, timeout: float | None) -> list[Any]:
        self._loop.wait(timeout)
        return []

    def close(self) -> None:
        pass


@final
class SimulatedLoop(asyncio.BaseEventLoop):
    """Runs tasks in virtual time; the network is in memory (`network`).

    A call in a thread (`asyncio.to_thread`, `run_in_executor`) runs in line. Sockets, files and
    subprocesses are rejected with a clear error.
    """

    is_simulated = True

    def __init__(self, network: Network) -> None:
        self._now = 0.0
        self._turns = 0
        super().__init__()
        self._selector = _Selector(self)
        self._clock_resolution = 1e-9
        self.network = network
        self._serials = itertools.count(1)
        self.set_task_factory(self._new_task)

    # --- time

    def time(self) -> float:
        return self._now

    def wait(self, timeout: float | None) -> None:
        """Move the time to the next timer, or report that there is none."""
        if timeout is None:
            raise Deadlock(self._describe_waits())
        if timeout > 0:
            # Sums of floats differ from the exact time by a little: take the timer's own.
            scheduled = cast("list[asyncio.TimerHandle]", vars(self)["_scheduled"])
            self._now = max(self._now, scheduled[0].when()) if scheduled else self._now + timeout
            self._turns = 0
            return
        self._turns += 1
        if self._turns > _MAX_TURNS:
            raise Deadlock(
                f"{_MAX_TURNS} turns of the event loop at {self._now:.3f} s without any time"
                f" passing: something repeats without waiting\n{self._describe_waits()}"
            )

    def move(self, seconds: float) -> None:
        """Let time pass while nothing else runs, as `time.sleep` does."""
        self._now += max(0.0, seconds)

    # --- callbacks

    def call_soon(  # type: ignore[override]  # the base class has more overloads
        self,
        callback: Callable[..., object],
        *args: Any,
        context: contextvars.Context | None = None,
    ) -> asyncio.Handle:
        handle = _Handle(callback, args, self, context)
        self._ready.append(handle)  # type: ignore[attr-defined]  # not in typeshed
        return handle

    def call_soon_threadsafe(  # type: ignore[override]
        self,
        callback: Callable[..., object],
        *args: Any,
        context: contextvars.Context | None = None,
    ) -> asyncio.Handle:
        return self.call_soon(callback, *args, context=context)  # there are no threads

    def call_at(  # type: ignore[override]
        self,
        when: float,
        callback: Callable[..., object],
        *args: Any,
        context: contextvars.Context | None = None,
    ) -> asyncio.TimerHandle:
        timer = _TimerHandle(when, callback, args, self, context)
        timer.serial = next(self._serials)
        heap: Any = self
        heapq.heappush(heap._scheduled, timer)
        cast("Any", timer)._scheduled = True
        return timer

    def call_later(  # type: ignore[override]
        self,
        delay: float,
        callback: Callable[..., object],
        *args: Any,
        context: contextvars.Context | None = None,
    ) -> asyncio.TimerHandle:
        return self.call_at(self._now + delay, callback, *args, context=context)

    def create_future(self) -> asyncio.Future[Any]:
        return _Future(serial=next(self._serials), loop=self)

    def _new_task(
        self,
        loop: asyncio.AbstractEventLoop,
        coro: Coroutine[Any, Any, T] | Generator[Any, None, T],
        **options: Any,
    ) -> asyncio.Task[T]:
        options.pop("eager_start", None)
        # Names from asyncio's counter would depend on what ran before.
        serial = next(self._serials)
        if options.get("name") is None:
            options["name"] = f"task {serial}"
        task = _Task(coro, serial=serial, loop=loop, **options)
        context = options.get("context")
        process = _process.get() if context is None else context.get(_process)
        if process is not None:
            task.process = process
            process.tasks.add(task)
        return task

    # --- processes

    def kill(self, process: Incarnation) -> None:
        """End a process now: nothing of it runs again, and its connections are reset."""
        process.is_dead = True
        process.held.append(list(process.tasks))
        self.network.reset_all(process)

    def pause(self, process: Incarnation) -> None:
        """Run nothing of a process until `resume`."""
        process.is_paused = True

    def resume(self, process: Incarnation) -> None:
        """Run what a paused process has missed."""
        process.is_paused = False
        if not process.is_dead:
            held, process.held = process.held, []
            self._ready.extend(held)  # type: ignore[attr-defined]

    # --- the network

    def bind(self, host: str, port: int) -> FakeSocket:
        """What `kubeloop.kit.listen` uses in place of a socket."""
        return FakeSocket(self.network.address(host, port), None)

    async def create_server(  # type: ignore[override]
        self,
        protocol_factory: Callable[[], asyncio.BaseProtocol],
        host: str | None = None,
        port: int = 0,
        *,
        sock: FakeSocket | None = None,
        ssl: object = None,
        **_: Any,
    ) -> Listening:
        if ssl:
            refuse(f"listen on {host}:{port}", TLS)
        where = sock.getsockname() if sock is not None else self.network.address(host or "", port)
        context = contextvars.copy_context()
        return self.network.listen(self, where, protocol_factory, context)

    async def create_connection(  # type: ignore[override]
        self,
        protocol_factory: Callable[[], asyncio.BaseProtocol],
        host: str | None = None,
        port: int | None = None,
        *,
        ssl: object = None,
        sock: object = None,
        **_: Any,
    ) -> tuple[Endpoint, asyncio.BaseProtocol]:
        if ssl:
            refuse(f"connect to {host}:{port}", TLS)
        if sock is not None or host is None or port is None:
            refuse("create_connection(sock=…)", SOCKET)
        protocol = protocol_factory()
        endpoint = await self.network.connect(self, (host, port), protocol)
        return endpoint, protocol

    async def getaddrinfo(  # type: ignore[override]
        self, host: str | None, port: int | str | None, **_: Any
    ) -> list[tuple[int, int, int, str, Address]]:
        where = (host or "127.0.0.1", int(port or 0))
        return [(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", where)]

    # --- what a simulation has not

    def run_in_executor(self, _: object, func: Callable[[*Ts], T], *args: *Ts) -> asyncio.Future[T]:
        future: asyncio.Future[T] = self.create_future()
        try:
            future.set_result(func(*args))
        except Exception as error:  # noqa: BLE001 - raised where the call is awaited
            future.set_exception(error)
        return future

    def _make_subprocess_transport(self, _: object, args: Any, *__: Any, **___: Any) -> Any:
        refuse(f"run {args if isinstance(args, str) else ' '.join(map(str, args))}", SUBPROCESS)

    def _refuse_socket(self, *_: Any, **__: Any) -> Any:
        refuse("a socket or pipe of asyncio", SOCKET)

    create_datagram_endpoint = create_unix_connection = create_unix_server = _refuse_socket
    connect_accepted_socket = connect_read_pipe = connect_write_pipe = _refuse_socket
    sock_recv = sock_recv_into = sock_recvfrom = sock_sendall = sock_sendto = _refuse_socket
    sock_connect = sock_accept = sock_sendfile = sendfile = start_tls = _refuse_socket
    add_reader = add_writer = cast("Any", _refuse_socket)

    def add_signal_handler(self, *_: Any) -> None:  # type: ignore[override]
        raise NotImplementedError

    def remove_signal_handler(self, *_: Any) -> bool:
        raise NotImplementedError

    def _process_events(self, event_list: list[Any]) -> None:
        pass

    def _write_to_self(self) -> None:
        pass

    def _describe_waits(self) -> str:
        lines = ["deadlock: nothing is ready to run, and no timer is set. What waits:"]
        tasks = cast("set[_Task]", asyncio.all_tasks(self))
        lines += [
            f"  {task.process or 'the test'}: {task.get_name()} {_where(task)}"
            for task in sorted(tasks, key=lambda each: each.serial)
        ]
        return "\n".join(lines)


def _where(task: asyncio.Task[Any]) -> str:
    """What a task awaits: the innermost coroutine that is ours or the user's."""
    found = "has not started"
    one: Any = task.get_coro()
    while one is not None:
        frame = getattr(one, "cr_frame", None) or getattr(one, "ag_frame", None)
        if frame is not None and "asyncio" not in frame.f_code.co_filename:
            code = frame.f_code
            found = f"waits in {code.co_qualname} ({code.co_filename}:{frame.f_lineno})"
        one = getattr(one, "cr_await", None) or getattr(one, "ag_await", None)
    return found
