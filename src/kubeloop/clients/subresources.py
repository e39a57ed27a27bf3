"""Parts of objects that have a path of their own: status, scale, ephemeral containers, ….

Elsewhere: parts that are actions rather than data, such as evictions (`actions`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar, final

from kubeloop.machinery import InvalidValue

from .forms import body_of, check_object
from .options import FieldValidation
from .verbs import ObjectVerbs

if TYPE_CHECKING:
    from kubeloop.wire.autoscaling.v1 import Scale

__all__ = ["ScaleVerbs", "SubresourceClient"]

T = TypeVar("T")


@final
class SubresourceClient(ObjectVerbs[T]):
    """One part of the objects of a collection: `pods.status`, `pods.resize`."""

    async def create(
        self,
        obj: T,
        *,
        dry_run: bool = False,
        field_manager: str = "",
        field_validation: FieldValidation | None = None,
    ) -> T:
        """Post to the part of the object whose name `obj` has, and return the answer.

        Raises: InvalidValue without a name. A cancelled call may have done it.
        """
        data = check_object(self._form.to_dict(obj))
        name = (data.get("metadata") or {}).get("name") or ""
        if not name:
            raise InvalidValue(
                f"create {self._part}: the object has no name (say whose part it is)"
            )
        answer = await self._collection.send(
            "create",
            of=data,
            name=name,
            subresource=self._part,
            body=body_of(data),
            params=self._write(
                dry_run=dry_run, field_manager=field_manager, field_validation=field_validation
            ),
            accept=self._form.accept_one,
        )
        return self._form.read(answer)


@final
class ScaleVerbs(ObjectVerbs["Scale"]):
    """How many replicas there are to be: `deployments.scale`."""

    async def set(
        self,
        name: str,
        replicas: int,
        *,
        dry_run: bool = False,
        field_manager: str = "",
        version: str = "",
    ) -> Scale:
        """Ask for so many replicas; with `version`, only if the object is still at it.

        Raises: Conflict when it is not. A cancelled call may have changed it.
        """
        patch: dict[str, object] = {"spec": {"replicas": replicas}}
        if version:
            patch["metadata"] = {"resourceVersion": version}
        return await self.patch(
            name, patch, type="merge", dry_run=dry_run, field_manager=field_manager
        )
