"""`kubeloop patch`: changes fields of objects with a patch.

Guarantees: the patch is parsed before the first request, and sent as it is.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import click

from kubeloop.errors import DecodeError, InvalidArgument
from kubeloop.runtime import Client
from kubeloop.wire import ResourceInfo, class_for, facts_of

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

__all__ = ["patch"]

Type = Literal["strategic", "merge", "json"]


@click.command(cls=OptionalValueCommand)
@object_flags("KIND NAME… | KIND/NAME…", select=False)
@click.option("-p", "--patch", "text", default="", help="The patch, as JSON or YAML.")
@click.option("--patch-file", default="", metavar="FILE", help="A file with the patch.")
@click.option(
    "--type",
    "patch_type",
    type=click.Choice(["strategic", "merge", "json"]),
    default="strategic",
    show_default=True,
    help="The type of the patch; strategic is for built-in kinds.",
)
@click.option("--subresource", default="", help="Patch this subresource: status, scale, resize.")
@outcome_flags
@cluster_flags
@pass_flags
def patch(
    flags: Flags,
    /,
    *,
    text: str,
    patch_file: str,
    patch_type: Type,
    subresource: str,
    output: Output | None,
    dry_run: Any,
    **sources: Any,
) -> None:
    """Change fields of objects with a patch.

    \b
    Examples:
      kubeloop patch deploy/web -p '{"spec": {"replicas": 3}}'
      kubeloop patch svc web --type=json -p '[{"op": "remove", "path": "/spec/externalIPs"}]'
      kubeloop patch website home --type=merge --patch-file change.yaml
      kubeloop patch deploy/web --subresource=scale --type=merge -p 'spec: {replicas: 3}'
    """
    if bool(text) == bool(patch_file):
        raise usage_error("must specify --patch or --patch-file containing the contents")
    change = _parse(text, patch_file)
    outcomes = Outcomes(output=output, dry_run=dry_run)

    async def process(client: Client, ref: ObjectRef) -> None:
        resource: Any = ref.client(client)
        if subresource:
            resource = resource.subresource(subresource)
        before = _as_dict(await resource.get(ref.name))
        if outcomes.dry_run == "client":
            after = _apply(before, change, patch_type)
        else:
            after = _as_dict(
                await resource.patch(
                    ref.name, change, type=patch_type, dry_run=outcomes.is_server_dry_run
                )
            )
        what = "patched (no change)" if before == after else "patched"
        outcomes.show(_info_of(after, ref.info), after, what)

    run_on_objects(flags, "patch", Sources(**sources), process)


def _as_dict(obj: Any) -> Any:
    return obj if isinstance(obj, dict) else obj.to_dict()  # a scale has a class of its own


def _parse(text: str, file: str) -> Any:
    from kubeloop.wire.yaml import load_documents

    if file:
        try:
            text = Path(file).read_text(encoding="utf-8")
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise InvalidArgument(f"patch: unable to read patch file {file}: {reason}") from error
    try:
        documents = list(load_documents(text, source=file or "--patch"))
    except DecodeError as error:
        raise InvalidArgument(f"patch: {error}") from error
    if len(documents) != 1 or not isinstance(documents[0], dict | list):
        raise InvalidArgument("patch: expected one object or list, as JSON or YAML")
    return documents[0]


def _apply(before: dict[str, Any], change: Any, patch_type: Type) -> dict[str, Any]:
    """The object with the patch, for a dry run without a request."""
    from kubeloop.patches import apply_json_patch, apply_merge_patch, apply_strategic_patch

    if patch_type == "json":
        after = apply_json_patch(before, change)
    elif patch_type == "merge":
        after = apply_merge_patch(before, change)
    else:
        group, _, version = str(before["apiVersion"]).rpartition("/")
        kind = class_for(group, version, str(before["kind"]))
        if kind is None:
            raise InvalidArgument(
                f"patch of type strategic: {before['kind']} is not a built-in kind"
                " (use --type=merge)"
            )
        after = apply_strategic_patch(before, change, facts_of(kind))
    if not isinstance(after, dict):
        raise InvalidArgument("patch: the result is not an object")
    return after


def _info_of(obj: dict[str, Any], info: ResourceInfo) -> ResourceInfo:
    """The kind that the server sent: a subresource such as scale has its own."""
    if obj.get("kind") in (info.kind, None):
        return info
    import msgspec

    group, _, version = str(obj["apiVersion"]).rpartition("/")
    kind = str(obj["kind"])
    return msgspec.structs.replace(
        info, group=group, version=version, kind=kind, singular=kind.lower()
    )
