"""The one client for every kind: all verbs of a collection and of its objects.

Guarantees: a verb sends what it was asked for, and reads nothing else; a change sends what was
changed and nothing else, unless a whole object is sent on purpose (`update`); fields that a
class does not know survive all of it; a write is sent once, unless the server says when to
come back.
See also: where the collection is (`collection`), how a change is stored (`writer`), pages
(`paging`), conditions (`waiting`), parts of objects (`subresources`).
"""

# ruff: noqa: ASYNC109 - the caller's bound is kept by a clock, and named in the error

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterable
from contextlib import aclosing, asynccontextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar, Unpack, cast, final, overload

from kubeloop.errors import Cause, DecodeError, InvalidArgument, NotFound, has_cause
from kubeloop.rest import APPLY_PATCH, Params, ResumingWatch, Timeouts, query_options
from kubeloop.wire import ResourceInfo, format_time

from .collection import Collection, RawCollection
from .forms import (
    DEFAULT_MANAGER,
    Form,
    PatchBody,
    PatchType,
    TypedForm,
    body_of,
    check_appliable,
    check_object,
    condition_update,
    patch_text,
    patch_type_of,
)
from .lists import ACCEPT_TABLE, EventType, IncludeObject, ObjectList, Table, WatchEvent, read_table
from .options import (
    DeleteOptions,
    ListArguments,
    ListOptions,
    Propagation,
    Selectors,
    VersionMatch,
    WatchOptions,
    WriteOptions,
    check_keywords,
    delete_options,
    write_params,
)
from .paging import PAGE_SIZE, Pager, PageReader, identity_of, key_of
from .subresources import Proxy, ScaleVerbs, SubresourceClient, proxy_name
from .waiting import EventCondition, goal_of, until, wait_until
from .writer import ObjectEditor, create_or_update

if TYPE_CHECKING:  # large modules, which only those load who use them
    from kubeloop.wire.authentication.v1 import BoundObjectReference, TokenRequest
    from kubeloop.wire.autoscaling.v1 import Scale
    from kubeloop.wire.certificates.v1 import CertificateSigningRequest
    from kubeloop.wire.core.v1 import Namespace, Node, Pod, Service, ServiceAccount

    from .editing import Change

__all__ = ["ResourceClient"]

T = TypeVar("T")
P = TypeVar("P", "Pod", "Service", "Node")

_ACCEPT_METADATA = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json"


@final
class ResourceClient(Generic[T]):
    """A collection of objects of one kind: `client.resource(Pod, namespace="shop")`."""

    def __init__(self, collection: Collection, form: Form[T]) -> None:
        self._collection = collection
        self._form = form

    def __repr__(self) -> str:
        return f"ResourceClient({self._collection})"

    @property
    def namespace(self) -> str | None:
        """As it was given: None is the configuration's, `ALL` all of them."""
        return self._collection.namespace

    @property
    def object_type(self) -> type[T]:
        """As what objects are read and sent: their class, or `dict`."""
        return self._form.object_type

    @property
    def raw(self) -> RawCollection:
        """Lists and watches as the bytes that come, for caches."""
        form = self._form
        return RawCollection(self._collection, form.accept_many, watch_accept=form.accept_one)

    def in_namespace(self, namespace: str | None) -> ResourceClient[T]:
        """The same kind in another namespace; this one stays what it is."""
        return ResourceClient(self._collection.in_namespace(namespace), self._form)

    async def info(self) -> ResourceInfo:
        """Where the collection is and what it can do. Safe to cancel.

        Raises: NoKindMatch when the server has no such kind.
        """
        return await self._collection.info()

    # --- reading

    async def get(self, name: str, *, resource_version: str = "") -> T:
        """The object; with `resource_version="0"` one from the server's cache will do.

        Raises: NotFound. Safe to cancel.
        """
        answer = await self._collection.send(
            "get",
            name=name,
            params={"resourceVersion": resource_version} if resource_version else None,
            accept=self._form.accept_one,
        )
        return self._form.read(answer)

    async def get_or_none(self, name: str, *, resource_version: str = "") -> T | None:
        """The object, or None when there is none of this name. Safe to cancel.

        Raises: NotFound when it is the kind that the server does not have.
        """
        try:
            return await self.get(name, resource_version=resource_version)
        except NotFound as error:
            if _is_about(error, name):
                return None
            raise

    async def exists(self, name: str) -> bool:
        """Whether there is an object of this name. Safe to cancel.

        Raises: NotFound when it is the kind that the server does not have.
        """
        try:
            await self._collection.send("get", name=name, accept=_ACCEPT_METADATA)
        except NotFound as error:
            if _is_about(error, name):
                return False
            raise
        return True

    async def list(self, **options: Unpack[ListArguments]) -> ObjectList[T]:
        """One page of the collection; without `limit`, all of it. Safe to cancel.

        Raises: Expired when `resource_version` or `next_page` is too old.
        """
        check_keywords("list", options, ListArguments)
        return await self._pages.objects(ListOptions.of(**options))

    async def list_all(
        self,
        *,
        page_size: int = PAGE_SIZE,
        resource_version: str = "",
        resource_version_match: VersionMatch | None = None,
        **selectors: Unpack[Selectors],
    ) -> ObjectList[T]:
        """The whole collection, fetched in pages. Safe to cancel.

        When the server forgets in the middle, it is fetched anew in one.
        """
        check_keywords("list_all", selectors, Selectors)
        options = ListOptions.of(
            resource_version=resource_version,
            resource_version_match=resource_version_match,
            **selectors,
        )
        pager = Pager(self._pages.objects, page_size=page_size)
        return (await pager.list(options, key=key_of))[0]

    async def each(
        self, *, page_size: int = PAGE_SIZE, **selectors: Unpack[Selectors]
    ) -> AsyncGenerator[T, None]:
        """Every object, one by one, fetched in pages and decoded when its turn comes.

        None comes twice. When the server forgets in the middle it goes on from where the
        server says, else from a new list.
        """
        check_keywords("each", selectors, Selectors)
        pager = Pager(self._pages.raw, page_size=page_size)
        async with aclosing(pager.each(ListOptions.of(**selectors), key=identity_of)) as items:
            async for item, page in items:
                yield self._form.read_item(item, page)

    async def table(
        self,
        name: str = "",
        *,
        limit: int = 0,
        next_page: str = "",
        include_object: IncludeObject = "Metadata",
        **selectors: Unpack[Selectors],
    ) -> Table:
        """What `kubectl get` shows, of one object or of the collection. Safe to cancel."""
        check_keywords("table", selectors, Selectors)
        options = ListOptions.of(limit=limit, next_page=next_page, **selectors)
        params = options.params() | query_options(include_object=include_object)
        verb = "get" if name else "list"
        return read_table(
            await self._collection.send(verb, name=name, params=params, accept=ACCEPT_TABLE)
        )

    # --- following

    async def watch(
        self,
        *,
        resource_version: str | None = None,
        timeout_seconds: int | None = None,
        **selectors: Unpack[Selectors],
    ) -> AsyncGenerator[WatchEvent[T], None]:
        """The changes after `resource_version`, until you close the watch.

        A stream that breaks is resumed at its last version. Without `resource_version`, all
        existing objects come first, as ADDED.
        If you leave early, close it (`contextlib.aclosing`).
        Raises: Expired when the version is too old: list, and watch from there.
        """
        check_keywords("watch", selectors, Selectors)
        options = WatchOptions.of(timeout_seconds=timeout_seconds, **selectors)
        if resource_version is None:
            page = await self.list(**selectors)
            for obj in page:
                yield WatchEvent("ADDED", obj)
            resource_version = page.version
        request = await self.raw.watch_request(options)

        rest = self._collection.rest
        resuming = ResumingWatch(
            lambda version: rest.watch(request.with_params({"resourceVersion": version})),
            resource_version,
            clock=rest.clock,
        )
        async with resuming as events:
            async for event in events:
                # The watch lets no other type through.
                kind = cast("EventType", event.type)
                yield WatchEvent(kind, self._form.read_item(event.object, None))

    async def until(
        self, *conditions: EventCondition[T], resource_version: str, **selectors: Unpack[Selectors]
    ) -> WatchEvent[T] | None:
        """Watch until each condition was met in turn (client-go: `watch.Until`).

        Raises: Expired when `resource_version` is too old. Safe to cancel.
        """
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
        """Wait until an object, there or still to come, is as it is wanted, and return it.

        `condition` is `Ready` or `Ready=False`, `jsonpath` is `{.status.phase}=Running` or
        a path that is to exist, `function` gets the object. Safe to cancel.
        Raises: WaitTimeout, which says what was last seen.
        """
        goal = goal_of(condition=condition, jsonpath=jsonpath, deleted=deleted, function=function)
        return await wait_until(self, name, goal, timeout=timeout)

    # --- writing

    async def create(self, obj: T, **options: Unpack[WriteOptions]) -> T:
        """Make a new object, and return it as the server has it.

        Raises: AlreadyExists, Invalid. A cancelled call may have made it.
        """
        params = self._write_params("create", options)
        data = check_object(self._form.to_dict(obj))
        return await self._send_object("create", data, params)

    async def create_or_update(self, obj: T, **options: Unpack[WriteOptions]) -> T:
        """Make the object, or bring what it says into the one that is there.

        Fields that `obj` does not mention stay as they are; nothing is sent when nothing
        would change. Raises: Invalid. A cancelled call may have changed it.
        """
        return await create_or_update(self, obj, **options)

    async def update(
        self, obj: T, *, unconditional: bool = False, **options: Unpack[WriteOptions]
    ) -> T:
        """Put the whole object in place of the one that is there, and return the new one.

        The version and uid in `obj` are sent, so that an object from a stale cache is
        refused. One without a version would erase what others wrote since: it is not sent,
        unless `unconditional`, which leaves the version out and replaces whatever is there.
        Raises: Conflict when the object has changed since it was read; Invalid; InvalidArgument
        for an object without a version. A cancelled call may have changed it.
        """
        params = self._write_params("update", options)
        data = check_object(self._form.to_dict(obj))
        condition_update(data, unconditional=unconditional)
        return await self._send_object("update", data, params)

    async def patch(
        self,
        name: str,
        patch: PatchBody,
        *,
        type: PatchType,  # noqa: A002 - the API's own word for it
        force: bool | None = None,
        **options: Unpack[WriteOptions],
    ) -> T:
        """Change some fields and return the new object; bytes are sent as they are.

        A patch changes the object that is there now, however old what you read is: the
        fields that it names are overwritten. It is refused for a newer object only if it
        says a version itself (`metadata.resourceVersion`, or a `test` operation); an object
        that was read and is sent as a patch says one.
        `strategic` is for built-in kinds only; `force` for `apply` only.
        Raises: Invalid, and Conflict where the patch names a version.
        A cancelled call may have changed it.
        """
        if force is not None and type != "apply":
            raise InvalidArgument(f"patch of type {type!r}: force is for apply only")
        is_apply = type == "apply"
        params = self._write_params(
            "patch",
            options,
            force=bool(force) if is_apply else None,
            default_manager=DEFAULT_MANAGER if is_apply else "",
        )
        return await self._send_patch(
            name, patch_text(patch, type), content_type=patch_type_of(type), params=params
        )

    async def apply(self, obj: T, *, force: bool = False, **options: Unpack[WriteOptions]) -> T:
        """Server-side apply: make the object have what `obj` says, and own those fields.

        Raises: Conflict when another manager owns a field, unless `force`.
        A cancelled call may have changed it.
        """
        params = self._write_params("apply", options, force=force, default_manager=DEFAULT_MANAGER)
        data = check_appliable(check_object(self._form.to_dict(obj)))
        return await self._send_object("patch", data, params, content_type=APPLY_PATCH)

    @asynccontextmanager
    async def edit(
        self,
        name: str,
        *,
        strict: bool = False,
        timeout: float | None = 30.0,
        **options: Unpack[WriteOptions],
    ) -> AsyncIterator[T]:
        """Change the object in a `with` block; only the difference is sent, when it ends.

            async with pods.edit("web") as pod:
                pod.metadata.labels["tier"] = "front"

        The block runs once. When others changed other fields meanwhile, the difference is
        made in the newer object, as often as needed until `timeout` seconds after the block;
        when they changed one of the same fields, to whatever value, that is a `Conflict`
        that names it. With `strict` any change since the read is one: for a block whose
        decision depends on fields that it does not change. Nothing is sent when the block
        raises or changes nothing; afterwards the object is as the server has it. What only
        the server writes (version, generation, managed fields) is neither sent nor compared.
        Raises: Conflict when nothing was stored because of another writer, also when the
        object was deleted and created again; TimeoutExceeded; InvalidArgument for a change
        that the server would ignore. A cancelled call may have stored the change.
        """
        params = self._write_params("edit", options)
        editor = await ObjectEditor.open(self, "edit", name, timeout=timeout, params=params)
        obj = await self.get(name)
        before = self._form.to_dict(obj)
        yield obj
        await editor.store(obj, before, strict=strict)

    async def modify(
        self,
        name: str,
        function: Callable[[T], T | Awaitable[T | None] | None],
        *,
        timeout: float | None = 30.0,
        **options: Unpack[WriteOptions],
    ) -> T:
        """Read, let `function` change the object, send the difference; again on a conflict.

        `function` changes what it is given, or returns another object in its place. It is
        called again, on a fresh read, whenever the object was changed after the read, until
        the change is stored or `timeout` seconds are over; so what it decides holds for the
        object that is stored. It is never called again after a change that may be stored.
        A call of it is not interrupted by the timeout. Returns the object as the server has
        it; nothing is sent when nothing was changed.
        Raises: TimeoutExceeded when others were faster all the time; InvalidArgument for a
        change that the server would ignore. A cancelled call may have stored the change.
        """
        params = self._write_params("modify", options)
        editor = await ObjectEditor.open(self, "modify", name, timeout=timeout, params=params)
        return await editor.modify(function)

    async def delete(
        self, name: str, *, missing_ok: bool = False, **options: Unpack[DeleteOptions]
    ) -> None:
        """Delete an object; it may stay until its finalizers are done.

        Raises: NotFound unless `missing_ok`, Conflict when it has another uid or version.
        A cancelled call may have deleted it.
        """
        check_keywords("delete", options, DeleteOptions)
        try:
            await self._collection.send(
                "delete", name=name, body=body_of(delete_options(**options))
            )
        except NotFound as error:
            if not (missing_ok and _is_about(error, name)):
                raise

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
        """Delete all objects that the selectors select. A cancelled call may have begun."""
        check_keywords("delete_collection", selectors, Selectors)
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

    # --- parts that are data

    def subresource(self, name: str) -> SubresourceClient[T]:
        """A part that holds the same kind as the object itself."""
        return SubresourceClient(ResourceClient(self._collection.at_subresource(name), self._form))

    @property
    def status(self) -> SubresourceClient[T]:
        """What is, beside what is wanted."""
        return self.subresource("status")

    @property
    def scale(self) -> ScaleVerbs:
        """The number of replicas, in the one form that all kinds share."""
        from kubeloop.wire.autoscaling.v1 import Scale

        form: Form[Scale] = TypedForm(Scale)
        return ScaleVerbs(ResourceClient(self._collection.at_subresource("scale"), form))

    @property
    def ephemeral_containers(self: ResourceClient[Pod]) -> SubresourceClient[Pod]:
        """The containers that were added to a running pod."""
        return self.subresource("ephemeralcontainers")

    @property
    def resize(self: ResourceClient[Pod]) -> SubresourceClient[Pod]:
        """The resources of a running pod's containers."""
        return self.subresource("resize")

    @property
    def approval(
        self: ResourceClient[CertificateSigningRequest],
    ) -> SubresourceClient[CertificateSigningRequest]:
        """Whether a certificate is granted."""
        return self.subresource("approval")

    @property
    def finalize(self: ResourceClient[Namespace]) -> SubresourceClient[Namespace]:
        """The finalizers in a namespace's spec; only `update` is served."""
        return self.subresource("finalize")

    # --- actions

    async def evict(
        self: ResourceClient[Pod],
        name: str,
        *,
        max_retries: int | None = None,
        **options: Unpack[DeleteOptions],
    ) -> None:
        """Delete a pod if its disruption budget allows it.

        A refusal that says when to come back is tried again, as any such answer is, up to
        ten times; `max_retries=0` gives up at once.
        Raises: TooManyRequests, NotFound. A cancelled call may have evicted it.
        """
        check_keywords("evict", options, DeleteOptions)
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

        Raises: Conflict when it is assigned already. A cancelled call may have bound it.
        """
        target = {"apiVersion": "v1", "kind": "Node", "name": node}
        body = {"apiVersion": "v1", "kind": "Binding", "target": target}
        await self._post(name, "binding", body, params=write_params(dry_run=dry_run))

    async def logs(
        self: ResourceClient[Pod],
        name: str,
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
    ) -> AsyncIterator[str]:
        """The lines of a container's log; with `follow`, those to come as well.

        Bytes that are no UTF-8 are replaced. Ends when the server ends it; leaving early
        closes the connection. Raises: NotFound, BadRequest while there is no log yet.
        """
        request = await self._collection.request(
            "get",
            name=name,
            subresource="log",
            params=query_options(
                container=container,
                follow=follow,
                previous=previous,
                since_seconds=since_seconds,
                since_time=format_time(since_time) if since_time else None,
                timestamps=timestamps,
                tail_lines=tail_lines,
                limit_bytes=limit_bytes,
                stream=stream,
            )
            | (
                {"insecureSkipTLSVerifyBackend": "true"} if insecure_skip_tls_verify_backend else {}
            ),
            accept="*/*",
            # A log may have nothing to say for hours.
            timeouts=Timeouts(idle=None) if follow else None,
        )
        async with self._collection.rest.stream(request) as body:
            async for line in body.lines():
                yield line.decode(errors="replace")

    async def token(
        self: ResourceClient[ServiceAccount],
        name: str,
        *,
        audiences: Iterable[str] = (),
        expiration_seconds: int | None = None,
        bound_to: BoundObjectReference | None = None,
    ) -> TokenRequest:
        """A token for the service account; it is in `status.token`.

        A cancelled call may have made one.
        """
        from kubeloop.wire.authentication.v1 import TokenRequest, TokenRequestSpec

        spec = TokenRequestSpec(
            audiences=list(audiences),
            expiration_seconds=expiration_seconds,
            bound_object_ref=bound_to,
        )
        answer = await self._collection.send(
            "create", name=name, subresource="token", body=body_of(TokenRequest(spec=spec))
        )
        return answer.decode(TokenRequest)

    def proxy(
        self: ResourceClient[P], name: str, *, port: str | int = "", scheme: str = ""
    ) -> Proxy:
        """HTTP through the API server to a pod, a service or a node's kubelet."""
        return Proxy(self._collection, proxy_name(name, scheme=scheme, port=port))

    # --- the steps

    @property
    def _pages(self) -> PageReader[T]:
        return PageReader(self._collection, self._form)

    def _write_params(
        self,
        verb: str,
        options: WriteOptions,
        *,
        force: bool | None = None,
        default_manager: str = "",
    ) -> Params:
        if options:
            check_keywords(verb, options, WriteOptions)
        manager = options.get("field_manager") or self._collection.field_manager or default_manager
        if force is None and not options and not manager:
            return ()
        return write_params(
            dry_run=options.get("dry_run", False),
            field_manager=manager,
            field_validation=options.get("field_validation"),
            force=force,
        )

    async def _send_object(
        self, verb: str, data: dict[str, Any], params: Params, *, content_type: str = ""
    ) -> T:
        answer = await self._collection.send(
            verb,
            of=data,
            body=body_of(data),
            content_type=content_type,
            params=params,
            accept=self._form.accept_one,
        )
        return self._form.read(answer)

    async def _send_change(
        self,
        name: str,
        change: Change,
        base: dict[str, Any],
        *,
        params: Params,
        max_retries: int | None = None,
    ) -> T:
        """Send the change of the object `base`, which must still be at its version."""
        from .editing import metadata_text

        version = metadata_text(base, "resourceVersion")
        if not version:
            raise DecodeError(
                f"change {name}: the object was read without a resourceVersion, so that nothing"
                " would keep the change of somebody else from being lost (use patch)"
            )
        return await self._send_patch(
            name,
            body_of(change.under(version, metadata_text(base, "uid"))),
            content_type=change.content_type,
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
        answer = await self._collection.send(
            "patch",
            name=name,
            body=body,
            content_type=content_type,
            params=params,
            accept=self._form.accept_one,
            max_retries=max_retries,
        )
        return self._form.read(answer)

    async def _post(
        self,
        name: str,
        part: str,
        body: dict[str, Any],
        *,
        params: Params | None = None,
        max_retries: int | None = None,
    ) -> None:
        """Post an order to an object; that it is accepted is all the answer says."""
        request = await self._collection.request(
            "create", name=name, subresource=part, params=params, max_retries=max_retries
        )
        metadata = {"name": name, "namespace": request.namespace}
        await self._collection.rest.send(
            request.replace(body=body_of({**body, "metadata": metadata}))
        )


def _is_about(error: NotFound, name: str) -> bool:
    """Whether it is the object that is missing, and not its resource or the whole API."""
    details = error.status.details
    return (
        details is not None
        and details.name == name
        and not has_cause(error, Cause.UNEXPECTED_SERVER_RESPONSE)
    )
