"""The verbs of single objects: what a resource and a subresource have in common.

Guarantees: `edit` and `modify` send only the fields that changed, `update` the whole object;
fields that a class does not know survive; a write is sent once, unless the server responds
with `Retry-After`.
See also: `resource` (collections), `subresources`, `writer` (stores a change).
"""

# ruff: noqa: ASYNC109 - `timeout` uses the client's clock, and its error names the object

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, Generic, TypeVar, Unpack, overload

from kubeloop.errors import InvalidArgument
from kubeloop.kit import strict_keywords

from .collection import ObjectCollection
from .object_codecs import (
    DEFAULT_MANAGER,
    PatchBody,
    PatchType,
    check_object,
    condition_update,
    patch_text,
    patch_type_of,
)
from .options import WriteOptions

__all__ = ["ObjectClient"]

T = TypeVar("T")
V = TypeVar("V")


class ObjectClient(Generic[T]):
    """Reads and writes single objects by name."""

    def __init__(self, objects: ObjectCollection[T]) -> None:
        self._objects = objects

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._objects})"

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
        return await self._objects.get(name, model=model, resource_version=resource_version)

    @strict_keywords
    async def create(self, obj: T, **options: Unpack[WriteOptions]) -> T:
        """Create an object, and return it as the server stored it.

        Raises: AlreadyExists, Invalid. A cancelled call may have created it.
        """
        params = self._objects.write_params(options)
        data = check_object(self._objects.codec.to_data(obj))
        return await self._objects.send_object("create", data, params)

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
        params = self._objects.write_params(options)
        data = check_object(self._objects.codec.to_data(obj))
        condition_update(data, unconditional=unconditional)
        return await self._objects.send_object("update", data, params)

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
        params = self._objects.write_params(
            options,
            force=bool(force) if is_apply else None,
            default_manager=DEFAULT_MANAGER if is_apply else "",
        )
        return await self._objects.send_patch(
            name, patch_text(patch, type), content_type=patch_type_of(type), params=params
        )

    @strict_keywords
    async def apply(self, obj: T, *, force: bool = False, **options: Unpack[WriteOptions]) -> T:
        """Server-side apply: create or change the object to have the fields of `obj`.

        The field manager becomes their owner. Raises: Conflict when another manager owns a
        field, unless `force`.
        A cancelled call may have changed it.
        """
        return await self._objects.apply(obj, options, force=force)

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

        params = self._objects.write_params(options)
        editor = await ObjectEditor.open(
            self._objects, "edit", name, timeout=timeout, params=params
        )
        obj = await self._objects.get(name)
        before = self._objects.codec.to_dict(obj)
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

        params = self._objects.write_params(options)
        editor = await ObjectEditor.open(
            self._objects, "modify", name, timeout=timeout, params=params
        )
        return await editor.modify(function)
