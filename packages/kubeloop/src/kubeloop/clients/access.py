"""What the user of a client may do: `kubectl auth can-i`.

Guarantees: the server decides; a namespace is sent for namespaced resources only, as in the
request that is asked about; rules are combined and ordered as by kubectl.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import msgspec

from kubeloop.errors import InvalidArgument
from kubeloop.wire import Kind, resource_of

from .cluster import Cluster
from .resource import ResourceClient

if TYPE_CHECKING:
    from kubeloop.wire.authorization.v1 import (
        SelfSubjectAccessReview,
        SelfSubjectRulesReview,
        SubjectRulesReviewStatus,
    )

__all__ = ["Access", "AccessRule", "AccessRules", "can_i", "combine_rules", "what_can_i"]


class Access(msgspec.Struct, frozen=True):
    """Whether something is allowed; true if it is."""

    allowed: bool
    reason: str = ""
    evaluation_error: str = ""

    def __bool__(self) -> bool:
        return self.allowed


class AccessRule(msgspec.Struct, frozen=True):
    """A row of `kubectl auth can-i --list`: the verbs for a resource, or for a URL."""

    verbs: tuple[str, ...]
    group: str = ""
    resource: str = ""
    name: str = ""  # only the object with this name
    url: str = ""

    @property
    def full_resource(self) -> str:
        """With its group and subresource: `deployments.apps/scale`."""
        name, slash, subresource = self.resource.partition("/")
        return f"{name}{f'.{self.group}' if self.group else ''}{slash}{subresource}"


class AccessRules(msgspec.Struct, frozen=True):
    """What is allowed in a namespace; `incomplete` if the server could not tell everything."""

    rules: tuple[AccessRule, ...]
    incomplete: bool = False
    evaluation_error: str = ""


async def can_i(
    cluster: Cluster,
    reviews: ResourceClient[SelfSubjectAccessReview],
    verb: str,
    what: type[Kind] | str,
    *,
    name: str,
    subresource: str,
    namespace: str | None,
) -> Access:
    """Ask the server with a SelfSubjectAccessReview."""
    from kubeloop.wire.authorization.v1 import (
        NonResourceAttributes,
        ResourceAttributes,
        SelfSubjectAccessReview,
        SelfSubjectAccessReviewSpec,
    )

    if isinstance(what, str) and what.startswith("/"):
        spec = SelfSubjectAccessReviewSpec(
            non_resource_attributes=NonResourceAttributes(path=what, verb=verb)
        )
    else:
        group, resource, namespaced = await _resource(cluster, what)
        where = cluster.namespace if namespace is None else namespace
        spec = SelfSubjectAccessReviewSpec(
            resource_attributes=ResourceAttributes(
                verb=verb,
                group=group,
                resource=resource,
                subresource=subresource,
                name=name,
                namespace=where if namespaced else "",
            )
        )
    status = (await reviews.create(SelfSubjectAccessReview(spec=spec))).status
    return Access(status.allowed, status.reason or "", status.evaluation_error or "")


async def _resource(cluster: Cluster, what: type[Kind] | str) -> tuple[str, str, bool]:
    """Group, plural and whether it is namespaced."""
    if not isinstance(what, str):
        info = resource_of(what)
        return info.group, info.plural, info.namespaced
    if "/" in what:
        raise InvalidArgument(
            f"can_i {what!r}: expected a resource, such as deployments.apps (use name= for an"
            " object, and subresource= for a subresource)"
        )
    from kubeloop.discovery import NoKindMatch, NoResourceMatch

    if what != "*":
        try:
            info = await cluster.mapper.find(what)
        except (NoKindMatch, NoResourceMatch):
            pass  # not served, such as `users` for `impersonate`: rules may name it all the same
        else:
            return info.group, info.plural, info.namespaced
    plural, _, group = what.partition(".")
    return group, plural, True


async def what_can_i(
    reviews: ResourceClient[SelfSubjectRulesReview], *, namespace: str
) -> AccessRules:
    """Ask the server with a SelfSubjectRulesReview."""
    from kubeloop.wire.authorization.v1 import SelfSubjectRulesReview, SelfSubjectRulesReviewSpec

    spec = SelfSubjectRulesReviewSpec(namespace=namespace)
    status = (await reviews.create(SelfSubjectRulesReview(spec=spec))).status
    return AccessRules(
        combine_rules(status), bool(status.incomplete), status.evaluation_error or ""
    )


def combine_rules(status: SubjectRulesReviewStatus) -> tuple[AccessRule, ...]:
    """One rule for each resource and name with all of its verbs; URLs have a rule per verb."""
    verbs: dict[tuple[str, str, str], list[str]] = {}
    for group, resource, name, verb in _single_rules(status):
        known = verbs.setdefault((group, resource, name), [])
        if verb not in known:
            known.append(verb)
    rules = [
        AccessRule(tuple(each), group, resource, name)
        for (group, resource, name), each in verbs.items()
    ]
    rules += [
        AccessRule((verb,), url=url)
        for rule in status.non_resource_rules
        for url in rule.non_resource_urls
        for verb in rule.verbs
    ]
    return tuple(sorted(rules, key=_go_text))


def _single_rules(status: SubjectRulesReviewStatus) -> Iterator[tuple[str, str, str, str]]:
    for rule in status.resource_rules:
        for group in rule.api_groups:
            for resource in rule.resources:
                for verb in rule.verbs:
                    for name in rule.resource_names or [""]:
                        yield group, resource, name, verb


def _go_text(rule: AccessRule) -> str:
    """The text by which kubectl orders rules: that of the Go struct."""

    def text(values: Sequence[str]) -> str:
        return f"[{' '.join(values)}]"

    is_url = bool(rule.url)
    return ",".join((
        f"Verbs:{text(rule.verbs)}",
        f"APIGroups:{text([] if is_url else [rule.group])}",
        f"Resources:{text([] if is_url else [rule.resource])}",
        f"ResourceNames:{text([rule.name] if rule.name else [])}",
        f"NonResourceURLs:{text([rule.url] if is_url else [])}",
    ))  # fmt: skip
