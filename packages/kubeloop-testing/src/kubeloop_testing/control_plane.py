"""A real control plane for tests: etcd and kube-apiserver, from a folder of binaries.

Guarantees: it listens on loopback only, on free ports; certificates, keys and the
administrator's kubeconfig are generated at the start; when the block ends, or this process is
killed, the child processes and the folder are removed.
See also: the same interface without binaries (`api_server`), the command lines (`commands`),
the program that owns the child processes (`supervisor`).
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import socket
import ssl
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self, final

import aiohttp
import msgspec

from kubeloop.config import ClusterConfig
from kubeloop.errors import InvalidArgument, KubeError
from kubeloop.kit import Clock, SystemClock, cancel_and_wait, run_to_completion
from kubeloop.runtime import Client

from . import supervisor
from .commands import Commands, Ports
from .kubeconfigs import kubeconfig_text
from .manifests import apply_files
from .server.access.certs import Authority, KeyPair, write_key
from .server.access.signing import SigningKey
from .threads import ServerLoop

__all__ = ["ControlPlane", "ControlPlaneFailed", "assets_folder"]

BINARIES = ("etcd", "kube-apiserver")
CONTROLLER_MANAGER = "kube-controller-manager"
_READY_TIMEOUT = 60.0  # seconds
_LOG_TAIL = 25  # lines of each log in an error


class ControlPlaneFailed(KubeError):
    """The control plane did not start, or one of its processes exited."""


def assets_folder(given: str | Path | None = None) -> Path:
    """The folder of the binaries: as given, else `KUBEBUILDER_ASSETS`, else that of `make assets`.

    Raises:
        ControlPlaneFailed: the binaries are not in that folder; no other folder is tried.
    """
    folder = Path(given or os.environ.get("KUBEBUILDER_ASSETS") or cached_assets())
    if all(os.access(folder / name, os.X_OK) for name in BINARIES):
        return folder
    raise ControlPlaneFailed(
        f"{' and '.join(BINARIES)} are not in {folder} "
        "(set KUBEBUILDER_ASSETS to a folder that has them, or run `make assets`)"
    )


def cached_assets() -> Path:
    """The folder that `make assets` fills."""
    root = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(root, "kubeloop", "assets")


@final
class ControlPlane:
    """etcd and kube-apiserver for one `async with` block.

    `api_server_flags` and `etcd_flags` are added to the default flags and override them.
    `controller_manager` also runs kube-controller-manager, so that deployments roll out and
    namespaces are finalized; `controllers` runs it with only these controllers. `manifests` are
    applied once the server is ready, CRDs first.

        async with ControlPlane(manifests=["crds.yaml"]) as plane:
            client = plane.client()
    """

    def __init__(
        self,
        *,
        assets: str | Path | None = None,
        api_server_flags: Sequence[str] = (),
        etcd_flags: Sequence[str] = (),
        controller_manager: bool = False,
        controllers: Sequence[str] = (),
        manifests: Iterable[str | Path] = (),
        clock: Clock | None = None,
    ) -> None:
        self._assets = assets
        self._flags = {"api_server": tuple(api_server_flags), "etcd": tuple(etcd_flags)}
        self._controllers = tuple(controllers) or (("*",) if controller_manager else ())
        self._manifests = tuple(manifests)
        self._clock = clock or SystemClock()
        self._supervisor: asyncio.subprocess.Process | None = None
        self._folder = Path()
        self._ports: Ports | None = None  # None: it was never started
        # Bound sockets that reserve the ports, also while a process restarts.
        self._reserved = contextlib.ExitStack()
        self._names: list[str] = []  # of the processes
        self._authority: Authority | None = None
        self._admin: KeyPair | None = None
        self._exit: asyncio.Task[str] | None = None  # ends when a process exits by itself
        self._restarted = asyncio.Event()
        self._clients = contextlib.AsyncExitStack()
        self._loop = ServerLoop()

    # --- connecting

    @property
    def url(self) -> str:
        """The base URL, without a trailing slash."""
        return f"https://127.0.0.1:{self._require_ports().api_server}"

    @property
    def etcd_url(self) -> str:
        """The URL of etcd, without TLS and on loopback only: for writes that bypass the API."""
        return f"http://127.0.0.1:{self._require_ports().etcd}"

    @property
    def ca(self) -> bytes:
        """The certificate of the CA, as PEM."""
        return self._require_authority().pem

    @property
    def config(self) -> ClusterConfig:
        """The configuration of the administrator."""
        return ClusterConfig.from_kubeconfig(self.kubeconfig())

    def client_certificate(self, name: str, groups: tuple[str, ...] = ()) -> KeyPair:
        """A certificate and key that this server accepts as the user `name`."""
        return self._require_authority().client(name, groups=groups)

    def server_certificate(self, *names: str) -> KeyPair:
        """A certificate for loopback and `names` that this server trusts, as of a kubelet."""
        return self._require_authority().server(*names)

    def kubeconfig(self) -> str:
        """A kubeconfig for the administrator, as text."""
        self._require_authority()
        assert self._admin is not None  # made together with the authority
        return kubeconfig_text(self.url, ca=self.ca, pair=self._admin)

    def client(self, config: ClusterConfig | None = None, **options: Any) -> Client:
        """A client of this server, closed when the server stops; `config` selects the user.

        Raises: RuntimeError when the server runs in another thread.
        """
        self._loop.require_current()
        client = Client(config or self.config, **options)
        self._clients.push_async_callback(client.aclose)
        return client

    def log(self, name: str) -> str:
        """The log of `etcd`, `kube-apiserver` or `kube-controller-manager` so far."""
        path = self._folder / f"{name}.log"
        return path.read_text(errors="replace") if path.exists() else ""

    async def load(self, *manifests: str | Path) -> None:
        """Apply YAML files, namespaces and CRDs first. If cancelled, some may be applied."""
        await self._loop.run(apply_files(self.config, manifests))

    async def restart(self, name: str = "kube-apiserver") -> None:
        """Kill one of the processes, start it again on the same data, and wait until ready.

        If cancelled, the process still starts.
        Raises: ControlPlaneFailed when it does not become ready.
        """
        await self._loop.run(self._restart(name))

    # --- lifecycle

    async def __aenter__(self) -> Self:
        assets = assets_folder(self._assets)
        if self._controllers and not os.access(assets / CONTROLLER_MANAGER, os.X_OK):
            raise ControlPlaneFailed(
                f"{CONTROLLER_MANAGER} is not in {assets} (run `make assets`, or leave out"
                " `controller_manager` and `controllers`)"
            )
        self._loop.bind()
        self._folder = Path(tempfile.mkdtemp(prefix="kubeloop-"))
        try:
            await self._start(assets)
            await self._wait_ready()
            await self.load(*self._manifests)
        except BaseException:
            await run_to_completion(self._stop())
            shutil.rmtree(self._folder, ignore_errors=True)  # if the supervisor never ran
            raise
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await run_to_completion(self._stop())

    async def _start(self, assets: Path) -> None:
        # Started first: from now on the folder is removed even if this process is killed.
        self._supervisor = await asyncio.create_subprocess_exec(
            sys.executable,
            "-I",
            supervisor.__file__,
            str(self._folder),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
        self._ports = self._reserved.enter_context(_reserve_ports())
        self._authority = Authority("kubeloop")
        self._admin = self._authority.client("admin", groups=("system:masters",))
        self._write_keys()
        commands = Commands(
            self._folder,
            self._ports,
            etcd_flags=self._flags["etcd"],
            api_server_flags=self._flags["api_server"],
            controllers=self._controllers,
        )
        processes = [self._process(assets, *command) for command in commands.all()]
        self._names = [process["name"] for process in processes]
        for process in processes:
            await self._send({"start": process})
        self._exit = asyncio.create_task(self._read_reports(), name="control plane")

    def _write_keys(self) -> None:
        folder, authority = self._folder, self._require_authority()
        (folder / "ca.crt").write_bytes(authority.pem)
        authority.server("127.0.0.1", "localhost").write(folder, "server")
        authority.client("kube-apiserver-kubelet-client").write(folder, "kubelet-client")
        signing = SigningKey()
        write_key(folder / "service-accounts.key", signing.pem)
        (folder / "service-accounts.pub").write_bytes(signing.public_pem)
        write_key(folder / "kubeconfig", self.kubeconfig().encode())

    def _process(self, assets: Path, name: str, flags: Sequence[str]) -> dict[str, Any]:
        return {
            "name": name,
            "command": [str(assets / name), *flags],
            "log": str(self._folder / f"{name}.log"),
        }

    # --- readiness and shutdown

    async def _wait_ready(self) -> None:
        assert self._exit is not None  # made by `_start`
        ready = asyncio.create_task(self._poll_readyz(), name="ready?")
        try:
            async with self._clock.timeout(_READY_TIMEOUT):
                await asyncio.wait({ready, self._exit}, return_when=asyncio.FIRST_COMPLETED)
        except TimeoutError:
            raise self._failure(f"not ready within {_READY_TIMEOUT:.0f} s") from None
        finally:
            await cancel_and_wait(ready)
        if self._exit.done():
            raise self._failure(self._exit.result())

    async def _poll_readyz(self) -> None:
        context = ssl.create_default_context(cadata=self.ca.decode())
        with tempfile.TemporaryDirectory() as folder:
            assert self._admin is not None  # made by `_start`
            context.load_cert_chain(*self._admin.write(Path(folder), "admin"))
        connector = aiohttp.TCPConnector(ssl=context)
        limit = aiohttp.ClientTimeout(total=5)
        async with aiohttp.ClientSession(connector=connector, timeout=limit) as session:
            while True:
                with contextlib.suppress(aiohttp.ClientError, TimeoutError):
                    async with session.get(f"{self.url}/readyz") as response:
                        if response.status == 200:
                            return
                await self._clock.sleep(0.05)

    async def _send(self, command: dict[str, Any]) -> None:
        if self._supervisor is None:
            raise RuntimeError("the control plane is not running (use it within `async with`)")
        assert self._supervisor.stdin is not None  # a PIPE
        self._supervisor.stdin.write(msgspec.json.encode(command) + b"\n")
        await self._supervisor.stdin.drain()

    async def _restart(self, name: str) -> None:
        if name not in self._names:
            raise InvalidArgument(
                f"restart {name}: no such process; running: {', '.join(self._names)}"
            )
        self._restarted.clear()
        await self._send({"restart": name})
        assert self._exit is not None  # made by `_start`
        # Otherwise /readyz of the old process, not yet killed, would count as ready.
        done = asyncio.create_task(self._restarted.wait(), name="restarted?")
        try:
            await asyncio.wait({done, self._exit}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            await cancel_and_wait(done)
        await self._wait_ready()

    async def _read_reports(self) -> str:
        """Read the supervisor's reports until a process exits by itself; return which."""
        assert self._supervisor is not None
        assert self._supervisor.stdout is not None
        async for line in self._supervisor.stdout:
            match msgspec.json.decode(line):
                case {"name": name, "code": code}:
                    return f"{name} exited with code {code}"
                case _:
                    self._restarted.set()
        return "the supervisor exited"

    def _failure(self, reason: str) -> ControlPlaneFailed:
        # With the log of the process that exited; if none did, with all logs.
        logs = [path for path in sorted(self._folder.glob("*.log")) if reason.startswith(path.stem)]
        logs = logs or sorted(self._folder.glob("*.log"))
        tails = "\n".join(f"--- {path.name}\n{_last_lines(path)}" for path in logs)
        return ControlPlaneFailed(f"the control plane failed: {reason}\n{tails}")

    async def _stop(self) -> None:
        await self._clients.aclose()
        if self._exit is not None:
            await cancel_and_wait(self._exit)
        if self._supervisor is not None:
            assert self._supervisor.stdin is not None
            self._supervisor.stdin.close()  # the supervisor stops everything at end of input
            await self._supervisor.wait()
            self._supervisor = None
        self._reserved.close()

    def _require_authority(self) -> Authority:
        if self._authority is None:
            raise RuntimeError("the control plane is not running (use it within `async with`)")
        return self._authority

    def _require_ports(self) -> Ports:
        self._require_authority()
        assert self._ports is not None  # set before the authority
        return self._ports


@contextlib.contextmanager
def _reserve_ports() -> Iterator[Ports]:
    """Reserve ports while the block lasts; only processes with SO_REUSEPORT can bind them."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(4)]
        for each in sockets:
            each.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
            each.bind(("127.0.0.1", 0))
        yield Ports(*(int(each.getsockname()[1]) for each in sockets))


def _last_lines(path: Path) -> str:
    return "\n".join(path.read_text(errors="replace").splitlines()[-_LOG_TAIL:])
