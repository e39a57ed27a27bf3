"""Finds the names and command lines in the text of pages and docstrings, and resolves them.

Code blocks run (`page_reader`); this is about the rest: code in backticks, also in tables and
headings, command lines in blocks that are not run, and the examples in docstrings. A dotted name
is resolved by mypy, with the usual variables of the pages (`client`, `ctx`, `pods`) as what they
are there, so that attributes and keyword arguments have to exist; a command line by the parser of
the command line, the Makefile and pyproject.
See also: `tests/test_page_names.py` (the rules, and the exceptions).
"""

from __future__ import annotations

import ast
import builtins
import functools
import importlib
import importlib.util
import inspect
import itertools
import pkgutil
import re
import shlex
import subprocess
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import click

import kubeloop
from kubeloop.wire import class_for, resources
from kubeloop_cli.program import ONLY_KUBECTL
from kubeloop_cli.program import kubeloop as program
from tests.support.distributions import EXTRAS, ROOT

__all__ = [
    "ROOT",
    "Span",
    "command_problem",
    "docstring_spans",
    "flag_problem",
    "help_lines",
    "lines_of_blocks",
    "page_spans",
    "python_problems",
    "statement_of",
    "unknown_names",
    "word_problem",
]

# Columns of tables that are about other programs, or about what not to write.
_FOREIGN_COLUMN = re.compile(
    r"(in )?(client-go|controller-runtime|go|kopf|kr8s|kube-apiserver|kubectl|lightkube|official)\b"
    r"|about$|do not write$|instead of$|not$",
    re.IGNORECASE,
)
# What a variable of this name is on the pages; of several, the one that has the attribute.
RECEIVERS: Mapping[str, tuple[str, ...]] = {
    "backoff": ("Backoff",),
    "batch": ("Batch",),
    "change": ("Change[Pod]",),
    "client": ("Client", "blocking.Client"),
    "config": ("ClusterConfig",),
    "crd": ("CustomResourceDefinition",),
    "ctx": ("Context",),
    "delta": ("Delta",),
    "deployments": ("WorkloadClient[Deployment]",),
    "elector": ("LeaderElector",),
    "error": ("ApiError",),
    "event": ("WatchEvent[Pod]",),
    "events": ("EventBroadcaster", "ResourceClient[Event]"),
    "factory": ("SharedInformerFactory",),
    "indexer": ("Indexer[Pod]",),
    "informer": ("SharedInformer[Pod]",),
    "kube_clock": ("ManualClock",),
    "kube_server": ("APIServer",),
    "lister": ("Lister[Pod]",),
    "manager": ("Manager",),
    "page": ("Inspector",),
    "pod": ("Pod",),
    "pods": ("PodClient", "blocking.PodClient", "SharedInformer[Pod]"),
    "process": ("Process", "kubeloop_testing.Process"),
    "queue": ("PriorityQueue[str]", "RateLimitingQueue[str]", "DeltaFIFO"),
    "recorder": ("EventRecorder", "FakeRecorder"),
    "reflector": ("Reflector",),
    "registration": ("Registration[Pod]",),
    "resource": ("WorkloadClient[Deployment]",),
    "response": ("Response",),
    "rest": ("RESTClient",),
    "result": ("Result", "RunResult", "ExecResult"),
    "scale": ("Scale",),
    "server": ("APIServer",),
    "tasks": ("TaskOwner",),
    "web": ("Rollout",),
    "webhooks": ("WebhookServer",),
    "world": ("World",),
}
_MODULES = (
    *("asyncio", "bench", "collections", "contextlib", "copy", "msgspec", "os", "pathlib"),
    *("threading", "time"),
)
_PACKAGES = frozenset(found.name for found in pkgutil.iter_modules(kubeloop.__path__))


class Span(NamedTuple):
    """Code in the text of a page or a docstring."""

    where: str
    text: str

    def __str__(self) -> str:
        return f"{self.where}: {self.text}"


# --- where code is


def page_spans(page: str) -> Iterator[Span]:
    """The code in backticks outside of blocks, without columns about other programs."""
    text = re.sub(
        r"^ *```.*?^ *```$",
        "",
        (ROOT / page).read_text(encoding="utf-8"),
        flags=re.DOTALL | re.MULTILINE,
    )
    for paragraph in re.split(r"\n(?=\s*\n)", text):
        rows = paragraph.strip().splitlines()
        if rows and rows[0].startswith("|"):
            yield from (Span(page, code) for cell in _own_cells(rows) for code in _codes(cell))
        else:
            yield from (Span(page, code) for code in _codes(" ".join(paragraph.split())))


def _codes(text: str) -> list[str]:
    """The code in a text, without names such as (client-go: `wait.Backoff`)."""
    own = re.sub(r"\((client-go|controller-runtime):[^)]*\)", "", text)
    return [code.strip() for code in re.findall(r"(?<!`)`([^`]+)`(?!`)", own)]


def _own_cells(rows: Sequence[str]) -> Iterator[str]:
    """The cells of a table that are about kubeloop."""
    head, _, *body = ([cell.strip() for cell in re.split(r"(?<!\\)\|", row)[1:-1]] for row in rows)
    for row in body:
        for title, cell in zip(head, row, strict=True):
            if not _FOREIGN_COLUMN.match(title):
                yield cell


def lines_of_blocks(page: str) -> Iterator[Span]:
    """The command lines in blocks, run or not."""
    text = (ROOT / page).read_text(encoding="utf-8")
    blocks = re.finditer(r"^ *```(\w*)[^\n]*\n(.*?)^ *```$", text, re.DOTALL | re.MULTILINE)
    for language, block in (found.groups() for found in blocks):
        for line in block.splitlines():
            typed = line.strip().removeprefix("$ ")
            if language in ("", "sh", "text", "yaml") or line.strip().startswith("$ "):
                yield Span(page, re.sub(r"\s+# .*", "", typed))


def docstring_spans() -> Iterator[Span]:
    """The code in the docstrings that the reference shows, with their examples."""
    for package in sorted(_PACKAGES):
        module = importlib.import_module(f"kubeloop.{package}")
        yield from _spans_in(module.__name__, inspect.getdoc(module) or "")
    for name in _public_names():
        package, _, attribute = name.rpartition(".")
        value = getattr(importlib.import_module(package), attribute)
        for part, text in _docstrings(value):
            yield from _spans_in(f"{name}.{part}".rstrip("."), text)


def _spans_in(where: str, text: str) -> Iterator[Span]:
    prose = re.sub(r"^ *```.*?^ *```$", "", text, flags=re.DOTALL | re.MULTILINE)
    yield from (Span(where, code) for code in _codes(" ".join(prose.split())))
    yield from (Span(where, example) for example in _examples(text))


def help_lines() -> Iterator[Span]:
    """The command lines in the help of the command line."""
    for command in _commands(program):
        for line in (command.help or "").splitlines():
            # The description of an example follows after several spaces.
            yield Span(f"{command.name} --help", re.split(r" {2,}", line.strip())[0])


def _docstrings(value: object) -> Iterator[tuple[str, str]]:
    if not getattr(value, "__module__", "").startswith("kubeloop"):
        return
    yield "", inspect.getdoc(value) or ""
    if isinstance(value, type):
        for name, member in vars(value).items():
            if not name.startswith("_") and (callable(member) or isinstance(member, property)):
                yield name, inspect.getdoc(member) or ""


def _examples(text: str) -> list[str]:
    """The examples of a docstring: fenced, or indented after an empty line."""
    fenced = re.findall(r"^```python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    indented = re.findall(r"(?<=\n\n)((?: {4}.*\n|\n)+)", f"{text}\n")
    return [inspect.cleandoc(block) for block in [*fenced, *indented]]


# --- command lines


def command_problem(line: str) -> str:
    """Why a command line is not valid; empty if it is, or is no command line."""
    for command in line.split(" | "):
        try:
            words = shlex.split(command)
        except ValueError:
            continue
        if len(words) > 1 and (check := _CHECKS.get(words[0])) and (problem := check(words[1:])):
            return problem
    return ""


def _kubeloop_problem(words: Sequence[str]) -> str:
    if words[0] in ("COMMAND", "~=") or "…" in words:
        return ""
    command: click.Command = program
    options = _options(program)
    rest = iter(words)
    for word in rest:
        if word == "--":  # what follows is another program's
            break
        if word.startswith("-") and word != "-":
            name = word.partition("=")[0]
            if name not in options and not _is_short_flags(name, options):
                return f"{command.name} has no option {name}"
            if options.get(word):
                next(rest, None)  # its value
        elif isinstance(command, click.Group):
            inner = command.get_command(click.Context(command), word)
            if inner is None:
                return f"{command.name} has no command {word}"
            command = inner
            options |= _options(command)
    return ""


def _options(command: click.Command) -> dict[str, bool]:
    """The options of a command, and whether a value follows."""
    found = {"--help": False, "-h": False}
    for option in command.params:
        if isinstance(option, click.Option):
            has_value = not option.is_flag and not option.count
            found |= dict.fromkeys([*option.opts, *option.secondary_opts], has_value)
    return found


def _is_short_flags(name: str, options: Collection[str]) -> bool:
    """`-A`, `-nshop`, `-it`."""
    return re.fullmatch(r"-[a-zA-Z]\S*", name) is not None and name[:2] in options


def _make_problem(words: Sequence[str]) -> str:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = {*re.findall(r"^([\w-]+):", makefile, re.MULTILINE)}
    named = [word for word in words if "=" not in word]
    return "".join(f"no target {word}" for word in named if word not in targets)


def _python_problem(words: Sequence[str]) -> str:
    if words[0] == "-m":
        return "" if importlib.util.find_spec(words[1]) else f"no module {words[1]}"
    is_file = words[0].endswith(".py") and "/" in words[0]
    return f"no file {words[0]}" if is_file and not (ROOT / words[0]).exists() else ""


def _pip_problem(words: Sequence[str]) -> str:
    extras = re.findall(r"\[([\w,]+)\]", " ".join(words))
    named = {name for each in extras for name in each.split(",")}
    unknown = named - {*EXTRAS}
    return f"no extra {', '.join(unknown)}" if unknown else ""


def _kubectl_problem(words: Sequence[str]) -> str:
    known = {*program.list_commands(click.Context(program)), *ONLY_KUBECTL}
    is_known = words[0] in known or words[0].startswith("-")
    return "" if is_known else f"kubectl has no {words[0]}"


_CHECKS = {
    "kubeloop": _kubeloop_problem,
    "make": _make_problem,
    "python": _python_problem,
    "python3": _python_problem,
    "pip": _pip_problem,
    "kubectl": _kubectl_problem,
}


@functools.cache
def _all_options() -> frozenset[str]:
    """The options of all commands, of the pytest plugin, and of the project's own tools."""
    folders = (
        ROOT / "packages/kubeloop-testing/src/kubeloop_testing",
        ROOT / "bench",
        ROOT / "tools",
        ROOT / "tests",
    )
    texts = [path.read_text(encoding="utf-8") for each in folders for path in each.rglob("*.py")]
    declared = re.findall(r'add(?:_argument|option)\(\s*"(--[\w-]+)"', "".join(texts))
    ours = {option for command in _commands(program) for option in _options(command)}
    return frozenset({*declared, *ours})


def _commands(group: click.Group) -> Iterator[click.Command]:
    yield group
    for name in group.list_commands(click.Context(group)):
        command = group.get_command(click.Context(group), name)
        assert command is not None
        yield from _commands(command) if isinstance(command, click.Group) else (command,)


def flag_problem(text: str) -> str:
    """Why a flag such as `--all` is none of the command line; empty if it is, or is no flag."""
    found = re.match(r"(--[a-zA-Z][\w-]*|-[a-zA-Z])", text)
    return f"no command has {found[1]}" if found and found[1] not in _all_options() else ""


# --- Python


def _public_names() -> list[str]:
    """The dotted names of the golden files, without the generated kinds."""
    files = sorted(ROOT.glob("packages/*/public_names.txt"))
    lines = [name for file in files for name in file.read_text(encoding="utf-8").split()]
    return [name for name in lines if not name.startswith("kubeloop.wire.") or name.count(".") == 2]


@functools.cache
def _public() -> Mapping[str, str]:
    """The package of each public name; names of `kubeloop` first."""
    listed = sorted(_public_names(), key=lambda name: -name.count("."))
    found = {"Path": "pathlib"}
    found |= {name.rpartition(".")[2]: name.rpartition(".")[0] for name in listed}
    for info in resources():
        model = class_for(info.group, info.version, info.kind)
        if model is not None and info.kind not in found:
            found[info.kind] = re.sub(r"\._generated\.(\w+)_(\w+)$", r".\1.\2", model.__module__)
    return found


def statement_of(text: str) -> ast.stmt | None:
    """The code as a statement; None if it is no Python, or only a word or a literal."""
    cleaned = text.replace("…", "...").removeprefix("$ ")
    cleaned = re.sub(r"=(?=[,)])", "=...", cleaned)  # `selector=,`
    cleaned = re.sub(r"^(@\S.*)$", r"\1\ndef _(): ...", cleaned)
    cleaned = f"{cleaned} ..." if cleaned.endswith(":") else cleaned
    try:
        (function,) = ast.parse(f"async def _():\n {cleaned.replace(chr(10), f'{chr(10)} ')}").body
    except (SyntaxError, ValueError):
        return None
    nodes = list(ast.walk(function))
    if any(isinstance(node, ast.Expr) and isinstance(node.value, ast.Starred) for node in nodes):
        return None  # `*.example.com`
    has_name = any(isinstance(node, ast.Attribute | ast.Call) for node in nodes)
    return function if has_name and not _NOT_PYTHON.fullmatch(text) else None


_NOT_PYTHON = re.compile(
    r"[\w/.-]+\.(crt|db|html|json|key|md|py|svg|toml|txt|yaml|yml)"  # files
    r"|[\w.-]+/[\w./-]+"  # `events.k8s.io/v1`
    r"|(metadata|spec|status|data)\.\S+"  # paths of fields
    r"|v[\d.]+"  # versions
    r"|[\w/.+-]+\.(k8s|kubernetes)\.io"  # host names
    r"|\w+(\.v1)?\.apps"  # `deployments.apps`, as kubectl writes it
    r"|[a-z]\w*\.[A-Z]\w*(\.\w+)*(\(.*\))?"  # `rest.Config`, in the words of Go
)


class _Names(ast.NodeTransformer):
    """Makes every name known: variables of the pages, imports, or `anything`.

    `unknown` are the others that are called, that have attributes, or that are named as classes.
    """

    def __init__(self) -> None:
        self.imports: set[str] = set()
        self.receivers: set[str] = set()
        self.own: set[str] = set()
        self.unknown: set[str] = set()

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        self.own |= {node.name, *(argument.arg for argument in node.args.args)}
        return self.generic_visit(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        self.own |= {node.name, *(argument.arg for argument in node.args.args)}
        return self.generic_visit(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        self.own.add(node.name)
        return self.generic_visit(node)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.AST:
        self.own |= {alias.name for alias in node.names}
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        own, self.own = self.own, self.own | {argument.arg for argument in node.args.args}
        self.generic_visit(node)
        self.own = own
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        # `...` stands for arguments that are left out.
        node.args = [
            each for each in node.args if not (isinstance(each, ast.Constant) and each.value is ...)
        ]
        if isinstance(node.func, ast.Name):
            self._require(node.func.id)
        return self.generic_visit(node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        if isinstance(node.value, ast.Name):
            self._require(node.value.id)
        return self.generic_visit(node)

    def _require(self, name: str) -> None:
        known = {*RECEIVERS, *_MODULES, *_PACKAGES, *_public(), *dir(builtins), "kubeloop"}
        if name not in known and (name[0].isupper() or name not in _identifiers()):
            self.unknown.add(name)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        name = node.id
        if isinstance(node.ctx, ast.Store):
            self.own.add(name)
        elif name in self.own or hasattr(builtins, name):
            pass
        elif name in RECEIVERS:
            self.receivers.add(name)
        elif name in _public() or name == "kubeloop" or name in _MODULES:
            self.imports.add(name)
        elif name in _PACKAGES:
            self.imports.add("kubeloop")
            package = ast.Attribute(ast.Name("kubeloop", ast.Load()), name, ast.Load())
            return ast.copy_location(package, node)
        else:
            if re.match(r"[A-Z][a-z]", name):
                self._require(name)
            return ast.copy_location(ast.Name("anything", node.ctx), node)
        return node

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        is_left_out = node.value is ...
        return ast.copy_location(ast.Name("anything", ast.Load()), node) if is_left_out else node


@functools.cache
def _identifiers() -> frozenset[str]:
    """All names and words of short texts in the code: parameters, fields, metrics, fixtures."""
    found = {*dir(builtins), *_public(), "kubeloop_cli", "kubeloop_testing"}
    for path in ROOT.glob("packages/*/src/**/*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            match node:
                case ast.Name(id=name) | ast.Attribute(attr=name) | ast.arg(arg=name):
                    found.add(name)
                case ast.ClassDef(name=name) | ast.FunctionDef(name=name):
                    found.add(name)
                case ast.AsyncFunctionDef(name=name) | ast.alias(name=name):
                    found.add(name)
                case ast.Constant(value=str(text)) if len(text) < 80:
                    found |= {*re.findall(r"\w+", text)}
    return frozenset(found)


def word_problem(text: str) -> str:
    """Why a word is no name of the code; empty if it is, or is no word such as `add_after`."""
    word = re.fullmatch(r"([A-Z][a-z]\w*[A-Z]\w*|[a-z]+_\w+)(\(\))?=?", text)
    if word is None or word[1] in _identifiers() or word[1] in _tests():
        return ""
    return f"no code has {word[1]}"


@functools.cache
def _tests() -> frozenset[str]:
    files = [*ROOT.glob("tests/**/test_*.py"), *ROOT.glob("packages/*/tests/**/test_*.py")]
    texts = [path.read_text(encoding="utf-8") for path in files]
    return frozenset(re.findall(r"^(?:async )?def (test_\w+)", "".join(texts), re.MULTILINE))


def unknown_names(span: Span) -> set[str]:
    """The names in a span that are neither public nor variables of the pages."""
    statement = statement_of(span.text)
    assert statement is not None
    names = _Names()
    names.visit(statement)
    return names.unknown - names.own


def python_problems(spans: Sequence[Span], folder: Path) -> list[str]:
    """Names and keyword arguments that mypy does not find, each with its span."""
    lines = [_HEAD]
    starts: list[tuple[int, int, int]] = []  # line, span, variant
    for number, span in enumerate(spans):
        statement = statement_of(span.text)
        assert statement is not None
        for variant, source in enumerate(_functions(statement, number)):
            starts.append((sum(part.count("\n") + 1 for part in lines) + 1, number, variant))
            lines.append(source)
    program_file = folder / "page_names.py"
    program_file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    errors = _errors_of(program_file)
    found: dict[int, dict[int, list[str]]] = {}
    for (start, number, variant), (end, *_) in zip(
        starts, [*starts[1:], (sys.maxsize, 0, 0)], strict=True
    ):
        messages = [message for line, message in errors if start <= line < end]
        found.setdefault(number, {})[variant] = messages
    return [
        f"{spans[number]}: {min(variants.values(), key=len)[0]}"
        for number, variants in found.items()
        if all(variants.values())
    ]


def _functions(statement: ast.stmt, number: int) -> Iterator[str]:
    """The statement as a function, once for each type of its variables."""
    names = _Names()
    (body,) = [names.visit(statement)]
    receivers = sorted(names.receivers)
    for variant, types in enumerate(itertools.product(*(RECEIVERS[name] for name in receivers))):
        typed = zip(receivers, types, strict=True)
        parameters = ", ".join(f"{name}: {type_!r}" for name, type_ in typed)
        code = ast.unparse(body.body)
        imports = [*(_import(name) for name in sorted(names.imports)), *_modules_in(code), "pass"]
        inner = "\n".join(f"    {line}" for line in [*imports, *code.splitlines()])
        yield f"async def _{number}_{variant}({parameters}) -> Any:\n{inner}"


def _import(name: str) -> str:
    package = _public().get(name)
    return f"from {package} import {name}" if package else f"import {name}"


def _modules_in(code: str) -> Iterator[str]:
    """Imports of the modules that dotted names begin with."""
    for dotted in re.findall(r"\b(?:bench|kubeloop)(?:\.\w+)+", code):
        words = dotted.split(".")
        prefixes = [".".join(words[:count]) for count in range(len(words), 0, -1)]
        yield f"import {next(filter(_is_module, prefixes))}"


def _is_module(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False


_RELEVANT = re.compile(
    r"has no attribute|Unexpected keyword|not defined|No overload|Cannot find|Too many positional"
)


def _errors_of(file: Path) -> list[tuple[int, str]]:
    options = ["--no-error-summary", "--hide-error-context", "--check-untyped-defs"]
    ran = subprocess.run(
        [sys.executable, "-m", "mypy", *options, str(file)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    # Not 2, with which mypy ends at an error of syntax, and checks nothing.
    assert ran.returncode in (0, 1), ran.stdout + ran.stderr
    pattern = re.compile(rf"{re.escape(file.name)}:(\d+): error: (.+)$")
    matches = [pattern.search(line) for line in ran.stdout.splitlines()]
    return [(int(match[1]), match[2]) for match in matches if match and _RELEVANT.search(match[2])]


_HEAD = """\
from __future__ import annotations

from typing import Any

import kubeloop
import kubeloop_testing
from kubeloop import Client, ClusterConfig, Context, Manager, Result, blocking
from kubeloop.cache import *
from kubeloop.clients import (
    PodClient, ResourceClient, Rollout, RunResult, WatchEvent, WorkloadClient
)
from kubeloop.election import LeaderElector
from kubeloop.errors import ApiError
from kubeloop.events import EventBroadcaster, EventRecorder, FakeRecorder
from kubeloop.inspector import Inspector
from kubeloop.kit import Backoff, ManualClock, TaskOwner
from kubeloop.rest import Response, RESTClient
from kubeloop.runtime import WebhookServer
from kubeloop.streams import ExecResult, Process
from kubeloop_testing import APIServer, World
from kubeloop.wire.apiextensions.v1 import CustomResourceDefinition
from kubeloop.wire.apps.v1 import Deployment
from kubeloop.wire.autoscaling.v1 import Scale
from kubeloop.wire.core.v1 import Event, Pod
from kubeloop.workqueue import PriorityQueue, RateLimitingQueue

anything: Any
"""
