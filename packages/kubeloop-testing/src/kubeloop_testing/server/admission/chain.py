"""The admission chain: CRDs, plugins, privilege escalation, webhooks.

Guarantees: rejections that need no waiting come first; a resource without plugins costs one lookup;
webhooks are called only if a configuration exists.
See also: `plugins`, `webhooks`, `access.escalation` (roles and bindings), `verbs.writing` (when
each step runs).
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, TypeVar, cast, final

from kubeloop.kit import Clock

from ..access.security import ADMIN, Security
from ..identity import AllowAll
from ..kinds.strategies import convert
from ..registry import Registry, ServedResource
from ..request.calls import Call
from ..statuses import forbidden
from ..storage.store import Object, Store
from ..verbs.deletion import DEFINITIONS
from .plugin import Cluster, Resource
from .plugins import PLUGINS

if TYPE_CHECKING:
    from ..access.rbac import Authorizer
    from .webhook_rules import AdmissionRequest
    from .webhooks import Webhooks

__all__ = ["AdmissionChain"]

_GROUP = "admissionregistration.k8s.io"
_RBAC = "rbac.authorization.k8s.io"

_Function = TypeVar("_Function")


def _by_resource(
    functions: Iterable[Mapping[Resource, _Function]],
) -> Mapping[Resource, tuple[_Function, ...]]:
    """The functions of all plugins for each resource, in the order of the plugins."""
    table: dict[Resource, tuple[_Function, ...]] = {}
    for of_plugin in functions:
        for resource, function in of_plugin.items():
            table[resource] = (*table.get(resource, ()), function)
    return table


_CREATE = tuple(plugin.create for plugin in PLUGINS if plugin.create is not None)
_MUTATE = _by_resource(plugin.mutate for plugin in PLUGINS)
_VALIDATE_WORKLOADS = tuple(
    plugin.validate_workload for plugin in PLUGINS if plugin.validate_workload is not None
)
_VALIDATE = _by_resource(plugin.validate for plugin in PLUGINS)
_DELETE = _by_resource(plugin.delete for plugin in PLUGINS)


@final
class AdmissionChain:
    """The `Admission` of the verbs."""

    def __init__(
        self, store: Store, security: Security, *, clock: Clock, registry: Registry
    ) -> None:
        self._store = store
        self._security = security
        self._clock = clock
        self._registry = registry
        self._cluster = Cluster(store, security)
        self._mutating = store.collection((_GROUP, "mutatingwebhookconfigurations"))
        self._validating = store.collection((_GROUP, "validatingwebhookconfigurations"))

    @functools.cached_property
    def _webhooks(self) -> Webhooks:
        # Imported with the first webhook: most servers of tests never have one.
        from .webhooks import Webhooks

        return Webhooks(
            self._store.objects, clock=self._clock, registry=self._registry, convert=convert
        )

    def check_create(self, call: Call, name: str = "") -> None:
        """Reject creates in a missing or terminating namespace, or of a terminating CRD.

        `name` is the name in the object, where the path has none. Raises `StatusError`.
        """
        if call.served.custom is not None:
            self._check_definition(call.served, call.name or name)
        for check in _CREATE:
            check(self._cluster, call, name)

    def check_delete(self, call: Call) -> None:
        """Reject the deletion of what a plugin protects. Raises `StatusError`."""
        for check in _DELETE.get(call.served.storage, ()):
            check(self._cluster, call)

    def _check_definition(self, served: ServedResource, name: str) -> None:
        # apiextensions-apiserver rejects creates here, or the finalizer of the CRD would never
        # see an empty collection.
        definition = self._store.get(DEFINITIONS, f"{served.plural}.{served.group}")
        if definition is not None and "deletionTimestamp" in definition.metadata:
            why = "create not allowed while custom resource definition is terminating"
            raise forbidden(served.group, served.plural, name, why)

    def check_escalation(self, call: Call, obj: Object, old: Object | None) -> None:
        """Reject a role or binding that grants what the user does not have (`StatusError`)."""
        if call.served.group == _RBAC and self._security.decides:
            from ..access.escalation import check_write

            roles, user = self._security.authorizer, call.user or ADMIN
            if not isinstance(roles, AllowAll):
                check_write(cast("Authorizer", roles), user, call.served.plural, new=obj, old=old)

    def mutate_new(self, call: Call, obj: Object) -> Object:
        """A new object after the mutating plugins. Raises `StatusError`."""
        group, plural = call.served.storage
        for mutate in _MUTATE.get((group, f"{plural}/{call.part}" if call.part else plural), ()):
            obj = mutate(self._cluster, call, obj)
        return obj

    def review(self, call: Call, obj: Object, old: Object | None) -> list[str]:
        """The warnings of the validating plugins. Raises `StatusError`."""
        warnings: list[str] = []
        by_kind = _VALIDATE_WORKLOADS if call.served.strategy.pod_template else ()
        for validate in (*_VALIDATE.get(call.served.storage, ()), *by_kind):
            warnings += validate(self._cluster, call, obj, old)
        return warnings

    def has_webhooks(self) -> bool:
        """Whether any webhook configuration exists; its rules are matched later."""
        return bool(self._mutating.entries or self._validating.entries)

    async def mutate(
        self, call: Call, operation: str, obj: Object | None, old: Object | None
    ) -> tuple[Object | None, list[str]]:
        """The object after the mutating webhooks, and their warnings. Raises `StatusError`."""
        # Mutating webhooks run one after the other: each sees the patch of the last one.
        admitted = await self._webhooks.mutate(_request(call, operation, obj, old))
        return admitted.obj, list(admitted.warnings)

    async def validate(
        self, call: Call, operation: str, obj: Object | None, old: Object | None
    ) -> list[str]:
        """Call the validating webhooks; returns their warnings. Raises `StatusError`."""
        admitted = await self._webhooks.validate(_request(call, operation, obj, old))
        return list(admitted.warnings)


def _request(
    call: Call, operation: str, obj: Object | None, old: Object | None
) -> AdmissionRequest:
    from .webhook_rules import AdmissionRequest, Target

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
    """The options of a write as they appear in an AdmissionReview."""
    options: Object = {"kind": _OPTIONS[operation], "apiVersion": "meta.k8s.io/v1"}
    if call.options.dry_run:
        options["dryRun"] = ["All"]
    if call.options.manager:
        options["fieldManager"] = call.options.manager
    return options
