"""Which objects of a kind are meant: the flags that `get` and `watch` share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click
import msgspec

from kubeloop.clients import ALL_NAMESPACES

from .kinds import complete_kind

__all__ = ["Selection", "selection_flags", "wanted_argument"]

F = TypeVar("F", bound=Callable[..., Any])


class Selection(msgspec.Struct, frozen=True, kw_only=True):
    """One namespace or all, and the selectors that the server is given."""

    everywhere: bool = False
    labels: str = ""
    fields: str = ""

    @property
    def namespace(self) -> str | None:
        """As clients take it: None is the namespace of the flags."""
        return ALL_NAMESPACES if self.everywhere else None

    @property
    def is_narrow(self) -> bool:
        """Whether only some objects are selected."""
        return bool(self.labels or self.fields)


def selection_flags(command: F) -> F:
    """`-A`, `-l` and `--field-selector`, as `everywhere`, `labels` and `fields`."""
    for flag in (
        click.option("--field-selector", "fields", default="", help="Only with these fields."),
        click.option(
            "-l", "--selector", "labels", default="", help="Only with these labels: app=web."
        ),
        click.option(
            "-A", "--all-namespaces", "everywhere", is_flag=True, help="In all namespaces."
        ),
    ):
        command = flag(command)
    return command


def wanted_argument(metavar: str) -> Callable[[F], F]:
    """The kinds and names that a command is about, as `wanted`."""
    return click.argument(
        "wanted", metavar=metavar, nargs=-1, required=True, shell_complete=complete_kind
    )
