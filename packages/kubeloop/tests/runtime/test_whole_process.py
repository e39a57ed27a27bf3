"""Whole processes: signals, and that a process ends whatever it runs."""

from __future__ import annotations

import asyncio
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from kubeloop.runtime import Client
from kubeloop.wire.coordination.v1 import Lease
from kubeloop.wire.core.v1 import ConfigMap
from kubeloop_testing import APIServer

from .websites import a_config

pytestmark = pytest.mark.timeout(60)  # Python starts, and a busy machine takes its time

NO_UVLOOP = """
import sys

sys.modules["uvloop"] = None
"""

LEADS = """
import asyncio
from kubeloop import Client, run
from kubeloop.election import LeaderElector
from kubeloop.wire.coordination.v1 import Lease

async def main():
    async with Client() as client:
        elector = LeaderElector(client.resource(Lease, namespace="default"), "jobs", identity="me")
        async with elector.leadership():
            try:
                print("begun", flush=True)
                await asyncio.sleep(3600)
            finally:
                print("cleaned up", flush=True)

run(main())
"""

HAS_ITS_OWN = """
import asyncio, os, signal
from kubeloop import run

async def main():
    if {on_loop}:
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, os._exit, 7)
    print("begun", flush=True)
    await asyncio.sleep(3600)

if not {on_loop}:
    signal.signal(signal.SIGTERM, lambda *_: os._exit(7))
run(main())
"""

IGNORES_CANCELLATION = """
import asyncio
from kubeloop import run
ends = __import__("sys").modules["kubeloop.kit.running"]  # the package has a function of the name

ends.TASKS_GRACE = 0.2

async def stubborn():
    while True:
        try:
            await asyncio.sleep(3600)
        except {error}:
            pass

async def main():
    task = asyncio.create_task(stubborn(), name="a stubborn task")
    await asyncio.sleep(0)
    print("begun", flush=True)
    {then}

run(main())
"""

SECOND = """
import asyncio
from kubeloop import run

async def main():
    print("begun", flush=True)
    while True:
        try:
            await asyncio.sleep(3600)
        except asyncio.CancelledError:
            print("cancelled", flush=True)

run(main())
"""

THREAD = """
import asyncio, threading
from kubeloop import run

ends = __import__("sys").modules["kubeloop.kit.running"]
ends.THREADS_GRACE = 0.2

async def main():
    begun = threading.Event()
    def hang():
        begun.set()
        threading.Event().wait()
    task = asyncio.create_task(asyncio.to_thread(hang))
    while not begun.is_set():
        await asyncio.sleep(0.01)
    print("begun", flush=True)
    {then}

run(main())
"""

MANAGER = """
import asyncio
from kubeloop import Context, Manager, ObjectKey, run
from kubeloop.wire.core.v1 import ConfigMap
import kubeloop.runtime.lifecycle as lifecycle

ends = __import__("sys").modules["kubeloop.kit.running"]
lifecycle.CANCEL_TIMEOUT = ends.TASKS_GRACE = 0.4
manager = Manager(leader_election="sites", grace={grace})

@manager.controller(ConfigMap)
async def reconcile(key: ObjectKey, ctx: Context) -> None:
    print("begun", flush=True)
    while True:
        try:
            await asyncio.sleep(3600)
        except {error}:
            {answer}

run(manager.run())
"""

THREAD_OF_A_RECONCILE = """
import asyncio, threading
from kubeloop import Context, Manager, ObjectKey, run
from kubeloop.wire.core.v1 import ConfigMap
import kubeloop.runtime.lifecycle as lifecycle

ends = __import__("sys").modules["kubeloop.kit.running"]
lifecycle.CANCEL_TIMEOUT = ends.TASKS_GRACE = 0.4
ends.THREADS_GRACE = {threads}
manager = Manager(leader_election="sites", grace={grace})

has_begun = threading.Event()

def work() -> None:
    has_begun.set()  # before that the call can still be cancelled
    if {timeout} > 60:
        print("begun", flush=True)
    threading.Event().wait()

@manager.controller(ConfigMap, timeout={timeout})
async def reconcile(key: ObjectKey, ctx: Context) -> None:
    if has_begun.is_set():  # and has timed out
        print("begun", flush=True)
    else:
        await asyncio.to_thread(work)

run(manager.run())
"""

Started = Callable[[str], Coroutine[Any, Any, Process]]


@pytest.fixture
async def start(server: APIServer, tmp_path: Path) -> AsyncIterator[Started]:
    """Starts a program against the server, and returns when it has printed that it runs."""
    config = tmp_path / "config"
    config.write_text(server.kubeconfig())
    processes: list[Process] = []

    async def started(program: str) -> Process:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            *("-c", program),
            env={"KUBECONFIG": str(config), "PATH": "", "PYTHONPATH": ":".join(sys.path)},
            stdout=PIPE,
            stderr=PIPE,
        )
        processes.append(process)
        assert process.stdout is not None
        line = await process.stdout.readline()
        assert line == b"begun\n", await process.communicate()
        return process

    yield started
    for process in processes:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def ends(process: Process) -> tuple[int | None, str, str]:
    out, err = await process.communicate()
    return process.returncode, out.decode(), err.decode()


@pytest.mark.parametrize("program", [LEADS, NO_UVLOOP + LEADS], ids=["uvloop", "asyncio"])
async def test_sigterm_cleans_up_and_releases_the_lease(
    start: Started, client: Client, program: str
) -> None:
    process = await start(program)

    process.send_signal(signal.SIGTERM)
    code, out, err = await ends(process)

    assert (code, out, err) == (128 + signal.SIGTERM, "cleaned up\n", "")
    lease = await client.resource(Lease).get("jobs")
    assert not lease.spec.holder_identity


async def test_ctrl_c_cleans_up_and_releases_the_lease(start: Started, client: Client) -> None:
    process = await start(LEADS)

    process.send_signal(signal.SIGINT)
    code, out, err = await ends(process)

    assert out == "cleaned up\n"
    assert "KeyboardInterrupt" in err
    assert code
    lease = await client.resource(Lease).get("jobs")
    assert not lease.spec.holder_identity


@pytest.mark.parametrize("on_loop", [True, False], ids=["the loop's", "Python's"])
async def test_a_programs_own_handler_of_sigterm_stays(start: Started, on_loop: bool) -> None:
    process = await start(HAS_ITS_OWN.format(on_loop=on_loop))

    process.send_signal(signal.SIGTERM)
    code, _, _ = await ends(process)

    assert code == 7


@pytest.mark.parametrize("error", ["asyncio.CancelledError", "BaseException"])
@pytest.mark.parametrize("then", ["return", "await asyncio.sleep(3600)"])
async def test_a_task_that_ignores_cancellation_does_not_keep_the_process(
    start: Started, error: str, then: str
) -> None:
    process = await start(IGNORES_CANCELLATION.format(error=error, then=then))

    if then != "return":
        process.send_signal(signal.SIGTERM)
    code, _, err = await ends(process)

    assert code == (0 if then == "return" else 128 + signal.SIGTERM)
    assert "abandoning what still runs: a stubborn task" in err


@pytest.mark.parametrize("then", ["return", "await task"])
async def test_a_thread_that_never_ends_does_not_keep_the_process(
    start: Started, then: str
) -> None:
    process = await start(THREAD.format(then=then))

    if then != "return":
        process.send_signal(signal.SIGTERM)
    code, _, err = await ends(process)

    assert code == (0 if then == "return" else 128 + signal.SIGTERM)
    assert "abandoning what still runs: a thread of asyncio.to_thread" in err


@pytest.mark.parametrize("program", [SECOND, NO_UVLOOP + SECOND], ids=["uvloop", "asyncio"])
async def test_a_second_sigterm_does_not_wait(start: Started, program: str) -> None:
    process = await start(program)
    assert process.stdout is not None

    process.send_signal(signal.SIGTERM)
    assert await process.stdout.readline() == b"cancelled\n"
    process.send_signal(signal.SIGTERM)
    code, _, _ = await ends(process)

    assert code == 128 + signal.SIGTERM


@pytest.mark.parametrize("error", ["asyncio.CancelledError", "BaseException"])
async def test_a_manager_whose_work_ignores_cancellation_ends_with_an_error_and_keeps_the_lease(
    start: Started, client: Client, error: str
) -> None:
    await client.resource(ConfigMap).create(a_config("one"))
    process = await start(MANAGER.format(grace=0.1, error=error, answer="pass"))

    process.send_signal(signal.SIGTERM)
    code, _, err = await ends(process)

    assert code == 1
    assert "ShutdownTimeout: stop the manager: configmap default/one: still running" in err
    lease = await client.resource(Lease).get("sites")
    assert lease.spec.holder_identity


async def test_a_stopped_manager_ends_without_an_error(start: Started, client: Client) -> None:
    await client.resource(ConfigMap).create(a_config("one"))
    program = MANAGER.format(grace=0.1, error="asyncio.CancelledError", answer="raise")
    process = await start(program)

    process.send_signal(signal.SIGTERM)
    code, _, _ = await ends(process)

    assert code == 0
    lease = await client.resource(Lease).get("sites")
    assert not lease.spec.holder_identity


@pytest.mark.parametrize(
    ("seconds", "named"), [(300, "default/one"), (0.1, "a thread of a key that timed out")]
)
async def test_the_lease_is_kept_while_a_thread_of_a_reconcile_runs(
    start: Started, client: Client, seconds: float, named: str
) -> None:
    await client.resource(ConfigMap).create(a_config("one"))
    process = await start(THREAD_OF_A_RECONCILE.format(grace=0.1, timeout=seconds, threads=0.1))

    process.send_signal(signal.SIGTERM)
    code, _, err = await ends(process)

    assert code == 1
    assert f"ShutdownTimeout: stop the manager: configmap {named}: still running" in err
    lease = await client.resource(Lease).get("sites")
    assert lease.spec.holder_identity


async def test_a_second_sigterm_to_a_manager_waits_for_no_thread_and_shows_no_traceback(
    start: Started, client: Client
) -> None:
    await client.resource(ConfigMap).create(a_config("one"))
    process = await start(THREAD_OF_A_RECONCILE.format(grace=3600, timeout=7200, threads=3600))
    assert process.stderr is not None

    process.send_signal(signal.SIGTERM)
    while b"waiting for running reconciles" not in await process.stderr.readline():
        pass
    process.send_signal(signal.SIGTERM)
    code, _, err = await ends(process)

    assert code == 128 + signal.SIGTERM
    assert "still running after two cancellations" in err
    assert "Traceback" not in err
