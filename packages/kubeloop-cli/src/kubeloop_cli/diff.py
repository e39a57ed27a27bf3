"""`kubeloop diff`: what an apply of manifests would change.

Guarantees: nothing is changed: the server applies the manifests in a dry run. Values of secrets
are not printed. The exit code is 0 without differences, 1 with some, and larger for an error.
"""

from __future__ import annotations

import difflib
import os
import shlex
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import click

from kubeloop.errors import InvalidArgument
from kubeloop.kit import run
from kubeloop.runtime import Client
from kubeloop.wire import dump_yaml

from .failures import ExitCode
from .flags import Flags, cluster_flags, connect, pass_flags
from .selection import manifest_flags
from .sources import (
    ObjectRef,
    Sources,
    in_manifests,
    process_each,
    read_manifests,
    with_sorted_keys,
)
from .terminal import print_content

__all__ = ["diff"]

Texts = dict[str, tuple[str, str]]  # the live and the merged text of an object, by its name

_DIFFERENT = 1
_ERROR = 2


@click.command()
@manifest_flags
@click.option(
    "--force-conflicts", is_flag=True, help="Take ownership of fields that other managers own."
)
@click.option(
    "--field-manager", default="kubeloop", show_default=True, help="The owner of the fields."
)
@cluster_flags
@pass_flags
def diff(flags: Flags, /, *, force_conflicts: bool, field_manager: str, **sources: Any) -> None:
    """Show what `kubeloop apply` would change; exits with 1 if there are differences.

    KUBECTL_EXTERNAL_DIFF is a program that gets two directories instead.

    \b
    Examples:
      kubeloop diff -f shop.yaml
      kubeloop diff -f manifests/ -R
      KUBECTL_EXTERNAL_DIFF='colordiff -N -u' kubeloop diff -k overlays/test
    """
    objects, code = read_manifests(flags, "diff", Sources(**sources))
    texts: Texts = {}

    async def main() -> ExitCode:
        async with connect(flags) as client:

            async def compare(obj: dict[str, Any]) -> None:
                ref = await in_manifests(client, flags, obj)
                name, pair = await _texts_of(
                    client, ref, obj, force=force_conflicts, field_manager=field_manager
                )
                texts[name] = pair

            return await process_each(flags, objects, compare)

    code = max(code, run(main()) if objects else code)
    external = os.environ.get("KUBECTL_EXTERNAL_DIFF", "")
    shown = _run_external(external, texts) if external else _print(texts)
    click.get_current_context().exit(max(code, _ERROR) if code else shown)


async def _texts_of(
    client: Client, ref: ObjectRef, obj: dict[str, Any], **options: Any
) -> tuple[str, tuple[str, str]]:
    resource = ref.client(client)
    live = await resource.get_or_none(ref.name)
    merged = await resource.apply(obj, dry_run=True, **options)
    info = ref.info
    parts = (info.group, info.version, info.kind, ref.namespace_in(client), ref.name)
    if (info.group, info.kind) == ("", "Secret"):
        _mask(live, merged)
    return ".".join(part for part in parts if part), (_text(live), _text(merged))


def _text(obj: dict[str, Any] | None) -> str:
    if obj is None:
        return ""
    obj["metadata"].pop("managedFields", None)
    return dump_yaml(with_sorted_keys(obj))


def _mask(live: dict[str, Any] | None, merged: dict[str, Any]) -> None:
    """Replace the values of a secret, such that a change of one can be seen."""
    before, after = (live or {}).get("data") or {}, merged.get("data") or {}
    for key in before.keys() | after.keys():
        is_changed = key in before and key in after and before[key] != after[key]
        for data, when in ((before, "before"), (after, "after")):
            if key in data:
                data[key] = f"*** ({when})" if is_changed else "***"


def _print(texts: Texts) -> int:
    different = False
    for name, (live, merged) in texts.items():
        lines = difflib.unified_diff(
            live.splitlines(keepends=True),
            merged.splitlines(keepends=True),
            f"LIVE/{name}",
            f"MERGED/{name}",
        )
        text = "".join(lines)
        if text:
            different = True
            print_content(text)
    return _DIFFERENT if different else 0


def _run_external(command: str, texts: Texts) -> int:
    """Run a program with two directories, and return its exit code."""
    words = shlex.split(command)
    with (
        tempfile.TemporaryDirectory(prefix="LIVE-") as live,
        tempfile.TemporaryDirectory(prefix="MERGED-") as merged,
    ):
        for name, pair in texts.items():
            if "/" in name or os.sep in name:
                raise InvalidArgument(f"diff {name}: not the name of a file")
            for folder, text in zip((live, merged), pair, strict=True):
                Path(folder, name).write_text(text, encoding="utf-8")
        try:
            done = subprocess.run([*words, live, merged], check=False)  # noqa: S603 - of the user
        except OSError as error:
            reason = error.strerror or error
            raise InvalidArgument(f"diff: failed to run {words[0]!r}: {reason}") from error
    return done.returncode
