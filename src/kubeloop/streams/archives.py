"""Tar archives of files on this machine: written and read piece by piece.

Guarantees: memory does not grow with files or archives; modes, times and symbolic links are kept.
Reading writes nothing outside of the target: a path with `..`, an absolute path, a link that
leads outside and a device are an `UnsafeArchive`, and existing links that lead outside are not
followed. A file appears under its name only when it is complete.
See also: `copy` (archives from and to containers).
"""

from __future__ import annotations

import contextlib
import os
import stat
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import final

from kubeloop.errors import InvalidArgument, KubeError

__all__ = ["ArchiveReader", "ArchiveWriter", "UnsafeArchive"]

_BLOCK = tarfile.BLOCKSIZE
_PIECE = 256 * 1024
_MAX_HEADER = 1024 * 1024  # bytes of a pax header or a long name
_ENCODING = ("utf-8", "surrogateescape")
_ON_DESCRIPTORS = os.chmod in os.supports_fd and os.utime in os.supports_fd
_DATA_TYPES = (tarfile.REGTYPE, tarfile.AREGTYPE, tarfile.CONTTYPE)


class UnsafeArchive(KubeError):
    """An archive of a container has a path, a link or a device that is not written."""


@final
class ArchiveWriter:
    """Creates the archive of a file or a folder, whose first path is `name`."""

    def __init__(self, source: Path, name: str) -> None:
        self._source = source
        self._name = name
        self.files = 0  # complete in the archive
        self.size = 0  # bytes of content
        self.path = ""  # the last file

    def chunks(self) -> Iterator[bytes]:
        """The archive. Raises: OSError, InvalidArgument for what cannot be copied."""
        yield from self._entry(self._source, self._name)
        yield bytes(2 * _BLOCK)

    def _entry(self, source: Path, name: str) -> Iterator[bytes]:
        status = source.lstat()
        self.path = str(source)
        member = tarfile.TarInfo(name)
        member.mode, member.mtime = stat.S_IMODE(status.st_mode), int(status.st_mtime)
        if stat.S_ISREG(status.st_mode):
            yield from self._file(source, member)
        elif stat.S_ISLNK(status.st_mode):
            member.type, member.linkname = tarfile.SYMTYPE, os.fspath(source.readlink())
            yield _header(member)
        elif stat.S_ISDIR(status.st_mode):
            member.type = tarfile.DIRTYPE
            yield _header(member)
            for each in sorted(os.listdir(source)):  # noqa: PTH208 - names, not paths
                yield from self._entry(source / each, f"{name}/{each}")
            return
        else:
            raise InvalidArgument(f"{source}: neither a file nor a folder nor a link")
        self.files += 1

    def _file(self, source: Path, member: tarfile.TarInfo) -> Iterator[bytes]:
        with source.open("rb") as file:
            member.size = left = os.fstat(file.fileno()).st_size
            yield _header(member)
            while left:
                piece = file.read(min(left, _PIECE))
                if not piece:
                    raise InvalidArgument(f"{source}: it became shorter while it was copied")
                left -= len(piece)
                self.size += len(piece)
                yield piece
        yield bytes(-member.size % _BLOCK)


def _header(member: tarfile.TarInfo) -> bytes:
    return member.tobuf(tarfile.PAX_FORMAT, *_ENCODING)


@final
class ArchiveReader:
    """Writes an archive to `target`, as its bytes arrive.

    `name` is the first path of the archive, which becomes `target` itself.
    """

    def __init__(self, target: Path, name: str) -> None:
        self._target = target
        self._name = name
        self._unread = b""  # less than a header
        self._file: _PartialFile | None = None  # that is being written
        self._padding = 0  # bytes after the content of a file
        self._extended: tuple[bytes, int] | None = None  # a header that describes the next one
        self._overrides: dict[str, str] = {}
        self._folders: list[tuple[Path, int, float]] = []  # to set their modes at the end
        self._real_folders: dict[Path, Path] = {}
        self.is_complete = False  # the end of the archive was received
        self.files = 0
        self.size = 0
        self.path = ""

    def feed(self, data: bytes) -> None:
        """Write what the data completes. Raises: OSError, UnsafeArchive, InvalidArgument."""
        view = memoryview(self._unread + data)
        at = 0
        while not self.is_complete:
            used = self._step(view[at:])
            if not used:
                break
            at += used
        self._unread = b"" if self.is_complete else bytes(view[at:])

    def close(self) -> None:
        """Set the modes of folders, and remove a file that is not complete."""
        if self._file is not None:
            self._file.discard()
            self._file = None
        for path, mode, mtime in reversed(self._folders):
            with contextlib.suppress(FileNotFoundError):
                path.chmod(mode)
                os.utime(path, (mtime, mtime))
        self._folders.clear()

    def _step(self, view: memoryview) -> int:
        """Process the start of the data; returns how many bytes were used."""
        if self._file is not None:
            piece = view[: self._file.left]
            self._file.write(piece)
            self.size += len(piece)
            if not self._file.left:
                self._file.finish()
                self._file = None
                self.files += 1
            return len(piece)
        if self._padding:
            used = min(self._padding, len(view))
            self._padding -= used
            return used
        if self._extended is not None:
            return self._read_extended(*self._extended, view)
        if len(view) < _BLOCK:
            return 0
        self._read_header(bytes(view[:_BLOCK]))
        return _BLOCK

    def _read_extended(self, kind: bytes, size: int, view: memoryview) -> int:
        if len(view) < size:
            return 0
        content = bytes(view[:size])
        if kind == tarfile.GNUTYPE_LONGNAME:
            self._overrides["path"] = content.rstrip(b"\0").decode(*_ENCODING)
        elif kind == tarfile.GNUTYPE_LONGLINK:
            self._overrides["linkpath"] = content.rstrip(b"\0").decode(*_ENCODING)
        elif kind == tarfile.XHDTYPE:
            self._overrides |= _pax_records(content)
        self._extended = None
        self._padding = -size % _BLOCK
        return size

    def _read_header(self, block: bytes) -> None:
        if not any(block):
            self.is_complete = True
            return
        try:
            member = tarfile.TarInfo.frombuf(block, *_ENCODING)
        except tarfile.TarError as error:
            raise InvalidArgument(f"the output of tar is not an archive: {error}") from error
        if member.type in {
            tarfile.GNUTYPE_LONGNAME,
            tarfile.GNUTYPE_LONGLINK,
            tarfile.XHDTYPE,
            tarfile.XGLTYPE,
        }:
            if member.size > _MAX_HEADER:
                raise InvalidArgument(f"a header of the archive has {member.size} bytes")
            self._extended = (member.type, member.size)
            return
        overrides, self._overrides = self._overrides, {}
        member.name = overrides.get("path", member.name)
        member.linkname = overrides.get("linkpath", member.linkname)
        if "size" in overrides:
            member.size = int(overrides["size"])
        if "mtime" in overrides:
            member.mtime = float(overrides["mtime"])
        if any(key.startswith("GNU.sparse") for key in overrides):
            raise UnsafeArchive(f"{member.name}: a sparse file is not supported")
        self._write_member(member)

    # --- files

    def _write_member(self, member: tarfile.TarInfo) -> None:
        path = self._path_of(member.name)
        self.path = str(path)
        mode = member.mode & 0o777  # no set-user-id of another machine
        if member.isdir():
            # A link to a folder is replaced, unless it is the target that the caller named.
            if not path.is_dir() or (path.is_symlink() and path != self._target):
                self._remove(path)
                path.mkdir(0o700)
            else:
                path.chmod(0o700 | mode)
            self._folders.append((path, mode, member.mtime))
            return
        if member.type in _DATA_TYPES:
            self._file = _PartialFile(path, member.size, mode, member.mtime)
            self._padding = -member.size % _BLOCK
            if not member.size:
                self._file.finish()
                self._file = None
                self.files += 1
            return
        if member.issym():
            self._check_link(path, member)
            self._remove(path)
            path.symlink_to(member.linkname)
            self._real_folders.clear()
        elif member.islnk():
            source = self._path_of(member.linkname)
            if source.is_symlink() or not source.is_file():
                raise UnsafeArchive(f"{member.name}: a link to {member.linkname}, which is no file")
            self._remove(path)
            os.link(source, path, follow_symlinks=False)
        else:
            raise UnsafeArchive(f"{member.name}: neither a file nor a folder nor a link")
        self.files += 1

    def _path_of(self, name: str) -> Path:
        """Where a path of the archive is written. Raises: UnsafeArchive."""
        parts = [part for part in name.split("/") if part not in {"", "."}]
        first = [] if self._name == "." else [self._name]
        if name.startswith("/") or ".." in parts or parts[: len(first)] != first or "\0" in name:
            raise UnsafeArchive(f"{name!r}: a path that is not below {self._name}")
        below = parts[len(first) :]
        path = self._target.joinpath(*below)
        if below:
            self._real_folder(path.parent, name)
        return path

    def _real_folder(self, folder: Path, name: str) -> Path:
        """The folder without links; it must be in the target. Raises: UnsafeArchive."""
        found = self._real_folders.get(folder)
        if found is None:
            root = Path(os.path.realpath(self._target))
            found = Path(os.path.realpath(folder))
            if found != root and root not in found.parents:
                raise UnsafeArchive(f"{name!r}: its folder is a link that leads out of the target")
            self._real_folders[folder] = found
        return found

    def _check_link(self, path: Path, member: tarfile.TarInfo) -> None:
        target = member.linkname
        parts = [part for part in target.split("/") if part not in {"", "."}]
        ups = next((index for index, part in enumerate(parts) if part != ".."), len(parts))
        depth = -1
        if path != self._target:
            real = self._real_folder(path.parent, member.name)
            depth = len(real.relative_to(os.path.realpath(self._target)).parts)
        # `..` after a folder could pass through another link.
        if not target or target.startswith("/") or ups > depth or ".." in parts[ups:]:
            raise UnsafeArchive(f"{member.name}: a link to {target!r}, outside of the target")

    def _remove(self, path: Path) -> None:
        """Remove a file or a link; a folder that is in the way must be empty."""
        if path.is_dir() and not path.is_symlink():
            path.rmdir()
        path.unlink(missing_ok=True)


@final
class _PartialFile:
    """A file that is written under another name until it is complete.

    Few system calls, on the descriptor: small files are most of the time of a copy.
    """

    def __init__(self, path: Path, size: int, mode: int, mtime: float) -> None:
        self.left = size
        self._path = os.fspath(path)
        self._mode = mode
        self._mtime = mtime
        folder, name = os.path.split(self._path)
        # Strings: a path object costs as much as a system call.
        self._partial = os.path.join(folder, f".{name[:200]}.{os.getpid()}.part")  # noqa: PTH118
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
        flags |= getattr(os, "O_BINARY", 0)
        try:
            self._fd = os.open(self._partial, flags, 0o600)
        except FileExistsError:  # of an earlier copy
            os.unlink(self._partial)  # noqa: PTH108
            self._fd = os.open(self._partial, flags, 0o600)

    def write(self, data: memoryview) -> None:
        self.left -= len(data)
        while data:
            data = data[os.write(self._fd, data) :]

    def finish(self) -> None:
        if _ON_DESCRIPTORS:
            os.chmod(self._fd, self._mode)  # noqa: PTH101
            os.utime(self._fd, (self._mtime, self._mtime))
        self._close()
        if not _ON_DESCRIPTORS:
            os.chmod(self._partial, self._mode)  # noqa: PTH101
            os.utime(self._partial, (self._mtime, self._mtime))
        try:
            os.replace(self._partial, self._path)  # noqa: PTH105
        except (IsADirectoryError, PermissionError):  # Windows raises the second
            if not os.path.isdir(self._path) or os.path.islink(self._path):  # noqa: PTH112, PTH114
                raise
            os.rmdir(self._path)  # noqa: PTH106 - it must be empty
            os.replace(self._partial, self._path)  # noqa: PTH105

    def discard(self) -> None:
        self._close()
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self._partial)  # noqa: PTH108

    def _close(self) -> None:
        fd, self._fd = self._fd, -1
        if fd >= 0:
            os.close(fd)


def _pax_records(content: bytes) -> dict[str, str]:
    """`<length> <key>=<value>` lines; the length counts the whole line."""
    found, at = {}, 0
    while at < len(content):
        length, space, _ = content[at : at + 20].partition(b" ")
        if not space or not length.isdigit() or not int(length):
            raise InvalidArgument("a header of the archive cannot be read")
        record = content[at + len(length) + 1 : at + int(length) - 1]
        key, _, value = record.partition(b"=")
        found[key.decode(*_ENCODING)] = value.decode(*_ENCODING)
        at += int(length)
    return found
