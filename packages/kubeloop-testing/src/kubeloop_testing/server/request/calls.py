"""The arguments and the result of a verb, and the interface of admission.

See also: `verbs.writing` (the writes themselves), `admission.chain` (admission).
"""

from __future__ import annotations

from typing import Protocol, final

import msgspec

from ..identity import User
from ..registry import ServedResource
from ..storage.store import Entry, Object, key_of
from .options import WriteOptions, manager_from_user_agent
from .requests import Request, ResourcePath

__all__ = ["Admission", "Call", "WriteResult", "call_for"]


@final
class Call(msgspec.Struct, frozen=True):
    """One verb on one object: which object, with which options, by which user."""

    served: ServedResource
    namespace: str = ""
    name: str = ""
    part: str = ""  # the subresource; empty for the object itself
    options: WriteOptions = WriteOptions()
    agent: str = ""  # the User-Agent header, which names the default field manager
    user: User | None = None

    @property
    def key(self) -> str:
        # Cluster-scoped objects ignore a namespace.
        return key_of(self.namespace if self.served.namespaced else "", self.name)

    @property
    def manager(self) -> str:
        """The field manager: the one in the options, or the start of the user agent."""
        return self.options.manager or manager_from_user_agent(self.agent)


def call_for(
    request: Request, served: ServedResource, path: ResourcePath, options: WriteOptions
) -> Call:
    """The call of a request for `served`."""
    return Call(
        served,
        namespace=path.namespace,
        name=path.name,
        part=path.subresource,
        options=options,
        agent=request.headers.get("User-Agent", ""),
        user=request.user,
    )


@final
class WriteResult(msgspec.Struct, frozen=True):
    """The object after a write; after a dry run, as the write would have stored it."""

    entry: Entry
    code: int = 200
    warnings: tuple[str, ...] = ()


class Admission(Protocol):
    """Admission of a write, in kube-apiserver's order: namespace, mutation, validation."""

    def check_create(self, call: Call, name: str = "") -> None:
        """Check the namespace and the CRD of a create, without waiting. Raises `StatusError`.

        `name` is the name in the object, where the path has none.
        """
        ...

    def check_delete(self, call: Call) -> None:
        """Check whether a plugin protects what is deleted. Raises `StatusError`."""
        ...

    def check_escalation(self, call: Call, obj: Object, old: Object | None) -> None:
        """Check that a role or binding grants no permission that the user does not have.

        Raises `StatusError`.
        """
        ...

    def mutate_new(self, call: Call, obj: Object) -> Object:
        """A new object after the mutating plugins. Raises `StatusError`."""
        ...

    def review(self, call: Call, obj: Object, old: Object | None) -> list[str]:
        """The warnings of the validating plugins. Raises `StatusError`."""
        ...

    def has_webhooks(self) -> bool:
        """Whether any webhook configuration exists."""
        ...

    async def mutate(
        self, call: Call, operation: str, obj: Object | None, old: Object | None
    ) -> tuple[Object | None, list[str]]:
        """The object after the mutating webhooks, and their warnings. Raises `StatusError`."""
        ...

    async def validate(
        self, call: Call, operation: str, obj: Object | None, old: Object | None
    ) -> list[str]:
        """Call the validating webhooks; returns their warnings. Raises `StatusError`."""
        ...
