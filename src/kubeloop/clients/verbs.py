"""What can be done with one object, or with one part of it such as its status.

Promises: a change sends what was changed and nothing else, unless a whole object is sent
on purpose (`update`); fields that a class does not know survive all of it.
Elsewhere: whole collections (`resource`), what a change is (`editing`).
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar, cast

from kubeloop.kit import DEFAULT_RETRY, Backoff, retry
from kubeloop.machinery import Conflict, DecodeError, InvalidValue
from kubeloop.rest import (
    APPLY_PATCH,
    JSON_PATCH,
    MERGE_PATCH,
    STRATEGIC_MERGE_PATCH,
    query_options,
)
from kubeloop.wire import Model

from .collection import Collection
from .conflicts import CARRYING, is_conflict, retry_on_conflict
from .forms import Form, body_of
from .options import FieldValidation, write_params

if TYPE_CHECKING:  # for those who change something, and not for every script
    from .editing import Change

__all__ = [
    "DEFAULT_MANAGER",
    "ObjectVerbs",
    "PatchBody",
    "PatchType",
    "appliable",
    "patch_text",
    "patch_type_of",
]

T = TypeVar("T")

PatchType = Literal["merge", "strategic", "json", "apply"]
PatchBody = Mapping[str, Any] | Sequence[Mapping[str, Any]] | Model | bytes | str

DEFAULT_MANAGER = "kubeloop"
"""The field manager of an apply that names none."""

_CONTENT_TYPES: dict[PatchType, str] = {
    "merge": MERGE_PATCH,
    "strategic": STRATEGIC_MERGE_PATCH,
    "json": JSON_PATCH,
    "apply": APPLY_PATCH,
}


class ObjectVerbs(Generic[T]):
    """get, update, patch, apply, edit and modify, of objects or of one part of them."""

    def __init__(self, collection: Collection, form: Form[T], *, subresource: str = "") -> None:
        self._collection = collection
        self._form = form
        self._part = subresource

    def __repr__(self) -> str:
        part = f", {self._part}" if self._part else ""
        return f"{type(self).__name__}({self._collection}{part})"

    async def get(self, name: str, *, version: str = "") -> T:
        """The object; with `version="0"` one from the server's cache will do.

        Raises: NotFound. Safe to cancel.
        """
        answer = await self._collection.send(
            "get",
            name=name,
            subresource=self._part,
            params=query_options(resource_version=version),
            accept=self._form.accept_one,
        )
        return self._form.read(answer)

    async def update(
        self,
        obj: T,
        *,
        dry_run: bool = False,
        field_manager: str = "",
        field_validation: FieldValidation | None = None,
    ) -> T:
        """Put the whole object in place of the one that is there, and return the new one.

        Raises: Conflict when the object has changed since it was read, Invalid.
        A cancelled call may have changed it.
        """
        data = self._form.to_dict(obj)
        answer = await self._collection.send(
            "update",
            of=data,
            subresource=self._part,
            body=body_of(data),
            params=self._write(
                dry_run=dry_run, field_manager=field_manager, field_validation=field_validation
            ),
            accept=self._form.accept_one,
        )
        return self._form.read(answer)

    async def patch(
        self,
        name: str,
        patch: PatchBody,
        *,
        type: PatchType,  # noqa: A002 - the API's own word for it
        dry_run: bool = False,
        field_manager: str = "",
        field_validation: FieldValidation | None = None,
        force: bool | None = None,
    ) -> T:
        """Change some fields and return the new object; bytes are sent as they are.

        `strategic` is for built-in kinds only; `force` for `apply` only.
        Raises: Invalid, and Conflict where the patch names a version.
        A cancelled call may have changed it.
        """
        if force is not None and type != "apply":
            raise InvalidValue(f"patch of type {type!r}: force is for apply only")
        if type == "apply":
            field_manager = field_manager or self._collection.field_manager or DEFAULT_MANAGER
            force = bool(force)
        return await self._send_patch(
            name,
            patch_text(patch),
            content_type=patch_type_of(type),
            params=self._write(
                dry_run=dry_run,
                field_manager=field_manager,
                field_validation=field_validation,
                force=force,
            ),
        )

    async def apply(
        self,
        obj: T,
        *,
        field_manager: str = "",
        force: bool = False,
        dry_run: bool = False,
        field_validation: FieldValidation | None = None,
    ) -> T:
        """Server-side apply: make the object have what `obj` says, and own those fields.

        Raises: Conflict when another manager owns a field, unless `force`.
        A cancelled call may have changed it.
        """
        data = appliable(self._form.to_dict(obj))
        manager = field_manager or self._collection.field_manager or DEFAULT_MANAGER
        answer = await self._collection.send(
            "patch",
            of=data,
            subresource=self._part,
            body=body_of(data),
            content_type=APPLY_PATCH,
            params=self._write(
                dry_run=dry_run,
                field_manager=manager,
                field_validation=field_validation,
                force=force,
            ),
            accept=self._form.accept_one,
        )
        return self._form.read(answer)

    @asynccontextmanager
    async def edit(
        self,
        name: str,
        *,
        dry_run: bool = False,
        field_manager: str = "",
        field_validation: FieldValidation | None = None,
    ) -> AsyncIterator[T]:
        """Change the object in a `with` block; only the difference is sent, when it ends.

            async with pods.edit("web") as pod:
                pod.metadata.labels["tier"] = "front"

        When the object was changed meanwhile, the difference is made in the new one; after
        the block the object is as the server has it. Nothing is sent when the block fails
        or changes nothing.
        Raises: Conflict when somebody else changed the same field to something else, or others
        were faster time and again, for seconds.
        """
        obj = await self.get(name)
        before = self._form.to_dict(obj)
        yield obj
        params = self._write(
            dry_run=dry_run, field_manager=field_manager, field_validation=field_validation
        )
        changed = await self._carry(name, before, self._form.to_dict(obj), params=params)
        if changed is not None:
            self._form.refresh(obj, changed)

    async def modify(
        self,
        name: str,
        function: Callable[[T], T | Awaitable[T | None] | None],
        *,
        dry_run: bool = False,
        field_manager: str = "",
        field_validation: FieldValidation | None = None,
        backoff: Backoff = DEFAULT_RETRY,
    ) -> T:
        """Read, let `function` change the object, send the difference; again on a conflict.

        `function` changes what it is given, or returns another object in its place; it is
        called anew for each try. Returns the object as the server has it now.
        Raises: Conflict when the tries are used up. A cancelled call may have changed it.
        """
        from .editing import change_between

        params = self._write(
            dry_run=dry_run, field_manager=field_manager, field_validation=field_validation
        )

        async def attempt() -> T:
            obj = await self.get(name)
            before = self._form.to_dict(obj)
            result = function(obj)
            made = await result if inspect.isawaitable(result) else result
            after = self._form.to_dict(obj if made is None else cast("T", made))
            change = change_between(before, after, self._form.facts)
            if change is None:
                return obj
            return await self._send_change(name, change, before, params=params)

        return await retry_on_conflict(attempt, backoff=backoff, clock=self._collection.clock)

    # --- the steps

    def _write(
        self,
        *,
        dry_run: bool,
        field_manager: str,
        field_validation: FieldValidation | None,
        force: bool | None = None,
    ) -> dict[str, str | list[str]]:
        return write_params(
            dry_run=dry_run,
            field_manager=field_manager or self._collection.field_manager,
            field_validation=field_validation,
            force=force,
        )

    async def _carry(
        self, name: str, before: dict[str, Any], after: dict[str, Any], *, params: Any
    ) -> T | None:
        """Send the difference; on a conflict carry it over to the object as it is now."""
        from .editing import carried_over, change_between

        base, wish = before, after
        lost: Conflict | None = None  # against whoever was faster, the last time
        is_hopeless = False
        what = await self._collection.group_resource()

        async def attempt() -> T | None:
            nonlocal base, wish, lost, is_hopeless
            if lost is not None:
                # Read after the wait, not before: what was read then would be old by now.
                is_hopeless = True  # unless what follows says otherwise
                now = self._form.to_dict(await self.get(name))
                if _said(now, "uid") != _said(base, "uid"):  # another object has its name now
                    raise lost
                wish = carried_over(base, wish, now, self._form.facts, what=what)
                base, is_hopeless = now, False
            change = change_between(base, wish, self._form.facts)
            if change is None:
                return None
            try:
                return await self._send_change(name, change, base, params=params)
            except Conflict as error:
                lost = error
                raise

        return await retry(
            attempt,
            when=lambda error: is_conflict(error) and not is_hopeless,
            clock=self._collection.clock,
            backoff=CARRYING,
        )

    async def _send_change(
        self, name: str, change: Change, base: dict[str, Any], *, params: Any
    ) -> T:
        version = _said(base, "resourceVersion")
        if not version:
            raise DecodeError(
                f"change {name}: the object was read without a resourceVersion, so that nothing"
                " would keep the change of somebody else from being lost (use patch)"
            )
        body = body_of(change.under(version))
        return await self._send_patch(name, body, content_type=change.content_type, params=params)

    async def _send_patch(self, name: str, body: bytes, *, content_type: str, params: Any) -> T:
        answer = await self._collection.send(
            "patch",
            name=name,
            subresource=self._part,
            body=body,
            content_type=content_type,
            params=params,
            accept=self._form.accept_one,
        )
        return self._form.read(answer)


def appliable(data: dict[str, Any]) -> dict[str, Any]:
    """The object, when it can be applied. Raises: InvalidValue."""
    metadata = data.get("metadata") or {}
    if not metadata.get("name"):
        raise InvalidValue(f"apply a {data.get('kind') or 'object'}: it has no name")
    if metadata.get("managedFields"):
        raise InvalidValue(
            f"apply {data.get('kind')} {metadata['name']}: it has managedFields, so it was read"
            " from a server"
        ).with_hint("write only the fields you want to own", python="use extract()")
    return data


def patch_type_of(type_: str) -> str:
    """The content type of a patch. Raises: InvalidValue for one that there is not."""
    found = _CONTENT_TYPES.get(cast("PatchType", type_))
    if found is None:
        raise InvalidValue(f"patch of type {type_!r}: expected merge, strategic, json or apply")
    return found


def patch_text(patch: PatchBody) -> bytes:
    """A patch as it is sent; bytes and text are sent as they are."""
    if isinstance(patch, bytes):
        return patch
    return patch.encode() if isinstance(patch, str) else body_of(patch)


def _said(data: dict[str, Any], key: str) -> str:
    """What the object's metadata says, as text; empty where it does not."""
    metadata = data.get("metadata")
    return str(metadata.get(key) or "") if isinstance(metadata, dict) else ""
