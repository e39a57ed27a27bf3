"""Pods: what only they have, besides the verbs of every resource.

Guarantees: nothing is connected before a method is called; a stream ends its connection.
See also: `kubeloop.streams` (commands, logs, ports), `resource` (verbs of every kind).
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, aclosing
from datetime import datetime
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, Unpack, final

from kubeloop.kit import strict_keywords
from kubeloop.rest import Params

from .object_codecs import body_of
from .options import DeleteOptions, LabelSelection, delete_options, write_params
from .resource import ResourceClient
from .subresources import Proxy, SubresourceClient, proxy_name

if TYPE_CHECKING:  # imported by the methods that need them
    from kubeloop.streams import (
        CopyProgress,
        LogEntry,
        PodAccess,
        PortConnection,
        PortForward,
        RemoteCommand,
    )
    from kubeloop.wire.core.v1 import Pod

__all__ = ["PodClient"]


@final
class PodClient(ResourceClient["Pod"], kinds=["core_v1.Pod"]):
    """The verbs of pods: `client.core_v1.pods("shop")`.

    To run a program: `exec`, `attach`, `debug`. To read logs: `logs`, `log_entries`. To move
    files and bytes: `copy_to`, `copy_from`, `port_forward`, `open_connection`, `proxy`.
    """

    @property
    def ephemeral_containers(self) -> SubresourceClient[Pod]:
        """The ephemeral containers of a running pod."""
        return self.subresource("ephemeralcontainers")

    @property
    def resize(self) -> SubresourceClient[Pod]:
        """The resources of a running pod's containers."""
        return self.subresource("resize")

    @strict_keywords
    async def evict(
        self,
        name: str,
        *,
        max_retries: int | None = None,
        **options: Unpack[DeleteOptions],
    ) -> None:
        """Delete a pod if its disruption budget allows it.

        A response with `Retry-After` is retried up to ten times, as for every request;
        `max_retries=0` raises it at once.
        Raises: TooManyRequests, NotFound. A cancelled call may have evicted it.
        """
        body = {
            "apiVersion": "policy/v1",
            "kind": "Eviction",
            "deleteOptions": delete_options(**options),
        }
        await self._post(name, "eviction", body, max_retries=max_retries)

    async def bind(self, name: str, *, node: str, dry_run: bool = False) -> None:
        """Assign a pod to a node, as a scheduler does.

        Raises: Conflict when it is already assigned. A cancelled call may have bound it.
        """
        target = {"apiVersion": "v1", "kind": "Node", "name": node}
        body = {"apiVersion": "v1", "kind": "Binding", "target": target}
        await self._post(name, "binding", body, params=write_params(dry_run=dry_run))

    async def logs(
        self,
        target: str,
        *,
        container: str = "",
        follow: bool = False,
        previous: bool = False,
        since_seconds: int | None = None,
        since_time: datetime | None = None,
        tail_lines: int | None = None,
        limit_bytes: int | None = None,
        timestamps: bool = False,
        stream: Literal["All", "Stdout", "Stderr"] | None = None,
        insecure_skip_tls_verify_backend: bool = False,
    ) -> AsyncGenerator[str, None]:
        """The lines of a container's log; with `follow`, new lines as well.

        `target` is the name of a pod, or `deploy/web` for one of its pods. A log that is followed
        continues after a lost connection, without repeating a line, and after a restart of the
        container; it ends when the container does. Lines that may be missing, because the log was
        rotated meanwhile, are a warning of the logger `kubeloop.streams.logs`; `log_entries` has
        them as entries. Bytes that are not UTF-8 are replaced. If you leave early, the connection
        is closed.
        Raises: NotFound; BadRequest while there is no log yet.
        """
        from kubeloop.streams import LogQuery, read_lines

        query = LogQuery(
            container=container,
            follow=follow,
            previous=previous,
            since_seconds=since_seconds,
            since_time=since_time,
            tail_lines=tail_lines,
            limit_bytes=limit_bytes,
            timestamps=timestamps,
            stream=stream,
            insecure_skip_tls_verify_backend=insecure_skip_tls_verify_backend,
        )
        async with aclosing(read_lines(self._pod_access, target, query)) as lines:
            async for line in lines:
                yield line

    async def log_entries(
        self,
        target: str = "",
        *,
        selector: LabelSelection | None = None,
        container: str = "",
        all_containers: bool = False,
        follow: bool = False,
        previous: bool = False,
        since_seconds: int | None = None,
        since_time: datetime | None = None,
        tail_lines: int | None = None,
        max_streams: int = 100,
    ) -> AsyncGenerator[LogEntry, None]:
        """The logs of one pod, or of all pods of a selector, as `LogLine`, `LogStart`, `LogGap`.

        Without `container`, the default container of each pod is read, with `all_containers` all.
        With `follow` all logs are read at once, as they are written, and those of pods that are
        created later as well; `tail_lines` and the like are for the pods that exist at the start.
        Each log begins with a `LogStart`, and again after each restart of its container. A
        `LogGap` says that lines may be missing. If you read slowly, the logs wait on the servers.
        Raises: InvalidArgument when more than `max_streams` containers are to be followed.
        """
        from kubeloop.streams import LogQuery, read_entries

        query = LogQuery(
            container=container,
            follow=follow,
            previous=previous,
            since_seconds=since_seconds,
            since_time=since_time,
            tail_lines=tail_lines,
        )
        found = read_entries(
            self._pod_access,
            target,
            query,
            selector=selector,
            all_containers=all_containers,
            max_streams=max_streams,
        )
        async with aclosing(found) as entries:
            async for entry in entries:
                yield entry

    def exec(
        self,
        target: str,
        command: Sequence[str],
        *,
        container: str = "",
        stdin: bool | bytes | str = False,
        stderr: bool = True,
        tty: bool = False,
        check: bool = False,
        max_output: int = 64 * 1024 * 1024,
    ) -> RemoteCommand:
        """Run a program in a container, for its result or to talk to it in a block.

            result = await pods.exec("web-1", ["ls", "/"])
            print(result.exit_code, result.text)

            async with pods.exec("web-1", ["sh"], stdin=True, tty=True) as process:
                await process.stdin.write("ls\\n")
                async for line in process.stdout.lines():
                    ...

        `target` is the name of a pod, or `deploy/web` for one of its pods that is ready; `command`
        has the words of the command, without a shell. Without `container`, the only container of
        the pod is used, or the default one of a target. Bytes or text as `stdin` are the input of
        a command that is not talked to. With `check`, a program that fails is a
        `NonZeroExitCode`. A `tty` has no stderr.
        A cancelled call ends the connection; the program may go on.
        Raises: NotFound; BadRequest when the container is not clear; ApiError when the program
        cannot be started; ResponseTooLarge when it writes more than `max_output` bytes;
        UnsupportedByServer when the server cannot end the input.
        """
        from kubeloop.streams import exec_command

        return exec_command(
            self._pod_access,
            target,
            command,
            container=container,
            stdin=stdin,
            stderr=stderr,
            tty=tty,
            check=check,
            max_output=max_output,
        )

    def attach(
        self,
        target: str,
        *,
        container: str = "",
        stdin: bool | bytes | str = False,
        stderr: bool = True,
        tty: bool = False,
        check: bool = False,
        max_output: int = 64 * 1024 * 1024,
    ) -> RemoteCommand:
        """Connect to the program that a container runs; as `exec`, without a command.

        `stdin` and `tty` have effect only if the container has them in its spec.
        """
        from kubeloop.streams import attach_command

        return attach_command(
            self._pod_access,
            target,
            container=container,
            stdin=stdin,
            stderr=stderr,
            tty=tty,
            check=check,
            max_output=max_output,
        )

    def debug(
        self,
        target: str,
        *,
        image: str,
        command: Sequence[str] = (),
        name: str = "",
        target_container: str = "",
        stdin: bool | bytes | str = False,
        tty: bool = False,
        check: bool = False,
        max_output: int = 64 * 1024 * 1024,
        wait_for: float = 60.0,
    ) -> RemoteCommand:
        """Add an ephemeral container to a pod, wait until it runs, and attach to it.

            async with pods.debug("web-1", image="busybox", stdin=True, tty=True) as process:
                ...

        With `target_container` it sees the processes of that container. The container stays in
        the pod; a cancelled call may leave it, too.
        Raises: DebugFailed when it does not start within `wait_for` seconds; as `exec`.
        """
        from kubeloop.streams import debug_command

        return debug_command(
            self._pod_access,
            target,
            image=image,
            command=command,
            name=name,
            target_container=target_container,
            stdin=stdin,
            tty=tty,
            check=check,
            max_output=max_output,
            wait_for=wait_for,
        )

    async def copy_to(
        self,
        target: str,
        source: str | PathLike[str],
        destination: str,
        *,
        container: str = "",
        progress: Callable[[CopyProgress], object] | None = None,
    ) -> CopyProgress:
        """Copy a file or a folder of this machine into a container, which needs `tar`.

            await pods.copy_to("web-1", "site/", "/srv/www")

        `destination` is the path of the copy; with a slash at its end, the copy is in that folder
        and has the name of `source`. The folder above it must exist; existing files are replaced.
        Modes, times and symbolic links are kept. `progress` is called after each megabyte.
        Raises: CopyFailed, which says how much was sent; NotFound. A cancelled call leaves what
        was written.
        """
        from kubeloop.streams import copy_to

        return await copy_to(
            self._pod_access,
            target,
            source,
            destination,
            container=container,
            progress=progress,
        )

    async def copy_from(
        self,
        target: str,
        source: str,
        destination: str | PathLike[str],
        *,
        container: str = "",
        progress: Callable[[CopyProgress], object] | None = None,
    ) -> CopyProgress:
        """Copy a file or a folder of a container to this machine; the container needs `tar`.

            await pods.copy_from("web-1", "/var/log/app", "logs")

        `destination` is the path of the copy; with a slash at its end, the copy is in that folder
        and has the name of `source`. Nothing is written outside of it: a link that leads outside,
        a path with `..` and a device are errors. Each file is complete when it appears.
        Raises: CopyFailed, which says how much is complete; NotFound. A cancelled call leaves
        the files that were complete.
        """
        from kubeloop.streams import copy_from

        return await copy_from(
            self._pod_access,
            target,
            source,
            destination,
            container=container,
            progress=progress,
        )

    def port_forward(
        self,
        target: str,
        *ports: int | str,
        addresses: Sequence[str] = ("localhost",),
        reconnect: bool = False,
    ) -> AbstractAsyncContextManager[PortForward]:
        """Forward local ports to ports of a pod, while the block lasts.

            async with pods.port_forward("web-1", 8080) as local:
                print(f"http://127.0.0.1:{local.port}/")

        A port is a number, for a free local port, or as kubectl has it: `"8080"` for the same
        local port, `"8888:8080"`, `":8080"`. `target` is the name of a pod, or `svc/web`, whose
        ports are mapped to those of a ready pod. Any number of connections can be open; an error
        of one, such as a refused connection, ends that one and is logged. A connection that is
        not read slows the others down, too.
        With `reconnect`, a pod that was replaced is followed: new connections go to its
        successor. Otherwise the block fails with `StreamBroken` when the connection is lost.
        Raises: NotFound, NoReadyPod; InvalidArgument when no local port is available.
        """
        from kubeloop.streams import forward_ports

        return forward_ports(
            self._pod_access, target, ports, addresses=addresses, reconnect=reconnect
        )

    def open_connection(
        self, target: str, port: int
    ) -> AbstractAsyncContextManager[PortConnection]:
        """A connection to a port of a pod, without a local listener.

            async with pods.open_connection("web-1", 8080) as connection:
                await connection.write(b"ping")
                answer = await connection.read()

        Raises: PortForwardFailed when the pod refuses it, at the first read or write; NotFound.
        """
        from kubeloop.streams import open_port

        return open_port(self._pod_access, target, port)

    def proxy(self, name: str, *, port: str | int = "", scheme: str = "") -> Proxy:
        """Sends HTTP requests through the API server to a pod."""
        return Proxy(self._objects.collection, proxy_name(name, scheme=scheme, port=port))

    # --- requests

    @property
    def _pod_access(self) -> PodAccess:
        from kubeloop.streams import PodAccess

        return PodAccess(self, self._objects.collection)

    async def _post(
        self,
        name: str,
        subresource: str,
        body: dict[str, Any],
        *,
        params: Params | None = None,
        max_retries: int | None = None,
    ) -> None:
        """Post to a subresource; the body of the response is not needed."""
        request = await self._objects.collection.request(
            "create", name=name, subresource=subresource, params=params, max_retries=max_retries
        )
        metadata = {"name": name, "namespace": request.namespace}
        await self._objects.collection.rest.send(
            request.replace(body=body_of({**body, "metadata": metadata}))
        )
