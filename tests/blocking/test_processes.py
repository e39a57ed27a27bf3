"""Ctrl-C, the end of the interpreter and forks, in real processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

from kubeloop.blocking import Client
from kubeloop.testing import APIServer

from .conftest import output_of, program, until

# Whole interpreters have to start.
pytestmark = pytest.mark.timeout(60)

forking = pytest.mark.skipif(not hasattr(os, "fork"), reason="nothing forks here")


def first_line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


# --- Ctrl-C


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent in another way there")
@pytest.mark.parametrize(
    "waiting",
    [
        "for event in maps.watch(resource_version=made.metadata.resource_version): pass  # none comes",
        "maps.wait_for('none', jsonpath='{.data}', timeout=60)",
        "client.core_v1.pods().wait_for('none', deleted=False, condition='Ready', timeout=60)",
    ],
)
def test_ctrl_c_ends_what_waits_in_well_under_a_second(server: APIServer, waiting: str) -> None:
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
        began = time.monotonic()
        process.send_signal(signal.SIGINT)
        said, complained = process.communicate(timeout=30)

    # Far less on a machine with nothing else to do; the rest is room for a busy one.
    assert time.monotonic() - began < 10
    assert complained == ""
    # Nothing runs on behind our back, and the client can still be used.
    assert said.splitlines() == ["interrupted 0", "1"]


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent in another way there")
def test_ctrl_c_that_nobody_catches_ends_the_program_as_ever(server: APIServer) -> None:
    text = """
    maps.create(a_map("first"))
    for event in maps.watch():
        print("ready", flush=True)
    """
    with program(server, text) as process:
        assert first_line(process) == "ready"
        process.send_signal(signal.SIGINT)
        _, complained = process.communicate(timeout=30)

    assert complained.rstrip().endswith("KeyboardInterrupt")
    assert process.returncode == -signal.SIGINT


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent in another way there")
def test_ctrl_c_while_a_program_is_stopped_ends_it_when_it_goes_on(server: APIServer) -> None:
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
        process.send_signal(signal.SIGINT)  # for whichever of its threads wakes up first
        process.send_signal(signal.SIGCONT)
        _, complained = process.communicate(timeout=30)

    assert complained.rstrip().endswith("KeyboardInterrupt")


# --- the end


def test_a_program_ends_cleanly_with_everything_open(server: APIServer) -> None:
    text = """
    maps.create(a_map("first"))
    events = maps.watch()
    next(events)
    is_watching = threading.Event()  # before the end: who calls after it is told so
    daemon = threading.Thread(
        target=lambda: [is_watching.set() for _ in maps.watch()], daemon=True
    )
    daemon.start()
    is_watching.wait()
    with maps.edit("first") as changed:
        changed.data = {"a": "b"}
    block = maps.edit("first")
    block.__enter__()
    mirror = client.informer(ConfigMap, namespace="default")
    mirror.add_handler(on_add=lambda each: threading.Event().wait())
    mirror.__enter__()
    print("end")
    """
    assert output_of(server, text) == ["end"]


def test_connections_are_closed_when_a_program_ends(server: APIServer) -> None:
    output_of(server, "maps.create(a_map('first')); events = maps.watch(); next(events)")

    until(lambda: server.stats().watches.watchers == 0)  # its thread hears of it in a moment


def test_a_call_after_the_end_is_refused_and_does_not_hang(server: APIServer) -> None:
    text = """
    import atexit
    def late():
        PORTAL.end()
        try:
            maps.list()
        except Exception as error:
            print(type(error).__name__)
    atexit.register(late)
    print(len(maps.list()))
    """
    assert output_of(server, text) == ["0", "LoopClosed"]


def test_handlers_of_the_end_may_still_call(server: APIServer) -> None:
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
def test_children_of_a_server_that_forks_have_connections_of_their_own(server: APIServer) -> None:
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
def test_a_child_that_ends_disturbs_nothing_of_its_parent(server: APIServer, end: str) -> None:
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
    # One more request: neither the watch nor the pooled connection had to be opened anew.
    assert output_of(server, text) == ["second 1"]


@forking
def test_a_child_may_fork_and_a_thread_may_call_meanwhile(server: APIServer) -> None:
    text = """
    is_done = threading.Event()
    def busy():
        while not is_done.is_set():
            maps.list()
    thread = threading.Thread(target=busy, daemon=True)  # a child that fails ends the program
    thread.start()
    children = []
    for _ in range(5):
        pid = fork()
        if pid == 0:
            maps.list()
            grandchild = fork()
            if grandchild == 0:
                # One write: grandchildren share the pipe, and must not write into each other.
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
def test_a_mirror_of_the_parent_says_so_in_the_child(server: APIServer) -> None:
    text = """
    with client.informer(ConfigMap, namespace="default") as mirror:
        maps.create(a_map("first"))
        pid = fork()
        if pid == 0:
            try:
                mirror.lister
            except Exception as error:
                print(type(error).__name__, flush=True)
            with client.informer(ConfigMap, namespace="default") as own:
                print(len(own.lister.list()), flush=True)
            sys.exit(0)
        children_end_well(pid)
    """
    assert output_of(server, text) == ["OpenedBeforeFork", "1"]


@forking
def test_what_was_opened_before_a_fork_says_so_in_the_child(server: APIServer) -> None:
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


def test_the_fixture_is_no_stranger_to_the_programs(server: APIServer, client: Client) -> None:
    output_of(server, "maps.create(a_map('theirs'))")

    assert client.core_v1.config_maps().exists("theirs")
