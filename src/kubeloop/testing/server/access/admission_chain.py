"""The admission chain: namespaces, CRDs, privilege escalation, plugins, webhooks.

Guarantees: rejections that need no waiting come first; webhooks are called only if a
configuration exists.
See also: `admission` (webhooks), `escalation` (roles and bindings), `plugins` (the other plugins
of kube-apiserver), `verbs.writing` (when each step runs).
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, final

from kubeloop.kit import Clock

from ..admission.webhooks import check_namespace
from ..controllers.namespaces import NAMESPACES
from ..kinds.scheduling.priority_class import SYSTEM_PRIORITIES
from ..kinds.strategies import convert
from ..registry import Registry, ServedResource
from ..request.calls import Call
from ..statuses import forbidden
from ..storage.store import Object, Store
from ..verbs.deletion import DEFINITIONS
from .plugins import Plugins
from .security import ADMIN, Security

if TYPE_CHECKING:
    from ..admission.webhook_rules import AdmissionRequest
    from ..admission.webhooks import Webhooks

__all__ = ["AdmissionChain"]

_GROUP = "admissionregistration.k8s.io"
_RBAC = "rbac.authorization.k8s.io"
_PRIORITIES = ("scheduling.k8s.io", "priorityclasses")


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
        self._plugins = Plugins(store, security)
        self._mutating = store.collection((_GROUP, "mutatingwebhookconfigurations"))
        self._validating = store.collection((_GROUP, "validatingwebhookconfigurations"))

    @functools.cached_property
    def _webhooks(self) -> Webhooks:
        # Imported with the first webhook: most servers of tests never have one.
        from ..admission.webhooks import Webhooks

        return Webhooks(
            self._store.objects, clock=self._clock, registry=self._registry, convert=convert
        )

    def check(self, call: Call, operation: str, name: str = "") -> None:
        """Reject writes into a missing or terminating namespace, or of a terminating CRD.

        `name` is the name in the object, where the path has none. Raises `StatusError`.
        """
        if operation == "UPDATE":
            return  # a terminating namespace still accepts updates: finalizers must be removable
        served, name = call.served, call.name or name
        if operation == "DELETE" and served.storage == _PRIORITIES and name in SYSTEM_PRIORITIES:
            why = "this is a system priority class and cannot be deleted"
            raise forbidden(served.group, served.plural, name, why)
        if operation == "CREATE" and served.custom is not None:
            self._check_definition(served, name)
        namespace = self._store.get(NAMESPACES, call.namespace)
        check_namespace(
            operation=operation,
            group=served.group,
            plural=served.plural,
            name=name,
            namespace=call.namespace,
            found=namespace.obj if namespace is not None else None,
        )

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
            from .escalation import check_write
            from .rbac import Authorizer

            roles, user = self._security.authorizer, call.user or ADMIN
            if isinstance(roles, Authorizer):
                check_write(roles, user, call.served.plural, new=obj, old=old)

    def mutate_new(self, call: Call, obj: Object) -> Object:
        """A new object after the built-in mutating plugins. Raises `StatusError`."""
        return self._plugins.mutate(call, obj)

    def review(self, call: Call, obj: Object, old: Object | None) -> list[str]:
        """The warnings of the built-in validating plugins. Raises `StatusError`."""
        return self._plugins.validate(call, obj, old)

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
    """The options of a write as they appear in an AdmissionReview."""
    options: Object = {"kind": _OPTIONS[operation], "apiVersion": "meta.k8s.io/v1"}
    if call.options.dry_run:
        options["dryRun"] = ["All"]
    if call.options.manager:
        options["fieldManager"] = call.options.manager
    return options
