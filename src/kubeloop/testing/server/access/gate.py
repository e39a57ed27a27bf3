"""What stands between a write and the store: namespaces, definitions, webhooks.

Promises: what can be refused without waiting is refused first; webhooks are asked only
where some are configured.
Elsewhere: webhooks (`admission`), namespaces (`namespaces`).
"""

from __future__ import annotations

import functools
from typing import Any, final

from kubeloop.kit import Clock

from ..controllers.namespaces import NamespaceLifecycle
from ..registry import Registry
from ..request.calls import Call
from ..statuses import forbidden
from ..storage.store import Object, Store
from ..verbs.deletion import DEFINITIONS
from .security import ADMIN, Security

__all__ = ["Gate"]

_GROUP = "admissionregistration.k8s.io"
_RBAC = "rbac.authorization.k8s.io"
_HOOKS = (
    (_GROUP, "mutatingwebhookconfigurations"),
    (_GROUP, "validatingwebhookconfigurations"),
)


@final
class Gate:
    """Admission as `verbs` asks for it."""

    def __init__(
        self, store: Store, security: Security, *, clock: Clock, registry: Registry
    ) -> None:
        self._store = store
        self._security = security
        self._namespaces = NamespaceLifecycle(store)
        self._clock = clock
        self._registry = registry

    @functools.cached_property
    def _webhooks(self) -> Any:
        """Whoever asks webhooks, imported with the first one."""
        from ..admission.webhooks import Webhooks
        from ..builtin.conversion import convert

        return Webhooks(
            self._store.objects, clock=self._clock, registry=self._registry, convert=convert
        )

    def check(self, call: Call, operation: str) -> None:
        """Raises `Refusal` where the namespace, or the end of its kind, forbids the write."""
        if operation == "CREATE" and call.served.custom is not None:
            self._check_definition(call)
        self._namespaces.check(call, operation)

    def _check_definition(self, call: Call) -> None:
        group, plural = call.served.group, call.served.plural
        definition = self._store.get(DEFINITIONS, f"{plural}.{group}")
        if definition is not None and "deletionTimestamp" in definition.metadata:
            why = "create not allowed while custom resource definition is terminating"
            raise forbidden(group, plural, call.name, why)

    def guard(self, call: Call, obj: Object, old: Object | None) -> None:
        """Raises `Refusal` for rights that the user cannot hand on."""
        served = call.served
        if served.group == _RBAC and self._security.decides:
            from .escalation import check_write
            from .rbac import Authorizer

            roles, user = self._security.authorizer, call.user or ADMIN
            if isinstance(roles, Authorizer):
                check_write(roles, user, served.plural, new=obj, old=old)

    def applies(self, call: Call, operation: str) -> bool:  # noqa: ARG002 # the hooks' rules decide
        """Whether there is any webhook to ask."""
        return any(self._store.collection(each).entries for each in _HOOKS)

    async def mutate(
        self, call: Call, operation: str, obj: Object | None, old: Object | None
    ) -> tuple[Object | None, list[str]]:
        """What the mutating webhooks make of `obj`. Raises `Refusal`."""
        said = await self._webhooks.mutate(_request(call, operation, obj, old))
        return said.obj, list(said.warnings)

    async def validate(
        self, call: Call, operation: str, obj: Object | None, old: Object | None
    ) -> list[str]:
        """Ask the validating webhooks. Raises `Refusal`."""
        said = await self._webhooks.validate(_request(call, operation, obj, old))
        return list(said.warnings)


def _request(call: Call, operation: str, obj: Object | None, old: Object | None) -> Any:
    from ..admission.webhook_rules import AdmissionRequest, Target

    served = call.served
    return AdmissionRequest(
        operation=operation,
        target=Target(served.group, served.version, served.plural, served.kind),
        subresource=call.part,
        name=call.name,
        namespace=call.namespace,
        user=call.user or ADMIN,
        obj=obj,
        old=old,
        dry_run=call.options.dry_run,
        options=_options(call, operation),
    )


_OPTIONS = {"CREATE": "CreateOptions", "UPDATE": "UpdateOptions", "DELETE": "DeleteOptions"}


def _options(call: Call, operation: str) -> Object:
    """The options of a write as a webhook is shown them."""
    options: Object = {"kind": _OPTIONS[operation], "apiVersion": "meta.k8s.io/v1"}
    if call.options.dry_run:
        options["dryRun"] = ["All"]
    if call.options.manager:
        options["fieldManager"] = call.options.manager
    return options
