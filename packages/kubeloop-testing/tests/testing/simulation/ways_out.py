"""Ways out of a simulated run, each as one function of the port of a listener and a marker file.

See also: `test_sealing` (tries them, and looks whether anything arrived).
"""

from __future__ import annotations

import _thread
import asyncio
import ctypes.util
import http.client
import multiprocessing
import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Awaitable, Callable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeAlias

import httpx
import kubernetes
import requests
import uvloop

WayOut: TypeAlias = Callable[[int, Path], Awaitable[object] | object]

HOST = "127.0.0.1"


def _touch(marker: Path) -> list[str]:
    return [sys.executable, "-S", "-c", f"open({str(marker)!r}, 'w')"]


def _get(port: int) -> bytes:
    with urllib.request.urlopen(f"http://{HOST}:{port}/", timeout=5) as response:
        return bytes(response.read())


def _connect(port: int) -> None:
    socket.create_connection((HOST, port), timeout=5).close()


def use_http_client(port: int, _: Path) -> None:
    http.client.HTTPConnection(HOST, port, timeout=5).request("GET", "/")


def use_official_client(port: int, _: Path) -> None:
    config = kubernetes.client.Configuration(host=f"http://{HOST}:{port}")
    kubernetes.client.CoreV1Api(kubernetes.client.ApiClient(config)).list_namespace()


def use_official_client_of_kubeconfig(_: int, __: Path) -> None:
    kubernetes.config.load_kube_config()
    kubernetes.client.CoreV1Api().list_namespace()


def connect_with_code(port: int, _: Path) -> None:
    with socket.socket() as sock:
        sock.connect_ex((HOST, port))


def send_udp(port: int, _: Path) -> None:
    with socket.socket(type=socket.SOCK_DGRAM) as sock:
        sock.sendto(b"hello", (HOST, port))


def send_message(port: int, _: Path) -> None:
    with socket.socket(type=socket.SOCK_DGRAM) as sock:
        sock.sendmsg([b"hello"], [], 0, (HOST, port))


def connect_unix(_: int, marker: Path) -> None:
    with socket.socket(socket.AF_UNIX) as sock:
        sock.connect(str(marker))


def bind(_: int, __: Path) -> None:
    with socket.socket() as sock:
        sock.bind((HOST, 0))


def listen_without_bind(_: int, __: Path) -> None:
    with socket.socket() as sock:
        sock.listen()


def connect_in_thread(port: int, _: Path) -> None:
    threading.Thread(target=_connect, args=[port]).start()


def connect_in_pool(port: int, _: Path) -> None:
    with ThreadPoolExecutor() as pool:
        pool.submit(_connect, port).result()


async def connect_in_line(port: int, _: Path) -> None:
    await asyncio.to_thread(_connect, port)


async def run_asyncio(_: int, marker: Path) -> None:
    await asyncio.create_subprocess_exec(*_touch(marker))


async def run_asyncio_shell(_: int, marker: Path) -> None:
    await asyncio.create_subprocess_shell(f"touch {marker}")


def fork(_: int, marker: Path) -> None:
    child = os.fork()
    if not child:
        marker.touch()
        os._exit(0)
    os.waitpid(child, 0)


def spawn(_: int, marker: Path) -> None:
    command = _touch(marker)
    os.waitpid(os.posix_spawn(command[0], command, {}), 0)


def run_in_process(method: str) -> WayOut:
    def run(_: int, marker: Path) -> None:
        context: Any = multiprocessing.get_context(method)
        process = context.Process(target=marker.touch)
        process.start()
        process.join()

    return run


def use_process_pool(_: int, marker: Path) -> None:
    with ProcessPoolExecutor(1) as pool:
        pool.submit(marker.touch).result()


def connect_database(_: int, marker: Path) -> None:
    sqlite3.connect(marker).close()


def rename_into_place(_: int, marker: Path) -> None:
    source = Path("~/source").expanduser()
    source.touch()
    source.rename(marker)


def copy_into_place(_: int, marker: Path) -> None:
    shutil.copy(__file__, marker)


def make_loop_of_uvloop(_: int, __: Path) -> None:
    uvloop.new_event_loop().close()


WAYS_OUT: dict[str, WayOut] = {
    "urllib": lambda port, _: _get(port),
    "requests": lambda port, _: requests.get(f"http://{HOST}:{port}", timeout=5),
    "httpx": lambda port, _: httpx.get(f"http://{HOST}:{port}"),
    "http.client": use_http_client,
    "official client": use_official_client,
    "official client by KUBECONFIG": use_official_client_of_kubeconfig,
    "create_connection": lambda port, _: _connect(port),
    "connect_ex": connect_with_code,
    "UDP sendto": send_udp,
    "UDP sendmsg": send_message,
    "unix socket": connect_unix,
    "bind": bind,
    "listen": listen_without_bind,
    "thread": connect_in_thread,
    "thread pool": connect_in_pool,
    "raw thread": lambda port, _: _thread.start_new_thread(_connect, (port,)),
    "to_thread": connect_in_line,
    "getaddrinfo": lambda _, __: socket.getaddrinfo("example.com", 80),
    "gethostbyname": lambda _, __: socket.gethostbyname("example.com"),
    "gethostbyaddr": lambda _, __: socket.gethostbyaddr("127.0.0.1"),
    "subprocess.run": lambda _, marker: subprocess.run(_touch(marker), check=True),
    "os.popen": lambda _, marker: os.popen(f"touch {marker}").read(),
    "os.system": lambda _, marker: os.system(f"touch {marker}"),
    "os.execv": lambda _, marker: os.execv(sys.executable, _touch(marker)),
    "os.spawnv": lambda _, marker: os.spawnv(os.P_WAIT, sys.executable, _touch(marker)),
    "os.posix_spawn": spawn,
    "os.fork": fork,
    "asyncio exec": run_asyncio,
    "asyncio shell": run_asyncio_shell,
    "multiprocessing fork": run_in_process("fork"),
    "multiprocessing spawn": run_in_process("spawn"),
    "multiprocessing forkserver": run_in_process("forkserver"),
    "process pool": use_process_pool,
    "find_library": lambda _, __: ctypes.util.find_library("c"),
    "os.kill": lambda _, __: os.kill(os.getpid(), signal.SIGTERM),
    "open": lambda _, marker: marker.write_text("out"),
    "os.open": lambda _, marker: os.open(marker, os.O_CREAT | os.O_WRONLY),
    "mkdir": lambda _, marker: marker.mkdir(),
    "symlink": lambda _, marker: marker.symlink_to(__file__),
    "rename": rename_into_place,
    "copy": copy_into_place,
    "sqlite3": connect_database,
    "uvloop": make_loop_of_uvloop,
}
