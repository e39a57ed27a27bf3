"""Runs the code of a page as a reader does: files, terminals, commands, output.

A block with a title that is not a console is a file of that name; blocks with the same title are
parts of one file. The title of a console is the name of its terminal. In a console, `$ ` starts a
command and `> ` continues it, `^C` is Ctrl-C, and the rest is output; `…` stands for any text.
A Python block with the title `python` or `python -m asyncio` is input for that interpreter. Python
without a title is a program if it calls `run(...)` at its end, tests if it defines some,
and otherwise input for `python -m asyncio`. `docs/how-to/shop.md` explains this to readers.
Guarantees: every command runs in a real process, without the `KUBECONFIG` of the user; only those
optional packages can be imported that the page says to install; output is waited for, without
sleeps; no process is left running.
See also: `test_tutorial`, `test_pages` (which pages run).
"""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
import threading
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Literal, NamedTuple, Self

__all__ = [
    "OPTIONAL",
    "Block",
    "Reader",
    "Terminal",
    "blocks_of",
    "installed_by",
    "kind_of",
    "links_to_the_shop",
]

ROOT = Path(__file__).parent.parent.parent
SHOP = "docs/how-to/shop.md"
SERVER = "the server"  # the title of the terminal that runs the server
TIMEOUT = 60.0  # seconds to wait for a line; long, for busy machines

# The packages that a page can name in `pip install`, and the modules that they provide.
OPTIONAL = {
    "kubeloop-cli": (
        *("kubeloop_cli", "kubeloop_testing", "aiohttp", "click", "cryptography"),
        *("prometheus_client", "rich"),
    ),
    "kubeloop-testing": ("kubeloop_testing", "aiohttp", "cryptography"),
    "compression": ("zstandard",),
    "metrics": ("prometheus_client",),
    "operator": ("aiohttp", "prometheus_client"),
    "protobuf": ("google.protobuf",),
    "socks": ("python_socks",),
    "tracing": ("opentelemetry",),
    "pytest": ("pytest",),
    "pytest-asyncio": ("pytest_asyncio",),
}
_ASYNCIO = "python -m asyncio"
# The interpreters that titles name, with their options: input that is no terminal needs `-i`.
_INTERPRETERS = {_ASYNCIO: ("-m", "asyncio"), "python": ("-i",)}
# Errors in the output of an interpreter.
# A prompt may stand before them.
_ERROR = re.compile(r"Traceback \(most|^\w*(Error|Exception)\b|never awaited", re.MULTILINE)
# The last line of pytest, if a page shows a test that fails.
_FAILED = re.compile(r"\d+ failed in ")
_BLOCK = re.compile(
    r'^```(?P<language>\w+)(?: title="(?P<title>[^"]*)")?\n(?P<text>.*?)^```$',
    re.DOTALL | re.MULTILINE,
)


# Not `sys.modules[name] = None`, which pytest stumbles over.
_HIDING = """\
import sys


class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name in {modules}:
            raise ModuleNotFoundError(f"import of {{name}} halted", name=name)


sys.meta_path.insert(0, Hidden())
"""


class Block(NamedTuple):
    """A block of code on a page; `line` is the zero-based number of its first line."""

    language: str
    title: str
    text: str
    line: int


def blocks_of(page: str, *languages: str) -> list[Block]:
    """The blocks of a page in order, of these languages or of all."""
    text = (ROOT / page).read_text(encoding="utf-8")
    found = [
        Block(each["language"], each["title"] or "", each["text"], _line(text, each.start("text")))
        for each in _BLOCK.finditer(text)
    ]
    return [each for each in found if not languages or each.language in languages]


def _line(text: str, position: int) -> int:
    return text.count("\n", 0, position)


def links_to_the_shop(page: str) -> bool:
    """Whether a page instructs its reader to start a server."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return re.search(r"\]\((?:[\w./-]+/)?shop\.md\)", text) is not None


def installed_by(*pages: str) -> frozenset[str]:
    """The optional packages that these pages, and the shop if they link to it, say to install."""
    all_pages = [*pages, SHOP] if any(map(links_to_the_shop, pages)) else pages
    lines = [
        line
        for page in all_pages
        for line in re.findall(r"pip install ([^\n#`]*)", (ROOT / page).read_text(encoding="utf-8"))
    ]
    return frozenset(name for name in re.findall(r"[\w-]+", " ".join(lines)) if name in OPTIONAL)


class Reader:
    """A directory and terminals, for one `with` block.

    `replacements` are applied to the text of pages, such as a free port. `installed` are the
    optional packages that can be imported; all by default.
    """

    def __init__(
        self,
        folder: Path,
        *,
        replacements: Mapping[str, str] | None = None,
        installed: Collection[str] = frozenset(OPTIONAL),
    ) -> None:
        self._folder = folder
        self._replacements = dict(replacements or {})
        self._terminals: dict[str, Terminal] = {}
        self._written: set[tuple[str, str]] = set()
        self._env = _environment(folder)
        self._hide(
            {module for name in OPTIONAL for module in OPTIONAL[name]}
            - {module for name in installed for module in OPTIONAL[name]}
        )

    def _hide(self, modules: Collection[str]) -> None:
        """Make the import of these modules fail in the interpreters of this reader."""
        site = self._folder / ".site"
        site.mkdir()
        text = _HIDING.format(modules=sorted(modules))
        (site / "sitecustomize.py").write_text(text, encoding="utf-8")
        if "kubeloop_testing" in modules:  # where it is not installed, pytest finds no plugin
            self._env["PYTEST_ADDOPTS"] = "-p no:kubeloop"
        self._env["PYTHONPATH"] = str(site)

    def write_files(self, page: str) -> None:
        """Write the files of the page, and run nothing."""
        for block in blocks_of(page):
            is_file = block.title not in _INTERPRETERS and block.language != "console"
            if block.title and is_file:
                self._write(page, block)

    def output_of(self, command: str) -> str:
        """The output of a command, with any exit code."""
        done = subprocess.run(
            ["/bin/sh", "-c", f"exec {command}"],
            cwd=self._folder,
            env=self._env,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=TIMEOUT,
            check=False,
        )
        return done.stdout

    def open_shop(self) -> None:
        """Start the server of `docs/how-to/shop.md`, and have all that follows use it."""
        for block in blocks_of(SHOP):
            if block.title == SERVER:
                self._terminal(SERVER).play(block.text)
            elif block.language == "console":
                self._env["KUBECONFIG"] = self._terminal(SERVER).exported("KUBECONFIG")
                self._terminal("").play(block.text)
                self._terminal("").finish()
            elif block.title:
                self._write(SHOP, block)

    def follow(self, page: str) -> None:
        """Run the code of the page from top to bottom.

        Raises: AssertionError if the output differs from the page.
        """
        statements: dict[str, list[Block]] = {}  # by interpreter
        tests: list[str] = []
        for block in blocks_of(page):
            if block.language == "console":
                self._terminal(block.title).play(self._replace(block.text))
            elif interpreter := _interpreter_of(block):
                statements.setdefault(interpreter, []).append(block)
            elif block.title:
                self._write(page, block)
            elif block.language == "python" and kind_of(block) == "tests":
                tests.append(self._save(block, "test"))
            elif block.language == "python":
                self._run(self._save(block, "program"))
        if tests:
            self._run("-m", "pytest", *tests)
        for interpreter, blocks in statements.items():
            self._run_interactively(blocks, *_INTERPRETERS[interpreter])
        for name, terminal in self._terminals.items():
            if name != SERVER:
                terminal.finish()

    def _write(self, page: str, block: Block) -> None:
        path = self._folder / block.title
        is_part = (page, block.title) in self._written
        self._written.add((page, block.title))
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a" if is_part else "w", encoding="utf-8") as file:
            file.write(("\n\n" if is_part else "") + self._replace(block.text))

    def _save(self, block: Block, prefix: str) -> str:
        name = f"{prefix}_at_line_{block.line}.py"
        (self._folder / name).write_text(self._replace(block.text), encoding="utf-8")
        return name

    def _run(self, *arguments: str) -> None:
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=self._folder,
            env=self._env,
            text=True,
            capture_output=True,
            timeout=TIMEOUT,
            check=False,
        )
        message = f"{arguments}: exit code {done.returncode}\n{done.stdout}{done.stderr}"
        assert done.returncode == 0, message

    def _run_interactively(self, blocks: list[Block], *options: str) -> None:
        """Paste all blocks into one interpreter; it must report no error."""
        typed = "\n\n".join(self._replace(block.text) for block in blocks)
        done = subprocess.run(
            [sys.executable, *options],
            cwd=self._folder,
            env=self._env,
            # A last value, so that the interpreter drops its reference to the previous one.
            input=f'{typed}\n\n"the end of the page"\n',
            text=True,
            capture_output=True,
            timeout=TIMEOUT,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert "the end of the page" in done.stdout, done.stdout + done.stderr
        assert not _ERROR.search(done.stderr), done.stderr

    def _replace(self, text: str) -> str:
        for old, new in self._replacements.items():
            text = text.replace(old, new)
        return text

    def _terminal(self, title: str) -> Terminal:
        return self._terminals.setdefault(title, Terminal(self._folder, self._env))

    def __enter__(self) -> Self:
        # The process that runs the tests may ignore Ctrl-C, which children would inherit.
        self._on_ctrl_c = signal.signal(signal.SIGINT, signal.default_int_handler)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for terminal in self._terminals.values():
            terminal.close()
        signal.signal(signal.SIGINT, self._on_ctrl_c)


class Terminal:
    """Runs one command at a time; `export` changes its environment."""

    def __init__(self, folder: Path, env: Mapping[str, str]) -> None:
        self._folder = folder
        self._env = dict(env)
        self._command: Command | None = None

    def play(self, text: str) -> None:
        """Run the commands of a block, and compare their output."""
        for line in _join_commands(text):
            if line.startswith("$ "):
                self._type(line[2:])
            elif line == "^C":
                self._running().interrupt()
                self._command = None
            else:
                self._running().expect(line)

    def exported(self, name: str) -> str:
        """The value in a line `export NAME=VALUE` in the output of the running command."""
        return self._running().exported(name)

    def finish(self) -> None:
        """Wait for the end of the last command."""
        if self._command is not None:
            self._command.finish()
            self._command = None

    def close(self) -> None:
        if self._command is not None:
            self._command.kill()

    def _type(self, line: str) -> None:
        self.finish()
        if line.startswith("export "):
            name, _, value = line.removeprefix("export ").partition("=")
            self._env[name] = value.replace("$PWD", str(self._folder))
        else:
            self._command = Command(line, folder=self._folder, env=self._env)

    def _running(self) -> Command:
        assert self._command is not None, "the page shows output without a command"
        return self._command


class Command:
    """A process, and its output so far."""

    def __init__(self, line: str, *, folder: Path, env: Mapping[str, str]) -> None:
        self._line = line
        self._process = subprocess.Popen(
            ["/bin/sh", "-c", f"exec {line}"],
            cwd=folder,
            env=dict(env),
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        self._output: list[str] = []
        self._expected: list[str] = []
        self._position = 0  # the lines before were expected
        self._has_ended = False
        self._changed = threading.Condition()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def expect(self, line: str) -> None:
        """Wait for this line, after the lines expected before."""
        self._expected.append(line)
        if line == "…":
            return
        with self._changed:
            self._changed.wait_for(lambda: self._has_ended or self._find(line), TIMEOUT)
            found = self._find(line)
        assert found, self._report(f"no such line: {line}")
        self._position = found

    def finish(self) -> None:
        """Wait for the end; the output is that of the page.

        The exit code is 0, or 1 if the page shows that tests fail.
        """
        code = self._process.wait(TIMEOUT)
        self._reader.join(TIMEOUT)
        fails = any(map(_FAILED.match, self._expected))
        assert code == (1 if fails else 0), self._report(f"exit code {code}")
        pattern = "".join(map(_pattern, self._expected))
        assert re.fullmatch(pattern, "".join(f"{line}\n" for line in self._output)), self._report(
            f"expected: {self._expected}"
        )

    def exported(self, name: str) -> str:
        prefix = f"export {name}="
        (line,) = [each for each in self._output if each.startswith(prefix)]
        (value,) = shlex.split(line.removeprefix(prefix))
        return value

    def interrupt(self) -> None:
        """Send Ctrl-C; the command ends without a traceback."""
        os.killpg(self._process.pid, signal.SIGINT)
        code = self._process.wait(TIMEOUT)
        self._reader.join(TIMEOUT)
        assert code in (0, 130), self._report(f"exit code {code} after Ctrl-C")
        assert not any("Traceback" in line for line in self._output), self._report(
            "traceback after Ctrl-C"
        )

    def kill(self) -> None:
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def _read(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as lines:
            for line in lines:
                with self._changed:
                    self._output.append(line.rstrip())
                    self._changed.notify_all()
        with self._changed:
            self._has_ended = True
            self._changed.notify_all()

    def _find(self, line: str) -> int:
        """The number of the line, counted from one; zero if it is missing."""
        for number, seen in enumerate(self._output[self._position :], start=self._position + 1):
            if re.fullmatch(_pattern(line), f"{seen}\n"):
                return number
        return 0

    def _report(self, problem: str) -> str:
        return "\n".join([f"$ {self._line}", f"… {problem}", *self._output])


def kind_of(block: Block) -> Literal["program", "tests", "lines"]:
    """How a reader runs Python without a file name."""
    if re.search(r"^(?:async )?def test_", block.text, re.MULTILINE):
        return "tests"
    return "program" if re.search(r"^ *run\(", block.text, re.MULTILINE) else "lines"


def _interpreter_of(block: Block) -> str:
    """The interpreter into which a block is pasted; empty if it is none."""
    if block.title or block.language != "python":
        return block.title if block.title in _INTERPRETERS else ""
    return _ASYNCIO if kind_of(block) == "lines" else ""


def _environment(folder: Path) -> dict[str, str]:
    here = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    env = {**os.environ, "PATH": here, "PYTHONUNBUFFERED": "1", "PWD": str(folder), "COLUMNS": "80"}
    # In CI pytest prints other summaries than for a reader.
    for name in ("KUBECONFIG", "PYTEST_ADDOPTS", "CI", "BUILD_NUMBER"):
        env.pop(name, None)
    # So that a page that starts no server finds no cluster of the user.
    return {**env, "HOME": str(folder)}


def _join_commands(text: str) -> Iterator[str]:
    """The lines of a console, with multi-line commands joined."""
    command = ""
    for line in text.splitlines():
        if line.startswith("> ") or line == ">":
            command += f"\n{line[2:]}"
            continue
        if command:
            yield command
        command = line if line.startswith("$ ") else ""
        if not command:
            yield line
    if command:
        yield command


def _pattern(line: str) -> str:
    """A line of a page as a regular expression, with the end of the line."""
    if line == "…":
        return r"(?:.*\n)*"
    return re.escape(line.rstrip()).replace("…", ".*") + r"\n"
