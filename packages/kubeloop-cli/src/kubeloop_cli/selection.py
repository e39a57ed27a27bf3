"""The flags that select objects, which several commands share.

See also: `sources` (the objects that they select, and those of manifests).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click
import msgspec

from kubeloop.clients import ALL_NAMESPACES

from .kinds import complete_kind

__all__ = [
    "Selection",
    "manifest_flags",
    "optional_targets_argument",
    "selection_flags",
    "targets_argument",
]

F = TypeVar("F", bound=Callable[..., Any])


class Selection(msgspec.Struct, frozen=True, kw_only=True):
    """One namespace or all, and the selectors that are sent to the server."""

    all_namespaces: bool = False
    selector: str = ""
    field_selector: str = ""

    @property
    def namespace(self) -> str | None:
        """The namespace for a client; None is the namespace of the flags."""
        return ALL_NAMESPACES if self.all_namespaces else None

    @property
    def has_selectors(self) -> bool:
        """Whether labels or fields select the objects."""
        return bool(self.selector or self.field_selector)


def selection_flags(command: F) -> F:
    """`-A`, `-l` and `--field-selector`, named as the fields of `Selection`."""
    for flag in (
        click.option(
            "--field-selector",
            default="",
            help="Select by fields, such as metadata.name=web.",
        ),
        click.option("-l", "--selector", default="", help="Select by labels, such as app=web."),
        click.option("-A", "--all-namespaces", is_flag=True, help="Use all namespaces."),
    ):
        command = flag(command)
    return command


def targets_argument(metavar: str) -> Callable[[F], F]:
    """The resource types and names that a command is for, as `words`."""
    return click.argument(
        "words", metavar=metavar, nargs=-1, required=True, shell_complete=complete_kind
    )


def optional_targets_argument(metavar: str) -> Callable[[F], F]:
    """As `targets_argument`, for a command that also takes manifests."""
    return click.argument("words", metavar=metavar, nargs=-1, shell_complete=complete_kind)


def manifest_flags(command: F) -> F:
    """`-f`, `-R` and `-k`, named as the fields of `sources.Sources`."""
    for flag in (
        click.option(
            "-k", "--kustomize", metavar="DIR", default="",
            help="A kustomization directory, built by kustomize or kubectl.",
        ),
        click.option(
            "-R", "--recursive", is_flag=True, help="Also read the directories below a directory."
        ),
        click.option(
            "-f", "--filename", "files", metavar="FILE|DIR|URL|-", multiple=True,
            help="A manifest, a directory of manifests, a URL, or - for stdin.",
        ),
    ):  # fmt: skip
        command = flag(command)
    return command
