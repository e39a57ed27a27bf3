"""A small `sh` for containers with files: it runs the other commands that the container has.

Commands are words with quotes, joined by `;`, `&&`, `||` and newlines; `exit`, `true`, `false` and
`:` are built in. `sh -c COMMANDS`, or `sh` with the commands on its input.

Guarantees: what it does not support, such as pipes, variables and patterns, is an error that names
it, before anything runs; a command that the container does not have is `not found` with exit code
127, as in a real shell.
See also: `programs` (the commands of a container).
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple, TypeAlias

from kubeloop.kit import whole_number

from .processes import Process, Program

__all__ = ["shell_program"]

_TOKEN: Final = re.compile(
    r"""
    (?P<space>[ \t]+) | (?P<operator>&&|\|\||[;\n]) | '(?P<single>[^']*)'
    | "(?P<double>(?:[^"\\$`]|\\.)*)" | \\(?P<escaped>.)
    | (?P<plain>[^\s;&|<>(){}$`*?\[\]~\#'"\\]+)
    """,
    re.VERBOSE | re.DOTALL,
)
_KEYWORDS: Final = frozenset(
    ("!", ".", "case", "cd", "eval", "exec", "export", "for", "if", "set", "trap", "until", "while")
)

Lookup: TypeAlias = Callable[[tuple[str, ...]], Program | None]


class _Unsupported(Exception):
    """Something that a real shell has."""


class _Command(NamedTuple):
    operator: str  # before it
    words: tuple[str, ...]


def shell_program(lookup: Lookup) -> Program:
    """`sh`, with the commands that `lookup` finds."""

    async def run(process: Process) -> int:
        try:
            match process.command[1:]:
                case ("-c", text, *_):
                    commands = list(_parse(text))
                case () if not process.tty:
                    commands = list(_parse((await process.stdin.read()).decode(errors="replace")))
                case _:
                    raise _Unsupported("only `sh -c COMMANDS`, and commands on the input")
        except _Unsupported as error:
            await process.stderr.write(f"sh: the simulated shell supports {error}\n")
            return 2
        return await _run(process, lookup, commands)

    return run


async def _run(process: Process, lookup: Lookup, commands: list[_Command]) -> int:
    code = 0
    for operator, words in commands:
        if (operator == "&&" and code) or (operator == "||" and not code):
            continue
        match words:
            case ("exit",):
                return code
            case ("exit", number) if (status := whole_number(number)) is not None:
                return status % 256
            case ("true" | ":", *_):
                code = 0
            case ("false", *_):
                code = 1
            case _:
                code = await _run_program(process, lookup, words)
    return code


async def _run_program(process: Process, lookup: Lookup, words: tuple[str, ...]) -> int:
    program = lookup(words)
    if program is None:
        await process.stderr.write(f"sh: 1: {words[0]}: not found\n")
        return 127
    part = copy.copy(process)  # with the same streams
    part.command = words
    return await program(part) or 0


def _parse(text: str) -> Iterator[_Command]:
    """The commands of a script. Raises: _Unsupported."""
    operator, words, word = ";", list[str](), None
    for kind, value in _tokens(text):
        if kind not in {"space", "operator"}:
            word = (word or "") + value
            continue
        if word is not None:
            words.append(word)
            word = None
        if kind == "space":
            continue
        following = ";" if value == "\n" else value
        if words:
            if words[0] in _KEYWORDS or "=" in words[0]:
                raise _Unsupported(f"no `{words[0]}`")
            yield _Command(operator, tuple(words))
        elif operator != ";" or following != ";":
            if value == "\n" and operator != ";":
                continue  # the command may follow in the next line
            raise _Unsupported(f"no `{following}` without a command")
        operator, words = following, []


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    at = 0
    while at < len(text):
        token = _TOKEN.match(text, at)
        if token is None or token.lastgroup is None:
            raise _Unsupported(f"no `{text[at]}` (quote it if it is a text)")
        kind, value = token.lastgroup, token[token.lastgroup]
        yield kind, re.sub(r"\\([\"\\$`])", r"\1", value) if kind == "double" else value
        at = token.end()
    yield "operator", "\n"
