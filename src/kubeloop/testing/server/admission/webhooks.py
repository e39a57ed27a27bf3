"""Admission: webhooks that change and check what is written, and the life of namespaces.

Promises: mutating webhooks are asked one after the other, in the order of their
configurations' names, each seeing what the one before made of the object; validating ones
all at once. A webhook that cannot be reached, or answers nonsense, decides by its
failurePolicy.
Not here: matchConditions and reinvocation (a hook is called once); services cannot be
reached, there is no service network: a hook needs a `url`.
Elsewhere: which webhooks are asked (`webhook_rules`), how (`webhook_calls`), what is said
(`webhook_reviews`).
"""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias, final

import msgspec

from kubeloop.kit import Clock, SystemClock
from kubeloop.patches import PatchError, apply_json_patch

from .. import statuses
from ..identity import Objects
from ..registry import Registry
from ..statuses import Cause, StatusError
from ..values.causes import quoted
from .webhook_calls import CallFailed, Post, call_webhook, post
from .webhook_reviews import BadAnswer, Verdict, denial, read_answer, review, review_version
from .webhook_rules import (
    AdmissionRequest,
    Target,
    is_exempt,
    matches_rules,
    matches_selectors,
)

__all__ = [
    "AdmissionRequest",
    "Admitted",
    "CallFailed",
    "Post",
    "Target",
    "Webhooks",
    "check_namespace",
]

_GROUP: Final = "admissionregistration.k8s.io"
_IMMORTAL: Final = frozenset({"default", "kube-public", "kube-system"})

log = logging.getLogger(__name__)

# `convert(obj, group, kind, to_version)`, as `conversion` has it.
Convert: TypeAlias = Callable[[dict[str, Any], str, str, str], dict[str, Any]]


@final
class Admitted(msgspec.Struct, frozen=True):
    """What became of a request that was let through."""

    obj: dict[str, Any] | None
    warnings: tuple[str, ...] = ()
    annotations: Mapping[str, str] = {}  # for the audit log

    def joined(self, other: Admitted) -> Admitted:
        """Both, one after the other."""
        return Admitted(
            other.obj,
            (*self.warnings, *other.warnings),
            {**self.annotations, **other.annotations},
        )


@final
class _Call(msgspec.Struct, frozen=True):
    """A webhook to ask, and the version of the resource that its rules named."""

    hook: Mapping[str, Any]
    target: Target

    @property
    def name(self) -> str:
        return str(self.hook.get("name", ""))

    @property
    def may_fail(self) -> bool:
        return self.hook.get("failurePolicy") == "Ignore"


@final
class Webhooks:
    """Asks the stored webhook configurations about requests.

    With `registry` and `convert` a hook whose rules name another version of the same
    resource is asked in that version (`matchPolicy: Equivalent`, the default).
    """

    def __init__(
        self,
        objects: Objects,
        post: Post = post,
        *,
        clock: Clock | None = None,
        registry: Registry | None = None,
        convert: Convert | None = None,
    ) -> None:
        self._objects = objects
        self._post = post
        self._clock = clock or SystemClock()
        self._registry = registry
        self._convert = convert

    def applies(self, request: AdmissionRequest) -> bool:
        """Whether the rules of any webhook name this request; selectors are not looked at."""
        if is_exempt(request):
            return False
        return any(
            matches_rules(hook.get("rules") or (), request, target)
            for plural in ("mutatingwebhookconfigurations", "validatingwebhookconfigurations")
            for hook in self._hooks(plural)
            for target in self._targets(hook, request)
        )

    async def mutate(self, request: AdmissionRequest) -> Admitted:
        """The object as the mutating webhooks leave it.

        Raises:
            StatusError: a webhook said no, or could not be asked and must be.
        """
        admitted = Admitted(request.obj)
        for hook in self._hooks("mutatingwebhookconfigurations"):
            call = self._call_for(hook, request)
            if call is not None:
                told = await self._mutated(call, request)
                admitted = admitted.joined(told)
                request = msgspec.structs.replace(request, obj=told.obj)
        return admitted

    async def validate(self, request: AdmissionRequest) -> Admitted:
        """The object, unchanged, when no validating webhook objects.

        Raises:
            StatusError: a webhook said no, or could not be asked and must be.
        """
        hooks = self._hooks("validatingwebhookconfigurations")
        calls = [call for hook in hooks if (call := self._call_for(hook, request))]
        admitted = Admitted(request.obj)
        asked = (self._ask(call, request, mutating=False) for call in calls)
        answers = await asyncio.gather(*asked, return_exceptions=True)
        for answer in answers:
            if isinstance(answer, BaseException):
                raise answer
        for call, answer in zip(calls, answers, strict=True):
            if isinstance(answer, Verdict):
                admitted = admitted.joined(_told(call, answer, request.obj))
        return admitted

    def _hooks(self, plural: str) -> Iterator[Mapping[str, Any]]:
        found = self._objects(_GROUP, plural)
        for configuration in sorted(found, key=lambda obj: str(obj["metadata"]["name"])):
            yield from configuration.get("webhooks") or ()

    def _call_for(self, hook: Mapping[str, Any], request: AdmissionRequest) -> _Call | None:
        if is_exempt(request):
            return None
        rules = hook.get("rules") or ()
        for target in self._targets(hook, request):
            if matches_rules(rules, request, target):
                fits = matches_selectors(hook, request, self._objects)
                return _Call(hook, target) if fits else None
        return None

    def _targets(self, hook: Mapping[str, Any], request: AdmissionRequest) -> Iterator[Target]:
        """The resource that was asked for, then the other versions it could be asked in."""
        own = request.target
        yield own
        exact = hook.get("matchPolicy") == "Exact"
        if exact or self._registry is None or self._convert is None or request.subresource:
            return
        for group_version in self._registry.groups().get(own.group, ()):
            served = self._registry.find(own.group, group_version, own.plural)
            if served is not None and served.version != own.version:
                yield Target(served.group, served.version, served.plural, served.kind)

    async def _mutated(self, call: _Call, request: AdmissionRequest) -> Admitted:
        verdict = await self._ask(call, request, mutating=True)
        if verdict is None:
            return Admitted(request.obj)
        if not verdict.patch:
            return _told(call, verdict, request.obj)
        if request.obj is None:
            raise statuses.internal_error(
                f"admission webhook {quoted(call.name)} attempted to modify the object, which is "
                "not supported for this operation"
            )
        seen = self._in_version(request.obj, call.target, request)
        try:
            patched = apply_json_patch(seen, verdict.patch)
        except PatchError as error:
            raise statuses.internal_error(str(error)) from error
        if not isinstance(patched, dict):
            raise statuses.internal_error("the patch of a webhook left no object")
        return _told(call, verdict, self._in_version(patched, request.target, request))

    def _in_version(
        self, obj: dict[str, Any], target: Target, request: AdmissionRequest
    ) -> dict[str, Any]:
        if self._convert is None or request.subresource:
            return obj
        api_version = f"{target.group}/{target.version}" if target.group else target.version
        if obj.get("apiVersion") in {None, "", api_version}:
            return obj
        return self._convert(obj, target.group, target.kind, target.version)

    async def _ask(
        self, call: _Call, request: AdmissionRequest, *, mutating: bool
    ) -> Verdict | None:
        """A webhook's yes; None when it could not be asked and need not be.

        Raises:
            StatusError: it said no, or could not be asked.
        """
        _check_dry_run(call, request)
        try:
            verdict = await self._asked(call, request, mutating=mutating)
        except (BadAnswer, CallFailed) as error:
            if call.may_fail:
                log.warning("webhook %s: failed, and is ignored: %s", call.name, error)
                return None
            raise statuses.internal_error(
                f"failed calling webhook {quoted(call.name)}: {error}"
            ) from error
        if not verdict.allowed:
            raise denial(call.name, verdict.status)
        return verdict

    async def _asked(self, call: _Call, request: AdmissionRequest, *, mutating: bool) -> Verdict:
        hook = call.hook
        version, uid = review_version(hook), str(uuid.uuid4())
        seen = msgspec.structs.replace(
            request,
            obj=self._in_version(request.obj, call.target, request) if request.obj else None,
            old=self._in_version(request.old, call.target, request) if request.old else None,
        )
        body = review(seen, call.target, uid=uid, version=version)
        answer = await call_webhook(hook, body, post=self._post, clock=self._clock)
        return read_answer(answer, uid=uid, version=version, mutating=mutating)


def _told(call: _Call, verdict: Verdict, obj: dict[str, Any] | None) -> Admitted:
    annotations = {f"{call.name}/{key}": value for key, value in verdict.annotations.items()}
    return Admitted(obj, verdict.warnings, annotations)


def _check_dry_run(call: _Call, request: AdmissionRequest) -> None:
    if request.dry_run and call.hook.get("sideEffects") not in {"None", "NoneOnDryRun"}:
        said = f"admission webhook {quoted(call.name)} does not support dry run"
        raise statuses.bad_request(said)


def check_namespace(
    *,
    operation: str,
    group: str,
    plural: str,
    name: str,
    namespace: str,
    found: Mapping[str, Any] | None,
) -> None:
    """What NamespaceLifecycle allows; `found` is the Namespace that `namespace` names.

    Raises:
        StatusError: a namespace that must stay is deleted (403), or something is created in one
            that is missing (404) or going away (403).
    """
    if (group, plural) == ("", "namespaces"):
        if operation == "DELETE" and name in _IMMORTAL:
            raise statuses.forbidden(group, plural, name, "this namespace may not be deleted")
        return
    exempt = (group, plural) == ("authorization.k8s.io", "localsubjectaccessreviews")
    if operation != "CREATE" or not namespace or exempt:
        return
    if found is None:
        raise statuses.not_found("", "namespaces", namespace)
    if (found.get("status") or {}).get("phase") == "Terminating":
        raise _terminating(group, plural, name, namespace)


def _terminating(group: str, plural: str, name: str, namespace: str) -> StatusError:
    causes: Sequence[Cause] = [
        Cause(
            field="metadata.namespace",
            reason="NamespaceTerminating",
            message=f"namespace {namespace} is being terminated",
        )
    ]
    why = f"unable to create new content in namespace {namespace} because it is being terminated"
    return statuses.forbidden(group, plural, name, why, causes=causes)
