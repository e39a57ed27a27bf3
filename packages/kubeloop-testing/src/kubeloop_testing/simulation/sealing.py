"""Refuses every way out of the process of a run, and gives it a cluster of its own.

Python reports sockets, subprocesses and files to audit hooks; what it does not report
(`_posixsubprocess.fork_exec`, threads, loops of uvloop, a listener without a bind) is replaced.
Guarantees: in a sealed run each attempt raises `NotSimulated` and fails the run, also if the
program catches the error; outside of a run nothing is refused. KUBECONFIG, the home directory and
the in-cluster variables lead to the simulated server, and to nothing else.
See also: `loop` (refuses what asyncio has and a simulation has not), docs/reference/simulation.md
(what stays open).
"""

from __future__ import annotations

import _thread
import ipaddress
import os
import shlex
import shutil
import socket
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Final, NamedTuple, NoReturn

from kubeloop.errors import KubeError

from .network import SERVER_NAME
from .places import place_of_call
from .scenarios import Failure

__all__ = ["SERVER_PORT", "NotSimulated", "refuse", "renew_scratch", "sealed", "use_scratch"]

SERVER_PORT: Final = 6443
_MOST_REFUSALS = 20  # then a loop that catches `Exception` and tries again is ended
_MOST_TEXT = 200  # characters of a call
# Modules ask for what the system has when they are imported, and take a refusal for an answer.
_PROBES: Final = frozenset({"_has_ipv6", "has_dualstack_ipv6"})
_WRITING: Final = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


class NotSimulated(KubeError, RuntimeError):
    """A simulated run has called what leads out of the simulation; the run fails."""


class _RunEnds(BaseException):
    """Ends a loop of the user's code that never ends by itself."""


class Kind(NamedTuple):
    """Something that a simulation has not, and what to use in its place."""

    what: str
    advice: str


SOCKET: Final = Kind(
    "socket of the operating system",
    "use a client on asyncio; `world.config` and KUBECONFIG name the simulated server",
)
SUBPROCESS: Final = Kind("subprocess", "await the work in this process, or let the test replace it")
THREAD: Final = Kind("threads", "await the work, or use asyncio.to_thread, which runs in line")
LOOP: Final = Kind("event loop but its own", "use asyncio.get_running_loop()")
TLS: Final = Kind("TLS", "use the plain HTTP of `world.config`")
_SIGNAL: Final = Kind(
    "processes of the operating system", "use crash() or stop() of what `world.run` returns"
)
_FILE: Final = Kind(
    "disk but its scratch folder",
    "write below tempfile.gettempdir(), which is empty when a run begins",
)


class _Run:
    """What is refused in the current run, and what is called then."""

    def __init__(self, on_refusal: Callable[[Failure], None], allow: Sequence[str]) -> None:
        self.on_refusal = on_refusal
        self.allow = allow
        self.refusals = 0


_run: _Run | None = None
_scratch: tuple[str, ...] = ()  # the folder, as it is named and as it is
_is_installed = False


@contextmanager
def sealed(on_refusal: Callable[[Failure], None], *, allow: Sequence[str] = ()) -> Iterator[None]:
    """Refuse every way out in the block; `on_refusal` is called at each attempt.

    What `allow` names is permitted: patterns of calls, as reports show them.
    """
    global _run  # noqa: PLW0603 - one run at a time in a process
    _install()
    _run = _Run(on_refusal, allow)
    try:
        yield
    finally:
        _run = None


def refuse(call: str, kind: Kind) -> NoReturn:
    """Refuse a call, and fail the run if there is one.

    Raises: NotSimulated.
    """
    sentence = f"{call}: a simulation has no {kind.what} ({kind.advice})"
    if _run is not None and not _is_probe():
        _run.refusals += 1
        place = place_of_call()
        _run.on_refusal(Failure("sealed", f"{sentence}{f', at {place}' if place else ''}"))
        if _run.refusals > _MOST_REFUSALS:
            raise _RunEnds(sentence)
    raise NotSimulated(sentence)


def _refuse_unless_allowed(call: str, kind: Kind) -> None:
    if _run is not None and not any(fnmatchcase(call, each) for each in _run.allow):
        refuse(call, kind)


def _is_probe() -> bool:
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename == __file__:
        frame = frame.f_back
    return frame.f_code.co_name in _PROBES


# --- what Python reports


def _hook(event: str, args: tuple[Any, ...]) -> None:
    # Called for every import, open and compile of the process.
    if _run is not None:
        check = _CHECKS.get(event)
        if check is not None:
            check(args)


def _check_address(verb: str) -> Callable[[tuple[Any, ...]], None]:
    return lambda args: _refuse_unless_allowed(f"{verb} {_address(args[1])}", SOCKET)


def _check_name(args: tuple[Any, ...]) -> None:
    with suppress(ValueError):  # an address is its own name: no other machine is asked
        ipaddress.ip_address(args[0])
        return
    _check_lookup(args)


def _check_lookup(args: tuple[Any, ...]) -> None:
    _refuse_unless_allowed(f"look up {_address(args[0])}", SOCKET)


def _check_command(index: int) -> Callable[[tuple[Any, ...]], None]:
    return lambda args: _refuse_unless_allowed(f"run {_command(args[index])}", SUBPROCESS)


def _check_fork(_: tuple[Any, ...]) -> None:
    _refuse_unless_allowed("fork", SUBPROCESS)


def _check_signal(args: tuple[Any, ...]) -> None:
    _refuse_unless_allowed(f"send signal {args[1]} to {args[0]}", _SIGNAL)


def _check_open(args: tuple[Any, ...]) -> None:
    path, _, flags = args
    if isinstance(flags, int) and flags > 0 and flags & _WRITING:
        _check_path(path)


def _check_paths(*positions: int) -> Callable[[tuple[Any, ...]], None]:
    def check(args: tuple[Any, ...]) -> None:
        # A path may be relative to an open folder: how that was opened was checked.
        if not isinstance(args[-1], int) or args[-1] < 0:
            for position in positions:
                _check_path(args[position])

    return check


def _check_database(args: tuple[Any, ...]) -> None:
    path = os.fsdecode(args[0])
    if path.startswith("file:"):
        path, _, query = path.removeprefix("file:").partition("?")
        if "mode=memory" in query or "mode=ro" in query:
            return
    if path not in {"", ":memory:"}:
        _check_path(path)


def _check_path(path: Any) -> None:
    if isinstance(path, int) or not _scratch:
        return
    name = os.fsdecode(path)
    # Bytecode and the data of coverage are of the machinery, not of the program.
    if "__pycache__" in name or Path(name).name.startswith(".coverage"):
        return
    full = os.path.abspath(name)  # noqa: PTH100 - a link stays a link
    if not full.startswith((*_scratch, "/dev/")):
        real = os.path.realpath(full)
        if not real.startswith(_scratch):
            _refuse_unless_allowed(f"write {full}", _FILE)


def _address(value: Any) -> str:
    if isinstance(value, tuple) and len(value) > 1:
        return f"{value[0]}:{value[1]}"
    return os.fsdecode(value) if isinstance(value, str | bytes) else str(value)


def _command(value: Any) -> str:
    with suppress(TypeError, ValueError):
        words = [value] if isinstance(value, str | bytes | os.PathLike) else list(value)
        texts = [os.fsdecode(each) for each in words]
        return (texts[0] if len(texts) == 1 else shlex.join(texts))[:_MOST_TEXT]
    return str(value)[:_MOST_TEXT]


_CHECKS: Final[dict[str, Callable[[tuple[Any, ...]], None]]] = {
    "socket.connect": _check_address("connect to"),
    "socket.bind": _check_address("listen on"),
    "socket.sendto": _check_address("send to"),
    "socket.sendmsg": _check_address("send to"),
    "socket.getaddrinfo": _check_name,
    "socket.gethostbyname": _check_name,
    "socket.gethostbyaddr": _check_lookup,
    "socket.getnameinfo": _check_lookup,
    "subprocess.Popen": _check_command(1),
    "os.system": _check_command(0),
    "os.exec": _check_command(1),
    "os.posix_spawn": _check_command(1),
    "os.spawn": _check_command(2),
    "os.startfile": _check_command(0),
    "_winapi.CreateProcess": _check_command(1),
    "os.fork": _check_fork,
    "os.forkpty": _check_fork,
    "os.kill": _check_signal,
    "os.killpg": _check_signal,
    "open": _check_open,
    "sqlite3.connect": _check_database,
    "os.truncate": lambda args: _check_path(args[0]),
    "os.mkdir": _check_paths(0),
    "os.remove": _check_paths(0),
    "os.rmdir": _check_paths(0),
    "os.rename": _check_paths(0, 1),
    "os.link": _check_paths(1),
    "os.symlink": _check_paths(1),
    "shutil.rmtree": _check_paths(0),
}


# --- what Python does not report


def _install() -> None:
    global _is_installed  # noqa: PLW0603 - a hook cannot be removed
    if _is_installed:
        return
    _is_installed = True
    sys.addaudithook(_hook)
    with suppress(ImportError):
        import _posixsubprocess as spawning

        _guard(spawning, "fork_exec", lambda args: f"run {_command(args[0])}", SUBPROCESS)
    for name in ("start_new_thread", "start_new", "start_joinable_thread"):
        if hasattr(_thread, name):
            _guard(_thread, name, lambda args: f"start {args[0]!r}", THREAD)
    _guard(socket.socket, "listen", lambda args: f"listen on {args[0]}", SOCKET)
    with suppress(ImportError):
        import uvloop

        for module in (uvloop, uvloop.loop):
            vars(module)["Loop"] = _refusing(uvloop.Loop)


def _guard(owner: Any, name: str, call: Callable[[tuple[Any, ...]], str], kind: Kind) -> None:
    real = getattr(owner, name)

    def guarded(*args: Any, **options: Any) -> Any:
        if _run is not None:
            _refuse_unless_allowed(call(args), kind)
        return real(*args, **options)

    setattr(owner, name, guarded)


def _refusing(real: Any) -> Any:
    class Loop(real):  # type: ignore[misc]  # uvloop's class
        def __new__(cls, *args: Any, **options: Any) -> Any:
            if _run is not None:  # its sockets are used in C, which no hook sees
                _refuse_unless_allowed("uvloop.Loop()", LOOP)
            return super().__new__(cls, *args, **options)

    return Loop


# --- the environment of a run

_KUBECONFIG: Final = f"""\
apiVersion: v1
kind: Config
current-context: simulation
clusters: [{{name: simulation, cluster: {{server: "http://{SERVER_NAME}:{SERVER_PORT}"}}}}]
contexts: [{{name: simulation, context: {{cluster: simulation, user: simulation}}}}]
users: [{{name: simulation, user: {{}}}}]
"""
_PROXIES: Final = frozenset({"http_proxy", "https_proxy", "all_proxy", "ftp_proxy", "no_proxy"})
_OF_A_POD: Final = ("KUBERNETES_SERVICE_", "KUBERNETES_PORT")


def use_scratch(folder: str) -> None:
    """Let this process write to `folder` only, and know no cluster but the simulated one.

    Call it before modules of the user are imported: some read KUBECONFIG at once.
    """
    global _scratch  # noqa: PLW0603 - of the process
    _scratch = tuple({folder + os.sep, os.path.realpath(folder) + os.sep})
    for name in list(os.environ):
        if name.lower() in _PROXIES or name.startswith(_OF_A_POD):
            del os.environ[name]
    os.environ.update(
        HOME=folder,
        USERPROFILE=folder,
        KUBECONFIG=str(Path(folder, ".kube", "config")),
        KUBERNETES_SERVICE_HOST=SERVER_NAME,
        KUBERNETES_SERVICE_PORT=str(SERVER_PORT),
        TMPDIR=str(Path(folder, "tmp")),
    )
    tempfile.tempdir = os.environ["TMPDIR"]
    renew_scratch(folder)


def renew_scratch(folder: str) -> None:
    """Empty the folder, except for what every run begins with."""
    for entry in list(os.scandir(folder)):
        if entry.is_dir(follow_symlinks=False):
            shutil.rmtree(entry.path, ignore_errors=True)
        else:
            Path(entry.path).unlink()
    Path(folder, "tmp").mkdir()
    Path(folder, ".kube").mkdir()
    Path(folder, ".kube", "config").write_text(_KUBECONFIG, encoding="utf-8")
