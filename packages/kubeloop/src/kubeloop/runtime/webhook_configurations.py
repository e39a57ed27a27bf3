"""The objects that make an API server call webhooks: configurations, and a part of CRDs.

Guarantees: plain values in, objects out; each webhook has a unique name.
See also: `webhook_server` (serves the webhooks).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import msgspec

from kubeloop.errors import InvalidArgument
from kubeloop.wire import Resource, ResourceInfo, resource_of
from kubeloop.wire.admissionregistration.v1 import (
    MutatingWebhook,
    MutatingWebhookConfiguration,
    RuleWithOperations,
    ServiceReference,
    ValidatingWebhook,
    ValidatingWebhookConfiguration,
    WebhookClientConfig,
)
from kubeloop.wire.apiextensions.v1 import CustomResourceConversion
from kubeloop.wire.meta.v1 import ObjectMeta

from .admission import Operation

__all__ = ["WebhookRule", "WebhookTarget", "configurations", "conversion", "default_path"]


class WebhookRule(msgspec.Struct, frozen=True):
    """Which requests the webhook at a path reviews."""

    path: str
    info: ResourceInfo
    operations: tuple[Operation, ...]
    is_mutating: bool


class WebhookTarget(msgspec.Struct, frozen=True):
    """How the API server reaches the webhooks. Raises: InvalidArgument."""

    url: str = ""  # https://host:port
    service: ServiceReference | None = None
    ca: bytes | None = None  # PEM

    def __post_init__(self) -> None:
        if bool(self.url) == (self.service is not None):
            raise InvalidArgument("webhook target: give either a url or a service")

    def client_config(self, path: str) -> WebhookClientConfig:
        """How the server reaches one path."""
        if self.service is None:
            return WebhookClientConfig(url=f"{self.url.rstrip('/')}{path}", ca_bundle=self.ca)
        service = ServiceReference.from_dict({**self.service.to_dict(), "path": path})
        return WebhookClientConfig(service=service, ca_bundle=self.ca)


def configurations(
    name: str, rules: Iterable[WebhookRule], target: WebhookTarget
) -> list[MutatingWebhookConfiguration | ValidatingWebhookConfiguration]:
    """The configurations of both kinds that the rules need, both named `name`."""
    metadata = ObjectMeta(name=name)
    rules = tuple(rules)
    mutating = [
        MutatingWebhook(**_webhook_fields(rule, target)) for rule in rules if rule.is_mutating
    ]
    validating = [
        ValidatingWebhook(**_webhook_fields(rule, target)) for rule in rules if not rule.is_mutating
    ]
    created: list[MutatingWebhookConfiguration | ValidatingWebhookConfiguration] = []
    if mutating:
        created.append(MutatingWebhookConfiguration(metadata=metadata, webhooks=mutating))
    if validating:
        created.append(ValidatingWebhookConfiguration(metadata=metadata, webhooks=validating))
    return created


def conversion(path: str, target: WebhookTarget) -> CustomResourceConversion:
    """The part of a CRD that makes the server convert versions by a webhook."""
    webhook = {
        "clientConfig": target.client_config(path).to_dict(),
        "conversionReviewVersions": ["v1"],
    }
    return CustomResourceConversion.from_dict({"strategy": "Webhook", "webhook": webhook})


def default_path(verb: str, cls: type[Resource]) -> str:
    """`/validate-example-com-v1-website`, as in the manifests of kubebuilder."""
    info = resource_of(cls)
    group = info.group.replace(".", "-")
    return f"/{verb}-{group}-{info.version}-{info.kind.lower()}"


def _webhook_fields(rule: WebhookRule, target: WebhookTarget) -> dict[str, Any]:
    info = rule.info
    reviewed = RuleWithOperations(
        api_groups=[info.group],
        api_versions=[info.version],
        operations=list(rule.operations),
        resources=[info.plural],
    )
    # Unique, because paths are. The server requires a name of three parts.
    label = re.sub(r"[^a-z0-9]+", "-", rule.path.lower()).strip("-")
    return {
        "name": f"{label}.{info.plural}.{info.group or 'core'}",
        "client_config": target.client_config(rule.path),
        "rules": [reviewed],
        "admission_review_versions": ["v1"],
        "side_effects": "None",
        "failure_policy": "Fail",
    }
