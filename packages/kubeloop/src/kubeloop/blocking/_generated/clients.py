# Generated from the async classes by tools/generate_blocking.py. Do not edit.

"""The blocking forms of the async classes: each method runs the async one and waits for it."""

# ruff: noqa: A002, F401

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from os import PathLike
from typing import (
    TYPE_CHECKING,
    Any,
    Generic,
    Literal,
    Self,
    TypeVar,
    Unpack,
    cast,
    final,
    overload,
)

from kubeloop import clients
from kubeloop.blocking.calls import in_caller_thread
from kubeloop.blocking.process import PortConnection, Process
from kubeloop.blocking.reference import LoopReference
from kubeloop.blocking.stream import Stream, iterate_awaited
from kubeloop.clients import PAGE_SIZE

if TYPE_CHECKING:
    from kubeloop import discovery, rest
    from kubeloop.clients import (
        AnyKind,
        DeleteOptions,
        DrainOptions,
        DrainPlan,
        DrainStep,
        EventCondition,
        IncludeObject,
        LabelSelection,
        ListArguments,
        ObjectList,
        PartialObjectMetadata,
        PatchBody,
        PatchType,
        PlanOptions,
        Propagation,
        Revision,
        RolloutStatus,
        Selectors,
        Table,
        VersionMatch,
        WatchEvent,
        WriteOptions,
    )
    from kubeloop.config import ClusterConfig
    from kubeloop.discovery import (
        ApiGroup,
        ApiResource,
        DiscoveryResult,
        MapperStats,
        OpenApiPath,
        VersionInfo,
    )
    from kubeloop.meta import (
        GroupKind,
        GroupResource,
        GroupVersion,
        GroupVersionKind,
        GroupVersionResource,
    )
    from kubeloop.rest import Params, Request, Response, RESTStats, WarningHandler
    from kubeloop.streams import CopyProgress, ExecResult, LogEntry, PortForward
    from kubeloop.wire import RawEvent, ResourceInfo
    from kubeloop.wire.apps.v1 import DaemonSet
    from kubeloop.wire.authentication.v1 import BoundObjectReference, TokenRequest
    from kubeloop.wire.autoscaling.v1 import Scale
    from kubeloop.wire.certificates.v1 import CertificateSigningRequest
    from kubeloop.wire.core.v1 import Namespace, Node, Pod, Service, ServiceAccount

__all__ = [
    "CertificateSigningRequestClient",
    "DaemonSetClient",
    "DeferredMapper",
    "DiscoveryClient",
    "DynamicClient",
    "MetadataClient",
    "NamespaceClient",
    "NodeClient",
    "ObjectClient",
    "OpenApiV3",
    "PodClient",
    "Proxy",
    "RESTClient",
    "ResourceClient",
    "Rollout",
    "ScalableClient",
    "ScaleClient",
    "ScaleSubresource",
    "ServiceAccountClient",
    "ServiceClient",
    "SubresourceClient",
    "WorkloadClient",
    "resource_form",
]

T = TypeVar("T")
V = TypeVar("V")


class ObjectClient(Generic[T]):
    """The blocking form of `kubeloop.clients.ObjectClient`."""

    __slots__ = ("_reference",)

    def __init__(self, reference: LoopReference[clients.ObjectClient[T]]) -> None:
        self._reference = reference

    def __repr__(self) -> str:
        return f"blocking {self._reference!r}"

    @overload
    def get(self, name: str, *, resource_version: str = ...) -> T: ...

    @overload
    def get(self, name: str, *, model: type[V], resource_version: str = ...) -> V: ...

    def get(self, name: str, *, model: type[Any] | None = None, resource_version: str = "") -> Any:
        """The object; with `resource_version="0"` the server may return a cached version.

        `model` is another class to read it as: a struct with only the fields you need.
        Raises: NotFound. Safe to interrupt.
        """
        return self._reference.call(
            lambda wrapped: cast("Callable[..., Awaitable[Any]]", wrapped.get)(
                name, model=model, resource_version=resource_version
            )
        )

    def create(self, obj: T, **options: Unpack[WriteOptions]) -> T:
        """Create an object, and return it as the server stored it.

        Raises: AlreadyExists, Invalid. An interrupted call may have created it.
        """
        return self._reference.call(lambda wrapped: wrapped.create(obj, **options))

    def update(self, obj: T, *, unconditional: bool = False, **options: Unpack[WriteOptions]) -> T:
        """Replace the whole object, and return it as the server stored it.

        The version and uid in `obj` are preconditions, so that an object from a stale cache is
        a conflict. An object without a version would overwrite the changes of other writers: it
        is not sent, unless `unconditional`, which removes the version.
        Raises: Conflict when the object has changed since it was read; Invalid; InvalidArgument
        for an object without a version. An interrupted call may have changed it.
        """
        return self._reference.call(
            lambda wrapped: wrapped.update(obj, unconditional=unconditional, **options)
        )

    def patch(
        self,
        name: str,
        patch: PatchBody,
        *,
        type: PatchType,
        force: bool | None = None,
        **options: Unpack[WriteOptions],
    ) -> T:
        """Send a patch, and return the new object; bytes are sent unchanged.

        A patch overwrites the fields that it has, also in an object that has changed since you
        read it. It is a conflict only if it has a version itself (`metadata.resourceVersion`, or
        a `test` operation); an object that was read and is sent as a patch has one.
        `strategic` is for built-in kinds only, `force` for `apply` only.
        Raises: Invalid; Conflict if the patch has a version.
        An interrupted call may have changed it.
        """
        return self._reference.call(
            lambda wrapped: wrapped.patch(name, patch, type=type, force=force, **options)
        )

    def apply(self, obj: T, *, force: bool = False, **options: Unpack[WriteOptions]) -> T:
        """Server-side apply: create or change the object to have the fields of `obj`.

        The field manager becomes their owner. Raises: Conflict when another manager owns a
        field, unless `force`.
        An interrupted call may have changed it.
        """
        return self._reference.call(lambda wrapped: wrapped.apply(obj, force=force, **options))

    def edit(
        self,
        name: str,
        *,
        strict: bool = False,
        timeout: float | None = 30.0,
        **options: Unpack[WriteOptions],
    ) -> AbstractContextManager[T]:
        """Change the object in a `with` block; the difference is sent when the block ends.

            with pods.edit("web") as pod:
                pod.metadata.labels["tier"] = "front"

        The block runs once. If other writers changed other fields in the meantime, the
        difference is applied to the newer object, until `timeout` seconds after the block; if
        they changed one of the same fields, to any value, that is a `Conflict` that names the
        field. With `strict` any change since the read is a conflict: for a block whose decision
        depends on fields that it does not change. If the change depends on the current values,
        use `modify`, which runs its function again. Nothing is sent if the block raises or
        changes nothing; afterwards the object is as the server stored it. Fields that only the
        server writes (version, generation, managed fields) are neither sent nor compared.
        Raises: Conflict when nothing was stored because of another writer, also when the
        object was deleted and created again; TimeoutExceeded; InvalidArgument for a change
        that the server would ignore. An interrupted call may have stored the change.
        """
        return self._reference.context(
            lambda wrapped: wrapped.edit(name, strict=strict, timeout=timeout, **options)
        )

    def modify(
        self,
        name: str,
        function: Callable[[T], T | None],
        *,
        timeout: float | None = 30.0,
        **options: Unpack[WriteOptions],
    ) -> T:
        """Read, call `function` with the object, send the difference; again after a conflict.

        `function` changes its argument, or returns another object. It is called again, with a
        new read, whenever the object has changed after the read, until the change is stored or
        `timeout` seconds have passed; so its decision holds for the object that is stored. For a
        change that does not depend on current values, `edit` is simpler and has fewer conflicts.
        `function` is never called again after a change that may be stored, and the timeout does
        not interrupt it. Returns the object as the server stored it; nothing is sent if nothing
        was changed.
        Raises: TimeoutExceeded when other writers were faster each time; InvalidArgument for a
        change that the server would ignore. An interrupted call may have stored the change.
        """
        return self._reference.call(
            lambda wrapped: wrapped.modify(
                name, in_caller_thread(function), timeout=timeout, **options
            )
        )


class SubresourceClient(ObjectClient[T]):
    """The blocking form of `kubeloop.clients.SubresourceClient`."""

    __slots__ = ()

    _reference: LoopReference[clients.SubresourceClient[T]]

    def table(self, name: str, *, include_object: IncludeObject = "Metadata") -> Table:
        """The output of `kubectl get --subresource` of one object. Safe to interrupt."""
        return self._reference.call(
            lambda wrapped: wrapped.table(name, include_object=include_object)
        )


@final
class ScaleSubresource(SubresourceClient["Scale"]):
    """The blocking form of `kubeloop.clients.ScaleSubresource`."""

    __slots__ = ()

    _reference: LoopReference[clients.ScaleSubresource]

    def set(
        self,
        name: str,
        replicas: int,
        *,
        dry_run: bool = False,
        field_manager: str = "",
        expected_version: str = "",
        wait: bool = False,
        timeout: float | None = 600.0,
    ) -> Scale:
        """Set the number of replicas: `deployments.scale.set("web", 3)`.

        With `wait`, return when there are as many pods, and those of a built-in kind are ready;
        or when another writer has set another number, which the returned scale has.
        Raises: Conflict when the object has another version than `expected_version`; WaitTimeout
        after `timeout` seconds of waiting. An interrupted call may have changed it.
        """
        return self._reference.call(
            lambda wrapped: wrapped.set(
                name,
                replicas,
                dry_run=dry_run,
                field_manager=field_manager,
                expected_version=expected_version,
                wait=wait,
                timeout=timeout,
            )
        )


class ResourceClient(ObjectClient[T]):
    """The blocking form of `kubeloop.clients.ResourceClient`."""

    __slots__ = ()

    _reference: LoopReference[clients.ResourceClient[T]]

    @property
    def namespace(self) -> str | None:
        """None is the namespace of the configuration, `ALL` is all namespaces."""
        return self._reference.read(lambda wrapped: wrapped.namespace)

    @property
    def object_type(self) -> type[T]:
        """The class of the objects, or `dict`."""
        return self._reference.read(lambda wrapped: wrapped.object_type)

    def in_namespace(self, namespace: str | None) -> Self:
        """A client of the same kind in another namespace."""
        return type(self)(self._reference.then(lambda wrapped: wrapped.in_namespace(namespace)))

    def info(self) -> ResourceInfo:
        """Group, version, names, scope and verbs of the resource. Safe to interrupt.

        Raises: NoKindMatch when the server has no such kind.
        """
        return self._reference.call(lambda wrapped: wrapped.info())

    def get_or_none(self, name: str, *, resource_version: str = "") -> T | None:
        """The object, or None if it does not exist. Safe to interrupt.

        Raises: NotFound when the server does not have the resource.
        """
        return self._reference.call(
            lambda wrapped: wrapped.get_or_none(name, resource_version=resource_version)
        )

    def exists(self, name: str) -> bool:
        """Whether the object exists. Safe to interrupt.

        Raises: NotFound when the server does not have the resource.
        """
        return self._reference.call(lambda wrapped: wrapped.exists(name))

    @overload
    def list(self, **options: Unpack[ListArguments]) -> ObjectList[T]: ...

    @overload
    def list(self, *, model: type[V], **options: Unpack[ListArguments]) -> ObjectList[V]: ...

    def list(
        self, *, model: type[Any] | None = None, **options: Unpack[ListArguments]
    ) -> ObjectList[Any]:
        """One page of the collection, or all of it without `limit`, in one request.

        `model` is another class to read the objects as: a struct with only the fields you need.
        For collections of some thousand objects use `list_all`, for larger ones `each`.
        Raises: Expired when `resource_version` or `next_page` has expired. Safe to interrupt.
        """
        return self._reference.call(
            lambda wrapped: cast("Callable[..., Awaitable[ObjectList[Any]]]", wrapped.list)(
                model=model, **options
            )
        )

    @overload
    def list_all(
        self,
        *,
        page_size: int = ...,
        resource_version: str = ...,
        resource_version_match: VersionMatch | None = ...,
        **selectors: Unpack[Selectors],
    ) -> ObjectList[T]: ...

    @overload
    def list_all(
        self,
        *,
        model: type[V],
        page_size: int = ...,
        resource_version: str = ...,
        resource_version_match: VersionMatch | None = ...,
        **selectors: Unpack[Selectors],
    ) -> ObjectList[V]: ...

    def list_all(
        self,
        *,
        model: type[Any] | None = None,
        page_size: int = PAGE_SIZE,
        resource_version: str = "",
        resource_version_match: VersionMatch | None = None,
        **selectors: Unpack[Selectors],
    ) -> ObjectList[Any]:
        """The whole collection, read in pages and returned as one list. Safe to interrupt.

        `model` is another class to read the objects as, as for `list`. If a page token expires,
        the collection is read again in one request. Use `each` if the collection may not fit
        into memory.
        """
        return self._reference.call(
            lambda wrapped: cast("Callable[..., Awaitable[ObjectList[Any]]]", wrapped.list_all)(
                model=model,
                page_size=page_size,
                resource_version=resource_version,
                resource_version_match=resource_version_match,
                **selectors,
            )
        )

    @overload
    def each(self, *, page_size: int = ..., **selectors: Unpack[Selectors]) -> Stream[T]: ...

    @overload
    def each(
        self, *, model: type[V], page_size: int = ..., **selectors: Unpack[Selectors]
    ) -> Stream[V]: ...

    def each(
        self,
        *,
        model: type[Any] | None = None,
        page_size: int = PAGE_SIZE,
        **selectors: Unpack[Selectors],
    ) -> Stream[Any]:
        """Every object, one by one, read in pages and decoded one at a time.

        `model` is another class to read the objects as, as for `list`.
        At most two pages are in memory. No object is returned twice: if a page token expires,
        the iteration continues with the server's new token, or with a new list.
        """
        return self._reference.stream(
            lambda wrapped: cast("Callable[..., AsyncIterator[Any]]", wrapped.each)(
                model=model, page_size=page_size, **selectors
            )
        )

    def table(
        self,
        name: str = "",
        *,
        limit: int = 0,
        next_page: str = "",
        include_object: IncludeObject = "Metadata",
        **selectors: Unpack[Selectors],
    ) -> Table:
        """The output of `kubectl get`, of one object or a collection. Safe to interrupt."""
        return self._reference.call(
            lambda wrapped: wrapped.table(
                name, limit=limit, next_page=next_page, include_object=include_object, **selectors
            )
        )

    @overload
    def watch(
        self,
        *,
        resource_version: str | None = ...,
        timeout_seconds: int | None = ...,
        **selectors: Unpack[Selectors],
    ) -> Stream[WatchEvent[T]]: ...

    @overload
    def watch(
        self,
        *,
        model: type[V],
        resource_version: str | None = ...,
        timeout_seconds: int | None = ...,
        **selectors: Unpack[Selectors],
    ) -> Stream[WatchEvent[V]]: ...

    def watch(
        self,
        *,
        model: type[Any] | None = None,
        resource_version: str | None = None,
        timeout_seconds: int | None = None,
        **selectors: Unpack[Selectors],
    ) -> Stream[WatchEvent[Any]]:
        """The changes after `resource_version`, until you close the watch.

        A stream that breaks is resumed at its last version. Without `resource_version`, all
        existing objects come first, as ADDED. `model` is another class to read the objects as.
        If you leave early, close it (or use `with`).
        Raises: Expired when the version has expired: list, and watch from the version of the list.
        """
        return self._reference.stream(
            lambda wrapped: cast("Callable[..., AsyncIterator[WatchEvent[Any]]]", wrapped.watch)(
                model=model,
                resource_version=resource_version,
                timeout_seconds=timeout_seconds,
                **selectors,
            )
        )

    def until(
        self, *conditions: EventCondition[T], resource_version: str, **selectors: Unpack[Selectors]
    ) -> WatchEvent[T] | None:
        """Watch until each condition was met in turn (client-go: `watch.Until`).

        For conditions on a sequence of events, of any objects. To wait for the state of one
        object, use `wait_for`.
        Raises: Expired when `resource_version` has expired. Safe to interrupt.
        """
        return self._reference.call(
            lambda wrapped: wrapped.until(
                *conditions, resource_version=resource_version, **selectors
            )
        )

    @overload
    def wait_for(
        self, name: str, *, deleted: Literal[True], timeout: float | None = ...
    ) -> None: ...

    @overload
    def wait_for(self, name: str, *, condition: str, timeout: float | None = ...) -> T: ...

    @overload
    def wait_for(self, name: str, *, jsonpath: str, timeout: float | None = ...) -> T: ...

    @overload
    def wait_for(
        self, name: str, *, function: Callable[[T], bool], timeout: float | None = ...
    ) -> T: ...

    def wait_for(
        self,
        name: str,
        *,
        condition: str = "",
        jsonpath: str = "",
        deleted: bool = False,
        function: Callable[[T], bool] | None = None,
        timeout: float | None = 30.0,
    ) -> T | None:
        """Wait until one object is in a state, and return it; it may not exist yet.

        `condition` is `Ready` or `Ready=False`, `jsonpath` is `{.status.phase}=Running` or a
        path that must exist, `function` is called with the object. For conditions on events, use
        `until`. Safe to interrupt.
        Raises: WaitTimeout, which has the last state.
        """
        return self._reference.call(
            lambda wrapped: cast("Callable[..., Awaitable[T | None]]", wrapped.wait_for)(
                name,
                condition=condition,
                jsonpath=jsonpath,
                deleted=deleted,
                function=function,
                timeout=timeout,
            )
        )

    def create_or_update(self, obj: T, **options: Unpack[WriteOptions]) -> T:
        """Create the object, or merge it into the existing one.

        Fields that `obj` does not have stay as they are; nothing is sent if nothing would
        change. Raises: Invalid. An interrupted call may have changed it.
        """
        return self._reference.call(lambda wrapped: wrapped.create_or_update(obj, **options))

    def delete(
        self, name: str, *, missing_ok: bool = False, **options: Unpack[DeleteOptions]
    ) -> None:
        """Delete an object; it exists until its finalizers are removed.

        Raises: NotFound unless `missing_ok`, Conflict when it has another uid or version.
        An interrupted call may have deleted it.
        """
        self._reference.call(lambda wrapped: wrapped.delete(name, missing_ok=missing_ok, **options))

    def delete_collection(
        self,
        *,
        propagation: Propagation | None = None,
        grace_period: int | None = None,
        dry_run: bool = False,
        timeout_seconds: int | None = None,
        limit: int = 0,
        resource_version: str = "",
        **selectors: Unpack[Selectors],
    ) -> None:
        """Delete all selected objects. An interrupted call may have deleted some."""
        self._reference.call(
            lambda wrapped: wrapped.delete_collection(
                propagation=propagation,
                grace_period=grace_period,
                dry_run=dry_run,
                timeout_seconds=timeout_seconds,
                limit=limit,
                resource_version=resource_version,
                **selectors,
            )
        )

    @overload
    def subresource(self, name: Literal["scale"]) -> ScaleSubresource: ...

    @overload
    def subresource(self, name: str) -> SubresourceClient[T]: ...

    def subresource(self, name: str) -> SubresourceClient[Any]:
        """A subresource with the same kind as the object itself.

        `scale` has the kind that all scales share: this is how a custom kind is scaled.
        """
        form: type[SubresourceClient[Any]] = (
            ScaleSubresource if name == "scale" else SubresourceClient
        )
        return form(
            self._reference.then(
                lambda wrapped: cast(
                    "Callable[..., clients.SubresourceClient[Any]]", wrapped.subresource
                )(name)
            )
        )

    @property
    def status(self) -> SubresourceClient[T]:
        """The observed state."""
        return SubresourceClient(self._reference.then(lambda wrapped: wrapped.status))


@final
class PodClient(ResourceClient["Pod"]):
    """The blocking form of `kubeloop.clients.PodClient`."""

    __slots__ = ()

    _reference: LoopReference[clients.PodClient]

    @property
    def ephemeral_containers(self) -> SubresourceClient[Pod]:
        """The ephemeral containers of a running pod."""
        return SubresourceClient(self._reference.then(lambda wrapped: wrapped.ephemeral_containers))

    @property
    def resize(self) -> SubresourceClient[Pod]:
        """The resources of a running pod's containers."""
        return SubresourceClient(self._reference.then(lambda wrapped: wrapped.resize))

    def evict(
        self, name: str, *, max_retries: int | None = None, **options: Unpack[DeleteOptions]
    ) -> None:
        """Delete a pod if its disruption budget allows it.

        A response with `Retry-After` is retried up to ten times, as for every request;
        `max_retries=0` raises it at once.
        Raises: TooManyRequests, NotFound. An interrupted call may have evicted it.
        """
        self._reference.call(
            lambda wrapped: wrapped.evict(name, max_retries=max_retries, **options)
        )

    def bind(self, name: str, *, node: str, dry_run: bool = False) -> None:
        """Assign a pod to a node, as a scheduler does.

        Raises: Conflict when it is already assigned. An interrupted call may have bound it.
        """
        self._reference.call(lambda wrapped: wrapped.bind(name, node=node, dry_run=dry_run))

    def logs(
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
    ) -> Stream[str]:
        """The lines of a container's log; with `follow`, new lines as well.

        `target` is the name of a pod, or `deploy/web` for one of its pods. A log that is followed
        continues after a lost connection, without repeating a line, and after a restart of the
        container; it ends when the container does. Lines that may be missing, because the log was
        rotated meanwhile, are a warning of the logger `kubeloop.streams.logs`; `log_entries` has
        them as entries. Bytes that are not UTF-8 are replaced. If you leave early, the connection
        is closed.
        Raises: NotFound; BadRequest while there is no log yet.
        """
        return self._reference.stream(
            lambda wrapped: wrapped.logs(
                target,
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
        )

    def log_entries(
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
    ) -> Stream[LogEntry]:
        """The logs of one pod, or of all pods of a selector, as `LogLine`, `LogStart`, `LogGap`.

        Without `container`, the default container of each pod is read, with `all_containers` all.
        With `follow` all logs are read at once, as they are written, and those of pods that are
        created later as well; `tail_lines` and the like are for the pods that exist at the start.
        Each log begins with a `LogStart`, and again after each restart of its container. A
        `LogGap` says that lines may be missing. If you read slowly, the logs wait on the servers.
        Raises: InvalidArgument when more than `max_streams` containers are to be followed.
        """
        return self._reference.stream(
            lambda wrapped: wrapped.log_entries(
                target,
                selector=selector,
                container=container,
                all_containers=all_containers,
                follow=follow,
                previous=previous,
                since_seconds=since_seconds,
                since_time=since_time,
                tail_lines=tail_lines,
                max_streams=max_streams,
            )
        )

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
    ) -> ExecResult:
        """Run a program in a container, for its result or to talk to it in a block.

            result = pods.exec("web-1", ["ls", "/"])
            print(result.exit_code, result.text)

            with pods.open_exec("web-1", ["sh"], stdin=True, tty=True) as process:
                process.stdin.write("ls\n")
                for line in process.stdout.lines():
                    ...

        `target` is the name of a pod, or `deploy/web` for one of its pods that is ready; `command`
        has the words of the command, without a shell. Without `container`, the only container of
        the pod is used, or the default one of a target. Bytes or text as `stdin` are the input of
        a command that is not talked to. With `check`, a program that fails is a
        `NonZeroExitCode`. A `tty` has no stderr.
        An interrupted call ends the connection; the program may go on.
        Raises: NotFound; BadRequest when the container is not clear; ApiError when the program
        cannot be started; ResponseTooLarge when it writes more than `max_output` bytes;
        UnsupportedByServer when the server cannot end the input.
        """
        return self._reference.call(
            lambda wrapped: wrapped.exec(
                target,
                command,
                container=container,
                stdin=stdin,
                stderr=stderr,
                tty=tty,
                check=check,
                max_output=max_output,
            )
        )

    def open_exec(
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
    ) -> AbstractContextManager[Process]:
        """As `exec`, for a block that talks to the program."""
        return self._reference.open(
            lambda wrapped: wrapped.exec(
                target,
                command,
                container=container,
                stdin=stdin,
                stderr=stderr,
                tty=tty,
                check=check,
                max_output=max_output,
            ),
            Process,
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
    ) -> ExecResult:
        """Connect to the program that a container runs; as `exec`, without a command.

        `stdin` and `tty` have effect only if the container has them in its spec.
        """
        return self._reference.call(
            lambda wrapped: wrapped.attach(
                target,
                container=container,
                stdin=stdin,
                stderr=stderr,
                tty=tty,
                check=check,
                max_output=max_output,
            )
        )

    def open_attach(
        self,
        target: str,
        *,
        container: str = "",
        stdin: bool | bytes | str = False,
        stderr: bool = True,
        tty: bool = False,
        check: bool = False,
        max_output: int = 64 * 1024 * 1024,
    ) -> AbstractContextManager[Process]:
        """As `attach`, for a block that talks to the program."""
        return self._reference.open(
            lambda wrapped: wrapped.attach(
                target,
                container=container,
                stdin=stdin,
                stderr=stderr,
                tty=tty,
                check=check,
                max_output=max_output,
            ),
            Process,
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
    ) -> ExecResult:
        """Add an ephemeral container to a pod, wait until it runs, and attach to it.

            with pods.open_debug("web-1", image="busybox", stdin=True, tty=True) as process:
                ...

        With `target_container` it sees the processes of that container. The container stays in
        the pod; a cancelled call may leave it, too.
        Raises: DebugFailed when it does not start within `wait_for` seconds; as `exec`.
        """
        return self._reference.call(
            lambda wrapped: wrapped.debug(
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
        )

    def open_debug(
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
    ) -> AbstractContextManager[Process]:
        """As `debug`, for a block that talks to the program."""
        return self._reference.open(
            lambda wrapped: wrapped.debug(
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
            ),
            Process,
        )

    def copy_to(
        self,
        target: str,
        source: str | PathLike[str],
        destination: str,
        *,
        container: str = "",
        progress: Callable[[CopyProgress], object] | None = None,
    ) -> CopyProgress:
        """Copy a file or a folder of this machine into a container, which needs `tar`.

            pods.copy_to("web-1", "site/", "/srv/www")

        `destination` is the path of the copy; with a slash at its end, the copy is in that folder
        and has the name of `source`. The folder above it must exist; existing files are replaced.
        Modes, times and symbolic links are kept. `progress` is called after each megabyte.
        Raises: CopyFailed, which says how much was sent; NotFound. An interrupted call leaves what
        was written.
        """
        return self._reference.call(
            lambda wrapped: wrapped.copy_to(
                target, source, destination, container=container, progress=progress
            )
        )

    def copy_from(
        self,
        target: str,
        source: str,
        destination: str | PathLike[str],
        *,
        container: str = "",
        progress: Callable[[CopyProgress], object] | None = None,
    ) -> CopyProgress:
        """Copy a file or a folder of a container to this machine; the container needs `tar`.

            pods.copy_from("web-1", "/var/log/app", "logs")

        `destination` is the path of the copy; with a slash at its end, the copy is in that folder
        and has the name of `source`. Nothing is written outside of it: a link that leads outside,
        a path with `..` and a device are errors. Each file is complete when it appears.
        Raises: CopyFailed, which says how much is complete; NotFound. An interrupted call leaves
        the files that were complete.
        """
        return self._reference.call(
            lambda wrapped: wrapped.copy_from(
                target, source, destination, container=container, progress=progress
            )
        )

    def port_forward(
        self,
        target: str,
        *ports: int | str,
        addresses: Sequence[str] = ("localhost",),
        reconnect: bool = False,
    ) -> AbstractContextManager[PortForward]:
        """Forward local ports to ports of a pod, while the block lasts.

            with pods.port_forward("web-1", 8080) as local:
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
        return self._reference.context(
            lambda wrapped: wrapped.port_forward(
                target, *ports, addresses=addresses, reconnect=reconnect
            )
        )

    def open_connection(self, target: str, port: int) -> AbstractContextManager[PortConnection]:
        """A connection to a port of a pod, without a local listener.

            with pods.open_connection("web-1", 8080) as connection:
                connection.write(b"ping")
                answer = connection.read()

        Raises: PortForwardFailed when the pod refuses it, at the first read or write; NotFound.
        """
        return self._reference.open(
            lambda wrapped: wrapped.open_connection(target, port), PortConnection
        )

    def proxy(self, name: str, *, port: str | int = "", scheme: str = "") -> Proxy:
        """Sends HTTP requests through the API server to a pod."""
        return Proxy(
            self._reference.then(lambda wrapped: wrapped.proxy(name, port=port, scheme=scheme))
        )


class ScalableClient(ResourceClient[T]):
    """The blocking form of `kubeloop.clients.ScalableClient`."""

    __slots__ = ()

    _reference: LoopReference[clients.ScalableClient[T]]

    @property
    def scale(self) -> ScaleSubresource:
        """The number of replicas."""
        return ScaleSubresource(self._reference.then(lambda wrapped: wrapped.scale))


@final
class WorkloadClient(ScalableClient[T]):
    """The blocking form of `kubeloop.clients.WorkloadClient`."""

    __slots__ = ()

    _reference: LoopReference[clients.WorkloadClient[T]]

    def rollout(self, name: str) -> Rollout:
        """The rollout of one object: restart, wait, undo, …."""
        return Rollout(self._reference.then(lambda wrapped: wrapped.rollout(name)))


@final
class DaemonSetClient(ResourceClient["DaemonSet"]):
    """The blocking form of `kubeloop.clients.DaemonSetClient`."""

    __slots__ = ()

    _reference: LoopReference[clients.DaemonSetClient]

    def rollout(self, name: str) -> Rollout:
        """The rollout of one object: restart, wait, undo, …."""
        return Rollout(self._reference.then(lambda wrapped: wrapped.rollout(name)))


@final
class NodeClient(ResourceClient["Node"]):
    """The blocking form of `kubeloop.clients.NodeClient`."""

    __slots__ = ()

    _reference: LoopReference[clients.NodeClient]

    def cordon(self, name: str, *, dry_run: bool = False) -> bool:
        """Keep new pods off a node; False if it is cordoned already.

        Raises: NotFound. An interrupted call may have cordoned it.
        """
        return self._reference.call(lambda wrapped: wrapped.cordon(name, dry_run=dry_run))

    def uncordon(self, name: str, *, dry_run: bool = False) -> bool:
        """Allow new pods on a node again; False if it is not cordoned.

        Raises: NotFound. An interrupted call may have uncordoned it.
        """
        return self._reference.call(lambda wrapped: wrapped.uncordon(name, dry_run=dry_run))

    def drain_plan(self, name: str, **options: Unpack[PlanOptions]) -> DrainPlan:
        """What a drain would do with the pods of a node; nothing is changed. Safe to interrupt."""
        return self._reference.call(lambda wrapped: wrapped.drain_plan(name, **options))

    def drain(
        self,
        name: str,
        *,
        progress: Callable[[DrainStep], None] | None = None,
        **options: Unpack[DrainOptions],
    ) -> DrainPlan:
        """Cordon a node, evict its pods, and wait until they are gone, as `kubectl drain`.

        `progress` is called with each step. An eviction that a disruption budget forbids is
        repeated every 5 seconds; with `dry_run` it is an error.
        Raises: DrainRefused when the node has pods that only an option allows to evict;
        DrainFailed when some could not be evicted, or not within `timeout` seconds; NotFound.
        The node stays cordoned. An interrupted call may have evicted some pods.
        """
        return self._reference.call(
            lambda wrapped: wrapped.drain(
                name, progress=progress and in_caller_thread(progress), **options
            )
        )

    def proxy(self, name: str, *, port: str | int = "", scheme: str = "") -> Proxy:
        """Sends HTTP requests through the API server to a kubelet."""
        return Proxy(
            self._reference.then(lambda wrapped: wrapped.proxy(name, port=port, scheme=scheme))
        )


@final
class ServiceClient(ResourceClient["Service"]):
    """The blocking form of `kubeloop.clients.ServiceClient`."""

    __slots__ = ()

    _reference: LoopReference[clients.ServiceClient]

    def proxy(self, name: str, *, port: str | int = "", scheme: str = "") -> Proxy:
        """Sends HTTP requests through the API server to a service."""
        return Proxy(
            self._reference.then(lambda wrapped: wrapped.proxy(name, port=port, scheme=scheme))
        )


@final
class ServiceAccountClient(ResourceClient["ServiceAccount"]):
    """The blocking form of `kubeloop.clients.ServiceAccountClient`."""

    __slots__ = ()

    _reference: LoopReference[clients.ServiceAccountClient]

    def token(
        self,
        name: str,
        *,
        audiences: Iterable[str] = (),
        expiration_seconds: int | None = None,
        bound_to: BoundObjectReference | None = None,
    ) -> TokenRequest:
        """Request a token of the service account; it is in `status.token`.

        An interrupted call may have created one.
        """
        return self._reference.call(
            lambda wrapped: wrapped.token(
                name, audiences=audiences, expiration_seconds=expiration_seconds, bound_to=bound_to
            )
        )


@final
class NamespaceClient(ResourceClient["Namespace"]):
    """The blocking form of `kubeloop.clients.NamespaceClient`."""

    __slots__ = ()

    _reference: LoopReference[clients.NamespaceClient]

    @property
    def finalize(self) -> SubresourceClient[Namespace]:
        """The finalizers in a namespace's spec; only `update` is served."""
        return SubresourceClient(self._reference.then(lambda wrapped: wrapped.finalize))


@final
class CertificateSigningRequestClient(ResourceClient["CertificateSigningRequest"]):
    """The blocking form of `kubeloop.clients.CertificateSigningRequestClient`."""

    __slots__ = ()

    _reference: LoopReference[clients.CertificateSigningRequestClient]

    @property
    def approval(self) -> SubresourceClient[CertificateSigningRequest]:
        """The approval of a certificate signing request."""
        return SubresourceClient(self._reference.then(lambda wrapped: wrapped.approval))


@final
class MetadataClient:
    """The blocking form of `kubeloop.clients.MetadataClient`."""

    __slots__ = ("_reference",)

    def __init__(self, reference: LoopReference[clients.MetadataClient]) -> None:
        self._reference = reference

    def __repr__(self) -> str:
        return f"blocking {self._reference!r}"

    def in_namespace(self, namespace: str | None) -> MetadataClient:
        """A client of the same kind in another namespace."""
        return MetadataClient(self._reference.then(lambda wrapped: wrapped.in_namespace(namespace)))

    def info(self) -> ResourceInfo:
        """As `ResourceClient.info`."""
        return self._reference.call(lambda wrapped: wrapped.info())

    def get(self, name: str, *, resource_version: str = "") -> PartialObjectMetadata:
        """As `ResourceClient.get`."""
        return self._reference.call(
            lambda wrapped: wrapped.get(name, resource_version=resource_version)
        )

    def list(self, **options: Unpack[ListArguments]) -> ObjectList[PartialObjectMetadata]:
        """As `ResourceClient.list`."""
        return self._reference.call(lambda wrapped: wrapped.list(**options))

    def each(self, **selectors: Unpack[Selectors]) -> Stream[PartialObjectMetadata]:
        """As `ResourceClient.each`."""
        return self._reference.stream(lambda wrapped: wrapped.each(**selectors))

    def watch(
        self, *, resource_version: str | None = None, **selectors: Unpack[Selectors]
    ) -> Stream[WatchEvent[PartialObjectMetadata]]:
        """As `ResourceClient.watch`."""
        return self._reference.stream(
            lambda wrapped: wrapped.watch(resource_version=resource_version, **selectors)
        )

    def patch(
        self, name: str, patch: PatchBody, *, type: PatchType, **options: Unpack[WriteOptions]
    ) -> PartialObjectMetadata:
        """As `ResourceClient.patch`."""
        return self._reference.call(
            lambda wrapped: wrapped.patch(name, patch, type=type, **options)
        )

    def delete(self, name: str, **options: Unpack[DeleteOptions]) -> None:
        """As `ResourceClient.delete`."""
        self._reference.call(lambda wrapped: wrapped.delete(name, **options))

    def delete_collection(
        self, *, propagation: Propagation | None = None, **selectors: Unpack[Selectors]
    ) -> None:
        """As `ResourceClient.delete_collection`."""
        self._reference.call(
            lambda wrapped: wrapped.delete_collection(propagation=propagation, **selectors)
        )


@final
class ScaleClient:
    """The blocking form of `kubeloop.clients.ScaleClient`."""

    __slots__ = ("_reference",)

    def __init__(self, reference: LoopReference[clients.ScaleClient]) -> None:
        self._reference = reference

    def __repr__(self) -> str:
        return f"blocking {self._reference!r}"

    def get(self, resource: GroupResource, namespace: str, name: str) -> Scale:
        """The scale of an object. Raises: NotFound, NoResourceMatch. Safe to interrupt."""
        return self._reference.call(lambda wrapped: wrapped.get(resource, namespace, name))

    def update(
        self, resource: GroupResource, namespace: str, scale: Scale, *, dry_run: bool = False
    ) -> Scale:
        """Replace the scale of an object.

        Raises: Conflict, InvalidArgument when the resource has no scale.
        An interrupted call may have changed it.
        """
        return self._reference.call(
            lambda wrapped: wrapped.update(resource, namespace, scale, dry_run=dry_run)
        )

    def patch(
        self,
        resource: GroupVersionResource,
        namespace: str,
        name: str,
        patch: PatchBody,
        *,
        type: PatchType,
    ) -> Scale:
        """Change fields of a scale. An interrupted call may have changed it."""
        return self._reference.call(
            lambda wrapped: wrapped.patch(resource, namespace, name, patch, type=type)
        )


@final
class Proxy:
    """The blocking form of `kubeloop.clients.Proxy`."""

    __slots__ = ("_reference",)

    def __init__(self, reference: LoopReference[clients.Proxy]) -> None:
        self._reference = reference

    def __repr__(self) -> str:
        return f"blocking {self._reference!r}"

    def get(self, path: str = "", *, params: Params | None = None) -> bytes:
        """The body of `path`. Raises: ApiError. Safe to interrupt."""
        return self._reference.call(lambda wrapped: wrapped.get(path, params=params))

    def request(
        self,
        method: str,
        path: str = "",
        *,
        params: Params | None = None,
        headers: Mapping[str, str] | None = None,
        body: bytes | None = None,
        content_type: str = "",
    ) -> Response:
        """Send any request; returns the whole response. Raises: ApiError.

        An interrupted call may have reached the pod, service or node.
        """
        return self._reference.call(
            lambda wrapped: wrapped.request(
                method, path, params=params, headers=headers, body=body, content_type=content_type
            )
        )

    def stream(self, path: str = "", *, params: Params | None = None) -> Stream[bytes]:
        """The body of `path` in chunks."""
        return self._reference.stream(
            lambda wrapped: iterate_awaited(wrapped.stream(path, params=params))
        )


@final
class Rollout:
    """The blocking form of `kubeloop.clients.Rollout`."""

    __slots__ = ("_reference",)

    def __init__(self, reference: LoopReference[clients.Rollout]) -> None:
        self._reference = reference

    def __repr__(self) -> str:
        return f"blocking {self._reference!r}"

    def status(self) -> RolloutStatus:
        """How far the rollout is, with the problems of its new pods. Safe to interrupt.

        Raises: NotFound; InvalidArgument for an update strategy other than `RollingUpdate`.
        """
        return self._reference.call(lambda wrapped: wrapped.status())

    def progress(self, *, timeout: float | None = None) -> Stream[RolloutStatus]:
        """The status, and each change of it, until the rollout is complete.

        The last status is complete. If you leave early, close it (or use `with`).
        Raises: RolloutFailed when the progress deadline has passed or the object was deleted;
        WaitTimeout after `timeout` seconds; NotFound; InvalidArgument for an update strategy
        other than `RollingUpdate`.
        """
        return self._reference.stream(lambda wrapped: wrapped.progress(timeout=timeout))

    def wait(self, *, timeout: float | None = 600.0) -> RolloutStatus:
        """Wait until the rollout is complete. Raises as `progress`. Safe to interrupt."""
        return self._reference.call(lambda wrapped: wrapped.wait(timeout=timeout))

    def restart(self, *, dry_run: bool = False) -> None:
        """Replace all pods, as `kubectl rollout restart`.

        Raises: NotFound; InvalidArgument for a paused deployment, which would not start. A
        cancelled call may have started it.
        """
        self._reference.call(lambda wrapped: wrapped.restart(dry_run=dry_run))

    def pause(self, *, dry_run: bool = False) -> bool:
        """Stop the rollout of a deployment after its current pods; False if it is paused already.

        Raises: NotFound; InvalidArgument for other kinds. An interrupted call may have paused it.
        """
        return self._reference.call(lambda wrapped: wrapped.pause(dry_run=dry_run))

    def resume(self, *, dry_run: bool = False) -> bool:
        """Continue the rollout of a paused deployment; False if it is not paused.

        Raises: NotFound; InvalidArgument for other kinds. An interrupted call may have resumed it.
        """
        return self._reference.call(lambda wrapped: wrapped.resume(dry_run=dry_run))

    def history(self) -> list[Revision]:
        """The templates that can be restored, oldest first. Raises: NotFound. Safe to interrupt."""
        return self._reference.call(lambda wrapped: wrapped.history())

    def undo(self, *, to_revision: int = 0, dry_run: bool = False) -> Revision | None:
        """Restore the template of the previous revision, or of `to_revision`.

        Returns the revision; None if the object has its template already.
        Raises: NotFound; InvalidArgument when there is no such revision, or the deployment is
        paused. An interrupted call may have restored it.
        """
        return self._reference.call(
            lambda wrapped: wrapped.undo(to_revision=to_revision, dry_run=dry_run)
        )


@final
class DynamicClient:
    """The blocking form of `kubeloop.clients.DynamicClient`."""

    __slots__ = ("_reference",)

    def __init__(self, reference: LoopReference[clients.DynamicClient]) -> None:
        self._reference = reference

    def __repr__(self) -> str:
        return f"blocking {self._reference!r}"

    def resource(
        self, what: AnyKind, kind: str = "", /, *, namespace: str | None = None
    ) -> ResourceClient[dict[str, Any]]:
        """A client of one kind, by class, by apiVersion and kind, by GVK or by GVR."""
        return ResourceClient(
            self._reference.then(lambda wrapped: wrapped.resource(what, kind, namespace=namespace))
        )


@final
class DiscoveryClient:
    """The blocking form of `kubeloop.discovery.DiscoveryClient`."""

    __slots__ = ("_reference",)

    def __init__(self, reference: LoopReference[discovery.DiscoveryClient]) -> None:
        self._reference = reference

    def __repr__(self) -> str:
        return f"blocking {self._reference!r}"

    @property
    def openapi(self) -> OpenApiV3:
        return OpenApiV3(self._reference.then(lambda wrapped: wrapped.openapi))

    def groups(self) -> tuple[ApiGroup, ...]:
        """The groups with their versions, the core group first."""
        return self._reference.call(lambda wrapped: wrapped.groups())

    def groups_and_maybe_resources(self) -> tuple[tuple[ApiGroup, ...], DiscoveryResult | None]:
        """The groups and, with aggregated discovery, all resources.

        Raises: the error of `/apis`. A missing `/api` means that there is no core group.
        """
        return self._reference.call(lambda wrapped: wrapped.groups_and_maybe_resources())

    def resources(self, version: GroupVersion) -> tuple[ApiResource, ...]:
        """The resources of one group version, with subresources such as `pods/status`.

        Raises: InvalidArgument for an empty version; ApiError, but a missing `v1` is empty.
        """
        return self._reference.call(lambda wrapped: wrapped.resources(version))

    def discover(self) -> DiscoveryResult:
        """Everything; group versions that failed twice are in `failures`."""
        return self._reference.call(lambda wrapped: wrapped.discover())

    def preferred(self, *, namespaced: bool = False) -> dict[GroupVersion, tuple[ApiResource, ...]]:
        """Each resource once, in its preferred version; with `namespaced` only namespaced ones."""
        return self._reference.call(lambda wrapped: wrapped.preferred(namespaced=namespaced))

    def version(self) -> VersionInfo:
        """The server's version."""
        return self._reference.call(lambda wrapped: wrapped.version())

    def openapi_v2(self) -> bytes:
        """The OpenAPI v2 document, as protobuf."""
        return self._reference.call(lambda wrapped: wrapped.openapi_v2())

    def supports(self, version: GroupVersion) -> bool:
        """Whether a group version is served; True if the server lists none, as in client-go."""
        return self._reference.call(lambda wrapped: wrapped.supports(version))

    def serves(self, resource: GroupVersionResource) -> bool:
        """Whether a resource is served (client-go: `IsResourceEnabled`)."""
        return self._reference.call(lambda wrapped: wrapped.serves(resource))


@final
class OpenApiV3:
    """The blocking form of `kubeloop.discovery.OpenApiV3`."""

    __slots__ = ("_reference",)

    def __init__(self, reference: LoopReference[discovery.OpenApiV3]) -> None:
        self._reference = reference

    def __repr__(self) -> str:
        return f"blocking {self._reference!r}"

    def paths(self) -> dict[str, OpenApiPath]:
        """The index. Safe to interrupt."""
        return self._reference.call(lambda wrapped: wrapped.paths())

    def document(self, key: str | GroupVersion) -> dict[str, Any]:
        """The document of a group version, or of any other key of the index. Safe to interrupt.

        Raises: InvalidArgument when the index has no such key.
        """
        return self._reference.call(lambda wrapped: wrapped.document(key))

    def invalidate(self) -> None:
        """Drop the index, also that of a running request."""
        self._reference.read(lambda wrapped: wrapped.invalidate())


@final
class DeferredMapper:
    """The blocking form of `kubeloop.discovery.DeferredMapper`."""

    __slots__ = ("_reference",)

    def __init__(self, reference: LoopReference[discovery.DeferredMapper]) -> None:
        self._reference = reference

    def __repr__(self) -> str:
        return f"blocking {self._reference!r}"

    def resources_for(self, partial: GroupVersionResource) -> list[GroupVersionResource]:
        """As `RESTMapper.resources_for`."""
        return self._reference.call(lambda wrapped: wrapped.resources_for(partial))

    def resource_for(self, partial: GroupVersionResource) -> GroupVersionResource:
        """As `RESTMapper.resource_for`."""
        return self._reference.call(lambda wrapped: wrapped.resource_for(partial))

    def kinds_for(self, partial: GroupVersionResource) -> list[GroupVersionKind]:
        """As `RESTMapper.kinds_for`."""
        return self._reference.call(lambda wrapped: wrapped.kinds_for(partial))

    def kind_for(self, partial: GroupVersionResource) -> GroupVersionKind:
        """As `RESTMapper.kind_for`."""
        return self._reference.call(lambda wrapped: wrapped.kind_for(partial))

    def mappings(self, kind: GroupKind, *versions: str) -> list[ResourceInfo]:
        """As `RESTMapper.mappings`."""
        return self._reference.call(lambda wrapped: wrapped.mappings(kind, *versions))

    def mapping(self, kind: GroupKind, *versions: str) -> ResourceInfo:
        """As `RESTMapper.mapping`."""
        return self._reference.call(lambda wrapped: wrapped.mapping(kind, *versions))

    def find(self, word: str) -> ResourceInfo:
        """As `RESTMapper.find`."""
        return self._reference.call(lambda wrapped: wrapped.find(word))

    def singular_of(self, resource: str) -> str:
        """As `RESTMapper.singular_of`."""
        return self._reference.call(lambda wrapped: wrapped.singular_of(resource))

    def expand(self, partial: GroupVersionResource) -> GroupVersionResource:
        """As `RESTMapper.expand`."""
        return self._reference.call(lambda wrapped: wrapped.expand(partial))

    def category(self, word: str) -> tuple[GroupResource, ...]:
        """As `RESTMapper.category`."""
        return self._reference.call(lambda wrapped: wrapped.category(word))

    def reset(self) -> None:
        """Invalidate the cache, and drop the mapper."""
        self._reference.read(lambda wrapped: wrapped.reset())

    def stats(self) -> MapperStats:
        return self._reference.read(lambda wrapped: wrapped.stats())


@final
class RESTClient:
    """The blocking form of `kubeloop.rest.RESTClient`."""

    __slots__ = ("_reference",)

    def __init__(self, reference: LoopReference[rest.RequestSender]) -> None:
        self._reference = reference

    def __repr__(self) -> str:
        return f"blocking {self._reference!r}"

    @property
    def config(self) -> ClusterConfig:
        return self._reference.read(lambda wrapped: wrapped.config)

    def url(self, request: Request) -> str:
        """The whole URL of the request."""
        return self._reference.read(lambda wrapped: wrapped.url(request))

    def send(self, request: Request, *, warnings: WarningHandler | None = None) -> Response:
        """Send the request and read the whole response.

        Safe to interrupt: the connection is closed; the server may have executed the request.

        Raises:
            ApiError: the response is not a success.
            InFlightTimeout: no in-flight slot became free in time.
            ResponseTooLarge: the response is larger than its limit.
            TransportError: no whole response arrived in time.
            ConfigError: credentials or certificates are not available.
        """
        return self._reference.call(lambda wrapped: wrapped.send(request, warnings=warnings))

    def watch(
        self,
        request: Request,
        *,
        max_duration: float | None = None,
        warnings: WarningHandler | None = None,
    ) -> Stream[RawEvent]:
        """A watch that is opened when it is entered or first read.

        `max_duration` ends it after so many seconds. The default is 5 to 10 minutes, at random,
        and is sent to the server as `timeoutSeconds` unless the request has its own.
        """
        return self._reference.stream(
            lambda wrapped: wrapped.watch(request, max_duration=max_duration, warnings=warnings)
        )

    def stream(self, request: Request, *, warnings: WarningHandler | None = None) -> Stream[bytes]:
        """A body that is read in chunks, such as a log; opened when it is entered or first read.

        A log that is followed may be silent for a long time: set `timeouts=Timeouts(idle=None)`
        in its request.
        """
        return self._reference.stream(lambda wrapped: wrapped.stream(request, warnings=warnings))

    def items(self, request: Request, *, warnings: WarningHandler | None = None) -> Stream[bytes]:
        """The items of a list one by one; memory does not grow with the length of the list."""
        return self._reference.stream(lambda wrapped: wrapped.items(request, warnings=warnings))

    def stats(self) -> RESTStats:
        return self._reference.read(lambda wrapped: wrapped.stats())


_FORMS: dict[str, type[ResourceClient[Any]]] = {
    "PodClient": PodClient,
    "ScalableClient": ScalableClient,
    "WorkloadClient": WorkloadClient,
    "DaemonSetClient": DaemonSetClient,
    "NodeClient": NodeClient,
    "ServiceClient": ServiceClient,
    "ServiceAccountClient": ServiceAccountClient,
    "NamespaceClient": NamespaceClient,
    "CertificateSigningRequestClient": CertificateSigningRequestClient,
}


def resource_form(kind: object) -> type[ResourceClient[Any]]:
    """The class of the clients of a kind."""
    if not isinstance(kind, type):
        return ResourceClient
    return _FORMS.get(clients.client_class(kind).__name__, ResourceClient)
