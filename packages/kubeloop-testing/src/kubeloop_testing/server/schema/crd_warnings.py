"""The warnings about a CustomResourceDefinition, and about the objects of its kind.

Guarantees: pure; an update warns only about what it adds, as in kube-apiserver; whatever this
server does not evaluate (CEL rules, conversion webhooks) is named in `not_evaluated`.
See also: who sends and logs them (`kinds.strategies`), what is rejected (`crd_validation`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from kubeloop.meta import problems_of_label_key

from .crd_rules import rules_of
from .crd_schemas import schema_of
from .schema_nodes import is_known_format

__all__ = ["not_evaluated", "warnings_of_crd", "warnings_of_finalizers"]

_MAX_PATHS: Final = 10  # a header is no place for hundreds


def warnings_of_crd(crd: Mapping[str, Any], old: Mapping[str, Any] | None) -> list[str]:
    """The warnings of kube-apiserver's strategy: unknown formats, and sets of objects."""
    before = [] if old is None else [*_formats(old), *_sets(old)]
    return [each for each in [*_formats(crd), *_sets(crd)] if each not in before]


def not_evaluated(crd: Mapping[str, Any]) -> Iterator[str]:
    """What a definition requests and this server ignores."""
    spec = crd.get("spec") or {}
    for version in spec.get("versions") or ():
        paths = [path or "the root" for path in rules_of(schema_of(version))]
        if paths:
            more = f" and {len(paths) - _MAX_PATHS} more" if len(paths) > _MAX_PATHS else ""
            yield (
                f"version {version.get('name')} has x-kubernetes-validations at "
                f"{', '.join(paths[:_MAX_PATHS])}{more}: this server does not evaluate CEL rules, "
                "objects that violate them are accepted"
            )
    if (spec.get("conversion") or {}).get("strategy") == "Webhook":
        yield (
            "spec.conversion.strategy is Webhook: this server does not call conversion webhooks, "
            "its versions differ in apiVersion and in the fields of their schemas only"
        )


def _schemas(crd: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The schemas of a definition; one that all versions share counts once."""
    versions = (crd.get("spec") or {}).get("versions") or ()
    found = [schema for each in versions if isinstance(schema := schema_of(each), Mapping)]
    yield from found[:1] if all(each == found[0] for each in found) else found


def _walk(schema: Any, visit: Callable[[Mapping[str, Any]], None]) -> None:
    if not isinstance(schema, Mapping):
        return
    visit(schema)
    for child in (schema.get("properties") or {}).values():
        _walk(child, visit)
    for word in ("items", "additionalProperties", "not"):
        _walk(schema.get(word), visit)
    for word in ("allOf", "anyOf", "oneOf"):
        for child in schema.get(word) or ():
            _walk(child, visit)


def _formats(crd: Mapping[str, Any]) -> list[str]:
    found: list[str] = []

    def visit(schema: Mapping[str, Any]) -> None:
        name = schema.get("format") or ""
        if name and not is_known_format(schema.get("type") or "", name):
            found.append(f'unrecognized format "{name}"')

    for schema in _schemas(crd):
        _walk(schema, visit)
    # A response has each warning once.
    return list(dict.fromkeys(found))


def _sets(crd: Mapping[str, Any]) -> list[str]:
    found: set[str] = set()

    def visit(schema: Mapping[str, Any]) -> None:
        items = schema.get("items")
        kind = items.get("type") if isinstance(items, Mapping) else ""
        if schema.get("x-kubernetes-list-type") == "set" and kind in {"object", "array"}:
            found.add(
                f'x-kubernetes-list-type: set for items of type "{kind}" is not supported by '
                "server-side apply or CEL validation rules"
            )

    for schema in _schemas(crd):
        _walk(schema, visit)
    return sorted(found)


def warnings_of_finalizers(new: Sequence[str], old: Sequence[str]) -> list[str]:
    """The warnings about the names of new finalizers of a custom object."""
    found: list[str] = []
    for name in sorted(set(new) - set(old)):
        problems = list(problems_of_label_key(name))
        if "/" not in name and name not in _STANDARD:
            problems.append("another writer may use this name, too; begin it with a domain and /")
        found += [f'metadata.finalizers: "{name}": {problem}' for problem in problems]
    return found


_STANDARD: Final = frozenset({"foregroundDeletion", "orphan", "kubernetes"})
