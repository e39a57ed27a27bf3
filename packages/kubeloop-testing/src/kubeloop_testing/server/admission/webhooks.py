"""Mutating and validating webhooks.

Guarantees: mutating webhooks are called one after the other, in the order of their
configurations' names, each with the result of the one before; validating ones in parallel. The
failurePolicy decides for a webhook that cannot be reached or responds with an invalid review.
Not implemented: matchConditions and reinvocation (a webhook is called once); services, because
there is no service network: a webhook needs a `url`.
See also: which webhooks are called (`webhook_rules`), how (`webhook_calls`), with which content
(`webhook_reviews`).
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, TypeAlias, final

import msgspec

from kubeloop.kit import Clock, SystemClock
from kubeloop.patches import PatchError, apply_json_patch

from .. import statuses
from ..identity import Objects
from ..registry import Registry
from ..storage.store import new_uid
from ..values.causes import quoted
from .webhook_calls import CallFailed, Post, call_webhook, post
from .webhook_reviews import (
    InvalidResponse,
    WebhookResponse,
    denial,
    encode_review,
    parse_response,
    review_version,
)
from .webhook_rules import (
    AdmissionRequest,
    Target,
    is_exempt,
    matches_rules,
    matches_selectors,
)

__all__ = [
    "AdmissionRequest",
    "AdmissionResult",
    "CallFailed",
    "Post",
    "Target",
    "Webhooks",
]

_GROUP: Final = "admissionregistration.k8s.io"

log = logging.getLogger(__name__)

# `convert(obj, group, kind, to_version)`, as in `kinds.strategies`.
Convert: TypeAlias = Callable[[dict[str, Any], str, str, str], dict[str, Any]]


@final
class AdmissionResult(msgspec.Struct, frozen=True):
    """The object after admission, with warnings for the client."""

    obj: dict[str, Any] | None
    warnings: tuple[str, ...] = ()
    annotations: Mapping[str, str] = {}  # for the audit log

    def followed_by(self, other: AdmissionResult) -> AdmissionResult:
        """The result of both webhooks, one after the other."""
        return AdmissionResult(
            other.obj,
            (*self.warnings, *other.warnings),
            {**self.annotations, **other.annotations},
        )


@final
class _Match(msgspec.Struct, frozen=True):
    """A webhook to call, and the version of the resource that its rules cover."""

    hook: Mapping[str, Any]
    target: Target

    @property
    def name(self) -> str:
        return str(self.hook.get("name", ""))

    @property
    def ignores_failure(self) -> bool:
        return self.hook.get("failurePolicy") == "Ignore"


@final
class Webhooks:
    """Calls the webhooks of the stored configurations.

    With `registry` and `convert`, a webhook whose rules cover another version of the same
    resource is called with that version (`matchPolicy: Equivalent`, the default).
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
        """Whether the rules of any webhook cover this request, regardless of selectors."""
        if is_exempt(request):
            return False
        return any(
            matches_rules(hook.get("rules") or (), request, target)
            for plural in ("mutatingwebhookconfigurations", "validatingwebhookconfigurations")
            for hook in self._hooks(plural)
            for target in self._targets(hook, request)
        )

    async def mutate(self, request: AdmissionRequest) -> AdmissionResult:
        """Call the mutating webhooks; the result has the object after their patches.

        Raises:
            StatusError: a webhook denied the request, or failed with `failurePolicy: Fail`.
        """
        result = AdmissionResult(request.obj)
        for hook in self._hooks("mutatingwebhookconfigurations"):
            match = self._match(hook, request)
            if match is not None:
                mutated = await self._mutate(match, request)
                result = result.followed_by(mutated)
                request = msgspec.structs.replace(request, obj=mutated.obj)
        return result

    async def validate(self, request: AdmissionRequest) -> AdmissionResult:
        """Call the validating webhooks; the result has the object unchanged.

        Raises:
            StatusError: a webhook denied the request, or failed with `failurePolicy: Fail`.
        """
        hooks = self._hooks("validatingwebhookconfigurations")
        matches = [match for hook in hooks if (match := self._match(hook, request))]
        result = AdmissionResult(request.obj)
        calls = (self._call(match, request, mutating=False) for match in matches)
        # All calls finish before the first error is raised, so that none is left running.
        responses = await asyncio.gather(*calls, return_exceptions=True)
        for response in responses:
            if isinstance(response, BaseException):
                raise response
        for match, response in zip(matches, responses, strict=True):
            if isinstance(response, WebhookResponse):
                result = result.followed_by(_result(match, response, request.obj))
        return result

    def _hooks(self, plural: str) -> Iterator[Mapping[str, Any]]:
        configurations = self._objects(_GROUP, plural)
        for configuration in sorted(configurations, key=lambda obj: str(obj["metadata"]["name"])):
            yield from configuration.get("webhooks") or ()

    def _match(self, hook: Mapping[str, Any], request: AdmissionRequest) -> _Match | None:
        if is_exempt(request):
            return None
        rules = hook.get("rules") or ()
        for target in self._targets(hook, request):
            if matches_rules(rules, request, target):
                is_selected = matches_selectors(hook, request, self._objects)
                return _Match(hook, target) if is_selected else None
        return None

    def _targets(self, hook: Mapping[str, Any], request: AdmissionRequest) -> Iterator[Target]:
        """The resource of the request, then its other versions unless `matchPolicy: Exact`."""
        own = request.target
        yield own
        is_exact = hook.get("matchPolicy") == "Exact"
        if is_exact or self._registry is None or self._convert is None or request.subresource:
            return
        for group_version in self._registry.groups().get(own.group, ()):
            served = self._registry.find(own.group, group_version, own.plural)
            if served is not None and served.version != own.version:
                yield Target(served.group, served.version, served.plural, served.kind)

    async def _mutate(self, match: _Match, request: AdmissionRequest) -> AdmissionResult:
        response = await self._call(match, request, mutating=True)
        if response is None:
            return AdmissionResult(request.obj)
        if not response.patch:
            return _result(match, response, request.obj)
        if request.obj is None:
            raise statuses.internal_error(
                f"admission webhook {quoted(match.name)} attempted to modify the object, which is "
                "not supported for this operation"
            )
        # The patch refers to the version that the webhook received.
        sent = self._in_version(request.obj, match.target, request)
        try:
            patched = apply_json_patch(sent, response.patch)
        except PatchError as error:
            raise statuses.internal_error(str(error)) from error
        if not isinstance(patched, dict):
            raise statuses.internal_error("the patch of a webhook did not result in an object")
        return _result(match, response, self._in_version(patched, request.target, request))

    def _in_version(
        self, obj: dict[str, Any], target: Target, request: AdmissionRequest
    ) -> dict[str, Any]:
        if self._convert is None or request.subresource:
            return obj
        api_version = f"{target.group}/{target.version}" if target.group else target.version
        if obj.get("apiVersion") in {None, "", api_version}:
            return obj
        kind = self._registry.custom(target.group, target.plural) if self._registry else None
        if kind is not None:
            return kind.convert(obj, target.version)
        return self._convert(obj, target.group, target.kind, target.version)

    async def _call(
        self, match: _Match, request: AdmissionRequest, *, mutating: bool
    ) -> WebhookResponse | None:
        """The response of a webhook that allows the request; None if its failure is ignored.

        Raises:
            StatusError: it denied the request, or failed with `failurePolicy: Fail`.
        """
        _check_dry_run(match, request)
        try:
            response = await self._send_review(match, request, mutating=mutating)
        except (InvalidResponse, CallFailed) as error:
            if match.ignores_failure:
                log.warning("webhook %s: call failed, ignored: %s", match.name, error)
                return None
            raise statuses.internal_error(
                f"failed calling webhook {quoted(match.name)}: {error}"
            ) from error
        if not response.allowed:
            raise denial(match.name, response.status)
        return response

    async def _send_review(
        self, match: _Match, request: AdmissionRequest, *, mutating: bool
    ) -> WebhookResponse:
        hook = match.hook
        version, uid = review_version(hook), new_uid()
        converted = msgspec.structs.replace(
            request,
            obj=self._in_version(request.obj, match.target, request) if request.obj else None,
            old=self._in_version(request.old, match.target, request) if request.old else None,
        )
        body = encode_review(converted, match.target, uid=uid, version=version)
        content = await call_webhook(hook, body, post=self._post, clock=self._clock)
        return parse_response(content, uid=uid, version=version, mutating=mutating)


def _result(
    match: _Match, response: WebhookResponse, obj: dict[str, Any] | None
) -> AdmissionResult:
    annotations = {f"{match.name}/{key}": value for key, value in response.annotations.items()}
    return AdmissionResult(obj, response.warnings, annotations)


def _check_dry_run(match: _Match, request: AdmissionRequest) -> None:
    # A dry run must have no side effects, so other webhooks are not even called.
    if request.dry_run and match.hook.get("sideEffects") not in {"None", "NoneOnDryRun"}:
        message = f"admission webhook {quoted(match.name)} does not support dry run"
        raise statuses.bad_request(message)
