"""What can be done with one object, or with one part of it such as its status.

Promises: a change sends what was changed and nothing else, unless a whole object is sent
on purpose (`update`); fields that a class does not know survive all of it.
Elsewhere: whole collections (`resource`), what a change is (`editing`).
"""

# ruff: noqa: ASYNC109 - the caller's bound is kept by a clock, and named in the error

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar, cast

from kubeloop.machinery import Conflict, DecodeError, InvalidValue
from kubeloop.rest import (
    APPLY_PATCH,
    JSON_PATCH,
    MERGE_PATCH,
    STRATEGIC_MERGE_PATCH,
    query_options,
)
from kubeloop.wire import Model, TypeFacts

from .collection import Collection
from .forms import Form, body_of, check_object
from .options import FieldValidation, write_params

if TYPE_CHECKING:  # for those who change something, and not for every script
    from .editing import Change
    from .writer import ChangeWriter

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

_ESCAPED_BY_GO = tuple(
    (character.encode(), f"\\u{ord(character):04x}".encode()) for character in "<>&\u2028\u2029"
)


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
        unconditional: bool = False,
        dry_run: bool = False,
        field_manager: str = "",
        field_validation: FieldValidation | None = None,
    ) -> T:
        """Put the whole object in place of the one that is there, and return the new one.

        The version and uid in `obj` are sent, so that an object from a stale cache is
        refused. One without a version would erase what others wrote since: it is not sent,
        unless `unconditional`, which leaves the version out and replaces whatever is there.
        Raises: Conflict when the object has changed since it was read; Invalid; InvalidValue
        for an object without a version. A cancelled call may have changed it.
        """
        data = check_object(self._form.to_dict(obj))
        _condition_update(data, unconditional=unconditional)
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

        A patch changes the object that is there now, however old what you read is: the
        fields that it names are overwritten. It is refused for a newer object only if it
        says a version itself (`metadata.resourceVersion`, or a `test` operation); an object
        that was read and is sent as a patch says one.
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
            patch_text(patch, type),
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
        data = appliable(check_object(self._form.to_dict(obj)))
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
        strict: bool = False,
        timeout: float | None = 30.0,
        dry_run: bool = False,
        field_manager: str = "",
        field_validation: FieldValidation | None = None,
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
        object was deleted and created again; TimeoutExceeded; InvalidValue for a change
        that the server would ignore. A cancelled call may have stored the change.
        """
        from .editing import carried_over, change_between, merge_rules, metadata_text, recreated

        writer = await self._writer("edit", name, timeout)
        obj = await self.get(name)
        before = self._form.to_dict(obj)
        yield obj
        after = self._form.to_dict(obj)
        change = change_between(before, after, self._strategic)
        if change is None:
            return
        params = self._write(
            dry_run=dry_run, field_manager=field_manager, field_validation=field_validation
        )
        now, base = obj, before
        while change is not None:
            try:
                now = await self._store(writer, name, change, base, params=params)
                break
            except Conflict as error:
                if strict:
                    raise
                await writer.back_off(error)
            # Read after the wait, not before: what was read then would be old by now.
            now = await writer.read(lambda: self.get(name))
            base = self._form.to_dict(now)
            what = await self._collection.group_resource()
            if metadata_text(base, "uid") != metadata_text(before, "uid"):
                raise recreated(base, what)
            rules = merge_rules(before, self._form.rules)
            wish = carried_over(before, after, base, rules, what=what)
            change = change_between(base, wish, self._strategic)
        self._form.refresh(obj, now)

    async def modify(
        self,
        name: str,
        function: Callable[[T], T | Awaitable[T | None] | None],
        *,
        timeout: float | None = 30.0,
        dry_run: bool = False,
        field_manager: str = "",
        field_validation: FieldValidation | None = None,
    ) -> T:
        """Read, let `function` change the object, send the difference; again on a conflict.

        `function` changes what it is given, or returns another object in its place. It is
        called again, on a fresh read, whenever the object was changed after the read, until
        the change is stored or `timeout` seconds are over; so what it decides holds for the
        object that is stored. It is never called again after a change that may be stored.
        A call of it is not interrupted by the timeout. Returns the object as the server has
        it; nothing is sent when nothing was changed.
        Raises: TimeoutExceeded when others were faster all the time; InvalidValue for a
        change that the server would ignore. A cancelled call may have stored the change.
        """
        from .editing import change_between

        params = self._write(
            dry_run=dry_run, field_manager=field_manager, field_validation=field_validation
        )
        writer = await self._writer("modify", name, timeout)
        while True:
            obj = await writer.read(lambda: self.get(name))
            before = self._form.to_dict(obj)
            result = function(obj)
            made = await result if inspect.isawaitable(result) else result
            after = self._form.to_dict(obj if made is None else cast("T", made))
            change = change_between(before, after, self._strategic)
            if change is None:
                return obj
            try:
                return await self._store(writer, name, change, before, params=params)
            except Conflict as error:
                await writer.back_off(error)

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

    @property
    def _strategic(self) -> TypeFacts | None:
        """The merge rules of a strategic patch, where the server takes one."""
        # The scale of a custom kind takes none, and that of a built-in kind needs none.
        return None if self._part == "scale" else self._form.facts

    async def _writer(self, verb: str, name: str, timeout: float | None) -> ChangeWriter[T]:
        from .writer import ChangeWriter

        request = await self._collection.request("patch", name=name, subresource=self._part)
        return ChangeWriter(
            f"{verb} {request.action.removeprefix('PATCH ')}",
            clock=self._collection.clock,
            timeout=timeout,
            max_retries=self._collection.rest.max_retries,
        )

    async def _store(
        self,
        writer: ChangeWriter[T],
        name: str,
        change: Change,
        base: dict[str, Any],
        *,
        params: Any,
    ) -> T:
        """Send a change of `base` through the writer, which knows what may be sent again."""
        await self._refuse_ignored(name, change)
        # The writer repeats a request itself: it must know of every answer that leaves open
        # whether the change was stored.
        return await writer.send(
            lambda: self._send_change(name, change, base, params=params, max_retries=0)
        )

    async def _refuse_ignored(self, name: str, change: Change) -> None:
        """Raise InvalidValue for a change that would be reported as stored, and is not."""
        from .editing import ignored_fields

        info = await self._collection.info()
        has_status = any(part.name == "status" for part in info.subresources)
        ignored = ignored_fields(change, part=self._part, has_status=has_status)
        if ignored:
            where = f"{info.plural}/{name}" + (f"/{self._part}" if self._part else "")
            use = "the client of the object" if self._part else "the client's .status"
            raise InvalidValue(
                f"change {where}: the server ignores changes of {', '.join(ignored)} here"
                f" (use {use})"
            )

    async def _send_change(
        self,
        name: str,
        change: Change,
        base: dict[str, Any],
        *,
        params: Any,
        max_retries: int | None = None,
    ) -> T:
        from .editing import metadata_text

        version = metadata_text(base, "resourceVersion")
        if not version:
            raise DecodeError(
                f"change {name}: the object was read without a resourceVersion, so that nothing"
                " would keep the change of somebody else from being lost (use patch)"
            )
        body = body_of(change.under(version, metadata_text(base, "uid")))
        return await self._send_patch(
            name,
            body,
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
        params: Any,
        max_retries: int | None = None,
    ) -> T:
        answer = await self._collection.send(
            "patch",
            name=name,
            subresource=self._part,
            body=body,
            content_type=content_type,
            params=params,
            accept=self._form.accept_one,
            max_retries=max_retries,
        )
        return self._form.read(answer)


def _condition_update(data: dict[str, Any], *, unconditional: bool) -> None:
    """Make sure that an update says the version it replaces, or on purpose does not."""
    metadata = data.get("metadata")
    if not isinstance(metadata, dict):
        return  # which the request refuses: there is no name
    if unconditional:
        metadata.pop("resourceVersion", None)
    elif metadata.get("name") and not metadata.get("resourceVersion"):
        raise InvalidValue(
            f"update {data.get('kind') or 'object'} {metadata['name']}: it has no"
            " resourceVersion, so that what others wrote would be erased unseen"
        ).with_hint(
            "read the object and change that",
            python="use edit, modify, apply or unconditional=True",
        )


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


def patch_text(patch: PatchBody, type_: PatchType) -> bytes:
    """A patch as it is sent; bytes and text are sent as they are."""
    if isinstance(patch, bytes):
        return patch
    if isinstance(patch, str):
        return patch.encode()
    text = body_of(patch)
    if type_ != "json":
        return text
    # A `test` of a JSON patch compares texts, and Go escapes these. They are only in strings.
    for character, escaped in _ESCAPED_BY_GO:
        text = text.replace(character, escaped)
    return text
