"""Tar archives of files on this machine: written and read piece by piece.

Guarantees: memory does not grow with files or archives; modes, times and symbolic links are kept.
Reading writes nothing outside of the target: a path with `..`, an absolute path, a link that
leads outside and a device are an `UnsafeArchive`, as is an archive that cannot be read, and
existing links that lead outside are not followed. A file appears under its name only when it is
complete.
See also: `kubeloop.kit.tar` (headers), `copy` (archives from and to containers).
"""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import final

from kubeloop.errors import InvalidArgument, KubeError
from kubeloop.kit.tar import BLOCK, TarError, TarMember, TarReader

__all__ = ["ArchiveReader", "ArchiveWriter", "UnsafeArchive"]

_PIECE = 256 * 1024
_ENCODING = ("utf-8", "surrogateescape")
_ON_DESCRIPTORS = os.chmod in os.supports_fd and os.utime in os.supports_fd


class UnsafeArchive(KubeError):
    """An archive of a container cannot be read, or has something that cannot be written here."""


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
        unsent = [(self._source, self._name)]
        while unsent:
            source, name = unsent.pop()
            self.path = str(source)
            status = source.lstat()
            member = tarfile.TarInfo(name)
            member.mode, member.mtime = stat.S_IMODE(status.st_mode), int(status.st_mtime)
            if stat.S_ISDIR(status.st_mode):
                member.type = tarfile.DIRTYPE
                yield _header(member)
                names = sorted(os.listdir(source), reverse=True)  # noqa: PTH208 - names, not paths
                unsent += [(source / each, f"{name}/{each}") for each in names]
                continue
            if stat.S_ISREG(status.st_mode):
                yield from self._file(source, member)
            elif stat.S_ISLNK(status.st_mode):
                member.type, member.linkname = tarfile.SYMTYPE, os.fspath(source.readlink())
                yield _header(member)
            else:
                raise InvalidArgument(f"{source}: neither a file nor a folder nor a link")
            self.files += 1
        yield bytes(2 * BLOCK)

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
        yield bytes(-member.size % BLOCK)


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
        self._members = TarReader()
        self._file: _PartialFile | None = None  # that is being written
        self._folders: list[tuple[Path, int, float]] = []  # to set their modes at the end
        self._real_folders: dict[Path, Path] = {}
        self.files = 0
        self.size = 0
        self.path = ""

    @property
    def is_complete(self) -> bool:
        """Whether the end of the archive was received."""
        return self._members.is_complete

    def feed(self, data: bytes) -> None:
        """Write what the data completes. Raises: UnsafeArchive."""
        try:
            for entry in self._members.feed(data):
                if isinstance(entry, TarMember):
                    self._write_member(entry)
                else:
                    self._write_piece(entry)
        except TarError as error:
            raise UnsafeArchive(f"the archive cannot be read: {error}") from error
        except OSError as error:
            raise UnsafeArchive(f"{self.path!r}: {error.strerror or error}") from error

    def close(self) -> None:
        """Set the modes of folders, and remove a file that is not complete.

        Raises: UnsafeArchive.
        """
        if self._file is not None:
            self._file.discard()
            self._file = None
        folders, self._folders = self._folders, []
        for path, mode, mtime in reversed(folders):
            if path.is_symlink() and path != self._target:
                continue  # another member has replaced it
            try:
                path.chmod(mode)
                os.utime(path, (mtime, mtime))
            except FileNotFoundError:
                continue
            except OSError as error:
                raise UnsafeArchive(f"{str(path)!r}: {error.strerror or error}") from error

    # --- files

    def _write_member(self, member: TarMember) -> None:
        path = self._path_of(member.name)
        self.path = str(path)
        mode = member.mode & 0o777  # no set-user-id of another machine
        match member.kind:
            case "folder":
                # A link to a folder is replaced, unless it is the target that the caller named.
                if not path.is_dir() or (path.is_symlink() and path != self._target):
                    self._remove(path)
                    path.mkdir(0o700)
                else:
                    path.chmod(0o700 | mode)
                self._folders.append((path, mode, member.mtime))
                return
            case "file":
                self._file = _PartialFile(path, member.size, mode, member.mtime)
                self._write_piece(memoryview(b""))  # it may be empty
                return
            case "symlink":
                self._check_link(path, member)
                self._remove(path)
                path.symlink_to(member.target)
                self._real_folders.clear()
            case "link":
                source = self._path_of(member.target)
                if source.is_symlink() or not source.is_file():
                    raise UnsafeArchive(
                        f"{member.name!r}: a link to {member.target!r}, which is no file"
                    )
                if source != path:
                    self._remove(path)
                    os.link(source, path, follow_symlinks=False)
            case "other":
                raise UnsafeArchive(f"{member.name!r}: neither a file nor a folder nor a link")
        self.files += 1

    def _write_piece(self, piece: memoryview) -> None:
        assert self._file is not None  # only files have content
        self._file.write(piece)
        self.size += len(piece)
        if not self._file.left:
            self._file.finish()
            self._file = None
            self.files += 1

    def _path_of(self, name: str) -> Path:
        """Where a path of the archive is written. Raises: UnsafeArchive."""
        parts = [part for part in name.split("/") if part not in {"", "."}]
        first = [] if self._name == "." else [self._name]
        if name.startswith("/") or ".." in parts or parts[: len(first)] != first:
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

    def _check_link(self, path: Path, member: TarMember) -> None:
        target = member.target
        parts = [part for part in target.split("/") if part not in {"", "."}]
        ups = next((index for index, part in enumerate(parts) if part != ".."), len(parts))
        depth = -1
        if path != self._target:
            real = self._real_folder(path.parent, member.name)
            depth = len(real.relative_to(os.path.realpath(self._target)).parts)
        # `..` after a folder could pass through another link.
        if not target or target.startswith("/") or ups > depth or ".." in parts[ups:]:
            raise UnsafeArchive(f"{member.name!r}: a link to {target!r}, outside of the target")

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
        # Strings: a path object costs as much as a system call. A name may have 255 bytes already,
        # so that nothing can be added to it.
        folder = os.path.dirname(self._path)  # noqa: PTH120
        self._partial = os.path.join(folder, f".kubeloop-{secrets.token_hex(8)}.part")  # noqa: PTH118
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
        flags |= getattr(os, "O_BINARY", 0)
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
