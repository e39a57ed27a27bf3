"""The one client for every kind: all verbs of a collection and of its objects.

Promises: what is asked is sent to the server, and nothing is read that was not asked for;
a write is sent once, unless the server says when to come back.
Elsewhere: verbs of one object (`verbs`), reading (`reading`), following (`following`),
actions of single kinds (`actions`), where the collection is (`collection`).
"""

from __future__ import annotations

from typing import TypeVar, final

from kubeloop.machinery import AlreadyExists, Conflict, InvalidValue, NotFound

from .conflicts import retry_on_conflict
from .following import FollowingVerbs
from .forms import body_of, check_object
from .options import (
    FieldSelection,
    FieldValidation,
    LabelSelection,
    ListOptions,
    Propagation,
    delete_options,
)
from .reading import is_about

__all__ = ["ResourceClient"]

T = TypeVar("T")


@final
class ResourceClient(FollowingVerbs[T]):
    """A collection of objects of one kind: `client.resource(Pod, namespace="shop")`."""

    @property
    def namespace(self) -> str | None:
        """As it was given: None is the configuration's, `ALL` all of them."""
        return self._collection.namespace

    @property
    def object_type(self) -> type[T]:
        """As what objects are read and sent: their class, or `dict`."""
        return self._form.object_type

    def in_namespace(self, namespace: str | None) -> ResourceClient[T]:
        """The same kind in another namespace; this one stays what it is."""
        return ResourceClient(self._collection.within(namespace), self._form)

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
        data = check_object(self._form.to_dict(obj))
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
        from .editing import change_between, merged_into

        wish = check_object(self._form.to_dict(obj))
        name = (wish.get("metadata") or {}).get("name") or ""
        if not name:
            raise InvalidValue(f"create or update a {wish.get('kind')}: it has no name")
        params = self._write(
            dry_run=False, field_manager=field_manager, field_validation=field_validation
        )

        async def attempt() -> T:
            own = wish["metadata"].get("namespace")
            client = self if self.namespace or not own else self.in_namespace(own)
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
            if not (missing_ok and is_about(error, name)):
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
