"""Files of a container in memory, and the commands that `kubectl cp` runs on them.

`tar`, `test` and `cat` behave as those of GNU for the options that copying needs; other options
are refused with exit code 2.

Guarantees: paths are absolute and normalized, parents of a file exist; links are kept, and
followed at most 40 times; an archive cannot write outside the target folder.
See also: `programs` (which container has which files).
"""

from __future__ import annotations

import posixpath
import tarfile
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Final, TypeAlias, final

import msgspec

from kubeloop.kit.tar import BLOCK, TarError, TarMember, TarReader

from .processes import Process, Program

__all__ = ["FILE_COMMANDS", "File", "FileNode", "FileTree", "Folder", "Link"]

_PIECE: Final = 64 * 1024
_MAX_LINKS: Final = 40


class File(msgspec.Struct, frozen=True, kw_only=True):
    """A regular file; `mtime` in seconds since 1970."""

    content: bytes = b""
    mode: int = 0o644
    mtime: float = 0.0


class Folder(msgspec.Struct, frozen=True, kw_only=True):
    """A folder, which may be empty."""

    mode: int = 0o755
    mtime: float = 0.0


class Link(msgspec.Struct, frozen=True):
    """A symbolic link."""

    target: str
    mtime: float = 0.0


FileNode: TypeAlias = File | Folder | Link


@final
class FileTree:
    """The files of a container: paths with their content.

    tree = FileTree({"/etc/motd": "hi", "/bin/run": File(content=b"...", mode=0o755)})
    tree["/etc/motd"]                     # b"hi"
    """

    def __init__(self, files: Mapping[str, bytes | str | FileNode] = MappingProxyType({})) -> None:
        # Every image has /tmp; clients copy to it.
        self._nodes: dict[str, FileNode] = {"/": Folder(), "/tmp": Folder(mode=0o1777)}  # noqa: S108
        for path, content in files.items():
            self[path] = content

    def __getitem__(self, path: str) -> bytes:
        """The content of a file, through links. Raises: KeyError if there is no such file."""
        node = self.find(path)
        if not isinstance(node, File):
            raise KeyError(path)
        return node.content

    def __setitem__(self, path: str, content: bytes | str | FileNode) -> None:
        """Write a file, a folder or a link; folders above it are created."""
        if isinstance(content, str):
            content = content.encode()
        if isinstance(content, bytes):
            content = File(content=content)
        path = self._resolve_parent(absolute(path))
        for parent in _parents(path):
            self._nodes.setdefault(parent, Folder())
        if path == "/" and not isinstance(content, Folder):
            raise ValueError("write /: it is a folder")
        self._nodes[path] = content

    def __delitem__(self, path: str) -> None:
        """Remove a file, or a folder with all that is in it. Raises: KeyError."""
        path = self._resolve_parent(absolute(path))
        del self._nodes[path]
        for each in [each for each in self._nodes if each.startswith(f"{path}/")]:
            del self._nodes[each]

    def __contains__(self, path: object) -> bool:
        return isinstance(path, str) and self.find(path) is not None

    def __iter__(self) -> Iterator[str]:
        """All paths, sorted."""
        return iter(sorted(self._nodes))

    def __len__(self) -> int:
        return len(self._nodes)

    def find(self, path: str, *, follow: bool = True) -> FileNode | None:
        """The file, folder or link at a path; with `follow`, what a link leads to."""
        path = absolute(path)
        try:
            return self._nodes.get(self._resolve(path) if follow else self._resolve_parent(path))
        except RecursionError:
            return None

    def below(self, path: str) -> Iterator[tuple[str, FileNode]]:
        """What is at a path and in it: paths and nodes, sorted; a link at `path` is kept."""
        start = self._resolve_parent(absolute(path))
        prefix = start.rstrip("/") + "/"
        for each in sorted(self._nodes):
            if each == start or each.startswith(prefix):
                yield each, self._nodes[each]

    def real_path(self, path: str) -> str:
        """The path without links."""
        return self._resolve(absolute(path))

    def _resolve_parent(self, path: str) -> str:
        if path == "/":
            return path
        parent, name = posixpath.split(path)
        return posixpath.join(self._resolve(parent), name)

    def _resolve(self, path: str, links: int = 0) -> str:
        if links > _MAX_LINKS:
            raise RecursionError(f"{path}: too many levels of symbolic links")
        found = "/"
        names = [name for name in path.split("/") if name]
        for index, name in enumerate(names):
            found = posixpath.join(found, name)
            node = self._nodes.get(found)
            if isinstance(node, Link):
                target = posixpath.join(posixpath.dirname(found), node.target)
                rest = posixpath.join(target, *names[index + 1 :])
                return self._resolve(absolute(rest), links + 1)
        return found


def absolute(path: str) -> str:
    """`path` from the root, normalized."""
    return "/" + posixpath.normpath(posixpath.join("/", path)).lstrip("/")


def _parents(path: str) -> Iterator[str]:
    while path != "/":
        path = posixpath.dirname(path)
        yield path


# --- commands


def _tar_command(tree: FileTree) -> Program:
    async def run(process: Process) -> int:
        try:
            options = _tar_options(process.command[1:])
        except ValueError as error:
            await process.stderr.write(f"tar: {error}\n")
            return 2
        work = _create if options.creates else _extract
        return await work(tree, process, options)

    return run


class _TarOptions(msgspec.Struct, frozen=True):
    creates: bool
    folder: str = "/"
    paths: tuple[str, ...] = ()
    keeps_permissions: bool = True
    touches: bool = False
    follows: bool = False


def _tar_options(words: tuple[str, ...]) -> _TarOptions:
    """The options of tar, in the old form without a dash and in the new one."""
    letters, folder, paths, keeps = "", "/", [], True
    rest = iter([f"-{words[0]}", *words[1:]] if words and words[0][:1] != "-" else words)
    for word in rest:
        if word in {"--no-same-permissions", "--no-same-owner"}:
            keeps = keeps and word != "--no-same-permissions"
        elif word == "--" or not word.startswith("-") or word == "-":
            paths += [*rest] if word == "--" else [word]
        elif word.startswith("--"):
            raise ValueError(f"unrecognized option '{word}'")
        else:
            for letter in word[1:]:
                letters += letter
                if letter == "f" and next(rest, None) != "-":
                    raise ValueError("only the archive '-' can be used")
                if letter == "C":
                    folder = absolute(posixpath.join(folder, next(rest, "")))
    if unknown := set(letters) - set("cxfmphvC"):
        raise ValueError(f"invalid option -- '{min(unknown)}'")
    if ("c" in letters) == ("x" in letters) or "f" not in letters:
        raise ValueError("You must specify one of the '-cx' options, and '-f -'")
    return _TarOptions("c" in letters, folder, tuple(paths), keeps, "m" in letters, "h" in letters)


async def _create(tree: FileTree, process: Process, options: _TarOptions) -> int:
    code = 0
    if not options.paths:
        await process.stderr.write("tar: Cowardly refusing to create an empty archive\n")
        return 2
    for path in options.paths:
        full = posixpath.join(options.folder, path)
        if tree.find(full, follow=options.follows) is None:
            text = f"tar: {path}: Cannot stat: No such file or directory\n"
            await process.stderr.write(text)
            code = 2
            continue
        if path.startswith("/"):
            await process.stderr.write("tar: Removing leading `/' from member names\n")
        for header, content in _members(tree, path.lstrip("/") or ".", full, options):
            await process.stdout.write(header)
            for at in range(0, len(content), _PIECE):
                await process.stdout.write(content[at : at + _PIECE])
            await process.stdout.write(bytes(-len(content) % BLOCK))
    if code:
        await process.stderr.write("tar: Exiting with failure status due to previous errors\n")
    await process.stdout.write(bytes(2 * BLOCK))
    return code


def _members(
    tree: FileTree, name: str, full: str, options: _TarOptions
) -> Iterator[tuple[bytes, bytes]]:
    """The header and the content of each member at `full`, named below `name`."""
    start = tree.real_path(full) if options.follows else None
    found = [*tree.below(start or full)]
    root = found[0][0] if found else full
    for path, entry in found:
        node = tree.find(path) if options.follows else entry
        if node is None:  # a link that leads nowhere
            continue
        member = tarfile.TarInfo(posixpath.join(name, path[len(root) :].lstrip("/")).rstrip("/"))
        member.mtime = node.mtime
        content = b""
        match node:
            case File():
                member.mode, content = node.mode, node.content
                member.size = len(content)
            case Folder():
                member.mode, member.type = node.mode, tarfile.DIRTYPE
            case Link():
                member.mode, member.type, member.linkname = 0o777, tarfile.SYMTYPE, node.target
        yield member.tobuf(tarfile.GNU_FORMAT, "utf-8", "surrogateescape"), content


async def _extract(tree: FileTree, process: Process, options: _TarOptions) -> int:
    if not isinstance(tree.find(options.folder), Folder):
        await process.stderr.write(
            f"tar: {options.folder}: Cannot open: No such file or directory\n"
            "tar: Error is not recoverable: exiting now\n"
        )
        return 2
    skipped = False
    try:
        async for member, content in _read_archive(process):
            name = member.name.lstrip("/")
            if ".." in name.split("/"):
                text = f"tar: {member.name}: Member name contains '..'; skipping\n"
                await process.stderr.write(text)
                skipped = True
            elif name.strip("/."):
                _write_member(tree, options, member, content)
    except TarError:
        await process.stderr.write(
            "tar: This does not look like a tar archive\n"
            "tar: Exiting with failure status due to previous errors\n"
        )
        return 2
    if skipped:
        await process.stderr.write("tar: Exiting with failure status due to previous errors\n")
    return 2 if skipped else 0


async def _read_archive(process: Process) -> AsyncIterator[tuple[TarMember, bytes]]:
    """The members up to the end of the archive: before v5 a client cannot end the input."""
    reader, content = TarReader(), bytearray()
    member: TarMember | None = None
    is_empty = True
    while not reader.is_complete:
        data = await process.stdin.read(_PIECE)
        if not data:
            # tar accepts an archive without its last blocks.
            if is_empty or member is not None:
                raise TarError("the archive is not complete")
            return
        for event in reader.feed(data):
            if isinstance(event, TarMember):
                member, is_empty = event, False
            else:
                content += event
            if member is not None and len(content) == member.size:
                yield member, bytes(content)
                member, content = None, bytearray()


def _write_member(tree: FileTree, options: _TarOptions, member: TarMember, content: bytes) -> None:
    path = posixpath.join(options.folder, member.name.lstrip("/"))
    mode = member.mode if options.keeps_permissions else member.mode & ~0o022
    mtime = time.time() if options.touches else member.mtime
    match member.kind:
        case "folder":
            tree[path] = Folder(mode=mode, mtime=mtime)
        case "symlink":
            tree[path] = Link(member.target, mtime=mtime)
        case "file":
            tree[path] = File(content=content, mode=mode, mtime=mtime)
        case "link":
            source = tree.find(posixpath.join(options.folder, member.target.lstrip("/")))
            if isinstance(source, File):
                tree[path] = source


def _test_command(tree: FileTree) -> Program:
    kinds: dict[str, type[FileNode]] = {"-d": Folder, "-f": File, "-L": Link, "-h": Link}

    async def run(process: Process) -> int:
        match process.command[1:]:
            case ("-e", path):
                return 0 if path in tree else 1
            case (option, path) if option in kinds:
                found = tree.find(path, follow=kinds[option] is not Link)
                return 0 if isinstance(found, kinds[option]) else 1
        await process.stderr.write("test: unknown expression\n")
        return 2

    return run


def _cat_command(tree: FileTree) -> Program:
    async def run(process: Process) -> int:
        code = 0
        for path in process.command[1:] or ("-",):
            if path == "-":
                while data := await process.stdin.read(_PIECE):
                    await process.stdout.write(data)
                continue
            node = tree.find(path)
            if isinstance(node, File):
                await process.stdout.write(node.content)
                continue
            why = "No such file or directory" if node is None else "Is a directory"
            await process.stderr.write(f"cat: {path}: {why}\n")
            code = 1
        return code

    return run


FILE_COMMANDS: Final[Mapping[str, Callable[[FileTree], Program]]] = {
    "cat": _cat_command,
    "tar": _tar_command,
    "test": _test_command,
}
"""The commands that a container with files has."""
