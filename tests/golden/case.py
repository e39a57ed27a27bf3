"""What a golden case is, and what an area of them says."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple, TypeAlias

__all__ = ["Area", "Case", "Json"]

Json: TypeAlias = Any


class Case(NamedTuple):
    """One question: an operation of the Go program, and its input."""

    operation: str
    given: Json


class Area(NamedTuple):
    """The cases of one subject, and kubeloop's answer for each of their operations."""

    cases: Callable[[], Iterable[Case]]
    ours: Mapping[str, Callable[[Json], Json]]
