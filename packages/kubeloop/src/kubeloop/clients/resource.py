"""The client of one resource: the verbs of a collection and of its objects.

Guarantees: a collection of any size can be read; a watch is resumed after a broken stream;
`delete` and `delete_collection` are sent once, unless the server responds with `Retry-After`.
See also: `object_client` (verbs of single objects), `pods` and `kinds` (verbs that only some kinds
have), `collection` (path and requests), `paging` (pages), `wait` (conditions), `subresources`.
"""

# ruff: noqa: ASYNC109 - `timeout` uses the client's clock, and its error names the object

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, Self, TypeVar, Unpack, overload

from kubeloop.errors import NotFound
from kubeloop.kit import strict_keywords
from kubeloop.rest import query_options
from kubeloop.wire import ResourceInfo

from .collection import RawCollection, is_object_missing
from .lists import ACCEPT_TABLE, IncludeObject, ObjectList, Table, WatchEvent, read_table
from .object_client import ObjectClient
from .object_codecs import body_of
from .options import (
    DeleteOptions,
    ListArguments,
    ListOptions,
    Propagation,
    Selectors,
    VersionMatch,
    WriteOptions,
    delete_options,
)
from .paging import PAGE_SIZE, Pager, key_of, read_page
from .subresources import ScaleSubresource, SubresourceClient, scale_subresource
from .watch import read_each, watch_objects

if TYPE_CHECKING:  # imported by the methods that need them
    from .wait import EventCondition

__all__ = ["KIND_CLIENTS", "ResourceClient"]

T = TypeVar("T")
V = TypeVar("V")

_EVERYTHING = ListOptions()
_DEFAULT_DELETE = body_of(delete_options())
_ACCEPT_METADATA = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json"

# The class of the clients of each kind that has verbs of its own, by module and name of the kind:
# `core_v1.Pod`. Each class enters its kinds when it is defined, in `pods` or `kinds`.
KIND_CLIENTS: dict[str, type[ResourceClient[Any]]] = {}


class ResourceClient(ObjectClient[T]):
    """The verbs of one resource: `client.resource(ConfigMap, namespace="shop")`.

    To read: `get`, `get_or_none`, `exists`; `list` for one page, `list_all` for a whole collection
    in memory, `each` for a collection of any size. To follow changes: `watch`; `wait_for` one
    object, `until` for conditions on events. To write: `create`, `apply`, `patch`, `update`;
    `edit` for a change in a block, `modify` for one that must be repeated on a conflict.
    What only some kinds have is in a class of theirs, such as `PodClient` or `NodeClient`.
    """

    def __init_subclass__(cls, *, kinds: Iterable[str] = (), **options: Any) -> None:
        """`kinds` are those whose clients have this class."""
        super().__init_subclass__(**options)
        KIND_CLIENTS.update(dict.fromkeys(kinds, cls))

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            raise AttributeError(
                f"{type(self).__name__!r} object has no attribute {name!r}{_owner_hint(name)}",
                name=name,
                obj=self,
            )

    @property
    def namespace(self) -> str | None:
        """None is the namespace of the configuration, `ALL` is all namespaces."""
        return self._objects.collection.namespace

    @property
    def object_type(self) -> type[T]:
        """The class of the objects, or `dict`."""
        return self._objects.codec.object_type

    @property
    def raw(self) -> RawCollection:
        """Lists and watches without decoding, for caches."""
        return self._objects.raw

    def in_namespace(self, namespace: str | None) -> Self:
        """A client of the same kind in another namespace."""
        return type(self)(self._objects.in_namespace(namespace))

    async def info(self) -> ResourceInfo:
        """Group, version, names, scope and verbs of the resource. Safe to cancel.

        Raises: NoKindMatch when the server has no such kind.
        """
        return await self._objects.collection.info()

    # --- reading

    async def get_or_none(self, name: str, *, resource_version: str = "") -> T | None:
        """The object, or None if it does not exist. Safe to cancel.

        Raises: NotFound when the server does not have the resource.
        """
        obj: T | None = await self._objects.get_or_none(name, resource_version=resource_version)
        return obj

    async def exists(self, name: str) -> bool:
        """Whether the object exists. Safe to cancel.

        Raises: NotFound when the server does not have the resource.
        """
        try:
            await self._objects.collection.send("get", name=name, accept=_ACCEPT_METADATA)
        except NotFound as error:
            if is_object_missing(error, name):
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
        return await read_page(self._objects.collection, self._objects.reader(model), selected)

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
        read = partial(read_page, self._objects.collection, self._objects.reader(model))
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
    def each(
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
        options = ListOptions.of(**selectors)
        return read_each(self._objects, options, model=model, page_size=page_size)

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
            await self._objects.collection.send(verb, name=name, params=params, accept=ACCEPT_TABLE)
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
    def watch(
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
        return watch_objects(
            self._objects,
            model=model,
            resource_version=resource_version,
            timeout_seconds=timeout_seconds,
            **selectors,
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
        return await wait_until(self._objects, name, goal, timeout=timeout)

    # --- writing

    @strict_keywords
    async def create_or_update(self, obj: T, **options: Unpack[WriteOptions]) -> T:
        """Create the object, or merge it into the existing one.

        Fields that `obj` does not have stay as they are; nothing is sent if nothing would
        change. Raises: Invalid. A cancelled call may have changed it.
        """
        from .writer import create_or_update

        return await create_or_update(self._objects, obj, options)

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
            await self._objects.collection.send("delete", name=name, body=body)
        except NotFound as error:
            if not (missing_ok and is_object_missing(error, name)):
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
        await self._objects.collection.send(
            "deletecollection",
            params=selected.params(),
            body=body_of(options),
            timeout=float(timeout_seconds or 0),
        )

    # --- subresources

    @overload
    def subresource(self, name: Literal["scale"]) -> ScaleSubresource: ...
    @overload
    def subresource(self, name: str) -> SubresourceClient[T]: ...
    def subresource(self, name: str) -> SubresourceClient[Any]:
        """A subresource with the same kind as the object itself.

        `scale` has the kind that all scales share: this is how a custom kind is scaled.
        """
        if name == "scale":
            return scale_subresource(self._objects)
        return SubresourceClient(self._objects.at_subresource(name))

    @property
    def status(self) -> SubresourceClient[T]:
        """The observed state."""
        return SubresourceClient(self._objects.at_subresource("status"))


def _owner_hint(name: str) -> str:
    """The clients that have a method which this one does not have, for its error."""
    having = {kind: cls for kind, cls in KIND_CLIENTS.items() if hasattr(cls, name)}
    if not having or name.startswith("_"):
        return ""
    classes = " and ".join(sorted({cls.__name__ for cls in having.values()}))
    kinds = " or ".join(f"client.resource({kind.rpartition('.')[2]})" for kind in having)
    return f": {name} is a method of {classes}, use {kinds}"
