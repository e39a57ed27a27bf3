"""A real control plane for tests: etcd and kube-apiserver, from a folder of binaries.

Promises: it listens on loopback only, on ports of its own; certificates, keys and an
administrator's kubeconfig are made on the spot; when the block ends, or the process is
killed, the processes and the folder are gone.
Elsewhere: the same interface without binaries (`api_server`), what is started with which
flags (`commands`), keeping the processes (`guardian`).
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

from . import guardian
from .commands import Commands, Ports
from .kubeconfigs import kubeconfig_text
from .loading import apply_files
from .server.access.certs import Authority, KeyPair, write_key
from .server.access.signing import SigningKey
from .threads import Home

__all__ = ["ControlPlane", "ControlPlaneFailed", "assets_folder"]

BINARIES = ("etcd", "kube-apiserver")
CONTROLLER_MANAGER = "kube-controller-manager"
_PATIENCE = 60.0  # seconds until the server must be ready
_TAIL = 25  # lines of a log that are shown


class ControlPlaneFailed(KubeError):
    """The control plane did not come up, or a part of it ended by itself."""


def assets_folder(given: str | Path | None = None) -> Path:
    """The binaries' folder: as given, else `KUBEBUILDER_ASSETS`, else that of `make assets`.

    Raises:
        ControlPlaneFailed: they are not there; no other place is tried then.
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

    `api_server_flags` and `etcd_flags` are added to ours and win over them.
    `controller_manager` runs kube-controller-manager as well, so that deployments roll out
    and namespaces end; `controllers` does so with only those of its controllers that are
    named. `manifests` are applied once the server is ready, CRDs first.

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
        self._guardian: asyncio.subprocess.Process | None = None
        self._folder = Path()
        self._ports: Ports | None = None  # None: it was never started
        self._held = contextlib.ExitStack()  # what keeps the ports ours, also during a restart
        self._names: list[str] = []  # of the processes
        self._authority: Authority | None = None
        self._admin: KeyPair | None = None
        self._ended: asyncio.Task[str] | None = None
        self._restarted = asyncio.Event()
        self._clients = contextlib.AsyncExitStack()
        self._home = Home()

    # --- what a client needs

    @property
    def url(self) -> str:
        """Where clients find the server, without a slash at the end."""
        return f"https://127.0.0.1:{self._listening().api_server}"

    @property
    def etcd_url(self) -> str:
        """Where etcd answers, in the clear and for loopback only: for loads past the API."""
        return f"http://127.0.0.1:{self._listening().etcd}"

    @property
    def ca(self) -> bytes:
        """The certificate to trust, PEM."""
        return self._running().pem

    @property
    def config(self) -> ClusterConfig:
        """How to reach the server as its administrator."""
        return ClusterConfig.from_kubeconfig(self.kubeconfig())

    def client_certificate(self, name: str, groups: tuple[str, ...] = ()) -> KeyPair:
        """A certificate and key that this server accepts as the user `name`."""
        return self._running().client(name, groups=groups)

    def server_certificate(self, *names: str) -> KeyPair:
        """A certificate for loopback and `names` that this server trusts: for a kubelet, say."""
        return self._running().server(*names)

    def kubeconfig(self) -> str:
        """A kubeconfig for the administrator, as text."""
        self._running()
        assert self._admin is not None  # made together with the authority
        return kubeconfig_text(self.url, ca=self.ca, pair=self._admin)

    def client(self, config: ClusterConfig | None = None, **options: Any) -> Client:
        """A client of this server, closed when the server is; `config` says as whom.

        Raises: RuntimeError when the server runs in another thread.
        """
        self._home.must_be_here()
        client = Client(config or self.config, **options)
        self._clients.push_async_callback(client.aclose)
        return client

    def log(self, name: str) -> str:
        """What `etcd`, `kube-apiserver` or `kube-controller-manager` has written so far."""
        path = self._folder / f"{name}.log"
        return path.read_text(errors="replace") if path.exists() else ""

    async def load(self, *manifests: str | Path) -> None:
        """Apply YAML files: namespaces and CRDs first. Cancelled, some may be there."""
        await self._home.do(apply_files(self.config, manifests))

    async def restart(self, name: str = "kube-apiserver") -> None:
        """Kill one of the processes and start it again on what is stored; then it is ready.

        Cancelled, it goes on starting.
        Raises: ControlPlaneFailed when it does not come up again.
        """
        await self._home.do(self._restart(name))

    # --- life

    async def __aenter__(self) -> Self:
        assets = assets_folder(self._assets)
        if self._controllers and not os.access(assets / CONTROLLER_MANAGER, os.X_OK):
            raise ControlPlaneFailed(
                f"{CONTROLLER_MANAGER} is not in {assets} (run `make assets`, or leave out"
                " `controller_manager` and `controllers`)"
            )
        self._home.settle()
        self._folder = Path(tempfile.mkdtemp(prefix="kubeloop-"))
        try:
            await self._start(assets)
            await self._until_ready()
            await self.load(*self._manifests)
        except BaseException:
            await run_to_completion(self._stop())
            shutil.rmtree(self._folder, ignore_errors=True)  # the guardian may never have run
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
        # First of all: from now on somebody removes the folder, whatever becomes of us.
        self._guardian = await asyncio.create_subprocess_exec(
            sys.executable,
            "-I",
            guardian.__file__,
            str(self._folder),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
        self._ports = self._held.enter_context(_held_ports())
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
        parts = [self._process(assets, *part) for part in commands.all()]
        self._names = [part["name"] for part in parts]
        for part in parts:
            await self._order({"start": part})
        self._ended = asyncio.create_task(self._first_end(), name="control plane")

    def _write_keys(self) -> None:
        folder, authority = self._folder, self._running()
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

    # --- readiness and the end

    async def _until_ready(self) -> None:
        assert self._ended is not None  # made by `_start`
        ready = asyncio.create_task(self._answers_ready(), name="ready?")
        try:
            async with self._clock.timeout(_PATIENCE):
                await asyncio.wait({ready, self._ended}, return_when=asyncio.FIRST_COMPLETED)
        except TimeoutError:
            raise self._failure(f"it was not ready within {_PATIENCE:.0f} s") from None
        finally:
            await cancel_and_wait(ready)
        if self._ended.done():
            raise self._failure(self._ended.result())

    async def _answers_ready(self) -> None:
        context = ssl.create_default_context(cadata=self.ca.decode())
        with tempfile.TemporaryDirectory() as folder:
            assert self._admin is not None  # made by `_start`
            context.load_cert_chain(*self._admin.write(Path(folder), "admin"))
        connector = aiohttp.TCPConnector(ssl=context)
        limit = aiohttp.ClientTimeout(total=5)
        async with aiohttp.ClientSession(connector=connector, timeout=limit) as session:
            while True:
                with contextlib.suppress(aiohttp.ClientError, TimeoutError):
                    async with session.get(f"{self.url}/readyz") as answer:
                        if answer.status == 200:
                            return
                await self._clock.sleep(0.05)

    async def _order(self, order: dict[str, Any]) -> None:
        if self._guardian is None:
            raise RuntimeError("the control plane is not running (use it within `async with`)")
        assert self._guardian.stdin is not None  # asked for when it was made
        self._guardian.stdin.write(msgspec.json.encode(order) + b"\n")
        await self._guardian.stdin.drain()

    async def _restart(self, name: str) -> None:
        if name not in self._names:
            raise InvalidArgument(f"restart {name}: it is none of {', '.join(self._names)}")
        self._restarted.clear()
        await self._order({"restart": name})
        assert self._ended is not None  # made by `_start`
        # An old server that still answers must not be taken for the new one.
        done = asyncio.create_task(self._restarted.wait(), name="restarted?")
        try:
            await asyncio.wait({done, self._ended}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            await cancel_and_wait(done)
        await self._until_ready()

    async def _first_end(self) -> str:
        """Take in what the guardian says until a process ends by itself, and say which."""
        assert self._guardian is not None
        assert self._guardian.stdout is not None
        async for line in self._guardian.stdout:
            match msgspec.json.decode(line):
                case {"name": name, "code": code}:
                    return f"{name} ended with {code}"
                case _:
                    self._restarted.set()
        return "the guardian ended"

    def _failure(self, why: str) -> ControlPlaneFailed:
        # Who ended is to blame; when nobody did, all are asked.
        logs = [path for path in sorted(self._folder.glob("*.log")) if why.startswith(path.stem)]
        logs = logs or sorted(self._folder.glob("*.log"))
        shown = "\n".join(f"--- {path.name}\n{_last_lines(path)}" for path in logs)
        return ControlPlaneFailed(f"the control plane failed: {why}\n{shown}")

    async def _stop(self) -> None:
        await self._clients.aclose()
        if self._ended is not None:
            await cancel_and_wait(self._ended)
        if self._guardian is not None:
            assert self._guardian.stdin is not None
            self._guardian.stdin.close()  # this is how it is told
            await self._guardian.wait()
            self._guardian = None
        self._held.close()

    def _running(self) -> Authority:
        if self._authority is None:
            raise RuntimeError("the control plane is not running (use it within `async with`)")
        return self._authority

    def _listening(self) -> Ports:
        self._running()
        assert self._ports is not None  # found before the authority was made
        return self._ports


@contextlib.contextmanager
def _held_ports() -> Iterator[Ports]:
    """Ports for those who share them; nobody else is given one while the block lasts."""
    with contextlib.ExitStack() as stack:
        held = [stack.enter_context(socket.socket()) for _ in range(4)]
        for one in held:
            one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
            one.bind(("127.0.0.1", 0))
        yield Ports(*(int(one.getsockname()[1]) for one in held))


def _last_lines(path: Path) -> str:
    return "\n".join(path.read_text(errors="replace").splitlines()[-_TAIL:])
