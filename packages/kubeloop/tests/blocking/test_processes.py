"""Ctrl-C, interpreter exit and forks, in real processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

from kubeloop.blocking import Client
from kubeloop_testing import APIServer

from .conftest import output_of, program, until

# Each test starts interpreters.
pytestmark = pytest.mark.timeout(60)

forking = pytest.mark.skipif(not hasattr(os, "fork"), reason="fork is not available")


def first_line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


# --- Ctrl-C


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals only")
@pytest.mark.parametrize(
    "waiting",
    [
        "for event in maps.watch(resource_version=made.metadata.resource_version): pass  # none comes",
        "maps.wait_for('none', jsonpath='{.data}', timeout=60)",
        "client.core_v1.pods().wait_for('none', deleted=False, condition='Ready', timeout=60)",
    ],
)
def test_ctrl_c_interrupts_a_waiting_call_fast(server: APIServer, waiting: str) -> None:
    text = f"""
    made = maps.create(a_map("first"))
    print("ready", flush=True)
    try:
        {waiting}
    except KeyboardInterrupt:
        print("interrupted", PORTAL.stats().tasks, flush=True)
    print(len(maps.list()))
    """
    with program(server, text) as process:
        assert first_line(process) == "ready"
        until(lambda: any(seen.verb == "watch" for seen in server.requests))
        started = time.monotonic()
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=30)

    # Far less on an idle machine; the limit is for busy ones.
    assert time.monotonic() - started < 10
    assert errors == ""
    # No task is left, and the client can still be used.
    assert output.splitlines() == ["interrupted 0", "1"]


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals only")
def test_an_uncaught_ctrl_c_ends_the_program_as_usual(server: APIServer) -> None:
    text = """
    maps.create(a_map("first"))
    for event in maps.watch():
        print("ready", flush=True)
    """
    with program(server, text) as process:
        assert first_line(process) == "ready"
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=30)

    assert errors.rstrip().endswith("KeyboardInterrupt")
    assert process.returncode == -signal.SIGINT


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals only")
def test_ctrl_c_while_a_program_is_stopped_ends_it_when_it_continues(server: APIServer) -> None:
    text = """
    made = maps.create(a_map("first"))
    print("ready", flush=True)
    for event in maps.watch(resource_version=made.metadata.resource_version): pass  # none comes
    """
    with program(server, text) as process:
        assert first_line(process) == "ready"
        until(lambda: any(seen.verb == "watch" for seen in server.requests))
        process.send_signal(signal.SIGSTOP)
        os.waitpid(process.pid, os.WUNTRACED)
        process.send_signal(signal.SIGINT)  # delivered to the thread that wakes up first
        process.send_signal(signal.SIGCONT)
        _, errors = process.communicate(timeout=30)

    assert errors.rstrip().endswith("KeyboardInterrupt")


# --- exit


def test_a_program_exits_cleanly_with_open_streams_and_informers(server: APIServer) -> None:
    text = """
    maps.create(a_map("first"))
    events = maps.watch()
    next(events)
    is_watching = threading.Event()  # before exit: later calls raise
    daemon = threading.Thread(
        target=lambda: [is_watching.set() for _ in maps.watch()], daemon=True
    )
    daemon.start()
    is_watching.wait()
    with maps.edit("first") as changed:
        changed.data = {"a": "b"}
    block = maps.edit("first")
    block.__enter__()
    informer = client.informer(ConfigMap, namespace="default")
    informer.add_handler(on_add=lambda each: threading.Event().wait())
    informer.__enter__()
    print("end")
    """
    assert output_of(server, text) == ["end"]


def test_connections_are_closed_when_a_program_exits(server: APIServer) -> None:
    output_of(server, "maps.create(a_map('first')); events = maps.watch(); next(events)")

    until(lambda: server.stats().watches.watchers == 0)  # the server notices it a moment later


def test_a_call_after_the_loop_was_closed_raises(server: APIServer) -> None:
    text = """
    import atexit
    def late():
        PORTAL.close()
        try:
            maps.list()
        except Exception as error:
            print(type(error).__name__)
    atexit.register(late)
    print(len(maps.list()))
    """
    assert output_of(server, text) == ["0", "LoopClosed"]


def test_atexit_handlers_can_make_calls(server: APIServer) -> None:
    text = """
    import atexit
    atexit.register(lambda: print(len(maps.list())))
    maps.create(a_map("first"))
    """
    assert output_of(server, text) == ["1"]


def test_no_thread_is_started_before_the_first_call(server: APIServer) -> None:
    text = """
    pods = client.core_v1.pods("shop")
    print(threading.active_count(), PORTAL.stats().running)
    """
    assert output_of(server, text) == ["1 False"]


# --- forks


@forking
def test_forked_children_open_their_own_connections(server: APIServer) -> None:
    text = """
    maps.create(a_map("parent"))
    children = []
    for name in ("one", "two"):
        pid = fork()
        if pid == 0:
            assert not PORTAL.stats().running
            maps.create(a_map(name))
            assert client.stats().requests == 1
            client.close()
            sys.exit(0)
        children.append(pid)
    children_end_well(*children)
    print(*sorted(each.metadata.name for each in maps.list()))
    """
    assert output_of(server, text) == ["one parent two"]


@forking
@pytest.mark.parametrize(
    "end",
    [
        "sys.exit(0)",
        "os._exit(0)",
        "client.close(); sys.exit(0)",
        "del client, maps; gc.collect(); sys.exit(0)",
    ],
)
def test_a_child_that_exits_does_not_affect_its_parent(server: APIServer, end: str) -> None:
    text = f"""
    maps.create(a_map("first"))
    events = maps.watch()
    next(events)
    pid = fork()
    if pid == 0:
        del events
        gc.collect()
        {end}
    children_end_well(pid)
    requests = client.stats().requests
    maps.create(a_map("second"))
    print(next(events).object.metadata.name, client.stats().requests - requests)
    """
    # One more request: neither the watch nor the pooled connection was opened again.
    assert output_of(server, text) == ["second 1"]


@forking
def test_a_child_can_fork_while_a_thread_makes_calls(server: APIServer) -> None:
    text = """
    is_done = threading.Event()
    def busy():
        while not is_done.is_set():
            maps.list()
    thread = threading.Thread(target=busy, daemon=True)  # a daemon, so that a failing child ends the program
    thread.start()
    children = []
    for _ in range(5):
        pid = fork()
        if pid == 0:
            maps.list()
            grandchild = fork()
            if grandchild == 0:
                # One write: grandchildren share the pipe, and their output must not mix.
                os.write(1, f"{PORTAL.stats().forks} {len(maps.list())}\\n".encode())
                os._exit(0)
            children_end_well(grandchild)
            os._exit(0)
        children.append(pid)
    children_end_well(*children)
    is_done.set()
    thread.join()
    """
    assert output_of(server, text) == ["2 0"] * 5


@forking
def test_an_informer_of_the_parent_raises_in_the_child(server: APIServer) -> None:
    text = """
    with client.informer(ConfigMap, namespace="default") as informer:
        maps.create(a_map("first"))
        pid = fork()
        if pid == 0:
            try:
                informer.lister
            except Exception as error:
                print(type(error).__name__, flush=True)
            with client.informer(ConfigMap, namespace="default") as own:
                print(len(own.lister.list()), flush=True)
            sys.exit(0)
        children_end_well(pid)
    """
    assert output_of(server, text) == ["OpenedBeforeFork", "1"]


@forking
def test_a_stream_of_the_parent_raises_in_the_child(server: APIServer) -> None:
    text = """
    maps.create(a_map("first"))
    events = maps.watch()
    next(events)
    pid = fork()
    if pid == 0:
        try:
            next(events)
        except Exception as error:
            print(type(error).__name__, flush=True)
        events.close()
        sys.exit(0)
    children_end_well(pid)
    """
    assert output_of(server, text) == ["OpenedBeforeFork"]


def test_the_programs_and_the_fixture_use_the_same_server(
    server: APIServer, client: Client
) -> None:
    output_of(server, "maps.create(a_map('theirs'))")

    assert client.core_v1.config_maps().exists("theirs")
