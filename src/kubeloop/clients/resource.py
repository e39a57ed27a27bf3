"""The client of one resource: all verbs of a collection and of its objects.

Guarantees: `edit` and `modify` send only the fields that changed, `update` the whole object;
fields that a class does not know survive; a write is sent once, unless the server responds
with `Retry-After`.
See also: `collection` (path and requests), `writer` (stores a change), `paging` (pages),
`wait` (conditions), `subresources`.
"""

# ruff: noqa: ASYNC109 - `timeout` uses the client's clock, and its error names the object

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager
from datetime import datetime
from functools import partial
from os import PathLike
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar, Unpack, cast, final, overload

from kubeloop.errors import Cause, DecodeError, InvalidArgument, KubeError, NotFound, has_cause
from kubeloop.kit import strict_keywords
from kubeloop.meta import Owner
from kubeloop.rest import APPLY_PATCH, Params, Request, ResumingWatch, query_options
from kubeloop.wire import ResourceInfo

from .collection import Collection, RawCollection
from .formats import is_refusal
from .lists import ACCEPT_TABLE, EventType, IncludeObject, ObjectList, Table, WatchEvent, read_table
from .object_codecs import (
    DEFAULT_MANAGER,
    ObjectCodec,
    ObjectReader,
    PatchBody,
    PatchType,
    TypedCodec,
    ViewReader,
    body_of,
    check_appliable,
    check_object,
    condition_update,
    patch_text,
    patch_type_of,
)
from .options import (
    DeleteOptions,
    LabelSelection,
    ListArguments,
    ListOptions,
    Propagation,
    Selectors,
    VersionMatch,
    WatchOptions,
    WriteOptions,
    delete_options,
    write_params,
)
from .paging import PAGE_SIZE, Pager, identity_of, key_of, read_page, read_raw_page
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
    from kubeloop.wire.apps.v1 import DaemonSet, Deployment, StatefulSet
    from kubeloop.wire.authentication.v1 import BoundObjectReference, TokenRequest
    from kubeloop.wire.autoscaling.v1 import Scale
    from kubeloop.wire.certificates.v1 import CertificateSigningRequest
    from kubeloop.wire.core.v1 import Namespace, Node, Pod, Service, ServiceAccount

    from .drain import DrainOptions, DrainPlan, DrainStep, PlanOptions
    from .object_patch import ObjectPatch
    from .rollout import Rollout
    from .wait import EventCondition

__all__ = ["ResourceClient"]

T = TypeVar("T")
V = TypeVar("V")
P = TypeVar("P", "Pod", "Service", "Node")

_EVERYTHING = ListOptions()
_DEFAULT_DELETE = body_of(delete_options())
_ACCEPT_METADATA = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json"


@final
class ResourceClient(Generic[T]):
    """The verbs of one resource: `client.resource(Pod, namespace="shop")`.

    To read: `get`, `get_or_none`, `exists`; `list` for one page, `list_all` for a whole collection
    in memory, `each` for a collection of any size. To follow changes: `watch`; `wait_for` one
    object, `until` for conditions on events. To write: `create`, `apply`, `patch`, `update`;
    `edit` for a change in a block, `modify` for one that must be repeated on a conflict.
    """

    def __init__(self, collection: Collection, codec: ObjectCodec[T]) -> None:
        self._collection = collection
        self._codec = codec

    def __repr__(self) -> str:
        return f"ResourceClient({self._collection})"

    @property
    def namespace(self) -> str | None:
        """None is the namespace of the configuration, `ALL` is all namespaces."""
        return self._collection.namespace

    @property
    def object_type(self) -> type[T]:
        """The class of the objects, or `dict`."""
        return self._codec.object_type

    @property
    def raw(self) -> RawCollection:
        """Lists and watches without decoding, for caches."""
        codec = self._codec
        return RawCollection(self._collection, codec.accept_many, watch_accept=codec.accept_one)

    def in_namespace(self, namespace: str | None) -> ResourceClient[T]:
        """A client of the same kind in another namespace."""
        return ResourceClient(self._collection.in_namespace(namespace), self._codec)

    async def info(self) -> ResourceInfo:
        """Group, version, names, scope and verbs of the resource. Safe to cancel.

        Raises: NoKindMatch when the server has no such kind.
        """
        return await self._collection.info()

    # --- reading

    @overload
    async def get(self, name: str, *, resource_version: str = ...) -> T: ...
    @overload
    async def get(self, name: str, *, model: type[V], resource_version: str = ...) -> V: ...
    async def get(
        self, name: str, *, model: type[Any] | None = None, resource_version: str = ""
    ) -> Any:
        """The object; with `resource_version="0"` the server may return a cached version.

        `model` is another class to read it as: a struct with only the fields you need.
        Raises: NotFound. Safe to cancel.
        """
        reader: ObjectReader[Any] = self._codec if model is None else self._reader(model)
        collection = self._collection
        if collection.formats.preference == "protobuf" and reader.protobuf[0]:
            return await collection.formats.read(
                collection.resource_name,
                (reader.protobuf[0], reader.accept_one),
                lambda accept: self._get(reader, name, resource_version, accept),
            )
        response = await collection.send(
            "get",
            name=name,
            params={"resourceVersion": resource_version} if resource_version else None,
            accept=reader.accept_one,
        )
        return reader.decode(response)

    async def _get(
        self, reader: ObjectReader[Any], name: str, resource_version: str, accept: str
    ) -> Any:
        response = await self._collection.send(
            "get",
            name=name,
            params={"resourceVersion": resource_version} if resource_version else None,
            accept=accept,
        )
        return reader.decode(response)

    async def get_or_none(self, name: str, *, resource_version: str = "") -> T | None:
        """The object, or None if it does not exist. Safe to cancel.

        Raises: NotFound when the server does not have the resource.
        """
        try:
            return await self.get(name, resource_version=resource_version)
        except NotFound as error:
            if _is_object_missing(error, name):
                return None
            raise

    async def exists(self, name: str) -> bool:
        """Whether the object exists. Safe to cancel.

        Raises: NotFound when the server does not have the resource.
        """
        try:
            await self._collection.send("get", name=name, accept=_ACCEPT_METADATA)
        except NotFound as error:
            if _is_object_missing(error, name):
                return False
            raise
        return True

    @overload
    async def list(self, **options: Unpack[ListArguments]) -> ObjectList[T]: ...
    @overload
    async def list(self, *, model: type[V], **options: Unpack[ListArguments]) -> ObjectList[V]: ...
    @strict_keywords
    async def list(
        self, *, model: type[Any] | None = None, **options: Unpack[ListArguments]
    ) -> ObjectList[Any]:
        """One page of the collection, or all of it without `limit`, in one request.

        `model` is another class to read the objects as: a struct with only the fields you need.
        For collections of some thousand objects use `list_all`, for larger ones `each`.
        Raises: Expired when `resource_version` or `next_page` has expired. Safe to cancel.
        """
        selected = _EVERYTHING
        if options:
            selected = ListOptions.of(**options)
        return await read_page(self._collection, self._reader(model), selected)

    @overload
    async def list_all(
        self,
        *,
        page_size: int = ...,
        resource_version: str = ...,
        resource_version_match: VersionMatch | None = ...,
        **selectors: Unpack[Selectors],
    ) -> ObjectList[T]: ...
    @overload
    async def list_all(
        self,
        *,
        model: type[V],
        page_size: int = ...,
        resource_version: str = ...,
        resource_version_match: VersionMatch | None = ...,
        **selectors: Unpack[Selectors],
    ) -> ObjectList[V]: ...
    @strict_keywords
    async def list_all(
        self,
        *,
        model: type[Any] | None = None,
        page_size: int = PAGE_SIZE,
        resource_version: str = "",
        resource_version_match: VersionMatch | None = None,
        **selectors: Unpack[Selectors],
    ) -> ObjectList[Any]:
        """The whole collection, read in pages and returned as one list. Safe to cancel.

        `model` is another class to read the objects as, as for `list`. If a page token expires,
        the collection is read again in one request. Use `each` if the collection may not fit
        into memory.
        """
        options = ListOptions.of(
            resource_version=resource_version,
            resource_version_match=resource_version_match,
            **selectors,
        )
        read = partial(read_page, self._collection, self._reader(model))
        pager = Pager(read, page_size=page_size)
        # A struct of yours need not have the name of the object.
        return (await pager.list(options, key=key_of if model is None else None))[0]

    @overload
    def each(
        self, *, page_size: int = ..., **selectors: Unpack[Selectors]
    ) -> AsyncGenerator[T, None]: ...
    @overload
    def each(
        self, *, model: type[V], page_size: int = ..., **selectors: Unpack[Selectors]
    ) -> AsyncGenerator[V, None]: ...
    @strict_keywords
    async def each(
        self,
        *,
        model: type[Any] | None = None,
        page_size: int = PAGE_SIZE,
        **selectors: Unpack[Selectors],
    ) -> AsyncGenerator[Any, None]:
        """Every object, one by one, read in pages and decoded one at a time.

        `model` is another class to read the objects as, as for `list`.
        At most two pages are in memory. No object is returned twice: if a page token expires,
        the iteration continues with the server's new token, or with a new list.
        """
        reader = self._reader(model)
        pager = Pager(partial(read_raw_page, self._collection, reader), page_size=page_size)
        async with aclosing(pager.each(ListOptions.of(**selectors), key=identity_of)) as items:
            async for item, page in items:
                try:
                    found = reader.decode_item(item, page)
                except DecodeError as error:
                    if not is_refusal(error):
                        raise
                    again = await self._read_as_json(reader, item, error)
                    if again is None:
                        continue  # it was deleted meanwhile
                    found = again
                yield found

    @strict_keywords
    async def table(
        self,
        name: str = "",
        *,
        limit: int = 0,
        next_page: str = "",
        include_object: IncludeObject = "Metadata",
        **selectors: Unpack[Selectors],
    ) -> Table:
        """The output of `kubectl get`, of one object or a collection. Safe to cancel."""
        options = ListOptions.of(limit=limit, next_page=next_page, **selectors)
        params = options.params() | query_options(include_object=include_object)
        verb = "get" if name else "list"
        return read_table(
            await self._collection.send(verb, name=name, params=params, accept=ACCEPT_TABLE)
        )

    # --- watching

    @overload
    def watch(
        self,
        *,
        resource_version: str | None = ...,
        timeout_seconds: int | None = ...,
        **selectors: Unpack[Selectors],
    ) -> AsyncGenerator[WatchEvent[T], None]: ...
    @overload
    def watch(
        self,
        *,
        model: type[V],
        resource_version: str | None = ...,
        timeout_seconds: int | None = ...,
        **selectors: Unpack[Selectors],
    ) -> AsyncGenerator[WatchEvent[V], None]: ...
    @strict_keywords
    async def watch(
        self,
        *,
        model: type[Any] | None = None,
        resource_version: str | None = None,
        timeout_seconds: int | None = None,
        **selectors: Unpack[Selectors],
    ) -> AsyncGenerator[WatchEvent[Any], None]:
        """The changes after `resource_version`, until you close the watch.

        A stream that breaks is resumed at its last version. Without `resource_version`, all
        existing objects come first, as ADDED. `model` is another class to read the objects as.
        If you leave early, close it (`contextlib.aclosing`).
        Raises: Expired when the version has expired: list, and watch from the version of the list.
        """
        options = WatchOptions.of(timeout_seconds=timeout_seconds, **selectors)
        if resource_version is None:
            options_of_list = ListOptions.of(**selectors)
            page = await read_page(self._collection, self._reader(model), options_of_list)
            for obj in page:
                yield WatchEvent("ADDED", obj)
            resource_version = page.version
        reader = self._reader(model)
        request = await self.raw.watch_request(options)
        formats, resource = self._collection.formats, self._collection.resource_name
        while True:
            accept = reader.protobuf[0] if formats.uses_protobuf(resource) else ""
            asked = request.replace(accept=accept) if accept else request
            async with self._resuming_watch(asked, resource_version) as events:
                try:
                    async for event in events:
                        # ERROR events are raised, and bookmarks dropped.
                        found = reader.decode_item(event.object, None)
                        resource_version = events.version
                        yield WatchEvent(cast("EventType", event.type), found)
                except KubeError as error:
                    if not accept or not is_refusal(error):
                        raise
                    formats.switch_to_json(resource, error)  # and watch again from before the event
                else:
                    return

    def _resuming_watch(self, request: Request, version: str) -> ResumingWatch:
        rest = self._collection.rest
        return ResumingWatch(
            lambda version: rest.watch(request.with_params({"resourceVersion": version})),
            version,
            clock=rest.clock,
        )

    @strict_keywords
    async def until(
        self, *conditions: EventCondition[T], resource_version: str, **selectors: Unpack[Selectors]
    ) -> WatchEvent[T] | None:
        """Watch until each condition was met in turn (client-go: `watch.Until`).

        For conditions on a sequence of events, of any objects. To wait for the state of one
        object, use `wait_for`.
        Raises: Expired when `resource_version` has expired. Safe to cancel.
        """
        from .wait import until

        return await until(self.watch(resource_version=resource_version, **selectors), *conditions)

    @overload
    async def wait_for(
        self, name: str, *, deleted: Literal[True], timeout: float | None = ...
    ) -> None: ...
    @overload
    async def wait_for(self, name: str, *, condition: str, timeout: float | None = ...) -> T: ...
    @overload
    async def wait_for(self, name: str, *, jsonpath: str, timeout: float | None = ...) -> T: ...
    @overload
    async def wait_for(
        self, name: str, *, function: Callable[[T], bool], timeout: float | None = ...
    ) -> T: ...
    async def wait_for(
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
        `until`. Safe to cancel.
        Raises: WaitTimeout, which has the last state.
        """
        from .wait import goal_of, wait_until

        goal = goal_of(condition=condition, jsonpath=jsonpath, deleted=deleted, function=function)
        return await wait_until(self, name, goal, timeout=timeout)

    # --- writing

    @strict_keywords
    async def create(self, obj: T, **options: Unpack[WriteOptions]) -> T:
        """Create an object, and return it as the server stored it.

        Raises: AlreadyExists, Invalid. A cancelled call may have created it.
        """
        params = self._write_params(options)
        data = check_object(self._codec.to_data(obj))
        return await self._send_object("create", data, params)

    @strict_keywords
    async def create_or_update(self, obj: T, **options: Unpack[WriteOptions]) -> T:
        """Create the object, or merge it into the existing one.

        Fields that `obj` does not have stay as they are; nothing is sent if nothing would
        change. Raises: Invalid. A cancelled call may have changed it.
        """
        from .writer import create_or_update

        return await create_or_update(self, obj, **options)

    @strict_keywords
    async def update(
        self, obj: T, *, unconditional: bool = False, **options: Unpack[WriteOptions]
    ) -> T:
        """Replace the whole object, and return it as the server stored it.

        The version and uid in `obj` are preconditions, so that an object from a stale cache is
        a conflict. An object without a version would overwrite the changes of other writers: it
        is not sent, unless `unconditional`, which removes the version.
        Raises: Conflict when the object has changed since it was read; Invalid; InvalidArgument
        for an object without a version. A cancelled call may have changed it.
        """
        params = self._write_params(options)
        data = check_object(self._codec.to_data(obj))
        condition_update(data, unconditional=unconditional)
        return await self._send_object("update", data, params)

    @strict_keywords
    async def patch(
        self,
        name: str,
        patch: PatchBody,
        *,
        type: PatchType,  # noqa: A002 - the API's word
        force: bool | None = None,
        **options: Unpack[WriteOptions],
    ) -> T:
        """Send a patch, and return the new object; bytes are sent unchanged.

        A patch overwrites the fields that it has, also in an object that has changed since you
        read it. It is a conflict only if it has a version itself (`metadata.resourceVersion`, or
        a `test` operation); an object that was read and is sent as a patch has one.
        `strategic` is for built-in kinds only, `force` for `apply` only.
        Raises: Invalid; Conflict if the patch has a version.
        A cancelled call may have changed it.
        """
        if force is not None and type != "apply":
            raise InvalidArgument(f"patch of type {type!r}: force is for apply only")
        is_apply = type == "apply"
        params = self._write_params(
            options,
            force=bool(force) if is_apply else None,
            default_manager=DEFAULT_MANAGER if is_apply else "",
        )
        return await self._send_patch(
            name, patch_text(patch, type), content_type=patch_type_of(type), params=params
        )

    @strict_keywords
    async def apply(self, obj: T, *, force: bool = False, **options: Unpack[WriteOptions]) -> T:
        """Server-side apply: create or change the object to have the fields of `obj`.

        The field manager becomes their owner. Raises: Conflict when another manager owns a
        field, unless `force`.
        A cancelled call may have changed it.
        """
        return await self._apply(obj, None, force=force, **options)

    @strict_keywords
    @asynccontextmanager
    async def edit(
        self,
        name: str,
        *,
        strict: bool = False,
        timeout: float | None = 30.0,
        **options: Unpack[WriteOptions],
    ) -> AsyncIterator[T]:
        """Change the object in a `with` block; the difference is sent when the block ends.

            async with pods.edit("web") as pod:
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
        that the server would ignore. A cancelled call may have stored the change.
        """
        from .writer import ObjectEditor

        params = self._write_params(options)
        editor = await ObjectEditor.open(self, "edit", name, timeout=timeout, params=params)
        obj = await self.get(name)
        before = self._codec.to_dict(obj)
        yield obj
        await editor.store(obj, before, strict=strict)

    @strict_keywords
    async def modify(
        self,
        name: str,
        function: Callable[[T], T | Awaitable[T | None] | None],
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
        change that the server would ignore. A cancelled call may have stored the change.
        """
        from .writer import ObjectEditor

        params = self._write_params(options)
        editor = await ObjectEditor.open(self, "modify", name, timeout=timeout, params=params)
        return await editor.modify(function)

    @strict_keywords
    async def delete(
        self, name: str, *, missing_ok: bool = False, **options: Unpack[DeleteOptions]
    ) -> None:
        """Delete an object; it exists until its finalizers are removed.

        Raises: NotFound unless `missing_ok`, Conflict when it has another uid or version.
        A cancelled call may have deleted it.
        """
        body = _DEFAULT_DELETE
        if options:
            body = body_of(delete_options(**options))
        try:
            await self._collection.send("delete", name=name, body=body)
        except NotFound as error:
            if not (missing_ok and _is_object_missing(error, name)):
                raise

    @strict_keywords
    async def delete_collection(
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
        """Delete all selected objects. A cancelled call may have deleted some."""
        selected = ListOptions.of(
            limit=limit,
            resource_version=resource_version,
            timeout_seconds=timeout_seconds,
            **selectors,
        )
        options = delete_options(
            propagation=propagation, grace_period=grace_period, dry_run=dry_run
        )
        await self._collection.send(
            "deletecollection",
            params=selected.params(),
            body=body_of(options),
            timeout=float(timeout_seconds or 0),
        )

    # --- subresources

    def subresource(self, name: str) -> SubresourceClient[T]:
        """A subresource with the same kind as the object itself."""
        return SubresourceClient(ResourceClient(self._collection.at_subresource(name), self._codec))

    @property
    def status(self) -> SubresourceClient[T]:
        """The observed state."""
        return self.subresource("status")

    @property
    def scale(self) -> SubresourceClient[Scale]:
        """The number of replicas, as the `Scale` that all kinds share."""
        from kubeloop.wire.autoscaling.v1 import Scale

        codec: ObjectCodec[Scale] = TypedCodec(Scale)
        return SubresourceClient(ResourceClient(self._collection.at_subresource("scale"), codec))

    @property
    def ephemeral_containers(self: ResourceClient[Pod]) -> SubresourceClient[Pod]:
        """The ephemeral containers of a running pod."""
        return self.subresource("ephemeralcontainers")

    @property
    def resize(self: ResourceClient[Pod]) -> SubresourceClient[Pod]:
        """The resources of a running pod's containers."""
        return self.subresource("resize")

    @property
    def approval(
        self: ResourceClient[CertificateSigningRequest],
    ) -> SubresourceClient[CertificateSigningRequest]:
        """The approval of a certificate signing request."""
        return self.subresource("approval")

    @property
    def finalize(self: ResourceClient[Namespace]) -> SubresourceClient[Namespace]:
        """The finalizers in a namespace's spec; only `update` is served."""
        return self.subresource("finalize")

    # --- actions

    @strict_keywords
    async def evict(
        self: ResourceClient[Pod],
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

    async def bind(
        self: ResourceClient[Pod], name: str, *, node: str, dry_run: bool = False
    ) -> None:
        """Assign a pod to a node, as a scheduler does.

        Raises: Conflict when it is already assigned. A cancelled call may have bound it.
        """
        target = {"apiVersion": "v1", "kind": "Node", "name": node}
        body = {"apiVersion": "v1", "kind": "Binding", "target": target}
        await self._post(name, "binding", body, params=write_params(dry_run=dry_run))

    async def logs(
        self: ResourceClient[Pod],
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
        self: ResourceClient[Pod],
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
        self: ResourceClient[Pod],
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
        self: ResourceClient[Pod],
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
        self: ResourceClient[Pod],
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
        self: ResourceClient[Pod],
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
        self: ResourceClient[Pod],
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
        self: ResourceClient[Pod],
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
        self: ResourceClient[Pod], target: str, port: int
    ) -> AbstractAsyncContextManager[PortConnection]:
        """A connection to a port of a pod, without a local listener.

            async with pods.open_connection("web-1", 8080) as connection:
                await connection.write(b"ping")
                answer = await connection.read()

        Raises: PortForwardFailed when the pod refuses it, at the first read or write; NotFound.
        """
        from kubeloop.streams import open_port

        return open_port(self._pod_access, target, port)

    async def token(
        self: ResourceClient[ServiceAccount],
        name: str,
        *,
        audiences: Iterable[str] = (),
        expiration_seconds: int | None = None,
        bound_to: BoundObjectReference | None = None,
    ) -> TokenRequest:
        """Request a token of the service account; it is in `status.token`.

        A cancelled call may have created one.
        """
        from kubeloop.wire.authentication.v1 import TokenRequest, TokenRequestSpec

        spec = TokenRequestSpec(
            audiences=list(audiences),
            expiration_seconds=expiration_seconds,
            bound_object_ref=bound_to,
        )
        response = await self._collection.send(
            "create", name=name, subresource="token", body=body_of(TokenRequest(spec=spec))
        )
        return response.decode(TokenRequest)

    def proxy(
        self: ResourceClient[P], name: str, *, port: str | int = "", scheme: str = ""
    ) -> Proxy:
        """Sends HTTP requests through the API server to a pod, a service or a kubelet."""
        return Proxy(self._collection, proxy_name(name, scheme=scheme, port=port))

    def rollout(
        self: ResourceClient[Deployment] | ResourceClient[StatefulSet] | ResourceClient[DaemonSet],
        name: str,
    ) -> Rollout:
        """The rollout of a deployment, stateful set or daemon set: restart, wait, undo, …."""
        from .rollout import Rollout

        return Rollout(self, name)

    async def cordon(self: ResourceClient[Node], name: str, *, dry_run: bool = False) -> bool:
        """Keep new pods off a node; False if it is cordoned already.

        Raises: NotFound. A cancelled call may have cordoned it.
        """
        from .drain import set_unschedulable

        return await set_unschedulable(self, name, unschedulable=True, dry_run=dry_run)

    async def uncordon(self: ResourceClient[Node], name: str, *, dry_run: bool = False) -> bool:
        """Allow new pods on a node again; False if it is not cordoned.

        Raises: NotFound. A cancelled call may have uncordoned it.
        """
        from .drain import set_unschedulable

        return await set_unschedulable(self, name, unschedulable=False, dry_run=dry_run)

    async def drain_plan(
        self: ResourceClient[Node], name: str, **options: Unpack[PlanOptions]
    ) -> DrainPlan:
        """What a drain would do with the pods of a node; nothing is changed. Safe to cancel."""
        from .drain import drain_plan

        return await drain_plan(self, name, **options)

    async def drain(
        self: ResourceClient[Node],
        name: str,
        *,
        progress: Callable[[DrainStep], Awaitable[None] | None] | None = None,
        **options: Unpack[DrainOptions],
    ) -> DrainPlan:
        """Cordon a node, evict its pods, and wait until they are gone, as `kubectl drain`.

        `progress` is called with each step. An eviction that a disruption budget forbids is
        repeated every 5 seconds; with `dry_run` it is an error.
        Raises: DrainRefused when the node has pods that only an option allows to evict;
        DrainFailed when some could not be evicted, or not within `timeout` seconds; NotFound.
        The node stays cordoned. A cancelled call may have evicted some pods.
        """
        from .drain import drain

        return await drain(self, name, progress=progress, **options)

    # --- requests

    def _reader(self, model: type[Any] | None) -> ObjectReader[Any]:
        return self._codec if model is None else ViewReader(self._codec, model)

    async def _read_as_json(
        self, reader: ObjectReader[Any], item: bytes, error: DecodeError
    ) -> Any:
        """The current object, which is read as JSON because its protobuf has unknown fields."""
        from kubeloop.wire.protobuf_codec import identity_in

        collection = self._collection
        collection.formats.switch_to_json(collection.resource_name, error)
        identity = identity_in(item)
        client = self.in_namespace(identity.namespace) if identity.namespace else self
        try:
            return await client._get(reader, identity.name, "", reader.accept_one)
        except NotFound as missing:
            if _is_object_missing(missing, identity.name):
                return None
            raise

    @property
    def _pod_access(self: ResourceClient[Pod]) -> PodAccess:
        from kubeloop.streams import PodAccess

        return PodAccess(self, self._collection)

    def _write_params(
        self,
        options: WriteOptions,
        *,
        force: bool | None = None,
        default_manager: str = "",
    ) -> Params:
        manager = options.get("field_manager") or self._collection.field_manager or default_manager
        if force is None and not options and not manager:
            return ()
        return write_params(
            dry_run=options.get("dry_run", False),
            field_manager=manager,
            field_validation=options.get("field_validation"),
            force=force,
        )

    async def _apply(
        self, obj: T, owner: Owner | None, *, force: bool, **options: Unpack[WriteOptions]
    ) -> T:
        """As `apply`, with an owner as the controller of the object."""
        params = self._write_params(options, force=force, default_manager=DEFAULT_MANAGER)
        data = check_appliable(check_object(self._codec.to_data(obj)))
        if owner is not None:
            from .manifests import set_owner

            set_owner(data, owner)
        return await self._send_object("patch", data, params, content_type=APPLY_PATCH)

    async def _send_object(
        self, verb: str, data: dict[str, Any], params: Params, *, content_type: str = ""
    ) -> T:
        response = await self._collection.send(
            verb,
            obj=data,
            body=body_of(data),
            content_type=content_type,
            params=params,
            accept=self._codec.accept_one,
        )
        return self._codec.decode(response)

    async def _send_object_patch(
        self,
        name: str,
        patch: ObjectPatch,
        base: dict[str, Any],
        *,
        params: Params,
        max_retries: int | None = None,
    ) -> T:
        """Send a patch of the object `base`, which must still have its version."""
        from .object_patch import metadata_text

        version = metadata_text(base, "resourceVersion")
        if not version:
            raise DecodeError(
                f"change {name}: the server sent the object without a resourceVersion, so that"
                " changes of other writers could be overwritten (use patch)"
            )
        return await self._send_patch(
            name,
            body_of(patch.with_precondition(version, metadata_text(base, "uid"))),
            content_type=patch.content_type,
            params=params,
            max_retries=max_retries,
        )

    async def _send_patch(
        self,
        name: str,
        body: bytes,
        *,
        content_type: str,
        params: Params,
        max_retries: int | None = None,
    ) -> T:
        response = await self._collection.send(
            "patch",
            name=name,
            body=body,
            content_type=content_type,
            params=params,
            accept=self._codec.accept_one,
            max_retries=max_retries,
        )
        return self._codec.decode(response)

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
        request = await self._collection.request(
            "create", name=name, subresource=subresource, params=params, max_retries=max_retries
        )
        metadata = {"name": name, "namespace": request.namespace}
        await self._collection.rest.send(
            request.replace(body=body_of({**body, "metadata": metadata}))
        )


def _is_object_missing(error: NotFound, name: str) -> bool:
    """Whether the object is missing, and not its resource or the whole API."""
    details = error.status.details
    return (
        details is not None
        and details.name == name
        and not has_cause(error, Cause.UNEXPECTED_SERVER_RESPONSE)
    )
