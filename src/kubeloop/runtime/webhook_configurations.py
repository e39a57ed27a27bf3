"""What tells an API server to ask webhooks: configurations for it, and a definition's part.

Promises: plain values in, objects out; each webhook has a name of its own.
Elsewhere: answering (`webhook_server`).
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

__all__ = ["Rule", "Way", "configurations", "conversion", "default_path"]


class Rule(msgspec.Struct, frozen=True):
    """At which path what is asked."""

    path: str
    info: ResourceInfo
    operations: tuple[Operation, ...]
    changes: bool  # a mutating webhook


class Way(msgspec.Struct, frozen=True):
    """How the API server reaches the webhooks. Raises: InvalidArgument."""

    url: str = ""  # https://host:port
    service: ServiceReference | None = None
    ca: bytes | None = None  # PEM

    def __post_init__(self) -> None:
        if bool(self.url) == (self.service is not None):
            raise InvalidArgument("reach webhooks: give a url or a service, one of them")

    def to(self, path: str) -> WebhookClientConfig:
        """The way to one path."""
        if self.service is None:
            return WebhookClientConfig(url=f"{self.url.rstrip('/')}{path}", ca_bundle=self.ca)
        there = ServiceReference.from_dict({**self.service.to_dict(), "path": path})
        return WebhookClientConfig(service=there, ca_bundle=self.ca)


def configurations(
    name: str, rules: Iterable[Rule], way: Way
) -> list[MutatingWebhookConfiguration | ValidatingWebhookConfiguration]:
    """One configuration of each kind that is needed, both called `name`."""
    metadata = ObjectMeta(name=name)
    every = tuple(rules)
    mutating = [MutatingWebhook(**_said(rule, way)) for rule in every if rule.changes]
    validating = [ValidatingWebhook(**_said(rule, way)) for rule in every if not rule.changes]
    found: list[MutatingWebhookConfiguration | ValidatingWebhookConfiguration] = []
    if mutating:
        found.append(MutatingWebhookConfiguration(metadata=metadata, webhooks=mutating))
    if validating:
        found.append(ValidatingWebhookConfiguration(metadata=metadata, webhooks=validating))
    return found


def conversion(path: str, way: Way) -> CustomResourceConversion:
    """The part of a definition that has versions converted."""
    webhook = {"clientConfig": way.to(path).to_dict(), "conversionReviewVersions": ["v1"]}
    return CustomResourceConversion.from_dict({"strategy": "Webhook", "webhook": webhook})


def default_path(verb: str, cls: type[Resource]) -> str:
    """`/validate-example-com-v1-website`, as kubebuilder's manifests have it."""
    info = resource_of(cls)
    group = info.group.replace(".", "-")
    return f"/{verb}-{group}-{info.version}-{info.kind.lower()}"


def _said(rule: Rule, way: Way) -> dict[str, Any]:
    info = rule.info
    concerned = RuleWithOperations(
        api_groups=[info.group],
        api_versions=[info.version],
        operations=list(rule.operations),
        resources=[info.plural],
    )
    # Paths differ, so names do; dots make three parts of it, which the server wants.
    label = re.sub(r"[^a-z0-9]+", "-", rule.path.lower()).strip("-")
    return {
        "name": f"{label}.{info.plural}.{info.group or 'core'}",
        "client_config": way.to(rule.path),
        "rules": [concerned],
        "admission_review_versions": ["v1"],
        "side_effects": "None",
        "failure_policy": "Fail",
    }
