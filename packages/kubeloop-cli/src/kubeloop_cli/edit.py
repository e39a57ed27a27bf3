"""`kubeloop edit`: opens objects in an editor, and sends the difference.

Guarantees: changes that other writers make to other fields meanwhile survive; a change of the
same field is a conflict that names it. A document that cannot be parsed or is rejected is opened
again with the error. Whatever was typed and could not be stored is kept in a file.
See also: `ResourceClient.edit` (how changes are merged).
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, final

import click

from kubeloop.errors import BadRequest, DecodeError, Forbidden, Invalid, InvalidArgument, KubeError
from kubeloop.runtime import Client
from kubeloop.wire import dump_yaml

from .failures import CommandFailed, message
from .flags import Flags, cluster_flags, pass_flags
from .kinds import resource_name
from .outputs import Output, OutputType
from .sources import ObjectRef, Outcomes, Sources, object_flags, run_on_objects, with_sorted_keys
from .terminal import print_line

__all__ = ["edit"]

_HEADER = """\
# Please edit the object below. Lines beginning with a '#' will be ignored,
# and an empty file will abort the edit. If an error occurs while saving this file will be
# reopened with the relevant failures.
#
"""


@click.command()
@object_flags("KIND NAME… | KIND/NAME…", select=False)
@click.option(
    "-o", "--output", type=OutputType("json", "yaml", "name", "jsonpath"),
    help="Print the object as json, yaml, name or jsonpath=TEMPLATE.",
)  # fmt: skip
@cluster_flags
@pass_flags
def edit(flags: Flags, /, *, output: Output | None, **sources: Any) -> None:
    """Edit objects in an editor: KUBE_EDITOR, EDITOR, or vi.

    Only what you change is sent. A document with an error is opened again.

    \b
    Examples:
      kubeloop edit deploy/web
      KUBE_EDITOR='code --wait' kubeloop edit cm settings -n shop
    """
    outcomes = Outcomes(output=output)

    async def process(client: Client, ref: ObjectRef) -> None:
        with _EditorFile(ref) as file:
            await _edit(client, ref, file, outcomes)

    run_on_objects(flags, "edit", Sources(**sources), process)


async def _edit(client: Client, ref: ObjectRef, file: _EditorFile, outcomes: Outcomes) -> None:
    resource = ref.client(client)
    first_version = ""
    while True:
        try:
            async with resource.edit(ref.name) as obj:
                version = str(obj["metadata"].get("resourceVersion"))
                if first_version and version != first_version:
                    raise CommandFailed(
                        f"edit {ref}: it was changed while you corrected the text (edit it again)"
                    )
                if not first_version:
                    first_version = version
                    file.start(obj)
                edited = file.edit(obj)
                if edited is None:
                    print_line("Edit cancelled, no changes made.", err=True)
                    return
                obj.clear()
                obj.update(edited)
        except (BadRequest, Forbidden, Invalid, InvalidArgument) as error:
            file.reject(error)
        else:
            file.is_stored = True
            outcomes.show(ref.info, obj, "edited")
            return


@final
class _EditorFile:
    """The file that the editor opens. It is kept if the block fails after a change."""

    def __init__(self, ref: ObjectRef) -> None:
        self._ref = ref
        self._path = Path()
        self._content = ""  # that the editor opened first, without comments
        self._rejected: str | None = None  # the last content that was rejected, with its error
        self._error: KubeError | None = None
        self.is_stored = False

    def __enter__(self) -> _EditorFile:
        handle, name = tempfile.mkstemp(prefix="kubeloop-edit-", suffix=".yaml")
        os.close(handle)
        self._path = Path(name)
        return self

    def __exit__(self, *_: object) -> None:
        if self.is_stored or self._read() in (self._content, ""):
            self._path.unlink(missing_ok=True)
        else:
            print_line(f'A copy of your changes has been stored to "{self._path}"', err=True)

    def start(self, obj: dict[str, Any]) -> None:
        """Write the object."""
        metadata = {key: value for key, value in obj["metadata"].items() if key != "managedFields"}
        self._content = dump_yaml(with_sorted_keys({**obj, "metadata": metadata}))
        self._path.write_text(_HEADER + self._content, encoding="utf-8")

    def edit(self, obj: dict[str, Any]) -> dict[str, Any] | None:
        """Open the editor; returns the new object, None if there is nothing to store.

        Raises: InvalidArgument if the text is not the same object with other fields.
        """
        if self._error is not None:
            lines = message(self._error).splitlines()
            what = f'# {resource_name(self._ref.info)} "{self._ref.name}" was not valid:\n'
            comment = what + "".join(f"# * {line}\n" for line in lines) + "#\n"
            self._path.write_text(_HEADER + comment + self._read(), encoding="utf-8")
        self._run_editor()
        text = self._read()
        if text == self._content:
            return None
        if text == self._rejected and self._error is not None:
            raise CommandFailed(
                f"edit {self._ref}: Edit cancelled, no valid changes were saved:"
                f" {message(self._error)}"
            ) from self._error
        self._rejected = text
        if not text.strip():
            return None
        return _parse(self._path.read_text(encoding="utf-8"), obj)

    def reject(self, error: KubeError) -> None:
        """Open the same text again, with the error as a comment."""
        self._error = error

    def _read(self) -> str:
        """The text without comments."""
        lines = self._path.read_text(encoding="utf-8").splitlines(keepends=True)
        return "".join(line for line in lines if not line.startswith("#"))

    def _run_editor(self) -> None:
        default = "notepad" if sys.platform == "win32" else "vi"
        editor = os.environ.get("KUBE_EDITOR") or os.environ.get("EDITOR") or default
        try:
            command = [*shlex.split(editor), str(self._path)]
            done = subprocess.run(command, check=False)  # noqa: S603 - of the user
        except (OSError, ValueError) as error:
            raise CommandFailed(
                f'edit {self._ref}: unable to launch the editor "{editor}" (set KUBE_EDITOR)'
            ) from error
        if done.returncode:
            raise CommandFailed(
                f'edit {self._ref}: there was a problem with the editor "{editor}": exit code'
                f" {done.returncode}"
            )


def _parse(text: str, before: dict[str, Any]) -> dict[str, Any]:
    from kubeloop.wire.yaml import load_documents

    try:
        documents = load_documents(text)
    except DecodeError as error:
        raise InvalidArgument(str(error)) from error
    if len(documents) != 1 or not isinstance(documents[0], dict):
        raise InvalidArgument("expected one object")
    obj = documents[0]
    if _identity(obj) != _identity(before):
        raise InvalidArgument("At least one of apiVersion, kind and name was changed")
    return obj


def _identity(obj: dict[str, Any]) -> tuple[Any, ...]:
    metadata = obj.get("metadata")
    if not isinstance(metadata, dict):
        raise InvalidArgument("metadata must be an object")
    return obj.get("apiVersion"), obj.get("kind"), metadata.get("name"), metadata.get("namespace")
