"""Helpers of the tests of validation: the problems of an object of a built-in kind."""

from __future__ import annotations

from typing import Any

from kubeloop_testing.server.statuses import Cause
from tests.testing.server.kind_helpers import default, validate

Json = dict[str, Any]

CONTAINER: Json = {"name": "c", "image": "nginx"}
IMMUTABLE = "field is immutable"


def problems(
    group: str, kind: str, obj: Json, old: Json | None = None, *, subresource: str | None = None
) -> list[Cause]:
    defaulted = default(group, kind, {"metadata": {"name": "web", "namespace": "shop"}, **obj})
    before = None
    if old is not None:
        before = default(group, kind, {"metadata": {"name": "web", "namespace": "shop"}, **old})
    return validate(group, kind, defaulted, before, subresource=subresource)


def messages(found: list[Cause]) -> list[tuple[str, str]]:
    return [(each.field, each.message) for each in found]


def fields(found: list[Cause]) -> list[tuple[str, str]]:
    return [(each.field, each.reason.removeprefix("FieldValue")) for each in found]
