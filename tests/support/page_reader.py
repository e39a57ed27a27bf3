"""Reads the pages, and follows one as a reader does: files, terminals, commands, output.

A block with a title that is no console is a file of that name; blocks with the same title are
parts of one file. A console's title is the terminal it stands for. In it, `$ ` begins a command
and `> ` continues it, `^C` is Ctrl-C, and the rest is what is seen; `…` stands for whatever may
differ. Python without a title is a program if it calls `run(...)` at its end, tests if it defines
some, and else lines for `python -m asyncio`. `docs/how-to/shop.md` tells readers the same.
Promises: every command runs in a real process, with the environment of this one and no
`KUBECONFIG` but one of a server that a page has told to start; of the optional packages only
those can be imported that a page has told to install; what it shows is waited for, never slept
for; nothing is left running.
Elsewhere: which pages are followed (`test_tutorial`, `test_pages`).
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
    "blocks_of",
    "installed_by",
    "kind_of",
    "links_to_the_shop",
]

ROOT = Path(__file__).parent.parent.parent
SHOP = "docs/how-to/shop.md"
SERVER = "the server"  # the terminal in which the shop is served
WITHIN = 60.0  # seconds that a line may be waited for, on a machine that is busy

# What a page has to name in a `pip install`, and what can be imported then.
OPTIONAL = {
    "cli": ("click", "rich", "cryptography"),
    "compression": ("zstandard",),
    "metrics": ("prometheus_client",),
    "testing": ("cryptography",),
    "tracing": ("opentelemetry",),
    "pytest": ("pytest",),
    "pytest-asyncio": ("pytest_asyncio",),
}
# What an interpreter says of lines that it cannot run, or that go wrong.
_COMPLAINT = re.compile(r"^(Traceback \(most|\w*(Error|Exception)\b)|never awaited", re.MULTILINE)
_BLOCK = re.compile(
    r'^```(?P<language>\w+)(?: title="(?P<title>[^"]*)")?\n(?P<text>.*?)^```$',
    re.DOTALL | re.MULTILINE,
)


class Block(NamedTuple):
    """A block of code on a page; `line` is that of its first line, less one."""

    language: str
    title: str
    text: str
    line: int


def blocks_of(page: str, *languages: str) -> list[Block]:
    """The blocks of a page, of these languages or of all, in their order."""
    text = (ROOT / page).read_text(encoding="utf-8")
    found = [
        Block(each["language"], each["title"] or "", each["text"], _line(text, each.start("text")))
        for each in _BLOCK.finditer(text)
    ]
    return [each for each in found if not languages or each.language in languages]


def _line(text: str, position: int) -> int:
    return text.count("\n", 0, position)


def links_to_the_shop(page: str) -> bool:
    """Whether a page tells its reader to start a server."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return re.search(r"\]\((?:[\w./-]+/)?shop\.md\)", text) is not None


def installed_by(*pages: str) -> frozenset[str]:
    """Which of the optional packages these pages, and the shop if they need it, tell to install."""
    read = [*pages, SHOP] if any(map(links_to_the_shop, pages)) else pages
    lines = [
        line
        for page in read
        for line in re.findall(r"pip install ([^\n#`]*)", (ROOT / page).read_text(encoding="utf-8"))
    ]
    return frozenset(name for name in re.findall(r"[\w-]+", " ".join(lines)) if name in OPTIONAL)


class Reader:
    """Somebody with a folder and terminals, for one `with` block.

    `instead` is what is read in place of something else: a port that is free here. `installed`
    are the optional packages that the reader has; all, unless they are given.
    """

    def __init__(
        self,
        folder: Path,
        *,
        instead: Mapping[str, str] | None = None,
        installed: Collection[str] = frozenset(OPTIONAL),
    ) -> None:
        self._folder = folder
        self._instead = dict(instead or {})
        self._terminals: dict[str, Terminal] = {}
        self._written: set[tuple[str, str]] = set()
        self._env = _environment(folder)
        self._hide(
            {module for name in OPTIONAL for module in OPTIONAL[name]}
            - {module for name in installed for module in OPTIONAL[name]}
        )

    def _hide(self, modules: Collection[str]) -> None:
        """Have the interpreters of this reader not find these modules."""
        site = self._folder / ".site"
        site.mkdir()
        lines = ["import sys", *(f"sys.modules[{name!r}] = None" for name in sorted(modules))]
        (site / "sitecustomize.py").write_text("\n".join(lines) + "\n", encoding="utf-8")
        self._env["PYTHONPATH"] = str(site)

    def write_files(self, page: str) -> None:
        """Write what the page has as files, and run nothing."""
        for block in blocks_of(page):
            if block.title and block.language != "console":
                self._write(page, block)

    def output_of(self, command: str) -> str:
        """All that a command prints, whatever its exit code."""
        done = subprocess.run(
            ["/bin/sh", "-c", f"exec {command}"],
            cwd=self._folder,
            env=self._env,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=WITHIN,
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
        """Do what the page says, from top to bottom.

        Raises: AssertionError when something else is seen than the page shows.
        """
        lines: list[Block] = []
        tests: list[str] = []
        for block in blocks_of(page):
            if block.language == "console":
                self._terminal(block.title).play(self._as_here(block.text))
            elif block.title:
                self._write(page, block)
            elif block.language == "python":
                match kind_of(block):
                    case "program":
                        self._run(self._save(block, "program"))
                    case "tests":
                        tests.append(self._save(block, "test"))
                    case _:
                        lines.append(block)
        if tests:
            self._run("-m", "pytest", *tests)
        if lines:
            self._type(lines)
        for name, terminal in self._terminals.items():
            if name != SERVER:
                terminal.finish()

    def _write(self, page: str, block: Block) -> None:
        path = self._folder / block.title
        is_part = (page, block.title) in self._written
        self._written.add((page, block.title))
        with path.open("a" if is_part else "w", encoding="utf-8") as file:
            file.write(("\n\n" if is_part else "") + self._as_here(block.text))

    def _save(self, block: Block, what: str) -> str:
        name = f"{what}_at_line_{block.line}.py"
        (self._folder / name).write_text(self._as_here(block.text), encoding="utf-8")
        return name

    def _run(self, *arguments: str) -> None:
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=self._folder,
            env=self._env,
            text=True,
            capture_output=True,
            timeout=WITHIN,
            check=False,
        )
        told = f"{arguments}: ended with {done.returncode}\n{done.stdout}{done.stderr}"
        assert done.returncode == 0, told

    def _type(self, blocks: list[Block]) -> None:
        """Paste all lines into one interpreter, as they are: it must complain of none."""
        typed = "\n\n".join(self._as_here(block.text) for block in blocks)
        done = subprocess.run(
            [sys.executable, "-m", "asyncio"],
            cwd=self._folder,
            env=self._env,
            # A value, so that the interpreter lets go of the last one that it showed.
            input=f'{typed}\n\n"the end of the page"\n',
            text=True,
            capture_output=True,
            timeout=WITHIN,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert "the end of the page" in done.stdout, done.stdout + done.stderr
        assert not _COMPLAINT.search(done.stderr), done.stderr

    def _as_here(self, text: str) -> str:
        for there, here in self._instead.items():
            text = text.replace(there, here)
        return text

    def _terminal(self, title: str) -> Terminal:
        return self._terminals.setdefault(title, Terminal(self._folder, self._env))

    def __enter__(self) -> Self:
        # Whoever started the tests may have Ctrl-C ignored, which children would inherit.
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
    """Runs one command at a time, in an environment that `export` changes."""

    def __init__(self, folder: Path, env: Mapping[str, str]) -> None:
        self._folder = folder
        self._env = dict(env)
        self._command: Command | None = None

    def play(self, text: str) -> None:
        """Type what a block has typed, and see what it shows."""
        for line in _joined(text):
            if line.startswith("$ "):
                self._type(line[2:])
            elif line == "^C":
                self._running().interrupt()
                self._command = None
            else:
                self._running().expect(line)

    def exported(self, name: str) -> str:
        """The value in a line `export NAME=VALUE` that the running command has shown."""
        return self._running().exported(name)

    def finish(self) -> None:
        """See the last command's end."""
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
        assert self._command is not None, "the page shows output, and no command"
        return self._command


class Command:
    """A process, and what it has shown so far."""

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
        self._seen: list[str] = []
        self._expected: list[str] = []
        self._at = 0  # lines up to here have been expected
        self._is_over = False
        self._news = threading.Condition()
        self._reads = threading.Thread(target=self._read, daemon=True)
        self._reads.start()

    def expect(self, line: str) -> None:
        """Wait until this line is seen, after what was expected before."""
        self._expected.append(line)
        if line == "…":
            return
        with self._news:
            self._news.wait_for(lambda: self._is_over or self._find(line), WITHIN)
            found = self._find(line)
        assert found, self._told(f"did not show: {line}")
        self._at = found

    def finish(self) -> None:
        """Wait for the end: it went well, and showed what the page shows and nothing else."""
        code = self._process.wait(WITHIN)
        self._reads.join(WITHIN)
        assert code == 0, self._told(f"ended with {code}")
        pattern = "".join(map(_pattern, self._expected))
        assert re.fullmatch(pattern, "".join(f"{line}\n" for line in self._seen)), self._told(
            f"showed something else than: {self._expected}"
        )

    def exported(self, name: str) -> str:
        before = f"export {name}="
        (line,) = [each for each in self._seen if each.startswith(before)]
        (value,) = shlex.split(line.removeprefix(before))
        return value

    def interrupt(self) -> None:
        """Ctrl-C: it ends, and without a traceback."""
        os.killpg(self._process.pid, signal.SIGINT)
        code = self._process.wait(WITHIN)
        self._reads.join(WITHIN)
        assert code in (0, 130), self._told(f"ended with {code} after Ctrl-C")
        assert not any("Traceback" in line for line in self._seen), self._told("ended badly")

    def kill(self) -> None:
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def _read(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as lines:
            for line in lines:
                with self._news:
                    self._seen.append(line.rstrip())
                    self._news.notify_all()
        with self._news:
            self._is_over = True
            self._news.notify_all()

    def _find(self, line: str) -> int:
        """Where the line ends, counted from one; zero when it is not there yet."""
        for number, seen in enumerate(self._seen[self._at :], start=self._at + 1):
            if re.fullmatch(_pattern(line), f"{seen}\n"):
                return number
        return 0

    def _told(self, what: str) -> str:
        return "\n".join([f"$ {self._line}", f"… {what}", *self._seen])


def kind_of(block: Block) -> Literal["program", "tests", "lines"]:
    """What a reader takes Python without a file name for."""
    if re.search(r"^(?:async )?def test_", block.text, re.MULTILINE):
        return "tests"
    return "program" if re.search(r"^ *run\(", block.text, re.MULTILINE) else "lines"


def _environment(folder: Path) -> dict[str, str]:
    here = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    env = {**os.environ, "PATH": here, "PYTHONUNBUFFERED": "1", "PWD": str(folder), "COLUMNS": "80"}
    for name in ("KUBECONFIG", "PYTEST_ADDOPTS"):
        env.pop(name, None)
    # No cluster of this machine's owner is found by a page that forgets to start a server.
    return {**env, "HOME": str(folder)}


def _joined(text: str) -> Iterator[str]:
    """The lines of a console, commands of several lines as one."""
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
