"""Copies files between this machine and containers, as tar streams through `exec`.

Guarantees: memory does not grow with the size of a copy; files are read and written in threads;
a copy that fails says what is complete. A cancelled copy leaves the files that were complete.
See also: `archives` (tar), `process` (exec).
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import posixpath
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from kubeloop.errors import ApiError, InvalidArgument, KubeError, TransportError
from kubeloop.kit import TaskOwner

from .archives import ArchiveReader, ArchiveWriter
from .commands import exec_command
from .pods import PodAccess
from .process import Process, ProcessOutput

__all__ = ["CopyFailed", "CopyProgress", "copy_from", "copy_to"]

_BATCH = 1024 * 1024  # bytes for one call in a thread
_TAIL = 4096  # bytes of stderr for errors


class CopyProgress(msgspec.Struct, frozen=True):
    """What was copied so far."""

    files: int  # complete ones
    size: int  # bytes of content
    path: str = ""  # the last file, on this machine


class CopyFailed(KubeError):
    """A copy is not complete; `progress` says how much of it is."""

    def __init__(self, message: str, progress: CopyProgress) -> None:
        super().__init__(message)
        self.progress = progress


ProgressHandler = Callable[[CopyProgress], object]


async def copy_to(
    access: PodAccess,
    target: str,
    source: str | os.PathLike[str],
    destination: str,
    *,
    container: str,
    progress: ProgressHandler | None,
) -> CopyProgress:
    """See `PodClient.copy_to`."""
    local = Path(source)
    what = f"copy {local} to {target}:{destination}"
    own_name, exists = await asyncio.to_thread(_look_up, local)
    if not exists:
        raise InvalidArgument(f"{what}: {local} does not exist")
    folder, name = _split(destination, own_name)
    writer = ArchiveWriter(local, name)
    # The folder of the target must exist; modes are kept.
    command = ["tar", "-xpf", "-", "-C", folder]
    try:
        async with exec_command(
            access, target, command, container=container, stdin=True
        ) as process:
            process.stdin.check_close()
            async with TaskOwner() as tasks:
                tasks.spawn(_send(process, writer, progress), name=what)
                _, stderr = await process.collect(_BATCH)
            code = await process.wait()
    except (OSError, InvalidArgument) as error:
        raise _failed(what, str(error), writer, "sent") from error
    except (ApiError, TransportError) as error:
        raise _failed(what, error.summary, writer, "sent", _hint(error)) from error
    if code:
        text = stderr[-_TAIL:].decode(errors="replace").strip()
        raise _failed(what, f"tar failed with exit code {code}: {text}", writer, "sent")
    return _report(writer, progress)


def _look_up(local: Path) -> tuple[str, bool]:
    return local.absolute().name or "root", os.path.lexists(local)


async def _send(process: Process, writer: ArchiveWriter, progress: ProgressHandler | None) -> None:
    chunks = writer.chunks()
    try:
        while batch := await asyncio.to_thread(_next_batch, chunks):
            await process.stdin.write(batch)
            _report(writer, progress)
        await process.stdin.close()
    except TransportError:
        return  # the task that receives reports it, or the exit code of tar


def _next_batch(chunks: Iterator[bytes]) -> bytes:
    parts, size = [], 0
    for chunk in chunks:
        parts.append(chunk)
        size += len(chunk)
        if size >= _BATCH:
            break
    return b"".join(parts)


async def copy_from(
    access: PodAccess,
    target: str,
    source: str,
    destination: str | os.PathLike[str],
    *,
    container: str,
    progress: ProgressHandler | None,
) -> CopyProgress:
    """See `PodClient.copy_from`."""
    what = f"copy {target}:{source} to {os.fspath(destination)}"
    if not source:
        raise InvalidArgument(f"{what}: the path in the container is empty")
    folder, name = posixpath.split(posixpath.normpath(source))
    name = name or "."
    local = Path(destination)
    if os.fspath(destination).endswith(("/", os.sep)):
        local /= name
    # `./` so that a name like `-x` is no option.
    command = ["tar", "-cf", "-", "-C", folder or ".", f"./{name}"]
    reader = ArchiveReader(local, name)
    stderr: list[bytes] = []
    try:
        try:
            async with exec_command(access, target, command, container=container) as process:
                async with TaskOwner() as tasks:
                    tail = _keep_tail(process.stderr, stderr)
                    errors = tasks.spawn(tail, name=f"stderr of {what}")
                    await _receive(process, reader, progress)
                    await errors
                code = await process.wait()
        finally:
            await asyncio.to_thread(reader.close)
    except KubeError as error:
        raise _failed(what, error.summary, reader, "complete", _hint(error)) from error
    if code or not reader.is_complete:
        text = b"".join(stderr).decode(errors="replace").strip()
        why = f"tar failed with exit code {code}: {text}" if code else "the archive is not complete"
        raise _failed(what, why, reader, "complete")
    return _report(reader, progress)


async def _receive(
    process: Process, reader: ArchiveReader, progress: ProgressHandler | None
) -> None:
    parts: list[bytes] = []
    size = 0
    async for chunk in process.stdout:
        parts.append(chunk)
        size += len(chunk)
        if size >= _BATCH:
            await asyncio.to_thread(reader.feed, b"".join(parts))
            parts, size = [], 0
            _report(reader, progress)
    await asyncio.to_thread(reader.feed, b"".join(parts))


async def _keep_tail(output: ProcessOutput, kept: list[bytes]) -> None:
    with contextlib.suppress(TransportError):  # which the task that reads stdout reports
        async for chunk in output:
            kept[:] = [b"".join((*kept, chunk))[-_TAIL:]]


def _split(path: str, name: str) -> tuple[str, str]:
    """The folder and the name of a path in a container; after a slash the name is kept."""
    if not path:
        raise InvalidArgument("copy: the path in the container is empty")
    if path.endswith("/"):
        return path, name
    folder, last = posixpath.split(path)
    if last in {".", ".."}:
        return path, name
    return folder or ".", last


def _report(
    source: ArchiveReader | ArchiveWriter, progress: ProgressHandler | None
) -> CopyProgress:
    found = CopyProgress(source.files, source.size, source.path)
    if progress is not None:
        progress(found)
    return found


def _failed(
    what: str, why: str, source: ArchiveReader | ArchiveWriter, state: str, hint: str = ""
) -> CopyFailed:
    found = CopyProgress(source.files, source.size, source.path)
    done = f"{found.files} files and {found.size} bytes are {state}"
    return CopyFailed(f"{what}: {why}; {done}", found).with_hint(hint)


def _hint(error: KubeError) -> str:
    return "the container needs the program tar" if "executable file" in str(error) else ""
