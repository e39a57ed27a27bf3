"""`kubeloop label` and `kubeloop annotate`: changes labels and annotations.

Guarantees: a value that exists is not replaced without `--overwrite`; only the given keys are
sent.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click
import msgspec

from kubeloop.runtime import Client

from .failures import CommandFailed
from .flags import Flags, OptionalValueCommand, cluster_flags, pass_flags
from .outputs import Output
from .sources import (
    ObjectRef,
    Outcomes,
    Sources,
    object_flags,
    outcome_flags,
    run_on_objects,
    usage_error,
)
from .terminal import print_line

__all__ = ["annotate", "label"]

F = TypeVar("F", bound=Callable[..., Any])


class _Change(msgspec.Struct, frozen=True, kw_only=True):
    """What a command changes, and how it prints that."""

    field: str  # labels, annotations
    values: dict[str, str | None]  # None removes a key
    overwrite: bool
    resource_version: str
    is_listed: bool
    outcomes: Outcomes


def _change_flags(noun: str) -> Callable[[F], F]:
    def add(command: F) -> F:
        for flag in (
            outcome_flags,
            click.option("--list", "is_listed", is_flag=True, help=f"Print the {noun}s."),
            click.option(
                "--resource-version", default="", help="Only if the object has this version."
            ),
            click.option("--overwrite", is_flag=True, help="Replace values that exist."),
            object_flags("KIND NAME… | KIND/NAME… KEY=VALUE… KEY-…"),
        ):
            command = flag(command)
        return command

    return add


@click.command(cls=OptionalValueCommand)
@_change_flags("label")
@cluster_flags
@pass_flags
def label(flags: Flags, /, **options: Any) -> None:
    """Change the labels of objects; KEY- removes a label.

    \b
    Examples:
      kubeloop label pod web-1 tier=front
      kubeloop label pods -l app=web tier=back --overwrite
      kubeloop label node node-1 disk-
      kubeloop label deploy/web --list
    """
    _run(flags, "label", "labels", options)


@click.command(cls=OptionalValueCommand)
@_change_flags("annotation")
@cluster_flags
@pass_flags
def annotate(flags: Flags, /, **options: Any) -> None:
    """Change the annotations of objects; KEY- removes an annotation.

    \b
    Examples:
      kubeloop annotate deploy/web kubernetes.io/change-cause='nginx 1.29'
      kubeloop annotate pods --all checked=yes --overwrite
      kubeloop annotate cm settings note-
    """
    _run(flags, "annotate", "annotations", options)


def _run(flags: Flags, verb: str, field: str, options: dict[str, Any]) -> None:
    words, pairs = _split(options.pop("words"), field)
    output: Output | None = options.pop("output")
    change = _Change(
        field=field,
        values=_values(pairs, field),
        overwrite=options.pop("overwrite"),
        resource_version=options.pop("resource_version"),
        is_listed=options.pop("is_listed"),
        outcomes=Outcomes(output=output, dry_run=options.pop("dry_run")),
    )
    if not change.values and not change.is_listed:
        raise usage_error(f"at least one {field[:-1]} update is required")
    found: list[ObjectRef] = []

    def check(_: Client, refs: Sequence[ObjectRef]) -> None:
        if change.resource_version and len(refs) > 1:
            raise usage_error("--resource-version may only be used with a single resource")
        found.extend(refs)

    async def process(client: Client, ref: ObjectRef) -> None:
        await _change(client, ref, change, single=len(found) == 1)

    run_on_objects(flags, verb, Sources(words=words, **options), process, check=check)


def _split(words: Sequence[str], field: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The arguments that name objects, and those that are changes."""
    is_change = [word.endswith("-") or "=" in word[1:] for word in words]
    first = is_change.index(True) if True in is_change else len(words)
    if not all(is_change[first:]):
        wrong = words[first + is_change[first:].index(False)]
        raise usage_error(f"all resources must be specified before {field[:-1]} changes: {wrong}")
    return tuple(words[:first]), tuple(words[first:])


def _values(pairs: Sequence[str], field: str) -> dict[str, str | None]:
    values: dict[str, str | None] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        key = key if equals else key.removesuffix("-")
        if key in values:
            raise usage_error(f"more than one change of the {field[:-1]} {key!r}")
        values[key] = value if equals else None
    return values


async def _change(client: Client, ref: ObjectRef, change: _Change, *, single: bool) -> None:
    resource = ref.client(client)
    before = await resource.get(ref.name)
    old: dict[str, str] = before["metadata"].get(change.field) or {}
    _check_overwrite(old, change)
    after = before
    if any(old.get(key) != value for key, value in change.values.items()):
        metadata: dict[str, Any] = {change.field: change.values}
        if change.resource_version:
            metadata["resourceVersion"] = change.resource_version
        patch = {"metadata": metadata}
        if change.outcomes.dry_run == "client":
            from kubeloop.patches import apply_merge_patch

            after = apply_merge_patch(before, patch)
        else:
            is_dry = change.outcomes.is_server_dry_run
            after = await resource.patch(ref.name, patch, type="merge", dry_run=is_dry)
    new: dict[str, str] = after["metadata"].get(change.field) or {}
    if change.is_listed:
        _list(ref, change.field, new, single=single)
    else:
        change.outcomes.show(ref.info, after, _outcome(old, new, change))


def _check_overwrite(old: dict[str, str], change: _Change) -> None:
    """Raise CommandFailed for values that would be replaced without `--overwrite`."""
    replaced = [
        f"'{key}' already has a value ({old[key]})"
        for key, value in change.values.items()
        if value is not None and key in old and old[key] != value
    ]
    if not replaced or change.overwrite:
        return
    if change.field == "labels":
        raise CommandFailed(f"{replaced[0]}, and --overwrite is false")
    raise CommandFailed(
        "--overwrite is false but found the following declared annotation(s):"
        f" {'; '.join(replaced)}"
    )


def _outcome(old: dict[str, str], new: dict[str, str], change: _Change) -> str:
    """As kubectl: for labels, the length of the object decides whether some were removed."""
    if change.field == "annotations":
        return "annotated"
    for key, value in change.values.items():
        if value is None and key not in old:
            print_line(f'label "{key}" not found.')
    if old == new:
        return "not labeled"
    is_shorter = len(msgspec.json.encode(new)) < len(msgspec.json.encode(old))
    return "unlabeled" if is_shorter and not change.overwrite else "labeled"


def _list(ref: ObjectRef, field: str, values: dict[str, str], *, single: bool) -> None:
    indent = "" if single else " "
    if not single:
        print_line(f"Listing {field} for {ref.info.kind}.{ref.info.group}/{ref.name}:")
    for key, value in sorted(values.items()):
        print_line(f"{indent}{key}={value}")
