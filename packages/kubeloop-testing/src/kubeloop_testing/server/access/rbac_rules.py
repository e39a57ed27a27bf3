"""A policy rule: what it allows, and whether other rules cover it.

Guarantees: the comparisons are those of `component-helpers/auth/rbac/validation`, including
wildcards and subresources.
See also: `rbac` (rules of a user), `escalation` (granting rules).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import final

import msgspec

from kubeloop.wire import Json, JsonObject

from ..identity import Attributes, go_list

__all__ = ["EVERYTHING", "Rule", "compact", "uncovered"]


@final
class Rule(msgspec.Struct, frozen=True):
    """Verbs on resources of API groups, optionally by name, or on non-resource URLs."""

    verbs: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    resources: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    urls: tuple[str, ...] = ()

    @classmethod
    def of(cls, wire: Mapping[str, Json]) -> Rule:
        """The rule from its entry in a Role or ClusterRole."""
        keys = ("verbs", "apiGroups", "resources", "resourceNames", "nonResourceURLs")
        return cls(*(tuple(wire.get(key) or ()) for key in keys))

    def wire(self) -> JsonObject:
        """The entry in a role; empty lists are left out, except for the verbs."""
        fields = {
            "apiGroups": list(self.groups),
            "resources": list(self.resources),
            "resourceNames": list(self.names),
            "nonResourceURLs": list(self.urls),
        }
        return {
            "verbs": list(self.verbs),
            **{key: value for key, value in fields.items() if value},
        }

    def allows(self, attributes: Attributes) -> bool:
        # RuleAllows: all four fields must match, and resourceNames only if there are any.
        if not _has(self.verbs, attributes.verb):
            return False
        if not attributes.is_resource:
            return any(_url_covers(url, attributes.path) for url in self.urls)
        return (
            _has(self.groups, attributes.group)
            and _resource_matches(self.resources, attributes.full_resource)
            and (not self.names or attributes.name in self.names)
        )

    def covers(self, part: Rule) -> bool:
        """Whether this rule allows all that `part` does; `part` has one value per field."""
        # Covers: a rule without resourceNames covers all names, never the other way round.
        return (
            all(_has(self.verbs, each) for each in part.verbs)
            and all(_has(self.groups, each) for each in part.groups)
            and all(_resource_matches(self.resources, each) for each in part.resources)
            and all(any(_url_covers(own, each) for own in self.urls) for each in part.urls)
            and (not self.names or (bool(part.names) and set(part.names) <= set(self.names)))
        )

    def parts(self) -> Iterator[Rule]:
        """The rule as simple rules: one verb on one resource and name, or on one URL each."""
        # BreakdownRule.
        for group in self.groups:
            for resource in self.resources:
                for verb in self.verbs:
                    for name in self.names or ("",):
                        names = (name,) if name else ()
                        yield Rule((verb,), (group,), (resource,), names)
        for url in self.urls:
            for verb in self.verbs:
                yield Rule((verb,), urls=(url,))

    def __str__(self) -> str:
        fields = {
            "APIGroups": self.groups,
            "Resources": self.resources,
            "NonResourceURLs": self.urls,
            "ResourceNames": self.names,
            "Verbs": self.verbs,
        }
        return (
            "{" + ", ".join(f"{key}:{go_list(each)}" for key, each in fields.items() if each) + "}"
        )


# The rules of cluster-admin.
EVERYTHING = (Rule(("*",), ("*",), ("*",)), Rule(("*",), urls=("*",)))


def uncovered(owned: Sequence[Rule], requested: Iterable[Rule]) -> list[Rule]:
    """The parts of `requested` that no rule of `owned` covers."""
    return [
        part
        for rule in requested
        for part in rule.parts()
        if not any(own.covers(part) for own in owned)
    ]


def compact(rules: Iterable[Rule]) -> list[Rule]:
    """Rules for the same resource merged, as error messages show them (`CompactRules`)."""
    verbs: dict[Rule, list[str]] = {}
    rest = []
    for rule in rules:
        if rule.urls:
            rest.append(rule)
        else:
            without = Rule((), rule.groups, rule.resources, rule.names)
            verbs.setdefault(without, []).extend(rule.verbs)
    joined = [
        Rule(tuple(each), rule.groups, rule.resources, rule.names) for rule, each in verbs.items()
    ]
    return rest + joined


def _has(words: tuple[str, ...], word: str) -> bool:
    return "*" in words or word in words


def _resource_matches(resources: tuple[str, ...], resource: str) -> bool:
    """Whether a rule matches; `*/log` and `*` match `pods/log`, too."""
    subresource = resource.partition("/")[2]
    return _has(resources, resource) or bool(subresource and f"*/{subresource}" in resources)


def _url_covers(url: str, path: str) -> bool:
    # NonResourceURLMatches: a wildcard only at the end.
    return url == path or (url.endswith("*") and path.startswith(url.rstrip("*")))
