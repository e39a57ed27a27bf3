"""Caches of pure functions of specs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kubeloop_testing.server.kinds.rules.spec_cache import cached_by_content, cached_if_valid


def test_a_change_is_computed_once_for_equal_specs() -> None:
    asked: list[Any] = []

    @cached_by_content
    def change(spec: dict[str, Any]) -> dict[str, Any]:
        asked.append(spec)
        return {**spec, "filled": True}

    assert change({"a": 1}) == change({"a": 1}) == {"a": 1, "filled": True}
    assert change({"a": 2}) == {"a": 2, "filled": True}
    assert asked == [{"a": 1}, {"a": 2}]


def test_a_large_spec_is_not_cached() -> None:
    asked: list[Any] = []

    @cached_by_content
    def change(spec: dict[str, Any]) -> dict[str, Any]:
        asked.append(spec)
        return spec

    large = {"a": "x" * 20_000}

    assert change(large) is change(large) is large
    assert len(asked) == 2


def test_only_valid_specs_are_not_checked_again() -> None:
    asked: list[Any] = []

    @cached_if_valid
    def check(spec: dict[str, Any], path: str) -> Iterator[str]:
        asked.append(spec)
        if spec["bad"]:
            yield f"{path}: bad"

    assert list(check({"bad": False}, "spec")) == list(check({"bad": False}, "spec")) == []
    assert len(asked) == 1
    assert list(check({"bad": True}, "spec")) == ["spec: bad"]
    assert list(check({"bad": True}, "other")) == ["other: bad"]
