"""What the containers of the embedded server do: for tests of exec, ports, cp and logs.

Guarantees: thread-safe, as the methods of `APIServer`; entries survive a restart of the server. No
program of this machine is ever started, and no container runs: a command is a Python function.
See also: `server.kubelet` (the entries), `workloads` (pods that run by themselves).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypedDict, Unpack, final

from kubeloop.wire import InvalidArgument

from .server.kubelet.files import FileNode, FileTree
from .server.kubelet.processes import Program, table_program
from .server.kubelet.programs import ContainerMatch, PortTarget
from .server.service import Service
from .threads import ServerLoop

__all__ = ["Kubelet", "Where"]


class Where(TypedDict, total=False):
    """Which containers an entry is for; patterns such as `web-*`, by default all."""

    namespace: str
    pod: str
    container: str


@final
class Kubelet:
    """Decides what containers respond to exec, attach, port-forward and logs.

        server.kubelet.command("ls", stdout="bin\\netc\\n")
        server.kubelet.command("sh", shell, pod="web-*", container="app")
        server.kubelet.port(8080, ("127.0.0.1", 40123), pod="web-1")
        server.kubelet.files({"/etc/motd": "hi"}, pod="web-1")
        server.kubelet.run_pod("web-1")
        server.kubelet.log("web-1", "ready\\n")

    Of several entries that fit, the one with the longest command wins, then the latest. A command
    without an entry fails as in a container without that program.
    """

    def __init__(self, service: Service, loop: ServerLoop) -> None:
        self._service = service
        self._loop = loop

    # --- what containers can do

    def command(
        self,
        command: str | Sequence[str],
        program: Program | None = None,
        *,
        stdout: bytes | str = b"",
        stderr: bytes | str = b"",
        exit_code: int = 0,
        **where: Unpack[Where],
    ) -> None:
        """Register a command: a function, or what it prints and returns.

        `command` is a program (`"sh"`, which also is `/bin/sh`), or the words that a command
        begins with (`["ls", "/etc"]`). `program` is an `async` function that gets a `Process`
        and returns the exit code; it is cancelled when the client disconnects.

        Raises: InvalidArgument for a program and an output at once, or for no word.
        """
        words = (command,) if isinstance(command, str) else tuple(command)
        if not words or not all(words[:1]):
            raise InvalidArgument("register a command: it has no program")
        if program is None:
            program = table_program(stdout, stderr, exit_code)
        elif stdout or stderr or exit_code:
            raise InvalidArgument(f"register command {words[0]}: a program decides its own output")
        entry, match = program, ContainerMatch(**where)
        self._loop.call(lambda: self._service.programs.add_command(words, match, entry))

    def attach(self, program: Program, **where: Unpack[Where]) -> None:
        """Register what clients attach to.

        Without it, they attach to the command in the container's spec, if that is registered,
        or else receive what is written to the log.
        """
        match = ContainerMatch(**where)
        self._loop.call(lambda: self._service.programs.add_main(match, program))

    def port(self, port: int, target: PortTarget, *, pod: str = "*", namespace: str = "*") -> None:
        """Register a port: a local address, or an `async` function with a reader and a writer.

        It is what port-forward and the proxies of pods and services connect to. All other ports
        refuse connections.

        Raises: InvalidArgument when `port` is no port.
        """
        if not 0 < port < 65536:
            raise InvalidArgument(f"register port {port}: it is not between 1 and 65535")
        match = ContainerMatch(namespace, pod)
        self._loop.call(lambda: self._service.programs.add_port(port, match, target))

    def files(
        self, files: Mapping[str, bytes | str | FileNode], **where: Unpack[Where]
    ) -> FileTree:
        """Register files; all containers that fit share them.

        The containers then have `tar`, `test` and `cat`, so that `kubectl cp` works, and a small
        `sh` that runs these and the registered commands: `sh -c "test -f /a && cat /a"`. Read
        what a client wrote from the returned tree: `tree["/tmp/report"]`.
        """
        tree, match = FileTree(files), ContainerMatch(**where)
        self._loop.call(lambda: self._service.programs.add_files(match, tree))
        return tree

    def clear(self) -> None:
        """Remove all entries; logs stay."""
        self._loop.call(self._service.programs.clear)

    # --- pods

    def run_pod(self, pod: str, *, namespace: str = "default", node: str = "") -> None:
        """Bind a pod to a node and start its containers, without `Workloads`.

        Called again, it starts containers that were added, such as ephemeral ones.

        Raises: StatusError if there is no such pod.
        """
        self._loop.call(lambda: self._service.run_pod(namespace, pod, node=node))

    def restart_container(
        self, pod: str, *, container: str = "", namespace: str = "default", exit_code: int = 1
    ) -> None:
        """End a container with `exit_code` and start it again, with a new log.

        Raises: StatusError if it does not run.
        """
        self._loop.call(
            lambda: self._service.restart_container(namespace, pod, container, exit_code=exit_code)
        )

    # --- logs

    def log(self, pod: str, text: str, *, container: str = "", namespace: str = "default") -> None:
        """Append to the log of a container; without `container`, of all of the pod.

        Clients that follow the log receive it. End a line with a newline: the next text
        continues a line without one.
        """
        self._loop.call(lambda: self._service.append_log(namespace, pod, text, container=container))

    def rotate_log(
        self, pod: str, *, keep: int = 0, container: str = "", namespace: str = "default"
    ) -> None:
        """Drop all but the last `keep` lines of a log; clients that follow it continue."""
        self._loop.call(
            lambda: self._service.rotate_log(namespace, pod, container=container, keep=keep)
        )
