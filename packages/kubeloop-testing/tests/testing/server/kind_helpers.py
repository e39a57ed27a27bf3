"""The steps of a write by the names of a built-in kind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kubeloop_testing.server.kinds import strategies
from kubeloop_testing.server.kinds.core.allocation import Reservation
from kubeloop_testing.server.kinds.registry import kind_of
from kubeloop_testing.server.statuses import Cause

__all__ = ["default", "prepare_for_create", "prepare_for_update", "validate", "warnings_of"]


def default(group: str, kind: str, obj: dict[str, Any]) -> dict[str, Any]:
    return strategies.default(kind_of(group, kind), obj)


def prepare_for_create(
    group: str, kind: str, obj: dict[str, Any], reservation: Reservation
) -> dict[str, Any]:
    strategy = kind_of(group, kind)
    obj = strategies.prepare_for_create(strategy, obj)
    return obj if strategy.allocate_new is None else strategy.allocate_new(obj, reservation)


def prepare_for_update(
    group: str, kind: str, new: dict[str, Any], old: dict[str, Any]
) -> dict[str, Any]:
    prepare = kind_of(group, kind).prepare_update
    return new if prepare is None else prepare(new, old)


def validate(
    group: str,
    kind: str,
    obj: Mapping[str, Any],
    old: Mapping[str, Any] | None = None,
    *,
    subresource: str | None = None,
) -> list[Cause]:
    return strategies.validate(kind_of(group, kind), obj, old, subresource=subresource)


def warnings_of(
    group: str,
    kind: str,
    obj: Mapping[str, Any],
    old: Mapping[str, Any] | None,
    *,
    subresource: str = "",
) -> list[str]:
    return strategies.warnings_of(kind_of(group, kind), obj, old, subresource=subresource)
