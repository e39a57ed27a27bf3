"""Which command, port and files a container has, as tests registered them.

Guarantees: pure; of several entries that fit, the one with the longest command wins, and of
those the latest. Nothing is registered by default: a container without a program fails as with
containerd.
See also: `processes` (running a command), `files` (the commands of containers with files).
"""

from __future__ import annotations

import asyncio
import posixpath
from collections.abc import Awaitable, Callable, Iterator
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, TypeAlias, TypeVar, final

import msgspec

from .processes import Program

if TYPE_CHECKING:
    from .files import FileTree

__all__ = ["ContainerMatch", "PortHandler", "PortTarget", "Programs"]

T = TypeVar("T")

PortHandler: TypeAlias = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
PortTarget: TypeAlias = tuple[str, int] | PortHandler


@final
class ContainerMatch(msgspec.Struct, frozen=True):
    """The containers that an entry is for; patterns as in `fnmatch`."""

    namespace: str = "*"
    pod: str = "*"
    container: str = "*"

    def fits(self, namespace: str, pod: str, container: str = "") -> bool:
        """Whether a container fits; a port has no container."""
        return (
            fnmatchcase(namespace, self.namespace)
            and fnmatchcase(pod, self.pod)
            and (not container or fnmatchcase(container, self.container))
        )


@final
class Programs:
    """The entries of one server; they survive its restart."""

    def __init__(self) -> None:
        self._commands: list[tuple[tuple[str, ...], ContainerMatch, Program]] = []
        self._main: list[tuple[ContainerMatch, Program]] = []
        self._ports: list[tuple[int, ContainerMatch, PortTarget]] = []
        self._files: list[tuple[ContainerMatch, FileTree]] = []

    def add_command(self, words: tuple[str, ...], where: ContainerMatch, program: Program) -> None:
        self._commands.append((words, where, program))

    def add_main(self, where: ContainerMatch, program: Program) -> None:
        self._main.append((where, program))

    def add_port(self, port: int, where: ContainerMatch, target: PortTarget) -> None:
        self._ports.append((port, where, target))

    def add_files(self, where: ContainerMatch, tree: FileTree) -> None:
        self._files.append((where, tree))

    def clear(self) -> None:
        """Remove every entry."""
        for each in (self._commands, self._main, self._ports, self._files):
            each.clear()

    def command(
        self, words: tuple[str, ...], namespace: str, pod: str, container: str
    ) -> Program | None:
        """The program of a command, or one of the container's files."""
        fitting = [
            (len(start), index, program)
            for index, (start, where, program) in enumerate(self._commands)
            if where.fits(namespace, pod, container) and _starts_with(words, start)
        ]
        if fitting:
            return max(fitting, key=lambda each: each[:2])[2]
        tree = self.files(namespace, pod, container)
        if tree is None or not words:
            return None
        from .files import FILE_COMMANDS
        from .shell import shell_program

        name = posixpath.basename(words[0])
        if name == "sh":
            return shell_program(lambda inner: self.command(inner, namespace, pod, container))
        make = FILE_COMMANDS.get(name)
        return make(tree) if make is not None else None

    def main(self, namespace: str, pod: str, container: str) -> Program | None:
        """The program that clients attach to."""
        return _latest(
            program for where, program in self._main if where.fits(namespace, pod, container)
        )

    def port(self, port: int, namespace: str, pod: str) -> PortTarget | None:
        """What a port of a pod is connected to."""
        return _latest(
            target
            for number, where, target in self._ports
            if number == port and where.fits(namespace, pod)
        )

    def files(self, namespace: str, pod: str, container: str) -> FileTree | None:
        """The files of a container."""
        return _latest(tree for where, tree in self._files if where.fits(namespace, pod, container))


def _latest(found: Iterator[T]) -> T | None:
    return next(iter([*found][::-1]), None)


def _starts_with(words: tuple[str, ...], start: tuple[str, ...]) -> bool:
    """Whether `words` begin with `start`; `sh` fits `/bin/sh`, too."""
    if not words or not start or words[1 : len(start)] != start[1:]:
        return False
    return start[0] in {words[0], posixpath.basename(words[0])}
