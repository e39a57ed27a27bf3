"""The one client for every kind: all verbs of a collection and of its objects.

Promises: what is asked is sent to the server (selectors too), and nothing is read that
was not asked for; memory for a walk over a collection does not depend on its size.
Elsewhere: verbs of one object (`verbs`), actions of single kinds (`actions`), where the
collection is (`collection`).
"""

# ruff: noqa: ASYNC109 - the caller's bound is kept by a clock, and named in the error

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import aclosing, contextmanager
from typing import Any, Literal, TypeVar, final, overload

import msgspec

from kubeloop.machinery import (
    AlreadyExists,
    Cause,
    Conflict,
    InvalidValue,
    NotFound,
    has_cause,
)
from kubeloop.rest import ResumingWatch, query_options
from kubeloop.wire import Raw, RawList, ResourceInfo

from .actions import ActionVerbs
from .conflicts import retry_on_conflict
from .editing import change_between, merged_into
from .forms import body_of
from .lists import EventType, ObjectList, WatchEvent
from .options import (
    FieldSelection,
    FieldValidation,
    LabelSelection,
    ListOptions,
    Propagation,
    VersionMatch,
    WatchOptions,
    delete_options,
)
from .paging import PAGE_SIZE, Pager
from .raw import RawCollection
from .tables import ACCEPT_TABLE, IncludeObject, Table, read_table
from .waiting import goal_of, wait_until
from .watching import EventCondition, until

__all__ = ["ResourceClient"]

T = TypeVar("T")

_SLICE = 100  # objects decoded before others may run


@final
class ResourceClient(ActionVerbs[T]):
    """A collection of objects of one kind: `client.resource(Pod, namespace="shop")`."""

    @property
    def namespace(self) -> str | None:
        """As it was given: None is the configuration's, `ALL` all of them."""
        return self._collection.namespace

    def in_namespace(self, namespace: str | None) -> ResourceClient[T]:
        """The same kind in another namespace; this one stays what it is."""
        return ResourceClient(self._collection.within(namespace), self._form)

    @property
    def raw(self) -> RawCollection:
        """Lists and watches as the bytes that come, for caches."""
        form = self._form
        return RawCollection(self._collection, form.accept_many, watch_accept=form.accept_one)

    async def info(self) -> ResourceInfo:
        """Where the collection is and what it can do. Safe to cancel.

        Raises: NoKindMatch when the server has no such kind.
        """
        return await self._collection.info()

    # --- reading

    async def get_or_none(self, name: str, *, version: str = "") -> T | None:
        """The object, or None when there is none of this name. Safe to cancel.

        Raises: NotFound when it is the kind that the server does not have.
        """
        try:
            return await self.get(name, version=version)
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

    async def list(
        self,
        *,
        labels: LabelSelection | None = None,
        fields: FieldSelection | None = None,
        limit: int = 0,
        next_page: str = "",
        version: str = "",
        version_match: VersionMatch | None = None,
        timeout_seconds: int | None = None,
        shard: str = "",
    ) -> ObjectList[T]:
        """One page of the collection; without `limit`, all of it. Safe to cancel.

        Raises: Expired when `version` or `next_page` is too old.
        """
        options = ListOptions.of(
            labels=labels,
            fields=fields,
            limit=limit,
            next_page=next_page,
            version=version,
            version_match=version_match,
            timeout_seconds=timeout_seconds,
            shard=shard,
        )
        return await self._list(options)

    async def list_all(
        self,
        *,
        labels: LabelSelection | None = None,
        fields: FieldSelection | None = None,
        page_size: int = PAGE_SIZE,
        version: str = "",
        version_match: VersionMatch | None = None,
    ) -> ObjectList[T]:
        """The whole collection, fetched in pages. Safe to cancel.

        When the server forgets in the middle, it is fetched anew in one.
        """
        options = ListOptions.of(
            labels=labels, fields=fields, version=version, version_match=version_match
        )
        return (await Pager(self._list, page_size=page_size).list(options))[0]

    async def each(
        self,
        *,
        labels: LabelSelection | None = None,
        fields: FieldSelection | None = None,
        page_size: int = PAGE_SIZE,
    ) -> AsyncGenerator[T, None]:
        """Every object, one by one, fetched in pages and decoded when its turn comes.

        None comes twice. When the server forgets in the middle it goes on from where the
        server says, else from a new list.
        """
        options = ListOptions.of(labels=labels, fields=fields)
        pager = Pager(self._list_raw, page_size=page_size)
        async with aclosing(pager.each(options, key=_key_of)) as items:
            async for item, page in items:
                yield self._form.read_item(item, page)

    async def table(
        self,
        name: str = "",
        *,
        labels: LabelSelection | None = None,
        fields: FieldSelection | None = None,
        limit: int = 0,
        next_page: str = "",
        include_object: IncludeObject = "Metadata",
    ) -> Table:
        """What `kubectl get` shows, of one object or of the collection. Safe to cancel."""
        options = ListOptions.of(labels=labels, fields=fields, limit=limit, next_page=next_page)
        params = options.params() | query_options(include_object=include_object)
        verb = "get" if name else "list"
        return read_table(
            await self._collection.send(verb, name=name, params=params, accept=ACCEPT_TABLE)
        )

    # --- following

    async def watch(
        self,
        *,
        since: str | None = None,
        labels: LabelSelection | None = None,
        fields: FieldSelection | None = None,
        timeout_seconds: int | None = None,
    ) -> AsyncGenerator[WatchEvent[T], None]:
        """Changes after the version `since`, for as long as you like to listen.

        Broken streams are resumed where they broke. Without `since`, all objects that there
        are come first, as ADDED. Close it when you leave early (`contextlib.aclosing`).
        Raises: Expired when the version is too old: list, and watch from there.
        """
        options = WatchOptions.of(labels=labels, fields=fields, timeout_seconds=timeout_seconds)
        if since is None:
            page = await self._list(ListOptions(labels=options.labels, fields=options.fields))
            for obj in page:
                yield WatchEvent("ADDED", obj)
            since = page.version
        request = await self.raw.watch_request(options)

        rest = self._collection.rest
        resuming = ResumingWatch(
            lambda version: rest.watch(request.with_params({"resourceVersion": version})),
            since,
            clock=self._collection.clock,
        )
        async with resuming as events:
            async for event in events:
                yield WatchEvent(_event_type(event.type), self._form.read_item(event.object, None))

    async def until(
        self,
        *conditions: EventCondition[T],
        since: str,
        labels: LabelSelection | None = None,
        fields: FieldSelection | None = None,
    ) -> WatchEvent[T] | None:
        """Watch until each condition was met in turn (client-go: `watch.Until`).

        Raises: Expired when `since` is too old. Safe to cancel.
        """
        return await until(self.watch(since=since, labels=labels, fields=fields), *conditions)

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

    async def create(
        self,
        obj: T,
        *,
        dry_run: bool = False,
        field_manager: str = "",
        field_validation: FieldValidation | None = None,
    ) -> T:
        """Make a new object, and return it as the server has it.

        Raises: AlreadyExists, Invalid. A cancelled call may have made it.
        """
        data = self._form.to_dict(obj)
        answer = await self._collection.send(
            "create",
            of=data,
            body=body_of(data),
            params=self._write(
                dry_run=dry_run, field_manager=field_manager, field_validation=field_validation
            ),
            accept=self._form.accept_one,
        )
        return self._form.read(answer)

    async def create_or_update(
        self, obj: T, *, field_manager: str = "", field_validation: FieldValidation | None = None
    ) -> T:
        """Make the object, or bring what it says into the one that is there.

        Fields that `obj` does not mention stay as they are; nothing is sent when nothing
        would change. Raises: Invalid. A cancelled call may have changed it.
        """
        wish = self._form.to_dict(obj)
        name = (wish.get("metadata") or {}).get("name") or ""
        if not name:
            raise InvalidValue(f"create or update a {wish.get('kind')}: it has no name")
        params = self._write(
            dry_run=False, field_manager=field_manager, field_validation=field_validation
        )

        async def attempt() -> T:
            client = self.in_namespace(wish["metadata"].get("namespace") or self.namespace)
            there = await client.get_or_none(name)
            if there is None:
                return await self.create(
                    obj, field_manager=field_manager, field_validation=field_validation
                )
            before = self._form.to_dict(there)
            change = change_between(
                before, merged_into(before, wish, self._form.facts), self._form.facts
            )
            if change is None:
                return there
            return await client._send_change(name, change, before, params=params)

        async def attempt_again() -> T:
            try:
                return await attempt()
            except AlreadyExists as error:  # somebody made it after we looked
                raise Conflict(error.action, error.status) from error

        return await retry_on_conflict(attempt_again, clock=self._collection.clock)

    async def delete(
        self,
        name: str,
        *,
        propagation: Propagation | None = None,
        grace_period: int | None = None,
        uid: str = "",
        version: str = "",
        dry_run: bool = False,
        orphan_dependents: bool | None = None,
        ignore_store_read_error: bool = False,
        missing_ok: bool = False,
    ) -> None:
        """Delete an object; it may stay until its finalizers are done.

        Raises: NotFound unless `missing_ok`, Conflict when it has another uid or version.
        A cancelled call may have deleted it.
        """
        options = delete_options(
            propagation=propagation,
            grace_period=grace_period,
            uid=uid,
            version=version,
            dry_run=dry_run,
            orphan_dependents=orphan_dependents,
            ignore_store_read_error=ignore_store_read_error,
        )
        try:
            await self._collection.send("delete", name=name, body=body_of(options))
        except NotFound as error:
            if not (missing_ok and _is_about(error, name)):
                raise

    async def delete_collection(
        self,
        *,
        labels: LabelSelection | None = None,
        fields: FieldSelection | None = None,
        propagation: Propagation | None = None,
        grace_period: int | None = None,
        dry_run: bool = False,
        timeout_seconds: int | None = None,
        limit: int = 0,
        version: str = "",
    ) -> None:
        """Delete all objects that the selectors select. A cancelled call may have begun."""
        listed = ListOptions.of(
            labels=labels,
            fields=fields,
            limit=limit,
            version=version,
            timeout_seconds=timeout_seconds,
        )
        options = delete_options(
            propagation=propagation, grace_period=grace_period, dry_run=dry_run
        )
        await self._collection.send(
            "deletecollection",
            params=listed.params(),
            body=body_of(options),
            timeout=float(timeout_seconds or 0),
        )

    # --- the steps

    async def _list(self, options: ListOptions) -> ObjectList[T]:
        found = await self.raw.list(options)
        raw = found.items or []
        items: list[T] = []
        for start in range(0, len(raw), _SLICE):
            if start:
                await asyncio.sleep(0)
            with _without_collecting():
                read = self._form.read_item
                items += [read(item, found) for item in raw[start : start + _SLICE]]
        return _page(found, items)

    async def _list_raw(self, options: ListOptions) -> ObjectList[tuple[Raw, RawList]]:
        found = await self.raw.list(options)
        head = msgspec.structs.replace(found, items=[])
        return _page(found, [(item, head) for item in found.items or []])


_ACCEPT_METADATA = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json"


class _Identity(msgspec.Struct):
    uid: str | None = None
    name: str | None = None
    namespace: str | None = None


class _Identified(msgspec.Struct):
    metadata: _Identity | None = None


_identities = msgspec.json.Decoder(_Identified)


def _key_of(entry: tuple[Raw, RawList]) -> object:
    """What tells one object from another."""
    found = _identities.decode(entry[0]).metadata or _Identity()
    return found.uid or (found.namespace, found.name)


def _page(found: RawList, items: Any) -> ObjectList[Any]:
    remaining = found.metadata.remaining_item_count if found.metadata else None
    return ObjectList(items, found.version, found.next_page, remaining)


def _is_about(error: NotFound, name: str) -> bool:
    """Whether it is the object that is missing, and not its resource or the whole API."""
    details = error.status.details
    return (
        details is not None
        and details.name == name
        and not has_cause(error, Cause.UNEXPECTED_SERVER_RESPONSE)
    )


def _event_type(text: str) -> EventType:
    return text  # type: ignore[return-value] # the watch lets no other type through


@contextmanager
def _without_collecting() -> Iterator[None]:
    """Keep the garbage collector from walking a thousand new objects again and again."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
